"""The mode of the controller, its transitions, and the answers to requests for a mode.

    DAMP --request(STAND)--> STAND --request(MOVE), once a policy covers the present--> MOVE
      ^                       |  ^                                                         |
      |----- fault, request --|  |---------- request(STAND), once the instant is good -----|
      |--------------------------------- fault, request -----------------------------------|

    DAMP --request(RECOVER)--> RECOVER --once it lies on its belly--> STAND
    STAND or DAMP --request(MOTION)--> MOTION --once it is over--> STAND

RECOVER is for a robot that has fallen, on whatever side it lies: it rolls onto its belly and stands up. MOTION is a
jump or a flip, which begins in a stand, or lying.
Where no policy comes in time, MOVE goes to STAND by itself, and back where one comes soon after.
A fault is latched: the mode stays DAMP until a request for STAND or RECOVER finds a usable state, or it is cleared.
"""

from dataclasses import dataclass
from enum import Enum

from contact_ddp_ros.base.errors import short_numbers
from contact_ddp_ros.control.safety import Fault, SafetyViolation


class ControlMode(Enum):
    """Modes of the controller: only damping, standing, following the planner's policy, getting up after a fall, and
    something that is done once.
    """

    DAMP = "damp"
    STAND = "stand"
    MOVE = "move"
    RECOVER = "recover"
    MOTION = "motion"


_WAYS_UP = {
    ControlMode.STAND: ("stand up", "standing up"),
    ControlMode.RECOVER: ("get up", "getting up"),
    ControlMode.MOTION: ("begin", "beginning"),
}
"""Out of damping, in words: what cannot be done, and what is being done."""


@dataclass(frozen=True)
class Answer:
    """Answer to a request or a policy: accepted or not, and the reason in words."""

    accepted: bool
    reason: str

    def __post_init__(self) -> None:
        """Keep numbers short."""
        object.__setattr__(self, "reason", short_numbers(self.reason))


class ModeMachine:
    """The mode, the latched fault, and at most one accepted request that waits for its moment."""

    def __init__(self) -> None:
        """Begins in DAMP without a fault."""
        self.mode = ControlMode.DAMP
        self.fault: Fault | None = None
        self.wish: ControlMode | None = None
        self.waiting_for = ""
        self.resuming = False
        """True if the request that waits was carried out before, and is to be again."""
        self.given_up = ""
        """Obstacle that an accepted request to move did not outlast; empty where there is none, or another came."""
        self._since = 0.0

    def request(self, mode: ControlMode, now: float, obstacle: str) -> Answer:
        """Ask for a mode at time `now` [s]; `obstacle` says why it cannot begin at once, and is empty if it can."""
        if mode is self.mode:
            self._forget_wish()
            return Answer(True, f"{mode.value}: already so")
        if mode is ControlMode.DAMP:
            self.damp()
            return Answer(True, "damping")
        if self.mode is ControlMode.DAMP:
            return self._leave_damp(mode, obstacle)
        if self.mode is ControlMode.MOTION and mode in (ControlMode.STAND, ControlMode.RECOVER):
            self._forget_wish()
            return Answer(True, f"{mode.value}: as soon as the motion is over")
        if mode is ControlMode.RECOVER:
            return Answer(True, f"{mode.value}: it is on its feet")
        if self.mode is ControlMode.RECOVER and mode is ControlMode.STAND:
            self._forget_wish()
            return Answer(True, f"{mode.value}: as soon as it has got up")
        self._forget_wish()
        self.wish, self._since, self.waiting_for = mode, now, obstacle
        return Answer(
            True, f"{mode.value}: waiting, {obstacle}" if obstacle else f"{mode.value}: from the next tick on"
        )

    def advance(self, now: float, obstacle: str, patience: float) -> bool:
        """Carry the waiting request out if nothing stands in its way any more; whether the mode has changed.

        After `patience` [s] a request to stand is carried out in any case, and one to move is dropped.
        """
        if self.wish is None:
            return False
        self.waiting_for = obstacle
        overdue = now - self._since > patience
        enter = not obstacle or (overdue and self.wish is ControlMode.STAND)
        if enter:
            self.mode = self.wish
        if enter or overdue:
            self._forget_wish()
            self.given_up = "" if enter else obstacle
        return enter

    def retreat(self, now: float, reason: str) -> None:
        """Stand instead of moving from `now` [s] on; moving is wished for again."""
        self.mode, self.wish, self.resuming = ControlMode.STAND, ControlMode.MOVE, True
        self._since, self.waiting_for = now, reason

    def got_up(self, now: float) -> None:
        """Stand from `now` [s] on: it lies on its belly, or a motion is over. A request that waits waited for it."""
        self.mode, self._since = ControlMode.STAND, now

    def damp(self) -> None:
        """Only damp, whatever was going on or waited for."""
        self.mode = ControlMode.DAMP
        self._forget_wish()

    def fail(self, finding: SafetyViolation, now: float) -> None:
        """Damp and latch a fault at time `now` [s]."""
        self.fault = Fault(finding, now)
        self.damp()

    def restart_clock(self, now: float) -> None:
        """The clock has jumped to `now` [s]: the waiting request counts from there."""
        self._since = now

    def _leave_damp(self, mode: ControlMode, obstacle: str) -> Answer:
        if mode is ControlMode.MOVE:
            why = f"in a fault ({self.fault})" if self.fault else "damping"
            return Answer(False, f"{why}; request a stand first")
        if obstacle:
            return Answer(False, f"cannot {_WAYS_UP[mode][0]}: {obstacle}")
        cleared = f", cleared {self.fault.violation.value}" if self.fault else ""
        self.fault = None
        self.mode = mode
        return Answer(True, f"{_WAYS_UP[mode][1]}{cleared}")

    def _forget_wish(self) -> None:
        self.wish, self.resuming = None, False
        self.waiting_for = self.given_up = ""
