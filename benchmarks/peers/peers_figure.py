"""The figure of `bench peers`: one bound by all solvers, their costs, time to the optimum and time per iteration."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from benchmarks.peers import CYCLE
from benchmarks.peers.comparison import (
    ACCURACIES,
    BARE,
    CONSTRAINED,
    CSQP,
    DDP,
    DDP_HASTY,
    DDP_PENALTIES,
    FATROP,
    FDDP,
    ILQR,
    IPOPT,
    PENALISED,
    QUASI_NEWTON,
    TARGET_AGREEMENT,
    TARGETS,
    SolverComparison,
)
from benchmarks.peers.scaling import EXACT, LEAN, Scaling
from benchmarks.solver.iteration import ITERATION
from contact_ddp_ros.robot.models.planar import PlanarModel
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel
from contact_ddp_ros.runs.report.style import LIMIT, MUTED, POINT_COLOURS, figure, legend, nothing

_BLUE, _ORANGE, _GREEN, _PINK = POINT_COLOURS

_LOOKS: Mapping[str, tuple[str, str]] = {
    DDP: (_BLUE, "o"),
    DDP_PENALTIES: (MUTED, "D"),
    DDP_HASTY: (MUTED, "s"),
    FATROP: (_PINK, "P"),
    CSQP: (_GREEN, "*"),
    ILQR: (MUTED, "v"),
    QUASI_NEWTON: (MUTED, "1"),
    FDDP: (_GREEN, "x"),
    LEAN: (_GREEN, "x"),
    EXACT: (_PINK, "+"),
    IPOPT: (_ORANGE, "^"),
}
"""Colour and marker of a solver in every panel."""

_TARGET = TARGETS[PENALISED, IPOPT][1e-6]

_SMALLEST = 1e-16
"""Relative differences below this are drawn there."""

_ANGLES: Mapping[str, tuple[int, int, int]] = {PlanarModel.name: (2, 4, 6), WholeBodyModel.name: (4, 8, 14)}
"""By model, coordinates: the trunk's pitch, a front and a back knee."""

TITLES: Mapping[str, str] = {
    PlanarModel.name: "The same bound by other solvers, one thread",
    WholeBodyModel.name: "The same trot of the whole body by other solvers, one thread",
}
"""By model."""


def draw(ends: Sequence[SolverComparison], iterations: Scaling | None, path: Path) -> None:
    """Draw what was measured; without `iterations` a panel stays empty."""
    with figure(path, 18.0, 9.0, TITLES[ends[0].start.model]) as drawn:
        panels = drawn.subplots(2, 3)
        _draw_overlay(panels[0, 0], ends)
        _draw_torques(panels[0, 1], ends)
        _draw_agreement(panels[0, 2], ends)
        _draw_course(panels[1, 0], ends)
        _draw_ratios(panels[1, 1], ends)
        if iterations is None:
            nothing(panels[1, 2], "iterations not measured over the horizon's length")
        else:
            _draw_scaling(panels[1, 2], iterations)


def _first(ends: Sequence[SolverComparison], statement: str) -> SolverComparison:
    return next(end for end in ends if end.statement == statement)


def _draw_overlay(axes: Axes, ends: Sequence[SolverComparison]) -> None:
    """Angles of the bare problem, three solvers with different models of the dynamics among them."""
    end = _first(ends, BARE)
    axes.set_title(f"Bare, {end.start.speed:g} m/s")
    pitch, *knees = _ANGLES[end.start.model]
    for column in (pitch, *knees):
        axes.plot(end.courses[DDP].xs[:, column], color=_LOOKS[DDP][0])
    for offset, solver in enumerate(name for name in (FDDP, IPOPT) if name in end.courses):
        nodes = np.arange(3 * offset, len(end.courses[solver].xs), 6)
        colour, marker = _LOOKS[solver]
        for column in (pitch, *knees):
            axes.plot(nodes, end.courses[solver].xs[nodes, column], marker, color=colour, markersize=4)
    middle = len(end.courses[DDP].xs) // 3
    for column, text, offset in ((pitch, "pitch", 10), (knees[0], "front and back knee", -24)):
        at = (middle, end.courses[DDP].xs[middle, column])
        axes.annotate(text, at, xytext=(0, offset), textcoords="offset points", fontsize=8)
    _name(axes, [name for name in (DDP, FDDP, IPOPT) if name in end.courses])
    axes.set_xlabel("node")
    axes.set_ylabel("angle [rad]")


def _name(axes: Axes, solvers: Sequence[str]) -> None:
    """A legend of solvers: ours is a line, a peer its marker."""
    for solver in solvers:
        colour, marker = _LOOKS[solver]
        axes.plot([], [], "-" if solver == DDP else marker, color=colour, label=solver, markersize=4)
    legend(axes)


