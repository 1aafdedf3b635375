"""`contact-ddp export`: a recorded run for Foxglove, rerun or a browser."""

import argparse
import math
from importlib import import_module
from pathlib import Path

from rich.console import Console

from contact_ddp_ros.base.errors import ParameterError, RecordingError
from contact_ddp_ros.base.files import written_whole
from contact_ddp_ros.runs.recording import load
from contact_ddp_ros.runs.report.progress import say, working

MODULES = {"mcap": "mcap_file", "rerun": "rerun_file", "html": "html_file"}
"""Modules of the formats."""

LIBRARIES = {"mcap": {"foxglove"}, "rerun": {"rerun"}, "html": {"viser", "trimesh"}}

GROUPS = {"html": "play"}
"""Groups of packages that hold the libraries, where it is not `export`."""

FILE_STEM = "run"


def export(arguments: argparse.Namespace) -> int:
    """Write the file whole, in the run's folder unless told otherwise."""
    kind = arguments.to
    try:
        writer = import_module(f"contact_ddp_ros.runs.export.{MODULES[kind]}")
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in LIBRARIES[kind]:
            raise
        file = f"requirements-{GROUPS.get(kind, 'export')}.txt"
        raise RecordingError(f"--to {kind} needs the Python package {library}: pip install -r {file}") from error
    path: Path = arguments.out or arguments.folder / f"{FILE_STEM}{writer.SUFFIX}"
    if path.suffix != writer.SUFFIX:
        raise ParameterError(f"{path.name} has the suffix {path.suffix!r}; a file for {kind} ends in {writer.SUFFIX}")
    recording = load(arguments.folder)
    times = recording.ticks["time"]
    if not len(times):
        raise RecordingError(f"the recording in {arguments.folder} has no tick to export")
    console = Console()
    with working(console, f"Writing {path.name}"), written_whole(path) as temporary:
        writer.write(recording, temporary)
    longest = getattr(writer, "LONGEST", math.inf)
    part = f", the first {longest:g} s of {times[-1] - times[0]:.1f} s" if times[-1] - times[0] > longest else ""
    say(console, f"Saved {path} ({path.stat().st_size / 1e6:.1f} MB{part})")
    return 0
