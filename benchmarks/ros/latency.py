"""`contact-ddp bench latency`: the way of a state to the torque that answers it, hop by hop, over LCM and ROS 2.

Bridge and controller run as they do on the robot, in processes of their own and in real time, on a standing robot; this
process plays the robot (:mod:`benchmarks.ros.latency_probe`). Ways take turns, round by round. These are elapsed
times, which is what a robot feels: a machine that does other things shows in the upper percentiles, less in the medians
and least in the ratios of one round.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray
from rich.table import Table

from benchmarks.benchmark import Benchmark, Findings, Run
from benchmarks.output import Metric, number, table_of
from benchmarks.timing import Spread
from contact_ddp_ros.runs.report.panels import bars
from contact_ddp_ros.runs.report.progress import progress_bar
from contact_ddp_ros.runs.report.style import LIMIT, POINT_COLOURS, figure

Array = NDArray[np.float64]

PERIOD_MS = 2.0
"""Period of control, which the whole way should keep within [ms]."""

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

_SHOWN = (50.0, 90.0, 99.0)
_STYLES = ("-", "--", ":")


def _times(rounds: Sequence[Sequence[Any]], begin: str, end: str) -> list[Array]:
    """(samples,) elapsed times per round [ms]; rounds in which everything was lost are left out."""
    times = [np.array([getattr(one, end) - getattr(one, begin) for one in journeys]) for journeys in rounds if journeys]
    return [each / _NS_PER_MS for each in times]


def _metrics(whole: Sequence[Array], without: Sequence[Array], lost: float) -> list[Metric]:
    medians = np.array([[np.median(a), np.median(b)] for a, b in zip(whole, without)])
    slowest = float(np.percentile(np.concatenate(whole), 99.0))
    note = f"p99 over the period: {slowest / PERIOD_MS:.2f}"
    return [
        Metric(WHOLE, Spread.of(np.concatenate(whole)), PERIOD_MS, note, "ms"),
        Metric("    99th percentile", slowest, WATCHDOG_MS, "the watchdog's patience", "ms"),
        Metric("    with the bridge / without", Spread.of(medians[:, 0] / medians[:, 1]), None, "medians of a round"),
        Metric("    what the bridge adds", Spread.of(medians[:, 0] - medians[:, 1]), None, "medians of a round", "ms"),
        Metric("    states without an answer", lost, None, "share of those sent"),
    ]


def _percentiles(times: Sequence[Array]) -> dict[str, float]:
    """Percentiles over all rounds [ms]."""
    return {f"p{percentile:g}": float(np.percentile(np.concatenate(times), percentile)) for percentile in _PERCENTILES}


def _table(parts: Mapping[str, Sequence[Array]]) -> Table:
    """Every hop and every way: percentiles, and the median's share of a control period."""

    def percentile(name: str) -> Callable[[str], str]:
        return lambda part: number(_percentiles(parts[part])[name])

    columns: dict[str, Callable[[str], str]] = {
        "hop or way": str,
        **{name: percentile(name) for name in ("p50", "p90", "p99")},
        "max": percentile("p100"),
        "p50 / period": lambda part: number(_percentiles(parts[part])["p50"] / PERIOD_MS),
    }
    return table_of("Elapsed times, ms", parts, columns, whole_names=False, whole_numbers=False)


def draw(hops: Mapping[str, Sequence[Array]], ways: Mapping[str, Sequence[Array]], path: Path) -> None:
    """Draw hops and ways, rounds of (samples,) each [ms], beside the control period."""
    with figure(path, 11.0, 4.2, "From a state to the torque that answers it") as drawn:
        left, right = drawn.subplots(1, 2)
        _draw_hops(left, {name: np.concatenate(times) for name, times in hops.items()})
        _draw_ways(right, {name: np.concatenate(times) for name, times in ways.items()})


def _draw_hops(axes: Axes, hops: Mapping[str, Array]) -> None:
    """A bar per hop: its median, with a line to the 90th and a dot at the 99th percentile; numbers: median and 99th."""
    axes.set_title("Hops")
    shown = {name: np.percentile(times, _SHOWN) for name, times in hops.items()}
    medians = {name: median for name, (median, _, _) in shown.items()}
    bars(axes, medians, POINT_COLOURS, [(median, most) for median, most, _ in shown.values()])
    for row, (median, _, nearly_all) in enumerate(shown.values()):
        axes.plot(nearly_all, row, "o", color="black", markersize=4)
        axes.text(nearly_all, row, f"   {median:.2f} / {nearly_all:.2f} ms", va="center", fontsize=8)
    axes.margins(x=0.3)
    axes.set_xlabel("elapsed [ms]; bar: median, line: to the 90th percentile, dot: 99th")


def _draw_ways(axes: Axes, ways: Mapping[str, Array]) -> None:
    """Share of the words that took longer than a time."""
    axes.set_title("Whole ways")
    for (name, times), style, colour in zip(ways.items(), _STYLES, POINT_COLOURS):
        ordered = np.sort(times)
        longer = 1.0 - np.arange(ordered.size) / ordered.size
        axes.plot(ordered, longer, style, color=colour, label=name, drawstyle="steps-post")
    axes.axvline(PERIOD_MS, color=LIMIT, linewidth=0.9)
    axes.text(PERIOD_MS, 1.0, " control period", color=LIMIT, fontsize=8, va="bottom")
    axes.set(xscale="log", yscale="log", xlabel="elapsed [ms]", ylabel="share that took longer")
    axes.legend(loc="lower left")


def _measure(run: Run) -> Findings:
    from benchmarks.ros.latency_probe import BRIDGE, ITSELF, TOPICS, measure

    rounds, samples = (_QUICK_ROUNDS, _QUICK_SAMPLES) if run.options.quick else (_ROUNDS, _SAMPLES)
    with progress_bar(run.terminal, WHOLE) as advance:
        journeys = measure(rounds, samples, advance)
    hops = {hop: _times(journeys[BRIDGE], *ends) for hop, ends in HOPS.items()}
    whole = _times(journeys[BRIDGE], "sent", "executed")
    without = _times(journeys[TOPICS], "sent", "commanded")
    itself = _times(journeys[ITSELF], "sent", "executed")
    ways = {WHOLE: whole, "the same without the bridge": without, "LCM to itself": itself}
    parts = {**hops, **ways}
    lost = 1.0 - sum(map(len, whole)) / (rounds * samples)
    return Findings(
        settings={"rounds": rounds, "samples": samples, "period_ms": PERIOD_MS},
        results={
            "period_ms": PERIOD_MS,
            "percentiles": {name: _percentiles(times) for name, times in parts.items()},
            "spread_ms": {name: Spread.of(np.concatenate(times)) for name, times in parts.items()},
        },
        title="Latency",
        metrics=_metrics(whole, without, lost),
        tables=[_table(parts)],
        drawings={"latency.png": lambda path: draw(hops, ways, path)},
    )


BENCHMARK = Benchmark("latency", __doc__, "fewer samples", _measure)
