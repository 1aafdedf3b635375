"""Cases, groups and runs of a benchmark's study, as tests want them."""

import argparse
from collections.abc import Sequence
from typing import Any

from benchmarks.benchmark import Benchmark
from benchmarks.study import Study
from contact_ddp_ros.runs.study.study import Case, Group, groups_of

COSTS = {"partials": 0.2, "curved_sweep": 0.65, "flat_sweep": 0.4, "rollout": 0.15}


def options_of(benchmark: Benchmark, *words: str) -> argparse.Namespace:
    """The options that words on the command line give, with costs of the solver's stages."""
    options = benchmark._parser().parse_args(words)
    options.costs = COSTS
    return options


def cases_of(benchmark: Benchmark, *words: str) -> Sequence[Case]:
    """The cases of a study that words on the command line ask for."""
    assert isinstance(benchmark.measure, Study)
    return benchmark.measure.cases(options_of(benchmark, *words))


def group(name: str, *figures: dict[str, Any], **case: Any) -> Group:
    """A group whose cases differ by their figures only."""
    cases = [Case(name, f"{name} #{k}", **case) for k in range(len(figures))]
    (found,) = groups_of(cases, [{"fall": "", **one} for one in figures])
    return found
