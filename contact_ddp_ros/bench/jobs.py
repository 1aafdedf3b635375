"""Many independent pieces of work with a progress bar, on any engine, with a journal or without."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from contact_ddp_ros.bench.engine import Engine
from contact_ddp_ros.bench.journal import Journal
from contact_ddp_ros.errors import BenchmarkError

_PLAIN_LINES = 10
"""Lines of progress where the output is no terminal."""


class Job(Protocol):
    """A piece of work that can travel to another process."""

    @property
    def name(self) -> str:
        """Unique among the jobs of a run."""
        ...

    @property
    def cost(self) -> float:
        """How long it takes about, in any unit."""
        ...


AnyJob = TypeVar("AnyJob", bound=Job)


def run_all(
    work: Callable[[AnyJob], Any],
    jobs: Sequence[AnyJob],
    engine: Engine,
    terminal: Console,
    journal: Journal | None = None,
    fell: Callable[[Any], bool] | None = None,
) -> list[Any]:
    """Results in the order of the jobs; those that the journal holds are not worked on again.

    Args:
        work: a function of a module. Its result depends on the job only and, with a journal, is fit for JSON.
        jobs: the longest begin first, whatever their order.
        engine: where the work is done.
        terminal: for the progress bar.
        journal: where each result is kept as it comes; results are as it gives them back.
        fell: of a result, for people to see how many did.

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
    with _Bar(terminal, jobs, fell) as bar:
        bar.advance([job.cost for job in jobs if job.name in found], list(found.values()))
        for index, result in engine.results(work, todo):
            job = todo[index]
            found[job.name] = result if journal is None else journal.add(job.name, result)
            bar.advance([job.cost], [found[job.name]])
    return [found[name] for name in names]


class _Bar:
    """A progress bar whose length is the jobs' cost; plain lines where there is no terminal."""

    def __init__(self, terminal: Console, jobs: Sequence[Job], fell: Callable[[Any], bool] | None) -> None:
        self._terminal, self._fell = terminal, fell
        self._count, self._done, self._fallen, self._lines = len(jobs), 0, 0, 0
        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
        self._progress = Progress(*columns, console=terminal, transient=True, disable=not terminal.is_terminal)
        self._task = self._progress.add_task("runs", total=sum(job.cost for job in jobs))

    def __enter__(self) -> "_Bar":
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def advance(self, costs: Sequence[float], results: Sequence[Any]) -> None:
        """Some jobs are done."""
        self._done += len(results)
        self._fallen += 0 if self._fell is None else sum(self._fell(result) for result in results)
        text = f"{self._done} of {self._count} runs" + ("" if self._fell is None else f", {self._fallen} fell")
        self._progress.update(self._task, advance=sum(costs), description=text)
        lines = self._done * _PLAIN_LINES // max(self._count, 1)
        if not self._terminal.is_terminal and lines > self._lines:
            self._lines = lines
            self._terminal.print(text, highlight=False)
