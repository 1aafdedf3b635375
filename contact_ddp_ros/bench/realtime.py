"""`contact-ddp bench realtime`: do the live nodes keep the robot bounding on a machine that has other work?

Planner, controller and simulator run as processes on the wall clock, at 0.5 m/s, while something else happens:

- busy neighbours: 0, 1, 2 and 4 processes at normal priority that only compute;
- observers: once a second another process joins, subscribes to every topic, and leaves without a word;
- stalls: the planner's process is stopped for a while, again and again, at random phases.

Of every run: whether the robot fell and why, how often it had to stand for want of policies, the real-time factor, late
solves, the oldest policy that was followed, the longest time without a command, and the processors that each node kept
busy. A robot that stood and bounded again did not fall. `--set` tries other parameters, for one
`planner.node.scheduling.policy`.
"""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from contact_ddp_ros.bench.arguments import add_setting_option, benchmark_parser
from contact_ddp_ros.bench.disturbances import neighbours, observers, stalls
from contact_ddp_ros.bench.output import Figure, console, print_figures, save_record
from contact_ddp_ros.bench.statistics import wilson
from contact_ddp_ros.files import new_folder
from contact_ddp_ros.options import RunOptions
from contact_ddp_ros.recording import Recorder
from contact_ddp_ros.report.falls import first_fall
from contact_ddp_ros.report.summary import summarise
from contact_ddp_ros.report.terminal import say

SPEED = 0.5
"""Commanded speed [m/s]."""

