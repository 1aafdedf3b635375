"""`contact-ddp bench processor`: the planner of the whole body on a slow processor.

* Processor time of a bound's plans, compiled for the processor at hand and for one without AVX (Intel's Silvermont: the
  Atom of the robot's own computer), each in a process of its own. The clock and the caches remain those at hand.
* For 100, 50 and 25 % of a core: the rate that the planner chooses with plans of these times, and how old they arrive,
  by a model of the quota: of every 100 ms the planner gets its share and is then stopped.
* The bound in lock-step at that rate, with policies as old as 99 of 100 at most: commands, and pushes by direction.

A limit on the processor time of a process, as a share of one core.

A control group does it where its files may be written, in both versions of the interface: of every 100 ms the process
gets its share and is then stopped by the kernel. Elsewhere the process is stopped and continued by signals in the same
rhythm, which takes the share of elapsed time instead of processor time.
"""

import contextlib
import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from benchmarks.benchmark import Benchmark, Findings, Run
from benchmarks.loop.budget import OverheardPlanner
from benchmarks.loop.gaits import COMMANDS, run
from benchmarks.loop.harness import advance, bounding, cases, loop_with
from benchmarks.loop.pushes import cell, motion
from benchmarks.loop.pushes import run as run_cell
from benchmarks.output import table_of
from benchmarks.timing import watched
from contact_ddp_ros.base.compiled.compiler import PROCESSOR_VARIABLE
from contact_ddp_ros.base.errors import BenchmarkError
from contact_ddp_ros.mpc.config import PlannerConfig
from contact_ddp_ros.mpc.loop_solver import PlanRate
from contact_ddp_ros.runs.loop import CONTROL_PERIOD
from contact_ddp_ros.runs.options import SENSOR_ERRORS, RunOptions
from contact_ddp_ros.runs.report.progress import progress_bar
from contact_ddp_ros.runs.study.study import Figures

PERIOD = 0.1
"""Period of the limit on processor time [s]."""

_ROOT = Path("/sys/fs/cgroup")


class Throttle:
    """Model of such a limit: in each period work goes on until the share is used, and then waits for the next one."""

    def __init__(self, share: float) -> None:
        """`share` of a core."""
        self._share, self._period, self._used = share * PERIOD, -1, 0.0

    def end(self, begins: float, work: float) -> float:
        """End of work of a processor time [s] that begins at a time [s], after all work so far."""
        now = begins
        while True:
            period = math.floor(now / PERIOD + 1e-9)
            if period != self._period:
                self._period, self._used = period, 0.0
            room = min(self._share - self._used, (period + 1) * PERIOD - now)
            if work <= room:
                self._used += work
                return now + work
            work, now = work - room, (period + 1) * PERIOD


