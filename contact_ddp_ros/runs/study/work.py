"""Doing what a study asks for, with a journal: a study that was cut off goes on where it was."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from contact_ddp_ros.base.config import dotted
from contact_ddp_ros.base.errors import BenchmarkError
from contact_ddp_ros.base.files import new_folder
from contact_ddp_ros.runs.options import SENSOR_NOISE, RunOptions
from contact_ddp_ros.runs.report.progress import say
from contact_ddp_ros.runs.study.batch import LocalProcesses, run_all
from contact_ddp_ros.runs.study.grid import Study, StudyRun, perform
from contact_ddp_ros.runs.study.journal import JOURNAL_FILE, Journal
from contact_ddp_ros.runs.study.results import Point, points

_NAMED = 3
"""Differences to another study that are named at most."""


def outcomes(
    study: Study, folder: Path, console: Console, *, processes: int | None = None, keep: bool = False
) -> list[Point]:
    """What came of every point, after doing what the folder's journal does not hold yet.

    Args:
        study: checked.
        folder: of the study; new, empty or begun by the same study.
        console: for the progress.
        processes: at a time, of one thread each; as many as there are cores where left out.
        keep: whether recordings are kept in the folder, too.

    Raises:
        BenchmarkError: the folder holds another study or a damaged journal, or a process died.
        ParameterError: it holds something else.
    """
    runs: list[StudyRun] = study.runs(folder if keep else None)
    with _journal(folder, study) as journal:
        finished = len(journal.finished)
        say(console, f"{len(study.points)} points, {len(runs)} runs" + (f", {finished} done" if finished else ""))
        engine = LocalProcesses(processes or len(os.sched_getaffinity(0)))
        found: list[dict[str, Any]] = run_all(perform, runs, engine, console, journal)
    return points(study, runs, found)


def with_noise(options: RunOptions) -> RunOptions:
    """The options with the benchmarks' noise of the measured states, where they set none of their own."""
    return replace(options, overrides={**SENSOR_NOISE, **options.overrides})


def _journal(folder: Path, study: Study) -> Journal:
    settings = study.settings()
    if not (folder / JOURNAL_FILE).exists():
        return Journal.create(new_folder("sweep", folder), settings)
    journal = Journal.resume(folder)
    before, now = dotted(journal.settings), dotted(settings)
    differing = [name for name in dict.fromkeys([*before, *now]) if before.get(name) != now.get(name)]
    if differing:
        journal.close()
        words = [f"{name} is {before.get(name, 'absent')}" for name in differing[:_NAMED]] + ["…"] * (
            len(differing) > _NAMED
        )
        raise BenchmarkError(f"{folder} holds another study: {'; '.join(words)}; give another --out, or remove it")
    return journal
