"""Console output of a run: one live line while it lasts, a table of figures at its end.

On a terminal the line is redrawn in place; elsewhere a plain line appears for every second of simulated time.

Console output of jobs beside their tables: lines, progress bars, spinners.

Without a terminal, plain lines report the start and the progress of long work instead.
"""

import math
import time as clock
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from threading import Event, Thread
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from contact_ddp_ros.runs.figures import in_lockstep, variant
from contact_ddp_ros.runs.recording import CONTROL_MODES, Recorder, Recording

_STEPS = 4
"""Number of progress lines beside the first one."""


def say(console: Console, text: str) -> None:
    """Print a line with rich markup; numbers and paths are neither highlighted nor wrapped."""
    console.print(text, highlight=False, soft_wrap=True)


@contextmanager
def progress_bar(console: Console, what: str) -> Iterator[Callable[[float], None]]:
    """Progress bar on a terminal, a few lines elsewhere; yields a function to call with the fraction done, 0 to 1."""
    if not console.is_terminal:
        yield _Lines(console, what)
        return
    with Progress(console=console, transient=True) as bars:
        task = bars.add_task(what, total=1.0)
        yield lambda share: bars.update(task, completed=share)


@contextmanager
def working(console: Console, what: str) -> Iterator[None]:
    """Spinner on a terminal, one line elsewhere, for work whose progress is unknown."""
    if not console.is_terminal:
        say(console, f"{what} ...")
        yield
        return
    with console.status(what):
        yield


@contextmanager
def patience(tell: Callable[[float], None], *waits: float) -> Iterator[Callable[[], None]]:
    """Call `tell` with the time passed [s] after each of the `waits` [s], in a thread; yields a function to stop."""
    done = Event()

    def watch() -> None:
        passed = 0.0
        for wait in waits:
            if done.wait(wait):
                return
            passed += wait
            tell(passed)

    thread = Thread(target=watch, name="patience", daemon=True)
    thread.start()
    try:
        yield done.set
    finally:
        done.set()
        thread.join()


class _Lines:
    """Prints the progress as a few lines."""

    def __init__(self, console: Console, what: str) -> None:
        self._console, self._what, self._next = console, what, 1
        say(console, f"{what} ...")

    def __call__(self, share: float) -> None:
        if self._next <= share * _STEPS < _STEPS:
            self._next = int(share * _STEPS) + 1
            say(self._console, f"{self._what}: {100.0 * share:.0f} %")


_REDRAW_PERIOD = 0.2
"""Wall time between redrawings on a terminal [s]."""

_PLAIN_PERIOD = 1.0
"""Simulated time between plain lines [s]."""

_PATIENCE = (5.0, 25.0, 30.0, 60.0, 60.0)
"""Waits for the first tick, after each of which a line says what is going on [s]."""

_BAR_WIDTH = 24
"""Width of the progress bar on a terminal that is wide enough [characters]."""


