"""What stands between physics and software: errors of states, delays of states, commands and torques.

White noise on the measured state.

A payload on the trunk: a cube on its upper side, whose mass lies in its middle.
"""

from collections import deque
from dataclasses import replace
from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.plants.options import NoiseOptions, PayloadOptions, SimOptions, StateErrorOptions
from contact_ddp_ros.robot.rotation import (
    quaternion_product,
    quaternion_to_rpy,
    rotation_vector_to_quaternion,
    rpy_to_quaternion,
)
from contact_ddp_ros.robot.state import RobotState

Array = NDArray[np.float64]


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


PAYLOAD_SIZE: Final = 0.035
"""Half the side of the cube [m]."""

LOW: Final = 0.05
"""Height of the upper side of a trunk that has no boxes [m]."""


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
        """What was put in `steps` puts ago, or first."""
        return self._values[0]

    def clear(self) -> None:
        """Forget what is on its way."""
        self._values.clear()


def sensed(state: RobotState, options: SimOptions, rng: np.random.Generator) -> RobotState:
    """The state as it is measured, with the options' constant errors and noise; itself where there is neither."""
    state = state if options.error == StateErrorOptions() else mistaken(state, options.error)
    return state if options.noise == NoiseOptions() else noisy(state, options.noise, rng)


def mistaken(state: RobotState, error: StateErrorOptions) -> RobotState:
    """The state as an estimator with these constant errors reports it."""
    roll, pitch, yaw = quaternion_to_rpy(state.orientation).tolist()
    return replace(
        state,
        position=state.position + np.array([0.0, 0.0, error.z]),
        orientation=rpy_to_quaternion(roll + error.roll, pitch + error.pitch, yaw + error.yaw),
    )
