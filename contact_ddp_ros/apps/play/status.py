"""Status of the robot in a few lines: what it is doing, why it fell, and one button to go on.

Curves of the last seconds: solve time, iterations, theta, cost by term, speed and pitch.
"""

from collections import deque
from collections.abc import Callable, Sequence
from html import escape
from typing import Any, Final

import numpy as np
import viser
from numpy.typing import NDArray

from contact_ddp_ros.apps.play.world_panel import DISTURBED
from contact_ddp_ros.runs.live.commands import Command
from contact_ddp_ros.runs.live.snapshot import Snapshot

_RECENT = 100
"""Solves that the shown times are of."""

_BADGE = {"move": "#1a9850", "stand": "#0072b2", "damp": "#d55e00", "motion": "#7b3294"}


class StatusPanel:
    """The head of the page."""

    def __init__(self, gui: viser.GuiApi, send: Callable[[Command], None], go_on: Command) -> None:
        """`go_on` is what the button asks for after a fall."""
        self._text = gui.add_html(_line("Starting; the first time it takes one to three minutes"))
        self._continue = gui.add_button("Continue", color="green", visible=False)
        self._go_on = go_on
        self._continue.on_click(lambda _: send(self._go_on))
        self._note = ""
        self._times: deque[float] = deque(maxlen=_RECENT)

    def continue_with(self, command: Command) -> None:
        """Replace what the button asks for."""
        self._go_on = command

    def say(self, text: str) -> None:
        """Show a text instead."""
        self._text.content = _line(escape(text))

    def note(self, text: str, *, accepted: bool) -> None:
        """Keep a line about the last command; it is shown with the next snapshot."""
        colour = "#3c4650" if accepted else "#b3261e"
        self._note = _line(f'<span style="color:{colour}">{escape(text)}</span>')

    def show(self, snapshot: Snapshot) -> None:
        """Show a snapshot."""
        self._times.extend(solve.solve_ms for solve in snapshot.solves)
        self._continue.visible = bool(snapshot.fall)
        self._text.content = summary(snapshot, self._times) + self._note


def summary(snapshot: Snapshot, solve_ms: Any = ()) -> str:
    """A snapshot in a few lines of HTML; `solve_ms` are times of the last solves [ms]."""
    colour = _BADGE.get(snapshot.mode, "#555")
    badge = f'<b style="background:{colour};color:#fff;padding:1px 7px;border-radius:4px">{snapshot.mode}</b>'
    paused = " <b>paused</b>" if snapshot.paused else ""
    lines = [
        f"{badge}{paused} t = {snapshot.state.time:.1f} s, {snapshot.speed:+.2f} m/s "
        f"(wanted {snapshot.drive.forward:+.2f}), real-time factor {snapshot.real_time_factor:.2f}"
    ]
    if solve_ms:
        median, high = np.percentile(list(solve_ms), [50.0, 95.0])
        lines.append(
            f"solve {median:.1f} ms median, {high:.1f} ms 95 %; {snapshot.solves_late} of {snapshot.solves_total} late"
        )
    if snapshot.cut and not snapshot.fall:
        lines.append(f"command: {escape(snapshot.cut)}")
    if snapshot.waiting and not snapshot.fall:
        lines.append(f"waiting: {escape(snapshot.waiting)}")
    html = "".join(map(_line, lines))
    if snapshot.fall:
        html += (
            '<div style="margin:4px 8px;padding:5px 8px;border-radius:4px;background:#fbe3df;color:#8c1d10" '
            f'title="{escape(snapshot.fall)}"><b>Fallen:</b> {escape(shortened(snapshot.fall))}</div>'
        )
    return html


def shortened(fall: str) -> str:
    """Reason of a fall in a sentence: fault, limit, and the disturbance before it; the page's tooltip has all of it."""
    fault, *others = fall.split("; ")
    kept = [text for text in others if text.startswith(("allowed", DISTURBED))]
    return "; ".join([fault, *kept])


def _line(text: str) -> str:
    return f'<div style="margin:2px 8px;font-size:0.82em">{text}</div>'


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
