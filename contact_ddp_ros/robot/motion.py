"""A motion as data: phases of feet on the ground, and where it leads, from a YAML file.

    displacement: 0.6       # of the trunk, forward [m]
    rise: 0.0               # of the ground that it lands on [m]
    landing: {hr: 0.0}      # the same under single legs, where it is another [m]
    rotation: 0.0           # of the trunk's pitch, in whole turns [rad]
    phases:                 # legs on the ground, and how long [s]
      - {feet: [fr, fl, hr, hl], duration: 0.40}
      - {feet: [hr, hl], duration: 0.10}
      - {feet: [], duration: 0.36}
      - {feet: [fr, fl, hr, hl], duration: 0.50}

It begins and ends standing, on all feet, with one flight or more between. The longest flight is the one in which it
turns and moves to the left, and after which the ground may be another. `model: whole_body` plans with all coordinates
of the robot; then it may also turn about its long axis (`roll`) and move to the left (`left`), and legs move by
themselves. With `start`, the joint angles of every leg, it begins in that posture, lying on a side or on its back where
the roll is no whole turn.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ParameterError, no_such
from contact_ddp_ros.base.files import share_places
from contact_ddp_ros.robot.gaits.schedule import ALIGNMENT, Mode
from contact_ddp_ros.robot.joints import LEG_NAMES
from contact_ddp_ros.robot.models.choice import MODELS
from contact_ddp_ros.robot.models.planar import PlanarModel
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel

FOLDER = "config/motions"
"""Folder of the packaged motions."""

_SUFFIXES = (".yaml", ".yml")

_TURN = 2.0 * math.pi


@dataclass(frozen=True)
class MotionPhase:
    """A stretch of time [s] in which the same legs stand."""

    feet: tuple[str, ...]
    duration: float


@dataclass(frozen=True)
class MotionSpec:
    """Specification of a jump or flip, from a stand or from lying to a stand.

    Attributes:
        name: of the motion.
        phases: in order; the first and the last have all legs on the ground, one or more between have none: flights.
        displacement: of the trunk, forward [m].
        rise: of the ground that it lands on after the longest flight over that from which it begins [m].
        landing: by leg, the same where it is another than `rise`: of a foot that lands before the edge it is 0 [m].
        edge: x of the foot of the rise from the trunk's origin at the beginning [m]; of no use on level ground.
        rotation: change of the trunk's pitch, in whole turns; a back flip has −2π [rad].
        take_off_pitch, landing_pitch: at the ends of the longest flight, first guesses only [rad]; the second counts
            from the upright attitude at the end.
        step: of the time grid [s], of which every phase lasts a whole number.
        model: that is planned with, by name.
        roll: change of the trunk's roll, in whole turns; a barrel roll to the right has 2π [rad]. With
            `start` the part of it that is no whole turn is what the robot is turned by at the beginning.
        left: displacement of the trunk to the left [m].
        take_off_roll, landing_roll: as those of the pitch, the first from the attitude at the beginning [rad].
        start: by leg, abduction, hip and knee at the beginning, with the lowest foot on the ground [rad]; none of a
            robot that stands as it always does.
    """

    name: str
    phases: tuple[MotionPhase, ...]
    displacement: float = 0.0
    rise: float = 0.0
    edge: float = 0.0
    rotation: float = 0.0
    take_off_pitch: float = 0.0
    landing_pitch: float = 0.0
    step: float = 0.005
    model: str = PlanarModel.name
    roll: float = 0.0
    left: float = 0.0
    take_off_roll: float = 0.0
    landing_roll: float = 0.0
    landing: Mapping[str, float] = field(default_factory=dict)
    start: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raises ParameterError unless it goes through flights to a stand, upright, and its model can do it."""
        standing = [set(phase.feet) == set(LEG_NAMES) for phase in self.phases]
        flying = [not phase.feet for phase in self.phases]
        adjoining = any(one and other for one, other in pairwise(flying))
        if len(self.phases) < 3 or not (standing[0] and standing[-1]) or not any(flying) or adjoining:
            raise ParameterError(
                f"motion {self.name!r} has {sum(flying)} flights in {len(self.phases)} phases; needed: one flight or "
                "more, each between phases with feet on the ground, the first and the last of them with all"
            )
        for angle in (self.rotation, 0.0 if self.start else self.roll):
            if abs(angle / _TURN - round(angle / _TURN)) > 1e-3:
                raise ParameterError(
                    f"motion {self.name!r} turns by {angle} rad; allowed: whole turns, or any roll with a start"
                )
        self._check_model()
        if not 0.0 < self.step <= 0.02:
            raise ParameterError(f"motion {self.name!r} has steps of {self.step} s; allowed: up to 0.02 s")
        for phase in self.phases:
            count = round(phase.duration / self.step)
            if count < 1 or abs(count * self.step - phase.duration) > ALIGNMENT:
                raise ParameterError(
                    f"motion {self.name!r}: a phase lasts {phase.duration} s, no whole number of steps of {self.step} s"
                )

    def _check_model(self) -> None:
        if self.model not in MODELS:
            raise ParameterError(f"motion {self.name!r} has the model {self.model!r}; allowed: {', '.join(MODELS)}")
        if self.model == PlanarModel.name and (self.roll or self.left or self.take_off_roll or self.landing_roll):
            raise ParameterError(f"motion {self.name!r} leaves the plane, which needs model: {WholeBodyModel.name}")
        if self.start and (self.model == PlanarModel.name or set(self.start) != set(LEG_NAMES)):
            raise ParameterError(
                f"motion {self.name!r} has a start of {', '.join(self.start)} with model: {self.model}; allowed: of "
                f"{', '.join(LEG_NAMES)} with model: {WholeBodyModel.name}"
            )
        if self.rotation and self.roll:
            raise ParameterError(f"motion {self.name!r} turns about two axes; allowed: rotation or roll")
        if (self.rise or self.landing) and self.model != PlanarModel.name:
            raise ParameterError(f"motion {self.name!r} lands on a rise, which needs model: {PlanarModel.name}")

    @property
    def turns(self) -> float:
        """Angle by which the trunk turns about the motion's axis [rad]."""
        return self.roll or self.rotation

    @property
    def start_turn(self) -> float:
        """Angle about that axis at the beginning, from which it turns upright [rad]."""
        return _TURN * round(self.turns / _TURN) - self.turns if self.start else 0.0

    def rises(self, legs_of: Mapping[str, Iterable[str]]) -> tuple[float, ...]:
        """Rise of the ground at each contact point of a model, which stands for some legs, over the motion [m].

        Raises:
            ParameterError: legs that the model moves alike land on unlike heights.
        """
        found = []
        for legs in map(tuple, legs_of.values()):
            heights = {self.landing.get(leg, self.rise) for leg in legs}
            if len(heights) > 1:
                raise ParameterError(
                    f"motion {self.name!r}: the model lands {', '.join(legs)} alike, not at {heights} m"
                )
            found.append(heights.pop())
        return tuple(found)

    @property
    def duration(self) -> float:
        """Duration of all phases [s]."""
        return sum(phase.duration for phase in self.phases)

    @property
    def flights(self) -> tuple[tuple[float, float], ...]:
        """Take-off of the last foot and touchdown of the first [s], flight by flight."""
        return self.swings(LEG_NAMES)

    def swings(self, legs: Iterable[str]) -> tuple[tuple[float, float], ...]:
        """Take-off of the last of some legs and touchdown of the first [s], each time that none of them stands."""
        found: list[tuple[float, float]] = []
        standing = [not set(legs).isdisjoint(phase.feet) for phase in self.phases]
        for stands, group in groupby(range(len(self.phases)), standing.__getitem__):
            indices = list(group)
            if not stands:
                found.append((self._begin(indices[0]), self._begin(indices[-1] + 1)))
        return tuple(found)

    @property
    def longest(self) -> int:
        """Index of the longest phase of flight, the first of such."""
        flights = [index for index, phase in enumerate(self.phases) if not phase.feet]
        return max(flights, key=lambda index: self.phases[index].duration)

    @property
    def flight(self) -> tuple[float, float]:
        """Begin and end of the longest flight, as :attr:`flights` has them [s]."""
        return self._begin(self.longest), self._begin(self.longest + 1)

    def _begin(self, index: int) -> float:
        return sum(phase.duration for phase in self.phases[:index])


