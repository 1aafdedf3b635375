"""White noise on the measured state."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.plants.options import NoiseOptions
from contact_ddp_ros.robot.rotation import quaternion_product, rotation_vector_to_quaternion
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
