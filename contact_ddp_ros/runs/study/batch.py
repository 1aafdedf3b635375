"""Independent pieces of work, done in processes of this machine or by another engine, with a journal or without.

An engine takes a function of a module and things to call it with, and hands results back as they come, each with the
index of its item. What a call gives must depend on its item only, so neither the engine nor the order shows in the
results.
"""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from threading import Thread
from typing import Any, Protocol, TypeVar

from rich.console import Console

from contact_ddp_ros.base.errors import BenchmarkError
from contact_ddp_ros.base.process import environment
from contact_ddp_ros.runs.report.progress import progress_bar
from contact_ddp_ros.runs.study.journal import Journal

Item = TypeVar("Item")
Result = TypeVar("Result")

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""Environment of a process that leaves the other cores to its siblings."""


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
        """Number of items that are worked on at a time; None where that is not known."""
        ...


@dataclass(frozen=True)
class LocalProcesses:
    """Fresh processes of one thread each; one that dies ends the run with an error instead of a wait without end."""

    size: int

    def results(self, work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[tuple[int, Result]]:
        """Results of the items, each with its index."""
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


def depend_on_the_parent() -> None:
    """Ctrl-C reaches every process of the terminal: the parent alone decides what it means. No child outlives it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        Thread(target=_end_after, args=(parent,), daemon=True).start()


def _end_after(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


class Job(Protocol):
    """A piece of work that can travel to another process."""

    @property
    def name(self) -> str:
        """Unique among the jobs of a run."""
        ...

    @property
    def cost(self) -> float:
        """Expected duration, in any unit."""
        ...


AnyJob = TypeVar("AnyJob", bound=Job)


def run_all(
    work: Callable[[AnyJob], Any],
    jobs: Sequence[AnyJob],
    engine: Engine,
    terminal: Console,
    journal: Journal | None = None,
) -> list[Any]:
    """Results in the order of the jobs; those that the journal holds are not worked on again.

    Args:
        work: a function of a module. Its result depends on the job only and, with a journal, is fit for JSON.
        jobs: the longest begin first, whatever their order.
        engine: where the work is done.
        terminal: for the progress bar.
        journal: where each result is kept as it comes; results are as it gives them back.

    Raises:
        BenchmarkError: names are not unique, or the journal holds one that no job has.
    """
    names = [job.name for job in jobs]
    if len(set(names)) < len(names):
        raise BenchmarkError(f"{len(names) - len(set(names))} jobs share their names with others")
    found: dict[str, Any] = {} if journal is None else dict(journal.finished)
    strange = sorted(set(found) - set(names))
    if strange:
        raise BenchmarkError(f"the journal holds {len(strange)} results of other jobs, such as {strange[0]!r}")
    todo = sorted((job for job in jobs if job.name not in found), key=lambda job: -job.cost)
    whole, done = sum(job.cost for job in jobs), sum(job.cost for job in jobs if job.name in found)
    with progress_bar(terminal, f"{len(todo)} runs") as advance:
        for index, result in engine.results(work, todo):
            job = todo[index]
            found[job.name] = result if journal is None else journal.add(job.name, result)
            done += job.cost
            advance(done / whole)
    return [found[name] for name in names]
