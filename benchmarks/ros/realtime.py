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
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.benchmark import Benchmark, Findings, add_setting_option, at_least, option
from benchmarks.loop.harness import bounding
from benchmarks.output import Metric, table_of
from benchmarks.ros.disturbances import neighbours, observers, stalls, throttled
from benchmarks.study import Columns, Study
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.runs.recording import Recorder
from contact_ddp_ros.runs.study.study import Case, Figures, Group, summary_figures

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


def conditions(options: argparse.Namespace) -> list[Case]:
    """Every run of every condition that is asked for; ParameterError where no name holds the text of `--only`."""
    quick = options.quick
    duration, some = (10.0, 1) if quick else (60.0, 10)
    half = max(1, some // 2)
    found: list[Case] = []

    def add(name: str, runs: int, length: float, composed: bool = False, **values: Any) -> None:
        if (options.only or "") in name:
            found.extend(_runs(options, name, options.runs or runs, length, composed, values))

    for count in (0, 1, 2, 4):
        add(f"{count} busy neighbours", some if count < 4 else half, duration, neighbours=count)
    for count in (0, 2):
        add(f"{count} busy neighbours, one process", half, duration, composed=True, neighbours=count)
    add("observers come and go", 1 if quick else 20, min(duration, 20.0), observers=True)
    for stall in (0.05, 0.1, 0.2, 0.3, 5.0):
        every = 1.5 if stall < _LONG else 4.0
        length = _STAND + (3 if quick else 20) * (every + stall) + 2.0
        add(f"planner stalled for {1e3 * stall:g} ms", 1, length, stall=stall, every=every)
    for part in (0.5, 0.25):
        add(f"planner on {100.0 * part:g} % of a core", 1, duration, share=part)
    if not found:
        raise ParameterError(f"no condition's name holds {options.only!r}, as '2 busy neighbours' would")
    return found


def _runs(
    options: argparse.Namespace, name: str, runs: int, length: float, composed: bool, values: dict[str, Any]
) -> list[Case]:
    own = {"planner.gait.name": options.gait, **dict(options.set)}
    if values.get("stall", 0.0) >= _LONG:
        own = {"controller.move.resume_timeout": _RESUME, **own}
    live = partial(bounding, own, lockstep=False, duration=length, composed=composed)
    return [Case(name, f"{name}, {seed + 1} of {runs}", live(seed=seed), values) for seed in range(runs)]


def live_run(case: Case) -> Figures:
    """Figures of one run of the nodes under a condition.

    Beside those of the summary: how often it had to stand (`stands`), `stalls`, the `oldest` policy that was followed
    and the longest `silence` without a command [ms], `cores` by process, and
    the `rate` of solves in the second half [Hz].
    """
    from contact_ddp_ros.ros.demo import Demo

    values, recorder = case.values, Recorder()
    demo = Demo(case.options, recorder)
    stalled: Sequence[float] = ()
    with contextlib.ExitStack() as stack:
        stack.enter_context(neighbours(values.get("neighbours", 0)))
        if values.get("observers"):
            stack.enter_context(observers(demo.variables, 1.0, 1.0))
        if "stall" in values:
            stall, every = values["stall"], values["every"]
            seed, begin = case.options.in_effect("seed"), _STAND - every
            stalled = stack.enter_context(stalls(demo.bounding_planner, stall, every, seed, begin))
        if "share" in values:
            stack.enter_context(throttled(demo.bounding_planner, values["share"]))
        demo.run()
        n_stalls = len(stalled)
    recording, half = recorder.finish(), 0.5 * case.options.duration
    fall = recording.fall
    return {
        **summary_figures(recording),
        "fall": "" if fall is None else fall.cause or fall.reason,
        "stands": sum("standing for want of policies" in event.text for event in recording.events),
        "stalls": n_stalls,
        "oldest": demo.worst("controller", "oldest policy followed [ms]"),
        "silence": demo.worst("simulator", "longest time without a command [ms]"),
        "cores": dict(recording.info.processors or {}),
        "rate": float((recording.solves["time"] >= half).sum()) / half,
    }


def _median(figure: str, form: Callable[[float], str]) -> Callable[[Group], str]:
    return lambda group: form(
        float(np.median([np.nan if one[figure] is None else one[figure] for one in group.figures]))
    )


def _worst(figure: str) -> Callable[[Group], str]:
    return lambda group: f"{max(np.nan if one[figure] is None else one[figure] for one in group.figures):.0f} ms"


def _cores(group: Group, node: str) -> str:
    """Processors that the process of a node kept busy; in brackets where another node shares it."""
    every = [pair for one in group.figures for pair in one["cores"].items()]
    found = [(cores, node == process) for process, cores in every if node in process]
    median = np.median([cores for cores, _ in found]) if found else float("nan")
    return f"{median:.2f}" if all(alone for _, alone in found) else f"({median:.2f})"


COLUMNS: Columns = {
    "condition": lambda group: group.name,
    "no fall": lambda group: f"{group.standing.successes} of {len(group.cases)}",
    "stood": lambda group: group.total("stands"),
    "stalls": lambda group: group.total("stalls"),
    "speed": _median("mean_speed", "{:.3f} m/s".format),
    "factor": _median("real_time_factor", "{:.3f}".format),
    "solves per second": _median("rate", "{:.1f}".format),
    "late": _median("deadline_miss_fraction", lambda share: f"{1e2 * share:.1f} %"),
    "solve": _median("solve_ms.median", "{:.1f} ms".format),
    "99 %": _median("solve_ms.p99", "{:.1f} ms".format),
    "iterations": _median("iterations_per_solve", "{:.2f}".format),
    "oldest policy": _worst("oldest"),
    "no command": _worst("silence"),
    **{node: partial(_cores, node=node) for node in NODES},
}


def metrics(groups: Sequence[Group]) -> list[Metric]:
    """Survival under each condition, and processor time without neighbours."""
    found = []
    for group in groups:
        upright, target = group.standing, None if group.name.startswith("4 ") else 1.0
        note = f"{upright.successes} of {upright.trials} runs, 95 %: {upright.lower:.2f} to {upright.upper:.2f}"
        found.append(Metric(f"no fall: {group.name}", upright.share, target, note, at_least=True))
    alone = [one for group in groups if group.name.startswith("0 ") for one in group.figures]
    late = [one["deadline_miss_fraction"] for one in alone]
    if late:
        found.append(Metric("share of late solves", float(np.median(late)), LATE, "without neighbours"))
    for process, target in CORES.items():
        cores = [one["cores"][process] for one in alone if process in one["cores"]]
        if cores:
            median, note = float(np.median(cores)), "without neighbours"
            found.append(Metric(f"processors kept busy by {process}", median, target, note))
    return found


def report(groups: Sequence[Group], options: argparse.Namespace) -> Findings:
    """Condition by condition, and what has targets."""
    found = metrics(groups)
    return Findings(
        title=f"The live nodes beside other work: {options.gait}",
        metrics=found,
        tables=[table_of("", groups, COLUMNS, whole_names=False, whole_numbers=False)],
        exit_code=int(any(one.met is False for one in found)),
    )


OPTIONS = (
    option("--runs", type=at_least(1), metavar="N", help="repetitions of every condition"),
    option("--gait", metavar="NAME", default="trot", help="packaged, or a file (default: trot)"),
    option("--only", metavar="TEXT", help="conditions whose name holds this text"),
    add_setting_option,
)

BENCHMARK = Benchmark(
    "realtime",
    __doc__,
    "one short run of each",
    Study(conditions, live_run, report),
    OPTIONS,
    conditions,
    resumable=True,
)
