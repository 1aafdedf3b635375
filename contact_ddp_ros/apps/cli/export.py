"""`contact-ddp export`: a recorded run for Foxglove or rerun."""

import argparse
from importlib import import_module
from pathlib import Path

from rich.console import Console

from contact_ddp_ros.base.errors import ParameterError, RecordingError
from contact_ddp_ros.base.files import written_whole
from contact_ddp_ros.runs.recording import load
from contact_ddp_ros.runs.report.progress import say, working

MODULES = {"mcap": "mcap_file", "rerun": "rerun_file"}
"""Modules of the formats."""

LIBRARIES = {"mcap": "foxglove", "rerun": "rerun"}

FILE_STEM = "run"


def export(arguments: argparse.Namespace) -> int:
    """Write the file whole, in the run's folder unless told otherwise."""
    kind = arguments.to
    try:
        writer = import_module(f"contact_ddp_ros.runs.export.{MODULES[kind]}")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != LIBRARIES[kind]:
            raise
        raise RecordingError(
            f"--to {kind} needs the Python package {LIBRARIES[kind]}: pip install -r requirements-export.txt"
        ) from error
    path: Path = arguments.out or arguments.folder / f"{FILE_STEM}{writer.SUFFIX}"
    if path.suffix != writer.SUFFIX:
        raise ParameterError(f"{path.name} has the suffix {path.suffix!r}; a file for {kind} ends in {writer.SUFFIX}")
    recording = load(arguments.folder)
    if not len(recording.ticks["time"]):
        raise RecordingError(f"the recording in {arguments.folder} has no tick to export")
    console = Console()
    with working(console, f"Writing {path.name}"), written_whole(path) as temporary:
        writer.write(recording, temporary)
    say(console, f"Saved {path} ({path.stat().st_size / 1e6:.1f} MB)")
    return 0
