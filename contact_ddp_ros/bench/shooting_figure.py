"""The figure of `bench shooting`: how often and in how many iterations each shooting ends at the best optimum."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from contact_ddp_ros.bench.shooting import Attempt, successes
from contact_ddp_ros.options import SHOOTINGS
from contact_ddp_ros.report.style import POINT_COLOURS, figure

_STYLES = {"single": ("--", "s"), "multiple": ("-", "o")}
_APART = 0.012
"""Shares that coincide are drawn that far from each other."""


def draw(attempts: Sequence[Attempt], path: Path) -> None:
    """A row per guess: share of success and iterations against the horizon."""
    guesses = list(dict.fromkeys(one.guess for one in attempts))
    succeeded = successes(attempts)
    with figure(path, 9.0, 2.3 * len(guesses), "Multiple and single shooting from the same guesses") as drawn:
        panels = drawn.subplots(len(guesses), 2, squeeze=False, sharex=True)
        for guess, (shares, counts) in zip(guesses, panels, strict=True):
            group = {one: succeeded[one] for one in attempts if one.guess == guess}
            _shares(shares, guess, group)
            _counts(counts, group)
        for axes in panels[-1]:
            axes.set_xlabel("horizon [gait cycles]")
            axes.set_xticks(sorted({one.cycles for one in attempts}))
        panels[0][0].legend(loc="center right")


def _shares(axes: Axes, guess: str, group: dict[Attempt, bool]) -> None:
    for index, shooting in enumerate(SHOOTINGS):
        line, marker = _STYLES[shooting]
        cycles = sorted({one.cycles for one in group})
        runs = [[good for one, good in group.items() if (one.shooting, one.cycles) == (shooting, c)] for c in cycles]
        share = np.array([np.mean(one) for one in runs]) + _APART * (2 * index - 1)
        axes.plot(cycles, share, line, marker=marker, color=POINT_COLOURS[1 - index], label=f"{shooting} shooting")
    axes.set(title=guess[0].upper() + guess[1:], ylabel="share that succeeds", ylim=(-0.06, 1.06))


def _counts(axes: Axes, group: dict[Attempt, bool]) -> None:
    for index, shooting in enumerate(SHOOTINGS):
        _, marker = _STYLES[shooting]
        runs = [one for one, good in group.items() if good and one.shooting == shooting]
        shifted = [one.cycles + 0.06 * (2 * index - 1) for one in runs]
        colour = POINT_COLOURS[1 - index]
        axes.plot(shifted, [one.iterations for one in runs], marker, color=colour, markersize=4, alpha=0.6)
    axes.set(ylabel="iterations of a success")
    axes.set_ylim(0.0, 1.1 * max((one.iterations for one, good in group.items() if good), default=1))
