"""`contact-ddp bench soak`: the real nodes bound for an hour of simulated time; does anything grow, drift or fail?

Planner, controller and simulator run as processes of their own in lock-step, or with `--one-process` without ROS in
one. The speed command goes slowly up and down and a push comes now and then. Every few simulated seconds each process
is looked at. Memory after a warm-up gets a trend with its 95 % interval: it grows, it does not, or the run was too
short to tell. In lock-step the rates of planner and controller are exact: any deviation is a lost or doubled message.
Ctrl-C or SIGTERM ends the run and keeps what was measured.
"""

import argparse
import math
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from benchmarks.benchmark import Benchmark, Findings, Run, option
from benchmarks.output import Metric, number, table_of
from benchmarks.ros.soak_tally import FellError, Sample, Seen, Tally, processes, rates, run_loop, series
from benchmarks.timing import Spread, Trend, trend
from contact_ddp_ros.base.errors import BenchmarkError, NodeError, ParameterError
from contact_ddp_ros.base.process import interruptible
from contact_ddp_ros.mpc.config import PlannerConfig
from contact_ddp_ros.plants.pushes import Push
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.report.style import LIMIT, MUTED, POINT_COLOURS, figure, legend

Array = NDArray[np.float64]

GROWTH = 1.0
"""Largest growth of a process's memory [MB per simulated hour]."""

WARM_UP = 0.2
"""Share of the run before memory, files, threads and rates count."""

_FILLED = 30.0
"""Time in which caches and the middleware's histories have surely filled; the warm-up of a short run is longer [s]."""

_LONGEST_WARM_UP = 0.5
"""Share of the run that the warm-up takes at most."""

_JUDGED = 1200.0
"""Time after the warm-up from which memory is judged [s]: in less, one step of an allocator is an hour's allowance."""

_HOUR = 3600.0
_QUICK = 20.0
_LOOKS = 600
"""Looks in a run, unless they would come too quickly or too slowly."""

_EVERY = (0.25, 5.0)
"""Shortest and longest time between two looks [s]."""

_SPEEDS, _SPEED_TIME = (0.2, 0.8), 30.0
"""The commanded speed goes from one to the other [m/s] and back, each way in this time [s]."""

PUSHES = ((0.0, 20.0, 0.0), (20.0, 0.0, 0.0), (0.0, -20.0, 0.0), (-20.0, 0.0, 0.0))
_PUSH_EVERY, _PUSH_TIME = 15.0, 0.1
"""Forces that take turns [N], when, and for how long [s]."""

_EXACT = 1e-6
"""Relative deviation of a rate that rounding of stamps explains."""

OBSERVER = "observer"
"""This process beside the nodes."""

_MEMORY = "memory of the "
_INTERRUPTED = "interrupted"

_STYLES = ("-", "--", "-.", ":")

_LINES = 20
"""Lines of progress where the output is no terminal."""

Through = Callable[[RunOptions, float, Seen, Callable[[Sample], None]], None]
"""Runs options, looks every so often [s], adds to what was seen and then tells the sample."""


def schedule(duration: float) -> RunOptions:
    """Commands and pushes of that time [s]: speed up and down, pushes in turns."""
    turns = math.ceil(duration / _SPEED_TIME) + 1
    speed = tuple((i * _SPEED_TIME, _SPEEDS[i % 2]) for i in range(turns))
    count = math.ceil(duration / _PUSH_EVERY) - 1
    pushes = tuple(Push((i + 1) * _PUSH_EVERY, PUSHES[i % len(PUSHES)], _PUSH_TIME) for i in range(count))
    return RunOptions(duration=duration, speed=speed, ramp=True, pushes=pushes)


