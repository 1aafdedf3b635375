"""`robot_emulator`: the robot emulator as a program.

robot_emulator                                              in real time, hanging until the first command
robot_emulator --params-file FILE link.port=7700 layout=walk_these_ways
"""

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Event
from types import FrameType

from contact_ddp_ros.base.config import parse_setting, replace, specs
from contact_ddp_ros.base.errors import ContactDdpError
from contact_ddp_ros.base.parameter_file import load_yaml
from contact_ddp_ros.base.process import SchedulingOptions, end_with_parent, settle
from contact_ddp_ros.plants.lcm.definitions import ROBOT_EMULATOR as NAME
from contact_ddp_ros.plants.lcm.emulator import RobotEmulator, RobotEmulatorConfig
from contact_ddp_ros.robot.model import load_robot

_PRIORITY = 40
"""Real-time priority, above that of the nodes that command it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the emulator until SIGINT or SIGTERM; return the exit code."""
    stop = Event()

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, on_signal)
    end_with_parent()
    try:
        config = _config(arguments)
        emulator = RobotEmulator(load_robot(), config)
        place = settle(SchedulingOptions(priority=_PRIORITY), live=not config.lockstep)
        print(f"robot emulator is up, {place}", flush=True)
        emulator.run(stop)
    except ContactDdpError as error:
        print(f"[FATAL] [{NAME}]: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    return 0


def _config(arguments: Sequence[str] | None) -> RobotEmulatorConfig:
    known = "\n".join(f"  {spec.name}  {spec.description}" for spec in specs(RobotEmulatorConfig()).values())
    parser = argparse.ArgumentParser(
        prog="robot_emulator",
        description="MuJoCo behind the LCM types of the robot.",
        epilog=f"parameters:\n{known}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--params-file", type=Path, help=f"ROS parameter file with a section {NAME}")
    parser.add_argument("settings", nargs="*", metavar="NAME=VALUE", help="set parameters on top of it")
    options = parser.parse_args(arguments)
    values = load_yaml(options.params_file, NAME) if options.params_file is not None else {}
    return replace(RobotEmulatorConfig(), values | dict(map(parse_setting, options.settings)))


if __name__ == "__main__":
    sys.exit(main())