NODES = ("controller", "planner", "simulator")
CORES = {"controller": 0.15, "planner": 0.35, "simulator": 0.3}
"""Processors that each node may keep busy without neighbours."""

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
        stall: time that the planner is stopped for, again and again [s]; zero for never.
        every: time between two stalls [s].
    """

    name: str
    runs: int
    duration: float
    neighbours: int = 0
    observers: bool = False
    stall: float = 0.0
    every: float = 1.5


@dataclass(frozen=True)
class Outcome:
    """What became of one run; ages in [ms], `cores` by node."""

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


def conditions(quick: bool, runs: int | None) -> list[Condition]:
    """All of them; `runs` in place of the number of repetitions."""
    duration = 10.0 if quick else 60.0
    some = 1 if quick else 10
    found = [
        Condition(f"{count} busy neighbours", runs or (some if count < 4 else max(1, some // 2)), duration, count)
        for count in (0, 1, 2, 4)
    ]
    found.append(Condition("observers come and go", runs or (1 if quick else 20), min(duration, 20.0), observers=True))
    for stall in (0.05, 0.1, 0.2, 0.3, 5.0):
        every = 1.5 if stall < _LONG else 4.0
        count = 3 if quick else 20
        found.append(
            Condition(
                f"planner stalled for {1e3 * stall:g} ms",
                runs or 1,
                _STAND + count * (every + stall) + 2.0,
                stall=stall,
                every=every,
            )
        )
    return found


def main(arguments: Sequence[str]) -> int:
    """Run, print and save; the exit code is 1 where a target was missed."""
    parser = benchmark_parser("realtime", __doc__ or "", "one short run of each")
    parser.add_argument("--runs", type=int, metavar="N", help="repetitions of every condition")
    parser.add_argument("--only", metavar="TEXT", help="conditions whose name holds this text")
    add_setting_option(parser)
    options = parser.parse_args(list(arguments))
    folder, terminal = new_folder("bench-realtime", options.out), console()
    chosen = [one for one in conditions(options.quick, options.runs) if (options.only or "") in one.name]
    if not chosen:
        parser.error(f"no condition's name holds {options.only!r}")
    outcomes = []
    for condition in chosen:
        for run in range(condition.runs):
            outcome = _run(condition, run, dict(options.set))
            outcomes.append(outcome)
            say(terminal, _line(condition, run, outcome))
    figures = _figures(outcomes)
    _print(terminal, outcomes)
    print_figures(terminal, "The live nodes beside other work", figures)
    settings = {"speed": SPEED, "conditions": [asdict(one) for one in chosen], "set": dict(options.set)}
    save_record(folder, "realtime", settings, {"outcomes": [asdict(one) for one in outcomes]}, figures)
    say(terminal, f"Saved in {folder}")
    return int(any(one.met is False for one in figures))


def _run(condition: Condition, seed: int, overrides: dict[str, Any]) -> Outcome:
    from contact_ddp_ros.nodes.demo import Demo

    patient = {"controller.bound.resume_timeout": _RESUME} if condition.stall >= _LONG else {}
    options = RunOptions(
        duration=condition.duration,
        speed=((0.0, SPEED),),
        lockstep=False,
        video=False,
        seed=seed,
        overrides={**patient, **overrides},
    )
    recorder = Recorder()
    demo = Demo(options, recorder)
    with contextlib.ExitStack() as stack:
        stalled = stack.enter_context(_disturbed(condition, demo, seed))
        demo.run()
        n_stalls = len(stalled)
    recording = recorder.finish()
    summary, fall = summarise(recording), first_fall(recording)
    return Outcome(
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
        cores={name: summary.processor_cores.get(name, float("nan")) for name in NODES},
    )


@contextlib.contextmanager
def _disturbed(condition: Condition, demo: Any, seed: int) -> Iterator[Sequence[float]]:
    with contextlib.ExitStack() as stack:
        stack.enter_context(neighbours(condition.neighbours))
        if condition.observers:
            stack.enter_context(observers(demo.variables, 1.0, 1.0))
        times: Sequence[float] = ()
        if condition.stall:
            times = stack.enter_context(
                stalls(demo.bounding_planner, condition.stall, condition.every, seed, begin=_STAND - condition.every)
            )
        yield times


def _line(condition: Condition, run: int, outcome: Outcome) -> str:
    words = f"fell: {outcome.fell}" if outcome.fell else f"no fall, {outcome.speed:.3f} m/s"
    stands = f", stood {outcome.stands} times" if outcome.stands else ""
    return f"{condition.name}, {run + 1} of {condition.runs}: {words}{stands}, {1e2 * outcome.late_solves:.1f} % late"


def _print(terminal: Console, outcomes: Sequence[Outcome]) -> None:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in ("condition", "no fall", "stood", "stalls", "speed", "factor", "late", "iterations"):
        table.add_column(heading, justify="left" if heading == "condition" else "right")
    for heading in ("oldest policy", "no command", *NODES):
        table.add_column(heading, justify="right")
    for name in dict.fromkeys(one.condition for one in outcomes):
        of = [one for one in outcomes if one.condition == name]
        table.add_row(
            name,
            f"{sum(not one.fell for one in of)} of {len(of)}",
            str(sum(one.stands for one in of)),
            str(sum(one.stalls for one in of)),
            f"{np.median([one.speed for one in of]):.3f} m/s",
            f"{np.median([one.real_time_factor for one in of]):.3f}",
            f"{1e2 * np.median([one.late_solves for one in of]):.1f} %",
            f"{np.median([one.iterations for one in of]):.2f}",
            f"{max(one.oldest_policy for one in of):.0f} ms",
            f"{max(one.longest_silence for one in of):.0f} ms",
            *(f"{np.median([one.cores[node] for one in of]):.2f}" for node in NODES),
        )
    terminal.print(table)


def _figures(outcomes: Sequence[Outcome]) -> list[Figure]:
    figures = []
    for name in dict.fromkeys(one.condition for one in outcomes):
        of = [one for one in outcomes if one.condition == name]
        upright = sum(not one.fell for one in of)
        share = wilson(upright, len(of))
        target = None if name.startswith("4 ") else 1.0
        note = f"{upright} of {len(of)} runs, 95 %: {share.lower:.2f} to {share.upper:.2f}"
        figures.append(Figure(f"no fall: {name}", upright / len(of), target, note, at_least=True))
    quiet = [one for one in outcomes if one.condition.startswith("0 ")]
    for node in NODES if quiet else ():
        cores = float(np.median([one.cores[node] for one in quiet]))
        figures.append(Figure(f"processors kept busy by the {node}", cores, CORES[node], "without neighbours"))
    return figures
