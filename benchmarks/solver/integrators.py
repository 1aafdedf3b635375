"""`contact-ddp bench integrators`: what each integration scheme makes of a step, and what an iteration with it costs.

* error: a smooth torque signal, the optimal bound's with a cubic for each mode, drives the robot open loop through a
  gait cycle with both touchdowns, in steps of several lengths. Torques are taken at the middle of a step, so that what
  is left is the scheme's error: the largest of the trunk's position at the ends of the modes, against the implicit
  midpoint extrapolated from two short steps (Richardson).
* time: one iteration of full DDP at the optimum of the receding horizon's problem with each scheme, processor time of
  the thread, all in turn, as ratios to the semi-implicit Euler scheme at the receding horizon's step.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

from benchmarks.benchmark import Benchmark, Findings, Run
from benchmarks.output import Metric, number
from benchmarks.solver.case import SPEED, Case, cold_case
from benchmarks.solver.iteration import ITERATION, STAGES, ours
from benchmarks.timing import Candidate, Times, exponent, interleave
from contact_ddp_ros.base.config import replace as configured
from contact_ddp_ros.mpc.config import PlannerConfig, for_model
from contact_ddp_ros.mpc.planar_reference import planar_schedule
from contact_ddp_ros.ocp.ddp import DdpSolver
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.ocp.solution import Guess
from contact_ddp_ros.robot.gaits.grid import KnotGrid, knot_grid
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.models.planar import PlanarModel
from contact_ddp_ros.runs.report.progress import working
from contact_ddp_ros.runs.report.style import MUTED, POINT_COLOURS, figure

Array = NDArray[np.float64]

SCHEMES = ("forward_euler", "semi_implicit_euler", "implicit_midpoint")
NAMES = dict(zip(SCHEMES, ("forward Euler", "semi-implicit Euler", "implicit midpoint"), strict=True))
DEFAULT, IMPLICIT = "semi_implicit_euler", "implicit_midpoint"

REFERENCE = 0.0005
"""Shorter step of the reference [s]."""

_PLANAR = for_model(PlannerConfig(), PlanarModel.name)

STEP = _PLANAR.gait.step

_SOLVE_ITERATIONS = 100

TARGET_ORDER = 1.8
"""Of the implicit midpoint, from the slope of the error."""

_MARKERS = ("s", "^", "o")
_OFFSETS = ((5, 5), (4, 5), (-26, -9))
"""Of the steps' names from their points, by scheme [points]."""


@dataclass(frozen=True)
class Effort:
    """How much is measured."""

    steps: tuple[float, ...]
    rounds: int


FULL = Effort((0.02, 0.01, 0.005, 0.004, 0.002, 0.001), 200)
QUICK = Effort((0.02, 0.01, 0.004, 0.002), 40)


def grid_of(step: float) -> KnotGrid:
    """One cycle of the gait in steps of that length [s], which must divide every mode."""
    schedule = planar_schedule(_PLANAR.gait)
    return knot_grid(schedule, 0, round(schedule.period / step), step)


