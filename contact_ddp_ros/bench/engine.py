"""Where independent pieces of work are done: in processes of this machine, or on a Dask cluster.

Both take a function of a module and things to call it with, and hand results back as they come, each with the index of
its item. What a call gives must depend on its item only, so neither the engine nor the order shows in the results.
"""

import argparse
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from threading import Thread
from typing import Any, Protocol, TypeVar

from contact_ddp_ros import provenance
from contact_ddp_ros.environment import environment
from contact_ddp_ros.errors import BenchmarkError, ParameterError

Item = TypeVar("Item")
Result = TypeVar("Result")

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""Environment of a process that leaves the other cores to its siblings."""

_ANSWER = 10.0
"""Time that a scheduler gets to answer [s]."""


class Engine(Protocol):
    """Does work somewhere."""

    def results(self, work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[tuple[int, Result]]:
        """`work` of every item, in the order in which they finish, each with the item's index.

        Raises:
            BenchmarkError: the engine cannot be reached, or a process of it died.
        """
        ...

    @property
    def size(self) -> int | None:
        """How many items are worked on at a time; None where that is not known."""
        ...


@dataclass(frozen=True)
class LocalProcesses:
    """Fresh processes of one thread each; one that dies ends the run with an error instead of a wait without end."""

    size: int

    def results(self, work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[tuple[int, Result]]:
        """As the protocol says."""
        if not items:
            return
        context = multiprocessing.get_context("spawn")
        with (
            environment(ONE_THREAD),
            ProcessPoolExecutor(min(self.size, len(items)), context, depend_on_the_parent) as pool,
        ):
            futures = {pool.submit(work, item): index for index, item in enumerate(items)}
            try:
                for future in as_completed(futures):
                    yield futures[future], future.result()
            except BrokenProcessPool as error:
                raise BenchmarkError(f"a process of the benchmark died; is there memory for {self.size}?") from error
            finally:
                pool.shutdown(cancel_futures=True)


@dataclass(frozen=True)
class DaskCluster:
    """The workers of a Dask scheduler; this package must be installed there in the same versions."""

    address: str
    size: None = None

    def results(self, work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[tuple[int, Result]]:
        """As the protocol says."""
        try:
            from distributed import Client, as_completed
        except ModuleNotFoundError as error:
            raise BenchmarkError("--scheduler needs Dask: pip install -r requirements-bench.txt") from error
        try:
            client = Client(self.address, timeout=_ANSWER, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise BenchmarkError(f"no Dask scheduler answers at {self.address!r}: {error}") from error
        with client:
            _check_workers(client)
            futures = client.map(work, items, pure=False)
            index = {future.key: position for position, future in enumerate(futures)}
            for future, result in as_completed(futures, loop=client.loop, with_results=True):
                yield index[future.key], result


def add_engine_options(parser: argparse._ActionsContainer) -> None:
    """`--jobs` and `--scheduler`, which :func:`chosen_engine` reads."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--jobs", type=int, metavar="N", help="processes on this machine (default: its cores)")
    where.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask cluster to use instead, e.g. tcp://host:8786")


def chosen_engine(options: argparse.Namespace) -> Engine:
    """The engine that the options ask for.

    Raises:
        ParameterError: there is to be no process at all.
    """
    if options.scheduler is not None:
        return DaskCluster(options.scheduler)
    jobs = len(os.sched_getaffinity(0)) if options.jobs is None else options.jobs
    if jobs < 1:
        raise ParameterError(f"--jobs is {jobs}; it must be at least 1")
    return LocalProcesses(jobs)


def _check_workers(client: Any) -> None:
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


def depend_on_the_parent() -> None:
    """Ctrl-C reaches every process of the terminal: the parent alone decides what it means. No child outlives it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        Thread(target=_end_after, args=(parent,), daemon=True).start()


def _end_after(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)