@dataclass(frozen=True)
class MotionModes:
    """The phases of a motion on a grid of steps; before the first and after the last these go on.

    A :class:`contact_ddp_ros.robot.gaits.grid.Timetable`; `modes` are the different sets of contacts, each once.
    """

    modes: tuple[Mode, ...]
    owners: NDArray[np.int64]
    epoch: float = 0.0

    @classmethod
    def of(cls, task: MotionSpec, legs_of: Mapping[str, Iterable[str]]) -> "MotionModes":
        """Modes for a model whose contact points stand for groups of legs.

        Raises:
            ParameterError: the motion moves legs of a group apart.
        """
        modes: list[Mode] = []
        owners: list[int] = []
        for phase in task.phases:
            contacts = []
            for contact, legs in legs_of.items():
                down = [leg in phase.feet for leg in legs]
                if any(down) != all(down):
                    raise ParameterError(
                        f"motion {task.name!r}: the model moves {', '.join(legs)} alike, but the feet on the ground "
                        f"are {', '.join(phase.feet)}"
                    )
                contacts += [contact] if all(down) else []
            known = [mode.contacts for mode in modes]
            if tuple(contacts) not in known:
                name = "_and_".join(foot.removesuffix("_foot") for foot in contacts)
                modes.append(Mode(f"{name}_stance" if name else "flight", tuple(contacts), task.step))
                known.append(tuple(contacts))
            owners += [known.index(tuple(contacts))] * round(phase.duration / task.step)
        return cls(tuple(modes), np.array(owners, dtype=np.int64))

    def modes_of_steps(self, steps: NDArray[np.int64], step: float) -> NDArray[np.int64]:
        """Index of the mode of each step, counted from the beginning; `step` is the motion's own."""
        return self.owners[np.clip(steps, 0, len(self.owners) - 1)]


