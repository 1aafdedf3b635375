"""`contact-ddp bench closed-loop`: full DDP against iLQR inside the MPC, on equal time budgets.

Both variants control the simulated robot in lock-step under the same random conditions, each with the iterations that
fit the same processor time (:mod:`benchmarks.loop.budget`):

* pushes: the largest impulse survived, over directions and phases of the gait;
* speeds: the fastest and the slowest speed that is held;
* iterations: how little time for the solver still bounds;
* friction, mass, delay, step: how often the robot survives what the planner does not know.

A sample is one draw of everything that chance decides: speed, phase, direction and size of a push, sensor noise, place
of a step. Sample i is the same draw for both variants and for every value of what a sweep varies, so that they can be
compared one by one. All runs have sensor noise, without which the simulator is symmetric and left equals right.

Every finished run is on the disk at once: after Ctrl-C or a crash, `--resume FOLDER` goes on. The exit code is 0
whatever the robot did.
"""

import argparse
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from benchmarks.benchmark import Run, at_least, option
from benchmarks.loop import budget, outcome
from benchmarks.loop.budget import Budget, PacedPlanner, StageCosts, measure_costs
from benchmarks.loop.closed_loop_report import MEASURES, report
from benchmarks.loop.harness import CYCLE, DIRECTIONS, PUSH_DURATION, RECOVERY, SPEED, bounding, push_of
from benchmarks.solver.case import VARIANTS
from benchmarks.study import Study
from contact_ddp_ros.mpc.config import PlannerConfig
from contact_ddp_ros.plants.pushes import Push
from contact_ddp_ros.runs.options import MAX_SPEED, SENSOR_ERRORS, RunOptions
from contact_ddp_ros.runs.report.progress import working
from contact_ddp_ros.runs.study.study import Case, Figures

ITERATIONS = 2
"""DDP iterations that the budget of a solve is worth, unless it is what varies; the planner's default."""

PUSH_TIME = 3.0
"""The earliest push begins when the robot has bounded for a second and a half [s]."""

IMPULSES = (4.0, 10.0)
"""Range of the random pushes, which at its upper end is more than what the weakest phase and direction bear [N s]."""

SPEEDS = (0.3, 1.2)
"""Range of the random speeds [m/s]."""

SPEED_RUN = 8.0
"""Duration of a run at a speed that may be the limit [s]."""

SPEED_BAND = 0.1
"""A commanded speed is held where the mean is within this share of it, or of 0.5 m/s where that is more."""

LARGEST_IMPULSE = 24.0
"""Upper end of the search for the push envelope [N s]."""

STEP_MARGIN, STEP_APPROACH, STEP_RUN = 0.25, 1.5, 6.5
"""The step lies ahead of the front feet of the standing robot [m], and so much steady bounding further [s]; duration of
a run, of which about half is left on the step [s]."""

_COST_ROUNDS, _COST_REPEATS = 100, 5
"""Extent of the measurement of the stages' costs, which takes some seconds."""

FULL: Mapping[str, Any] = {
    "phases": 12,
    "directions": tuple(DIRECTIONS),
    "push_evaluations": 6,
    "speed_evaluations": 5,
    "speed_samples": 3,
    "speed_iterations": (20.0, 200.0),
    "samples": 20,
    "iterations": (10.0, 20.0, 50.0, 100.0, 200.0, 400.0),
    "friction": (0.3, 0.4, 0.6, 0.8, 1.0),
    "mass": (0.7, 0.85, 1.0, 1.15, 1.3),
    "delay": (0.0, 0.005, 0.01, 0.02, 0.03),
    "step": (-0.03, -0.02, -0.01, 0.01, 0.02, 0.03),
}
QUICK: Mapping[str, Any] = {
    "phases": 2,
    "directions": ("backward", "left"),
    "push_evaluations": 3,
    "speed_evaluations": 2,
    "speed_samples": 1,
    "speed_iterations": (20.0,),
    "samples": 2,
    "iterations": (20.0, 200.0),
    "friction": (0.3,),
    "mass": (1.3,),
    "delay": (0.02,),
    "step": (0.01,),
}
"""Size of the study: phases of the gait and directions of pushes, halvings of a search, searches for each limit of the
speed and their budgets per second in DDP iterations, random draws for each value, and the values of each sweep."""


