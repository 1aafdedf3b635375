"""Differences between runs, as rows of text and numbers: their settings, and their outcomes.

Runs that are to be compared: recordings with a short name and a colour each.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.colors import to_hex

from contact_ddp_ros.base.config import dotted
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.base.files import plain
from contact_ddp_ros.runs.figures import figures_of, numbers_of
from contact_ddp_ros.runs.options import SHORT_FOR
from contact_ddp_ros.runs.recording import Recording, RunInfo, load
from contact_ddp_ros.runs.report.style import commit_words

_COLOURS = ("#1b1b1b", "#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5c00")
"""Colours of up to eight runs; more have a colour map's."""


@dataclass(frozen=True)
class NamedRun:
    """A recording with its figures, a name that no other run of the comparison has, and its colour."""

    name: str
    colour: str
    recording: Recording
    figures: Mapping[str, Any]


def load_runs(folders: Sequence[Path], names: Sequence[str] = ()) -> tuple[NamedRun, ...]:
    """Read the runs of some folders; without `names` each is called by the end of its path that tells it from others.

    Raises:
        ParameterError: there are less than two folders, one is given twice, or the names do not fit them.
        RecordingError: a folder holds no recording that can be read, or one without a tick.
    """
    if len(folders) < 2:
        raise ParameterError(f"{len(folders)} run to compare; give the folders of two or more")
    places = [folder.resolve() for folder in folders]
    for index, place in enumerate(places):
        if place in places[:index]:
            raise ParameterError(f"{folders[index]} is given twice; compare different runs")
    if names and len(names) != len(folders):
        raise ParameterError(f"{len(names)} names for {len(folders)} runs; give one for each, or none")
    if len(set(names)) < len(names):
        raise ParameterError(f"the names {', '.join(names)} are not all different")
    return named(list(names) or short_names(places), [load(folder) for folder in folders])


def named(names: Sequence[str], recordings: Sequence[Recording]) -> tuple[NamedRun, ...]:
    """Recordings with their names.

    Raises:
        ParameterError: one has no tick.
    """
    for name, recording in zip(names, recordings, strict=True):
        if not len(recording.ticks["time"]):
            raise ParameterError(f"run {name} has no tick to compare")
    colours = _colours(len(names))
    return tuple(
        NamedRun(name, colour, recording, numbers_of(figures_of(recording)))
        for name, colour, recording in zip(names, colours, recordings, strict=True)
    )


def short_names(places: Sequence[Path]) -> list[str]:
    """The last parts of the paths, as many of them as make all different."""
    longest = max(len(place.parts) for place in places)
    for count in range(1, longest + 1):
        names = ["/".join(place.parts[-count:]) for place in places]
        if len(set(names)) == len(names):
            return names
    return [str(place) for place in places]


def _colours(count: int) -> list[str]:
    if count <= len(_COLOURS):
        return list(_COLOURS[:count])
    return [to_hex(mpl.colormaps["viridis"](0.95 * index / (count - 1))) for index in range(count)]


ABSENT = "–"
"""Stands for what a run does not tell."""

NEGLIGIBLE = 1e-9
"""Numbers of less than this in every run are rounding: they are no difference [of any unit]."""

_ELSEWHERE = ("config", "overrides")
"""Options that the parameters in effect tell in full."""


@dataclass(frozen=True)
class Row:
    """One thing, and its value in each run, in their order: numbers, texts, truths or None."""

    name: str
    values: tuple[Any, ...]

    @property
    def differs(self) -> bool:
        """True if two runs have values that are not the same; numbers that are all negligible are."""
        if all(is_number(value) and abs(value) < NEGLIGIBLE for value in self.values):
            return False
        return any(value != self.values[0] for value in self.values[1:])


def settings(runs: Sequence[NamedRun]) -> list[Row]:
    """Everything about how the runs were made: commands first, then parameters, then code and machine."""
    return _rows([_settings(run.recording.info) for run in runs])


def figures(runs: Sequence[NamedRun]) -> list[Row]:
    """The figures of the runs, without the words of a fall."""
    return [row for row in _rows([run.figures for run in runs]) if row.name != "fall"]


def words(value: Any) -> str:
    """A value as people read it: four figures, short lists."""
    if value is None:
        return ABSENT
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        if re.fullmatch(r"[0-9a-f]{40}\+?", value):
            return commit_words(value).removeprefix("commit ")
        return Path(value).name if value.startswith("/") else value or ABSENT
    if is_number(value):
        value = 0.0 if abs(value) < NEGLIGIBLE else value
        return f"{value:.0f}" if float(value).is_integer() and abs(value) < 1e9 else f"{value:.4g}"
    if isinstance(value, Mapping) and {"time", "force", "duration"} <= value.keys():
        force = ", ".join(f"{component:g}" for component in value["force"])
        return f"{value['time']:g} s: ({force}) N for {value['duration']:g} s"
    if isinstance(value, list | tuple):
        return "; ".join(words(entry) if isinstance(entry, Mapping) else _pair(entry) for entry in value) or "none"
    return json.dumps(value, ensure_ascii=False)


def is_number(value: Any) -> bool:
    """True if a value is a number; truths are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def change(first: Any, other: Any) -> str:
    """Change of a figure from the first run's, in words; empty where there is none, or it cannot be said."""
    if not (is_number(first) and is_number(other)) or first == other:
        return ""
    if max(abs(first), abs(other)) < NEGLIGIBLE:
        return ""
    if first and first * other > 0.0 and abs(other - first) < 2.0 * abs(first):
        return f"{100.0 * (other - first) / abs(first):+.1f} %"
    return f"{other - first:+.3g}"


def _pair(entry: Any) -> str:
    if isinstance(entry, list | tuple) and len(entry) == 2:
        return f"{words(entry[1])} from {words(entry[0])} s"
    return words(entry)


def _settings(info: RunInfo) -> dict[str, Any]:
    options = {name: value for name, value in plain(info.options).items() if name not in _ELSEWHERE}
    parameters = dotted(plain(info.parameters or {}))
    same = {short for name, short in SHORT_FOR.items() if name in options and parameters.get(short) == options[name]}
    return {
        "job": info.job,
        **options,
        **{name: value for name, value in parameters.items() if name not in same},
        "commit": info.commit or None,
        **{f"version of {name}": version for name, version in (info.versions or {}).items()},
        **{f"machine: {name}": value for name, value in (info.machine or {}).items()},
    }


def _rows(columns: Sequence[Mapping[str, Any]]) -> list[Row]:
    names = dict.fromkeys(name for column in columns for name in column)
    return [Row(name, tuple(column.get(name) for column in columns)) for name in names]
