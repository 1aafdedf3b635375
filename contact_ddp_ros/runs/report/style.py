"""Style of all figures: colours by meaning, plain axes, files written atomically. No global state.

Title of a run in a line, for the heads of figures and for the film.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from contact_ddp_ros.base.files import written_whole
from contact_ddp_ros.runs.options import TRUE
from contact_ddp_ros.runs.recording import analysis
from contact_ddp_ros.runs.recording.recording import Recording

MEASURED, PLANNED, COMMAND, LIMIT, MUTED = "#1b1b1b", "#0072b2", "#d55e00", "#c0392b", "#9a9a9a"
"""Colours of measured, planned and commanded values, of limits, and of context."""

FOOT_COLOURS = ("#0072b2", "#56b4e9", "#d55e00", "#e69f00")
"""Front right, front left, hind right, hind left: front legs blue, hind legs orange."""

POINT_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
"""Colours of a planar model's contact points, front before back."""


def point_colours(points: Sequence[str]) -> tuple[str, ...]:
    """Colours of the planner's contact points: those of the feet where it has all of them."""
    return FOOT_COLOURS if len(points) == len(FOOT_COLOURS) else POINT_COLOURS


DOTS_PER_INCH = 130

_EXPLAINED = "explained: "

_STYLE: dict[str, Any] = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "lines.linewidth": 1.2,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "figure.facecolor": "white",
}


@contextmanager
def figure(path: Path, width: float, height: float, title: str = "") -> Iterator[Figure]:
    """Context manager: a figure of `width` by `height` [inch], written to `path` at the end of the block.

    One in which nothing was drawn is not written, and an older file of its name is taken away.
    """
    with mpl.rc_context(cast(Any, _STYLE)):
        drawn = Figure(figsize=(width, height), dpi=DOTS_PER_INCH, layout="constrained")
        if title:
            drawn.suptitle(title, x=0.01, ha="left", fontsize=10, fontweight="bold")
        yield drawn
        if not drawn.axes:
            path.unlink(missing_ok=True)
            return
        explain(drawn)
        with written_whole(path) as temporary:
            _write(drawn, temporary)


def _write(drawn: Figure, path: Path) -> None:
    """Lay the figure out and draw it once each, which `savefig` does twice."""
    canvas, layout = FigureCanvasAgg(drawn), drawn.get_layout_engine()
    if layout is not None:
        layout.execute(drawn)
    drawn.set_layout_engine("none")
    canvas.print_png(path)


def explained(drawn: Artist, meaning: str) -> None:
    """Have the legend below the figure say what something pale means that has no entry of its own; once for a figure.

    The meaning goes into `gid`.
    """
    drawn.set_gid(f"{_EXPLAINED}{meaning}")


def explain(drawn: Figure) -> None:
    """Draw that legend; none where nothing is to be explained."""
    found: dict[str, Artist] = {}
    for one in (child for axes in drawn.axes for child in axes.get_children()):
        if str(one.get_gid() or "").startswith(_EXPLAINED):
            found.setdefault(str(one.get_gid()).removeprefix(_EXPLAINED), one)
    if found:
        drawn.legend(list(found.values()), list(found), loc="outside lower left", ncols=4, fontsize=8)


def is_idle(values: np.ndarray, threshold: float) -> bool:
    """True if values are unknown or stay within a threshold of zero all the time: such a course is not drawn."""
    known = np.abs(values[np.isfinite(values)])
    return not known.size or float(known.max()) <= threshold


def time_axis(axes: Axes, recording: Recording) -> None:
    """Set the time axis [s] of a whole run: pushes as bands, intervals without moving grey."""
    time = recording.ticks["time"]
    axes.set_xlabel("time [s]")
    if time.size > 1:
        axes.set_xlim(time[0], time[-1])
    for start, end in stretches(time, ~analysis.bounding(recording)):
        explained(axes.axvspan(start, end, color="#f0f0f0", zorder=0, linewidth=0), "grey: standing or damped")
    for push in recording.info.options.get("pushes", ()):
        end = push["time"] + max(push["duration"], 0.02)
        explained(axes.axvspan(push["time"], end, color=LIMIT, alpha=0.25, linewidth=0), "red: push")


def stretches(time: np.ndarray, mask: np.ndarray) -> list[tuple[float, float]]:
    """(start, end) of each run of true entries; an end is the time of the next entry where there is one."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(int), [0]])))
    return [(float(time[a]), float(time[min(b, len(time) - 1)])) for a, b in zip(edges[::2], edges[1::2])]


def legend(axes: Axes, marker_scale: float = 1.0) -> None:
    """Draw the legend in the title's line, outside the data; none where nothing has a label."""
    if not axes.get_legend_handles_labels()[0]:
        return
    axes.legend(
        loc="lower right",
        bbox_to_anchor=(1.0, 1.0),
        borderaxespad=0.1,
        ncols=5,
        markerscale=marker_scale,
        handlelength=1.4,
        columnspacing=1.2,
    )


def name_rows(axes: Axes, names: Sequence[str], size: float | None = None) -> None:
    """Names of horizontal bars at 0, 1, …, the first on top."""
    axes.set_yticks(range(len(names)), names, fontsize=size)
    axes.invert_yaxis()


def nothing(axes: Axes, text: str) -> None:
    """Draw an empty panel with a text that says why it is empty."""
    axes.set_xticks([])
    axes.set_yticks([])
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=MUTED)


_COMMIT = 7
"""Letters of a commit that are told."""


def run_title(recording: Recording) -> str:
    """Job, robot, gait, speed, solver, clock, ground, source of the state and commit; what is usual is left out."""
    info, options = recording.info, recording.info.options
    terrain = str(options.get("terrain", "flat"))
    parts = [
        f"{info.job}: {Path(str(options.get('robot', 'robot'))).stem}",
        options["motion"]["name"] if recording.motion else f"{gait_name(recording)} at {speed_words(recording)}",
        str(options.get("variant", "")),
        "lock-step" if options.get("lockstep", True) else "real time",
        "" if terrain == "flat" else terrain,
        "simulator's state" if options.get("state") == TRUE else "",
        commit_words(info.commit),
    ]
    return ", ".join(part for part in parts if part)


def gait_name(recording: Recording) -> str:
    """Name of the gait at the beginning, and of those that it is changed to."""
    first = str((recording.info.parameters or {}).get("planner", {}).get("gait.name", "bound"))
    names = [first, *(str(name) for _, name in recording.info.options.get("gaits", ()))]
    return ", ".join(Path(name).stem for name in names)


def speed_words(recording: Recording) -> str:
    """The commanded speed, or its range."""
    speeds = [float(speed) for _, speed in recording.info.options.get("speed", ())]
    if not speeds:
        return "an unknown speed"
    low, high = min(speeds), max(speeds)
    return f"{low:g} m/s" if low == high else f"{low:g} to {high:g} m/s"


def commit_words(commit: str | None) -> str:
    """A commit, shortened, with the `+` of a changed checkout; empty where none is known."""
    return f"commit {commit[:_COMMIT]}{'+' if commit.endswith('+') else ''}" if commit else ""
