"""What stands between physics and software: errors of states, delays of states, commands and torques."""

from collections import deque
from dataclasses import replace
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.plants.noise import noisy
from contact_ddp_ros.plants.options import NoiseOptions, SimOptions, StateErrorOptions
from contact_ddp_ros.robot.rotation import quaternion_to_rpy, rpy_to_quaternion
from contact_ddp_ros.robot.state import RobotState

Array = NDArray[np.float64]

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
