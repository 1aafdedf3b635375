"""A gait as data: when each foot is on the ground, as shares of a period, from a YAML file.

    period: 0.36            # [s]
    stances:                # of each leg: phases of touchdown and lift-off
      fr: [0.5, 0.7222]

Modes, switches and touchdowns follow: a mode is a stretch of time in which the same feet are on the ground.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from contact_ddp_ros.base.choices import GAIT_SUFFIXES
from contact_ddp_ros.base.errors import ParameterError, no_such
from contact_ddp_ros.base.files import share_places
from contact_ddp_ros.robot.gaits.schedule import ALIGNMENT, Mode, ModeSchedule
from contact_ddp_ros.robot.joints import LEG_NAMES

FOLDER = "config/gaits"
"""Folder of the packaged gaits."""

_KEYS = ("period", "stances")


@dataclass(frozen=True)
class Stance:
    """Touchdown, from 0 up to but not 1, and lift-off, up to 1 later, as shares of the period."""

    touchdown: float
    lift_off: float

    def __str__(self) -> str:
        """Readable text, such as `0.1 to 0.35`."""
        return f"{self.touchdown:g} to {self.lift_off:g}"


@dataclass(frozen=True)
class Gait:
    """One stance of every foot in each period [s]; `stances` by name of the foot, or of feet that move alike."""

    name: str
    period: float
    stances: Mapping[str, Stance]

    def merged(self, groups: Mapping[str, Iterable[str]], model: str) -> "Gait":
        """The gait of groups of feet that `model` moves alike.

        Raises:
            ParameterError: feet of a group have different stances.
        """
        stances = {}
        for group, members in groups.items():
            first, *others = members
            stances[group] = self.stances[first]
            for other in others:
                if self.stances[other] != self.stances[first]:
                    raise ParameterError(
                        f"gait {self.name!r}: the {model} model moves {first} and {other} alike, but {first} is on the "
                        f"ground from {self.stances[first]} and {other} from {self.stances[other]} of the period"
                    )
        return Gait(self.name, self.period, stances)

    def stretched(self, factor: float, step: float) -> "Gait":
        """The gait with a period so many times as long, rounded to whole steps [s]; itself where the factor is 1."""
        if factor == 1.0:
            return self
        return Gait(self.name, max(round(factor * self.period / step), 1) * step, self.stances)

    def schedule(self, step: float, epoch: float = 0.0) -> ModeSchedule:
        """The modes, on a grid of steps [s]; the first begins at the first touchdown or lift-off of the period.

        Raises:
            ParameterError: the period is no whole number of steps, or a stance or a swing is shorter than one.
        """
        n = round(self.period / step)
        if n < 1 or abs(n * step - self.period) > ALIGNMENT:
            raise ParameterError(
                f"gait {self.name!r} has a period of {self.period} s, which is no whole number of steps of {step} s"
            )
        landings, lengths = {}, {}
        for foot, stance in self.stances.items():
            landings[foot] = round(stance.touchdown * n) % n
            lengths[foot] = length = round((stance.lift_off - stance.touchdown) * n)
            if length < 1 or (length == n and stance.lift_off - stance.touchdown < 1.0):
                what = "stance" if length < 1 else "swing"
                raise ParameterError(f"gait {self.name!r}: the {what} of {foot} is shorter than a step of {step} s")
        moving = [foot for foot in landings if lengths[foot] < n]
        switches = sorted({at % n for foot in moving for at in (landings[foot], landings[foot] + lengths[foot])}) or [0]
        ends = [*switches[1:], switches[0] + n]
        contacts = [
            tuple(foot for foot in landings if (begin - landings[foot]) % n < lengths[foot]) for begin in switches
        ]
        of_modes = zip(_mode_names(contacts), contacts, switches, ends)
        return ModeSchedule(tuple(Mode(name, down, (end - at) * step) for name, down, at, end in of_modes), epoch)


def load_gait(name: str) -> Gait:
    """The packaged gait of that name, or that of a YAML file, whose name ends with .yaml.

    Raises:
        ParameterError: there is no such gait, or its file is none; the text says what was found and what is allowed.
    """
    path = Path(name)
    if path.suffix not in GAIT_SUFFIXES:
        packaged = packaged_gaits()
        if name not in packaged:
            raise ParameterError(no_such("gait", name, packaged))
        path = packaged[name]
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ParameterError(f"gait file {path} cannot be read: {' '.join(str(error).split())}") from error
    try:
        return _gait(path.stem, content)
    except ParameterError as error:
        raise ParameterError(f"gait file {path}: {error}") from error


def packaged_gaits() -> dict[str, Path]:
    """Files of the gaits that come with the package, by name."""
    folder = next((place for place in share_places(FOLDER) if place.is_dir()), None)
    return {} if folder is None else {file.stem: file for file in sorted(folder.glob("*.yaml"))}


def _gait(name: str, content: Any) -> Gait:
    if not isinstance(content, dict) or set(content) != set(_KEYS):
        found = sorted(map(str, content)) if isinstance(content, dict) else type(content).__name__
        raise ParameterError(f"it holds {found}; needed: {', '.join(_KEYS)}")
    period, stances = content["period"], content["stances"]
    if not _is_number(period) or not 0.0 < period < float("inf"):
        raise ParameterError(f"the period is {period!r}; allowed: a positive number of seconds")
    if not isinstance(stances, dict) or set(stances) != set(LEG_NAMES):
        found = sorted(map(str, stances)) if isinstance(stances, dict) else type(stances).__name__
        raise ParameterError(f"it has stances of {found}; needed: {', '.join(LEG_NAMES)}")
    return Gait(name, float(period), {leg: _stance(leg, stances[leg]) for leg in LEG_NAMES})


def _stance(leg: str, phases: Any) -> Stance:
    fine = (
        isinstance(phases, list) and len(phases) == 2 and all(_is_number(one) and 0.0 <= one <= 1.0 for one in phases)
    )
    if not fine or phases[0] == phases[1] or phases[0] == 1.0:
        raise ParameterError(
            f"{leg} is on the ground over {phases!r}; allowed: touchdown and lift-off, two different numbers from 0 to "
            "1, the touchdown below 1"
        )
    touchdown, lift_off = map(float, phases)
    return Stance(touchdown, lift_off if lift_off > touchdown else lift_off + 1.0)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _mode_names(contacts: list[tuple[str, ...]]) -> list[str]:
    """Names of the modes by the feet that stand, or land after a flight; numbered where one comes twice in a period."""
    everybody = max(contacts, key=len)
    names: list[str] = []
    for down, following in zip(contacts, [*contacts[1:], contacts[0]]):
        who = down or following
        kind = "stance" if down else "flight"
        one = (
            kind
            if who == everybody and len(who) > 1
            else "_".join([*(foot.removesuffix("_foot") for foot in who), kind])
        )
        names.append(one if one not in names else f"{one}_{sum(other.startswith(one) for other in names) + 1}")
    return names
