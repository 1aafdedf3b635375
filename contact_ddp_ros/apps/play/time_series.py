"""Curves of the last seconds: solve time, iterations, theta, cost by term, speed and pitch."""

from collections import deque
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import viser
from numpy.typing import NDArray

from contact_ddp_ros.runs.live.snapshot import Snapshot

Array = NDArray[np.float64]

WINDOW: Final = 8.0
"""Simulated time that is shown [s]."""

_POINTS, _HEIGHT = 240, 112
_COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5b5b5b", "#a6761d", "#7570b3")
_RATE = 0.2
"""Simulated time between two updates of the curves [s]."""


class Strips:
    """Curves in the present container of the page."""

    def __init__(self, gui: viser.GuiApi, cost_terms: Sequence[str]) -> None:
        """`cost_terms` names the terms of the planner's cost."""
        self._frames: deque[tuple[float, float, float, float]] = deque()
        self._solves: deque[tuple[float, ...]] = deque()
        self._terms = len(cost_terms)
        self._drawn = -np.inf
        self._charts = {
            "speed": _chart(gui, "speed [m/s]", ("measured", "commanded")),
            "pitch": _chart(gui, "pitch [deg]", ("pitch",)),
            "solve": _chart(gui, "solve time [ms]", ("solve",)),
            "iterations": _chart(gui, "iterations, θ", ("iterations", "theta")),
            "cost": _chart(gui, "cost by term", tuple(cost_terms) or ("cost",), height=_HEIGHT + 40),
        }

    def show(self, snapshot: Snapshot) -> None:
        """Add a snapshot, and draw where that is due."""
        now = snapshot.state.time
        if self._frames and now < self._frames[-1][0]:
            self._frames.clear()
            self._solves.clear()
            self._drawn = -np.inf
        self._frames.append((now, snapshot.speed, snapshot.drive.forward, float(np.degrees(snapshot.rpy[1]))))
        for solve in snapshot.solves:
            terms = solve.terms if len(solve.terms) == self._terms and solve.terms else (solve.cost,)
            self._solves.append((solve.time, solve.solve_ms, solve.iterations, solve.theta, *terms))
        for rows in (self._frames, self._solves):
            while rows and rows[0][0] < now - WINDOW:
                rows.popleft()
        if now - self._drawn >= _RATE:
            self._drawn = now
            self._draw()

    def _draw(self) -> None:
        if len(self._frames) > 1:
            time, speed, command, pitch = _columns(self._frames)
            self._charts["speed"].data = (time, speed, command)
            self._charts["pitch"].data = (time, pitch)
        if len(self._solves) > 1:
            time, solve, iterations, theta, *terms = _columns(self._solves)
            self._charts["solve"].data = (time, solve)
            self._charts["iterations"].data = (time, iterations, theta)
            self._charts["cost"].data = (time, *terms)


def _columns(rows: Sequence[tuple[float, ...]] | deque[Any]) -> list[Array]:
    """Columns of rows, thinned out where there are too many to be seen."""
    every = max(1, len(rows) // _POINTS)
    width = min(map(len, rows))
    return [np.array(column, dtype=float) for column in zip(*(row[:width] for row in list(rows)[::every]), strict=True)]


def _chart(gui: viser.GuiApi, title: str, names: Sequence[str], height: int = _HEIGHT) -> Any:
    axis = viser.uplot.Axis(size=44, font="10px sans-serif", grid={"stroke": "#e8e8e8", "width": 1})
    series = [viser.uplot.Series(label="t [s]")]
    series += [
        viser.uplot.Series(label=name, stroke=colour, width=1.5) for name, colour in zip(names, _COLOURS, strict=False)
    ]
    zeros = np.array([0.0, 1e-3])
    return gui.add_uplot(
        data=(zeros, *(np.zeros(2) for _ in names)),
        series=tuple(series),
        title=title,
        scales={"x": viser.uplot.Scale(time=False, auto=True), "y": viser.uplot.Scale(auto=True)},
        axes=(axis, axis),
        legend=viser.uplot.Legend(show=len(names) > 1),
        cursor=viser.uplot.Cursor(show=False),
        padding=(4, 8, 0, 0),
        height=height,
    )
