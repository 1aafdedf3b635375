"""What came of a study: point by point, for people and for programs."""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from contact_ddp_ros.base import versions as provenance
from contact_ddp_ros.base.files import write_json, write_text
from contact_ddp_ros.runs.study.axes import OF_FALLS, metric_names
from contact_ddp_ros.runs.study.grid import Study, StudyRun

CSV_FILE, JSON_FILE = "study.csv", "study.json"


@dataclass(frozen=True)
class Spread:
    """A figure over the runs of a point that count for it; NaN where none does."""

    mean: float
    low: float
    high: float
    runs: int


@dataclass(frozen=True)
class Point:
    """A point of the grid: its values, and the figures of its runs; `error` among them where one could not go on."""

    values: Mapping[str, Any]
    seeds: Sequence[int]
    outcomes: Sequence[Mapping[str, Any]]

    @property
    def falls(self) -> int:
        """How many of its runs fell, or could not go on."""
        return sum(bool(one.get("fell")) or "error" in one for one in self.outcomes)

    def counted(self, metric: str) -> list[float]:
        """A figure of the runs that count for it: those that did not fall, unless it is about falling."""
        if metric == "fell":
            return [float(bool(one.get("fell")) or "error" in one) for one in self.outcomes]
        own = [one for one in self.outcomes if metric in OF_FALLS or not one.get("fell")]
        return [float(one[metric]) for one in own if one.get(metric) is not None]

    def spread(self, metric: str) -> Spread:
        """Of a figure over those runs."""
        known = self.counted(metric)
        if not known:
            return Spread(math.nan, math.nan, math.nan, 0)
        return Spread(float(np.mean(known)), min(known), max(known), len(known))


def points(study: Study, runs: Sequence[StudyRun], outcomes: Sequence[Mapping[str, Any]]) -> list[Point]:
    """The outcomes, in the order of the runs, put together by point."""
    found = []
    for number, values in enumerate(study.points):
        own = [index for index, run in enumerate(runs) if run.point == number]
        seeds = [runs[index].options.seed for index in own]
        found.append(Point(values, seeds, [outcomes[index] for index in own]))
    return found


def save(folder: Path, study: Study, found: Sequence[Point], metrics: Sequence[str]) -> None:
    """Write every run's figures as CSV, and the spread of the metrics at each point as JSON."""
    write_text(folder / CSV_FILE, as_csv(study, found))
    record = {
        "settings": study.settings(),
        "metrics": metrics,
        "points": [
            {
                "values": point.values,
                "runs": len(point.outcomes),
                "falls": point.falls,
                **{metric: point.spread(metric).__dict__ for metric in metrics},
            }
            for point in found
        ],
        "machine": provenance.machine(),
        "versions": provenance.versions(),
    }
    write_json(folder / JSON_FILE, record)


def as_csv(study: Study, found: Sequence[Point]) -> str:
    """A line for each run: values, seed, why it fell or failed, every figure."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names, figures = [axis.name for axis in study.axes], metric_names()
    writer.writerow([*names, "seed", "error", "fall_reason", *figures])
    for point in found:
        for seed, one in zip(point.seeds, point.outcomes):
            reasons = [one.get("error", ""), one.get("fall_reason") or ""]
            writer.writerow([*point.values.values(), seed, *reasons, *(one.get(figure) for figure in figures)])
    return text.getvalue()
