"""Runs that are to be compared: recordings with a short name and a colour each."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
from matplotlib.colors import to_hex

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.runs.recording import Recording, load
from contact_ddp_ros.runs.report.summary import Summary, summarise

_COLOURS = ("#1b1b1b", "#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5c00")
"""Of up to eight runs; of more, a colour map's."""


@dataclass(frozen=True)
class NamedRun:
    """A recording with its summary, a name that no other run of the comparison has, and its colour."""

    name: str
    colour: str
    recording: Recording
    summary: Summary


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
        NamedRun(name, colour, recording, summarise(recording))
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
