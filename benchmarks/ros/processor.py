"""`contact-ddp bench processor`: the planner of the whole body on a slow processor.

* Processor time of a bound's plans, compiled for the processor at hand and for one without AVX (Intel's Silvermont: the
  Atom of the robot's own computer), each in a process of its own. The clock and the caches remain those at hand.
* For 100, 50 and 25 % of a core: the rate that the planner chooses with plans of these times, and how old they arrive,
  by a model of the quota: of every 100 ms the planner gets its share and is then stopped.
* The bound in lock-step at that rate, with policies as old as 99 of 100 at most: commands, and pushes by direction.
* Live: states of a bound pass on the wall clock, and the planner solves for the newest one under a real quota.
"""

import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from benchmarks.benchmark import Benchmark, Findings, Run
from benchmarks.loop.cases import SPEED, bounding, push_of
from benchmarks.loop.harness import advance, bounding_loop
from benchmarks.output import table_of
from benchmarks.ros.planner_worker import PlannerWorker
from benchmarks.ros.quota import Throttle, quota
from benchmarks.timing import watched
from contact_ddp_ros.base.compiled.compiler import PROCESSOR_VARIABLE
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.mpc.config import PlannerConfig
from contact_ddp_ros.mpc.plan_rate import PlanRate
from contact_ddp_ros.robot.rotation import quaternion_to_rpy
from contact_ddp_ros.runs.closed_loop import CONTROL_PERIOD, ClosedLoop
from contact_ddp_ros.runs.options import SENSOR_NOISE, RunOptions
from contact_ddp_ros.runs.recording import FALL_HEIGHT
from contact_ddp_ros.runs.report.progress import progress_bar

NATIVE, SMALL = "native", "silvermont"
BUILDS: Mapping[str, Mapping[str, str]] = {
    NATIVE: {},
    SMALL: {PROCESSOR_VARIABLE: SMALL, "NUMBA_CPU_NAME": SMALL, "NUMBA_CPU_FEATURES": "+sse4.2"},
}
"""Environment in which a build is made and run."""

SHARES = (1.0, 0.5, 0.25)
"""Of a core."""

COMMANDS = (
    *((speed, 0.0, 0.0) for speed in (0.0, 0.5, 1.0, 1.5, 2.0, -0.5)),
    *((0.3, 0.3, 0.0), (0.5, 0.0, 1.0), (0.0, 0.0, -1.0)),
)
"""Speeds ahead and to the left [m/s], turn [rad/s]."""

LADDER = (12.0, 24.0)
"""Impulses of pushes of which each is tried where the one below is held [N s]."""

TIMED_AT = 25.0
"""Rate at which plans are timed: the further apart, the more has left the caches [Hz]."""

OVERHEAD = 5e-4
"""Of the node beside each plan: messages [s]."""

_MODEL_TIME, _SETTLED = 300.0, 120.0
"""How long the planner adapts in the model, and from when on it counts [s]."""

_COMMANDED, _AFTER_PUSH, _UNDER_WAY = 5.0, 3.0, 3.0
"""From when on speeds count; how long a pushed robot is watched; when it is pushed first [s]."""


@dataclass(frozen=True)
class Effort:
    """How much is measured: seconds of plans, of each command, and live; phases and directions of pushes."""

    plans: float
    command: float
    live: float
    phases: int
    directions: int


FULL, QUICK = Effort(10.0, 12.0, 20.0, 6, 8), Effort(3.0, 7.0, 4.0, 1, 4)


@dataclass(frozen=True)
class Pace:
    """What the planner chooses: its median rate [Hz], and the median and 99 % of the ages of plans [s]."""

    rate: float
    age: float
    oldest: float


@dataclass(frozen=True)
class Held:
    """The bound at a pace.

    Attributes:
        falls: commands that it does not survive.
        ahead, left, turn: worst errors of the speeds [m/s] and of the turn [rad/s].
        impulses: (directions, phases) largest impulse that is held, with all below it [N s].
    """

    falls: int
    ahead: float
    left: float
    turn: float
    impulses: NDArray[np.float64]


def pace_of(times: Sequence[float], share: float, seed: int = 0) -> Pace:
    """What the planner chooses for plans of these processor times [s], drawn by chance, with a share of a core."""
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


def options_at(pace: Pace, **others: Any) -> RunOptions:
    """A bound with plans at a pace."""
    late = CONTROL_PERIOD * math.ceil(pace.oldest / CONTROL_PERIOD - 1e-9)
    return replace(bounding({"planner.rate": pace.rate}, duration=60.0, planner_delay=late), **others)


def commanded(pace: Pace, command: tuple[float, float, float], seconds: float) -> NDArray[np.float64] | None:
    """(3,) errors of the speeds ahead and to the left [m/s] and of the turn [rad/s]; None where it falls or stands."""
    ahead, left, turn = command
    noisy = options_at(pace, speed=((0.0, ahead),), left=left, turn=turn, seed=1)
    loop = ClosedLoop(replace(noisy, overrides={**noisy.overrides, **SENSOR_NOISE}))
    advance(loop, seconds)
    if loop.controller.fault is not None or loop.controller.mode is not ControlMode.MOVE:
        return None
    recording = loop.recorder.finish()
    rows = recording.ticks["time"] >= _COMMANDED
    means = [*recording.heading_velocity[rows].mean(axis=0)[:2], recording.heading_rate[rows].mean()]
    return np.abs(np.array(means) - command)


