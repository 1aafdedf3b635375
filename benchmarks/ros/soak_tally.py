"""Counts what happens in a run that may last for hours, and looks at its processes now and then.

Unlike a recorder it keeps no tick and no solve, so that what grows are the nodes or nothing. A rate is formed from
counts and stamps: solves between two looks over the simulated time between the last ones' stamps. It does not depend on
how late a message about a solve comes, and in lock-step it is exact unless one is lost.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import BenchmarkError, ContactDdpError
from contact_ddp_ros.robot.rotation import quaternion_to_rpy
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.runs.recording import FALL_HEIGHT, RunInfo
from contact_ddp_ros.runs.recording.falls import FALL_TILT

Array = NDArray[np.float64]

REFUSED = "policy refused"
"""Beginning of the controller's event for a policy that it does not take."""


_ROUNDING = 1e-9
"""Of sums of periods [s], and of their ratios."""


@dataclass(frozen=True)
class Vitals:
    """One look at a process.

    Attributes:
        memory: resident [MB].
        descriptors: open files and sockets.
        threads: of the process.
        processor_time: of all its threads since it began [s].
    """

    memory: float
    descriptors: int
    threads: int
    processor_time: float


def vitals(pid: int) -> Vitals:
    """Of a process of this user.

    Raises:
        BenchmarkError: there is no psutil.
        psutil.NoSuchProcess: there is no such process.
    """
    try:
        import psutil
    except ModuleNotFoundError as error:
        raise BenchmarkError("looking at processes needs psutil: pip install -r requirements-bench.txt") from error
    process = psutil.Process(pid)
    with process.oneshot():
        times = process.cpu_times()
        return Vitals(
            memory=process.memory_info().rss / 1e6,
            descriptors=process.num_fds(),
            threads=process.num_threads(),
            processor_time=times.user + times.system,
        )


class FellError(ContactDdpError):
    """The robot lies: the rest of the run would say nothing."""


@dataclass(frozen=True)
class Sample:
    """One look.

    Attributes:
        time: simulated [s].
        wall_time: of a monotonic clock [s].
        ticks, solves: since the beginning.
        last_solve: stamp of the last of them [s]; not a number before the first.
        solve_ms: mean time of the solves since the look before [ms]; not a number where there was none.
        position: (x, y) of the trunk in `odom` [m].
        commanded_speed: [m/s].
        vitals: by name of the process.
    """

    time: float
    wall_time: float
    ticks: int
    solves: int
    last_solve: float
    solve_ms: float
    position: tuple[float, float]
    commanded_speed: float
    vitals: Mapping[str, Vitals]


@dataclass
class Seen:
    """What has happened so far, or since somebody was told last."""

    samples: list[Sample] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    fell: str | None = None
    refusals: int = 0
    failed_solves: int = 0
    pushes: int = 0

    def add(self, later: "Seen") -> None:
        """Take in what was seen after this."""
        self.samples += later.samples
        self.faults += later.faults
        self.fell = self.fell or later.fell
        self.refusals += later.refusals
        self.failed_solves += later.failed_solves
        self.pushes += later.pushes


class Tally:
    """A run's log that counts; `seen` is what it has found."""

    def __init__(
        self, every: float, processes: Callable[[], Mapping[str, int]], listener: Callable[[Sample], None]
    ) -> None:
        """Look every `every` [s] of simulated time at `processes()`, ids by name; tell the `listener`."""
        self._every = every
        self._processes = processes
        self._listener = listener
        self._info: RunInfo | None = None
        self._next = 0.0
        self._ticks = self._solves = 0
        self._last_solve = math.nan
        self._solve_ms: list[float] = []
        self._bounding = False
        self._fault = ""
        self.seen = Seen()

    def begin(self, info: RunInfo) -> None:
        """Take over what is known of the run."""
        self._info = info

    def tick(
        self, state: RobotState, *, control_mode: str, wall_time: float, commanded_speed: float, **_columns: Any
    ) -> None:
        """Count a tick; look, where it is time to.

        Raises:
            FellError: the robot has fallen.
        """
        self._ticks += 1
        roll, pitch, _ = quaternion_to_rpy(state.orientation)
        self._bounding |= control_mode == "move"
        height = state.position[2] if self._info is None else self._info.heights(state.position[None])[0]
        upright = height >= FALL_HEIGHT and max(abs(roll), abs(pitch)) <= FALL_TILT
        if state.time >= self._next - _ROUNDING:
            self._next = (math.floor(state.time / self._every + _ROUNDING) + 1.0) * self._every
            self._look(state, wall_time, commanded_speed)
        if self._bounding and (self._fault or not upright):
            reason = self._fault or f"height {height:.3f} m, roll {roll:.2f}, pitch {pitch:.2f} rad"
            self.seen.fell = f"at {state.time:.2f} s: {reason}"
            raise FellError(f"the robot fell {self.seen.fell}")

    def solve(self, time: float, *, solve_ms: float, ok: bool, **_columns: Any) -> None:
        """Count a solve."""
        self._solves += 1
        self._last_solve = time
        self.seen.failed_solves += not ok
        self._solve_ms.append(solve_ms)

    def processors(self, cores: Mapping[str, float]) -> None:
        """Every look at the processes says more."""

    def event(self, time: float, text: str, *, fault: bool = False) -> None:
        """Count faults, refusals and pushes."""
        if fault:
            self._fault = self._fault or f"{text} at {time:.3f} s"
            self.seen.faults.append(f"{text} at {time:.3f} s")
        self.seen.refusals += text.startswith(REFUSED)
        self.seen.pushes += text.startswith("push ")

    def _look(self, state: RobotState, wall_time: float, commanded_speed: float) -> None:
        solve_ms, self._solve_ms = self._solve_ms, []
        found = {name: vitals(pid) for name, pid in self._processes().items()}
        sample = Sample(
            time=state.time,
            wall_time=wall_time,
            ticks=self._ticks,
            solves=self._solves,
            last_solve=self._last_solve,
            solve_ms=sum(solve_ms) / len(solve_ms) if solve_ms else math.nan,
            position=(float(state.position[0]), float(state.position[1])),
            commanded_speed=commanded_speed,
            vitals=found,
        )
        self.seen.samples.append(sample)
        self._listener(sample)


def series(samples: Sequence[Sample], process: str, what: str) -> Array:
    """(samples,) one of a process's :class:`Vitals`."""
    return np.array([float(getattr(sample.vitals[process], what)) for sample in samples])


def rates(samples: Sequence[Sample]) -> dict[str, Array]:
    """(samples − 1,) between two looks: ticks and solves per simulated second [Hz], simulated over wall-clock time."""
    columns = ("time", "wall_time", "ticks", "solves", "last_solve")
    steps = {name: np.diff([float(getattr(sample, name)) for sample in samples]) for name in columns}
    with np.errstate(invalid="ignore", divide="ignore"):
        return {
            "ticks": steps["ticks"] / steps["time"],
            "solves": steps["solves"] / steps["last_solve"],
            "real time": steps["time"] / steps["wall_time"],
        }
