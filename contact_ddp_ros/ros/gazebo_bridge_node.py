"""The bridge between ROS 2 and Gazebo as a node (:mod:`contact_ddp_ros.ros.plant_node`).

Without lock-step time runs at most as fast as the wall clock, the planner is not waited for, and a command only up to a
limit; a late one acts one period later. On a busy machine time then runs slowly instead of letting the physics go on
with outdated efforts.

Stamps are Gazebo's simulated time until the world is reset; from then on they go on where Gazebo's go back. A joint
command carries the stamp of the state that it answers; one that answers a state of another bridge, or of before a
reset, does not count.
"""

import sys
from threading import Event

from rclpy.node import Node

from contact_ddp_ros.base.errors import GazeboError
from contact_ddp_ros.plants.gazebo.bridge import GazeboBridge
from contact_ddp_ros.plants.gazebo.config import Names
from contact_ddp_ros.plants.gazebo.transport import load_bindings
from contact_ddp_ros.plants.gazebo.world_control import ControlProcess, WorldClaim
from contact_ddp_ros.robot.joints import LEG_NAMES
from contact_ddp_ros.ros.node_config import GazeboBridgeNodeConfig
from contact_ddp_ros.ros.plant_node import PlantNode, Report
from contact_ddp_ros.ros.runtime import Part, run_parts

NAME = "gazebo_bridge"


class GazeboBridgeNode(PlantNode):
    """Passes states from Gazebo and commands to it."""

    patience = 0.2
    _plant: GazeboBridge

    def __init__(self, node: Node) -> None:
        """Connect to Gazebo's transport and build the topics; the server is looked for when the work begins.

        Raises:
            ContactDdpError: a parameter or the robot's description is not usable, or Gazebo's bindings are not there.
        """
        super().__init__(node, GazeboBridgeNodeConfig())
        gazebo, pace = self._config.gazebo, "in lock-step" if self._config.node.lockstep else "in steps"
        node.get_logger().info(f"bridging {gazebo.model} of the world {gazebo.world} {pace}")

    def _build(self) -> GazeboBridge:
        config = self._config
        bindings = load_bindings(config.node.release)
        names = Names(config.gazebo.world, config.gazebo.model)
        self._claim = WorldClaim(names)
        gains, control = config.drive.gains(len(LEG_NAMES)), ControlProcess(bindings.name, names)
        return GazeboBridge(self._robot, gains, bindings, control, config.gazebo)

    def _tune(self, config: GazeboBridgeNodeConfig) -> None:
        self._plant.configure(config.gazebo, config.drive.gains(len(LEG_NAMES)))

    def _begin(self) -> None:
        height = self._plant.start().position[2]
        self.node.get_logger().info(f"the robot stands in Gazebo, trunk at {height:.3f} m")

    def _expects(self, stamp: float) -> bool:
        return self._plant.expects(stamp)

    @property
    def _limits(self) -> tuple[float, float]:
        return self._config.gazebo.command_timeout, self._config.gazebo.push_duration

    def run(self, stop: Event) -> None:
        """Make the robot stand, then pass states and commands until `stop`."""
        try:
            super().run(stop)
        except GazeboError:
            if not stop.is_set():
                raise

    def wake(self) -> None:
        """End the wait for a server."""
        self._plant.cancel()

    def farewell(self) -> None:
        """Send zero efforts, since the last ones would act for ever."""
        super().farewell()
        self._plant.close()
        self._claim.release()

    def _report(self) -> Report:
        level, text, values = super()._report()
        return level, text, {**values, "malformed messages of Gazebo": self._plant.malformed}


PART = Part(NAME, GazeboBridgeNode)


def main(arguments: list[str] | None = None) -> int:
    """Entry point; the exit code."""
    return run_parts([PART], arguments)


if __name__ == "__main__":
    sys.exit(main())
