"""Title of a run in a line, for the heads of figures and for the film."""

from pathlib import Path

from contact_ddp_ros.runs.options import ESTIMATED
from contact_ddp_ros.runs.recording.recording import Recording

_COMMIT = 7
"""Letters of a commit that are told."""


def run_title(recording: Recording) -> str:
    """Job, robot, gait, speed, solver, clock, ground, source of the state and commit; what is usual is left out."""
    info, options = recording.info, recording.info.options
    terrain = str(options.get("terrain", "flat"))
    parts = [
        f"{info.job}: {Path(str(options.get('robot', 'robot'))).stem}",
        options["motion"]["name"] if recording.motion else f"{gait_name(recording)} at {speed_words(recording)}",
        str(options.get("variant", "")),
        "lock-step" if options.get("lockstep", True) else "real time",
        "" if terrain == "flat" else terrain,
        "estimated state" if options.get("state") == ESTIMATED else "",
        commit_words(info.commit),
    ]
    return ", ".join(part for part in parts if part)


def gait_name(recording: Recording) -> str:
    """Name of the gait at the beginning, and of those that it is changed to."""
    first = str((recording.info.parameters or {}).get("planner", {}).get("gait.name", "bound"))
    names = [first, *(str(name) for _, name in recording.info.options.get("gaits", ()))]
    return ", ".join(Path(name).stem for name in names)


def speed_words(recording: Recording) -> str:
    """The commanded speed, or its range."""
    speeds = [float(speed) for _, speed in recording.info.options.get("speed", ())]
    if not speeds:
        return "an unknown speed"
    low, high = min(speeds), max(speeds)
    return f"{low:g} m/s" if low == high else f"{low:g} to {high:g} m/s"


def commit_words(commit: str | None) -> str:
    """A commit, shortened, with the `+` of a changed checkout; empty where none is known."""
    return f"commit {commit[:_COMMIT]}{'+' if commit.endswith('+') else ''}" if commit else ""
