"""Interface of what is done once, a jump or a flip: from a stand or from lying, into a stand."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.control.safety_violations import Finding
from contact_ddp_ros.control.stand import StandLaw
from contact_ddp_ros.robot.joint_pd import JointTargets
from contact_ddp_ros.robot.state import RobotState


class Motion(Protocol):
    """A law of the joints with an end; has a state of its own from one update to the next."""

    name: str
    catch_time: float
    """Time to reach the standing pose after it [s]."""

    @property
    def lies(self) -> bool:
        """Whether it begins lying, not standing."""
        ...

    @property
    def on_the_ground(self) -> bool:
        """Whether the trunk may still lie: what the feet feel means nothing yet."""
        ...

    @property
    def contacts(self) -> tuple[bool, ...]:
        """Feet that carry load by plan, in the order of FOOT_NAMES."""
        ...

    @property
    def done(self) -> bool:
        """Whether it is over."""
        ...

    def obstacle(self, state: RobotState) -> str:
        """Why it cannot begin at a finite state; empty where it can."""
        ...

    def begin(self, state: RobotState, ground: float | None) -> None:
        """Begin at a state above ground of a height in `odom` [m], None where that is not known."""
        ...

    def targets(
        self, state: RobotState, late: float, contact: NDArray[np.bool_], stand: StandLaw
    ) -> JointTargets | Finding:
        """Targets for a checked state that act `late` [s] after it was measured, or why it is given up.

        `contact` says which feet are felt; `stand` has the gains of stiff joints.
        """
        ...
