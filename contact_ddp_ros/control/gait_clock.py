"""Timing of the gait by contact: its clock jumps ahead where a foot lands early and waits where one lands late.

A policy is looked up at t + a, where a is how far the clock has been moved ahead since it was planned; the planner gets
the whole advance and plans from there, so that the planned schedule stays the same, only later or earlier.

Early: a foot that is felt while the plan has it in the air lands now, if it is the next that the plan puts down, within
`early_before`, and has been in the air since the flight began: a grows by the time that was left.

Late: where the plan has had a foot on the ground for `late_after` and nothing is felt, the clock goes back to just
before the touchdown and stands there until the foot is felt, but no longer than `late_longest`.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.control.estimation.config import EstimationConfig
from contact_ddp_ros.robot.policy import Policy

Array = NDArray[np.float64]

_BEFORE = 0.002
"""Time before a touchdown at which the clock stands [s]."""


class GaitClock:
    """Gait clock: phase shift `advance` [s] of the gait over its schedule, which policies and planner count from."""

    def __init__(self, groups: Sequence[Sequence[int]], n_axes: int) -> None:
        """`groups` are the feet that each contact point of the plan stands for, `n_axes` the forces at each."""
        self._groups = [list(group) for group in groups]
        self._normals = slice(n_axes - 1, None, n_axes)
        self.advance = 0.0
        self._flying = False
        self._airborne: set[int] = set()
        """The contact points that have been in the air in the present flight."""
        self._due = -math.inf
        """Time of the last touchdown, past or due, on the gait's clock [s]."""
        self._waits_since: float | None = None
        self._expected: set[int] = set()
        """The contact points that land there and are not felt yet."""

    def restart(self) -> None:
        """Restart the gait; the advance stays, as policies on their way count from it."""
        self._flying, self._due, self._waits_since, self._expected = False, -math.inf, None, set()

    def time(self, policy: Policy, now: float) -> float:
        """Time in a policy that belongs to `now` [s]."""
        return now + self.advance - policy.advance

    def follow(self, policy: Policy, now: float, felt: Sequence[bool], config: EstimationConfig) -> None:
        """Move the clock for the feet (n_feet,) that are felt at `now` [s]."""
        if not config.timing:
            return
        landed = {c for c, group in enumerate(self._groups) if any(felt[foot] for foot in group)}
        if self._waits_since is not None:
            self._go_on_waiting(now, landed, config)
            return
        time = self.time(policy, now)
        k = policy.node(time)
        loads = policy.forces[:, self._normals]
        if max(loads[k].tolist()) <= 0.0:
            if not self._flying:
                self._flying, self._airborne = True, set()
            candidates = landed & self._airborne
            if candidates:
                self._land_early(policy, time, loads[k:] > 0.0, k, candidates, config)
            self._airborne |= set(range(len(self._groups))) - landed
            return
        if self._flying:
            self._flying, self._expected = False, set(np.flatnonzero(loads[k] > 0.0).tolist())
            begin = k
            while begin > 0 and max(loads[begin - 1].tolist()) > 0.0:
                begin -= 1
            self._due = float(policy.times[begin]) + policy.advance
        if landed & self._expected:
            self._expected = set()
        if self._expected and now + self.advance - self._due >= config.late_after:
            self._waits_since = now
            self._go_on_waiting(now, landed, config)

    def _land_early(
        self,
        policy: Policy,
        time: float,
        loads: NDArray[np.bool_],
        k: int,
        landed: set[int],
        config: EstimationConfig,
    ) -> None:
        """Jump from flight to the next touchdown where its foot is felt; `loads` begin with the policy's node k."""
        ahead = np.flatnonzero(loads.any(axis=1))
        if not ahead.size:
            return
        first = int(ahead[0])
        left = float(policy.times[k + first]) - time
        if 0.0 < left <= config.early_before and landed & set(np.flatnonzero(loads[first]).tolist()):
            self.advance += left

    def _go_on_waiting(self, now: float, landed: set[int], config: EstimationConfig) -> None:
        """Stand just before the touchdown until its foot is felt, or for long enough."""
        assert self._waits_since is not None
        if landed & self._expected or now - self._waits_since >= config.late_longest:
            self._waits_since, self._expected = None, set()
            self.advance = self._due - now
        else:
            self.advance = self._due - _BEFORE - now
