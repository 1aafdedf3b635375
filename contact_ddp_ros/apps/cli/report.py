"""Report of a recording by the command line: a table, summary.json, figures and a film."""

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from contact_ddp_ros.base.errors import ContactDdpError
from contact_ddp_ros.runs import figures
from contact_ddp_ros.runs import recording as records
from contact_ddp_ros.runs.recording import Recording
from contact_ddp_ros.runs.report import motion, plots, video
from contact_ddp_ros.runs.report.progress import closing_table, progress_bar, say, working

PICTURES_LOG = "pictures.log"
"""Output of the process that draws in the background."""

EXIT_FELL = 3
"""Exit code of a run that went its way, but in which the robot fell or never stood."""


def run(arguments: argparse.Namespace) -> int:
    """Summary, plots and video of a recorded run."""
    report(records.load(arguments.folder), arguments.folder, Console(), film=not arguments.no_video)
    return 0


def save_and_report(recording: Recording, folder: Path, console: Console, *, film: bool) -> dict[str, Any]:
    """Save a recording and all that is made from it; gives its figures. Who is at a terminal waits for no picture."""
    records.save(recording, folder)
    return report(recording, folder, console, film=film, wait=not console.is_terminal)


def report(recording: Recording, folder: Path, console: Console, *, film: bool, wait: bool = True) -> dict[str, Any]:
    """Print the closing table and save everything that is made from a recording; gives its figures.

    Pictures are drawn by a process in the background unless they are to be waited for.
    """
    found = figures.figures_of(recording)
    figures.save(recording, folder)
    console.print(motion.table(recording) if recording.motion else closing_table(recording, found))
    if not found["stood"]:
        told = "; ".join(f"at {event.time:g} s {event.text}" for event in recording.events)
        say(console, f"The robot never stood: {told or 'nothing that was recorded says why'}")
    if not wait:
        _draw_in_background(folder, film)
        say(console, f"Saved in {folder}; pictures are drawn in the background, see {PICTURES_LOG} there")
        return found
    say(console, f"Saved in {folder}; pictures follow, Ctrl-C leaves them out")
    try:
        with working(console, "Drawing plots"):
            plots.save_all(recording, folder)
        if film:
            _film(recording, folder, console)
    except KeyboardInterrupt:
        say(console, f"Pictures are left out; contact-ddp report {folder} makes them")
    return found


def _draw_in_background(folder: Path, film: bool) -> None:
    """Start `contact-ddp report` for the folder, which goes on when this process and its terminal have ended."""
    words = [sys.executable, "-m", "contact_ddp_ros.apps.cli", "report", str(folder)]
    with (folder / PICTURES_LOG).open("wb") as log:
        subprocess.Popen(
            words if film else [*words, "--no-video"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def _film(recording: Recording, folder: Path, console: Console) -> None:
    """Render the video; where that is impossible say so and go on, for everything else is there."""
    try:
        with progress_bar(console, "Rendering the video") as advance:
            video.render_recording(recording, folder / video.VIDEO_FILE, progress=advance)
            video.render_still(recording, folder / video.STILL_FILE)
    except ContactDdpError as error:
        say(console, f"No video: {error}")
