"""Curves of the last seconds: speed, pitch, solve time, iterations, theta, and the cost as areas of its terms.

Two robots have their curves in the same charts: those of A, which is kept, are dashed.
"""

from collections import deque
from collections.abc import Sequence
from itertools import cycle
from typing import Any, Final

import numpy as np
import viser
from numpy.typing import NDArray

from contact_ddp_ros.runs.live.snapshot import Snapshot

Array = NDArray[np.float64]

WINDOW: Final = 8.0
"""Simulated time that is shown [s]."""

_POINTS, _HEIGHT = 240, 112
_COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8b8b8b", "#a6761d", "#7570b3")
_KEPT: Final = "A"
_RATE = 0.2
"""Simulated time between two updates of the curves [s]."""


class Strips:
    """Curves in the present container of the page."""

    def __init__(self, gui: viser.GuiApi, cost_terms: Sequence[str], *, kept: bool = False) -> None:
        """`cost_terms` names the terms of the planner's cost; `kept`: there is a robot A."""
        self._frames: deque[tuple[float, ...]] = deque()
        self._solves: deque[tuple[float, ...]] = deque()
        self._solves_kept: deque[tuple[float, ...]] = deque()
        self._names, self._kept, self._drawn = tuple(cost_terms) or ("cost",), kept, -np.inf
        other = (_KEPT,) if kept else ()
        cost = "cost by term", (*self._names, *other), _HEIGHT + 60
        self._charts = {
            "speed": _chart(gui, "speed [m/s]", ("measured", "commanded", *other)),
            "solve": _chart(gui, "solve time [ms]", ("solve", *other)),
            "cost": _chart(gui, *cost, stacked=True),
            "pitch": _chart(gui, "pitch [deg]", ("pitch", *other)),
            "iterations": _chart(gui, "iterations, θ", ("iterations", "theta")),
        }

    def remove(self) -> None:
        """Take the charts out of the page."""
        for chart in self._charts.values():
            chart.remove()

    def show(self, snapshot: Snapshot) -> None:
        """Add a snapshot, and draw where that is due."""
        now, kept = snapshot.state.time, snapshot.kept
        tables = (self._frames, self._solves, self._solves_kept)
        if self._frames and now < self._frames[-1][0]:
            for rows in tables:
                rows.clear()
            self._drawn = -np.inf
        both = (snapshot, kept or snapshot)
        speeds, pitches = [one.speed for one in both], [float(np.degrees(one.rpy[1])) for one in both]
        self._frames.append((now, *speeds, snapshot.drive.forward, *pitches))
        for solve in snapshot.solves:
            known = len(solve.terms) == len(self._names)
            terms = solve.terms if known else (solve.cost, *(0.0 for _ in self._names[1:]))
            self._solves.append((solve.time, solve.solve_ms, solve.iterations, solve.theta, *terms))
        self._solves_kept.extend((one.time, one.solve_ms, one.cost) for one in (kept.solves if kept else ()))
        for rows in tables:
            while rows and rows[0][0] < now - WINDOW:
                rows.popleft()
        if now - self._drawn >= _RATE:
            self._drawn = now
            self._draw()

    def _draw(self) -> None:
        if len(self._frames) > 1:
            time, speed, speed_kept, command, pitch, pitch_kept = _columns(self._frames)
            self._put("speed", time, [speed, command], speed_kept)
            self._put("pitch", time, [pitch], pitch_kept)
        time = np.unique([row[0] for rows in (self._solves, self._solves_kept) for row in rows])
        if len(time) > 1:
            time = time[:: max(1, len(time) // _POINTS)]
            solve, iterations, theta, *terms = at_times(time, self._solves, 3 + len(self._names))
            solve_kept, cost_kept = at_times(time, self._solves_kept, 2)
            self._put("solve", time, [solve], solve_kept)
            self._charts["iterations"].data = (time, iterations, theta)
            self._put("cost", time, stacked(terms)[::-1], cost_kept)

    def _put(self, chart: str, time: Array, curves: Sequence[Array], kept: Array) -> None:
        self._charts[chart].data = (time, *curves, *((kept,) if self._kept else ()))


def stacked(terms: Sequence[Array]) -> list[Array]:
    """Upper edges of areas, one upon the other; a term below zero takes no room."""
    return list(np.cumsum(np.maximum(terms, 0.0), axis=0))


def at_times(time: Array, rows: Sequence[tuple[float, ...]] | deque[Any], count: int) -> list[Array]:
    """Columns of rows, whose first entries are times, at other times; zeros where a robot that fell has no rows."""
    if not rows:
        return list(np.zeros((count, len(time))))
    begins, *columns = np.array(rows, dtype=float).T
    return [np.interp(time, begins, column) for column in columns]


def _columns(rows: Sequence[tuple[float, ...]] | deque[Any]) -> list[Array]:
    """Columns of rows, thinned out where there are too many to be seen."""
    return list(np.array(list(rows)[:: max(1, len(rows) // _POINTS)], dtype=float).T)


def _chart(gui: viser.GuiApi, title: str, names: Sequence[str], height: int = _HEIGHT, *, stacked: bool = False) -> Any:
    """Chart of named curves; where `stacked`, areas from zero, of which the first is lowest and drawn last."""
    axis = viser.uplot.Axis(size=44, font="10px sans-serif", stroke="#808890", grid={"stroke": "#80808040", "width": 1})
    own, kept = [name for name in names if name != _KEPT], [name for name in names if name == _KEPT]
    series = [viser.uplot.Series(label=name, stroke=colour, width=1.5) for name, colour in zip(own, cycle(_COLOURS))]
    if stacked:
        series = [{**one, "fill": one["stroke"], "width": 0.5} for one in reversed(series)]
    series += [viser.uplot.Series(label=name, stroke="#a050a0", width=2.0, dash=(4.0, 3.0)) for name in kept]
    y = viser.uplot.Scale(range=(0.0, None)) if stacked else viser.uplot.Scale(auto=True)
    zeros = np.array([0.0, 1e-3])
    return gui.add_uplot(
        data=(zeros, *(np.zeros(2) for _ in names)),
        series=(viser.uplot.Series(label="t [s]"), *series),
        title=title,
        scales={"x": viser.uplot.Scale(time=False, auto=True), "y": y},
        axes=(axis, axis),
        legend=viser.uplot.Legend(show=len(names) > 1, live=False),
        cursor=viser.uplot.Cursor(show=False),
        padding=(4, 8, 0, 0),
        height=height,
    )
