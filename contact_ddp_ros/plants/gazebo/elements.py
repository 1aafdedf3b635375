"""Elements of SDF, and numbers in them."""

from collections.abc import Iterable
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.robot.rotation import matrix_to_rpy

Array = NDArray[np.float64]


def add(parent: Element, tag: str, text: str | None = None, **attributes: str) -> Element:
    """Add an element; return it."""
    element = ElementTree.SubElement(parent, tag, attributes)
    element.text = text
    return element


def add_pose(parent: Element, translation: Array, rotation: Array) -> None:
    """Position [m], then roll, pitch, yaw [rad]."""
    add(parent, "pose", numbers([*translation, *matrix_to_rpy(rotation)]))


def numbers(values: Iterable[float]) -> str:
    """Several as :func:`number`, with spaces between them."""
    return " ".join(number(value) for value in values)


def number(value: float) -> str:
    """Twelve digits; adding 0.0 removes negative zeros."""
    return f"{round(float(value), 15) + 0.0:.12g}"


def add_friction(collision: Element, coefficient: float) -> None:
    """DART takes the smaller coefficient of a pair, in both directions, from the element of ODE."""
    ode = add(add(add(collision, "surface"), "friction"), "ode")
    for tag in ("mu", "mu2"):
        add(ode, tag, number(coefficient))


def add_material(visual: Element, colour: tuple[float, ...]) -> None:
    """One colour in every light."""
    material = add(visual, "material")
    for tag in ("ambient", "diffuse"):
        add(material, tag, numbers(colour))


def to_text(root: Element) -> str:
    """Serialise a document as indented text."""
    ElementTree.indent(root)
    return '<?xml version="1.0"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"
