"""The figure of `bench solver`: stages of an iteration, convergence from cold, and start-up."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from benchmarks.panels import panel
from benchmarks.ros.startup import STEPS, StartupTimes
from benchmarks.solver.case import VARIANTS
from benchmarks.solver.cold_solves import ColdSolve
from benchmarks.solver.iteration import ITERATION, STAGES
from contact_ddp_ros.runs.report.style import LIMIT, MUTED, POINT_COLOURS, figure, legend, name_rows

_LABELS = {
    "ilqr": "iLQR",
    "ddp": "DDP, mRNEAc",
    "ddp_tensor": "DDP, tensors",
    "ddp, shared": "DDP, shared problem",
    "lean": "Crocoddyl FDDP, lean",
    "exact": "Crocoddyl FDDP, exact",
}

_SMALLEST = 1e-12
"""Relative distance to the optimum below which a curve ends."""


def draw(results: dict[str, Any], path: Path) -> None:
    """Draw what was measured."""
    with figure(path, 11.0, 6.5, "Solver, one thread") as drawn:
        stages, curves, starts, breakdown = drawn.subplots(2, 2).ravel()
        startup = results.get("startup", {})
        panel(stages, "One iteration", results.get("iteration"), _draw_stages)
        panel(curves, "From the cold guess", results.get("convergence"), _draw_convergence)
        panel(starts, "Warm start", startup.get("warm"), _draw_start)
        panel(breakdown, "Cold start", startup.get("cold"), lambda axes, start: _draw_start(axes, [start]))


def _draw_stages(axes: Axes, measured: Mapping[str, Any]) -> None:
    relative = measured["relative_to_ddp_iteration"]
    names = [name for name in _LABELS if name in relative]
    left = np.zeros(len(names))
    for stage, colour in zip(STAGES, POINT_COLOURS, strict=False):
        widths = np.array([relative[name][stage].median for name in names])
        axes.barh(range(len(names)), widths, left=left, color=colour, label=stage, height=0.65)
        left = left + widths
    for row, name in enumerate(names):
        whole = relative[name][ITERATION]
        axes.plot([whole.lower, whole.upper], [row, row], color="black", linewidth=2.0)
        axes.text(max(left[row], whole.upper), row, f" {whole.median:.2f}", va="center", fontsize=8)
    name_rows(axes, [_LABELS[name] for name in names])
    axes.set_xlabel("processor time over that of DDP by mRNEAc; lines: quartiles")
    legend(axes)


def _draw_convergence(axes: Axes, measured: Sequence[ColdSolve]) -> None:
    speeds = sorted({solve.speed for solve in measured})
    for solve in measured:
        costs = np.array(solve.costs)
        distance = (costs - costs.min()) / costs.min()
        distance = distance[: int(np.argmax(distance < _SMALLEST)) + 1 if (distance < _SMALLEST).any() else None]
        style = "-" if solve.variant == "ddp" else "--"
        colour = POINT_COLOURS[speeds.index(solve.speed)]
        axes.semilogy(
            np.maximum(distance, _SMALLEST), style, color=colour, label=f"{VARIANTS[solve.variant]} {solve.speed:g} m/s"
        )
    axes.axhline(1e-8, color=LIMIT, linewidth=0.8)
    axes.set_xlabel("iteration")
    axes.set_ylabel("relative distance to the final cost")
    axes.legend(fontsize=7)


def _draw_start(axes: Axes, starts: Sequence[StartupTimes]) -> None:
    steps = STEPS[:-1]
    for offset, which, colour in ((-0.2, "elapsed", POINT_COLOURS[0]), (0.2, "processor", MUTED)):
        medians = [float(np.median([getattr(start, which)[step] for start in starts])) for step in steps]
        axes.barh(
            np.arange(len(steps)) + offset, medians, height=0.38, color=colour, label=f"{which} {sum(medians):.2f} s"
        )
    name_rows(axes, list(steps))
    axes.set_xlabel("until the planner is ready [s]")
    legend(axes)