def pushed(pace: Pace, directions: int, phases: int) -> NDArray[np.float64]:
    """(directions, phases) of the bound at 0.5 m/s, largest of the ladder's impulses that is held, or zero [N s]."""
    loop = ClosedLoop(options_at(pace))
    advance(loop, _UNDER_WAY)
    begun, cycle = loop.simulator.time, loop.planner.builder.sequence.period
    held = np.zeros((directions, phases))
    for phase in range(phases):
        advance(loop, begun + phase / phases * cycle)
        for direction in range(directions):
            for impulse in LADDER:
                if not _survives(loop, impulse, 2.0 * math.pi * direction / directions):
                    break
                held[direction, phase] = impulse
    return held


def _survives(loop: ClosedLoop, impulse: float, direction: float) -> bool:
    """Survival of a push, by its angle from the heading [rad]; the loop itself stays as it is."""
    twin = loop.fork()
    heading = float(quaternion_to_rpy(twin.simulator.true_state().orientation)[2])
    push = push_of(impulse, heading + direction, twin.simulator.time)
    twin.simulator.push(np.array(push.force), push.duration)
    advance(twin, twin.simulator.time + _AFTER_PUSH)
    up = twin.simulator.true_state().position[2] >= FALL_HEIGHT
    return bool(up) and twin.controller.fault is None and twin.controller.mode is ControlMode.MOVE


def held_at(pace: Pace, effort: Effort) -> Held:
    """Commands and pushes at a pace."""
    errors = [commanded(pace, command, effort.command) for command in COMMANDS]
    known = [one for one in errors if one is not None]
    worst = np.max(known, axis=0) if known else np.full(3, np.nan)
    return Held(len(errors) - len(known), *map(float, worst), pushed(pace, effort.directions, effort.phases))


def recorded_states(seconds: float) -> list[dict[str, Any]]:
    """States of the bound at the planner's ticks, as JSON takes them."""
    loop = bounding_loop(1.0)
    found = []
    for _ in range(round(seconds * loop.planner.config.rate)):
        state = asdict(loop.simulator.read())
        found.append({name: np.asarray(value).tolist() for name, value in state.items()})
        advance(loop, loop.simulator.time + 1.0 / loop.planner.config.rate)
    return found


def _row(build: str, share: float, times: Sequence[float], pace: Pace, held: Held, live: Mapping[str, Any]) -> Any:
    solves, means = live["solves"], live["means"]
    ages = np.array([one["elapsed"] for one in solves])
    return {
        "build": build,
        "share": share,
        "plan": np.quantile(times, (0.5, 0.99)).tolist(),
        **asdict(pace),
        **asdict(held),
        "live": {
            "means": means,
            "rate": len(solves) / live["seconds"],
            "age": np.quantile(ages, (0.5, 0.99)).tolist(),
            "ok": float(np.mean([one["ok"] for one in solves])),
        },
    }


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
        "falls": lambda row: f"{row['falls']} of {len(COMMANDS)}",
        "errors [m/s, m/s, rad/s]": lambda row: f"{row['ahead']:.3f}, {row['left']:.3f}, {row['turn']:.3f}",
        f"cells of {np.size(rows[0]['impulses'])} that hold {LADDER} N s": cells,
        "live: solves per second": lambda row: f"{row['live']['rate']:.1f}",
        "live: age [ms]": lambda row: milliseconds(row["live"]["age"]),
    }
    return table_of("The planner on a slow processor", rows, columns)


def _measure(run: Run) -> Findings:
    effort, rows = QUICK if run.options.quick else FULL, []
    with ExitStack() as stack:
        workers = {name: PlannerWorker(environment) for name, environment in BUILDS.items()}
        for worker in workers.values():
            stack.callback(worker.close)
        plans = {
            name: one.ask(job="plans", rate=TIMED_AT, seconds=effort.plans, speed=SPEED)
            for name, one in workers.items()
        }
        states = recorded_states(effort.live)
        with progress_bar(run.terminal, "shares") as progress:
            for build, share in watched([(build, share) for build in workers for share in SHARES], progress):
                worker = workers[build]
                with quota(worker.pid, share) as means:
                    job = {"job": "live", "states": states, "speed": SPEED, "seconds": effort.live}
                    solves = worker.ask(**job, share=_solve_share())
                pace = pace_of(plans[build], share)
                live = {"means": means, "solves": solves, "seconds": effort.live}
                rows.append(_row(build, share, plans[build], pace, held_at(pace, effort), live))
    held = all(not row["falls"] and np.asarray(row["impulses"]).min() >= LADDER[0] for row in rows)
    return Findings(
        settings={"quick": run.options.quick, **asdict(effort)},
        results={"rows": rows, "plans": plans},
        tables=[table(rows)],
        exit_code=0 if held else 1,
    )


BENCHMARK = Benchmark("processor", __doc__, "fewer plans, shorter runs, fewer pushes", _measure)
