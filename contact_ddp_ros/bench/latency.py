"""`contact-ddp bench latency`: the way of a state to the torque that answers it, hop by hop, over LCM and ROS 2.

Bridge and controller run as they do on the robot, in processes of their own and in real time, on a standing robot; this
process plays the robot (:mod:`contact_ddp_ros.nodes.latency`). Ways take turns, round by round. These are elapsed
times, which is what a robot feels: a machine that does other things shows in the upper percentiles, less in the medians
and least in the ratios of one round.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.console import Console
from rich.table import Table

from contact_ddp_ros.bench.arguments import benchmark_parser
from contact_ddp_ros.bench.latency_figure import draw
from contact_ddp_ros.bench.output import Figure, console, number, print_figures, save_record
from contact_ddp_ros.bench.timing import Spread
from contact_ddp_ros.files import new_folder
from contact_ddp_ros.report.terminal import progress_bar, say

Array = NDArray[np.float64]

PERIOD_MS = 2.0
"""Of control, which the whole way should keep within [ms]."""

WATCHDOG_MS = 20.0
"""Silence after which joints damp, which the slowest word should stay below [ms]."""

HOPS = {
    "robot → bridge (LCM)": ("sent", "stamp"),
    "bridge → topic": ("stamp", "heard"),
    "topic → controller → topic": ("heard", "commanded"),
    "topic → bridge → robot (LCM)": ("commanded", "executed"),
}
"""Hops of the way and the instants at their ends."""

WHOLE = "state → torque"

_ROUNDS, _SAMPLES = 20, 250
_QUICK_ROUNDS, _QUICK_SAMPLES = 5, 100
_PERCENTILES = (50.0, 90.0, 99.0, 100.0)
_NS_PER_MS = 1e6


def main(arguments: Sequence[str]) -> int:
    """Measure, print, save and draw; the exit code."""
    from contact_ddp_ros.nodes.latency import BRIDGE, ITSELF, TOPICS, measure

    options = benchmark_parser("latency", __doc__, quick="fewer samples").parse_args(arguments)
    folder, terminal = new_folder("bench-latency", options.out), console()
    rounds, samples = (_QUICK_ROUNDS, _QUICK_SAMPLES) if options.quick else (_ROUNDS, _SAMPLES)
    with progress_bar(terminal, WHOLE) as advance:
        journeys = measure(rounds, samples, advance)
    hops = {hop: _times(journeys[BRIDGE], *ends) for hop, ends in HOPS.items()}
    ways = {
        WHOLE: _times(journeys[BRIDGE], "sent", "executed"),
        "the same without the bridge": _times(journeys[TOPICS], "sent", "commanded"),
        "LCM to itself": _times(journeys[ITSELF], "sent", "executed"),
    }
    whole, without, _ = ways.values()
    asked = rounds * samples
    answered = sum(map(len, whole))
    figures = _figures(whole, without, 1.0 - answered / asked)
    _print_percentiles(terminal, {**hops, **ways})
    print_figures(terminal, "Latency", figures)
    parts = {**hops, **ways}
    results = {
        "period_ms": PERIOD_MS,
        "percentiles": {name: _percentiles(times) for name, times in parts.items()},
        "spread_ms": {name: Spread.of(np.concatenate(times)).as_json() for name, times in parts.items()},
    }
    save_record(folder, "latency", {"rounds": rounds, "samples": samples, "period_ms": PERIOD_MS}, results, figures)
    draw({name: np.concatenate(times) for name, times in hops.items()}, ways, PERIOD_MS, folder / "latency.png")
    say(terminal, f"Saved in {folder}")
    return 0


def _times(rounds: Sequence[Sequence[Any]], begin: str, end: str) -> list[Array]:
    """(samples,) elapsed times per round [ms]; rounds in which everything was lost are left out."""
    times = [np.array([getattr(one, end) - getattr(one, begin) for one in journeys]) for journeys in rounds if journeys]
    return [each / _NS_PER_MS for each in times]


def _figures(whole: Sequence[Array], without: Sequence[Array], lost: float) -> list[Figure]:
    medians = np.array([[np.median(a), np.median(b)] for a, b in zip(whole, without)])
    slowest = float(np.percentile(np.concatenate(whole), 99.0))
    note = f"p99 over the period: {slowest / PERIOD_MS:.2f}"
    return [
        Figure(WHOLE, Spread.of(np.concatenate(whole)), PERIOD_MS, note, "ms"),
        Figure("    99th percentile", slowest, WATCHDOG_MS, "the watchdog's patience", "ms"),
        Figure("    with the bridge / without", Spread.of(medians[:, 0] / medians[:, 1]), None, "medians of a round"),
        Figure("    what the bridge adds", Spread.of(medians[:, 0] - medians[:, 1]), None, "medians of a round", "ms"),
        Figure("    states without an answer", lost, None, "share of those sent"),
    ]


def _percentiles(times: Sequence[Array]) -> dict[str, float]:
    """Percentiles over all rounds [ms]."""
    return {f"p{percentile:g}": float(np.percentile(np.concatenate(times), percentile)) for percentile in _PERCENTILES}


def _print_percentiles(terminal: Console, parts: Mapping[str, Sequence[Array]]) -> None:
    """Every hop and every way: percentiles, and the median's share of a control period."""
    table = Table(title="Elapsed times, ms", box=box.SIMPLE_HEAD, title_justify="left")
    table.add_column("hop or way")
    for percentile in _PERCENTILES:
        table.add_column("max" if percentile == 100.0 else f"p{percentile:g}", justify="right")
    table.add_column("p50 / period", justify="right")
    for name, times in parts.items():
        found = _percentiles(times)
        table.add_row(name, *map(number, found.values()), number(found["p50"] / PERIOD_MS))
    terminal.print(table)
