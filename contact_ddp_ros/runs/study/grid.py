"""The runs of a study: every point of the grid, with every seed, checked before the first one begins."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from contact_ddp_ros import __version__
from contact_ddp_ros.base import versions as provenance
from contact_ddp_ros.base.errors import ContactDdpError, ParameterError
from contact_ddp_ros.base.files import plain
from contact_ddp_ros.runs.closed_loop import ClosedLoop
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.recording import Recorder, plain_options, save
from contact_ddp_ros.runs.report.compare.tables import figures_of
from contact_ddp_ros.runs.report.summary import summarise
from contact_ddp_ros.runs.run_checks import check_run
from contact_ddp_ros.runs.study.axes import Axis, options_at

RUNS_FOLDER = "runs"
"""Of the recordings, where they are kept."""

NOISE = "simulator.noise."


@dataclass(frozen=True)
class StudyRun:
    """One run: its point of the grid by number, its values, its options, and where to keep its recording."""

    point: int
    values: Mapping[str, Any]
    options: RunOptions
    folder: Path | None = None

    @property
    def name(self) -> str:
        """Unique in a study."""
        return run_name(self.values, self.options.seed)

    @property
    def cost(self) -> float:
        """Its simulated time [s]."""
        return self.options.duration


@dataclass(frozen=True)
class Study:
    """What is to be run: axes around the options of a run, and how many seeds at each point."""

    options: RunOptions
    axes: Sequence[Axis]
    seeds: int = 1

    @property
    def points(self) -> list[dict[str, Any]]:
        """The grid, the last axis changing fastest."""
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
                    f"{NOISE}position or another of {NOISE}*"
                )

    def runs(self, folder: Path | None = None) -> list[StudyRun]:
        """All runs, point by point; with a folder, their recordings are kept in folders of it."""
        found = []
        for number, point in enumerate(self.points):
            at_point = options_at(self.options, point)
            for k in range(self.seeds):
                options = replace(at_point, seed=self.options.seed + k)
                place = None if folder is None else folder / RUNS_FOLDER / f"{number:04d}-seed-{options.seed}"
                found.append(StudyRun(number, point, options, place))
        return found

    def settings(self) -> dict[str, Any]:
        """What decides the results, as plain data."""
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


def folder_name(study: Study) -> str:
    """A name that only the same study has: what is repeated finds its own folder."""
    text = json.dumps(study.settings(), sort_keys=True)
    return f"sweep-{hashlib.sha256(text.encode()).hexdigest()[:10]}"


def run_name(values: Mapping[str, Any], seed: int) -> str:
    """Of one run."""
    return " ".join([*(f"{name}={value}" for name, value in values.items()), f"seed={seed}"])


def perform(run: StudyRun) -> dict[str, Any]:
    """Run one closed loop; its figures, or `error` where it could not go on."""
    try:
        recording = ClosedLoop(run.options, Recorder(plans_every=run.options.record_plans)).run()
    except ContactDdpError as error:
        return {"error": str(error)}
    if run.folder is not None:
        save(recording, run.folder)
    return figures_of(summarise(recording))


def _is_noisy(options: RunOptions) -> bool:
    noise = {name: value for name, value in options.simulator_parameters().items() if name.startswith("noise.")}
    return any(value for value in noise.values())
