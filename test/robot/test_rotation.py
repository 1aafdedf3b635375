"""Quaternions and Euler angles against pinocchio and finite differences."""

import math

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contact_ddp_ros.robot.rotation import (
    matrix_to_quaternion,
    matrix_to_rpy,
    quaternion_product,
    quaternion_to_matrix,
    quaternion_to_rpy,
    rotation_vector_to_quaternion,
    rpy_rates,
    rpy_to_quaternion,
    up_in_body,
    wrap_angle,
    yaw_rate,
)

ANGLES = st.tuples(st.floats(-3.1, 3.1), st.floats(-1.5, 1.5), st.floats(-3.1, 3.1))


@given(ANGLES)
def test_angles_quaternion_matrix(angles: tuple[float, float, float]) -> None:
    quaternion = rpy_to_quaternion(*angles)
    matrix = pin.rpy.rpyToMatrix(*angles)
    assert np.allclose(quaternion_to_matrix(quaternion), matrix, atol=1e-12)
    assert np.allclose(quaternion_to_matrix(-3.0 * quaternion), matrix, atol=1e-12)
    assert np.allclose(quaternion_to_rpy(quaternion), angles, atol=1e-9)
    assert np.allclose(up_in_body(quaternion), matrix.T @ [0.0, 0.0, 1.0], atol=1e-12)


@given(ANGLES, st.sampled_from([np.zeros(3), *(math.pi * np.eye(3)), *(-3.1 * np.eye(3))]))
def test_a_matrix_gives_the_quaternion_that_pinocchio_gives(
    angles: tuple[float, float, float], turn: np.ndarray
) -> None:
    matrix = pin.exp3(turn) @ pin.rpy.rpyToMatrix(*angles)
    assert np.allclose(matrix_to_quaternion(matrix), pin.Quaternion(matrix).coeffs(), atol=1e-12)


@given(ANGLES, st.tuples(*[st.floats(-5.0, 5.0)] * 3))
def test_rates_are_the_derivatives_of_the_angles(
    angles: tuple[float, float, float], angular_velocity: tuple[float, float, float]
) -> None:
    roll, pitch, yaw = angles
    if abs(pitch) > 1.3:
        return
    omega, step = np.array(angular_velocity), 1e-6
    matrix = pin.rpy.rpyToMatrix(*angles)
    moved = [pin.rpy.matrixToRpy(matrix @ pin.exp3(sign * step * omega)) for sign in (1.0, -1.0)]
    expected = [wrap_angle(a - b) / (2.0 * step) for a, b in zip(*moved, strict=True)]
    quaternion = rpy_to_quaternion(*angles)
    assert np.allclose(rpy_rates(quaternion, omega), expected, atol=1e-6)
    assert yaw_rate(quaternion, omega) == pytest.approx(expected[2], abs=1e-6)


@pytest.mark.parametrize("pitch", [0.5 * math.pi, -0.5 * math.pi])
def test_gimbal_lock_keeps_the_rotation(pitch: float) -> None:
    quaternion = rpy_to_quaternion(0.3, pitch, 0.8)
    angles = quaternion_to_rpy(quaternion)
    assert angles[0] == 0.0
    assert np.allclose(quaternion_to_matrix(rpy_to_quaternion(*angles)), quaternion_to_matrix(quaternion), atol=1e-6)


@given(ANGLES, ANGLES)
def test_products_and_rotation_vectors(angles: tuple[float, float, float], vector: tuple[float, float, float]) -> None:
    first, second = rpy_to_quaternion(*angles), rotation_vector_to_quaternion(np.array(vector))
    assert np.allclose(quaternion_to_matrix(second), pin.exp3(np.array(vector)), atol=1e-9)
    product = quaternion_to_matrix(quaternion_product(first, second))
    assert np.allclose(product, quaternion_to_matrix(first) @ quaternion_to_matrix(second), atol=1e-12)


def test_wrap_angle() -> None:
    assert wrap_angle(3.0 * math.pi) == pytest.approx(math.pi)
    assert wrap_angle(-math.pi) == pytest.approx(math.pi)
    assert wrap_angle(2.0 * math.pi + 0.25) == pytest.approx(0.25)


@pytest.mark.parametrize("bad", [np.zeros(4), np.full(4, np.nan)])
def test_an_impossible_quaternion_shows_as_nan(bad: np.ndarray) -> None:
    assert np.isnan(quaternion_to_rpy(bad)).any()


@given(ANGLES)
def test_angles_of_a_matrix(angles: tuple[float, float, float]) -> None:
    assert np.allclose(matrix_to_rpy(pin.rpy.rpyToMatrix(*angles)), angles, atol=1e-9)


@pytest.mark.parametrize("pitch", [0.5 * math.pi, -0.5 * math.pi])
def test_gimbal_lock_keeps_the_matrix(pitch: float) -> None:
    matrix = pin.rpy.rpyToMatrix(0.3, pitch, 0.8)
    angles = matrix_to_rpy(matrix)
    assert angles[0] == 0.0
    assert np.allclose(pin.rpy.rpyToMatrix(*angles), matrix, atol=1e-6)
