"""The shapes of a foreign robot's bodies in the frames of its canonical URDF.

Those with a formula are kept. Where a body has others (meshes), its collision shapes are shown instead, and bars from
joint to joint where it has none of those either.
"""

from xml.etree.ElementTree import Element, SubElement

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.robot.rotation import matrix_to_rpy
from contact_ddp_ros.robot.shapes import SIZES
from contact_ddp_ros.robot.third_party_urdf import ForeignRobot

Array = NDArray[np.float64]

COLOURS = {"base": "0.82 0.84 0.86 1", "abad": "0.13 0.14 0.16 1", "hip": "0.82 0.84 0.86 1"}
COLOURS |= {"knee": "0.55 0.58 0.62 1", "foot": "0.05 0.05 0.05 1"}
"""Of bodies whose shapes have none."""

_SMALLEST_SHAPE = 0.005
"""Shapes no larger than this in any direction mark a place and are not drawn [m]."""

_BAR_WIDTH = 0.02
"""Width of the bars that stand for links without a shape [m]."""


def add_shapes(link: Element, source: ForeignRobot, joint: int, kind: str) -> None:
    """Give a link the shapes of a body."""
    feet = {leg.foot for leg in source.profile.legs.values()}
    carrier = source.carrier(joint)
    own = [one for one in source.outline.shapes if one.carrier == carrier and one.link not in feet]
    solid = [one for one in own if max(one.size) > _SMALLEST_SHAPE]
    colliding = [one for one in solid if one.purpose == "collision"]
    seen = [one for one in solid if one.purpose == "visual"]
    hidden = [at for purpose, at in source.outline.unread if purpose == "visual" and at not in feet]
    if not seen or any(source.outline.carriers[at][0] == carrier for at in hidden):
        seen += colliding
    rotation = source.rotations[joint]
    for purpose, shapes in (("visual", seen), ("collision", colliding)):
        for one in shapes:
            colour = COLOURS[kind] if one.colour is None or purpose == "collision" else text_of(one.colour)
            turned, moved = rotation @ one.rotation, rotation @ one.translation
            add_shape(link, purpose, one.kind, one.size, turned, moved, colour)
    if not seen:
        _add_bars(link, source, joint, kind)
    if joint == 0 and not colliding:
        add_shape(link, "collision", "box", _trunk_size(source), np.eye(3), np.zeros(3), "")


def _add_bars(link: Element, source: ForeignRobot, joint: int, kind: str) -> None:
    """Bars from a body's joint to what it carries, or a box between the abductions for the trunk: to be looked at."""
    if joint == 0:
        add_shape(link, "visual", "box", _trunk_size(source), np.eye(3), np.zeros(3), COLOURS[kind])
        return
    for end in source.carried(joint):
        way = source.rotations[joint] @ end
        size = tuple(max(abs(float(part)), _BAR_WIDTH) for part in way)
        add_shape(link, "visual", "box", size, np.eye(3), 0.5 * way, COLOURS[kind])


def _trunk_size(source: ForeignRobot) -> tuple[float, float, float]:
    """Edges of a box between the abductions [m]; as high as a quarter of its length."""
    places = np.array(source.carried(0))
    length, width = np.ptp(places[:, 0]), np.ptp(places[:, 1])
    return float(length), float(width), 0.25 * float(length)


def add_shape(
    link: Element,
    purpose: str,
    kind: str,
    size: tuple[float, ...],
    rotation: Array,
    translation: Array,
    colour: str,
) -> None:
    """Give a link one shape, at a pose in its frame; `colour` counts for visual ones."""
    shape = SubElement(link, purpose)
    SubElement(shape, "origin", xyz=text_of(translation), rpy=text_of(matrix_to_rpy(np.ascontiguousarray(rotation))))
    geometry = SubElement(SubElement(shape, "geometry"), kind)
    if kind == "box":
        geometry.set(SIZES[kind][0], text_of(size))
    else:
        for name, value in zip(SIZES[kind], size, strict=True):
            geometry.set(name, repr(float(value)))
    if purpose == "visual":
        material = SubElement(shape, "material", name=f"colour {colour}")
        SubElement(material, "color", rgba=colour)


def text_of(numbers: Array | tuple[float, ...]) -> str:
    """Numbers as an attribute, to the last bit; adding 0.0 removes negative zeros."""
    return " ".join(repr(float(number) + 0.0) for number in numbers)