@dataclass(frozen=True)
class Setup:
    """Common settings of all runs: costs of the solver's stages, seed, parameters as "section.name" → value, extent."""

    costs: Mapping[str, float]
    seed: int = 0
    overrides: Mapping[str, Any] = field(default_factory=dict)
    extent: Mapping[str, Any] = field(default_factory=lambda: FULL)

    def options(self, noise_seed: int, overrides: Mapping[str, Any] | None = None) -> RunOptions:
        """Options of a run with sensor noise and no other disturbance; the settings' own parameters come last."""
        return bounding({**SENSOR_ERRORS, **(overrides or {}), **self.overrides}, seed=noise_seed)

    def pair(
        self, group: str, name: str, options: RunOptions, iterations: float = ITERATIONS, **values: Any
    ) -> list[Case]:
        """The same run by both variants, on a budget of so many DDP iterations per solve."""
        own = {"iterations": iterations, "costs": self.costs, **values}
        runs = 1.0 + values.get("search", {}).get("evaluations", 0)
        return [
            Case(group, f"{name}, {variant}", replace(options, variant=variant), {"variant": variant, **own}, runs=runs)
            for variant in VARIANTS
        ]


@dataclass(frozen=True)
class Draw:
    """One sample of chance: speed [m/s], push, seed of the noise, and where within a stride a step lies, 0 to 1."""

    speed: float
    push: Push
    noise_seed: int
    step_phase: float


def draw(seed: int, sample: int) -> Draw:
    """Sample number `sample`; it does not depend on how many there are."""
    rng = np.random.default_rng((seed, sample))
    speed, impulse = rng.uniform(*SPEEDS), rng.uniform(*IMPULSES)
    angle, phase, step_phase = rng.uniform(0.0, (2.0 * np.pi, 1.0, 1.0))
    push = push_of(float(impulse), float(angle), PUSH_TIME + float(phase) * CYCLE)
    return Draw(float(speed), push, int(rng.integers(2**31)), float(step_phase))


def pushes(setup: Setup) -> list[Case]:
    """Searches for the envelope over phases of the gait and directions, at 0.5 m/s."""
    extent, found = setup.extent, []
    phases = extent["phases"]
    search = {"low": 0.0, "high": LARGEST_IMPULSE, "evaluations": extent["push_evaluations"]}
    for direction, phase in product(extent["directions"], range(phases)):
        time = PUSH_TIME + phase * CYCLE / phases
        options = replace(setup.options(setup.seed), duration=time + PUSH_DURATION + RECOVERY)
        values: dict[str, Any] = {"sweep": "pushes", "label": direction, "phase": phase / phases, "time": time}
        name = f"push {direction}, phase {phase}/{phases}"
        found += setup.pair(f"push {direction}", name, options, search=search, **values)
    return found


def speeds(setup: Setup) -> list[Case]:
    """Searches for the fastest speed that is held either way, with plenty of time for the solver and with little."""
    extent, found = setup.extent, []
    limit = {"planner.reference.speed_limit": MAX_SPEED}
    search = {"low": SPEED, "high": MAX_SPEED, "evaluations": extent["speed_evaluations"]}
    for (direction, sign), per_second in product(
        {"forward": 1.0, "backward": -1.0}.items(), extent["speed_iterations"]
    ):
        group = f"speed {direction} at {per_second:g} iterations/s"
        values: dict[str, Any] = {"sweep": "speeds", "label": f"{direction}, {per_second:g}", "sign": sign}
        for sample in range(extent["speed_samples"]):
            options = replace(setup.options(draw(setup.seed, sample).noise_seed, limit), duration=SPEED_RUN)
            options, budget = budgeted(options, per_second)
            found += setup.pair(group, f"{group}, sample {sample}", options, budget, search=search, **values)
    return found


def budgeted(options: RunOptions, per_second: float) -> tuple[RunOptions, float]:
    """The run, and the DDP iterations of a solve, for so many per second; below one in a period it plans less often."""
    usual = float(options.parameters("planner").get("rate", PlannerConfig().rate))
    if per_second >= usual:
        return options, per_second / usual
    return replace(options, overrides={**options.overrides, "planner.rate": per_second}), 1.0


def pushed_run(setup: Setup, sample: Draw) -> RunOptions:
    """The run of a sample: at its speed, with its push and its noise."""
    speed, duration = ((0.0, sample.speed),), sample.push.end + RECOVERY
    return replace(setup.options(sample.noise_seed), speed=speed, pushes=(sample.push,), duration=duration)


def on_a_step(run: RunOptions, height: float, sample: Draw) -> RunOptions:
    """The run without its push, with a step of a height [m] that it meets at any phase of the gait."""
    position = STEP_MARGIN + sample.speed * (STEP_APPROACH + sample.step_phase * CYCLE)
    return replace(run, pushes=(), terrain=f"step:{position},{height}", duration=STEP_RUN)


Change = Callable[[RunOptions, float, Draw], RunOptions | tuple[RunOptions, float]]
"""Puts a pushed run under a value; gives the DDP iterations that a solve's budget is worth too, where it is another."""

