"""Link of the page to a robot: commands there; answers, worlds and the newest snapshot back.

Two kinds exist: a loop in a process of its own (:mod:`contact_ddp_ros.apps.play.process`), and running ROS 2 nodes
(:mod:`contact_ddp_ros.ros.play_link`).
"""

from typing import Protocol

from contact_ddp_ros.runs.live.commands import (
    Answer,
    Command,
    Drive,
    Grab,
    Pause,
    Perform,
    PushTrunk,
    Rebuild,
    Recover,
    Reset,
    SaveRun,
    SetMode,
    SetParameters,
    Slow,
    Step,
)
from contact_ddp_ros.runs.live.snapshot import Snapshot, World

EVERYTHING = frozenset(
    kind.__name__
    for kind in (
        Drive,
        SetMode,
        Perform,
        PushTrunk,
        Grab,
        SetParameters,
        Recover,
        Reset,
        Rebuild,
        Pause,
        Step,
        Slow,
        SaveRun,
    )
)
"""Abilities of a simulated robot in a process of this package."""


class Link(Protocol):
    """A robot, wherever it is. No method waits."""

    def send(self, command: Command) -> None:
        """Ask for something; the answer comes with `news`."""
        ...

    def news(self) -> list[Answer | World | Snapshot]:
        """Messages since the last call, in order; snapshots come no faster than they are asked for."""
        ...

    def failure(self) -> str:
        """Why the robot can no longer be reached; empty while it can."""
        ...

    def close(self) -> None:
        """End what was started; safe to call twice."""
        ...
