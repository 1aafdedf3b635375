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
from contact_ddp_ros.robot.rotation import quaternion_product, quaternion_to_matrix
from contact_ddp_ros.robot.state import DriveGains, JointCommand, RobotState
from contact_ddp_ros.sim.engine import mujoco
from contact_ddp_ros.sim.mujoco_model import ACCELEROMETER_NAME, build_model
from contact_ddp_ros.sim.options import SimOptions
from contact_ddp_ros.sim.sensing import Delay, sensed
from contact_ddp_ros.terrain import parse_terrain

Array = NDArray[np.float64]

_ORIENTATION = np.array([4, 5, 6, 3])
"""Where (x, y, z, w) are in qpos."""

_BASE_POSITIONS, _BASE_VELOCITIES = 7, 6
"""Sizes of the free joint's part of qpos and qvel."""


@dataclass
class _Push:
    """A force on the trunk's origin (3,) [N], a moment (3,) [N m] and the number of steps it still lasts."""

    force: Array
    torque: Array
    steps: int


@dataclass
class _Pull:
    """A force (3,) in `odom` axes [N] at a point (3,) of a body, in the body's axes [m]."""

    body: int
    point: Array
    force: Array


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
        self._terrain = parse_terrain(self._options.terrain)
        self._command = JointCommand.damping(robot.n_joints)
        self._pushes: list[_Push] = []
        delay = self._options.delay
        self._states: Delay[RobotState] = Delay(self._steps(delay.state))
        self._commands: Delay[JointCommand] = Delay(self._steps(delay.command))
        self._torques: Delay[Array] = Delay(self._steps(delay.torque))
        self._pull: _Pull | None = None
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
        start = self._standing() if state is None else state
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
        for delay in (self._states, self._commands, self._torques):
            delay.clear()
        self._pull = None
        self._rng = np.random.default_rng(self._options.seed)
        self._measured = None
        mujoco.mj_forward(self.model, data)
        self._states.put(self.true_state())

    def _standing(self) -> RobotState:
        """Standing at the origin, upright on the ground's plane."""
        state, tilt = self._robot.standing_state(), self._terrain.tilt
        return replace(
            state,
            position=self._terrain.axes @ state.position,
            orientation=quaternion_product(tilt, state.orientation),
        )

    def _steps(self, delay: float) -> int:
        return round(delay / self.timestep)

    def tune(self, gains: DriveGains, options: SimOptions) -> None:
        """Replace the gains of the drives and, of the options, all that needs no other world.

        Raises:
            ParameterError: one of them is out of its range; nothing has changed then.
        """
        validate(options)
        live = {name: getattr(options, name) for name in ("noise", "error", "torque_scale")}
        self._gains, self._options = gains, replace(self._options, **live)

    def state(self) -> RobotState:
        """The state as it is measured; repeated calls at one instant return the same state."""
        if self._measured is None:
            late = self._options.delay.state > 0.0
            state = self._states.oldest if late else self.true_state()
            self._measured = sensed(state, self._options, self._rng)
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
        """Set the drives' command and, where given, their gains from now on.

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
            self._apply_pull()
            mujoco.mj_step(self.model, self.data)
            if self._options.delay.state > 0.0:
                self._states.put(self.true_state())
        self._measured = None
        self._check_finite()

    def push(self, force: Array, duration: float, torque: Array | None = None) -> None:
        """Push the trunk's origin from now on for `duration` [s]: force (3,) [N], moment (3,) [N m], in `odom` axes.

        The duration is rounded to whole steps and the push scaled so that the impulse is exact. Pushes add up.

        Raises:
            ParameterError: a number is not finite, or the duration is not positive.
        """
        parts = [np.asarray(part, dtype=float) for part in (force, np.zeros(3) if torque is None else torque)]
        if any(part.shape != (3,) or not np.isfinite(part).all() for part in parts) or not 0.0 < duration < np.inf:
            raise ParameterError(
                f"push of {force} N, {torque} N m for {duration} s; give three finite numbers of each and a positive"
                " duration"
            )
        steps = max(1, round(duration / self.timestep))
        scale = duration / (steps * self.timestep)
        self._pushes.append(_Push(scale * parts[0], scale * parts[1], steps))

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

    def foot_heights(self) -> Array:
        """(4,) height of each foot's lowest point above the ground below it [m]; negative where it presses in."""
        mujoco.mj_kinematics(self.model, self.data)
        return self._terrain.clearances(self.data.geom_xpos[self._feet], self._foot_radii)

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
        """(3,) specific force at the trunk's origin in the last step, in `base_link` axes [m/s^2]."""
        return self.data.sensor(ACCELEROMETER_NAME).data.copy()

    def _drive(self) -> None:
        """The law of :class:`contact_ddp_ros.robot.state.JointCommand` at the present joint state."""
        data = self.data
        command = self._commands.put(self._command) if self._commands.steps else self._command
        torques = self._gains.torques(command, data.qpos[self._q_index], data.qvel[self._v_index])
        limits = self._robot.effort_limits
        torques = np.minimum(np.maximum(torques, -limits), limits)
        torques = self._torques.put(torques) if self._torques.steps else torques
        data.ctrl[self._actuators] = self._options.torque_scale * torques

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

    def _push(self) -> None:
        """Sum of the active pushes, as a wrench at the trunk's centre of mass, where MuJoCo wants it."""
        wrench = self.data.xfrc_applied[self._trunk]
        wrench[:] = 0.0
        for push in self._pushes:
            wrench += [*push.force, *push.torque]
            push.steps -= 1
        if self._pushes:
            lever = self.data.qpos[:3] - self.data.xipos[self._trunk]
            wrench[3:] += np.cross(lever, wrench[:3])
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
