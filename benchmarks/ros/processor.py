"""`contact-ddp bench processor`: the planner on a small processor, one without AVX and one of which it has a share.

* One DDP iteration compiled for a processor without AVX (Intel's Silvermont: the Atom of the robot's own computer) over
  one compiled for the processor at hand, two processes in turn. The clock and the caches remain those at hand.
* Either build under a quota of 100, 50 and 25 % of a core: states of a bound pass on the wall clock, the planner solves
  for the newest one, with the deadline that it has in its node. How often it solves, and how many iterations fit.
* The bound in lock-step with a planner that is busy for that long with each solve: whether the robot stays up.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from benchmarks.benchmark import Benchmark, Findings, Run
from benchmarks.loop.harness import PlannerProxy, advance, bounding_loop
from benchmarks.output import Metric
from benchmarks.ros.planner_worker import PlannerWorker
from benchmarks.ros.quota import quota
from benchmarks.solver.iteration import ITERATION, STAGES
from benchmarks.timing import Progress, Spread, Times, watched
from contact_ddp_ros.base.compiled.compiler import PROCESSOR_VARIABLE
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.mpc.plan_result import PlanResult
from contact_ddp_ros.robot.policy import Policy
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.runs.channel import Links
from contact_ddp_ros.runs.closed_loop import ClosedLoop
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.report.progress import progress_bar

SPEED = 0.5
"""Commanded [m/s]."""

NATIVE, SMALL = "native", "silvermont"
BUILDS: Mapping[str, Mapping[str, str]] = {
    NATIVE: {},
    SMALL: {PROCESSOR_VARIABLE: SMALL, "NUMBA_CPU_NAME": SMALL, "NUMBA_CPU_FEATURES": "+sse4.2"},
}
"""Environment in which a build is made and run."""

SHARES = (1.0, 0.5, 0.25)
"""Of a core."""

BUSY = (0.0, 0.02, 0.04, 0.06, 0.08)
"""Time that a planner takes for a solve, in lock-step [s]."""

_BATCH = 20
"""Iterations of a build in a row."""

_UNDER_WAY = 1.0
"""Bounding before states are recorded [s]."""

_STILL_BUSY = PlanResult(None, "BUSY", "still at the last solve", 0.0, (), *4 * (float("nan"),))


@dataclass(frozen=True)
class Effort:
    """How much is measured: rounds of iterations, seconds under a quota, and of the bound in lock-step."""

    rounds: int
    live: float
    loop: float


FULL, QUICK = Effort(rounds=60, live=5.0, loop=8.0), Effort(rounds=10, live=2.0, loop=5.0)


@dataclass(frozen=True)
class Live:
    """A build under a quota.

    Attributes:
        build, share: which. means: of the quota. rate: solves per second.
        iterations: per solve, mean. elapsed, processor: of a solve [s].
    """

    build: str
    share: float
    means: str
    rate: float
    iterations: float
    elapsed: Spread
    processor: Spread


@dataclass(frozen=True)
class Slow:
    """The bound with a planner that is `busy` [s] with each solve: what became of it, and its mean speed [m/s]."""

    busy: float
    fell: str
    stands: int
    speed: float


class BusyPlanner(PlannerProxy):
    """A planner that answers nothing while it is at the last solve."""

    def __init__(self, planner: Any, busy: float) -> None:
        super().__init__(planner)
        self._busy, self._free = busy, -np.inf

    def plan(self, state: RobotState, speed: float, *, hold: bool = False, **options: Any) -> PlanResult:
        """As the planner's, or no policy."""
        if state.time < self._free - 1e-9:
            return _STILL_BUSY
        self._free = state.time + self._busy
        return super().plan(state, speed, hold=hold, **options)


class SlowAnswers(Links):
    """Policies arrive when the solve is over."""

    def __init__(self, busy: float) -> None:
        self._busy = busy

    def policies(self, policy: Policy, due: float) -> Sequence[tuple[float, Policy]]:
        """Later by the time of a solve."""
        return super().policies(policy, due + self._busy)


def slow_loop(busy: float, seconds: float) -> tuple[ClosedLoop, Slow]:
    """The bound from a stand with a planner that takes `busy` [s] for every solve."""
    loop = ClosedLoop(RunOptions(duration=60.0, speed=((0.0, SPEED),)), links=SlowAnswers(busy))
    loop.planner = BusyPlanner(loop.planner, busy)  # type: ignore[assignment]
    advance(loop, seconds / 2.0)
    middle = loop.simulator.truth().state.position[0]
    advance(loop, seconds)
    speed = float(loop.simulator.truth().state.position[0] - middle) / (seconds / 2.0)
    fell = str(loop.controller.fault or ("" if loop.controller.mode is ControlMode.MOVE else "does not bound"))
    return loop, Slow(busy, fell, loop.controller.retreats, speed)


