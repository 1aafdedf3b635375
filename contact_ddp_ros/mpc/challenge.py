"""While the gait is held: when a solve from the cold guess challenges the warm-started one, and which of them counts.

A warm start also keeps what is bad: a plan made while the robot lay on its belly, or was picked up, may lead to a local
optimum that the solve converges to ever after. In a moving gait the horizon leaves it behind; while the gait is held
each horizon is the last one, so there both are solved now and then.
"""

import math

from contact_ddp_ros.solver.solution import Solution, Termination

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


def cheaper(warm: Solution, cold: Solution) -> Solution:
    """The cheaper of two solutions of one problem, of those that did not diverge."""
    if warm.termination is Termination.DIVERGED:
        return cold
    return cold if cold.termination is not Termination.DIVERGED and cold.cost < warm.cost else warm
