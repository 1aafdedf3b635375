"""Simulated plant around an engine: drives evaluated at every step, delays, sensors' errors, pushes."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.config import validate
from contact_ddp_ros.base.errors import ParameterError, SimulationError
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.plants.plant import Capabilities, Truth
from contact_ddp_ros.plants.sensing import Delay, Imu, sensed
from contact_ddp_ros.plants.terrain.words import parse_terrain
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.rotation import quaternion_product
from contact_ddp_ros.robot.state import DriveGains, ImuSample, JointCommand, RobotState

Array = NDArray[np.float64]


@dataclass
class _Push:
    """A force and a moment at the trunk's origin (6,) [N, N m] and the number of steps it still lasts."""

    wrench: Array
    steps: int


class _Truth:
    """The :class:`contact_ddp_ros.plants.plant.Truth` of an engine; each quantity is computed when it is first read."""

    def __init__(self, simulator: "PhysicsSimulator") -> None:
        self._simulator = simulator

    @cached_property
    def state(self) -> RobotState:
        return self._simulator._true_state()

    @cached_property
    def foot_heights(self) -> Array:
        return self._simulator._foot_heights()

    @cached_property
    def contact_forces(self) -> Array:
        return self._simulator._contact_forces()

    @cached_property
    def applied_torques(self) -> Array:
        return self._simulator._applied.copy()

    @cached_property
    def specific_force(self) -> Array:
        return self._simulator._specific_force()


