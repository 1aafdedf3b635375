"""Foot finder: link or place of a leg's foot, by collision spheres, links, or the far end of the shank's shapes."""

import itertools
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from contact_ddp_ros.robot.joints import BASE_JOINTS, LEG_JOINTS
from contact_ddp_ros.robot.model import home_robot
from contact_ddp_ros.robot.shapes import Outline, Shape

Array = NDArray[np.float64]

_NEAR_KNEE = 0.3
"""A link no further from the knee than this share of the thigh is no foot."""

_END = 0.98
"""Points of a shank this far from the knee, over the farthest one's distance, are its end."""


def foot_link(model: pin.Model, outline: Outline, knee: int) -> str | None:
    """Link at the end of a leg: the farthest from the knee with a collision sphere, else the farthest; None for none.

    Args:
        model: pinocchio's model.
        outline: shapes of the URDF.
        knee: pinocchio's index of the joint.
    """
    carrier = outline.moved_links[model.names[knee]]
    places = {link: at for link, (carried_by, _, at) in outline.carriers.items() if carried_by == carrier}
    spheres = {
        one.link: one.translation
        for one in outline.shapes
        if one.link in places and one.purpose == "collision" and one.kind == "sphere"
    }
    for candidates in (spheres, places):
        far = {link: float(np.linalg.norm(at)) for link, at in candidates.items()}
        far = {link: distance for link, distance in far.items() if distance > _NEAR_KNEE * _thigh(model, knee)}
        if far:
            return max(far, key=lambda link: far[link])
    return None


def foot_place(path: Path, root: Element, model: pin.Model, outline: Outline, knee: int) -> tuple[float, ...] | None:
    """Centre (3,) of a foot of the home robot's size at the far end of the shank's shapes [m]; None without shapes.

    Meshes count if their files are found beside the URDF at `path`, whose XML is `root`.
    """
    carrier = outline.moved_links[model.names[knee]]
    points = [point for one in outline.shapes if one.carrier == carrier for point in _extremes(one)]
    points += _vertices(path, root, model, knee)
    if not points:
        return None
    distances = np.linalg.norm(points, axis=1)
    end = np.asarray(points)[distances >= _END * distances.max()].mean(axis=0)
    thigh, home = _thigh(model, knee), home_robot()
    radius = home.foot_radius * thigh / -float(home.tree.joints[len(BASE_JOINTS) + len(LEG_JOINTS) - 1].translation[2])
    length = float(np.linalg.norm(end))
    return tuple(((1.0 - radius / length) * end).round(5).tolist()) if length > _NEAR_KNEE * thigh else None


def _thigh(model: pin.Model, knee: int) -> float:
    """Length of a thigh [m]."""
    return float(np.linalg.norm(model.jointPlacements[knee].translation))


def _extremes(shape: Shape) -> list[Array]:
    """Corners of a shape's bounding box in the carrier's frame (3,) [m]; the end of a round one is in their middle."""
    size = {"sphere": shape.size * 3, "cylinder": (shape.size[0], *shape.size)}.get(shape.kind, shape.size)
    half = np.array(size) * {"sphere": 1.0, "cylinder": (1.0, 1.0, 0.5)}.get(shape.kind, 0.5)
    corners = itertools.product((-1.0, 1.0), repeat=3)
    return [shape.translation + shape.rotation @ (half * corner) for corner in corners]


def _vertices(path: Path, root: Element, model: pin.Model, knee: int) -> list[Array]:
    """Vertices of the shank's meshes in its frame (3,) [m]; none where a file is missing or cannot be read."""
    folders = [str(folder) for folder in (path.parent, *path.resolve().parents[:4])]
    text = ElementTree.tostring(root, encoding="unicode")
    for kind in (pin.GeometryType.COLLISION, pin.GeometryType.VISUAL):
        try:
            shapes = pin.buildGeomFromUrdfString(model, text, kind, package_dirs=folders).geometryObjects
        except (ValueError, RuntimeError):
            continue
        found = [
            np.asarray(one.placement.act(np.asarray(vertex)))
            for one in shapes
            if one.parentJoint == knee and hasattr(one.geometry, "vertices")
            for vertex in one.geometry.vertices()
        ]
        if found:
            return found
    return []
