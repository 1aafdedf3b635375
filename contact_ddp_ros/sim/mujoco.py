"""The robot in MuJoCo: drives evaluated at every physics step, exact state out, contact forces for the record.

MuJoCo's free joint has the linear velocity of the trunk's origin in world axes, the angular velocity in trunk axes and
quaternions as (w, x, y, z); all of that is converted here and nowhere else.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.config import validate
from contact_ddp_ros.errors import ParameterError, SimulationError
from contact_ddp_ros.robot.joints import BASE_LINK, FOOT_NAMES, JOINT_NAMES
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.rotation import quaternion_to_matrix
from contact_ddp_ros.robot.state import DriveGains, JointCommand, RobotState
from contact_ddp_ros.sim.engine import mujoco
from contact_ddp_ros.sim.mujoco_model import ACCELEROMETER_NAME, build_model
from contact_ddp_ros.sim.noise import noisy
from contact_ddp_ros.sim.options import NoiseOptions, SimOptions

Array = NDArray[np.float64]

_ORIENTATION = np.array([4, 5, 6, 3])
"""Where (x, y, z, w) are in qpos."""

_BASE_POSITIONS, _BASE_VELOCITIES = 7, 6
"""Sizes of the free joint's part of qpos and qvel."""


@dataclass
class _Push:
    """A force on the trunk's origin (3,) [N] and the number of steps it still lasts."""

    force: Array
    steps: int