def recorded_states(seconds: float) -> list[dict[str, Any]]:
    """States of the bound at the planner's ticks, as JSON takes them."""
    loop = bounding_loop(_UNDER_WAY)
    found = []
    for _ in range(round(seconds * loop.planner.config.rate)):
        state = asdict(loop.simulator.read())
        found.append({name: np.asarray(value).tolist() for name, value in state.items()})
        advance(loop, loop.simulator.time + 1.0 / loop.planner.config.rate)
    return found


def measure_builds(workers: Mapping[str, PlannerWorker], rounds: int, progress: Progress) -> Times:
    """Processor time of an iteration and its stages, builds in turn."""
    samples: dict[str, list[dict[str, float]]] = {name: [] for name in workers}
    for turn in watched(range(-1, rounds), progress):
        for name, worker in workers.items():
            batch = worker.ask(job="stages", count=_BATCH)
            if turn >= 0:
                samples[name].append({part: min(one[part] for one in batch) for part in batch[0]})
    return Times(
        {name: {part: np.array([one[part] for one in turns]) for part in turns[0]} for name, turns in samples.items()}
    )


def measure_live(workers: Mapping[str, PlannerWorker], seconds: float, progress: Progress) -> list[Live]:
    """Every build under every quota."""
    from contact_ddp_ros.ros.node_config import PlannerNodeOptions

    states, share = recorded_states(seconds), PlannerNodeOptions().solve_share
    found = []
    for build, part in watched([(build, part) for part in SHARES for build in workers], progress):
        worker = workers[build]
        with quota(worker.pid, part) as means:
            solves = worker.ask(job="live", states=states, speed=SPEED, seconds=seconds, share=share)
        columns = {name: np.array([one[name] for one in solves]) for name in solves[0]}
        spreads = (Spread.of(columns[name]) for name in ("elapsed", "processor"))
        found.append(Live(build, part, means, len(solves) / seconds, float(columns["iterations"].mean()), *spreads))
    return found


def metrics(times: Times | None, live: Sequence[Live], slow: Sequence[Slow]) -> list[Metric]:
    """What the table shows."""
    found = []
    if times is not None:
        for stage in (ITERATION, *STAGES):
            name = "iteration, without AVX / native" if stage == ITERATION else f"    {stage}"
            found.append(Metric(name, times.ratio((SMALL, stage), (NATIVE, stage))))
    for one in live:
        note = f"solves per second, of {one.iterations:.2f} iterations; quota by {one.means}"
        found.append(Metric(f"{one.build}, {100.0 * one.share:g} % of a core", one.rate, None, note))
        found.append(Metric("    a solve, elapsed", one.elapsed, None, f"processor {one.processor.median:.4f} s", "s"))
    for run in slow:
        note = run.fell or f"{run.speed:.2f} m/s, stood {run.stands} times"
        target = 1.0 if run.busy <= 0.04 else None
        name = f"lock-step, {1e3 * run.busy:g} ms for a solve: stays up"
        found.append(Metric(name, float(not run.fell), target, note, at_least=True))
    return found


def _measure(run: Run) -> Findings:
    effort = QUICK if run.options.quick else FULL
    with ExitStack() as stack:
        workers = {name: PlannerWorker(environment) for name, environment in BUILDS.items()}
        for worker in workers.values():
            stack.callback(worker.close)
        with progress_bar(run.terminal, "builds") as progress:
            times = measure_builds(workers, effort.rounds, progress)
        with progress_bar(run.terminal, "quotas") as progress:
            live = measure_live(workers, effort.live, progress)
    with progress_bar(run.terminal, "slow planners") as progress:
        slow = [slow_loop(busy, effort.loop)[1] for busy in watched(BUSY, progress)]
    return Findings(
        settings={"quick": run.options.quick, **asdict(effort)},
        results={"builds": times.parts, "live": live, "slow": slow},
        title="The planner on a small processor",
        metrics=metrics(times, live, slow),
    )


BENCHMARK = Benchmark("processor", __doc__, "fewer rounds and shorter runs", _measure)
