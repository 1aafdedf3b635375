"""Shapes of the simulated world: those of MuJoCo's model as plain data, and their places in a state.

Whoever draws needs neither MuJoCo nor to know which world it is: ground, slope, step or boxes are shapes of body 0,
which does not move.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.mujoco_engine import mujoco
from contact_ddp_ros.plants.mujoco_model import COLLISION_GROUP, build_model
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.robot.joints import FOOT_NAMES, JOINT_NAMES
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.state import RobotState

Array = NDArray[np.float64]

_BASE = 7
"""Size of the free joint's part of qpos."""

_KINDS = {
    int(mujoco.mjtGeom.mjGEOM_PLANE): "plane",
    int(mujoco.mjtGeom.mjGEOM_HFIELD): "mesh",
    int(mujoco.mjtGeom.mjGEOM_SPHERE): "ellipsoid",
    int(mujoco.mjtGeom.mjGEOM_CAPSULE): "capsule",
    int(mujoco.mjtGeom.mjGEOM_ELLIPSOID): "ellipsoid",
    int(mujoco.mjtGeom.mjGEOM_CYLINDER): "cylinder",
    int(mujoco.mjtGeom.mjGEOM_BOX): "box",
    int(mujoco.mjtGeom.mjGEOM_MESH): "mesh",
}


@dataclass(frozen=True)
class Shape:
    """One shape of a body.

    Attributes:
        body: index of the body; 0 is the world.
        kind: plane (normal z, without end where a size is 0), box, ellipsoid, capsule and cylinder (along z), mesh.
        size: (3,) half extents [m]; of capsule and cylinder radius and half length.
        position, wxyz: (3,) [m] and (4,) unit quaternion of the shape in its body.
        rgba: (4,) colour, 0 to 1.
        vertices, faces: (n, 3) [m] and (m, 3) of a mesh, empty otherwise.
    """

    body: int
    kind: str
    size: Array
    position: Array
    wxyz: Array
    rgba: Array
    vertices: Array
    faces: NDArray[np.int64]


class Figure:
    """The shapes of robot and world, and the poses of their bodies in any state of the robot."""

    def __init__(self, robot: Robot, options: SimOptions) -> None:
        """Builds the same model as the simulator of these options.

        Raises:
            SimulationError: MuJoCo refuses the model.
        """
        self._model = build_model(robot, options)
        self._data = mujoco.MjData(self._model)
        self._joints = np.array([self._model.joint(name).qposadr[0] for name in JOINT_NAMES])
        self._feet = np.array([self._model.geom(name).id for name in FOOT_NAMES])
        self.foot_radius = robot.foot_radius
        self.bodies = tuple(self._model.body(body).name for body in range(self._model.nbody))
        """Names by index."""
        self.shapes = tuple(self._shapes())

    def poses(self, state: RobotState) -> tuple[Array, Array]:
        """Positions (n, 3) [m] and unit quaternions (n, 4) (w, x, y, z) of all bodies in `odom`."""
        self._place(state)
        return self._data.xpos.copy(), self._data.xquat.copy()

    def feet(self, state: RobotState) -> Array:
        """(4, 3) lowest points of the feet on level ground, in `odom` [m], in the order of FOOT_NAMES."""
        self._place(state)
        return self._data.geom_xpos[self._feet] - np.array([0.0, 0.0, self.foot_radius])

    def _place(self, state: RobotState) -> None:
        qpos = self._data.qpos
        qpos[:3] = state.position
        qpos[3:_BASE] = np.roll(state.orientation, 1)
        qpos[self._joints] = state.joint_positions
        mujoco.mj_kinematics(self._model, self._data)

    def _shapes(self) -> Iterator[Shape]:
        model = self._model
        for geom in range(model.ngeom):
            kind = _KINDS.get(int(model.geom_type[geom]))
            body = int(model.geom_bodyid[geom])
            if kind is None or (body != 0 and model.geom_group[geom] == COLLISION_GROUP):
                continue
            size = model.geom_size[geom].copy()
            if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_SPHERE:
                size[:] = size[0]
            vertices, faces = self._mesh(geom)
            yield Shape(
                body=body,
                kind=kind,
                size=size,
                position=model.geom_pos[geom].copy(),
                wxyz=model.geom_quat[geom].copy(),
                rgba=model.geom_rgba[geom].astype(float),
                vertices=vertices,
                faces=faces,
            )

    def _mesh(self, geom: int) -> tuple[Array, NDArray[np.int64]]:
        model, data = self._model, int(self._model.geom_dataid[geom])
        if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_HFIELD:
            return _height_field(model, data)
        if model.geom_type[geom] != mujoco.mjtGeom.mjGEOM_MESH:
            return np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64)
        first, count = int(model.mesh_vertadr[data]), int(model.mesh_vertnum[data])
        begin, faces = int(model.mesh_faceadr[data]), int(model.mesh_facenum[data])
        vertices = model.mesh_vert[first : first + count].astype(float)
        return vertices, model.mesh_face[begin : begin + faces].astype(np.int64)


def _height_field(model: mujoco.MjModel, field: int) -> tuple[Array, NDArray[np.int64]]:
    """A height field's surface as triangles."""
    rows, columns = int(model.hfield_nrow[field]), int(model.hfield_ncol[field])
    half_x, half_y, top, _ = model.hfield_size[field]
    first = int(model.hfield_adr[field])
    heights = model.hfield_data[first : first + rows * columns].reshape(rows, columns) * top
    x, y = np.meshgrid(np.linspace(-half_x, half_x, columns), np.linspace(-half_y, half_y, rows))
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    lower = np.stack([corner, corner + 1, corner + columns + 1], axis=1)
    upper = np.stack([corner, corner + columns + 1, corner + columns], axis=1)
    vertices = np.stack([x.ravel(), y.ravel(), heights.ravel()], axis=1)
    return vertices, np.concatenate([lower, upper]).astype(np.int64)
