"""How the jobs of a benchmark are done: where its options say, with a journal or without."""

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.benchmark import Run, at_least
from contact_ddp_ros.runs.report.progress import say
from contact_ddp_ros.runs.study.batch import AnyJob, DaskCluster, Engine, LocalProcesses, Result, run_all
from contact_ddp_ros.runs.study.journal import Journal


def add_engine_options(parser: argparse._ActionsContainer) -> None:
    """`--jobs` and `--scheduler`, which :func:`chosen_engine` reads."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--jobs", type=at_least(1), metavar="N", help="processes on this machine (default: its cores)")
    where.add_argument(
        "--scheduler", metavar="ADDRESS", help="address of a Dask cluster to use instead, e.g. tcp://host:8786"
    )


def chosen_engine(options: argparse.Namespace) -> Engine:
    """The engine that the options ask for."""
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


def journalled(
    work: Callable[[AnyJob], Result],
    jobs: Sequence[AnyJob],
    run: Run,
    settings: Mapping[str, Any],
    kind: Callable[..., Result],
) -> list[Result]:
    """The same with a journal, so that `--resume` goes on where the jobs follow from the settings.

    The results are of a `kind` that is made from what the journal keeps: a dataclass of plain fields, or a dictionary.
    """
    with Journal.begin_or_resume(run.folder, settings, resume=run.resumes) as journal:
        return [kind(**one) for one in do(work, jobs, run, journal)]
