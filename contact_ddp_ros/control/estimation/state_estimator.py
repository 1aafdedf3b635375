"""State of the trunk from the IMU and the joints alone: no truth, no camera, no foot sensor.

The feet's forces come from the momentum observer and from the drives' torques, whichever is less: the observer is late
at a lift-off, torques say nothing of an impact. Their share of the weight makes the weights of the feet in the filter
(:mod:`contact_ddp_ros.control.estimation.state_filter`). A trunk that lies still, no foot carrying it, is at rest,
which holds the velocity and shows the gyroscope's bias.

Position and heading begin at zero, with the lowest foot on the ground, and drift. They begin anew where the clock or a
joint leaps, as those of a robot do that a simulator puts back. There is no place until a first
sample is steady, and it makes no leaps: after a fall a foot may correct it by a metre, which nobody can follow.
"""

import math
from dataclasses import replace
from typing import Any

import numba as nb
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.control.estimation.config import StateFilterConfig
from contact_ddp_ros.control.estimation.momentum import MomentumObserver
from contact_ddp_ros.control.estimation.state_filter import StateFilter
from contact_ddp_ros.robot.ground import Ground
from contact_ddp_ros.robot.joints import JOINT_NAMES
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.rotation import COMPILED, READ, WRITTEN, matrix_to_quaternion, quaternion_to_rpy
from contact_ddp_ros.robot.state import ImuSample, RobotState
from contact_ddp_ros.robot.tree import GRAVITY

Array = NDArray[np.float64]

_REST_TIME = 0.1
"""Time for which nothing must have moved for the trunk to be at rest [s]."""
_REST_RATE, _REST_FORCE = 0.1, 0.5
"""Largest deviations of a trunk at rest: angular rate [rad/s], specific force [m/s^2]."""
_LONGEST_GAP = 0.1
"""Time between two samples after which the estimate begins anew [s]."""
_LONGEST_BEGINNING = 0.5
"""Time after which a trunk that is never steady is taken as it is [s]."""
_CONTRADICTION, _DOUBT_TIME = 100.0, 0.05
"""Squared innovation of a foot's velocity that contradicts the estimate, and for how long until it is doubted [s]."""
_LOST_SPEED, _LOST_TILT = 0.5, 0.2
"""Velocity along an axis [m/s] and tilt beside gravity [rad] of a trunk at rest from which on the filter is lost."""
_PLACE_STEP = 0.03
"""Largest correction of the position along an axis that the state shows; beyond, its frame moves along [m]."""
_LEAP, _TOO_FAST = 0.1, 2.0
"""Beyond this step [rad] and this multiple of its largest velocity no joint moves by itself."""
_ANEW = "the state estimate begins anew after"
"""First words of the reason for that."""
_OBSERVER_RATE = 300.0
"""Bandwidth of the momentum observer [1/s]."""