@contextlib.contextmanager
def beside(work: Callable[[Event], None]) -> Iterator[None]:
    """Some work in a thread, which ends when the event that it gets is set."""
    stop = Event()
    thread = Thread(target=work, args=(stop,), name=work.__name__, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@contextlib.contextmanager
def quota(pid: int, share: float) -> Iterator[str]:
    """Limit a process inside the block; gives the means: "control group", "signals", or "none" for a share of 1."""
    if share >= 1.0:
        yield "none"
        return
    group = _group(share)
    if group is None:
        with _signals(pid, share):
            yield "signals"
        return
    (group / "cgroup.procs").write_text(str(pid))
    try:
        yield "control group"
    finally:
        for one in (group / "cgroup.procs").read_text().split():  # its children are there, too
            with contextlib.suppress(ProcessLookupError):
                (group.parent / "cgroup.procs").write_text(one)
        with contextlib.suppress(OSError):
            group.rmdir()


def _group(share: float) -> Path | None:
    """A new control group with that limit, or None where there can be none."""
    period = round(1e6 * PERIOD)
    for root, name, text in (
        (_ROOT / "cpu", "cpu.cfs_quota_us", f"{round(share * period)}"),
        (_ROOT, "cpu.max", f"{round(share * period)} {period}"),
    ):
        group = root / f"contact-ddp-{os.getpid()}"
        try:
            if not (root / "cgroup.procs").exists():
                continue
            group.mkdir()
            (group / name).write_text(text)
        except OSError:
            with contextlib.suppress(OSError):
                group.rmdir()
            continue
        return group
    return None


def _signals(pid: int, share: float) -> contextlib.AbstractContextManager[None]:
    def alternate(stop: Event) -> None:
        while not stop.is_set():
            time.sleep(share * PERIOD)
            os.kill(pid, signal.SIGSTOP)
            stop.wait((1.0 - share) * PERIOD)
            os.kill(pid, signal.SIGCONT)

    return beside(alternate)


NATIVE, SMALL = "native", "silvermont"
BUILDS: Mapping[str, Mapping[str, str]] = {
    NATIVE: {},
    SMALL: {PROCESSOR_VARIABLE: SMALL, "NUMBA_CPU_NAME": SMALL, "NUMBA_CPU_FEATURES": "+sse4.2"},
}
"""Environment in which a build is made and run."""

SHARES = (1.0, 0.5, 0.25)
"""Shares of a core."""

LADDER = (12.0, 24.0)
"""Impulses of pushes of which each is tried where the one below is held [N s]."""

TIMED_AT = 25.0
"""Rate at which plans are timed: the further apart, the more has left the caches [Hz]."""

OVERHEAD = 5e-4
"""Overhead of the node beside each plan: messages [s]."""

_MODEL_TIME, _SETTLED = 300.0, 120.0
"""Duration of the modelled adaptation, and time from which on it counts [s]."""


@dataclass(frozen=True)
class Effort:
    """Extent of the measurement: seconds of plans and of each command; phases and directions of pushes."""

    plans: float
    command: float
    phases: int
    directions: int


FULL, QUICK = Effort(10.0, 12.0, 6, 8), Effort(3.0, 7.0, 1, 4)


@dataclass(frozen=True)
class Pace:
    """Planner's choice: its median rate [Hz], and the median and 99 % of the ages of plans [s]."""

    rate: float
    age: float
    oldest: float


@dataclass(frozen=True)
class Held:
    """The bound at a pace.

    Attributes:
        falls, follows: commands that it does not survive, and that it follows as `bench gaits` asks.
        errors: (3,) worst ones of the speeds ahead and to the left [m/s] and of the turn [rad/s].
        impulses: (directions, phases) largest impulse that is held, with all below it [N s].
    """

    falls: int
    follows: int
    errors: NDArray[np.float64]
    impulses: NDArray[np.float64]


def pace_of(times: Sequence[float], share: float, seed: int = 0) -> Pace:
    """Planner's choice for plans of these processor times [s], drawn by chance, with a share of a core."""
    draw, throttle, chosen = np.random.default_rng(seed), Throttle(share), PlanRate()
    config, solve_share = PlannerConfig(), _solve_share()
    found, now, tick = [], 0.0, 0
    while now < _MODEL_TIME:
        rate = chosen.of(config.rate)
        asked = max(tick / config.rate, math.floor(now * config.rate) / config.rate)
        begins = max(asked, now)
        now = throttle.end(begins, float(draw.choice(times)) + OVERHEAD)
        found.append((asked, rate, now - asked))
        chosen.took(now - begins, now, config.rate, solve_share)
        tick = round((asked + 1.0 / rate) * config.rate)
    asked_at, rates, ages = np.array(found).T
    counts = asked_at >= _SETTLED
    spent = np.repeat(rates[counts], np.maximum(np.round(1e3 / rates[counts]).astype(int), 1))  # by time
    return Pace(float(np.median(spent)), *map(float, np.quantile(ages[counts], (0.5, 0.99))))


def _solve_share() -> float:
    from contact_ddp_ros.ros.node_config import PlannerNodeOptions

    return PlannerNodeOptions().solve_share


def held_at(pace: Pace, effort: Effort) -> Held:
    """Commands and pushes at a pace, with policies as old as 99 of 100 at most."""
    late, at_rate = CONTROL_PERIOD * math.ceil(pace.oldest / CONTROL_PERIOD - 1e-9), {"planner.rate": pace.rate}
    base = bounding({**SENSOR_ERRORS, **at_rate}, duration=effort.command, planner_delay=late)
    commanded = cases(base, {"bound": {str(k): {**command, "seed": 0} for k, command in enumerate(COMMANDS)}})
    found = [run(case) for case in commanded]
    errors = [_errors(case.options, one) for case, one in zip(commanded, found, strict=True) if not one["fall"]]
    worst = np.max(errors, axis=0, initial=0.0)
    pushed = replace(motion(at_rate), planner_delay=late)
    places = [(d, k) for d in range(effort.directions) for k in range(effort.phases)]
    held = [
        run_cell(cell(pushed, math.tau * d / effort.directions, k / effort.phases, LADDER))["held"] for d, k in places
    ]
    impulses = np.array(held, float).reshape(effort.directions, effort.phases)
    return Held(sum(bool(one["fall"]) for one in found), sum(one["follows"] for one in found), worst, impulses)


def _errors(wanted: RunOptions, found: Figures) -> NDArray[np.float64]:
    """(3,) of the speeds ahead and to the left [m/s] and of the turn [rad/s]."""
    means = np.array([found["forward"], found["left"], found["turn"]], float)
    return np.abs(means - [wanted.speed[0][1], wanted.left, wanted.turn])


def plan_times(rate: float, seconds: float) -> list[float]:
    """Processor time of each plan of a bound in lock-step at a planner's rate [s]."""
    loop, timed = loop_with(bounding({"planner.rate": rate}, duration=60.0), OverheardPlanner)
    advance(loop, seconds)
    return timed.times


def _plan_times_of(build: str, seconds: float) -> list[float]:
    """The same of a build, in a process of its own."""
    command = [sys.executable, "-m", __name__, str(TIMED_AT), str(seconds)]
    done = subprocess.run(command, env={**os.environ, **BUILDS[build]}, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise BenchmarkError(f"the planner's process ended with status {done.returncode}")
    times: list[float] = json.loads(done.stdout)
    return times


def table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Build by build and share by share."""

    def milliseconds(values: Sequence[float]) -> str:
        return ", ".join(f"{1e3 * one:.1f}" for one in values)

    def cells(row: Mapping[str, Any]) -> str:
        return "; ".join(str(int((np.asarray(row["impulses"]) >= one).sum())) for one in LADDER)

    columns = {
        "build, share": lambda row: f"{row['build']}, {100.0 * row['share']:g} %",
        "plan, processor (median, 99 %) [ms]": lambda row: milliseconds(row["plan"]),
        "rate [Hz]": lambda row: f"{row['rate']:.3g}",
        "age (median, 99 %) [ms]": lambda row: milliseconds((row["age"], row["oldest"])),
        "falls, follows": lambda row: f"{row['falls']}, {row['follows']} of {len(COMMANDS)}",
        "errors [m/s, m/s, rad/s]": lambda row: ", ".join(f"{error:.3f}" for error in row["errors"]),
        f"cells of {np.size(rows[0]['impulses'])} that hold {LADDER} N s": cells,
    }
    return table_of("The planner on a slow processor", rows, columns)


def _measure(job: Run) -> Findings:
    effort, rows = QUICK if job.options.quick else FULL, []
    plans = {build: _plan_times_of(build, effort.plans) for build in BUILDS}
    with progress_bar(job.terminal, "shares") as progress:
        for build, share in watched([(build, share) for build in BUILDS for share in SHARES], progress):
            pace = pace_of(plans[build], share)
            quantiles = np.quantile(plans[build], (0.5, 0.99)).tolist()
            about = {"build": build, "share": share, "plan": quantiles}
            rows.append({**about, **asdict(pace), **asdict(held_at(pace, effort))})
    held = all(row["follows"] == len(COMMANDS) and row["impulses"].min() >= LADDER[0] for row in rows)
    return Findings(
        settings={"quick": job.options.quick, **asdict(effort)},
        results={"rows": rows, "plans": plans},
        tables=[table(rows)],
        exit_code=0 if held else 1,
    )


BENCHMARK = Benchmark("processor", __doc__, "fewer plans, shorter runs, fewer pushes", _measure)

if __name__ == "__main__":
    print(json.dumps(plan_times(*map(float, sys.argv[1:]))))
