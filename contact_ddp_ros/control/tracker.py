"""Interface of the trackers: from a policy's sample and the measured state to the targets of the joints."""

from typing import Any, Protocol

from contact_ddp_ros.control.lateral import LateralCommand
from contact_ddp_ros.robot.joint_pd import JointTargets
from contact_ddp_ros.robot.policy import PolicySample
from contact_ddp_ros.robot.state import RobotState


class Tracker(Protocol):
    """Feedback law of one model that follows policies; has a state of its own from one update to the next."""

    @property
    def lateral_command(self) -> LateralCommand | None:
        """What a stabiliser of a planar plan did last, for diagnosis."""
        ...

    @property
    def heading(self) -> float:
        """Yaw that is held [rad]."""
        ...

    def reset(self, state: RobotState) -> None:
        """Begin at a state: hold its heading and its line."""
        ...

    def take_over(self, other: Any) -> None:
        """Go on from where another tracker of the same kind is, under this one's configuration."""
        ...

    def steer(self, yaw_rate: float, lateral_velocity: float) -> None:
        """Turn the heading at `yaw_rate` [rad/s] and move left at `lateral_velocity` [m/s] from now on."""
        ...

    def targets(self, sample: PolicySample, state: RobotState, dt: float, measured: PolicySample) -> JointTargets:
        """The joints' targets for a checked state, `dt` [s] after the last ones.

        `sample` is the policy where the targets will act, `measured` where the state was measured: how far it is from
        the plan then is taken to be how far it will be.
        """
        ...

    def contacts(self, sample: PolicySample) -> tuple[bool, ...]:
        """Feet that carry load by plan, in the order of FOOT_NAMES."""
        ...