VARIED: Mapping[str, Change] = {
    "iterations": lambda run, per_second, _: budgeted(run, per_second),
    "friction": lambda run, mu, _: replace(run, friction=mu),
    "mass": lambda run, scale, _: replace(run, trunk_mass_scale=scale),
    "delay": lambda run, late, _: replace(run, planner_delay=late),
    "step": on_a_step,
}
"""Sweeps over the time for the solver, and over what the planner does not know: ground (it counts on a friction of
0.6), trunk, policies that arrive late, a step that nobody expects."""


def trials(sweep: str, setup: Setup) -> list[Case]:
    """The runs of a sweep of VARIED, by value and sample."""
    found: list[Case] = []
    for value, number in product(setup.extent[sweep], range(setup.extent["samples"])):
        sample = draw(setup.seed, number)
        varied = VARIED[sweep](pushed_run(setup, sample), value, sample)
        options, budget = varied if isinstance(varied, tuple) else (varied, ITERATIONS)
        group = f"{sweep} {value:g}"
        found += setup.pair(group, f"{group}, sample {number}", options, budget, sweep=sweep, label=value)
    return found


SWEEPS: Mapping[str, Callable[[Setup], list[Case]]] = {
    "pushes": pushes,
    "speeds": speeds,
    **{sweep: partial(trials, sweep) for sweep in VARIED},
}
"""Cases by sweep; all but the first two give trials."""


def cases(options: argparse.Namespace) -> list[Case]:
    """The cases of the sweeps that are asked for, or of all."""
    extent = QUICK if options.quick else FULL
    chosen = {name: value for name in ("phases", "samples") if (value := getattr(options, name)) is not None}
    setup = Setup(options.costs, options.seed, dict(options.set), {**extent, **chosen})
    return [case for name in SWEEPS if not options.only or name in options.only for case in SWEEPS[name](setup)]


def measure(case: Case) -> Figures:
    """Figures of a trial, or the largest level that is held and what was tried on the way to it."""
    values = case.values
    if "search" in values:
        held = _holds_push if values["sweep"] == "pushes" else _holds_speed
        return {"fall": "", **asdict(budget.search(partial(held, case), **values["search"]))}
    found, spent = paced_run(case.options, values)
    figures = {name: found.get(name) for name in ("straight", *MEASURES)}
    return {"fall": found["fall"], "sign": _sign(found["fall"]), "spent": spent, **figures}


def _holds_push(case: Case, impulse: float) -> bool:
    """Survival of an impulse [N s]."""
    push = push_of(impulse, DIRECTIONS[case.values["label"]], case.values["time"])
    return not paced_run(replace(case.options, pushes=(push,)), case.values)[0]["fall"]


def _holds_speed(case: Case, speed: float) -> bool:
    """Survival at a speed [m/s] that is kept."""
    command = math.copysign(speed, case.values["sign"])
    found, _ = paced_run(replace(case.options, speed=((0.0, command),)), case.values)
    error = found.get("speed_error")
    return not found["fall"] and error is not None and error <= SPEED_BAND * max(speed, 0.5)


def paced_run(options: RunOptions, values: Mapping[str, Any]) -> tuple[Figures, float | None]:
    """Figures of a run, and the share of its budget that the planner spent; a run that fails counts as a fall."""
    budget = Budget(values["iterations"], StageCosts(**values["costs"]))
    found, planner = outcome.run_with(lambda real: PacedPlanner(real, budget), options)
    return found, None if planner is None else planner.spent_share


def _sign(fall: str) -> str:
    """Sign of a fall that came first, without its instant and numbers; empty where there was none."""
    if fall.startswith("failed"):
        return "run failed"
    parts = [part.strip() for part in fall.split(":")]
    return parts[2] if parts[1:2] == ["fault"] else " ".join(parts[1:2])


def _measured_costs(run: Run) -> dict[str, Any]:
    """Costs of the solver's stages, for the budgets of a new run."""
    with working(run.terminal, "Timing the solver's stages"):
        costs, ratios = measure_costs(_COST_ROUNDS, _COST_REPEATS)
    return {"costs": costs, "ratios": ratios}


BENCHMARK = Study(cases, measure, report, _measured_costs).benchmark(
    "closed-loop",
    __doc__,
    "a few runs of each group, in under a minute",
    option("--only", choices=tuple(SWEEPS), action="append", metavar="GROUP", help=f"of {', '.join(SWEEPS)}"),
    option("--seed", type=at_least(0), default=0, metavar="N", help="of all that is random (default: 0)"),
    option("--phases", type=at_least(1), metavar="N", help="of the gait, for pushes to begin at (default: 12)"),
    option("--samples", type=at_least(1), metavar="N", help="random runs per condition and variant (default: 20)"),
)