class Bound:
    """A torque signal along one cycle, and what the schemes make of it."""

    def __init__(self) -> None:
        solution = case_of(DEFAULT, STEP).solve(DdpSolver(SolverOptions()), _SOLVE_ITERATIONS)
        grid = grid_of(STEP)
        middles = grid.times[:-1] + 0.5 * grid.durations
        self._cubics = {}
        for mode in np.unique(grid.modes[:-1]):
            rows = (grid.modes[:-1] == mode) & ~grid.switches
            self._cubics[mode] = [Polynomial.fit(middles[rows], torque, 3) for torque in solution.us[rows].T]
        coarse, fine = (self.ends(IMPLICIT, step) for step in (2.0 * REFERENCE, REFERENCE))
        self._reference = fine + (fine - coarse) / 3.0

    def torques(self, grid: KnotGrid) -> Array:
        """(N, n_u) at the middles of a grid's steps."""
        middles = grid.times[:-1] + 0.5 * grid.durations
        torques = np.zeros((grid.n_nodes, len(self._cubics[0])))
        for mode, cubics in self._cubics.items():
            rows = (grid.modes[:-1] == mode) & ~grid.switches
            torques[rows] = np.stack([cubic(middles[rows]) for cubic in cubics], axis=-1)
        return torques

    def ends(self, scheme: str, step: float) -> Array:
        """(modes, 2n) states at the ends of the modes, open loop."""
        case, grid = case_of(scheme, step), grid_of(step)
        guess = Guess.open_loop(case.x0, self.torques(grid))
        xs = DdpSolver().solve(case.problem, case.x0, guess, max_iterations=0).xs
        return xs[:-1][grid.switches]

    def error(self, scheme: str, step: float) -> float:
        """Largest of the trunk's position at the ends of the modes [m]."""
        difference = (self.ends(scheme, step) - self._reference)[:, :2]
        return float(np.linalg.norm(difference, axis=1).max())


def case_of(scheme: str, step: float) -> Case:
    """The receding horizon's problem with a scheme and a step, from its cold guess."""
    config = configured(_PLANAR, {"gait.integrator": scheme, "gait.step": step})
    return cold_case(load_robot(), config, SPEED)


def at_optimum(scheme: str, step: float) -> Case:
    """The same from its optimum."""
    cold = case_of(scheme, step)
    solution = cold.solve(DdpSolver(SolverOptions()), _SOLVE_ITERATIONS)
    return replace(cold, guess=Guess(solution.xs, solution.us, solution.gains))


def measure_errors(steps: Sequence[float]) -> dict[str, list[float]]:
    """By scheme, the error at every step [m]."""
    bound = Bound()
    return {scheme: [bound.error(scheme, step) for step in steps] for scheme in SCHEMES}


def measure_times(steps: Sequence[float], rounds: int) -> Times:
    """Of an iteration by every scheme at the receding horizon's step, and by the default and the implicit at others."""
    wanted = [(scheme, STEP) for scheme in SCHEMES]
    wanted += [(scheme, step) for scheme in (DEFAULT, IMPLICIT) for step in steps if step != STEP]
    candidates: Mapping[str, Candidate] = {
        label(scheme, step): ours(at_optimum(scheme, step), "ddp") for scheme, step in wanted
    }
    return interleave(candidates, rounds, 3)


def label(scheme: str, step: float) -> str:
    """Name of a timed candidate."""
    return f"{scheme}, {1e3 * step:g} ms"


def metrics(steps: Sequence[float], errors: Mapping[str, Sequence[float]], times: Times) -> list[Metric]:
    """What the table shows."""
    unit = (label(DEFAULT, STEP), ITERATION)
    rows = []
    for scheme in SCHEMES:
        target = TARGET_ORDER if scheme == IMPLICIT else None
        rows.append(Metric(f"{NAMES[scheme]}: order", exponent(steps, errors[scheme]), target, at_least=True))
        for step, error in zip(steps, errors[scheme], strict=True):
            known = label(scheme, step) in times.parts
            time = f"time {number(times.ratio((label(scheme, step), ITERATION), unit).median)}" if known else ""
            rows.append(Metric(f"    error of position, step {1e3 * step:g} ms", 1e3 * error, None, time, "mm"))
    for part in (ITERATION, *STAGES):
        ratio = times.ratio((label(IMPLICIT, STEP), part), (label(DEFAULT, STEP), part))
        rows.append(Metric(f"{'    ' if part in STAGES else 'midpoint / semi-implicit Euler, one '}{part}", ratio))
    for step in dict.fromkeys((STEP, min(steps))):
        longest = alike(steps, errors, step)
        if longest is None or label(DEFAULT, step) not in times.parts or label(IMPLICIT, longest) not in times.parts:
            continue
        ratio = times.ratio((label(IMPLICIT, longest), ITERATION), (label(DEFAULT, step), ITERATION))
        text = f"midpoint at {1e3 * longest:g} ms / semi-implicit Euler at {1e3 * step:g} ms, one iteration"
        rows.append(Metric(text, ratio, None, "no larger error"))
    return rows