def load_motion(name: str) -> MotionSpec:
    """The packaged motion of that name, or that of a YAML file, whose name ends with .yaml.

    Raises:
        ParameterError: there is no such motion, or its file is none; the text says what was found and what is allowed.
    """
    path = Path(name)
    if path.suffix not in _SUFFIXES:
        packaged = packaged_motions()
        if name not in packaged:
            raise ParameterError(no_such("motion", name, packaged))
        path = packaged[name]
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ParameterError(f"motion file {path} cannot be read: {' '.join(str(error).split())}") from error
    try:
        return _motion(path.stem, content)
    except ParameterError as error:
        raise ParameterError(f"motion file {path}: {error}") from error


def packaged_motions() -> dict[str, Path]:
    """Files of the motions that come with the package, by name."""
    folder = next((place for place in share_places(FOLDER) if place.is_dir()), None)
    return {} if folder is None else {file.stem: file for file in sorted(folder.glob("*.yaml"))}


def _motion(name: str, content: Any) -> MotionSpec:
    optional = {field.name: field.default for field in fields(MotionSpec) if field.default is not MISSING}
    allowed = ("phases", "landing", "start", *optional)
    if not isinstance(content, dict) or "phases" not in content or not set(content) <= set(allowed):
        found = ", ".join(map(str, content)) if isinstance(content, dict) else type(content).__name__
        raise ParameterError(f"it holds {found}; allowed: {', '.join(allowed)}")
    numbers = [name for name, default in optional.items() if isinstance(default, float)]
    for key in numbers:
        if not _is_number(content.get(key, 0.0)):
            raise ParameterError(f"{key} is {content[key]!r}; allowed: a number")
    landing = content.get("landing", {})
    if (
        not isinstance(landing, dict)
        or not set(landing) <= set(LEG_NAMES)
        or not all(map(_is_number, landing.values()))
    ):
        raise ParameterError(f"landing is {landing!r}; allowed: a number for each of {', '.join(LEG_NAMES)}")
    start = content.get("start", {})
    if not isinstance(start, dict) or not all(map(_is_leg, start.values())):
        raise ParameterError(f"start is {start!r}; allowed: [abduction, hip, knee] for each of {', '.join(LEG_NAMES)}")
    if not isinstance(content["phases"], list):
        raise ParameterError(f"phases are {content['phases']!r}; needed: a list")
    given: dict[str, Any] = {key: float(content[key]) for key in numbers if key in content}
    given["model"] = str(content.get("model", optional["model"]))
    heights = {leg: float(height) for leg, height in landing.items()}
    legs = {leg: (float(a), float(b), float(c)) for leg, (a, b, c) in start.items()}
    return MotionSpec(name, tuple(_phase(one) for one in content["phases"]), landing=heights, start=legs, **given)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_leg(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 3 and all(map(_is_number, value))


def _phase(content: Any) -> MotionPhase:
    if not isinstance(content, dict) or set(content) != {"feet", "duration"}:
        raise ParameterError(f"a phase is {content!r}; needed: feet and duration")
    feet, duration = content["feet"], content["duration"]
    if not isinstance(feet, list) or not all(foot in LEG_NAMES for foot in feet):
        raise ParameterError(f"a phase has the feet {feet!r}; allowed: a list of {', '.join(LEG_NAMES)}")
    if isinstance(duration, bool) or not isinstance(duration, int | float) or not 0.0 < duration < math.inf:
        raise ParameterError(f"a phase lasts {duration!r}; allowed: a positive number of seconds")
    return MotionPhase(tuple(feet), float(duration))
