r"""Orientation of the trunk: unit quaternions (x, y, z, w) and ZYX Euler angles.

    R = R_z(yaw) R_y(pitch) R_x(roll)          (rotates body vectors into the world)

Rates follow from the body's angular velocity :math:`\omega` in body axes (Diebel, "Representing Attitude", 2006, §5.6):

    pitch' = w_y cos(roll) - w_z sin(roll)
    yaw'   = (w_y sin(roll) + w_z cos(roll)) / cos(pitch)
    roll'  = w_x + yaw' sin(pitch)

The angles are singular at pitch = ±π/2, where roll is set to zero. What runs in the control loop is compiled.
"""

import math

import numba as nb
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.numba_cache import njit

Array = NDArray[np.float64]

COMPILED = {"error_model": "numpy"}
"""Options of compiled functions; a division by zero gives infinity or NaN, as in NumPy."""

READ = nb.types.Array(nb.float64, 1, "A", readonly=True)
READ_2D = nb.types.Array(nb.float64, 2, "A", readonly=True)
"""Types of arguments that are only read: arrays of any layout, read-only ones too."""

WRITTEN, FLAGS = nb.float64[::1], nb.boolean[::1]
"""Types of results: numbers, and truth values, of feet for one."""

_GIMBAL_LOCK = 1.0 - 1e-12
"""Sine of the pitch beyond which roll and yaw cannot be told apart."""


@njit(nb.types.UniTuple(nb.float64, 4)(READ), **COMPILED)
def _unit(quaternion: Array) -> tuple[float, float, float, float]:
    """Components at unit norm; a zero or non-finite quaternion gives NaN, which the caller's checks catch."""
    x, y, z, w = quaternion[0], quaternion[1], quaternion[2], quaternion[3]
    norm = math.sqrt(x * x + y * y + z * z + w * w)
    if not norm > 0.0:
        return math.nan, math.nan, math.nan, math.nan
    return x / norm, y / norm, z / norm, w / norm


@njit("f8(f8)", **COMPILED)
def wrap_angle(angle: float) -> float:
    """Angle wrapped into (-π, π]."""
    return angle - 2.0 * math.pi * np.ceil((angle - math.pi) / (2.0 * math.pi))


