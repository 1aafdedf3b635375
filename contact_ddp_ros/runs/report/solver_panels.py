"""Panels of the planner's work in the loop: cost by term, iterations, share of second order, constraints."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contact_ddp_ros.runs.recording.record import Array
from contact_ddp_ros.runs.recording.recording import Recording
from contact_ddp_ros.runs.report.style import (
    FOOT_COLOURS,
    LIMIT,
    MEASURED,
    PLANNED,
    POINT_COLOURS,
    explained,
    is_idle,
    legend,
    nothing,
    time_axis,
)

_IDLE = 1e-9

_TERM_COLOURS = (*FOOT_COLOURS, "#009e73", "#cc79a7", "#7a5c00", "#9a9a9a", *POINT_COLOURS)

COURSES = (
    ("theta", "θ", "Share of second-order curvature θ (0: iLQR)", False),
    ("regularisation", "ρ", "Regularisation of the last iteration", True),
    ("violation", "violation / scale", "Largest violated constraint of each plan", False),
    ("friction_violation", "force [N]", "Most that a planned force leaves its cone", False),
)
"""Columns of the solves beside iterations: unit, title, and whether the scale is logarithmic."""


def cost(figure: Figure, recording: Recording) -> bool:
    """Terms on a linear scale, stacked, and on a logarithmic one; False where they were not recorded."""
    solves, names = recording.solves, recording.info.cost_terms
    terms = solves["cost_terms"] if "cost_terms" in solves else np.empty((0, 0))
    shown = [k for k, _ in enumerate(names) if terms.size and not is_idle(terms[:, k], _IDLE)]
    if not shown:
        return False
    known = np.isfinite(terms).all(axis=1)
    time, values = solves["time"][known], terms[known]
    upper, lower = figure.subplots(2, 1, sharex=True)
    colours = [_TERM_COLOURS[k % len(_TERM_COLOURS)] for k in shown]
    labels = [names[k].replace("_", " ") for k in shown]
    areas = upper.stackplot(time, np.maximum(values[:, shown].T, 0.0), colors=colours, alpha=0.75, linewidth=0)
    for area, label in zip(areas, labels):
        explained(area, label)
    upper.plot(solves["time"], solves["cost"], color=MEASURED, linewidth=0.9, label="cost")
    costs = solves["cost"][np.isfinite(solves["cost"])]  # of a failed solve it is infinite
    top = 1.5 * float(np.percentile(costs, 98.0)) if costs.size else 1.0
    upper.set(ylabel="cost", title="Cost of each plan, terms stacked", ylim=(0.0, top))
    legend(upper)
    for k, colour in zip(shown, colours):
        lower.semilogy(time, np.where(values[:, k] != 0.0, np.abs(values[:, k]), np.nan), color=colour)
    biggest = float(np.nanmax(np.abs(values[:, shown])))
    low = max(1e-6 * biggest, float(np.nanmin(np.where(values[:, shown] != 0.0, np.abs(values[:, shown]), np.nan))))
    lower.set(ylabel="|term|", title="The same terms, logarithmic", ylim=(0.5 * low, 2.0 * biggest))
    for axes in (upper, lower):
        time_axis(axes, recording)
    upper.set_xlabel("")
    return True


def courses(figure: Figure, recording: Recording) -> bool:
    """Iterations and what else is not always zero; False without a solve."""
    solves = recording.solves
    if not solves["time"].size:
        return False
    shown = [one for one in COURSES if not is_idle(solves[one[0]], _IDLE)]
    axes = figure.subplots(1 + len(shown), 1, sharex=True, squeeze=False)[:, 0]
    _iterations(axes[0], recording)
    for panel, (name, unit, title, logarithmic) in zip(axes[1:], shown):
        _course(panel, solves["time"], solves[name], logarithmic)
        panel.set(ylabel=unit, title=title)
        time_axis(panel, recording)
    for panel in axes[:-1]:
        panel.set_xlabel("")
    return True


def _iterations(axes: Axes, recording: Recording) -> None:
    solves = recording.solves
    axes.plot(solves["time"], solves["iterations"], ".", color=PLANNED, markersize=3.0, label="published")
    failed = ~solves["ok"]
    if failed.any():
        axes.plot(solves["time"][failed], solves["iterations"][failed], "x", color=LIMIT, label="no plan came of it")
    axes.set(ylabel="iterations", title="Iterations of each solve")
    axes.set_ylim(0.0, max(1.0, float(solves["iterations"].max())) + 0.5)
    legend(axes)
    time_axis(axes, recording)


def _course(axes: Axes, time: Array, values: Array, logarithmic: bool) -> None:
    known = np.isfinite(values) & ((values > 0.0) | (not logarithmic))
    axes.plot(time[known], values[known], ".", color=PLANNED, markersize=3.0)
    if logarithmic:
        axes.set_yscale("log")
    else:
        axes.set_ylim(0.0, 1.05 * float(values[known].max()))


def solve_times(axes: Axes, recording: Recording) -> None:
    """Wall time of every solve, and the deadline."""
    solves, deadline = recording.solves, 1e3 * recording.info.planner_period
    if not solves["time"].size:
        nothing(axes, "no solves")
        return
    missed = solves["deadline_missed"]
    axes.plot(solves["time"][~missed], solves["solve_ms"][~missed], ".", color=PLANNED, markersize=2.5, alpha=0.6)
    if missed.any():
        axes.plot(solves["time"][missed], solves["solve_ms"][missed], "x", color=LIMIT, markersize=4, label="missed")
    axes.axhline(deadline, color=LIMIT, linestyle="--", linewidth=1.0, label=f"deadline {deadline:g} ms")
    legend(axes)
    axes.set(ylabel="solve time [ms]", title="Solve times")
    axes.set_ylim(0.0, 1.1 * max(deadline, float(np.nanpercentile(solves["solve_ms"], 99.9))))
    time_axis(axes, recording)


def solve_histogram(axes: Axes, recording: Recording) -> None:
    """Histogram of the solve times."""
    milliseconds, deadline = recording.solves["solve_ms"], 1e3 * recording.info.planner_period
    if not milliseconds.size:
        nothing(axes, "no solves")
        return
    top = max(deadline, float(np.nanpercentile(milliseconds, 99.9)))
    axes.hist(
        np.clip(milliseconds, 0.0, 1.1 * top), bins=np.linspace(0.0, 1.1 * top, 60).tolist(), color=PLANNED, alpha=0.8
    )
    axes.axvline(deadline, color=LIMIT, linestyle="--", linewidth=1.0)
    for share, style in ((50.0, "-"), (99.0, ":")):
        value = float(np.percentile(milliseconds, share))
        label = f"{'median' if share == 50.0 else 'p99'} {value:.2f} ms"
        axes.axvline(value, color=MEASURED, linestyle=style, linewidth=1.0, label=label)
    legend(axes)
    axes.set(xlabel="solve time [ms]", ylabel="solves", title="Distribution")
    axes.set_xlim(0.0, 1.1 * top)
