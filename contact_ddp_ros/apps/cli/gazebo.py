"""Commands `sdf`, `gazebo` and `gazebo-emulator` of the command line."""

import argparse
import signal
from contextlib import ExitStack
from pathlib import Path
from threading import Event
from typing import Any

from contact_ddp_ros.apps.cli.options import run_options
from contact_ddp_ros.base.config import replace
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.base.files import write_text
from contact_ddp_ros.base.process import end_with_parent
from contact_ddp_ros.plants.gazebo.bindings import Bindings
from contact_ddp_ros.plants.gazebo.bridge import GazeboBridge
from contact_ddp_ros.plants.gazebo.config import OF_SENSORS, OF_WORLD, BridgeConfig, Names, refuse_others
from contact_ddp_ros.plants.gazebo.plugins import ros2_control_urdf
from contact_ddp_ros.plants.gazebo.sdf import model_sdf, world_sdf
from contact_ddp_ros.plants.gazebo.simulator import GazeboSimulator
from contact_ddp_ros.plants.gazebo.transport import load_bindings
from contact_ddp_ros.plants.gazebo.user_world import with_robot
from contact_ddp_ros.plants.gazebo.world_control import ControlProcess, WorldClaim, WorldControl
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.robot.joints import LEG_NAMES
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.state import DriveGains
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.recording import Recorder, Recording
from contact_ddp_ros.runs.scenario import scenario

_GROUP = "gazebo."
"""Beginning of the names of the bridge's own parameters among those of its node."""


def write_sdf(arguments: argparse.Namespace) -> int:
    """The robot for Gazebo Sim, as text, to a file or to standard output."""
    text = sdf_text(arguments)
    if arguments.out is None:
        print(text, end="")
    else:
        write_text(arguments.out, text)
    return 0


def sdf_text(arguments: argparse.Namespace) -> str:
    """The text that `contact-ddp sdf` was asked for.

    Raises:
        ContactDdpError: a parameter is not allowed, or the robot's description cannot be used.
    """
    found = scenario(run_options(arguments, out=None))
    robot, simulated = found.robot, found.simulator
    damping = found.controller.drive.gains(len(LEG_NAMES)).kd if arguments.drive_damping else None
    if arguments.ros2_control:
        refuse_others(simulated, ("seed",), "the URDF for gz_ros2_control, whose world has all that,")
        _refuse_idle(arguments, "--ros2-control", "controllers", "real_time_factor", "rotors")
        return ros2_control_urdf(robot, drive_damping=damping)
    controllers = "" if arguments.controllers is None else str(arguments.controllers.resolve())
    parts: dict[str, Any] = {"rotors": arguments.rotors, "controllers": controllers, "drive_damping": damping}
    factor = arguments.real_time_factor
    if arguments.into is not None:
        return with_robot(_read(arguments.into), robot, simulated, **parts, real_time_factor=factor).text
    if arguments.model:
        _refuse_idle(arguments, "--model", "real_time_factor")
        return model_sdf(robot, simulated, **parts)
    return world_sdf(robot, simulated, **parts, real_time_factor=1.0 if factor is None else factor)


def _refuse_idle(arguments: argparse.Namespace, kind: str, *names: str) -> None:
    """Refuse options that do nothing for a kind of output.

    Raises:
        ParameterError: one of those names is given.
    """
    for name in names:
        if getattr(arguments, name) not in (None, True):
            option = "--no-rotors" if name == "rotors" else f"--{name.replace('_', '-')}"
            raise ParameterError(f"{option} changes nothing of what {kind} writes; give it with the world")


def _read(world: Path) -> str:
    try:
        return world.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ParameterError(f"cannot read the world {world}: {error}") from error


def run_in_gazebo(options: RunOptions, recorder: Recorder, release: str, *, emulator: bool) -> Recording:
    """The closed loop in lock-step with a running Gazebo server, or with an emulator that this process plays.

    Raises:
        ContactDdpError: an option does not suit, or there is no such server.
    """
    found = scenario(options)
    robot = found.robot
    world_takes = OF_WORLD if emulator else ("terrain",)
    what = "the emulator" if emulator else "a running server has the world of its file; this side"
    refuse_others(found.simulator, (*world_takes, *OF_SENSORS), what)
    from contact_ddp_ros.runs.closed_loop import ClosedLoop  # loads the planner, which the other words do not need

    if not options.lockstep:
        raise ParameterError("without ROS Gazebo runs in lock-step only; for the wall clock launch the nodes")
    if moments := [push for push in options.pushes if any(push.torque)]:
        raise ParameterError(f"{moments[0]}: in Gazebo a push is a force alone, without a moment")
    own = options.parameters("gazebo_bridge").items()
    given = {name.removeprefix(_GROUP): value for name, value in own if name.startswith(_GROUP)}
    config = replace(BridgeConfig(), {"model": robot.tree.name, **given})  # as the SDF calls it
    with ExitStack() as connections:

        def make(robot: Robot, gains: DriveGains, world: SimOptions) -> GazeboSimulator:
            if emulator:
                from contact_ddp_ros.plants.gazebo.emulator.server import emulated

                return emulated(connections, robot, gains, world, config)
            bindings, control = _server(connections, release, config)
            bridge = connections.enter_context(GazeboBridge(robot, gains, bindings, control, config))
            return GazeboSimulator(robot, bridge, world)

        return ClosedLoop(options, recorder, "gazebo", make_simulator=make).run()


def serve_emulator(arguments: argparse.Namespace) -> int:
    """Serve the world of an SDF file for other processes until a signal ends it; the exit code.

    Raises:
        ParameterError: the file cannot be read.
        ContactDdpError: it is no world of ours, or another emulator serves this partition.
    """
    from contact_ddp_ros.plants.dart import DartWorld
    from contact_ddp_ros.plants.gazebo.emulator.server import GazeboEmulator
    from contact_ddp_ros.plants.gazebo.emulator.transport import EMULATOR_MESSAGES, SocketBus

    world: Path = arguments.world
    sdf, stop = _read(world), Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda _number, _frame: stop.set())
    end_with_parent()
    with SocketBus() as bus:
        server = GazeboEmulator(DartWorld(sdf), bus, EMULATOR_MESSAGES, real_time=not arguments.fast)
        print(f"serving {world}; time stands until somebody lets it run", flush=True)
        server.run(stop)
    return 0


def _server(connections: ExitStack, release: str, config: BridgeConfig) -> tuple[Bindings, WorldControl]:
    bindings, names = load_bindings(release), Names(config.world, config.model)
    connections.enter_context(WorldClaim(names))
    return bindings, connections.enter_context(ControlProcess(bindings.name, names))