class StateEstimator:
    """State estimator of one robot, from one IMU sample to the next.

    Attributes:
        filter: attitude, velocity, position and biases with their covariance.
        weights: (n_feet,) in [0, 1], how much each foot stands at the last sample.
    """

    def __init__(self, robot: Robot, config: StateFilterConfig | None = None) -> None:
        """Wait for the first sample."""
        self.filter = StateFilter(robot, config)
        self.weights = np.zeros(len(robot.tree.contacts))
        self._observer = MomentumObserver(robot)
        self._weight = robot.mass * GRAVITY
        self._fastest = _TOO_FAST * robot.velocity_limits
        self._joints = robot.standing
        self._time: float | None = None
        self._moved = self._began = self._changed = 0.0
        self._shown = np.full(6, np.nan)
        self._steady = False
        self.interruption = ""
        """Reason why the estimate has begun anew; empty once the trunk has been steady, and at the first sample."""
        self._contradicted = 0.0
        self._blow: Array | None = None
        self._shift = np.zeros(3)

    @property
    def frozen(self) -> float:
        """Time for which the IMU has repeated its sample to the last bit [s]."""
        return 0.0 if self._time is None else self._time - self._changed

    def figures(self) -> dict[str, Any]:
        """Values for diagnosis, by name: feet, innovations, biases, offsets, what is known of the velocity."""
        kept = self.filter
        return {
            "weights of the feet": " ".join(f"{one:.2f}" for one in self.weights),
            "largest squared innovation": round(float(kept.innovations.max()), 1),
            "gyroscope's bias [rad/s]": " ".join(f"{one:+.4f}" for one in kept.biases[0]),
            "accelerometer's bias [m/s²]": " ".join(f"{one:+.3f}" for one in kept.biases[1]),
            "largest offset of a joint [rad]": round(float(np.abs(kept.offsets).max()), 4),
            "standard deviation of the velocity [m/s]": round(
                float(np.diag(kept.twist_covariance)[:3].max() ** 0.5), 4
            ),
        }

    def forget(self) -> None:
        """Begin anew at the next sample."""
        self._time = None
        self._steady = False
        self._contradicted = 0.0
        self._blow = None
        self._shift[:] = 0.0
        self._shown = np.full(6, np.nan)
        self._observer.forget()

    def update(
        self, imu: ImuSample, positions: Array, velocities: Array, torques: Array, ground: Ground | None = None
    ) -> RobotState:
        """Take in a sample and the joints at its time; the estimated state.

        Its place is NaN where a number is none, and until a trunk has been steady or was not for half a second.

        Args:
            imu: of the trunk's origin.
            positions, velocities: (12,) of the joints [rad, rad/s].
            torques: (12,) that the drives have given since the last sample [N m].
            ground: estimated plane under the feet; level where none is known.
        """
        normal = (ground or Ground()).normal
        if imu.time == self._time:
            return self._told(self._state(imu, positions, velocities))
        taken = np.concatenate([imu.angular_velocity, imu.specific_force, positions, velocities, torques])
        if not np.isfinite(taken).all():
            return replace(self._state(imu, positions, velocities), position=np.full(3, np.nan))
        interruption = "" if self._time is None else self._broken(imu.time - self._time, positions)
        if self._time is None or interruption:
            self.forget()
            self._began = self._moved = imu.time
            self.interruption = interruption
        self._joints = positions
        if not self._steady:
            self._begin(imu, positions)
        dt = 0.0 if self._time is None else imu.time - self._time
        self._time = imu.time
        shown = taken[:6]
        if (shown != self._shown).any():
            self._shown, self._changed = shown, imu.time
        state = self._state(imu, positions, velocities)
        observer, c = self._observer, self.filter.config
        observer.update(state, torques, _OBSERVER_RATE)
        _weigh(observer.forces, observer.driven, normal, self._weight, c.contact_share, c.contact_spread, self.weights)
        if max(self.weights.tolist()) > 0.5 or not _is_still(imu.angular_velocity, imu.specific_force):
            self._moved = imu.time
        rest = imu.time - self._moved >= _REST_TIME
        self._feel_blow(imu.specific_force)
        if rest and self._is_lost(imu):
            self._level(imu, float(quaternion_to_rpy(state.orientation)[2]), self.filter.points[1].copy())
        velocity, position = self.filter.points[:2].copy()
        self.filter.update(
            dt, imu.angular_velocity, imu.specific_force, positions, velocities, self.weights, normal, rest
        )
        step = self.filter.points[1] - position - dt * velocity
        if np.abs(step).max() > _PLACE_STEP:
            self._shift -= step
        self._doubt(dt)
        return self._told(self._state(imu, positions, velocities))

    def _broken(self, gap: float, positions: Array) -> str:
        """Reason why a sample `gap` [s] after the last one does not go on from it; empty where it does."""
        if not 0.0 < gap <= _LONGEST_GAP:
            return f"{_ANEW} {gap:.3f} s between two samples of the IMU; allowed: more than 0, up to {_LONGEST_GAP:g} s"
        away = np.abs(positions - self._joints)
        joint = int(np.argmax(away - gap * self._fastest))
        if away[joint] > (allowed := _LEAP + gap * self._fastest[joint]):
            return (
                f"{_ANEW} {JOINT_NAMES[joint]} has moved {away[joint]:.2f} rad in {gap:.3f} s; allowed: {allowed:.2f}"
            )
        return ""

    def _told(self, state: RobotState) -> RobotState:
        """A state as it is given away: without a place as long as nothing has been steady."""
        return state if self._steady else replace(state, position=np.full(3, np.nan))

    def _feel_blow(self, force: Array) -> None:
        """Give up what was known of the velocity along the axes on which a blow went beyond the accelerometer."""
        most = self.filter.config.saturation
        if max(map(abs, force.tolist())) >= most:
            self._blow = np.where(np.abs(force) >= most, force, 0.0 if self._blow is None else self._blow)
        elif self._blow is not None:
            self.filter.forget_velocity(self._blow)
            self._blow = None

    def _doubt(self, dt: float) -> None:
        """Give up what is known of the velocity where every foot that stands contradicts it for some time."""
        innovations = self.filter.innovations[:, 1].tolist()
        told = [one for weight, one in zip(self.weights.tolist(), innovations) if weight > 0.5]
        if told:
            self._contradicted = self._contradicted + dt if min(told) > _CONTRADICTION else 0.0
        if self._contradicted > _DOUBT_TIME:
            self.filter.forget_velocity()
            self._contradicted = 0.0

    def _is_lost(self, imu: ImuSample) -> bool:
        """True if the trunk rests and the filter has it move, or tilted otherwise than gravity says."""
        up = imu.specific_force / np.linalg.norm(imu.specific_force)
        fast = float(np.abs(self.filter.points[0]).max()) > _LOST_SPEED
        return fast or float(up @ self.filter.rotation[2]) < math.cos(_LOST_TILT)

    def _begin(self, imu: ImuSample, positions: Array) -> None:
        """Level by the specific force, heading zero, lowest foot at height zero, at rest.

        Until one is of a trunk that is steady each sample begins anew, but not for ever.
        """
        steady = _is_still(imu.angular_velocity, imu.specific_force)
        self._steady = steady or imu.time - self._began >= _LONGEST_BEGINNING
        if self._steady:
            self.interruption = ""
        rotation = self._level(imu, 0.0, np.zeros(3))
        points, _ = self.filter.legs.points_and_jacobians(positions, -rotation[2])
        self.filter.points[1, 2] = -float((points @ rotation.T)[:, 2].min())

    def _level(self, imu: ImuSample, heading: float, place: Array) -> Array:
        """Begin the filter at rest, level by the specific force, at a heading [rad] and a place (3,) [m]."""
        x, y, z = imu.specific_force.tolist()
        rotation = pin.rpy.rpyToMatrix(math.atan2(y, z), math.atan2(-x, math.hypot(y, z)), heading)
        self.filter.begin(matrix_to_quaternion(rotation), np.zeros(3), place)
        return rotation

    def _state(self, imu: ImuSample, positions: Array, velocities: Array) -> RobotState:
        found = self.filter
        position, orientation, velocity, rate = _trunk(
            found.rotation, found.points, found.biases, self._shift, imu.angular_velocity
        )
        return RobotState(imu.time, position, orientation, velocity, rate, positions, velocities)


