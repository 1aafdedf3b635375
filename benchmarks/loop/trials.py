"""Single runs of the closed loop on a budget, and searches for the largest disturbance that such runs survive.

Both are jobs: plain data that says all about the run, and :func:`perform`, which gives plain data back. Every run is in
lock-step and ends when the robot has fallen, so what it gives depends on the job only.
"""

import math
from abc import abstractmethod
from dataclasses import asdict, dataclass, replace
from typing import Any

from benchmarks.loop import bisection, outcome
from benchmarks.loop.budget import Budget, PacedPlanner
from benchmarks.loop.cases import Case, push_of
from benchmarks.loop.outcome import Outcome
from contact_ddp_ros.runs.options import RunOptions

MEASURES = ("speed_error", "roll_max", "pitch_max", "touchdown_height")
"""Figures of an outcome that are kept of each trial; smaller is better."""

SPEED_BAND = 0.1
"""A commanded speed is held where the mean is within this share of it, or of 0.5 m/s where that is more."""


@dataclass(frozen=True)
class Arm:
    """One of the things compared: a variant of the solver and its budget."""

    variant: str
    budget: Budget


@dataclass(frozen=True)
class Trial:
    """One run under one condition.

    Attributes:
        group: what varies. value: by how much. sample: which of the random draws it has.
        arm: who controls. options: everything else about the run.
    """

    group: str
    value: float
    sample: int
    arm: Arm
    options: RunOptions

    @property
    def name(self) -> str:
        """Unique."""
        return f"{self.group} {self.value:g}, sample {self.sample}, {self.arm.variant}"

    @property
    def cost(self) -> float:
        """Simulated time at most [s]."""
        return self.options.duration

    def run(self) -> dict[str, Any]:
        """Whether it survived, its figures, and the share of the budget that was spent."""
        result, spent = paced_run(self.options, self.arm)
        figures = {name: getattr(result, name) for name in MEASURES}
        return {
            "survived": result.survived,
            "straight": result.straight,
            "fall": result.failed or result.fall,
            "sign": _sign(result),
            "spent": spent,
        } | figures


@dataclass(frozen=True)
class _Search:
    """A search for the largest level that is held.

    Attributes:
        direction: by name. arm: who controls. options: of the run, without what is searched.
        low, high, evaluations: of the search.
    """

    direction: str
    arm: Arm
    options: RunOptions
    low: float
    high: float
    evaluations: int

    @property
    def cost(self) -> float:
        """Simulated time at most [s]."""
        return (1 + self.evaluations) * self.options.duration

    @property
    def resolution(self) -> float:
        """Of the level that is found."""
        return (self.high - self.low) / 2**self.evaluations

    @abstractmethod
    def holds(self, level: float) -> bool:
        """Whether the robot holds a level."""

    def run(self) -> dict[str, Any]:
        """The limit and what was tried."""
        return asdict(bisection.search(self.holds, self.low, self.high, self.evaluations))


@dataclass(frozen=True)
class PushSearch(_Search):
    """The largest impulse [N s] that is survived in one direction from one phase of the gait on.

    Attributes:
        axis: (2,) the direction as a unit vector in `odom` axes, x forward, y left.
        phase: index among the `phases` of a cycle. time: when the push begins [s].
    """

    axis: tuple[float, float]
    phase: int
    phases: int
    time: float

    @property
    def name(self) -> str:
        """Unique."""
        return f"push {self.direction}, phase {self.phase}/{self.phases}, {self.arm.variant}"

    def pushed(self, impulse: float) -> RunOptions:
        """The run with a push of an impulse [N s]."""
        return replace(self.options, pushes=(push_of(impulse, self.axis, self.time),))

    def holds(self, level: float) -> bool:
        """Whether the robot survives an impulse."""
        return paced_run(self.pushed(level), self.arm)[0].survived


@dataclass(frozen=True)
class SpeedSearch(_Search):
    """The largest speed [m/s] that is held in one direction.

    Attributes:
        sign: of the speed. sample: of the sensor noise. iterations: budget per second, in DDP iterations.
    """

    sign: float
    sample: int
    iterations: float

    @property
    def name(self) -> str:
        """Unique."""
        return f"speed {self.direction} at {self.iterations:g} iterations/s, sample {self.sample}, {self.arm.variant}"

    def commanded(self, speed: float) -> RunOptions:
        """The run at a speed, without its sign [m/s]."""
        return replace(self.options, speed=((0.0, math.copysign(speed, self.sign)),))

    def holds(self, level: float) -> bool:
        """Whether the robot neither falls nor is slower or faster than it should."""
        result, _ = paced_run(self.commanded(level), self.arm)
        return result.survived and result.speed_error <= SPEED_BAND * max(level, 0.5)


SweepJob = Trial | PushSearch | SpeedSearch


def perform(job: SweepJob) -> dict[str, Any]:
    """Run a job, here or in another process."""
    return job.run()


def paced_run(options: RunOptions, arm: Arm) -> tuple[Outcome, float]:
    """What became of a run, and the share of its budget that the planner spent; a run that fails counts as a fall."""
    case = Case("", "", replace(options, variant=arm.variant))
    result, planner = outcome.run_with(lambda real: PacedPlanner(real, arm.budget), case)
    return result, float("nan") if planner is None else planner.spent_share


def _sign(result: Outcome) -> str:
    """Which sign of a fall came first, without its instant and numbers; empty where there was none."""
    if result.failed:
        return "run failed"
    parts = [part.strip() for part in result.fall.split(":")]
    return parts[2] if parts[1:2] == ["fault"] else " ".join(parts[1:2])