def alike(steps: Sequence[float], errors: Mapping[str, Sequence[float]], step: float) -> float | None:
    """Longest step at which the midpoint's error does not exceed the default's at a step; None where there is none."""
    if step not in steps:
        return None
    allowed = errors[DEFAULT][list(steps).index(step)]
    good = [other for other, error in zip(steps, errors[IMPLICIT], strict=True) if error <= allowed]
    return max(good, default=None)


def draw(steps: Sequence[float], errors: Mapping[str, Sequence[float]], times: Times, path: Path) -> None:
    """Draw what was measured."""
    with figure(path, 9.5, 4.0, "Integration schemes over one gait cycle") as drawn:
        accuracy, price = drawn.subplots(1, 2, sharey=True)
        _accuracy(accuracy, np.array(steps), errors)
        _price(price, steps, errors, times)


def _accuracy(axes: Axes, steps: np.ndarray, errors: Mapping[str, Sequence[float]]) -> None:
    for scheme, colour, marker in zip(SCHEMES, POINT_COLOURS, _MARKERS, strict=False):
        axes.loglog(1e3 * steps, 1e3 * np.array(errors[scheme]), marker=marker, color=colour, label=NAMES[scheme])
    for power, scheme in ((1, DEFAULT), (2, SCHEMES[-1])):
        guide = 0.5e3 * errors[scheme][-1] * (steps / steps[-1]) ** power
        axes.loglog(1e3 * steps, guide, ":", color=MUTED, linewidth=0.9, label=f"slope {power}")
    axes.set(title="Against the step", xlabel="step [ms]", ylabel="error of the trunk's position [mm]")
    axes.set_xticks(1e3 * steps, [f"{1e3 * step:g}" for step in steps])
    axes.minorticks_off()
    axes.legend(loc="lower right")


def _price(axes: Axes, steps: Sequence[float], errors: Mapping[str, Sequence[float]], times: Times) -> None:
    unit = (label(DEFAULT, STEP), ITERATION)
    for scheme, colour, marker, offset in zip(SCHEMES, POINT_COLOURS, _MARKERS, _OFFSETS, strict=False):
        known = [i for i, step in enumerate(steps) if label(scheme, step) in times.parts]
        ratios = [times.ratio((label(scheme, steps[i]), ITERATION), unit).median for i in known]
        found = [1e3 * errors[scheme][i] for i in known]
        axes.loglog(ratios, found, marker=marker, color=colour)
        for i, x, y in zip(known, ratios, found, strict=True):
            axes.annotate(f"{1e3 * steps[i]:g} ms", (x, y), xytext=offset, textcoords="offset points", fontsize=7)
    axes.set(title="Against the price", xlabel=f"time of an iteration over {NAMES[DEFAULT]}'s, {1e3 * STEP:g} ms")
    axes.set_xticks([0.2, 0.5, 1, 2, 5], ["0.2", "0.5", "1", "2", "5"])
    axes.minorticks_off()


def _measure(run: Run) -> Findings:
    effort = QUICK if run.options.quick else FULL
    with working(run.terminal, "errors"):
        errors = measure_errors(effort.steps)
    with working(run.terminal, "times"):
        times = measure_times(effort.steps, effort.rounds)
    relative = {name: times.ratio((name, ITERATION), (label(DEFAULT, STEP), ITERATION)) for name in times.parts}
    return Findings(
        settings={"quick": run.options.quick, **asdict(effort)},
        results={"errors_m": errors, "relative_time": relative},
        title="Integration schemes over one gait cycle",
        metrics=metrics(effort.steps, errors, times),
        drawings={"integrators.png": lambda path: draw(effort.steps, errors, times, path)},
    )


BENCHMARK = Benchmark("integrators", __doc__, "fewer steps and samples, in under a minute", _measure)
