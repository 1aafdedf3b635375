"""One iteration over a horizon whose tail is a rigid body, beside one over as many knots of the whole body."""

from typing import Any

from benchmarks.output import Metric
from benchmarks.solver.case import tailed_cases
from benchmarks.solver.iteration import ITERATION, STAGES, ours
from benchmarks.timing import Progress, interleave

TARGET_TIME = 2.0
"""Processor time of an iteration [ms]."""

PUBLISHED = "Cafe-MPC: 5.3 ms of multiple-shooting iLQR, four threads"

_TAILED, _WHOLE = "tail", "whole"


def measure(rounds: int, repeats: int, progress: Progress) -> tuple[Any, list[Metric]]:
    """Rounds of both in turn."""
    tailed, whole = tailed_cases()
    candidates = {_TAILED: ours(tailed, "ddp"), _WHOLE: ours(whole, "ddp")}
    times = interleave(candidates, rounds, repeats, progress)
    own, here = times.spread(_TAILED, ITERATION, 1e3), (_TAILED, ITERATION)
    found = [
        Metric("DDP, 25 knots and 10 of a rigid body, one iteration", own, TARGET_TIME, PUBLISHED, "ms"),
        *(Metric(f"    {stage}", times.spread(_TAILED, stage, 1e3), unit="ms") for stage in STAGES),
        Metric("    / 35 knots of the whole body", times.ratio(here, (_WHOLE, ITERATION))),
    ]
    return {name: times.spread(name, ITERATION, 1e3) for name in candidates}, found