class PhysicsSimulator(ABC):
    """A :class:`contact_ddp_ros.plants.plant.SimulatedPlant` around an engine; begins standing, drives damping.

    A derived class builds its world in `__init__`, after this one's, and ends that with :meth:`reset`.
    """

    capabilities = Capabilities()

    def __init__(self, robot: Robot, gains: DriveGains, options: SimOptions | None = None) -> None:
        """Check the options.

        Raises:
            ParameterError: one is out of its range.
        """
        self._options = SimOptions() if options is None else options
        validate(self._options)
        self._robot = robot
        self._gains = gains
        self._terrain = parse_terrain(self._options.terrain)
        self._foot_radii: float | Array = robot.foot_radius
        self._command = JointCommand.damping(robot.n_joints)
        self._applied = np.zeros(robot.n_joints)
        self._pushes: list[_Push] = []
        delay = self._options.delay
        self._states: Delay[RobotState] = Delay(self._steps(delay.state))
        self._commands: Delay[JointCommand] = Delay(self._steps(delay.command))
        self._torques: Delay[Array] = Delay(self._steps(delay.torque))
        self._rng = np.random.default_rng(self._options.seed)
        self._measured: RobotState | None = None
        self._imu: Imu | None = None

    @property
    @abstractmethod
    def time(self) -> float:
        """The simulation's clock [s]."""

    @property
    def timestep(self) -> float:
        """Length of a physics step [s]."""
        return self._options.timestep

    @abstractmethod
    def _true_state(self) -> RobotState:
        """The state without noise."""

    @abstractmethod
    def _contact_forces(self) -> Array:
        """(4, 3) force of the ground on each foot during the last step, in `odom` axes [N]."""

    @abstractmethod
    def _specific_force(self) -> Array:
        """(3,) specific force at the trunk's origin in the last step, in `base_link` axes [m/s^2]."""

    @abstractmethod
    def _place(self, state: RobotState) -> None:
        """Put the robot into a finite state of unit orientation; the clock takes its stamp, nothing acts on it."""

    @abstractmethod
    def _joints(self) -> tuple[Array, Array]:
        """Joint positions (12,) [rad] and velocities (12,) [rad/s]."""

    @abstractmethod
    def _step(self, torques: Array, wrench: Array | None) -> None:
        """One step with the joints' torques (12,) [N m] and, on the trunk's origin in `odom` axes, a wrench (6,)."""

    @abstractmethod
    def _foot_centres(self) -> Array:
        """(4, 3) of the feet's spheres [m]."""

    def reset(self, state: RobotState | None = None) -> None:
        """Put the robot into a state (standing at time 0, by default), drives damping, no push, noise from its seed.

        Raises:
            SimulationError: the state is not finite or its arrays have other sizes.
        """
        start = self._standing() if state is None else state
        if not start.is_finite() or start.joint_positions.shape != (self._robot.n_joints,):
            raise SimulationError("cannot reset to a state that is not finite or has another number of joints")
        norm = float(np.linalg.norm(start.orientation))
        if not norm > 0.0:
            raise SimulationError("cannot reset to a state whose orientation is the zero quaternion")
        self._command = JointCommand.damping(self._robot.n_joints)
        self._applied = np.zeros(self._robot.n_joints)
        self._pushes.clear()
        for delay in (self._states, self._commands, self._torques):
            delay.clear()
        self._rng = np.random.default_rng(self._options.seed)
        self._measured = None
        self._imu = None
        self._place(replace(start, orientation=start.orientation / norm))
        self._states.put(self._true_state())

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

    def read(self) -> RobotState:
        """The state as it is measured; repeated calls at one instant return the same state."""
        if self._measured is None:
            late = self._options.delay.state > 0.0
            state = self._states.oldest if late else self._true_state()
            self._measured = sensed(state, self._options, self._rng)
        return self._measured

    def imu(self) -> ImuSample:
        """Sample of the inertial unit now; repeated calls at one instant return the same sample."""
        if self._imu is None:
            self._imu = Imu(self._options.imu, self._options.seed)
        return self._imu.sample(self._true_state())

    def write(self, command: JointCommand, gains: DriveGains | None = None) -> None:
        """Set the drives' command and, where given, their gains from now on.

        Raises:
            SimulationError: it is not finite or has another number of joints; the drives keep the last one.
        """
        parts = [command.velocities, command.torques]
        parts += [] if command.positions is None else [command.positions]
        parts += [] if gains is None else [gains.kp, gains.kd, gains.kd_damping]
        for part in parts:
            if np.shape(part) != (self._robot.n_joints,) or not np.isfinite(part).all():
                raise SimulationError(
                    f"joint command holds {part}; every part must be {self._robot.n_joints} finite numbers"
                )
        self._command = command
        self._gains = self._gains if gains is None else gains

    def advance(self, n: int = 1) -> None:
        """Advance n physics steps, the drives closing their loop at each.

        Raises:
            SimulationError: the state is no longer finite; the text names what diverged.
        """
        for _ in range(n):
            self._applied = self._drive()
            self._step(self._applied, self._pushed())
            if self._imu is not None:
                self._imu.add(self._specific_force())
            if self._options.delay.state > 0.0:
                self._states.put(self._true_state())
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
        self._pushes.append(_Push(scale * np.concatenate(parts), steps))

    def truth(self) -> Truth:
        """Quantities without the errors of sensors, at the present instant."""
        return _Truth(self)

    def _foot_heights(self) -> Array:
        return self._terrain.clearances(self._foot_centres(), self._foot_radii)

    def _drive(self) -> Array:
        """The law of :class:`contact_ddp_ros.robot.state.JointCommand` at the present joint state: torques (12,)."""
        command = self._commands.put(self._command) if self._commands.steps else self._command
        limits = self._robot.effort_limits
        torques = np.minimum(np.maximum(self._gains.torques(command, *self._joints()), -limits), limits)
        torques = self._torques.put(torques) if self._torques.steps else torques
        return self._options.torque_scale * torques

    def _pushed(self) -> Array | None:
        """Sum of the active pushes (6,), None where there is none; a step of each has passed."""
        if not self._pushes:
            return None
        wrench = np.zeros(6)
        for push in self._pushes:
            wrench += push.wrench
            push.steps -= 1
        self._pushes = [push for push in self._pushes if push.steps > 0]
        return wrench

    def _check_finite(self) -> None:
        state = self._true_state()
        if state.is_finite():
            return
        parts = {
            "trunk pose": np.append(state.position, state.orientation),
            "trunk velocity": np.append(state.linear_velocity, state.angular_velocity),
            "joint positions": state.joint_positions,
            "joint velocities": state.joint_velocities,
        }
        diverged = ", ".join(name for name, values in parts.items() if not np.isfinite(values).all())
        raise SimulationError(f"at {self.time:.4f} s these are no longer finite: {diverged}; reset the simulation")