def watch(options: RunOptions, every: float, terminal: Console, through: Through) -> tuple[str, Seen]:
    """Run it all the way; why that ended early, if it did, and what was seen."""
    columns = (BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    seen = Seen()
    with Progress(*columns, console=terminal, transient=True, disable=not terminal.is_terminal) as bar:
        task = bar.add_task("starting", total=options.duration)
        lines = options.duration / _LINES

        def show(sample: Sample) -> None:
            text = _progress(seen.samples[0], sample, options.duration)
            bar.update(task, completed=sample["time"], description=text)
            if not terminal.is_terminal and int(sample["time"] / lines) > int((sample["time"] - every) / lines):
                terminal.print(text, highlight=False)

        try:
            with interruptible():
                through(options, every, seen, show)
        except KeyboardInterrupt:
            return _INTERRUPTED, seen
        except (FellError, NodeError, BenchmarkError) as error:
            return str(error), seen
    return "", seen


def _through_nodes(options: RunOptions, every: float, seen: Seen, listener: Callable[[Sample], None]) -> None:
    """Let the nodes run, this process beside them."""
    from contact_ddp_ros.ros.demo import Demo

    tally = Tally(every, lambda: {**demo.processes, OBSERVER: os.getpid()}, listener)
    tally.seen = seen
    demo = Demo(options, tally)
    demo.run()


def _progress(first: Sample, last: Sample, duration: float) -> str:
    elapsed = last["wall_time"] - first["wall_time"]
    factor = (last["time"] - first["time"]) / elapsed if elapsed > 0.0 else 0.0
    memory = "  ".join(f"{name} {last[f'{name} memory']:.1f}" for name in processes(last))
    return f"{last['time']:.0f} / {duration:g} s at {factor:.2f} of real time; MB: {memory}"


def after_warm_up(samples: Sequence[Sample]) -> Sequence[Sample]:
    """The samples of the last part of the run, two at least."""
    end = samples[-1]["time"]
    begin = min(max(WARM_UP * end, _FILLED), _LONGEST_WARM_UP * end)
    later = [sample for sample in samples if sample["time"] >= begin]
    return later if len(later) > 1 else samples[-2:]


def memory_trends(samples: Sequence[Sample]) -> dict[str, Trend]:
    """Per process, growth of memory [MB per simulated hour]."""
    memory = {name: series(samples, f"{name} memory") for name in processes(samples[0])}
    return {name: trend(series(samples, "time"), one).scaled(_HOUR) for name, one in memory.items()}


def _long_enough(steady: Sequence[Sample]) -> bool:
    return steady[-1]["time"] - steady[0]["time"] >= _JUDGED


def _verdict(growth: Trend, steady: Sequence[Sample]) -> bool | None:
    """Verdict on memory; None where the run is too short to tell."""
    return growth.verdict(GROWTH) if _long_enough(steady) else None


def _rate_metrics(samples: Sequence[Sample]) -> list[Metric]:
    from contact_ddp_ros.ros.node_config import SimulatorNodeOptions

    seen = rates(samples)
    found = []
    for name, rate in (("solves", PlannerConfig().rate), ("ticks", 1.0 / SimulatorNodeOptions().period)):
        worst = float(np.abs(seen[name] / rate - 1.0).max())
        found += [
            Metric(f"{name} per simulated second", Spread.of(seen[name]), None, f"{rate:g} asked for", "Hz"),
            Metric("    largest deviation between two looks", worst, _EXACT, "relative"),
        ]
    solve_ms = series(samples, "solve_ms")
    drift = _interval(trend(series(samples, "time"), solve_ms).scaled(_HOUR), "ms per hour")
    return [
        *found,
        Metric("simulated / wall-clock time", Spread.of(seen["real time"]), None, "the machine's other work included"),
        Metric("mean solve between two looks", Spread.of(solve_ms), None, drift, "ms"),
    ]


def _growth_metrics(samples: Sequence[Sample], growth: Mapping[str, Trend]) -> list[Metric]:
    found = []
    for name, one in growth.items():
        note, limit = _interval(one), None
        if name == OBSERVER:
            note += "; it keeps what it measures"
        else:
            note += {True: "", False: "; grows", None: "; too short to be sure"}[_verdict(one, samples)]
            limit = GROWTH if _long_enough(samples) else None
        found.append(Metric(f"{_MEMORY}{name} grows by", one.slope, limit, note, "MB/h"))
    for what, noun in (("descriptors", "open files"), ("threads", "threads")):
        grown = max(float(np.diff(series(samples, f"{name} {what}")[[0, -1]])[0]) for name in growth)
        found.append(Metric(f"{noun} more at the end than after the warm-up", grown, 0.0, "of any process"))
    return found


def _event_metrics(seen: Seen) -> list[Metric]:
    return [
        Metric("faults", len(seen.faults), 0.0, "; ".join(seen.faults[:3])),
        Metric("falls", float(seen.fell is not None), 0.0, seen.fell or f"{seen.pushes} pushes"),
        Metric("policies refused by the controller", seen.refusals, 0.0),
        Metric("solves without a policy", seen.failed_solves, 0.0),
    ]


def _interval(one: Trend, unit: str = "") -> str:
    return f"95 %: {number(one.lower)} to {number(one.upper)} {unit}".rstrip()


def _process_table(samples: Sequence[Sample], steady: Sequence[Sample]) -> Table:
    """Every process at the beginning, after the warm-up and at the end."""
    looks = samples[0], steady[0], samples[-1]

    def memory(look: Sample) -> Callable[[str], str]:
        return lambda name: f"{look[f'{name} memory']:.1f}"

    def work(name: str) -> str:
        spent = samples[-1][f"{name} processor_time"] - steady[0][f"{name} processor_time"]
        return number(spent / (samples[-1]["time"] - steady[0]["time"]))

    columns: dict[str, Callable[[str], object]] = {
        "process": str,
        **dict(zip(("MB at first", "after warm-up", "at the end"), map(memory, looks), strict=True)),
        "files": lambda name: samples[-1][f"{name} descriptors"],
        "threads": lambda name: samples[-1][f"{name} threads"],
        "CPU s / simulated s": work,
    }
    return table_of("Processes", processes(samples[0]), columns, whole_names=False, whole_numbers=False)


def draw(samples: Sequence[Sample], growth: Mapping[str, Trend], warm: float, path: Path) -> None:
    """Draw memory, work, rates and speed over time; `growth` [MB/h] is that from `warm` [s] on."""
    times, found = series(samples, "time"), rates(samples)
    used = {name: np.diff(series(samples, f"{name} processor_time")) / np.diff(times) for name in growth}
    speed = np.hypot(*(np.diff(series(samples, name)) for name in "xy")) / np.diff(times)
    commanded = series(samples, "commanded_speed")[1:]
    with figure(path, 11.0, 6.4, f"Bounding for {times[-1]:.0f} simulated seconds") as drawn:
        (memory, work), (counts, ground) = drawn.subplots(2, 2, sharex=True)
        _draw_memory(memory, times, samples, growth, warm)
        _lines(work, "Processor time", times, used, "per simulated time [s / s]")
        told = {name: found[name] for name in ("ticks", "solves")}
        _lines(counts, "Rates", times, told, "per simulated second [Hz]")
        _lines(ground, "Speed", times, {"over ground": speed, "commanded": commanded}, "[m/s]")
        factor = counts.twinx()
        factor.plot(times[1:], found["real time"], color=MUTED, linewidth=0.9)
        factor.set_ylabel("simulated / wall-clock time", color=MUTED)
        factor.set_ylim(bottom=0.0)
        factor.grid(visible=False)
        for one in (memory, work, counts, ground):
            one.axvspan(0.0, warm, color="#f3f3f3", zorder=0, linewidth=0)
            one.set_xlim(0.0, times[-1])
        for one in (counts, ground):
            one.set_xlabel("simulated time [s]; grey: warm-up")


def _lines(axes: Axes, title: str, times: Array, values: Mapping[str, Array], unit: str) -> None:
    """A line for each of some quantities between two looks."""
    axes.set_title(title)
    for (name, one), style, colour in zip(values.items(), _STYLES, POINT_COLOURS):
        axes.plot(times[1:], one, style, color=colour, label=name)
    axes.set_ylabel(unit)
    axes.set_ylim(bottom=0.0)
    legend(axes)


def _draw_memory(axes: Axes, times: Array, samples: Sequence[Sample], growth: Mapping[str, Trend], warm: float) -> None:
    """Resident memory relative to that at the end of the warm-up; what came before may leave the panel."""
    axes.set_title("Memory since the warm-up")
    begin, largest = int(np.searchsorted(times, warm)), GROWTH
    for (name, one), style, colour in zip(growth.items(), _STYLES, POINT_COLOURS):
        memory = series(samples, f"{name} memory")
        largest = max(largest, float(np.abs(memory[begin:] - memory[begin]).max()))
        label = f"{name}: {memory[begin]:.0f} MB, {one.slope:+.2f} MB/h"
        axes.plot(times, memory - memory[begin], style, color=colour, label=label)
    span = times[-1] - warm
    axes.plot([warm, times[-1]], [0.0, GROWTH * span / _HOUR], color=LIMIT, linewidth=0.9, label=f"{GROWTH:g} MB/h")
    axes.set_ylabel("resident [MB]")
    axes.set_ylim(-2.2 * largest, 1.2 * largest)
    axes.legend(loc="lower right")


def _measure(run: Run) -> Findings:
    duration, one_process = _duration(run.options), run.options.one_process
    every = min(max(duration / _LOOKS, _EVERY[0]), _EVERY[1])
    ending, seen = watch(schedule(duration), every, run.terminal, run_loop if one_process else _through_nodes)
    samples = seen.samples
    if len(samples) < 2:
        raise BenchmarkError(f"nothing was measured: {ending or 'the run was too short'}")
    steady = after_warm_up(samples)
    growth = memory_trends(steady)
    found = [*_rate_metrics(steady), *_growth_metrics(steady, growth), *_event_metrics(seen)]
    surely_grows = any(_verdict(one, steady) is False for name, one in growth.items() if name != OBSERVER)
    missed = any(one.met is False for one in found if not one.name.startswith(_MEMORY))
    return Findings(
        settings={
            "duration": duration,
            "one_process": one_process,
            "every": every,
            "warm_up": WARM_UP,
            "growth_mb_per_hour": GROWTH,
        },
        results={
            "ended_early": ending,
            "simulated_s": samples[-1]["time"],
            "wall_s": samples[-1]["wall_time"] - samples[0]["wall_time"],
            "pushes": seen.pushes,
            "faults": seen.faults,
            "fall": seen.fell,
            "memory_mb_per_hour": growth,
            "samples": samples,
        },
        title=f"Soak, {samples[-1]['time']:.0f} simulated seconds",
        metrics=found,
        tables=[_process_table(samples, steady)],
        remarks=[f"Ended early: {ending}"] if ending else [],
        drawings={"soak.png": lambda path: draw(samples, growth, steady[0]["time"], path)},
        exit_code=int(surely_grows or missed or ending not in ("", _INTERRUPTED)),
    )


def _duration(options: argparse.Namespace) -> float:
    if options.duration is not None:
        return float(options.duration)
    return _QUICK if options.quick else _HOUR


def _check(options: argparse.Namespace) -> None:
    if not 1.0 <= _duration(options) < math.inf:
        raise ParameterError(f"duration is {options.duration} s; it must be at least 1 s")


OPTIONS = (
    option("--one-process", action="store_true", help="the same loop without ROS in a process of its own"),
    option("--duration", type=float, metavar="S", help=f"simulated time (default {_HOUR:g})"),
)

BENCHMARK = Benchmark("soak", __doc__, f"{_QUICK:g} simulated seconds", _measure, OPTIONS, _check)
