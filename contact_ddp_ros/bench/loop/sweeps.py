"""What `bench closed-loop` runs: both variants under the same conditions, drawn at random from one seed.

A sample is one draw of everything that chance decides: speed, phase, direction and size of a push, sensor noise, place
of a step. Sample i is the same draw for both variants and for every value of what a group varies, so that they can be
compared one by one. All runs have sensor noise, without which the simulator is symmetric and left equals right.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np

from contact_ddp_ros.bench.loop.budget import VARIANTS, Budget, StageCosts
from contact_ddp_ros.bench.loop.scenarios import CYCLE, DIRECTIONS, NOISE, PUSH_DURATION, RECOVERY, SPEED
from contact_ddp_ros.bench.loop.trials import Arm, PushSearch, SpeedSearch, SweepJob, Trial
from contact_ddp_ros.mpc.config import PlannerConfig
from contact_ddp_ros.options import MAX_SPEED, Push, RunOptions

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
        samples: random draws for each value of the following.
        iterations: budgets per second, in DDP iterations. frictions. masses: of the trunk over nominal.
        delays: of the planner [s]. steps: heights [m].
    """

    phases: int = 12
    directions: tuple[str, ...] = tuple(DIRECTIONS)
    push_evaluations: int = 6
    speed_evaluations: int = 5
    speed_samples: int = 3
    speed_iterations: tuple[float, ...] = (20.0, 200.0)
    samples: int = 20
    iterations: tuple[float, ...] = (10.0, 20.0, 50.0, 100.0, 200.0, 400.0)
    frictions: tuple[float, ...] = (0.3, 0.4, 0.6, 0.8, 1.0)
    masses: tuple[float, ...] = (0.7, 0.85, 1.0, 1.15, 1.3)
    delays: tuple[float, ...] = (0.0, 0.005, 0.01, 0.02, 0.03)
    steps: tuple[float, ...] = (-0.03, -0.02, -0.01, 0.01, 0.02, 0.03)


QUICK = SweepExtent(
    phases=2,
    directions=("backward", "left"),
    push_evaluations=3,
    speed_evaluations=2,
    speed_samples=1,
    speed_iterations=(20.0,),
    samples=2,
    iterations=(20.0, 200.0),
    frictions=(0.3,),
    masses=(1.3,),
    delays=(0.02,),
    steps=(0.01,),
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
        noise = {f"simulator.noise.{name}": deviation for name, deviation in NOISE.items()}
        return RunOptions(
            seed=noise_seed,
            speed=((0.0, SPEED),),
            overrides=noise | dict(overrides or {}) | dict(self.overrides),
            video=False,
        )


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
    force = impulse / PUSH_DURATION * np.array([np.cos(angle), np.sin(angle)])
    push = Push(PUSH_TIME + float(phase) * CYCLE, (float(force[0]), float(force[1]), 0.0), PUSH_DURATION)
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


def iterations(settings: SweepSettings, extent: SweepExtent) -> list[SweepJob]:
    """How little time for the solver still bounds."""

    def condition(value: float, sample: Draw) -> tuple[RunOptions, float]:
        return budgeted(pushed_run(settings, sample), value)

    return _trials("iterations", extent.iterations, condition, settings, extent)


def budgeted(options: RunOptions, per_second: float) -> tuple[RunOptions, float]:
    """The run, and the DDP iterations of a solve, for so many per second; below one in a period it plans less often."""
    usual = float(options.parameters("planner").get("rate", PlannerConfig().rate))
    if per_second >= usual:
        return options, per_second / usual
    return replace(options, overrides={**options.overrides, "planner.rate": per_second}), 1.0


def friction(settings: SweepSettings, extent: SweepExtent) -> list[SweepJob]:
    """Ground that the planner, which counts on 0.6, does not know."""
    return _disturbed("friction", extent.frictions, settings, extent, lambda run, mu: replace(run, friction=mu))


def mass(settings: SweepSettings, extent: SweepExtent) -> list[SweepJob]:
    """A trunk that the planner does not know."""
    return _disturbed("mass", extent.masses, settings, extent, lambda run, scale: replace(run, trunk_mass_scale=scale))


def delay(settings: SweepSettings, extent: SweepExtent) -> list[SweepJob]:
    """Policies that arrive late."""
    return _disturbed("delay", extent.delays, settings, extent, lambda run, late: replace(run, planner_delay=late))


def step(settings: SweepSettings, extent: SweepExtent) -> list[SweepJob]:
    """A step that nobody expects, met at any phase of the gait, and no push."""

    def condition(height: float, sample: Draw) -> tuple[RunOptions, float]:
        options = pushed_run(settings, sample)
        position = STEP_MARGIN + sample.speed * (STEP_APPROACH + sample.step_phase * CYCLE)
        return replace(options, pushes=(), terrain=f"step:{position},{height}", duration=STEP_RUN), ITERATIONS

    return _trials("step", extent.steps, condition, settings, extent)


def pushed_run(settings: SweepSettings, sample: Draw) -> RunOptions:
    """The run of a sample: at its speed, with its push and its noise."""
    return replace(
        settings.options(sample.noise_seed),
        speed=((0.0, sample.speed),),
        pushes=(sample.push,),
        duration=sample.push.end + RECOVERY,
    )


GROUPS: Mapping[str, Callable[[SweepSettings, SweepExtent], list[SweepJob]]] = {
    "pushes": pushes,
    "speeds": speeds,
    "iterations": iterations,
    "friction": friction,
    "mass": mass,
    "delay": delay,
    "step": step,
}
"""By name; all but the first two give trials."""

Condition = Callable[[float, Draw], tuple[RunOptions, float]]
"""Gives the run under a value and the DDP iterations that the budget of a solve is worth."""


def _trials(
    group: str, values: Sequence[float], condition: Condition, settings: SweepSettings, extent: SweepExtent
) -> list[SweepJob]:
    jobs: list[SweepJob] = []
    for value in values:
        for sample in range(extent.samples):
            options, budget = condition(value, draw(settings.seed, sample))
            jobs += [Trial(group, value, sample, arm, options) for arm in settings.arms(budget)]
    return jobs


def _disturbed(
    group: str,
    values: Sequence[float],
    settings: SweepSettings,
    extent: SweepExtent,
    changed: Callable[[RunOptions, float], RunOptions],
) -> list[SweepJob]:
    """Pushed runs of which one thing is changed."""

    def condition(value: float, sample: Draw) -> tuple[RunOptions, float]:
        return changed(pushed_run(settings, sample), value), ITERATIONS

    return _trials(group, values, condition, settings, extent)
