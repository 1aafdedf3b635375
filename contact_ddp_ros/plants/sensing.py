"""Sensors and delays between physics and software: errors of states, the inertial unit, delays of commands.

White noise on the measured state.

A payload on the trunk: a cube on its upper side, whose mass lies in its middle.
"""

import math
from collections import deque
from dataclasses import dataclass, replace
from functools import cache
from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.plants.options import ImuOptions, NoiseOptions, PayloadOptions, SimOptions, StateErrorOptions
from contact_ddp_ros.robot.rotation import (
    quaternion_product,
    quaternion_to_matrix,
    quaternion_to_rpy,
    rotation_vector_to_quaternion,
    rpy_to_quaternion,
    up_in_body,
)
from contact_ddp_ros.robot.state import ImuSample, RobotState
from contact_ddp_ros.robot.tree import GRAVITY

Array = NDArray[np.float64]

_SHORTEST_STEP, _LONGEST_STEP = 0.0015, 0.05
"""Times between two samples of which a difference tells the angular acceleration [s]."""


def noisy(state: RobotState, noise: NoiseOptions, rng: np.random.Generator) -> RobotState:
    """The state with independent normal errors of the given standard deviations added; the stamp is exact."""

    def shaken(values: Array, deviation: float) -> Array:
        return values + deviation * rng.standard_normal(values.shape)

    turn = rotation_vector_to_quaternion(noise.orientation * rng.standard_normal(3))
    return replace(
        state,
        position=shaken(state.position, noise.position),
        orientation=quaternion_product(state.orientation, turn),
        linear_velocity=shaken(state.linear_velocity, noise.linear_velocity),
        angular_velocity=shaken(state.angular_velocity, noise.angular_velocity),
        joint_positions=shaken(state.joint_positions, noise.joint_positions),
        joint_velocities=shaken(state.joint_velocities, noise.joint_velocities),
    )


@dataclass(frozen=True)
class _ImuGrade:
    """Noise densities [per sqrt(Hz)] and random walks of the biases [per sqrt(s)], ranges; rad/s and m/s^2."""

    gyro: float = 0.0
    accelerometer: float = 0.0
    gyro_walk: float = 0.0
    accelerometer_walk: float = 0.0
    gyro_range: float = math.inf
    accelerometer_range: float = math.inf


_GRADES: Final = {
    "ideal": _ImuGrade(),
    "tactical": _ImuGrade(6.1e-5, 1.4e-3, 3e-5, 4e-4, 34.9, 157.0),
    "consumer": _ImuGrade(2.4e-4, 2.0e-3, 3e-4, 3e-3, 34.9, 157.0),
}
"""Grades by the data sheets of VectorNav's VN-100 and of Bosch's BMI088: 2000 deg/s, 16 g."""


class Imu:
    """Inertial unit at the trunk's origin: adds up true motion and gives samples with noise, biases and a range."""

    def __init__(self, options: ImuOptions, seed: int) -> None:
        """Draw the constant errors."""
        self._grade, self._rng = _GRADES[options.preset], np.random.default_rng([seed, 1])
        self._biases = np.array([options.gyro_bias, options.accelerometer_bias])[:, None] * self._rng.choice(
            [-1.0, 1.0], (2, 3)
        )
        self._mounted = quaternion_to_matrix(rpy_to_quaternion(options.roll, options.pitch, 0.0)).T
        self._sum, self._steps, self._time = np.zeros(3), 0, -math.inf
        self._last: ImuSample | None = None

    def add(self, specific_force: Array) -> None:
        """Note the specific force (3,) of one physics step [m/s^2]."""
        self._sum += specific_force
        self._steps += 1

    def sample(self, state: RobotState) -> ImuSample:
        """The sample at a true state; a unit that has noted no force yet has rested."""
        if self._last is not None and self._last.time == state.time:
            return self._last
        grade, rng = self._grade, self._rng
        dt = state.time - self._time if math.isfinite(self._time) and state.time > self._time else 0.002
        walks = np.array([[grade.gyro_walk], [grade.accelerometer_walk]])
        self._biases = self._biases + math.sqrt(dt) * walks * rng.standard_normal((2, 3))
        force = self._sum / self._steps if self._steps else GRAVITY * up_in_body(state.orientation)
        self._sum, self._steps, self._time = np.zeros(3), 0, state.time
        noise = rng.standard_normal((2, 3)) / math.sqrt(dt)
        rate = self._mounted @ state.angular_velocity + self._biases[0] + grade.gyro * noise[0]
        force = self._mounted @ force + self._biases[1] + grade.accelerometer * noise[1]
        ranges = grade.gyro_range, grade.accelerometer_range
        self._last = ImuSample(state.time, np.clip(rate, -ranges[0], ranges[0]), np.clip(force, -ranges[1], ranges[1]))
        return self._last


