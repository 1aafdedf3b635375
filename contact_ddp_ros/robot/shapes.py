"""The shapes of the robot's links, read from the URDF as plain data: what collides, and what is only looked at.

A link fixed to another moves with it, so its shapes belong to the *carrier*: the link that the nearest joint above it
moves. Only shapes with a formula are read; a mesh would tie every reader of this data to a file format.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ModelError
from contact_ddp_ros.robot.rotation import matrix_to_rpy, quaternion_to_matrix, rpy_to_quaternion

Array = NDArray[np.float64]

SIZES: Final = {"box": ("size",), "cylinder": ("radius", "length"), "sphere": ("radius",)}
"""Kinds of shapes and the attributes that hold their size, in the order of :attr:`Shape.size`."""


@dataclass(frozen=True)
class Shape:
    """One visual or collision shape.

    Attributes:
        purpose: what it is for.
        link: link of the URDF that has it.
        carrier: link that it moves with; `link` itself unless that is fixed to another.
        kind: one of SIZES.
        size: box: edges along x, y, z; cylinder: radius and length along z; sphere: radius [m].
        rotation: (3, 3) of the shape in the carrier's frame.
        translation: (3,) of its centre in the carrier's frame [m].
        colour: red, green, blue, opacity from 0 to 1; None where the file names none.
    """

    purpose: Literal["visual", "collision"]
    link: str
    carrier: str
    kind: str
    size: tuple[float, ...]
    rotation: Array
    translation: Array
    colour: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Outline:
    """Outline of a URDF's links: shapes, and the links that move together.

    Attributes:
        moved_links: name of the link that each joint moves, by the joint's name.
        shapes: of all links, link by link.
        carriers: by link, the one that it moves with, and its frame's rotation (3, 3) and translation (3,) there [m].
        unread: (purpose, link) of shapes without a formula that were left out.
    """

    moved_links: dict[str, str]
    shapes: tuple[Shape, ...]
    carriers: dict[str, tuple[str, Array, Array]]
    unread: tuple[tuple[str, str], ...] = ()


def read_outline(path: Path) -> Outline:
    """Links and shapes of a URDF file that :func:`contact_ddp_ros.robot.urdf.read_description` accepts.

    Raises:
        ModelError: the file cannot be read, or a shape is of a kind that is not in SIZES.
    """
    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError) as error:
        raise ModelError(f"cannot read the robot description {path}: {error}; name a readable URDF file") from error
    return outline_of(path, root)


def outline_of(path: Path, root: ElementTree.Element, *, strict: bool = True) -> Outline:
    """Links and shapes of the XML of a URDF, which comes from `path`.

    Raises:
        ModelError: a shape is of a kind that is not in SIZES; unless not `strict`, where such a one is left out.
    """
    fixed = {_attribute(joint, "child", "link"): joint for joint in root.findall("joint[@type='fixed']")}
    colours = {material.get("name", ""): _colour(material) for material in root.findall("material")}
    shapes: list[Shape] = []
    unread: list[tuple[str, str]] = []
    carriers = {link.get("name", ""): _carrier(link.get("name", ""), fixed) for link in root.findall("link")}
    for link in root.findall("link"):
        name = link.get("name", "")
        carrier, rotation, translation = carriers[name]
        purposes: tuple[Literal["visual", "collision"], ...] = ("visual", "collision")
        for purpose in purposes:
            for element in link.findall(purpose):
                if not strict and not _has_formula(element):
                    unread.append((purpose, name))
                    continue
                kind, size = _geometry(path, link, element)
                turned, moved = origin_of(element)
                shapes.append(
                    Shape(
                        purpose=purpose,
                        link=name,
                        carrier=carrier,
                        kind=kind,
                        size=size,
                        rotation=rotation @ turned,
                        translation=translation + rotation @ moved,
                        colour=_material(element, colours),
                    )
                )
    moved_links = {joint.get("name", ""): _attribute(joint, "child", "link") for joint in root.findall("joint")}
    return Outline(moved_links, tuple(shapes), carriers, tuple(unread))


def _carrier(link: str, fixed: dict[str, ElementTree.Element]) -> tuple[str, Array, Array]:
    """The link that `link` moves with, and the pose of `link` in it."""
    rotation, translation = np.eye(3), np.zeros(3)
    while link in fixed:
        turned, moved = origin_of(fixed[link])
        rotation, translation = turned @ rotation, moved + turned @ translation
        link = _attribute(fixed[link], "parent", "link")
    return link, rotation, translation


def _has_formula(element: ElementTree.Element) -> bool:
    geometry = element.find("geometry")
    return geometry is not None and any(geometry.find(kind) is not None for kind in SIZES)


def _geometry(path: Path, link: ElementTree.Element, element: ElementTree.Element) -> tuple[str, tuple[float, ...]]:
    geometry = element.find("geometry")
    for kind, names in SIZES.items():
        shape = None if geometry is None else geometry.find(kind)
        if shape is not None:
            size = tuple(number for name in names for number in _numbers(shape.get(name, "")))
            if len(size) != (3 if kind == "box" else len(names)) or not all(0.0 <= one < math.inf for one in size):
                raise ModelError(
                    f"{path}: link {link.get('name')} has a {kind} with {shape.attrib}; allowed: {', '.join(names)} as "
                    "finite numbers that are not negative"
                )
            return kind, size
    found = [] if geometry is None else [child.tag for child in geometry]
    raise ModelError(
        f"{path}: link {link.get('name')} has a {element.tag} shape of kind {found}; allowed: {', '.join(SIZES)}"
    )


def origin_of(element: ElementTree.Element) -> tuple[Array, Array]:
    """Rotation (3, 3) and translation (3,) of an element's <origin>; none where it has no such."""
    origin = element.find("origin")
    if origin is None:
        return np.eye(3), np.zeros(3)
    roll, pitch, yaw = _numbers(origin.get("rpy", "0 0 0"))
    return quaternion_to_matrix(rpy_to_quaternion(roll, pitch, yaw)), np.array(_numbers(origin.get("xyz", "0 0 0")))


def _material(element: ElementTree.Element, colours: dict[str, tuple[float, ...] | None]) -> tuple[float, ...] | None:
    material = element.find("material")
    if material is None:
        return None
    return _colour(material) or colours.get(material.get("name", ""))


def _colour(material: ElementTree.Element) -> tuple[float, ...] | None:
    colour = material.find("color")
    return None if colour is None else tuple(_numbers(colour.get("rgba", "")))


def _attribute(element: ElementTree.Element, child: str, name: str) -> str:
    found = element.find(child)
    return "" if found is None else found.get(name, "")


def _numbers(text: str) -> list[float]:
    return [float(word) for word in text.split()]


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
