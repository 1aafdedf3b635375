"""What lies between the robot, the planner and the controller of a closed loop: by default, wires that lose nothing.

A subclass delays, loses or damages what passes, which is how faults are injected; who receives it does not know.
"""

from collections.abc import Sequence

from contact_ddp_ros.policy import Policy
from contact_ddp_ros.robot.state import JointCommand, RobotState


class Links:
    """Perfect links. Each method is called once per control tick, or once per policy, with what was sent."""

    def state(self, state: RobotState) -> RobotState | None:
        """The newest state that has arrived when `state` is measured; None before the first."""
        return state

    def clock(self, now: float) -> float:
        """What the controller's clock shows at the true time `now` [s]."""
        return now

    def policies(self, policy: Policy, due: float) -> Sequence[tuple[float, Policy]]:
        """When what arrives of a policy that is due at `due` [s], in order of time."""
        return ((due, policy),)

    def speed(self, speed: float, now: float) -> float:
        """The speed [m/s] that is in force at `now` [s] while `speed` is commanded."""
        return speed

    def command(self, command: JointCommand, now: float) -> JointCommand:
        """What arrives at the drives of a command that is sent at `now` [s]."""
        return command
