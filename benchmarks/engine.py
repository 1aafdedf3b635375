"""Engines of a benchmark's jobs: processes, a Dask cluster or this process, as its options say."""

import argparse
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.benchmark import Run, at_least
from contact_ddp_ros.base import versions as provenance
from contact_ddp_ros.base.errors import BenchmarkError
from contact_ddp_ros.runs.report.progress import say
from contact_ddp_ros.runs.study.batch import AnyJob, Engine, Item, Journal, LocalProcesses, Result, run_all

_ANSWER = 10.0
"""Time that a scheduler gets to answer [s]."""


@dataclass(frozen=True)
class ThisProcess:
    """One item after the other, in their order, in this process."""

    size: int = 1

    def results(self, work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[tuple[int, Result]]:
        """Results of the items, each with its index."""
        for index, item in enumerate(items):
            yield index, work(item)


@dataclass(frozen=True)
class DaskCluster:
    """The workers of a Dask scheduler; this package must be installed there in the same versions."""

    address: str
    size: None = None

    def results(self, work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[tuple[int, Result]]:
        """Results of the items, each with its index."""
        try:
            from distributed import Client, as_completed
        except ModuleNotFoundError as error:
            raise BenchmarkError("--scheduler needs Dask: pip install -r requirements-bench.txt") from error
        try:
            client = Client(self.address, timeout=_ANSWER, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise BenchmarkError(f"no Dask scheduler answers at {self.address!r}: {error}") from error
        with client:
            check_workers(client)
            futures = client.map(work, items, pure=False)
            index = {future.key: position for position, future in enumerate(futures)}
            for future, result in as_completed(futures, loop=client.loop, with_results=True):
                yield index[future.key], result


def check_workers(client: Any) -> None:
    """Raises BenchmarkError where there is no worker, or one whose results may differ from ours."""
    own = provenance.versions()
    try:
        workers: Mapping[str, Mapping[str, str]] = client.run(provenance.versions)
    except ModuleNotFoundError as error:
        raise BenchmarkError(f"the workers of the Dask cluster lack the package {error.name!r}") from error
    if not workers:
        raise BenchmarkError("the Dask scheduler has no worker; start some with `dask worker ADDRESS`")
    for address, versions in workers.items():
        differing = [name for name in own if versions.get(name) != own[name]]
        if differing:
            found = ", ".join(f"{name} {versions.get(name, 'missing')} instead of {own[name]}" for name in differing)
            raise BenchmarkError(f"the Dask worker {address} has {found}; install what this machine has")


def add_engine_options(parser: argparse._ActionsContainer) -> None:
    """`--jobs` and `--scheduler`, which :func:`chosen_engine` reads."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--jobs", type=at_least(1), metavar="N", help="processes on this machine (default: its cores)")
    where.add_argument(
        "--scheduler", metavar="ADDRESS", help="address of a Dask cluster to use instead, e.g. tcp://host:8786"
    )


def chosen_engine(options: argparse.Namespace) -> Engine:
    """The engine that the options ask for; this process for a benchmark without them, which measures the machine."""
    if "jobs" not in options:
        return ThisProcess()
    if options.scheduler is not None:
        return DaskCluster(options.scheduler)
    return LocalProcesses(len(os.sched_getaffinity(0)) if options.jobs is None else options.jobs)


def do(work: Callable[[AnyJob], Any], jobs: Sequence[AnyJob], run: Run, journal: Journal | None = None) -> list[Any]:
    """Results of a benchmark's jobs in their order, on the engine that its options ask for; see :func:`run_all`."""
    try:
        return run_all(work, jobs, chosen_engine(run.options), run.terminal, journal)
    except KeyboardInterrupt:
        if journal is not None:
            say(run.terminal, f"Go on with --resume {run.folder}")
        raise
