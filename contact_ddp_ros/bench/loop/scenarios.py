"""What the robot must come through, as closed-loop runs in lock-step: each is one fall or none, and some figures.

All but the group that varies it run at 0.5 m/s on friction 0.8 with the nominal robot, no planner delay and no noise.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from contact_ddp_ros.mpc.config import GaitConfig
from contact_ddp_ros.mpc.planar_reference import planar_schedule
from contact_ddp_ros.options import Push, RunOptions

SPEED = 0.5
"""Commanded speed unless it is what varies [m/s]."""

CYCLE = planar_schedule(GaitConfig()).period
"""Of the gait [s]."""

PUSH_TIME, PUSH_DURATION, PUSH_FORCE = 4.0, 0.1, 40.0
"""The earliest push begins two seconds into a steady bound [s]; 4 N s in all [s, N]."""

RECOVERY = 2.0
"""How long the robot may take to be straight again [s]."""

DIRECTIONS = {"forward": (1.0, 0.0), "backward": (-1.0, 0.0), "left": (0.0, 1.0), "right": (0.0, -1.0)}

FRICTIONS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
MASSES = (0.9, 1.1)
DELAY = 0.005
"""Of the planner [s]."""

SPEEDS = (-0.5, 0.5, 1.0, 2.0)

NOISE = {
    "position": 0.002,
    "orientation": 0.005,
    "linear_velocity": 0.03,
    "angular_velocity": 0.05,
    "joint_positions": 0.002,
    "joint_velocities": 0.1,
}
"""Standard deviations of the measured state: about what a good estimator on the robot leaves [m, rad, s]."""

SEEDS = 3
"""Runs with noise."""


@dataclass(frozen=True)
class Scenario:
    """One run.

    Attributes:
        group: of GROUPS. name: unique. options: of the closed loop.
        ends_standing: whether the robot must stand at the end.
    """

    group: str
    name: str
    options: RunOptions
    ends_standing: bool = False

    @property
    def cost(self) -> float:
        """Simulated time [s]."""
        return self.options.duration


@dataclass(frozen=True)
class Extent:
    """How much of everything: phases of the gait at which pushes begin, and durations of runs [s]."""

    phases: int = 24
    short: float = 10.0
    steady: float = 20.0
    long: float = 60.0


QUICK = Extent(phases=6, short=6.0, steady=8.0, long=20.0)


@dataclass(frozen=True)
class Settings:
    """What all runs share: variant, seed and parameters as "section.name" → value."""

    variant: str = "ddp"
    seed: int = 0
    overrides: Mapping[str, Any] = field(default_factory=dict)

    def options(self, duration: float, speed: float = SPEED) -> RunOptions:
        """Options of a run without disturbances."""
        return RunOptions(
            duration=duration,
            speed=((0.0, speed),),
            variant=self.variant,
            seed=self.seed,
            overrides=self.overrides,
            video=False,
        )


def pushes(settings: Settings, extent: Extent) -> list[Scenario]:
    """Every direction at phases spread evenly over one gait cycle."""
    scenarios = []
    for direction, (x, y) in DIRECTIONS.items():
        for i in range(extent.phases):
            push = Push(PUSH_TIME + i * CYCLE / extent.phases, (PUSH_FORCE * x, PUSH_FORCE * y, 0.0), PUSH_DURATION)
            options = replace(settings.options(push.end + RECOVERY + CYCLE), pushes=(push,))
            scenarios.append(Scenario("pushes", f"push {direction}, phase {i}/{extent.phases}", options))
    return scenarios


def friction(settings: Settings, extent: Extent) -> list[Scenario]:
    """Ground that the planner does not know."""
    base = settings.options(extent.short)
    return [Scenario("friction", f"friction {value:g}", replace(base, friction=value)) for value in FRICTIONS]


def mass(settings: Settings, extent: Extent) -> list[Scenario]:
    """A trunk that the planner does not know."""
    base = settings.options(extent.short)
    return [Scenario("mass", f"trunk mass × {scale:g}", replace(base, trunk_mass_scale=scale)) for scale in MASSES]


def delay(settings: Settings, extent: Extent) -> list[Scenario]:
    """Policies that arrive late."""
    options = replace(settings.options(extent.short), planner_delay=DELAY)
    return [Scenario("delay", f"planner delay {1e3 * DELAY:g} ms", options)]


def speeds(settings: Settings, extent: Extent) -> list[Scenario]:
    """Steady bounds, backwards too."""
    return [Scenario("speeds", f"speed {v:g} m/s", settings.options(extent.steady, v)) for v in SPEEDS]


def changes(settings: Settings, extent: Extent) -> list[Scenario]:
    """0 → 1 → 0 m/s while bounding."""
    speed = ((0.0, 0.0), (4.0, 1.0), (9.0, 0.0))
    return [Scenario("changes", "speed 0 → 1 → 0 m/s", replace(settings.options(14.0), speed=speed))]


def stop(settings: Settings, extent: Extent) -> list[Scenario]:
    """Stand, bound, stand."""
    options = replace(settings.options(9.0), stop_time=6.0)
    return [Scenario("stop", "stand, bound, stand", options, ends_standing=True)]


def noise(settings: Settings, extent: Extent) -> list[Scenario]:
    """Noisy measurements, which also break the symmetry of left and right; every other run is without."""
    base = settings.options(extent.steady)
    overrides = {f"simulator.noise.{name}": deviation for name, deviation in NOISE.items()} | dict(settings.overrides)
    return [
        Scenario("noise", f"sensor noise, seed {seed}", replace(base, seed=seed, overrides=overrides))
        for seed in range(settings.seed, settings.seed + SEEDS)
    ]


def long(settings: Settings, extent: Extent) -> list[Scenario]:
    """A minute without a fall."""
    return [Scenario("long", f"{extent.long:g} s at {SPEED:g} m/s", settings.options(extent.long))]


GROUPS: Mapping[str, Callable[[Settings, Extent], list[Scenario]]] = {
    "pushes": pushes,
    "friction": friction,
    "mass": mass,
    "delay": delay,
    "speeds": speeds,
    "changes": changes,
    "stop": stop,
    "noise": noise,
    "long": long,
}
