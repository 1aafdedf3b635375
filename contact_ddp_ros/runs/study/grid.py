"""Grid: the study of `contact-ddp sweep`, a closed loop at every point of some axes with every seed.

It is checked before the first run, done with a journal, so that what was cut off goes on where it was, and saved run by
run as CSV and point by point as JSON.
"""

import csv
import hashlib
import io
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from rich.console import Console

from contact_ddp_ros import __version__
from contact_ddp_ros.base import versions as provenance
from contact_ddp_ros.base.errors import ContactDdpError, ParameterError
from contact_ddp_ros.base.files import new_folder, plain, write_json, write_text
from contact_ddp_ros.runs.figures import METRICS
from contact_ddp_ros.runs.options import ESTIMATED, SENSOR_ERRORS, RunOptions
from contact_ddp_ros.runs.recording import plain_options
from contact_ddp_ros.runs.report.progress import say
from contact_ddp_ros.runs.scenario import check_run
from contact_ddp_ros.runs.study.axes import Axis, options_at
from contact_ddp_ros.runs.study.batch import JOURNAL_FILE, Journal, LocalProcesses, run_all
from contact_ddp_ros.runs.study.study import Case, Group, groups_of, run_case

CSV_FILE, JSON_FILE = "study.csv", "study.json"

RUNS_FOLDER = "runs"
"""Folder of the recordings, where they are kept."""

NOISE = "simulator.noise."


@dataclass(frozen=True)
class Grid:
    """Axes around the options of a run, and how many seeds at each point."""

    options: RunOptions
    axes: Sequence[Axis]
    seeds: int = 1

    @property
    def points(self) -> list[dict[str, Any]]:
        """The points, the last axis changing fastest."""
        names = [axis.name for axis in self.axes]
        return [dict(zip(names, values)) for values in product(*(axis.values for axis in self.axes))]

    def check(self) -> None:
        """See that every point can be run.

        Raises:
            ParameterError: an axis is there twice or missing, a value is not allowed (the point is named), runs would
                follow the wall clock, or seeds would make no difference.
        """
        names = [axis.name for axis in self.axes]
        if not names:
            raise ParameterError("nothing is varied; give --set NAME=LOW:HIGH:COUNT")
        if len(set(names)) < len(names):
            raise ParameterError(f"{next(name for name in names if names.count(name) > 1)} is varied twice")
        if not self.options.lockstep:
            raise ParameterError("the runs of a study share the processors; they go in lock-step, not with --realtime")
        for point in self.points:
            try:
                options = options_at(self.options, point)
                check_run(options)
            except ContactDdpError as error:
                place = ", ".join(f"{name}={value}" for name, value in point.items())
                raise ParameterError(f"at {place}: {error}") from error
            if self.seeds > 1 and not _is_noisy(options):
                raise ParameterError(
                    f"{self.seeds} seeds would give {self.seeds} equal runs: nothing is random; add --noise, or set "
                    f"{NOISE}joint_positions or another of {NOISE}*"
                )

    def cases(self, folder: Path | None = None) -> list[Case]:
        """All runs, point by point; with a folder, their recordings are kept in folders of it."""
        found = []
        for number, point in enumerate(self.points):
            at_point = options_at(self.options, point)
            place = " ".join(f"{name}={value}" for name, value in point.items())
            for k in range(self.seeds):
                options = replace(at_point, seed=(self.options.in_effect("seed") + k))
                kept = None if folder is None else folder / RUNS_FOLDER / f"{number:04d}-seed-{options.seed}"
                found.append(Case(place, f"{place} seed={options.seed}", options, point, folder=kept))
        return found

    def settings(self) -> dict[str, Any]:
        """Settings that decide the results, as plain data."""
        return plain(  # type: ignore[no-any-return]
            {
                "axes": {axis.name: axis.values for axis in self.axes},
                "seeds": self.seeds,
                "options": plain_options(self.options),
                "config": None if self.options.config is None else self.options.config.read_text(encoding="utf-8"),
                "version": __version__,
                "commit": provenance.commit(),
            }
        )


def folder_name(grid: Grid) -> str:
    """A name that only the same grid has: what is repeated finds its own folder."""
    text = json.dumps(grid.settings(), sort_keys=True)
    return f"sweep-{hashlib.sha256(text.encode()).hexdigest()[:10]}"


def with_noise(options: RunOptions) -> RunOptions:
    """The options with the benchmarks' errors of the sensors, where they set none of their own."""
    return replace(options, overrides={**SENSOR_ERRORS, **options.overrides})


def run_grid(
    grid: Grid, folder: Path, console: Console, *, processes: int | None = None, keep: bool = False
) -> list[Group]:
    """A group for every point, after doing what the folder's journal does not hold yet.

    Args:
        grid: checked.
        folder: of the study; new, empty or begun by the same study.
        console: for the progress.
        processes: at a time, of one thread each; as many as there are cores where left out.
        keep: whether recordings are kept in the folder, too.

    Raises:
        BenchmarkError: the folder holds another study or a damaged journal, or a process died.
        ParameterError: it holds something else.
    """
    cases = grid.cases(folder if keep else None)
    goes_on = (folder / JOURNAL_FILE).exists()
    place = folder if goes_on else new_folder("sweep", folder)
    with Journal.begin_or_resume(place, grid.settings(), resume=goes_on, unset={}) as journal:
        finished = len(journal.finished)
        say(console, f"{len(grid.points)} points, {len(cases)} runs" + (f", {finished} done" if finished else ""))
        engine = LocalProcesses(processes or len(os.sched_getaffinity(0)))
        return groups_of(cases, run_all(run_case, cases, engine, console, journal))


def save(folder: Path, grid: Grid, found: Sequence[Group], metrics: Sequence[str]) -> None:
    """Write every run's figures as CSV, and the spread of the metrics at each point as JSON."""
    write_text(folder / CSV_FILE, as_csv(grid, found))
    record = {
        "settings": grid.settings(),
        "metrics": metrics,
        "points": [
            {
                "values": point.values,
                "runs": len(point.figures),
                "falls": point.falls,
                **{metric: point.spread(metric).__dict__ for metric in metrics},
            }
            for point in found
        ],
        "machine": provenance.machine(),
        "versions": provenance.versions(),
    }
    write_json(folder / JSON_FILE, record)


def as_csv(grid: Grid, found: Sequence[Group]) -> str:
    """A line for each run: values, seed, why it fell or failed, every figure."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = [axis.name for axis in grid.axes]
    writer.writerow([*names, "seed", "error", "fall_reason", *METRICS])
    for point in found:
        for case, one in zip(point.cases, point.figures):
            reasons = [one.get("error", ""), one.get("fall_reason") or ""]
            writer.writerow([*point.values.values(), case.options.seed, *reasons, *map(one.get, METRICS)])
    return text.getvalue()


def _is_noisy(options: RunOptions) -> bool:
    world = options.parameters("simulator")
    if options.state == ESTIMATED and world.get("imu.preset") != "ideal":
        return True
    return any(value for name, value in world.items() if name.startswith("noise."))