def _draw_torques(axes: Axes, ends: Sequence[SolverComparison]) -> None:
    """Torques at the fastest commanded speed, where most limits bind."""
    found = [end for end in ends if end.statement == CONSTRAINED]
    end = max(found, key=lambda one: (one.start.speed, -one.start.seed))
    axes.set_title(f"Constrained, {end.start.speed:g} m/s")
    nodes = np.arange(len(end.courses[DDP].us))
    for column in range(end.courses[DDP].us.shape[1]):
        axes.plot(nodes, end.courses[DDP].us[:, column], color=_LOOKS[DDP][0], linewidth=0.9)
        axes.plot(
            nodes[::2], end.courses[IPOPT].us[::2, column], _LOOKS[IPOPT][1], color=_LOOKS[IPOPT][0], markersize=2.5
        )
    _name(axes, (DDP, IPOPT))
    axes.set_xlabel("node")
    axes.set_ylabel("torques [N m]")


def _draw_agreement(axes: Axes, ends: Sequence[SolverComparison]) -> None:
    axes.set_title("Optimal cost beside DDP's")
    rows = list(
        dict.fromkeys(
            (end.statement, solver)
            for end in ends
            for solver in end.courses
            if solver not in (DDP, DDP_PENALTIES, DDP_HASTY, ILQR, QUASI_NEWTON)
        )
    )
    for row, (statement, solver) in enumerate(rows):
        found = [abs(end.difference(solver)) for end in ends if end.statement == statement]
        colour, marker = _LOOKS[solver]
        axes.semilogx(np.maximum(found, _SMALLEST), np.full(len(found), row), marker, color=colour, markersize=5)
    axes.axvline(TARGET_AGREEMENT, color=LIMIT, linewidth=0.8)
    axes.set_yticks(range(len(rows)), [f"{statement}\n{solver}" for statement, solver in rows], fontsize=7)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(_SMALLEST / 3.0, 1e-2)
    axes.set_xlabel("relative difference of each start; line: target")


def _draw_course(axes: Axes, ends: Sequence[SolverComparison]) -> None:
    end = _first(ends, PENALISED)
    axes.set_title(f"Penalised, {end.start.speed:g} m/s")
    for solver in (one for one in (DDP, ILQR, QUASI_NEWTON, IPOPT) if one in end.courses):
        course = end.courses[solver]
        distance = np.abs(course.costs - end.optimum) / end.optimum
        colour, marker = _LOOKS[solver]
        style: dict[str, Any] = {"color": colour, "marker": marker, "markersize": 3}
        axes.semilogy(np.maximum(np.maximum(distance, course.violations), _SMALLEST), label=solver, **style)
    axes.set_xlim(0, 25)
    axes.set_xlabel("iteration")
    axes.set_ylabel("relative distance to the optimum,\nor violation if larger")
    legend(axes)


def _draw_ratios(axes: Axes, ends: Sequence[SolverComparison]) -> None:
    axes.set_title("Time to accuracy")
    labels: list[str] = []
    for statement in ACCURACIES:
        for accuracy in ACCURACIES[statement]:
            for solver in (FDDP, CSQP, FATROP, IPOPT):
                found = [end.ratio(solver, accuracy) for end in ends if end.statement == statement]
                ratios = [one for one in found if one is not None]
                if not ratios:
                    continue
                colour, marker = _LOOKS[solver]
                axes.semilogx(ratios, np.full(len(ratios), len(labels)), marker, color=colour, markersize=4)
                axes.plot(np.median(ratios), len(labels), "|", color="black", markersize=12)
                labels.append(f"{statement} {accuracy:.0e}")
    if not labels:
        nothing(axes, "nothing reached")
        return
    _name(axes, (FDDP, CSQP, FATROP, IPOPT))
    axes.axvline(_TARGET, color=LIMIT, linewidth=0.8)
    axes.axvline(1.0, color=MUTED, linewidth=0.8)
    axes.set_yticks(range(len(labels)), labels, fontsize=7)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_xlabel(f"over the time of DDP; bars: medians; line: target, {_TARGET:g} for IPOPT")


def _draw_scaling(axes: Axes, iterations: Scaling) -> None:
    axes.set_title("One iteration")
    lengths = list(iterations.times)
    unit = iterations.times[CYCLE].spread(DDP, ITERATION).median
    for solver in iterations.solvers:
        spreads = [iterations.times[n].spread(solver, ITERATION, 1.0 / unit) for n in lengths]
        colour, marker = _LOOKS[solver]
        label = f"{solver}, power {iterations.slope(solver):.2f}"
        axes.loglog(lengths, [one.median for one in spreads], marker=marker, color=colour, label=label, markersize=5)
        axes.fill_between(
            lengths, [one.lower for one in spreads], [one.upper for one in spreads], color=colour, alpha=0.2
        )
    axes.set_xticks(lengths, [str(n) for n in lengths])
    axes.minorticks_off()
    axes.set_xlabel("steps of 4 ms")
    axes.set_ylabel(f"processor time over DDP's at {CYCLE} steps")
    axes.set_ylim(bottom=0.15)
    axes.legend(fontsize=7, loc="lower right")
