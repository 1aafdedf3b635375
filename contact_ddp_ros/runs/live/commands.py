"""Commands of the page to a robot, as plain data that travels between processes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from contact_ddp_ros.runs.options import RunOptions

MODES = ("stand", "move", "damp")


@dataclass(frozen=True)
class Drive:
    """Commanded motion: forward [m/s], turn to the left [rad/s], sideways to the left [m/s]."""

    forward: float = 0.0
    turn: float = 0.0
    sideways: float = 0.0


@dataclass(frozen=True)
class SetMode:
    """A mode of the controller, one of MODES."""

    mode: str


@dataclass(frozen=True)
class Perform:
    """A jump or a flip by its name, out of a stand or lying as it begins."""

    motion: str


@dataclass(frozen=True)
class PushTrunk:
    """A force (3,) on the trunk's origin in the robot's heading frame (forward, left, up) [N] for a time [s]."""

    force: tuple[float, float, float]
    duration: float


@dataclass(frozen=True)
class Grab:
    """Pull a point (3,) of a link, in the link's axes [m], towards a target (3,) in `odom` [m] by a spring."""

    link: str
    point: tuple[float, float, float]
    target: tuple[float, float, float]


@dataclass(frozen=True)
class Release:
    """Let go of what was grabbed."""


@dataclass(frozen=True)
class SetParameters:
    """New values by "section.name"; all are applied, or none."""

    values: Mapping[str, Any]


@dataclass(frozen=True)
class Recover:
    """Let the robot get up where it lies, or put it back on its feet where it cannot, and let it go on."""


@dataclass(frozen=True)
class Reset:
    """Begin again where the robot started; parameters stay."""


@dataclass(frozen=True)
class Rebuild:
    """Build another loop from other options: another world, or other structural parameters."""

    options: RunOptions


COMPARISONS = ("keep", "swap", "drop")


@dataclass(frozen=True)
class Compare:
    """Keep a copy of the robot as A beside the one that is tuned, exchange the two, or drop A: one of COMPARISONS."""

    what: str


@dataclass(frozen=True)
class Pause:
    """Let time stand, or run."""

    paused: bool


@dataclass(frozen=True)
class Step:
    """Advance a paused loop by so many control ticks."""

    ticks: int = 1


@dataclass(frozen=True)
class Slow:
    """Pace of simulated time: 1 for real time, 0.1 for a tenth of it."""

    factor: float


@dataclass(frozen=True)
class SaveRun:
    """Save the last minute of what was recorded to a new folder."""

    folder: Path


@dataclass(frozen=True)
class Look:
    """The page is ready for one more snapshot; `watched`: a browser is open."""

    watched: bool = True


@dataclass(frozen=True)
class Quit:
    """End."""


Command = (
    Drive
    | SetMode
    | Perform
    | PushTrunk
    | Grab
    | Release
    | SetParameters
    | Recover
    | Reset
    | Rebuild
    | Compare
    | Pause
    | Step
    | Slow
    | SaveRun
    | Look
    | Quit
)


@dataclass(frozen=True)
class Building:
    """Progress of a robot that is being built, for people."""

    text: str


@dataclass(frozen=True)
class Answer:
    """Outcome of a command, for people; `accepted` is False where nothing changed."""

    accepted: bool
    text: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Values now in use of the parameters that the command was about, by "section.name"."""
    saved: Path | None = None
    """Folder of a run that has been saved."""


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
        Compare,
        Pause,
        Step,
        Slow,
        SaveRun,
    )
)
"""Abilities of a simulated robot in a process of this package."""
