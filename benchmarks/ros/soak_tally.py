"""Counts what happens in a run that may last for hours, and looks at its processes now and then.

Unlike a recorder it keeps no tick and no solve, so that what grows are the nodes or nothing. A rate is formed from
counts and stamps: solves between two looks over the simulated time between the last ones' stamps. It does not depend on
how late a message about a solve comes, and in lock-step it is exact unless one is lost.
"""

import math
import multiprocessing
import os
import time as clock
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import BenchmarkError, ContactDdpError
from contact_ddp_ros.base.process import environment
from contact_ddp_ros.robot.rotation import quaternion_to_rpy
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.runs.closed_loop import ClosedLoop
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.recording import FALL_HEIGHT, Recorder
from contact_ddp_ros.runs.recording.falls import FALL_TILT
from contact_ddp_ros.runs.study.batch import ONE_THREAD, depend_on_the_parent

Array = NDArray[np.float64]

LOOP = "loop"
"""Name of the process of the loop without ROS."""

REFUSED = "policy refused"
"""Beginning of the controller's event for a policy that it does not take."""

_ROUNDING = 1e-9
"""Rounding of sums of periods [s], and of their ratios."""


Sample = dict[str, float]
"""One look: simulated `time` [s], `wall_time` of a monotonic clock [s], `ticks` and `solves` since the beginning, stamp
of the `last_solve` [s], `solve_ms`, mean time of the solves since the look before [ms], both not a number where there
was none, `x` and `y` of the trunk in `odom` [m], `commanded_speed` [m/s]; by name of the process and a space before it,
resident `memory` [MB], open `descriptors`, `threads` and `processor_time` of all of them since it began [s]."""


def vitals(pid: int) -> dict[str, float]:
    """Look at a process of this user.

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
        return {
            "memory": process.memory_info().rss / 1e6,
            "descriptors": process.num_fds(),
            "threads": process.num_threads(),
            "processor_time": times.user + times.system,
        }


class FellError(ContactDdpError):
    """The robot lies: the rest of the run would say nothing."""


@dataclass
class Seen:
    """Findings so far, or since somebody was told last."""

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


class Tally(Recorder):
    """A run's recorder that counts and keeps nothing else; `seen` is what it has found."""

    def __init__(
        self, every: float, processes: Callable[[], Mapping[str, int]], listener: Callable[[Sample], None]
    ) -> None:
        """Look every `every` [s] of simulated time at `processes()`, ids by name; tell the `listener`."""
        super().__init__()
        self._every = every
        self._processes = processes
        self._tell = listener
        self._next = 0.0
        self._n_ticks = self._n_solves = 0
        self._last_solve = math.nan
        self._solve_ms: list[float] = []
        self._bounding = False
        self._fault = ""
        self.seen = Seen()

    def tick(self, state: RobotState, **columns: Any) -> None:  # type: ignore[override]
        """Count a tick; look, where it is time to.

        Raises:
            FellError: the robot has fallen.
        """
        self._n_ticks += 1
        roll, pitch, _ = quaternion_to_rpy(state.orientation)
        self._bounding |= columns["control_mode"] == "move"
        height = self.info.heights(state.position[None])[0] if self.begun else state.position[2]
        upright = height >= FALL_HEIGHT and max(abs(roll), abs(pitch)) <= FALL_TILT
        if state.time >= self._next - _ROUNDING:
            self._next = (math.floor(state.time / self._every + _ROUNDING) + 1.0) * self._every
            self._look(state, columns.get("wall_time") or clock.perf_counter(), columns["commanded_speed"])
        if self._bounding and (self._fault or not upright):
            reason = self._fault or f"height {height:.3f} m, roll {roll:.2f}, pitch {pitch:.2f} rad"
            self.seen.fell = f"at {state.time:.2f} s: {reason}"
            raise FellError(f"the robot fell {self.seen.fell}")

    def solve(self, time: float, *, solve_ms: float, ok: bool, **_columns: Any) -> None:  # type: ignore[override]
        """Count a solve."""
        self._n_solves += 1
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
        sample = {
            "time": state.time,
            "wall_time": wall_time,
            "ticks": self._n_ticks,
            "solves": self._n_solves,
            "last_solve": self._last_solve,
            "solve_ms": sum(solve_ms) / len(solve_ms) if solve_ms else math.nan,
            "x": float(state.position[0]),
            "y": float(state.position[1]),
            "commanded_speed": commanded_speed,
        }
        for name, pid in self._processes().items():
            sample |= {f"{name} {what}": value for what, value in vitals(pid).items()}
        self.seen.samples.append(sample)
        self._tell(sample)


def processes(sample: Sample) -> list[str]:
    """Names of the processes that were looked at."""
    return [name.removesuffix(" memory") for name in sample if name.endswith(" memory")]


def series(samples: Sequence[Sample], name: str) -> Array:
    """(samples,) one quantity of each look."""
    return np.array([sample[name] for sample in samples], dtype=float)


def rates(samples: Sequence[Sample]) -> dict[str, Array]:
    """(samples − 1,) between two looks: ticks and solves per simulated second [Hz], simulated over wall-clock time."""
    columns = ("time", "wall_time", "ticks", "solves", "last_solve")
    steps = {name: np.diff(series(samples, name)) for name in columns}
    with np.errstate(invalid="ignore", divide="ignore"):
        return {
            "ticks": steps["ticks"] / steps["time"],
            "solves": steps["solves"] / steps["last_solve"],
            "real time": steps["time"] / steps["wall_time"],
        }


def run_loop(options: RunOptions, every: float, seen: Seen, listener: Callable[[Sample], None]) -> None:
    """Let the loop run in lock-step, without ROS, and add to `seen` what it tells every `every` [s] of simulated time.

    It runs in a process of its own, which keeps nothing of what it measures, so that its memory is the loop's.

    Raises:
        ContactDdpError: the robot fell, or the loop could not be built or ended before its time.
    """
    context = multiprocessing.get_context("spawn")
    inlet, outlet = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(outlet, options, every), name=LOOP, daemon=True)
    with environment(ONE_THREAD):
        process.start()
    outlet.close()
    try:
        while (told := inlet.recv()) is not None:
            if isinstance(told, ContactDdpError):
                raise told
            seen.add(told)
            for sample in told.samples:
                listener(sample)
    except EOFError:
        process.join()
        raise BenchmarkError(f"the loop's process ended with code {process.exitcode}") from None
    finally:
        process.terminate()
        process.join()


def _work(outlet: "Connection[Any, Any]", options: RunOptions, every: float) -> None:
    """The process: tells what was seen since it told last; at the end None, or what went wrong."""
    depend_on_the_parent()

    def tell(_sample: Sample) -> None:
        outlet.send(tally.seen)
        tally.seen = Seen()

    tally, ending = Tally(every, lambda: {LOOP: os.getpid()}, tell), None
    try:
        ClosedLoop(options, tally, job="soak").run()
    except ContactDdpError as error:
        ending = FellError(str(error)) if isinstance(error, FellError) else BenchmarkError(str(error))
    outlet.send(tally.seen)
    outlet.send(ending)
