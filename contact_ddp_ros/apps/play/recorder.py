"""A recorder for a run without an end: it keeps the last minutes, and what the next snapshot shows."""

from typing import Any

import numpy as np

from contact_ddp_ros.robot.policy import Policy
from contact_ddp_ros.runs.live.snapshot import Solve
from contact_ddp_ros.runs.recording import Recorder

KEPT_TICKS, KEPT_SOLVES = 30_000, 6_000
"""Rows that are kept at least: a minute at the usual rates."""

_PLANS_EVERY = 50
"""Number of solves of which one has its plan kept in a saved run."""


class LiveRecorder(Recorder):
    """Keeps between one and two times KEPT_TICKS."""

    def __init__(self) -> None:
        """Begin is called by whoever records into it."""
        super().__init__(plans_every=_PLANS_EVERY)
        self.plan: Policy | None = None
        """The newest plan."""
        self.late = self.total = 0
        """Solves that took longer than the planner's period, and all."""
        self._new: list[Solve] = []

    def solve(self, time: float, **entries: Any) -> None:
        """Record a solve, and keep it for the next snapshot."""
        super().solve(time, **entries)
        self.plan = entries.get("plan") or self.plan
        late = bool(entries.get("deadline_missed", False))
        self.late, self.total = self.late + late, self.total + 1
        terms = entries.get("cost_terms")
        self._new.append(
            Solve(
                time=time,
                solve_ms=float(entries["solve_ms"]),
                iterations=int(entries["iterations"]),
                theta=float(entries.get("theta", np.nan)),
                cost=float(entries.get("cost", np.nan)),
                terms=() if terms is None else tuple(np.asarray(terms, dtype=float).tolist()),
                late=late,
            )
        )
        del self._new[:-KEPT_SOLVES]

    def new_solves(self) -> tuple[Solve, ...]:
        """The solves since the last call."""
        new, self._new = tuple(self._new), []
        return new

    def trim(self) -> None:
        """Forget what is older than the last minutes, where that is due."""
        if self.n_ticks >= 2 * KEPT_TICKS:
            self.forget(KEPT_TICKS, KEPT_SOLVES)
