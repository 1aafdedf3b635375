"""Look of what is drawn in space, for every program alike: colours, sizes and names."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.plants.figure import Shape
from contact_ddp_ros.robot.rotation import quaternion_to_matrix

Array = NDArray[np.float64]
Colour = tuple[float, float, float, float]

MEASURED_FORCE: Final[Colour] = (0.13, 0.55, 0.30, 0.9)
PLANNED_FORCE: Final[Colour] = (0.0, 0.45, 0.70, 0.9)
GHOST: Final[Colour] = (0.24, 0.51, 0.78, 0.25)
TRUNK_PATH: Final[Colour] = (0.0, 0.45, 0.70, 1.0)
FOOT_PATH: Final[Colour] = (0.84, 0.37, 0.0, 0.8)

FORCE_SCALE: Final = 1.0 / 500.0
"""Length of an arrow per force [m/N]."""

SMALLEST_FORCE: Final = 1.0
"""Below it no arrow is drawn [N]."""

SHAFT, HEAD = 0.008, 0.02
"""Diameters of an arrow [m]."""

GHOST_PREFIX: Final = "ghost/"
"""Prefix of the names of the ghost's frames."""

UNBOUNDED: Final = 20.0
"""Half the extent that a ground without end is drawn with [m]."""

THIN: Final = 0.005
"""Thickness that a ground is drawn with [m]."""

_GROUND: Final[Colour] = (0.88, 0.9, 0.91, 1.0)


def colour_of(shape: Shape) -> Colour:
    """Colour of a shape; the ground is pale."""
    red, green, blue, alpha = (float(part) for part in shape.rgba)
    return (red, green, blue, alpha) if shape.body else _GROUND


def ends(shape: Shape) -> tuple[Array, Array]:
    """(3,) centres of the half spheres of a capsule in the axes of its body [m]."""
    axis = quaternion_to_matrix(np.roll(shape.wxyz, -1))[:, 2] * shape.size[1]
    return shape.position - axis, shape.position + axis


def below(shape: Shape) -> Array:
    """(3,) centre of the thin box whose upper side is a plane [m]."""
    return shape.position - 0.5 * THIN * quaternion_to_matrix(np.roll(shape.wxyz, -1))[:, 2]


def turn_to(direction: Array) -> Array:
    """(4,) unit quaternion (x, y, z, w) that turns the x axis to a direction (3,) that is not zero."""
    unit = direction / np.linalg.norm(direction)
    if unit[0] < -1.0 + 1e-9:
        return np.array([0.0, 0.0, 1.0, 0.0])
    quaternion = np.array([0.0, -unit[2], unit[1], 1.0 + unit[0]])
    return quaternion / np.linalg.norm(quaternion)


def in_body(shape: Shape) -> Array:
    """(n, 3) vertices of a mesh in the axes of its body [m]."""
    return shape.vertices @ quaternion_to_matrix(np.roll(shape.wxyz, -1)).T + shape.position


def bytes_of(colour: Colour) -> tuple[int, int, int, int]:
    """A colour in bytes."""
    red, green, blue, alpha = (round(255.0 * part) for part in colour)
    return red, green, blue, alpha
