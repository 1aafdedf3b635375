"""When a solve from the cold guess challenges the warm-started one, and which of them counts.

A warm start also keeps what is bad: a plan made while the robot lay on its belly, or was picked up, may lead to a local
optimum that the solve converges to ever after. In a moving gait the horizon leaves it behind; while the gait is held
each horizon is the last one, so there both are solved now and then. In any gait the cold guess is tried where the warm
start is lost: far from the last plan its gains may do harm, and would again at the next call.
"""

import math

from contact_ddp_ros.ocp.solution import Solution, Termination

LOST = 1.0
"""A limit broken by more than this, relative to its scale, is not on its way to being kept. Of 10 000 plans of
survived pushes none breaks one by as much."""

_INTERVAL = 0.1
"""Time between two challenges [s]."""

_TIE = 1e-7
"""Times that differ by less are equal [s]."""


class Challenge:
    """The clock of the challenges."""

    def __init__(self) -> None:
        self._last = -math.inf

    def is_due(self, time: float) -> bool:
        """Whether a challenge is due at `time` [s]; if so, the next one is due an interval later."""
        if 0.0 <= time - self._last < _INTERVAL - _TIE:
            return False
        self._last = time
        return True


def is_lost(solution: Solution) -> bool:
    """Whether a solution is no plan: it diverged, or breaks a limit by more than :data:`LOST`."""
    return solution.termination is Termination.DIVERGED or not solution.inequality_violation <= LOST


def better(warm: Solution, cold: Solution) -> Solution:
    """Of two solutions of one problem the cheaper; where one is lost the other, of two lost ones the less violated."""
    if is_lost(warm) or is_lost(cold):
        return min(warm, cold, key=_violation)
    return cold if cold.cost < warm.cost else warm


def _violation(solution: Solution) -> float:
    diverged = solution.termination is Termination.DIVERGED or math.isnan(solution.inequality_violation)
    return math.inf if diverged else solution.inequality_violation
