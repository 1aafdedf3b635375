"""`contact-ddp bench realtime`: do the live nodes keep the robot bounding on a machine that has other work?

Planner, controller and simulator run as processes on the wall clock, at 0.5 m/s, while something else happens:

- busy neighbours: 0, 1, 2 and 4 processes at normal priority that only compute, for 0 and 2 also with controller and
  simulator in one process;
- observers: once a second another process joins, subscribes to every topic, and leaves without a word;
- stalls: the planner's process is stopped for a while, again and again, at random phases.

Of every run: whether the robot fell and why, how often it had to stand for want of policies, the real-time factor, late
solves, the oldest policy that was followed, the longest time without a command, and the processors that each node kept
busy. A robot that stood and bounded again did not fall. `--set` tries other parameters, for one
`planner.node.scheduling.policy`.
"""

import argparse
import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.benchmark import Benchmark, Findings, Run, add_setting_option, at_least, option
from benchmarks.loop.cases import SPEED, bounding
from benchmarks.output import Metric, table_of
from benchmarks.ros.disturbances import neighbours, observers, stalls, throttled
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.runs.recording import Recorder
from contact_ddp_ros.runs.report.progress import say
from contact_ddp_ros.runs.report.summary import summarise
from contact_ddp_ros.runs.study.statistics import grouped, share

NODES = ("controller", "planner", "simulator")
CORES = {"controller": 0.15, "planner": 0.35, "simulator": 0.3, "controller + simulator": 0.45}
"""Processors that each process may keep busy without neighbours."""

LATE = 0.01
"""Share of solves that may be late without neighbours."""

_STAND = 3.0
"""Time in which the robot stands up and gets going [s]."""

_RESUME = 60.0
"""Patience of the controller with a planner that is stalled for seconds [s]."""

_LONG = 1.0
"""A stall from here on ends in a stand that the robot has to come out of again [s]."""


@dataclass(frozen=True)
class Condition:
    """What happens during a run.

    Attributes:
        name: for people.
        runs: how often it is repeated.
        duration: simulated time of a run [s].
        neighbours: busy processes.
        observers: whether others come and look.
        composed: whether controller and simulator share a process.
        stall: time that the planner is stopped for, again and again [s]; zero for never.
        every: time between two stalls [s].
        share: of a core that the planner gets.
    """

    name: str
    runs: int
    duration: float
    neighbours: int = 0
    observers: bool = False
    composed: bool = False
    stall: float = 0.0
    every: float = 1.5
    share: float = 1.0


@dataclass(frozen=True)
class LiveRun:
    """What became of one run; ages, median and 99th percentile of the solves in [ms], `cores` by node.

    `rate`: solves per second of the second half [Hz].
    """

    condition: str
    fell: str
    stands: int
    stalls: int
    real_time_factor: float
    speed: float
    late_solves: float
    iterations: float
    oldest_policy: float
    longest_silence: float
    cores: dict[str, float]
    solve: float = float("nan")
    slow_solve: float = float("nan")
    rate: float = float("nan")


