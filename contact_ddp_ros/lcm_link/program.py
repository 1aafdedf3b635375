"""`robot_stand_in`: the robot stand-in as a program.

robot_stand_in                                              in real time, hanging until it is commanded
robot_stand_in --params-file FILE link.port=7700 layout=walk_these_ways
"""

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Event
from types import FrameType

from contact_ddp_ros.config import from_mapping, load_yaml, parse_setting, specs
from contact_ddp_ros.errors import ContactDdpError
from contact_ddp_ros.lcm_link.definitions import STAND_IN_NAME as NAME
from contact_ddp_ros.lcm_link.stand_in import StandIn, StandInConfig
from contact_ddp_ros.lifetime import end_with_parent
from contact_ddp_ros.robot.model import load_robot


def main(arguments: Sequence[str] | None = None) -> int:
    """Be a robot until a signal comes; the exit code."""
    stop = Event()

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, on_signal)
    end_with_parent()
    try:
        stand_in = StandIn(load_robot(), _config(arguments))
        print("robot stand-in is up", flush=True)
        stand_in.run(stop)
    except ContactDdpError as error:
        print(f"[FATAL] [{NAME}]: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    return 0


def _config(arguments: Sequence[str] | None) -> StandInConfig:
    known = "\n".join(f"  {spec.name}  {spec.description}" for spec in specs(StandInConfig()).values())
    parser = argparse.ArgumentParser(
        prog="robot_stand_in",
        description="MuJoCo behind the LCM types of the robot.",
        epilog=f"parameters:\n{known}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--params-file", type=Path, help=f"ROS parameter file with a section {NAME}")
    parser.add_argument("settings", nargs="*", metavar="NAME=VALUE", help="parameters on top of it")
    options = parser.parse_args(arguments)
    values = load_yaml(options.params_file, NAME) if options.params_file is not None else {}
    return from_mapping(StandInConfig(), values | dict(map(parse_setting, options.settings)))


if __name__ == "__main__":
    sys.exit(main())