@njit(nb.float64[:, ::1](READ), **COMPILED)
def quaternion_to_matrix(quaternion: Array) -> Array:
    """The (3, 3) rotation of a quaternion (4,) = (x, y, z, w), which is normalised first."""
    x, y, z, w = _unit(quaternion)
    return np.array(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
            [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
            [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )


@njit(nb.float64[::1](READ_2D), **COMPILED)
def matrix_to_quaternion(rotation: Array) -> Array:
    """Quaternion (4,) of a rotation (3, 3), by its largest component (Shepperd 1978)."""
    trace = rotation[0, 0] + rotation[1, 1] + rotation[2, 2]
    q = np.empty(4)
    if trace > 0.0:
        root = math.sqrt(trace + 1.0)
        q[3], scale = 0.5 * root, 0.5 / root
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            q[i] = (rotation[k, j] - rotation[j, k]) * scale
        return q
    i = 0
    for one in range(1, 3):
        if rotation[one, one] > rotation[i, i]:
            i = one
    j, k = (i + 1) % 3, (i + 2) % 3
    root = math.sqrt(rotation[i, i] - rotation[j, j] - rotation[k, k] + 1.0)
    q[i], scale = 0.5 * root, 0.5 / root
    q[3] = (rotation[k, j] - rotation[j, k]) * scale
    q[j] = (rotation[j, i] + rotation[i, j]) * scale
    q[k] = (rotation[k, i] + rotation[i, k]) * scale
    return q


@njit(nb.types.UniTuple(nb.float64, 3)(READ), **COMPILED)
def _angles(quaternion: Array) -> tuple[float, float, float]:
    x, y, z, w = _unit(quaternion)
    sine = 2.0 * (w * y - z * x)
    if abs(sine) > _GIMBAL_LOCK:
        return 0.0, math.copysign(0.5 * math.pi, sine), wrap_angle(2.0 * math.atan2(z, w))
    roll = math.atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    yaw = math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    return roll, math.asin(sine), yaw


@njit(WRITTEN(READ), **COMPILED)
def quaternion_to_rpy(quaternion: Array) -> Array:
    """The (3,) roll, pitch, yaw [rad] of a quaternion (4,) = (x, y, z, w); pitch in [-π/2, π/2]."""
    return np.array(_angles(quaternion))


def matrix_to_rpy(rotation: Array) -> Array:
    """The (3,) roll, pitch, yaw [rad] of a rotation matrix (3, 3); pitch in [-π/2, π/2]."""
    sine = -float(rotation[2, 0])
    if abs(sine) > _GIMBAL_LOCK:
        yaw = math.atan2(-float(rotation[0, 1]), float(rotation[1, 1]))
        return np.array([0.0, math.copysign(0.5 * math.pi, sine), yaw])
    roll = math.atan2(float(rotation[2, 1]), float(rotation[2, 2]))
    yaw = math.atan2(float(rotation[1, 0]), float(rotation[0, 0]))
    return np.array([roll, math.asin(sine), yaw])


def rpy_to_quaternion(roll: float, pitch: float, yaw: float) -> Array:
    """The (4,) quaternion (x, y, z, w) of ZYX Euler angles [rad]."""
    sr, cr = math.sin(0.5 * roll), math.cos(0.5 * roll)
    sp, cp = math.sin(0.5 * pitch), math.cos(0.5 * pitch)
    sy, cy = math.sin(0.5 * yaw), math.cos(0.5 * yaw)
    return np.array(
        [
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
            cr * cp * cy + sr * sp * sy,
        ]
    )


def quaternion_product(first: Array, second: Array) -> Array:
    """The (4,) quaternion (x, y, z, w) of `first` after `second`: R(first) R(second)."""
    x1, y1, z1, w1 = (float(component) for component in first)
    x2, y2, z2, w2 = (float(component) for component in second)
    return np.array(
        [
            w1 * x2 + x1 * w2 + y1 * z2 - z1 * y2,
            w1 * y2 - x1 * z2 + y1 * w2 + z1 * x2,
            w1 * z2 + x1 * y2 - y1 * x2 + z1 * w2,
            w1 * w2 - x1 * x2 - y1 * y2 - z1 * z2,
        ]
    )


def rotation_vector_to_quaternion(vector: Array) -> Array:
    """The (4,) quaternion (x, y, z, w) of a rotation vector (3,), axis times angle [rad]."""
    half = 0.5 * float(np.linalg.norm(vector))
    # np.sinc is sin(pi x) / (pi x): sin(half) / (2 half) without a division by zero.
    scale = 0.5 * float(np.sinc(half / math.pi))
    return np.array([*(scale * np.asarray(vector)), math.cos(half)])


def quaternion_to_rotation_vector(quaternion: Array) -> Array:
    """The (3,) rotation vector, axis times angle in [0, π] [rad], of a quaternion (4,) = (x, y, z, w)."""
    x, y, z, w = _unit(quaternion)
    sine = math.sqrt(x * x + y * y + z * z)
    angle = 2.0 * math.atan2(sine, abs(w))
    # The limit of angle / sine is 2 where both vanish.
    scale = math.copysign(angle / sine if sine > 0.0 else 2.0, w)
    return scale * np.array([x, y, z])


@njit(WRITTEN(READ, READ), **COMPILED)
def rpy_rates(quaternion: Array, angular_velocity: Array) -> Array:
    """The (3,) rates of roll, pitch, yaw [rad/s] from the angular velocity (3,) in body axes [rad/s].

    At pitch = ±π/2 the rates of roll and yaw grow without bound; the rate of pitch does not.
    """
    roll, pitch, _ = _angles(quaternion)
    w_x, w_y, w_z = angular_velocity[0], angular_velocity[1], angular_velocity[2]
    pitch_rate = w_y * math.cos(roll) - w_z * math.sin(roll)
    yaw_rate = (w_y * math.sin(roll) + w_z * math.cos(roll)) / math.cos(pitch)
    return np.array([w_x + yaw_rate * math.sin(pitch), pitch_rate, yaw_rate])


def yaw_rate(quaternion: Array, angular_velocity: Array) -> float:
    """Rate of the ZYX yaw angle [rad/s] from the angular velocity (3,) in body axes [rad/s]."""
    return float(rpy_rates(quaternion, angular_velocity)[2])


def up_in_body(quaternion: Array) -> Array:
    """The (3,) unit vector that points up, in body axes: what an accelerometer at rest shows."""
    return quaternion_to_matrix(quaternion)[2].copy()


@njit(nb.void(nb.float64[:, ::1], nb.float64[:, ::1]), **COMPILED)
def symmetric_inverse(a, out):  # type: ignore[no-untyped-def]
    """Inverse of a symmetric positive matrix (3, 3)."""
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        for m in range(3):
            p, q = (m + 1) % 3, (m + 2) % 3
            out[m, i] = a[j, p] * a[k, q] - a[j, q] * a[k, p]
    scale = 1.0 / (a[0, 0] * out[0, 0] + a[0, 1] * out[1, 0] + a[0, 2] * out[2, 0])
    for i in range(3):
        for j in range(3):
            out[i, j] *= scale
