"""Status of the robot in a few lines: what it is doing, why it fell, and one button to go on."""

from collections import deque
from collections.abc import Callable
from html import escape
from typing import Any

import numpy as np
import viser

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
        self._times_kept: deque[float] = deque(maxlen=_RECENT)

    def continue_with(self, command: Command) -> None:
        """Replace what the button asks for."""
        self._go_on = command

    def say(self, text: str) -> None:
        """Show a text instead."""
        self._text.content = _line(escape(text))

    def note(self, text: str, *, accepted: bool) -> None:
        """Keep a line about the last command; it is shown with the next snapshot."""
        colour = "inherit" if accepted else "#e0503c"
        self._note = _line(f'<span style="color:{colour}">{escape(text)}</span>')

    def show(self, snapshot: Snapshot) -> None:
        """Show a snapshot."""
        kept = snapshot.kept
        self._times.extend(solve.solve_ms for solve in snapshot.solves)
        self._times_kept.extend(solve.solve_ms for solve in (kept.solves if kept else ()))
        self._continue.visible = bool(snapshot.fall or (kept and kept.fall))
        self._text.content = summary(snapshot, self._times, self._times_kept) + self._note


def summary(snapshot: Snapshot, solve_ms: Any = (), kept_ms: Any = ()) -> str:
    """A snapshot in a few lines of HTML, with times of the last solves [ms], and of those of a robot that is kept."""
    kept, fallen = snapshot.kept, fall_of(snapshot)
    name, paused = "B " if kept else "", " <b>paused</b>" if snapshot.paused else ""
    lines = [
        f"{name}{_badge(snapshot.mode)}{paused} t = {snapshot.state.time:.1f} s, {snapshot.speed:+.2f} m/s "
        f"(wanted {snapshot.drive.forward:+.2f}), real-time factor {snapshot.real_time_factor:.2f}"
    ]
    if solve_ms:
        lines.append(_solves(snapshot, solve_ms))
    if kept:
        lines.append(f"A {_badge(kept.mode)} {kept.speed:+.2f} m/s{', ' + _solves(kept, kept_ms) if kept_ms else ''}")
    if snapshot.cut and not snapshot.fall:
        lines.append(f"command: {escape(snapshot.cut)}")
    if snapshot.waiting and not snapshot.fall:
        lines.append(f"waiting: {escape(snapshot.waiting)}")
    html = "".join(map(_line, lines))
    if fallen:
        whole = "; ".join(one.fall for one in (snapshot, kept) if one and one.fall)
        html += (
            '<div style="margin:4px 8px;padding:5px 8px;border-radius:4px;background:#fbe3df;color:#8c1d10" '
            f'title="{escape(whole)}"><b>Fallen:</b> {escape(fallen)}</div>'
        )
    return html


def fall_of(snapshot: Snapshot) -> str:
    """Reason of a fall in a sentence, of two robots with name and what the other does; empty where none fell."""
    kept = snapshot.kept
    if kept is None:
        return shortened(snapshot.fall)
    told = [
        f"{name}, {shortened(one.fall)}" if one.fall else f"{name} is in {one.mode}"
        for name, one in sorted((("B", snapshot), ("A", kept)), key=lambda pair: not pair[1].fall)
    ]
    return "; ".join(told) if snapshot.fall or kept.fall else ""


def _badge(mode: str) -> str:
    colour = _BADGE.get(mode, "#555")
    return f'<b style="background:{colour};color:#fff;padding:1px 7px;border-radius:4px">{mode}</b>'


def _solves(snapshot: Snapshot, times: Any) -> str:
    median, high = np.percentile(list(times), [50.0, 95.0])
    return f"solve {median:.1f} ms median, {high:.1f} ms 95 %; {snapshot.solves_late} of {snapshot.solves_total} late"


def shortened(fall: str) -> str:
    """Reason of a fall in a sentence: fault, limit, and the disturbance before it; the page's tooltip has all of it."""
    fault, *others = fall.split("; ")
    kept = [text for text in others if text.startswith(("allowed", DISTURBED))]
    return "; ".join([fault, *kept])


def _line(text: str) -> str:
    return f'<div style="margin:2px 8px;font-size:0.82em">{text}</div>'
