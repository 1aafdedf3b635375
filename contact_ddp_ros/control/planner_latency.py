"""From what age on a policy is late, of a planner that may be slower than its nominal period.

A planner that shares a small processor takes longer than its period for a solve, drops the requests that come meanwhile
and answers the newest one next: its policies are as old when they arrive as it takes to make them, and so far apart.
What is late is then counted in these periods.
"""

from contact_ddp_ros.control.config import SafetyConfig

_SHARE = 0.2
"""Of the last policy in the running mean of the ages at arrival."""

_SLOWEST = 0.06
"""Longest period that is believed [s]: three of them are half a horizon of the bound.

With more periods allowed a policy still has to reach beyond the present and to be near the measured state.
"""


class PlannerPace:
    """Running mean of the age at which policies arrive."""

    def __init__(self, config: SafetyConfig) -> None:
        self.config = config
        self._age = 0.0

    def arrived(self, age: float) -> None:
        """Take the age [s] of a policy at its arrival into the mean."""
        if age >= 0.0:
            self._age += _SHARE * (min(age, _SLOWEST) - self._age)

    @property
    def period(self) -> float:
        """Between two policies, the nominal one at least [s]."""
        return max(self.config.planner_period, min(self._age, _SLOWEST))

    @property
    def timeout(self) -> float:
        """Age from which a policy is late [s]."""
        return self.config.policy_periods * self.period
