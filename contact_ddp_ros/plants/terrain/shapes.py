"""Shapes of the simulated ground: a plane, boxes standing on it, a field of heights.

Any physics engine can build a plane and boxes, and most of them a field of heights.

The ground of an MJCF file: level planes and boxes.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.robot.rotation import quaternion_to_matrix, rotation_vector_to_quaternion

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Box:
    """A box: (3,) centre and (3,) half extents [m], (4,) quaternion (x, y, z, w) of its axes, level by default."""

    centre: tuple[float, float, float]
    half: tuple[float, float, float]
    quaternion: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 1.0)

    @property
    def axes(self) -> Array:
        """(3, 3) its axes as columns."""
        return quaternion_to_matrix(np.array(self.quaternion))

    def at(self, x: Array, y: Array) -> Array:
        """(N,) heights of its upper faces at places (N,), -∞ beside it [m]."""
        if self.quaternion == Box.quaternion:
            inside = (np.abs(x - self.centre[0]) <= self.half[0]) & (np.abs(y - self.centre[1]) <= self.half[1])
            return np.where(inside, self.centre[2] + self.half[2], -np.inf)
        axes, half = self.axes, np.array(self.half)[:, None]
        across, up = axes[:2].T @ [x - self.centre[0], y - self.centre[1]], axes[2][:, None]
        with np.errstate(divide="ignore", invalid="ignore"):  # where a vertical line goes along a pair of faces
            first, second = (-half - across) / up, (half - across) / up
        along, between = up == 0.0, np.abs(across) <= half
        top = np.where(along, np.where(between, np.inf, -np.inf), np.maximum(first, second)).min(axis=0)
        bottom = np.where(along, np.where(between, -np.inf, np.inf), np.minimum(first, second)).max(axis=0)
        return np.where(top >= bottom, self.centre[2] + top, -np.inf)


@dataclass(frozen=True, eq=False)
class HeightField:
    """Heights at the nodes of a square grid around the origin; between them they are bilinear.

    Attributes:
        heights: (n_y, n_x) above z = 0, rows along y [m].
        spacing: of the nodes [m].
    """

    heights: Array
    spacing: float

    @property
    def half(self) -> tuple[float, float]:
        """Half extents along x and y [m]."""
        rows, columns = self.heights.shape
        return 0.5 * self.spacing * (columns - 1), 0.5 * self.spacing * (rows - 1)

    def at(self, x: Array, y: Array) -> Array:
        """(N,) heights at places (N,), -∞ beside the field [m]."""
        half, (rows, columns) = self.half, self.heights.shape
        u, v = (x + half[0]) / self.spacing, (y + half[1]) / self.spacing
        inside = (u >= 0.0) & (u <= columns - 1) & (v >= 0.0) & (v <= rows - 1)
        i, j = (np.clip(w, 0, n - 2).astype(int) for w, n in ((u, columns), (v, rows)))
        a, b, found = u - i, v - j, self.heights
        below, above = ((1.0 - a) * found[row, i] + a * found[row, i + 1] for row in (j, j + 1))
        return np.where(inside, (1.0 - b) * below + b * above, -np.inf)


@dataclass(frozen=True)
class Terrain:
    """A plane z = height + gradient . (x, y), and what stands on it: boxes, a field of heights.

    Attributes:
        gradient: (2,) of the plane.
        height: of the plane at the origin [m].
        boxes, field: on top of it, no field by default; where they overlap, the highest counts.
    """

    gradient: tuple[float, float] = (0.0, 0.0)
    height: float = 0.0
    boxes: tuple[Box, ...] = ()
    field: HeightField | None = None

    def heights(self, points: Array) -> Array:
        """(N,) height of the ground below points (N, 2 or more) in `odom` [m]."""
        x, y = points[:, 0], points[:, 1]
        ground = self.height + self.gradient[0] * x + self.gradient[1] * y
        for box in self.boxes:
            ground = np.maximum(ground, box.at(x, y))
        return ground if self.field is None else np.maximum(ground, self.field.at(x, y))

    def clearances(self, centres: Array, radii: float | Array) -> Array:
        """(N,) height of the lowest points of spheres (N, 3) above the ground below them [m]; negative within it."""
        lowest = centres - np.asarray(radii).reshape(-1, 1) * self.axes[:, 2]
        return lowest[:, 2] - self.heights(lowest)

    @property
    def tilt(self) -> Array:
        """(4,) quaternion (x, y, z, w) that turns level axes into those of the plane, with no turn about its normal."""
        slope = math.hypot(*self.gradient)
        if slope == 0.0:
            return np.array([0.0, 0.0, 0.0, 1.0])
        axis = np.array([self.gradient[1], -self.gradient[0], 0.0]) / slope
        return rotation_vector_to_quaternion(math.atan(slope) * axis)

    @property
    def axes(self) -> Array:
        """(3, 3) the plane's axes as columns, its normal last."""
        return quaternion_to_matrix(self.tilt)


SCENE_SUFFIX: Final = ".xml"
_LEVEL_PLANE = 1.0 - 1e-9
"""Least vertical component of a level plane's normal."""


@lru_cache(maxsize=4)
def scene(text: str) -> Terrain:
    """Static collision geometry of an MJCF file; friction is the simulator's.

    The whole is moved up or down until the ground at the origin, where the robot begins, is at z = 0.
    """
    import mujoco

    try:
        model = mujoco.MjModel.from_xml_path(text)
    except ValueError as error:
        raise ParameterError(f"ground {text!r}: {error}") from error
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    still = model.body_weldid[model.geom_bodyid] == 0
    floors, boxes = [], []
    for number in np.flatnonzero(still & ((model.geom_contype != 0) | (model.geom_conaffinity != 0))):
        kind, place = mujoco.mjtGeom(model.geom_type[number]), data.geom_xpos[number]
        if kind == mujoco.mjtGeom.mjGEOM_BOX:
            quaternion = np.zeros(4)
            mujoco.mju_mat2Quat(quaternion, data.geom_xmat[number])
            parts = place, model.geom_size[number], np.roll(quaternion, -1)
            boxes.append(Box(*(tuple(part.tolist()) for part in parts)))
        elif kind == mujoco.mjtGeom.mjGEOM_PLANE and data.geom_xmat[number, 8] > _LEVEL_PLANE:
            floors.append(float(place[2]))
        else:
            name = model.geom(number).name or f"number {number}"
            found = (
                "a tilted plane" if kind == mujoco.mjtGeom.mjGEOM_PLANE else kind.name.removeprefix("mjGEOM_").lower()
            )
            raise ParameterError(f"ground {text!r}: geom {name} is {found}; allowed: level planes and boxes")
    if not floors:
        raise ParameterError(f"ground {text!r} has no level plane for the robot to stand on")
    there = Terrain(height=max(floors), boxes=tuple(boxes))
    level = float(there.heights(np.zeros((1, 2)))[0])
    moved = (replace(box, centre=(*box.centre[:2], box.centre[2] - level)) for box in boxes)
    return Terrain(height=there.height - level, boxes=tuple(moved))