PAYLOAD_SIZE: Final = 0.035
"""Half the side of the cube [m]."""

LOW: Final = 0.05
"""Height of the upper side of a trunk that has no boxes [m]."""


class LeverArm:
    """Acceleration of an inertial unit about the trunk's origin, from the rates of its samples."""

    def __init__(self) -> None:
        """No sample has come."""
        self._last: tuple[float, Array] | None = None
        self._turning = np.zeros(3)

    def acceleration(self, stamp: float, rate: Array, place: Array) -> Array:
        """(3,) acceleration that the unit feels and the origin does not, in the trunk's axes [m/s^2].

        Args:
            stamp: of the sample [s]. Samples closer than a millisecond share an angular acceleration.
            rate: (3,) angular velocity in the trunk's axes [rad/s].
            place: (3,) of the unit from the trunk's origin [m].
        """
        step = 0.0 if self._last is None else stamp - self._last[0]
        if self._last is None or not 0.0 < step < _LONGEST_STEP:
            self._last, self._turning = (stamp, rate), np.zeros(3)
        elif step >= _SHORTEST_STEP:
            self._last, self._turning = (stamp, rate), (rate - self._last[1]) / step
        return np.cross(self._turning, place) + (rate @ place) * rate - (rate @ rate) * place


def place(payload: PayloadOptions, top: float) -> Array:
    """(3,) of its middle in base_link, the trunk's upper side being at `top` [m]."""
    return np.array([payload.x, payload.y, top + PAYLOAD_SIZE])


def moment(payload: PayloadOptions) -> float:
    """Moment of inertia about any axis through its middle [kg m^2]."""
    return payload.mass * (2.0 * PAYLOAD_SIZE) ** 2 / 6.0


def loaded(mass: float, com: Array, inertia: Array, payload: PayloadOptions, top: float) -> tuple[float, Array, Array]:
    """A body and the payload as one: mass [kg], centre of mass (3,) [m], inertia (3, 3) about it [kg m^2]."""
    total, middle = mass + payload.mass, place(payload, top)
    centre = (mass * com + payload.mass * middle) / total
    tensor = inertia + moment(payload) * np.eye(3)
    for part, at in ((mass, com - centre), (payload.mass, middle - centre)):
        tensor = tensor + part * (at @ at * np.eye(3) - np.outer(at, at))
    return total, centre, tensor


Value = TypeVar("Value")


class Delay(Generic[Value]):
    """Hands on each value a number of steps after it was put in; until then, the first one."""

    def __init__(self, steps: int) -> None:
        """Begin empty."""
        self.steps = steps
        self._values: deque[Value] = deque(maxlen=steps + 1)

    def put(self, value: Value) -> Value:
        """The value of `steps` puts before; the oldest there is where there were fewer."""
        self._values.append(value)
        return self._values[0]

    @property
    def oldest(self) -> Value:
        """Value that was put in `steps` puts ago, or first."""
        return self._values[0]

    def clear(self) -> None:
        """Forget what is on its way."""
        self._values.clear()


def sensed(state: RobotState, options: SimOptions, rng: np.random.Generator) -> RobotState:
    """The state as it is measured, with the options' constant errors and noise; itself where there is neither."""
    state = state if options.error == StateErrorOptions() else mistaken(state, options.error, options.seed)
    return state if options.noise == NoiseOptions() else noisy(state, options.noise, rng)


@cache
def _joint_errors(seed: int, n_joints: int) -> Array:
    """Errors of the joints' angles, as shares of the largest."""
    return np.random.default_rng([seed, 2]).uniform(-1.0, 1.0, n_joints)


def mistaken(state: RobotState, error: StateErrorOptions, seed: int) -> RobotState:
    """The state as an estimator with these constant errors reports it."""
    roll, pitch, yaw = quaternion_to_rpy(state.orientation).tolist()
    return replace(
        state,
        position=state.position + np.array([0.0, 0.0, error.z]),
        orientation=rpy_to_quaternion(roll + error.roll, pitch + error.pitch, yaw + error.yaw),
        joint_positions=state.joint_positions + error.joints * _joint_errors(seed, len(state.joint_positions)),
    )
