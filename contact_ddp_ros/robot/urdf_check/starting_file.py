"""A robot's file to start from: what was found in the URDF, and estimates, marked, for what it lacks."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from contact_ddp_ros.robot.joints import LEG_NAMES
from contact_ddp_ros.robot.urdf_check.legs import FoundLegs
from contact_ddp_ros.robot.urdf_check.numbers import Estimate

MARK = "CHECK"
"""Stands in the comment of every number that was not read but estimated."""


@dataclass(frozen=True)
class Additions:
    """What the file says beside the legs; None and "" for nothing.

    Attributes:
        estimates: of the joints.
        foot_radius: [m], where the URDF has no collision sphere.
        asymmetry: share by which left and right may differ.
        gait: packaged gait, where the default one asks too much.
    """

    estimates: Sequence[Estimate] = ()
    foot_radius: float | None = None
    asymmetry: float | None = None
    gait: str = ""


def text_of(found: FoundLegs, additions: Additions, *, folder: Path, with_legs: bool = True) -> str:
    """The content of the file in `folder`, which names the URDF by its path from there where it lies below.

    `with_legs` is False for a URDF in the names and signs of this package, which says everything itself.
    """
    urdf, folder = found.path.resolve(), folder.resolve()
    shown = urdf.relative_to(folder) if urdf.is_relative_to(folder) else urdf
    lines = [f"# {found.model.name}. Lines marked {MARK} are estimates: replace them by the robot's numbers."]
    lines.append(f"urdf: {_quoted(str(shown))}")
    if with_legs:
        lines.append("legs:                             # abduction, hip and knee joint, then the foot's link")
        for name in LEG_NAMES:
            leg = found.legs[name]
            lines.append(f"  {name}: [{', '.join(_quoted(one) for one in (*leg.joints, leg.foot))}]")
    if additions.estimates:
        lines.append("joints:                           # of abduction, hip and knee")
        for one in additions.estimates:
            numbers = ", ".join(_number(value) for value in one.values)
            lines.append(f"  {one.key}: [{numbers}]  # {MARK}: {one.reason}")
    if additions.foot_radius is not None:
        lines.append(f"foot_radius: {_number(additions.foot_radius)}  # {MARK}: [m], a foot has no collision sphere")
    if additions.asymmetry is not None:
        lines.append(f"asymmetry: {additions.asymmetry:g}  # by which left and right of the URDF differ, as a share")
    if additions.gait:
        lines += ["parameters:", "  planner:", f"    gait: {{name: {additions.gait}}}  # asks less of the knees"]
    return "\n".join(lines) + "\n"


def _number(value: float) -> str:
    """Four digits are plenty for an estimate; with a point, so that YAML 1.1 reads a number."""
    text = f"{value:.4g}"
    return (
        text if "." in text and "e" not in text else f"{value:.6f}".rstrip("0") + ("0" if value == int(value) else "")
    )


def _quoted(word: str) -> str:
    """A name that YAML might take for something else goes in quotes."""
    plain = word.replace("_", "a").replace("/", "a").replace(".", "a").replace("-", "a").isalnum()
    return word if plain and word[0].isalpha() and word.lower() not in _WORDS else "'" + word.replace("'", "''") + "'"


_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
