"""DART behind Gazebo's topics in this process, as the simulator of the closed loop."""

from contextlib import ExitStack
from dataclasses import replace

from contact_ddp_ros.plants.gazebo.bridge import GazeboBridge
from contact_ddp_ros.plants.gazebo.config import BridgeConfig, Names
from contact_ddp_ros.plants.gazebo.emulator.server import running_emulator
from contact_ddp_ros.plants.gazebo.sdf import world_sdf
from contact_ddp_ros.plants.gazebo.simulator import GazeboSimulator
from contact_ddp_ros.plants.gazebo.world_control import DirectControl
from contact_ddp_ros.plants.options import NoiseOptions, SimOptions, StateErrorOptions
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.state import DriveGains


def emulated(
    connections: ExitStack,
    robot: Robot,
    gains: DriveGains,
    options: SimOptions,
    config: BridgeConfig,
    *,
    rotors: bool = True,
) -> GazeboSimulator:
    """A world of these options in the emulator, and the bridge to it, both open until `connections` closes.

    Args:
        connections: what is to be closed in the end.
        robot, gains: the robot and its drives.
        options: of the world; errors and noise act on the states that are read from it.
        config: parameters of the bridge.
        rotors: as of :func:`contact_ddp_ros.plants.gazebo.sdf.world_sdf`.

    Raises:
        ContactDdpError: an option is not one of a Gazebo world, or is out of its range.
    """
    world = replace(options, noise=NoiseOptions(), error=StateErrorOptions())
    server, bindings = connections.enter_context(running_emulator(world_sdf(robot, world, rotors=rotors)))
    control = DirectControl(bindings, Names(), bindings.node())
    bridge = connections.enter_context(GazeboBridge(robot, gains, bindings, control, config))
    return GazeboSimulator(robot, bridge, options, server.world.foot_forces)
