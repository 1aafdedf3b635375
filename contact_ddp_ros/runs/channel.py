"""Communication channel between robot, planner and controller of a closed loop; by default without delay or loss.

Subclasses delay, drop or corrupt messages to inject faults.
"""

from collections.abc import Sequence

from contact_ddp_ros.robot.policy import Policy
from contact_ddp_ros.robot.state import JointCommand, RobotState


class Channel:
    """Ideal channel. Each method is called once per control tick, or per policy, with the message that was sent."""

    def state(self, state: RobotState) -> RobotState | None:
        """Newest state received by the time `state` is measured; None before the first."""
        return state

    def clock(self, now: float) -> float:
        """Reading of the controller's clock [s] at the true time `now` [s]."""
        return now

    def policies(self, policy: Policy, due: float) -> Sequence[tuple[float, Policy]]:
        """(arrival time [s], policy) of each copy received of a policy that is due at `due` [s], in order of time."""
        return ((due, policy),)

    def speed(self, speed: float, now: float) -> float:
        """Speed command [m/s] received at `now` [s] while `speed` [m/s] is sent."""
        return speed

    def command(self, command: JointCommand, now: float) -> JointCommand:
        """Joint command received by the drives for one sent at `now` [s]."""
        return command