@njit(
    nb.void(nb.float64[:, :], nb.float64[:, :], nb.float64[:], nb.float64, nb.float64, nb.float64, nb.float64[::1]),
    **COMPILED,
)
def _weigh(forces, driven, normal, weight, share, spread, weights):  # type: ignore[no-untyped-def]
    """Weights (L,) of the feet by the lesser of two forces (L, 3) on each [N], as a share of the robot's weight."""
    for foot in range(weights.shape[0]):
        felt = push = 0.0
        for i in range(3):
            felt += forces[foot, i] * normal[i]
            push -= driven[foot, i] * normal[i]
        odds = (min(felt, push) / weight - share) / spread
        weights[foot] = 1.0 / (1.0 + math.exp(min(max(-odds, -50.0), 50.0)))


@njit(nb.types.UniTuple(WRITTEN, 4)(*[nb.float64[:, ::1]] * 3, WRITTEN, READ), **COMPILED)
def _trunk(rotation, points, biases, shift, rate):  # type: ignore[no-untyped-def]
    """Position, quaternion, velocity and angular rate of the trunk from a filter's arrays and a measured rate."""
    return (
        points[1] + shift,
        matrix_to_quaternion(rotation),
        np.array([(rotation[:, i] * points[0]).sum() for i in range(3)]),
        rate - biases[0],
    )


@njit(nb.boolean(READ, READ), **COMPILED)
def _is_still(rate, force):  # type: ignore[no-untyped-def]
    """True if the trunk does not turn [rad/s] and no force but gravity acts [m/s^2]."""
    still = abs(math.sqrt(force[0] ** 2 + force[1] ** 2 + force[2] ** 2) - GRAVITY) < _REST_FORCE
    for number in rate:
        still &= abs(number) < _REST_RATE
    return still
