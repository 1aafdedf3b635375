"""What `bench closed-loop` runs: both variants under the same conditions, drawn at random from one seed.

A sample is one draw of everything that chance decides: speed, phase, direction and size of a push, sensor noise, place
of a step. Sample i is the same draw for both variants and for every value of what a group varies, so that they can be
compared one by one. All runs have sensor noise, without which the simulator is symmetric and left equals right.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from benchmarks.loop.budget import Budget, StageCosts
from benchmarks.loop.cases import (
    CYCLE,
    DIRECTIONS,
    PUSH_DURATION,
    RECOVERY,
    SPEED,
    bounding,
    push_of,
)
from benchmarks.loop.trials import Arm, PushSearch, SpeedSearch, SweepJob, Trial
from benchmarks.solver.case import VARIANTS
from contact_ddp_ros.mpc.config import PlannerConfig
from contact_ddp_ros.plants.pushes import Push
from contact_ddp_ros.runs.options import MAX_SPEED, SENSOR_NOISE, RunOptions

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

LARGEST_IMPULSE = 24.0
"""Of the search for the push envelope [N s]."""

STEP_MARGIN, STEP_APPROACH, STEP_RUN = 0.25, 1.5, 6.5
"""The step lies ahead of the front feet of the standing robot [m], and so much steady bounding further [s]; duration of
a run, of which about half is left on the step [s]."""


@dataclass(frozen=True)
class SweepExtent:
    """How much of everything.

    Attributes:
        phases: of the gait at which pushes begin. directions: of the pushes, of DIRECTIONS.
        push_evaluations, speed_evaluations: halvings of a search. speed_samples: searches for each limit of the speed.
        speed_iterations: budgets of these, per second, in DDP iterations.
        samples: random draws for each value of what is varied.
        values: by group of VARIED, what is tried.
    """

    phases: int = 12
    directions: tuple[str, ...] = tuple(DIRECTIONS)
    push_evaluations: int = 6
    speed_evaluations: int = 5
    speed_samples: int = 3
    speed_iterations: tuple[float, ...] = (20.0, 200.0)
    samples: int = 20
    values: Mapping[str, tuple[float, ...]] = field(
        default_factory=lambda: {
            "iterations": (10.0, 20.0, 50.0, 100.0, 200.0, 400.0),
            "friction": (0.3, 0.4, 0.6, 0.8, 1.0),
            "mass": (0.7, 0.85, 1.0, 1.15, 1.3),
            "delay": (0.0, 0.005, 0.01, 0.02, 0.03),
            "step": (-0.03, -0.02, -0.01, 0.01, 0.02, 0.03),
        }
    )


QUICK = SweepExtent(
    phases=2,
    directions=("backward", "left"),
    push_evaluations=3,
    speed_evaluations=2,
    speed_samples=1,
    speed_iterations=(20.0,),
    samples=2,
    values={"iterations": (20.0, 200.0), "friction": (0.3,), "mass": (1.3,), "delay": (0.02,), "step": (0.01,)},
)


@dataclass(frozen=True)
class SweepSettings:
    """What all runs share: costs of the solver's stages, seed, parameters as "section.name" → value."""

    costs: StageCosts
    seed: int = 0
    overrides: Mapping[str, Any] = field(default_factory=dict)

    def arms(self, iterations: float = ITERATIONS) -> list[Arm]:
        """The variants on a budget of so many DDP iterations per solve."""
        return [Arm(variant, Budget(iterations, self.costs)) for variant in VARIANTS]

    def options(self, noise_seed: int, overrides: Mapping[str, Any] | None = None) -> RunOptions:
        """Of a run with sensor noise and no other disturbance; the settings' own parameters come last."""
        return bounding({**SENSOR_NOISE, **(overrides or {}), **self.overrides}, seed=noise_seed)


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


def pushes(settings: SweepSettings, extent: SweepExtent) -> list[SweepJob]:
    """Envelope over phases of the gait and directions, at 0.5 m/s."""
    jobs: list[SweepJob] = []
    for direction, phase in product(extent.directions, range(extent.phases)):
        time = PUSH_TIME + phase * CYCLE / extent.phases
        options = replace(settings.options(settings.seed), duration=time + PUSH_DURATION + RECOVERY)
        jobs += [
            PushSearch(
                direction=direction,
                arm=arm,
                options=options,
                low=0.0,
                high=LARGEST_IMPULSE,
                evaluations=extent.push_evaluations,
                axis=DIRECTIONS[direction],
                phase=phase,
                phases=extent.phases,
                time=time,
            )
            for arm in settings.arms()
        ]
    return jobs


def speeds(settings: SweepSettings, extent: SweepExtent) -> list[SweepJob]:
    """Fastest speed that is held either way, with plenty of time for the solver and with little."""
    limit = {"planner.reference.speed_limit": MAX_SPEED}
    signs = {"forward": 1.0, "backward": -1.0}
    jobs: list[SweepJob] = []
    for direction, per_second, sample in product(signs, extent.speed_iterations, range(extent.speed_samples)):
        options = replace(settings.options(draw(settings.seed, sample).noise_seed, limit), duration=SPEED_RUN)
        options, budget = budgeted(options, per_second)
        jobs += [
            SpeedSearch(
                direction=direction,
                arm=arm,
                options=options,
                low=SPEED,
                high=MAX_SPEED,
                evaluations=extent.speed_evaluations,
                sign=signs[direction],
                sample=sample,
                iterations=per_second,
            )
            for arm in settings.arms(budget)
        ]
    return jobs


def budgeted(options: RunOptions, per_second: float) -> tuple[RunOptions, float]:
    """The run, and the DDP iterations of a solve, for so many per second; below one in a period it plans less often."""
    usual = float(options.parameters("planner").get("rate", PlannerConfig().rate))
    if per_second >= usual:
        return options, per_second / usual
    return replace(options, overrides={**options.overrides, "planner.rate": per_second}), 1.0


def pushed_run(settings: SweepSettings, sample: Draw) -> RunOptions:
    """The run of a sample: at its speed, with its push and its noise."""
    return replace(
        settings.options(sample.noise_seed),
        speed=((0.0, sample.speed),),
        pushes=(sample.push,),
        duration=sample.push.end + RECOVERY,
    )


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
"""How little time for the solver still bounds, and what the planner does not know: ground (it counts on a friction of
0.6), trunk, policies that arrive late, a step that nobody expects."""


def trials(group: str, settings: SweepSettings, extent: SweepExtent) -> list[SweepJob]:
    """The runs of a group of VARIED, by value and sample."""
    jobs: list[SweepJob] = []
    for value, number in product(extent.values[group], range(extent.samples)):
        sample = draw(settings.seed, number)
        varied = VARIED[group](pushed_run(settings, sample), value, sample)
        options, budget = varied if isinstance(varied, tuple) else (varied, ITERATIONS)
        jobs += [Trial(group, value, number, arm, options) for arm in settings.arms(budget)]
    return jobs


GROUPS: Mapping[str, Callable[[SweepSettings, SweepExtent], list[SweepJob]]] = {
    "pushes": pushes,
    "speeds": speeds,
    **{group: partial(trials, group) for group in VARIED},
}
"""By name; all but the first two give trials."""
