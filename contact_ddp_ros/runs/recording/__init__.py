"""Recording of a closed-loop run, tick by tick and solve by solve.

A :class:`Recorder` is written into while the robot moves: one row per control tick, one per solve of the planner, and
events with a text. `finish` turns it into an immutable :class:`Recording`, from which the summary, the plots and the
video are made, and which :func:`save` and :func:`load` keep on disk.
"""

from contact_ddp_ros.runs.recording.info import FALL_HEIGHT, RunInfo, plain_options
from contact_ddp_ros.runs.recording.record import CONTROL_MODES, Event
from contact_ddp_ros.runs.recording.recorder import Recorder, RunLog
from contact_ddp_ros.runs.recording.recording import Recording
from contact_ddp_ros.runs.recording.storage import load, save

__all__ = [
    "CONTROL_MODES",
    "FALL_HEIGHT",
    "Event",
    "Recorder",
    "Recording",
    "RunInfo",
    "RunLog",
    "load",
    "plain_options",
    "save",
]
