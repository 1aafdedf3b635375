"""The robot in MuJoCo: exact state out, contact forces for the record.

MuJoCo's free joint has the linear velocity of the trunk's origin in world axes, the angular velocity in trunk axes and
quaternions as (w, x, y, z); all of that is converted here and nowhere else.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.base.mujoco_engine import mujoco
from contact_ddp_ros.plants.mujoco_model import ACCELEROMETER_NAME, build_model
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.plants.simulator import PhysicsSimulator
from contact_ddp_ros.plants.third_party_mjcf import Actuators
from contact_ddp_ros.robot.joints import BASE_LINK, FOOT_NAMES, JOINT_NAMES
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.rotation import quaternion_to_matrix
from contact_ddp_ros.robot.state import DriveGains, RobotState

Array = NDArray[np.float64]

_ORIENTATION = np.array([4, 5, 6, 3])
"""Places of (x, y, z, w) in qpos."""

_BASE_POSITIONS, _BASE_VELOCITIES = 7, 6
"""Sizes of the free joint's part of qpos and qvel."""


_ROUND = (mujoco.mjtGeom.mjGEOM_SPHERE, mujoco.mjtGeom.mjGEOM_CYLINDER)
"""Kinds of shapes whose first size is a radius."""


@dataclass
class _Pull:
    """A force (3,) in `odom` axes [N] at a point (3,) of a body, in the body's axes [m]."""

    body: int
    point: Array
    force: Array


class MujocoSimulator(PhysicsSimulator):
    """The :class:`contact_ddp_ros.plants.simulator.PhysicsSimulator` in MuJoCo."""

    def __init__(self, robot: Robot, gains: DriveGains, options: SimOptions | None = None) -> None:
        """Build the world.

        Raises:
            ParameterError: an option is out of its range.
            SimulationError: MuJoCo refuses the model.
        """
        super().__init__(robot, gains, options)
        self.model = build_model(robot, self._options)
        self.data = mujoco.MjData(self.model)
        joints = [self.model.joint(name) for name in JOINT_NAMES]
        self._q_index = np.array([joint.qposadr[0] for joint in joints])
        self._v_index = np.array([joint.dofadr[0] for joint in joints])
        self._actuators = Actuators.of(self.model)
        self._trunk = self.model.body(BASE_LINK).id
        self._feet = np.array([self.model.geom(name).id for name in FOOT_NAMES])
        is_round = np.isin(self.model.geom_type[self._feet], _ROUND)
        self._foot_radii = np.where(is_round, self.model.geom_size[self._feet, 0], robot.foot_radius)
        self._pull: _Pull | None = None
        self.reset()

    @property
    def time(self) -> float:
        """The simulation's clock [s]."""
        return float(self.data.time)

    def _place(self, state: RobotState) -> None:
        mujoco.mj_resetData(self.model, self.data)
        data = self.data
        data.time = state.time
        data.qpos[:3] = state.position
        data.qpos[3:_BASE_POSITIONS] = np.roll(state.orientation, 1)
        data.qvel[:3] = quaternion_to_matrix(state.orientation) @ state.linear_velocity
        data.qvel[3:_BASE_VELOCITIES] = state.angular_velocity
        data.qpos[self._q_index] = state.joint_positions
        data.qvel[self._v_index] = state.joint_velocities
        self._pull = None
        mujoco.mj_forward(self.model, data)

    def _true_state(self) -> RobotState:
        qpos, qvel = self.data.qpos, self.data.qvel
        orientation = qpos[_ORIENTATION]
        return RobotState(
            time=self.time,
            position=qpos[:3].copy(),
            orientation=orientation,
            linear_velocity=quaternion_to_matrix(orientation).T @ qvel[:3],
            angular_velocity=qvel[3:_BASE_VELOCITIES].copy(),
            joint_positions=qpos[self._q_index],
            joint_velocities=qvel[self._v_index],
        )

    def _joints(self) -> tuple[Array, Array]:
        return self.data.qpos[self._q_index], self.data.qvel[self._v_index]

    def _step(self, torques: Array, wrench: Array | None) -> None:
        data = self.data
        data.ctrl[self._actuators.indices] = self._actuators.control(torques, *self._joints())
        applied = data.xfrc_applied[self._trunk]
        applied[:] = 0.0
        if wrench is not None:  # MuJoCo wants it at the trunk's centre of mass
            applied[:] = wrench
            applied[3:] += np.cross(data.qpos[:3] - data.xipos[self._trunk], wrench[:3])
        self._apply_pull()
        mujoco.mj_step(self.model, data)
        self._applied = data.qfrc_actuator[self._v_index]

    def pull(self, link: str, point: Array, force: Array) -> None:
        """Let a force act on a point of a link from now on, in place of an earlier one, until it is set to zero.

        Args:
            link: name of the body.
            point: (3,) where it acts, in the link's axes from its origin [m].
            force: (3,) in `odom` axes [N].

        Raises:
            ParameterError: there is no such link, or a number is not finite.
        """
        point, force = np.asarray(point, dtype=float), np.asarray(force, dtype=float)
        if not np.isfinite([*point, *force]).all() or point.shape != (3,) or force.shape != (3,):
            raise ParameterError(f"pull of {force} N at {point} m; give three finite numbers each")
        body = self._body(link)
        self._pull = _Pull(body, point, force) if force.any() else None

    def point_motion(self, link: str, point: Array) -> tuple[Array, Array]:
        """Position (3,) [m] and velocity (3,) [m/s] in `odom` of a point (3,) of a link, given in the link's axes [m].

        Raises:
            ParameterError: there is no such link.
        """
        body, jacobian = self._body(link), np.zeros((3, self.model.nv))
        place = self.data.xpos[body] + self.data.xmat[body].reshape(3, 3) @ np.asarray(point, dtype=float)
        mujoco.mj_jac(self.model, self.data, jacobian, None, place, body)
        return place, jacobian @ self.data.qvel

    def _foot_centres(self) -> Array:
        mujoco.mj_kinematics(self.model, self.data)
        return self.data.geom_xpos[self._feet]

    def _contact_forces(self) -> Array:
        forces = np.zeros((len(self._feet), 3))
        wrench = np.zeros(6)
        contacts = self.data.contact
        for index, pair in enumerate(contacts.geom):
            foot = np.flatnonzero((self._feet == pair[0]) | (self._feet == pair[1]))
            if foot.size == 0:
                continue
            mujoco.mj_contactForce(self.model, self.data, index, wrench)
            # The frame's first row is the normal from the pair's first shape to its second.
            sign = 1.0 if pair[1] == self._feet[foot[0]] else -1.0
            forces[foot[0]] += sign * contacts.frame[index].reshape(3, 3).T @ wrench[:3]
        return forces

    def _specific_force(self) -> Array:
        return self.data.sensor(ACCELEROMETER_NAME).data.copy()

    def _body(self, link: str) -> int:
        body = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, link)
        if body <= 0:
            raise ParameterError(f"no link {link!r}; there are {', '.join(self.links)}")
        return int(body)

    @property
    def links(self) -> tuple[str, ...]:
        """Names of the robot's bodies."""
        return tuple(self.model.body(body).name for body in range(1, self.model.nbody))

    def _apply_pull(self) -> None:
        """The pull as generalised forces."""
        data, pull = self.data, self._pull
        data.qfrc_applied[:] = 0.0
        if pull is None:
            return
        place = data.xpos[pull.body] + data.xmat[pull.body].reshape(3, 3) @ pull.point
        mujoco.mj_applyFT(self.model, data, pull.force, np.zeros(3), place, pull.body, data.qfrc_applied)
