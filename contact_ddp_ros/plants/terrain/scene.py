"""The ground of an MJCF file: level planes and boxes."""

from dataclasses import replace
from functools import lru_cache
from typing import Final

import numpy as np

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.plants.terrain.shapes import Box, Terrain

SCENE_SUFFIX: Final = ".xml"
_LEVEL_PLANE = 1.0 - 1e-9
"""Least vertical component of a level plane's normal."""


@lru_cache(maxsize=4)
def scene(text: str) -> Terrain:
    """What of an MJCF file is there to be collided with and does not move; friction is the simulator's.

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