def conditions(quick: bool, runs: int | None) -> list[Condition]:
    """All of them; `runs` in place of the number of repetitions."""
    duration, some = (10.0, 1) if quick else (60.0, 10)
    half = max(1, some // 2)
    found = [
        Condition(f"{count} busy neighbours", runs or (some if count < 4 else half), duration, count)
        for count in (0, 1, 2, 4)
    ]
    found += [
        Condition(f"{count} busy neighbours, one process", runs or half, duration, count, composed=True)
        for count in (0, 2)
    ]
    found.append(Condition("observers come and go", runs or (1 if quick else 20), min(duration, 20.0), observers=True))
    for stall in (0.05, 0.1, 0.2, 0.3, 5.0):
        every = 1.5 if stall < _LONG else 4.0
        length = _STAND + (3 if quick else 20) * (every + stall) + 2.0
        name = f"planner stalled for {1e3 * stall:g} ms"
        found.append(Condition(name, runs or 1, length, stall=stall, every=every))
    found += [
        Condition(f"planner on {100.0 * part:g} % of a core", runs or 1, duration, share=part) for part in (0.5, 0.25)
    ]
    return found


def live_run(condition: Condition, seed: int, overrides: Mapping[str, Any]) -> LiveRun:
    """One run of the nodes under a condition."""
    from contact_ddp_ros.ros.demo import Demo

    patient = {"controller.move.resume_timeout": _RESUME} if condition.stall >= _LONG else {}
    overrides = {**patient, **overrides}
    alike = {"duration": condition.duration, "composed": condition.composed, "seed": seed}
    options = bounding(overrides, lockstep=False, **alike)
    recorder = Recorder()
    demo = Demo(options, recorder)
    stalled: Sequence[float] = ()
    with contextlib.ExitStack() as stack:
        stack.enter_context(neighbours(condition.neighbours))
        if condition.observers:
            stack.enter_context(observers(demo.variables, 1.0, 1.0))
        if condition.stall:
            begin = _STAND - condition.every
            stalled = stack.enter_context(stalls(demo.bounding_planner, condition.stall, condition.every, seed, begin))
        if condition.share < 1.0:
            stack.enter_context(throttled(demo.bounding_planner, condition.share))
        demo.run()
        n_stalls = len(stalled)
    recording = recorder.finish()
    summary, fall = summarise(recording), recording.fall
    return LiveRun(
        condition=condition.name,
        fell="" if fall is None else fall.cause or fall.reason,
        stands=sum("standing for want of policies" in event.text for event in recording.events),
        stalls=n_stalls,
        real_time_factor=summary.real_time_factor,
        speed=summary.mean_speed,
        late_solves=summary.deadline_miss_fraction,
        iterations=summary.iterations_per_solve,
        oldest_policy=demo.worst("controller", "oldest policy followed [ms]"),
        longest_silence=demo.worst("simulator", "longest time without a command [ms]"),
        cores=dict(summary.processor_cores),
        solve=summary.solve_ms.median,
        slow_solve=summary.solve_ms.p99,
        rate=(recording.solves["time"] >= 0.5 * condition.duration).sum() / (0.5 * condition.duration),
    )


def _line(condition: Condition, run: int, outcome: LiveRun) -> str:
    words = f"fell: {outcome.fell}" if outcome.fell else f"no fall, {outcome.speed:.3f} m/s"
    stands = f", stood {outcome.stands} times" if outcome.stands else ""
    return f"{condition.name}, {run + 1} of {condition.runs}: {words}{stands}, {1e2 * outcome.late_solves:.1f} % late"


def _table(runs: Sequence[LiveRun]) -> Table:
    def median(what: str, form: Callable[[float], str]) -> Callable[[list[LiveRun]], str]:
        return lambda of: form(float(np.median([getattr(one, what) for one in of])))

    columns: dict[str, Callable[[list[LiveRun]], object]] = {
        "condition": lambda of: of[0].condition,
        "no fall": lambda of: f"{sum(not one.fell for one in of)} of {len(of)}",
        "stood": lambda of: sum(one.stands for one in of),
        "stalls": lambda of: sum(one.stalls for one in of),
        "speed": median("speed", "{:.3f} m/s".format),
        "factor": median("real_time_factor", "{:.3f}".format),
        "solves per second": median("rate", "{:.1f}".format),
        "late": median("late_solves", lambda share_of: f"{1e2 * share_of:.1f} %"),
        "solve": median("solve", "{:.1f} ms".format),
        "99 %": median("slow_solve", "{:.1f} ms".format),
        "iterations": median("iterations", "{:.2f}".format),
        "oldest policy": lambda of: f"{max(one.oldest_policy for one in of):.0f} ms",
        "no command": lambda of: f"{max(one.longest_silence for one in of):.0f} ms",
        **{node: partial(_cores, node=node) for node in NODES},
    }
    groups = grouped(runs, lambda one: one.condition).values()
    return table_of("", groups, columns, whole_names=False, whole_numbers=False)


def metrics(runs: Sequence[LiveRun]) -> list[Metric]:
    """Survival under each condition, and processor time without neighbours."""
    found = []
    for name, of in grouped(runs, lambda one: one.condition).items():
        upright = share(not one.fell for one in of)
        target = None if name.startswith("4 ") else 1.0
        bounds = f"95 %: {upright.lower:.2f} to {upright.upper:.2f}"
        note = f"{upright.successes} of {upright.trials} runs, {bounds}"
        found.append(Metric(f"no fall: {name}", upright.share, target, note, at_least=True))
    alone = [one for one in runs if one.condition.startswith("0 ")]
    if alone:
        late = float(np.median([one.late_solves for one in alone]))
        found.append(Metric("share of late solves", late, LATE, "without neighbours"))
    quiet = [one.cores for one in alone]
    for process, target in CORES.items():
        cores = [one[process] for one in quiet if process in one]
        if cores:
            median, note = float(np.median(cores)), "without neighbours"
            found.append(Metric(f"processors kept busy by {process}", median, target, note))
    return found


def _cores(runs: Sequence[LiveRun], node: str) -> str:
    """Processors that the process of a node kept busy; in brackets where another node shares it."""
    found = [(cores, node == process) for one in runs for process, cores in one.cores.items() if node in process]
    median = np.median([cores for cores, _ in found]) if found else float("nan")
    return f"{median:.2f}" if all(alone for _, alone in found) else f"({median:.2f})"


def _chosen(options: argparse.Namespace) -> list[Condition]:
    found = [one for one in conditions(options.quick, options.runs) if (options.only or "") in one.name]
    if not found:
        raise ParameterError(f"no condition's name holds {options.only!r}, as {conditions(True, None)[0].name!r} would")
    return found


def _measure(run: Run) -> Findings:
    gait, chosen = run.options.gait, _chosen(run.options)
    overrides = {"planner.gait.name": gait, **dict(run.options.set)}
    runs = []
    for condition in chosen:
        for seed in range(condition.runs):
            runs.append(live_run(condition, seed, overrides))
            say(run.terminal, _line(condition, seed, runs[-1]))
    found = metrics(runs)
    return Findings(
        settings={"speed": SPEED, "conditions": chosen, "set": overrides},
        results={"outcomes": runs},
        title=f"The live nodes beside other work: {gait}",
        metrics=found,
        tables=[_table(runs)],
        exit_code=int(any(one.met is False for one in found)),
    )


OPTIONS = (
    option("--runs", type=at_least(1), metavar="N", help="repetitions of every condition"),
    option("--gait", metavar="NAME", default="trot", help="packaged, or a file (default: trot)"),
    option("--only", metavar="TEXT", help="conditions whose name holds this text"),
    add_setting_option,
)

BENCHMARK = Benchmark("realtime", __doc__, "one short run of each", _measure, OPTIONS, _chosen)
