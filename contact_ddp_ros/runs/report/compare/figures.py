"""The figures of a comparison: courses over time, over the cycle of the gait, and the figures of the runs."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from contact_ddp_ros.runs.figures import BARS
from contact_ddp_ros.runs.recording import analysis
from contact_ddp_ros.runs.recording.record import Array
from contact_ddp_ros.runs.recording.recording import Recording
from contact_ddp_ros.runs.report.compare.tables import NamedRun, is_number, settings, words
from contact_ddp_ros.runs.report.style import LIMIT, figure

IDLE = 1e-6
"""A quantity that stays within this in every run is not drawn: its panel would be a line at zero."""

_SETTINGS_NAMED = 4
"""Settings at most that a legend tells of a run."""

_LAST = ("duration", "seed", "commit")
"""Settings that say least about a run."""

_WIDE = 50.0
"""A cost whose largest value is so many times its median is drawn on a scale that is logarithmic beyond it."""

_COLUMNS = 2
_PANEL = (5.5, 2.3)
"""Width and height of a panel [inch]."""


@dataclass(frozen=True)
class Quantity:
    """Something of a run over time: what it is, and (n,) times [s] and values."""

    label: str
    of: Callable[[Recording], tuple[Array, Array]]


def _ticks(values: Callable[[Recording], Array]) -> Callable[[Recording], tuple[Array, Array]]:
    return lambda recording: (recording.ticks["time"], values(recording))


def _solves(values: Callable[[Recording], Array]) -> Callable[[Recording], tuple[Array, Array]]:
    return lambda recording: (recording.solves["time"], values(recording))


def _mean_speed(recording: Recording) -> Array:
    period = recording.info.control_period
    return analysis.moving_mean(recording.heading_velocity[:, 0], analysis.gait_period(recording), period)


def _aside(recording: Recording) -> Array:
    """Offset from the straight line along the heading at which it began to move; NaN before."""
    mask = analysis.active(recording)
    values = np.full(len(mask), np.nan)
    values[mask] = analysis.lateral_offset(recording, mask)
    return values


def _largest_load(recording: Recording) -> Array:
    torques = np.abs(recording.ticks["torques"]) / np.array(recording.info.torque_limits)
    return 100.0 * torques.max(axis=1)


COST = Quantity("cost of the plan", _solves(lambda one: one.solves["cost"]))

COURSES = (
    Quantity("mean forward speed [m/s]", _ticks(_mean_speed)),
    Quantity("trunk height [m]", _ticks(lambda one: one.height)),
    Quantity("pitch [°]", _ticks(lambda one: np.rad2deg(one.rpy[:, 1]))),
    Quantity("roll [°]", _ticks(lambda one: np.rad2deg(one.rpy[:, 0]))),
    Quantity("yaw [°]", _ticks(lambda one: np.rad2deg(one.rpy[:, 2]))),
    Quantity("offset to the left [m]", _ticks(_aside)),
    COST,
    Quantity("iterations of a solve", _solves(lambda one: one.solves["iterations"].astype(float))),
)
"""Over time."""

CYCLE = (
    Quantity("forward speed [m/s]", _ticks(lambda one: one.heading_velocity[:, 0])),
    Quantity("trunk height [m]", _ticks(lambda one: one.height)),
    Quantity("pitch [°]", _ticks(lambda one: np.rad2deg(one.rpy[:, 1]))),
    Quantity("pitch rate [°/s]", _ticks(lambda one: np.rad2deg(one.ticks["angular_velocity"][:, 1]))),
    Quantity("normal force, all feet [N]", _ticks(lambda one: one.ticks["contact_forces"][:, :, 2].sum(axis=1))),
    Quantity("most loaded joint [% of its limit]", _ticks(_largest_load)),
)
"""Over a cycle of the gait."""


def save_all(runs: Sequence[NamedRun], folder: Path) -> tuple[Path, ...]:
    """Draw the figures into `folder` and return the files."""
    drawings = {"courses.png": _courses, "cycle.png": _cycle, "figures.png": _figures}
    return tuple(path for name, draw in drawings.items() if draw(runs, path := folder / name))


def _courses(runs: Sequence[NamedRun], path: Path) -> bool:
    shown = [one for one in COURSES if not _is_idle(one, runs)]
    with _panels(runs, path, len(shown), "Runs laid over each other") as (drawn, panels):
        for panel, quantity in zip(panels, shown):
            for run in runs:
                time, values = quantity.of(run.recording)
                panel.plot(time, values, color=run.colour, linewidth=0.9, alpha=0.85)
                if run.figures["fall_time_s"] is not None:
                    panel.axvline(run.figures["fall_time_s"], color=run.colour, linestyle=":", linewidth=1.0)
            panel.set(ylabel=quantity.label, xlabel="time [s]")
            panel.set_xlim(*_span(runs))
            if quantity is COST:
                _fit(panel, np.abs(np.concatenate([COST.of(run.recording)[1] for run in runs])))
        for run in runs:
            if shown[0] is COURSES[0]:
                commanded = run.recording.ticks["commanded_speed"]
                panels[0].plot(run.recording.ticks["time"], commanded, "--", color=run.colour, linewidth=0.8)
        _mark_pushes(runs, panels)
        _legend(drawn, runs, "speed: mean over a cycle, command dashed; band: push; dotted: fall")
    return True


def _cycle(runs: Sequence[NamedRun], path: Path) -> bool:
    found = {}
    for run in runs:
        steady = analysis.cycles(run.recording, analysis.steady(run.recording))
        found[run.name] = steady or analysis.cycles(run.recording)
    if not any(found.values()):
        return False
    shown = [one for one in CYCLE if not _is_idle(one, runs)]
    with _panels(runs, path, len(shown), "Mean cycle of the gait while the command is steady") as (drawn, panels):
        share = np.linspace(0.0, 100.0, analysis.PHASES)
        for panel, quantity in zip(panels, shown):
            for run in runs:
                course = analysis.mean_course(quantity.of(run.recording)[1], found[run.name])
                if course is not None:
                    low, high = course.mean - course.deviation, course.mean + course.deviation
                    panel.fill_between(share, low, high, color=run.colour, alpha=0.18, linewidth=0)
                    panel.plot(share, course.mean, color=run.colour)
            panel.set(ylabel=quantity.label, xlabel="share of the cycle [%]", xlim=(0.0, 100.0))
        counts = ", ".join(str(len(found[run.name])) for run in runs)
        _legend(drawn, runs, f"band: one standard deviation between cycles, of which there are {counts}")
    return True


def _figures(runs: Sequence[NamedRun], path: Path) -> bool:
    numbers = {name: [run.figures[name] for run in runs] for name in BARS}
    shown = {
        name: row
        for name, row in numbers.items()
        if any(is_number(one) and abs(float(one or 0.0)) > IDLE for one in row)
    }
    if not shown:
        return False
    with _panels(runs, path, len(shown), "Figures of the runs", 0.45 + 0.28 * len(runs)) as (drawn, panels):
        for panel, (name, row) in zip(panels, shown.items()):
            for index, (run, value) in enumerate(zip(runs, row)):
                panel.barh(index, value or 0.0, color=run.colour, height=0.7)
                panel.annotate(
                    words(value) if is_number(value) else "not known",
                    (max(value or 0.0, 0.0), index),
                    xytext=(3, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize=8,
                )
                if run.figures["fell"]:
                    panel.plot(0.0, index, "x", color=LIMIT, markersize=7, markeredgewidth=2.0, clip_on=False)
            panel.set_yticks([])
            panel.invert_yaxis()
            panel.margins(x=0.15)
            panel.grid(axis="y", visible=False)
            panel.set_title(BARS[name], fontsize=9)
        _legend(drawn, runs, "cross: the robot fell" if any(run.figures["fell"] for run in runs) else "")
    return True


@contextmanager
def _panels(
    runs: Sequence[NamedRun], path: Path, count: int, title: str, height: float = _PANEL[1]
) -> Iterator[tuple[Figure, list[Axes]]]:
    """Context manager: a figure with so many panels in columns; gives it and the panels."""
    rows = -(-count // _COLUMNS)
    with figure(path, _COLUMNS * _PANEL[0], rows * height + 0.5 + 0.22 * len(runs), title) as drawn:
        panels = list(drawn.subplots(rows, _COLUMNS, squeeze=False).flat)
        for empty in panels[count:]:
            empty.remove()
        yield drawn, panels[:count]


def _is_idle(quantity: Quantity, runs: Sequence[NamedRun]) -> bool:
    """True if nobody knows it, or it is zero all the time in every run."""
    for run in runs:
        values = quantity.of(run.recording)[1]
        known = values[np.isfinite(values)]
        if known.size and np.abs(known).max() > IDLE:
            return False
    return True


def _fit(panel: Axes, sizes: Array) -> None:
    """A scale on which a cost is seen beside one that is far larger."""
    known = sizes[np.isfinite(sizes) & (sizes > 0.0)]
    if known.size and known.max() > _WIDE * float(np.median(known)):
        panel.set_yscale("symlog", linthresh=10.0 ** np.ceil(np.log10(np.median(known))))


def _span(runs: Sequence[NamedRun]) -> tuple[float, float]:
    times = [run.recording.ticks["time"] for run in runs]
    return min(float(time[0]) for time in times), max(float(time[-1]) for time in times) or 1.0


def _mark_pushes(runs: Sequence[NamedRun], panels: Sequence[Axes]) -> None:
    for run in runs:
        for push in run.recording.info.options.get("pushes", ()):
            for panel in panels:
                end = push["time"] + max(push["duration"], 0.02)
                panel.axvspan(push["time"], end, color=run.colour, alpha=0.15, linewidth=0)


def described(runs: Sequence[NamedRun]) -> list[str]:
    """Names of the runs, each with its values of what differs, the first few of them."""
    made = sorted((row for row in settings(runs) if row.differs), key=lambda row: row.name in _LAST)
    more = ", …" if len(made) > _SETTINGS_NAMED else ""
    told = [
        ", ".join(f"{row.name} {words(row.values[index])}" for row in made[:_SETTINGS_NAMED])
        for index in range(len(runs))
    ]
    return [f"{run.name}: {text}{more}" if text else run.name for run, text in zip(runs, told)]


def _legend(drawn: Figure, runs: Sequence[NamedRun], remark: str) -> None:
    """Below the panels: whose lines they are, and what else is drawn."""
    handles = [Line2D([], [], color=run.colour, linewidth=2.0, label=text) for run, text in zip(runs, described(runs))]
    if remark:
        handles.append(Line2D([], [], linestyle="", label=remark))
    drawn.legend(handles=handles, loc="outside lower left", ncols=1, fontsize=8)