class LiveProgress:
    """A context manager to be given to a Recorder as its listener; costs next to nothing between redrawings."""

    def __init__(self, console: Console, duration: float) -> None:
        self._console = console
        self._duration = duration
        self._live = Live(console=console, auto_refresh=False, transient=True) if console.is_terminal else None
        self._next_redraw = 0.0
        self._next_line = 0.0
        self._closing = ExitStack()
        self._end_patience: Callable[[], None] = _nothing

    def __enter__(self) -> "LiveProgress":
        if self._live is not None:
            self._live.start()
        self._end_patience = self._closing.enter_context(patience(self._still_preparing, *_PATIENCE))
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()
        if self._live is not None:
            self._live.stop()

    def __call__(self, recorder: Recorder) -> None:
        """Show the recorder's latest tick and solve, at most once per redraw period."""
        self._end_patience()
        if self._live is None:
            if recorder.last_time >= self._next_line:
                self._next_line = (recorder.last_time // _PLAIN_PERIOD + 1.0) * _PLAIN_PERIOD
                say(self._console, self._line(recorder))
        elif clock.monotonic() >= self._next_redraw:
            self._next_redraw = clock.monotonic() + _REDRAW_PERIOD
            line = self._line(recorder)
            width = min(_BAR_WIDTH, self._console.width - len(line) - 2)
            text = f"{self._bar(recorder.last_time, width)} {line}" if width > 0 else line
            self._live.update(Text(text, no_wrap=True, overflow="ellipsis"), refresh=True)

    def _still_preparing(self, passed: float) -> None:
        say(
            self._console,
            f"Preparing for {passed:.0f} s: the first time on a machine code is compiled, for a minute or two.",
        )

    def _bar(self, time: float, width: int) -> str:
        filled = round(width * min(time / self._duration, 1.0))
        return "━" * filled + "╌" * (width - filled)

    def _line(self, recorder: Recorder) -> str:
        tick, solve = recorder.last_tick, recorder.last_solve
        mode = CONTROL_MODES[tick["control_mode"]] if tick["control_mode"] >= 0 else "-"
        parts = [
            f"{tick['time']:6.2f} / {self._duration:g} s",
            f"{mode:5}",
            f"speed {recorder.recent_speed:+.2f} ({tick['commanded_speed']:+.2f}) m/s",
            f"height {recorder.info.heights(tick['position'][None])[0]:.3f} m",
        ]
        if solve:
            parts.append(f"solve {solve['solve_ms']:.1f} ms, {solve['iterations']} it.")
        return "  ".join(parts)


def closing_table(recording: Recording, figures: Mapping[str, Any]) -> Table:
    """Table of the figures of a run for the console."""
    clock_words = "lock-step" if in_lockstep(recording) else "real time"
    table = Table(title=f"{recording.info.job}: {variant(recording)}, {clock_words}")
    table.add_column("figure")
    table.add_column("value", justify="right")
    cores = recording.info.processors or {}
    for section in (_course(figures), _limits(figures), _computing(figures, cores)):
        for name, value in section:
            table.add_row(name, value)
        table.add_section()
    return table


def _course(s: Mapping[str, Any]) -> list[tuple[str, str]]:
    fall = f"yes, at {s['fall_time_s']:.2f} s ({s['fall_reason']})" if s["fell"] else "no"
    rows = [
        ("fell", fall),
        *([] if s["stood"] else [("stood", "never")]),
        *([("cause of the fall", s["fall_cause"])] if s["fall_cause"] else []),
        *([("up again", f"at {s['up_again_time_s']:.2f} s")] if s["up_again_time_s"] is not None else []),
        ("simulated time", f"{s['sim_time_s']:.2f} s" + (", interrupted" if s["interrupted"] else "")),
        (
            "forward speed, mean / commanded",
            f"{_number(s['mean_speed'], '.3f')} / {_number(s['commanded_speed'], '.3f')} m/s",
        ),
        ("trunk height", f"{_number(s['height_min'], '.3f')} to {_number(s['height_max'], '.3f')} m"),
        ("pitch, roll at most", f"{_degrees(s['pitch_abs_max'])}, {_degrees(s['roll_abs_max'])}"),
    ]
    if s["commanded_left"] or s["commanded_turn"]:
        rows.append(("speed to the left", f"{_number(s['mean_left'], '.3f')} / {s['commanded_left']:.3f} m/s"))
        rows.append(("turn", f"{_number(s['mean_turn'], '.3f')} / {s['commanded_turn']:.3f} rad/s"))
    else:
        rows.append(("yaw drift", _degrees(s["yaw_drift"])))
        rows.append(("lateral drift", f"{_number(s['lateral_drift'], '.3f')} m"))
    for push in s["pushes"]:
        after = push["recovery_time_s"]
        straight = "not straight again" if after is None else f"straight after {after:.2f} s"
        rows.append(
            (f"push of {_impulse(push)} at {push['time']:g} s", f"roll to {_degrees(push['roll_abs_max'])}, {straight}")
        )
    return rows


def _impulse(push: Mapping[str, Any]) -> str:
    parts = ((push["impulse"], "N s"), (push["angular_impulse"], "N m s"))
    words = [f"({', '.join(f'{component:g}' for component in part)}) {unit}" for part, unit in parts if any(part)]
    return " and ".join(words) or "nothing"


def _limits(s: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [
        ("touchdown error in the plan, at most", f"{_number(s['touchdown_error_max_m'], '.2f', 1e3)} mm"),
        ("sole height at scheduled touchdowns", f"{_number(s['touchdown_height_measured_max_m'], '.1f', 1e3)} mm"),
        ("torques at their limit", _percent(s["torque_saturation_fraction"])),
        ("torque beyond its limit, at most", f"{_number(s['torque_excess_max_nm'], '.2f')} N m"),
        ("foot force at impact (stiff contact)", f"{_number(s['contact_force_peak_n'], '.0f')} N"),
        ("plan outside the friction cone", _percent(s["friction_violation_fraction"])),
    ]


def _computing(s: Mapping[str, Any], processors: Mapping[str, float]) -> list[tuple[str, str]]:
    times = "  ".join(_number(s[f"solve_ms.{name}"], ".2f") for name in ("median", "p99", "max"))
    failed = f", {s['solves_failed']} failed" if s["solves_failed"] else ""
    return [
        ("solves", f"{s['solves']}{failed}"),
        ("solve time, median  p99  max", f"{times} ms"),
        ("iterations per solve", _number(s["iterations_per_solve"], ".2f")),
        (
            f"solves beyond {s['planner_period_ms']:g} ms",
            f"{s['deadline_misses']} ({_percent(s['deadline_miss_fraction'])})",
        ),
        ("real-time factor", _number(s["real_time_factor"], ".2f")),
        *((f"processors kept busy, {name}", _number(cores, ".2f")) for name, cores in processors.items()),
    ]


def _nothing() -> None:
    """Before there is anything to end."""


def _number(value: float | None, form: str, scale: float = 1.0) -> str:
    return "-" if value is None else format(scale * value, form)


def _degrees(radians: float | None) -> str:
    return "-" if radians is None else f"{round(math.degrees(radians), 1) + 0.0:.1f}°"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100.0 * share:.2f} %"
