"""The ground of a world as elements of SDF: a plane without end, tilted where it slopes, and boxes that stand on it.

They are the shapes that MuJoCo gets (:mod:`contact_ddp_ros.plants.terrain`), in a model that does not move.
"""

from xml.etree.ElementTree import Element

import numpy as np

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.plants.gazebo.elements import add, add_friction, add_material, add_pose, numbers
from contact_ddp_ros.plants.terrain.words import FLAT, parse_terrain

_GROUND_SIZE = 100.0
"""Edge of the visible plane [m]; the one that is collided with has no end."""

_PLANE_TINT = (0.75, 0.77, 0.78, 1.0)
_RAISED_TINT = (0.80, 0.72, 0.60, 1.0)


def add_ground(world: Element, word: str, friction: float) -> None:
    """Add the ground of a word of :mod:`contact_ddp_ros.plants.terrain`, with one coefficient of friction all over.

    Raises:
        ParameterError: there is no such ground, or it is more than a plane and boxes.
    """
    terrain = parse_terrain(word)
    if terrain.field is not None:
        raise ParameterError(
            f"ground {word!r}: worlds of SDF have planes and boxes; allowed: the other grounds, or MuJoCo"
        )
    model = add(world, "model", name="ground")
    add(model, "static", "true")
    link = add(model, "link", name="ground")
    for purpose in ("collision", "visual"):
        element = add(link, purpose, name=purpose)
        if word != FLAT:
            add_pose(element, np.array([0.0, 0.0, terrain.height]), terrain.axes)
        plane = add(add(element, "geometry"), "plane")
        add(plane, "normal", "0 0 1")
        add(plane, "size", numbers([_GROUND_SIZE, _GROUND_SIZE]))
        _finish(element, friction, _PLANE_TINT)
    for number, box in enumerate(terrain.boxes, start=1):
        for purpose in ("collision", "visual"):
            element = add(link, purpose, name=f"{purpose}_{number}")
            add_pose(element, np.array(box.centre), box.axes)
            add(add(add(element, "geometry"), "box"), "size", numbers(2.0 * half for half in box.half))
            _finish(element, friction, _RAISED_TINT)


def _finish(element: Element, friction: float, tint: tuple[float, ...]) -> None:
    if element.tag == "collision":
        add_friction(element, friction)
    else:
        add_material(element, tint)
