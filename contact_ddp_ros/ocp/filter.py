r"""The filter of a line search: which pairs (violation ϑ, objective φ) of a trial are progress.

With the iterate's (ϑ, φ), φ's directional derivative m and the step α, a trial (ϑ⁺, φ⁺) that no earlier entry of the
filter dominates is accepted where

    φ⁺ ≤ φ + η α m                                      if m < 0, (−m)^s_φ α > δ ϑ^s_ϑ and ϑ ≤ ϑ_min
    ϑ⁺ ≤ (1 − γ) ϑ   or   φ⁺ ≤ φ − γ ϑ                  otherwise

and the iterate joins the filter, with that margin, unless the first rule's inequalities hold ("φ-type steps"). With
φ-type steps only, φ falls; with infinitely many others ϑ tends to zero.

Source: Wächter and Biegler (2005), SIAM J. Optim. 16, Algorithm Filter, with its constants of (2006).
"""

from dataclasses import dataclass, field

_GAMMA, _ETA = 1e-5, 1e-4
_S_PHI, _S_THETA = 2.3, 1.1
_SWITCH, _LIMIT = 1e-4, 1e4
"""ϑ_min and the largest ϑ of any trial, relative to the first one and at least to 1."""

_ROUNDING = 1e-15
"""φ's differences below this share of it are rounding."""


@dataclass
class Filter:
    """Entries (ϑ, φ) that no later iterate may be above in both."""

    first: float
    entries: list[tuple[float, float]] = field(default_factory=list)

    def accepts(self, now: tuple[float, float], trial: tuple[float, float], descent: float, alpha: float) -> bool:
        """Whether a step from `now` to `trial`, pairs (ϑ, φ), is accepted; `descent` is m."""
        (violation, value), (new_violation, new_value) = now, trial
        if not new_violation <= _LIMIT * max(1.0, self.first):
            return False
        if any(new_violation >= above and new_value >= higher for above, higher in self.entries):
            return False
        if self._switches(violation, descent, alpha) and violation <= _SWITCH * max(1.0, self.first):
            return self._descends(now, trial, descent, alpha)
        return new_violation <= (1.0 - _GAMMA) * violation or new_value <= value - _GAMMA * violation

    def add(self, now: tuple[float, float], trial: tuple[float, float], descent: float, alpha: float) -> None:
        """Enter the iterate that an accepted step leaves, unless the step is of φ-type."""
        violation, value = now
        if not (self._switches(violation, descent, alpha) and self._descends(now, trial, descent, alpha)):
            self.entries.append(((1.0 - _GAMMA) * violation, value - _GAMMA * violation))

    @staticmethod
    def _switches(violation: float, descent: float, alpha: float) -> bool:
        return descent < 0.0 and (-descent) ** _S_PHI * alpha > violation**_S_THETA

    @staticmethod
    def _descends(now: tuple[float, float], trial: tuple[float, float], descent: float, alpha: float) -> bool:
        return trial[1] - now[1] - _ROUNDING * abs(now[1]) <= _ETA * alpha * descent
