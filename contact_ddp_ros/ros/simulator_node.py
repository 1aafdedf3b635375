"""The simulated robot as a node (:mod:`contact_ddp_ros.ros.plant_node`)."""

import sys

from rclpy.node import Node

from contact_ddp_ros.plants.engines import make_simulator
from contact_ddp_ros.plants.simulator import PhysicsSimulator
from contact_ddp_ros.robot.joints import LEG_NAMES
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.node_config import SimulatorNodeConfig
from contact_ddp_ros.ros.plant_node import PlantNode
from contact_ddp_ros.ros.runtime import Part, run_parts
from contact_ddp_ros.ros.single_instance import SingleInstanceLock

NAME = "simulator"


class SimulatorNode(PlantNode):
    """Publishes the states of one simulated robot and applies the commands that come back."""

    _plant: PhysicsSimulator

    def __init__(self, node: Node) -> None:
        """Build the world and its topics.

        Raises:
            ContactDdpError: a parameter or the robot's description is not usable.
        """
        self._claim = SingleInstanceLock(node, io.CLOCK)
        super().__init__(node, SimulatorNodeConfig())
        pace = "in lock-step" if self._config.node.lockstep else "in real time"
        node.get_logger().info(f"simulating {self._robot.tree.name} of {self._robot.mass:.2f} kg {pace}")

    def _build(self) -> PhysicsSimulator:
        return make_simulator(self._robot, self._config.node.drive.gains(len(LEG_NAMES)), self._config)

    def _tune(self, config: SimulatorNodeConfig) -> None:
        self._plant.tune(config.node.drive.gains(len(LEG_NAMES)), config)

    def _clock_publisher(self) -> object:
        return self._claim.take(self._config.node.discovery_time)

    def _complaint(self) -> str:
        return self._claim.complaint()

    @property
    def _limits(self) -> tuple[float, float]:
        return self._config.node.command_timeout, self._config.node.push_duration


PART = Part(NAME, SimulatorNode)


def main(arguments: list[str] | None = None) -> int:
    """Entry point; the exit code."""
    return run_parts([PART], arguments)


if __name__ == "__main__":
    sys.exit(main())