class MujocoSimulator:
    """A :class:`contact_ddp_ros.sim.interface.Simulator`; begins standing, drives damping."""

    def __init__(self, robot: Robot, gains: DriveGains, options: SimOptions | None = None) -> None:
        """Build the world.

        Raises:
            ParameterError: an option is out of its range.
            SimulationError: MuJoCo refuses the model.
        """
        self._options = SimOptions() if options is None else options
        validate(self._options)
        self._robot = robot
        self._gains = gains
        self.model = build_model(robot, self._options)
        self.data = mujoco.MjData(self.model)
        joints = [self.model.joint(name) for name in JOINT_NAMES]
        self._q_index = np.array([joint.qposadr[0] for joint in joints])
        self._v_index = np.array([joint.dofadr[0] for joint in joints])
        self._actuators = np.array([self.model.actuator(name).id for name in JOINT_NAMES])
        self._trunk = self.model.body(BASE_LINK).id
        self._feet = np.array([self.model.geom(name).id for name in FOOT_NAMES])
        self._foot_radii = self.model.geom_size[self._feet, 0]
        self._command = JointCommand.damping(robot.n_joints)
        self._pushes: list[_Push] = []
        self._rng = np.random.default_rng(self._options.seed)
        self._measured: RobotState | None = None
        self.reset()

    @property
    def time(self) -> float:
        """The simulation's clock [s]."""
        return float(self.data.time)

    @property
    def timestep(self) -> float:
        """Length of a physics step [s]."""
        return float(self.model.opt.timestep)

    def reset(self, state: RobotState | None = None) -> None:
        """Put the robot into a state (standing at time 0, by default), drives damping, no push, noise from its seed.

        Raises:
            SimulationError: the state is not finite or its arrays have other sizes.
        """
        start = self._robot.standing_state() if state is None else state
        if not start.is_finite() or start.joint_positions.shape != self._q_index.shape:
            raise SimulationError("cannot reset to a state that is not finite or has another number of joints")
        norm = float(np.linalg.norm(start.orientation))
        if not norm > 0.0:
            raise SimulationError("cannot reset to a state whose orientation is the zero quaternion")
        mujoco.mj_resetData(self.model, self.data)
        data = self.data
        data.time = start.time
        data.qpos[:3] = start.position
        data.qpos[3:_BASE_POSITIONS] = np.roll(start.orientation / norm, 1)
        data.qvel[:3] = quaternion_to_matrix(start.orientation) @ start.linear_velocity
        data.qvel[3:_BASE_VELOCITIES] = start.angular_velocity
        data.qpos[self._q_index] = start.joint_positions
        data.qvel[self._v_index] = start.joint_velocities
        self._command = JointCommand.damping(self._robot.n_joints)
        self._pushes.clear()
        self._rng = np.random.default_rng(self._options.seed)
        self._measured = None
        mujoco.mj_forward(self.model, data)

    def tune(self, gains: DriveGains, noise: NoiseOptions) -> None:
        """From now on drive the joints with these gains and measure with this noise.

        Raises:
            ParameterError: a standard deviation is out of its range; nothing has changed then.
        """
        validate(noise)
        self._gains, self._options = gains, replace(self._options, noise=noise)

    def state(self) -> RobotState:
        """The state with the sensors' noise; the same one until time moves on."""
        if self._measured is None:
            state, noise = self.true_state(), self._options.noise
            self._measured = state if noise == NoiseOptions() else noisy(state, noise, self._rng)
        return self._measured

    def true_state(self) -> RobotState:
        """The state without noise."""
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

    def apply(self, command: JointCommand, gains: DriveGains | None = None) -> None:
        """Hand the drives a new command and, where it comes with `gains` of its own, those from now on.

        Raises:
            SimulationError: it is not finite or has another number of joints; the drives keep the last one.
        """
        parts = [command.velocities, command.torques]
        parts += [] if command.positions is None else [command.positions]
        parts += [] if gains is None else [gains.kp, gains.kd, gains.kd_damping]
        for part in parts:
            if np.shape(part) != self._q_index.shape or not np.isfinite(part).all():
                raise SimulationError(
                    f"joint command holds {part}; every part must be {self._q_index.size} finite numbers"
                )
        self._command = command
        self._gains = self._gains if gains is None else gains

    def step(self, n: int = 1) -> None:
        """Advance n physics steps, the drives closing their loop at each.

        Raises:
            SimulationError: the state is no longer finite; the text names what diverged.
        """
        for _ in range(n):
            self._drive()
            self._push()
            mujoco.mj_step(self.model, self.data)
        self._measured = None
        self._check_finite()

    def push(self, force: Array, duration: float) -> None:
        """Push the trunk's origin from now on: force (3,) in `odom` axes [N], for `duration` [s].

        The duration is rounded to whole steps and the force scaled so that the impulse is exact. Pushes add up.

        Raises:
            ParameterError: a number is not finite, or the duration is not positive.
        """
        force = np.asarray(force, dtype=float)
        if force.shape != (3,) or not np.isfinite(force).all() or not 0.0 < duration < np.inf:
            raise ParameterError(
                f"push of {force} N for {duration} s; give three finite forces and a positive duration"
            )
        steps = max(1, round(duration / self.timestep))
        self._pushes.append(_Push(force * (duration / (steps * self.timestep)), steps))

    def foot_heights(self) -> Array:
        """(4,) height of each foot's lowest point above the ground below it [m]; negative where it presses in."""
        mujoco.mj_kinematics(self.model, self.data)
        feet, step = self.data.geom_xpos[self._feet], self._options.ground_step
        ground = np.where(feet[:, 0] >= step.position, step.height, 0.0)
        return feet[:, 2] - self._foot_radii - ground

    def contact_forces(self) -> Array:
        """(4, 3) force of the ground on each foot during the last step, in `odom` axes [N]."""
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

    def applied_torques(self) -> Array:
        """(12,) torques of the drives during the last step, after clipping [N m]."""
        return self.data.ctrl[self._actuators]

    def specific_force(self) -> Array:
        """(3,) what an accelerometer at the trunk's origin showed in the last step, in `base_link` axes [m/s^2]."""
        return self.data.sensor(ACCELEROMETER_NAME).data.copy()

    def _drive(self) -> None:
        """The law of :class:`contact_ddp_ros.robot.state.JointCommand` at the present joint state."""
        data = self.data
        torques = self._gains.torques(self._command, data.qpos[self._q_index], data.qvel[self._v_index])
        limits = self._robot.effort_limits
        data.ctrl[self._actuators] = np.minimum(np.maximum(torques, -limits), limits)

    def _push(self) -> None:
        """Sum of the active pushes, as a wrench at the trunk's centre of mass, where MuJoCo wants it."""
        wrench = self.data.xfrc_applied[self._trunk]
        wrench[:] = 0.0
        for push in self._pushes:
            wrench[:3] += push.force
            push.steps -= 1
        if self._pushes:
            lever = self.data.qpos[:3] - self.data.xipos[self._trunk]
            wrench[3:] = np.cross(lever, wrench[:3])
            self._pushes = [push for push in self._pushes if push.steps > 0]

    def _check_finite(self) -> None:
        data = self.data
        if np.isfinite(data.qpos).all() and np.isfinite(data.qvel).all():
            return
        parts = {
            "trunk pose": data.qpos[:_BASE_POSITIONS],
            "trunk velocity": data.qvel[:_BASE_VELOCITIES],
            "joint positions": data.qpos[self._q_index],
            "joint velocities": data.qvel[self._v_index],
        }
        diverged = ", ".join(name for name, values in parts.items() if not np.isfinite(values).all())
        raise SimulationError(f"at {self.time:.4f} s these are no longer finite: {diverged}; reset the simulation")
