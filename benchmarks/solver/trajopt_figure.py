"""The figures of `bench trajopt`: the comparison of the variants, and the motion within its limits."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from benchmarks.solver.paper_bound import PaperBound
from benchmarks.solver.paper_optimisation import (
    ITERATION,
    ITERATIONS,
    SOLVE,
    TARGET_TIME,
    TARGET_TOUCHDOWN,
    Motion,
    Optimisation,
    VariantComparison,
)
from benchmarks.timing import Times
from contact_ddp_ros.runs.report.style import LIMIT, MUTED, POINT_COLOURS, figure, legend
from contact_ddp_ros.runs.study.study import grouped

_LABELS = {"ilqr": "iLQR", "ddp": "DDP, mRNEAc", "ddp_tensor": "DDP, tensors"}
_COLOURS = {"ilqr": "#e69f00", "ddp": "#0072b2", "ddp_tensor": "#009e73"}
_FRAMES, _SPACING = 10, 0.52
"""Of the filmstrip: number of postures, and how far apart they are drawn [m]."""

_AROUND_TOUCHDOWN = 0.02
"""Drawn before and after a touchdown [s]."""

_SMALLEST = 1e-12


def draw_comparison(comparison: VariantComparison, times: Times, path: Path) -> None:
    """Draw the variants beside each other."""
    by_variant = grouped(comparison.found, lambda one: one.variant)
    unit, own = float(np.median(times.parts["ilqr"][SOLVE])), times.parts["ilqr"][ITERATION]
    with figure(path, 12.0, 7.0, "The paper's bound from perturbed starts, one thread") as drawn:
        solve, ratio, iterations, violation, cost, touchdown = drawn.subplots(2, 3).ravel()
        _boxes(solve, {name: parts[SOLVE] / unit for name, parts in times.parts.items()})
        solve.set(title="Time of a solve", ylabel="processor time over iLQR's median")
        solve.set_ylim(bottom=0.0)
        _boxes(ratio, {name: parts[ITERATION] / own for name, parts in times.parts.items() if name != "ilqr"})
        ratio.axhline(TARGET_TIME, color=LIMIT, linestyle="--", label=f"target of DDP by mRNEAc, {TARGET_TIME:g}")
        ratio.axhline(1.0, color=MUTED, linewidth=0.8)
        ratio.set(title="Time of an iteration", ylabel="over iLQR's from the same start")
        ratio.set_ylim(bottom=0.9)
        _boxes(iterations, {name: np.array([one.iterations for one in runs]) for name, runs in by_variant.items()})
        iterations.axhline(ITERATIONS, color=LIMIT, linestyle="--", label="limit")
        iterations.set(title="Iterations until feasible and converged", ylabel="iterations, all passes")
        iterations.set_ylim(0, ITERATIONS * 1.08)
        _violations(violation, by_variant)
        _costs(cost, by_variant)
        _touchdowns(touchdown, comparison)
        for axes, place in ((ratio, "best"), (iterations, "lower right"), (cost, "best")):
            axes.legend(loc=place)


def draw_motion(comparison: VariantComparison, path: Path) -> None:
    """Draw the motion that DDP finds from the nominal start, within its limits."""
    bound, nominal = comparison.bounds["ddp"], comparison.motions[None]
    with figure(path, 12.0, 9.5, "The paper's bound, nominal start, DDP by mRNEAc") as drawn:
        grid = drawn.add_gridspec(3, 2, height_ratios=(0.62, 1.2, 1.2))
        _filmstrip(drawn.add_subplot(grid[0, :]), bound, nominal)
        _torques(drawn.add_subplot(grid[1, 0]), bound, nominal)
        _body(drawn.add_subplot(grid[1, 1]), bound, nominal)
        _forces(drawn.add_subplot(grid[2, 0]), bound, nominal)
        _heights(drawn.add_subplot(grid[2, 1]), bound, nominal)


def _boxes(axes: Axes, values: dict[str, np.ndarray]) -> None:
    boxes = axes.boxplot(
        list(values.values()),
        widths=0.55,
        patch_artist=True,
        medianprops={"color": "black"},
        flierprops={"marker": ".", "markersize": 4, "markeredgecolor": MUTED},
    )
    for box, name in zip(boxes["boxes"], values, strict=True):
        box.set(facecolor=_COLOURS[name], alpha=0.75)
    axes.set_xticks(range(1, len(values) + 1), [_LABELS[name] for name in values])


def _violations(axes: Axes, by_variant: Mapping[str, Sequence[Optimisation]]) -> None:
    for name, runs in by_variant.items():
        table = np.full((len(runs), ITERATIONS), np.nan)
        for row, one in zip(table, runs, strict=True):
            row[: len(one.violations)] = one.violations
            row[len(one.violations) :] = one.violations[-1]  # it stays where it ended
        table = np.maximum(table[~np.isnan(table).all(axis=1)], _SMALLEST)
        known = ~np.isnan(table).any(axis=0)
        count = np.arange(1, ITERATIONS + 1)[known]
        lower, median, upper = np.percentile(table[:, known], (0, 50, 100), axis=0)
        axes.fill_between(count, lower, upper, color=_COLOURS[name], alpha=0.15, linewidth=0)
        style = "--" if name == "ddp_tensor" else "-"  # on top of the other DDP
        axes.semilogy(count, median, style, color=_COLOURS[name], label=_LABELS[name])
    axes.set(title="Violation of the constraints", xlabel="iteration", ylabel="largest (touchdown [m], limits [–])")
    axes.legend(loc="upper right", title="median; band: all starts", title_fontsize=8)


def _costs(axes: Axes, by_variant: Mapping[str, Sequence[Optimisation]]) -> None:
    own = {one.seed: one.cost for one in by_variant["ilqr"]}
    for name, runs in by_variant.items():
        if name != "ilqr":
            seeds, excess = zip(*((one.seed, one.cost / own[one.seed] - 1.0) for one in runs), strict=True)
            marker = "+" if name == "ddp_tensor" else "o"
            axes.plot(seeds, excess, marker, color=_COLOURS[name], label=_LABELS[name], ms=4)
    axes.axhline(0.0, color=MUTED, linewidth=0.8)
    axes.set_yscale("symlog", linthresh=1e-10)
    axes.set(title="Final cost over iLQR's, less one", xlabel="start", ylabel="relative difference; below 0: better")


def _touchdowns(axes: Axes, comparison: VariantComparison) -> None:
    bound = comparison.bounds["ddp"]
    grid, stance = bound.grid, bound.contact.stance_table()
    labelled: set[int] = set()
    for moved in comparison.motions.values():
        for k in np.flatnonzero(grid.switches):
            landing = stance[grid.modes[k + 1]] & ~stance[grid.modes[k]]
            near = np.abs(grid.times - grid.times[k]) <= _AROUND_TOUCHDOWN + 1e-9
            for foot in np.flatnonzero(landing):
                label = None if foot in labelled else bound.contact.feet[foot].replace("_", " ")
                labelled.add(int(foot))
                axes.plot(
                    1e3 * (grid.times[near] - grid.times[k]),
                    1e3 * (moved.heights[near, foot] - bound.law.grounds.heights[foot]),
                    color=POINT_COLOURS[foot],
                    linewidth=0.6,
                    alpha=0.6,
                    label=label,
                )
    limit = 1e3 * TARGET_TOUCHDOWN
    axes.axhspan(-limit, limit, color=LIMIT, alpha=0.12, linewidth=0, label=f"± {limit:g} mm")
    axes.set(title="Feet at touchdown, all starts", xlabel="time from touchdown [ms]", ylabel="height [mm]")
    axes.set_ylim(-3.0, 20.0)
    axes.legend(loc="upper right")


def _mark_modes(axes: Axes, bound: PaperBound) -> None:
    """Stances as bands, in the colour of the foot that is down."""
    grid, stance = bound.grid, bound.contact.stance_table()
    edges = [0, *(np.flatnonzero(grid.switches) + 1)]
    for first, last in pairwise(edges):
        for foot in np.flatnonzero(stance[grid.modes[first]]):
            axes.axvspan(grid.times[first], grid.times[last], color=POINT_COLOURS[foot], alpha=0.08, linewidth=0)
    axes.set_xlim(grid.times[0], grid.times[-1])
    axes.set_xlabel("time [s]")


def _filmstrip(axes: Axes, bound: PaperBound, moved: Motion) -> None:
    grid, stance = bound.grid, bound.contact.stance_table()
    steps = np.flatnonzero(~grid.switches)
    weight = bound.law.force_scale
    for i, k in enumerate(steps[np.linspace(0, len(steps) - 1, _FRAMES).astype(int)]):
        q = moved.states[k]
        shift = _SPACING * i - q[0]
        hips = []
        for foot, leg in enumerate(bound.legs):
            points = leg.points(q) + [shift, 0.0]
            hips.append(points[0])
            colour = POINT_COLOURS[foot]
            axes.plot(*points.T, "-o", color=colour, markersize=2.5, linewidth=1.6)
            if stance[grid.modes[k], foot]:
                force = moved.forces[k, foot] / weight * 0.12
                axes.annotate(
                    "",
                    points[2] + force,
                    points[2],
                    arrowprops={"arrowstyle": "-|>", "color": LIMIT, "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0},
                )
        axes.plot(*np.array(hips).T, color="#1b1b1b", linewidth=5.0, solid_capstyle="round")
        mode = bound.contact.schedule.modes[grid.modes[k]].name.replace("_", " ")
        axes.text(_SPACING * i, -0.05, f"{1e3 * grid.times[k]:.0f} ms\n{mode}", ha="center", va="top", fontsize=7)
    axes.axhline(0.0, color="#1b1b1b", linewidth=1.0)
    axes.set_aspect("equal")
    axes.set_ylim(-0.16, 0.42)
    axes.set_xlim(-0.45, _SPACING * (_FRAMES - 1) + 0.3)
    axes.axis("off")
    axes.set_title("Motion: postures beside each other, front leg blue, back leg orange; ground reaction forces red")


def _torques(axes: Axes, bound: PaperBound, moved: Motion) -> None:
    _mark_modes(axes, bound)
    steps = ~bound.grid.switches
    for a, joint in enumerate(bound.tree.actuated):
        name = bound.tree.joints[joint].name
        style = "-" if name.endswith("hip") else "--"
        colour = POINT_COLOURS[0 if name.startswith("front") else 1]
        axes.plot(
            bound.grid.times[:-1][steps], moved.torques[steps, a], style, color=colour, label=name.replace("_", " ")
        )
    for sign in (-1.0, 1.0):
        axes.axhline(sign * float(bound.law.torque_limits[0]), color=LIMIT, linestyle=":")
    axes.set(title="Torques and limits", ylabel="torque of both legs [N m]")
    legend(axes)


def _body(axes: Axes, bound: PaperBound, moved: Motion) -> None:
    _mark_modes(axes, bound)
    n, times = bound.tree.n, bound.grid.times
    axes.plot(times, moved.states[:, 1], color=POINT_COLOURS[0], label="height [m]")
    axes.plot(times, moved.states[:, 2], color=POINT_COLOURS[2], label="pitch [rad]")
    axes.plot(times, moved.states[:, n], color=POINT_COLOURS[3], label="forward velocity [m/s]")
    axes.set(title="Trunk")
    legend(axes)


def _forces(axes: Axes, bound: PaperBound, moved: Motion) -> None:
    _mark_modes(axes, bound)
    times, stance = bound.grid.times[:-1], bound.contact.stance_table()
    down = stance[bound.grid.modes[:-1]] & ~bound.grid.switches[:, None]
    for foot, colour in zip(range(len(bound.contact.feet)), POINT_COLOURS, strict=False):
        forces = np.where(down[:, foot, None], moved.forces[:, foot], np.nan)
        name = bound.contact.feet[foot].replace("_foot", "")
        axes.plot(times, forces[:, -1], color=colour, label=f"{name} normal")
        axes.plot(times, forces[:, 0], "--", color=colour, label=f"{name} tangential")
        cone = bound.law.friction * forces[:, -1]
        axes.plot(times, cone, ":", color=LIMIT, linewidth=1.0, label=None if foot else "± friction × normal")
        axes.plot(times, -cone, ":", color=LIMIT, linewidth=1.0)
    axes.set(title="Contact forces", ylabel="force on both feet [N]")
    axes.legend(loc="lower right", ncols=2, fontsize=7)
    axes.set_ylim(bottom=-210.0)


def _heights(axes: Axes, bound: PaperBound, moved: Motion) -> None:
    _mark_modes(axes, bound)
    for foot, name in enumerate(bound.contact.feet):
        heights = 1e3 * (moved.heights[:, foot] - bound.law.grounds.heights[foot])
        axes.plot(bound.grid.times, heights, color=POINT_COLOURS[foot], label=name.replace("_", " "))
    axes.axhline(0.0, color=LIMIT, linestyle=":")
    axes.set(title="Feet above the ground", ylabel="height [mm]")
    legend(axes)
