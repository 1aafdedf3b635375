"""Independent pieces of work, done in processes of this machine or by another engine, with a journal or without.

An engine takes a function of a module and things to call it with, and hands results back as they come, each with the
index of its item. What a call gives must depend on its item only, so neither the engine nor the order shows in the
results.

Journal of a long benchmark: finished items as lines of JSON, so that a run that was cut off can go on.

The first line holds the settings, each further one the name of a finished item and its result. A line is on the disk
before the next item counts as finished; one that was torn by a crash is cut off when the journal is opened again.
"""

import json
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import Any, Protocol, TypeVar

from rich.console import Console

from contact_ddp_ros import __version__
from contact_ddp_ros.base.config import dotted
from contact_ddp_ros.base.errors import BenchmarkError
from contact_ddp_ros.base.files import plain
from contact_ddp_ros.base.process import environment
from contact_ddp_ros.runs.report.progress import progress_bar

JOURNAL_FILE = "journal.jsonl"

_NAMED = 3
"""Differences of settings that are named at most."""


class Journal:
    """An open journal; a context manager.

    Attributes:
        settings: of the benchmark, as plain data. finished: result by name, as JSON gives it back.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any], finished: dict[str, Any]) -> None:
        """Opens the file for more lines; use :meth:`create` or :meth:`resume`."""
        self.settings, self.finished = settings, finished
        self._file = path.open("a", encoding="utf-8")

    @classmethod
    def create(cls, folder: Path, settings: Mapping[str, Any]) -> "Journal":
        """Begin a journal in a folder that has none.

        Raises:
            BenchmarkError: it has one.
        """
        path = folder / JOURNAL_FILE
        if path.exists():
            raise BenchmarkError(f"{path} exists; --resume {folder} goes on with it")
        journal = cls(path, _through_json(settings), {})
        journal._write({"settings": settings})
        return journal

    @classmethod
    def resume(cls, folder: Path) -> "Journal":
        """Open a folder's journal to go on with it.

        Raises:
            BenchmarkError: there is none, or it is damaged in another place than its end.
        """
        path = folder / JOURNAL_FILE
        try:
            content = path.read_bytes()
        except OSError as error:
            raise BenchmarkError(f"nothing to resume in {folder}: cannot read {path.name}: {error.strerror}") from error
        whole = content[: content.rfind(b"\n") + 1]
        lines = [_parsed(path, number, line) for number, line in enumerate(whole.splitlines(), 1)]
        if not lines or "settings" not in lines[0]:
            raise BenchmarkError(
                f"{path} does not begin with the settings of a benchmark; start anew in another folder"
            )
        if len(whole) < len(content):
            with path.open("r+b") as file:
                file.truncate(len(whole))
        return cls(path, lines[0]["settings"], {line["name"]: line["result"] for line in lines[1:]})

    @classmethod
    def begin_or_resume(
        cls,
        folder: Path,
        wanted: Mapping[str, Any],
        measured: Callable[[], Mapping[str, Any]] = dict,
        *,
        resume: bool,
        unset: Mapping[str, Any] | None = None,
    ) -> "Journal":
        """The journal of a new run with the settings that are wanted, or of a run that goes on with its own.

        Args:
            wanted: settings by the names of their options.
            measured: more of them, found once at the beginning of a new run.
            resume: go on; then what is wanted must be what the run has.
            unset: values that stand for settings that were left out; empty where none was, None where all were.

        Raises:
            BenchmarkError: there is no run to go on with, or it was begun with another version or other settings.
        """
        if not resume:
            return cls.create(folder, {**wanted, **measured(), "version": __version__})
        journal = cls.resume(folder)
        begun, now = dotted(journal.settings), dotted(plain({**wanted, "version": __version__}))
        free = dotted(plain(wanted if unset is None else unset))
        names = dict.fromkeys([*begun, *now] if unset == {} else now)
        differing = [
            name for name in names if now.get(name) != begun.get(name) and (not free or now.get(name) != free.get(name))
        ]
        if differing:
            journal.close()
            words = [f"{name} is {begun.get(name, 'absent')}" for name in differing[:_NAMED]]
            raise BenchmarkError(
                f"{folder} was begun with other settings: {'; '.join(words + ['…'] * (len(differing) > _NAMED))}; "
                "leave them out, give another --out, or remove it"
            )
        return journal

    def add(self, name: str, result: Any) -> Any:
        """Keep a result; returns it as it will be read back: tuples as lists, numbers that are not finite as None."""
        self._write({"name": name, "result": result})
        self.finished[name] = _through_json(result)
        return self.finished[name]

    def close(self) -> None:
        """Close the journal; nothing can be added afterwards."""
        self._file.close()

    def __enter__(self) -> "Journal":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _write(self, line: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(plain(line), allow_nan=False, ensure_ascii=False) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())


def _through_json(data: Any) -> Any:
    return json.loads(json.dumps(plain(data), allow_nan=False))


def _parsed(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except ValueError as error:
        raise BenchmarkError(f"line {number} of {path} is damaged: {error}; start anew in another folder") from error
    if not isinstance(entry, dict) or not ("settings" in entry if number == 1 else entry.keys() == {"name", "result"}):
        raise BenchmarkError(f"line {number} of {path} is no entry of a journal; start anew in another folder")
    return entry


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
