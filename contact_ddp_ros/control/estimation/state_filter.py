"""State estimator: contact-aided invariant extended Kalman filter of the trunk, its footholds and the IMU's biases.

The state is X = (R, v, p, d_1 .. d_L) in the group SE_{L+2}(3) with the biases of gyroscope and accelerometer
(Hartley, Ghaffari, Eustice and Grizzle 2020): attitude R of the trunk, velocity v and position p of its origin, and
centres d_i of the feet that stand, all in `odom`. The error is right-invariant, X_est X^-1 = exp(xi), with

    xi_R' = -R e_g,   xi_v' = g x xi_R - [v] R e_g - R e_a,   xi_p' = xi_v - [p] R e_g,   xi_d' = -[d] R e_g

where e_g, e_a are the errors of the biases. A foot that stands tells twice, by the joints' angles and by their rates:

    R h(q) = d - p,    v + R (w x c(q) + J(q) q') = 0

where h is the foot's centre and c its lowest point in trunk axes. A ball that stands rolls: its centre moves with
d' = w_shank x (r z), which is the input of d. Impacts shake the joints: a foot counts from a few milliseconds
after its touchdown on. How much a foot stands is a weight in [0, 1] that divides the variances of its measurements, and
innovations beyond a gate widen them further (a foot that slips).

Offsets e of the joints' angles, which are q - e, are states, too: they bend the way that a foot seems to go, and where
they tilt all legs beside the IMU the robot seems to climb. Footholds show that: one that comes down a stride away from
an older one, the anchor a, and about as high, is taken to be as high, a_z = (p + R h)_z. Ground that rises is left as
it is found.

Position and heading are not observable; their covariance grows, as it must.
"""

import math
from dataclasses import dataclass

import numba as nb
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.config import parameter
from contact_ddp_ros.robot.legs import LegGeometry, points_and_jacobians
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.rotation import COMPILED, quaternion_to_matrix
from contact_ddp_ros.robot.tree import GRAVITY

Array = NDArray[np.float64]

ROTATION, VELOCITY, POSITION, GYRO, ACCELEROMETER, JOINTS = 0, 3, 6, 9, 12, 15
"""Places in the error vector: three entries each, then the joints' offsets, the feet, the anchor."""

_FIRST: dict[int, float | tuple[float, ...]] = {
    ROTATION: (0.03, 0.03, 1e-3),
    VELOCITY: 0.1,
    POSITION: 1e-3,
    GYRO: 0.01,
    ACCELEROMETER: 0.1,
}
"""Standard deviations at the beginning: tilt, heading [rad], then [m/s, m, rad/s, m/s^2]."""

_OFFSET_WALK = 1e-4
"""Random walk of the joints' offsets [rad/sqrt(s)]."""

_DAMPING = 0.02
"""Damping of the inverse of a leg's Jacobian [m]."""

_DIFFERENCE = 1e-6
"""Step of the differences that give the change of a leg's velocity with its angles [rad]."""

_STRIDE = 1.0
"""Least distance along the ground between a foothold and the anchor that is compared with it [m]."""

_REST_RATE = 0.02
"""Standard deviation of the angular rate of a trunk at rest [rad/s]."""

_UP = np.array([0.0, 0.0, 1.0])

_ROUNDING = 1e-9
"""Tolerance of times [s]."""


@dataclass(frozen=True)
class StateFilterConfig:
    """Noise and gates of the state estimator."""

    gyro: float = parameter(0.001, low=1e-5, high=1.0, description="gyroscope noise density [rad/s/sqrt(Hz)]")
    accelerometer: float = parameter(
        0.01, low=1e-4, high=10.0, description="accelerometer noise density [m/s^2/sqrt(Hz)]"
    )
    gyro_walk: float = parameter(
        2e-4, low=0.0, high=0.1, description="random walk of the gyroscope's bias [rad/s/sqrt(s)]"
    )
    accelerometer_walk: float = parameter(
        1e-3, low=0.0, high=1.0, description="random walk of the accelerometer's bias [m/s^2/sqrt(s)]"
    )
    foothold: float = parameter(0.005, low=0.0, high=1.0, description="random walk of a foot that stands [m/sqrt(s)]")
    place: float = parameter(
        0.002, low=1e-4, high=0.1, unit="m", description="error of a foot's place by the joints' angles"
    )
    rate: float = parameter(0.1, low=1e-3, high=5.0, unit="rad/s", description="error of the joints' velocities")
    slip: float = parameter(0.1, low=1e-3, high=2.0, unit="m/s", description="speed of a foot that is taken to stand")
    gate: float = parameter(9.0, low=1.0, high=100.0, description="squared innovation from which on a foot counts less")
    settle: float = parameter(
        0.006, low=0.0, high=0.1, unit="s", description="time after a touchdown from which on the foot counts"
    )
    rest_speed: float = parameter(
        0.02, low=1e-4, high=1.0, unit="m/s", description="speed of a trunk that is taken to be at rest"
    )
    offset: float = parameter(0.01, low=0.0, high=0.2, unit="rad", description="constant error of a joint's angle")
    level: float = parameter(
        0.005, low=1e-4, high=1.0, unit="m", description="difference in height of footholds on level ground"
    )
    level_slope: float = parameter(
        0.03, low=0.0, high=0.5, unit="rad", description="slope below which ground is taken to be level; 0 for none"
    )
    contact_share: float = parameter(
        0.11, low=0.01, high=0.5, description="share of the weight on a foot at which contact and air are alike"
    )
    contact_spread: float = parameter(
        0.033, low=1e-3, high=0.2, description="share of the weight that multiplies a foot's odds of contact by e"
    )


SETTINGS = (
    "gyro",
    "accelerometer",
    "gyro_walk",
    "accelerometer_walk",
    "foothold",
    "place",
    "rate",
    "slip",
    "gate",
    "settle",
    "rest_speed",
    "level",
    "level_slope",
)
"""Fields of the configuration in the order of the compiled functions' `settings`."""
FOOTHOLD, PLACE, RATE, SLIP, GATE, SETTLE, REST_SPEED, LEVEL, LEVEL_SLOPE = range(4, 13)


@nb.njit(nb.void(nb.float64[::1], nb.float64[:, ::1]), **COMPILED)
def _skew(a, out):  # type: ignore[no-untyped-def]
    out[0, 0] = out[1, 1] = out[2, 2] = 0.0
    out[0, 1], out[0, 2], out[1, 2] = -a[2], a[1], -a[0]
    out[1, 0], out[2, 0], out[2, 1] = a[2], -a[1], a[0]


@nb.njit(nb.void(nb.float64[::1], nb.float64[:, ::1], nb.float64[:, ::1]), **COMPILED)
def _exponential(w, rotation, jacobian):  # type: ignore[no-untyped-def]
    """Rotation exp(w) and left Jacobian of SO(3)."""
    t2 = w[0] * w[0] + w[1] * w[1] + w[2] * w[2]
    t = math.sqrt(t2)
    if t < 1e-5:
        a, b, c = 1.0 - t2 / 6.0, 0.5 - t2 / 24.0, 1.0 / 6.0
    else:
        a, b, c = math.sin(t) / t, (1.0 - math.cos(t)) / t2, (t - math.sin(t)) / (t2 * t)
    for i in range(3):
        for j in range(3):
            square = w[i] * w[j] - (t2 if i == j else 0.0)
            rotation[i, j] = (1.0 if i == j else 0.0) + b * square
            jacobian[i, j] = (1.0 if i == j else 0.0) + c * square
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        rotation[i, j] -= a * w[k]
        rotation[j, i] += a * w[k]
        jacobian[i, j] -= b * w[k]
        jacobian[j, i] += b * w[k]


@nb.njit(nb.void(nb.float64[:, ::1], nb.int64, nb.float64[:, ::1], nb.int64, nb.float64, nb.boolean), **COMPILED)
def _add(covariance, into, block, source, sign, columns):  # type: ignore[no-untyped-def]
    """Add sign block C[source] to the three rows C[into]; or the transposed of that to columns."""
    for j in range(covariance.shape[0]):
        if columns:
            a, b, c = covariance[j, source], covariance[j, source + 1], covariance[j, source + 2]
        else:
            a, b, c = covariance[source, j], covariance[source + 1, j], covariance[source + 2, j]
        for i in range(3):
            change = sign * (block[i, 0] * a + block[i, 1] * b + block[i, 2] * c)
            if columns:
                covariance[j, into + i] += change
            else:
                covariance[into + i, j] += change


@nb.njit(
    nb.void(
        nb.float64[:, ::1],
        nb.float64[:, ::1],
        nb.float64[:, ::1],
        nb.float64[::1],
        nb.float64[::1],
        nb.float64[::1],
        nb.float64,
        nb.float64[::1],
    ),
    **COMPILED,
)
def _predict(rotation, points, covariance, gyro, force, walks, dt, noise):  # type: ignore[no-untyped-def]
    """Propagate over dt with the mean angular rate and specific force, both without bias.

    `points` are v, p, then the landmarks: feet and anchor; `walks` the random walk of each, below 0 for one that is
    unknown; `noise` the densities of gyroscope, accelerometer and their biases.
    """
    n_marks = points.shape[0] - 2
    feet = covariance.shape[0] - 3 * n_marks
    gravity = np.zeros((3, 3))
    gravity[0, 1], gravity[1, 0] = GRAVITY * dt, -GRAVITY * dt  # [g] dt with g = (0, 0, -GRAVITY)
    turn, lever, block = rotation * dt, np.zeros((3, 3)), np.zeros((3, 3))
    unit, half = np.eye(3) * dt, gravity * (0.5 * dt)
    for columns in (False, True):
        for mark in range(n_marks):
            if walks[mark] >= 0.0:
                _skew(points[2 + mark], lever)
                _add(covariance, feet + 3 * mark, lever @ turn, GYRO, -1.0, columns)
        _skew(points[1], lever)
        _add(covariance, POSITION, unit, VELOCITY, 1.0, columns)
        _add(covariance, POSITION, half, ROTATION, 1.0, columns)
        _add(covariance, POSITION, lever @ turn, GYRO, -1.0, columns)
        _skew(points[0], lever)
        _add(covariance, VELOCITY, gravity, ROTATION, 1.0, columns)
        _add(covariance, VELOCITY, lever @ turn, GYRO, -1.0, columns)
        _add(covariance, VELOCITY, turn, ACCELEROMETER, -1.0, columns)
        _add(covariance, ROTATION, turn, GYRO, -1.0, columns)
    spread = np.zeros((3 * (n_marks + 3), 3))  # of the gyroscope's noise, which turns everything about the origin
    at = np.zeros(n_marks + 3, dtype=np.int64)
    for k in range(n_marks + 3):
        at[k] = 3 * k if k < 3 else feet + 3 * (k - 3)  # attitude, velocity, position, then landmarks
        if k == 0:
            spread[0, 0] = spread[1, 1] = spread[2, 2] = 1.0
        elif k < 3 or walks[k - 3] >= 0.0:
            _skew(points[k - 1], lever)
            spread[3 * k : 3 * k + 3] = lever
    variance = noise[0] ** 2 * dt
    for a in range(n_marks + 3):
        for b in range(n_marks + 3):
            for i in range(3):
                for j in range(3):
                    total = 0.0
                    for k in range(3):
                        total += spread[3 * a + i, k] * spread[3 * b + j, k]
                    covariance[at[a] + i, at[b] + j] += variance * total
    for i in range(3):
        covariance[VELOCITY + i, VELOCITY + i] += noise[1] ** 2 * dt
        covariance[GYRO + i, GYRO + i] += noise[2] ** 2 * dt
        covariance[ACCELEROMETER + i, ACCELEROMETER + i] += noise[3] ** 2 * dt
        for mark in range(n_marks):
            if walks[mark] > 0.0:
                covariance[feet + 3 * mark + i, feet + 3 * mark + i] += walks[mark] ** 2 * dt
    for joint in range(JOINTS, feet):
        covariance[joint, joint] += _OFFSET_WALK**2 * dt
    change = rotation @ force
    change[2] -= GRAVITY
    points[1] += dt * points[0] + 0.5 * dt * dt * change
    points[0] += dt * change
    _exponential(gyro * dt, block, lever)
    rotation[:] = rotation @ block


@nb.njit(nb.void(nb.float64[:, ::1], nb.float64[:, ::1]), **COMPILED)
def _inverse(a, out):  # type: ignore[no-untyped-def]
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


_STATE = (nb.float64[:, ::1],) * 3 + (nb.float64[::1], nb.float64[:, ::1])
"""Types of rotation, points, biases, offsets and covariance."""


@nb.njit(nb.float64(*_STATE, nb.float64[:, ::1], nb.float64[::1], nb.float64[:, ::1], nb.float64), **COMPILED)
def _correct(  # type: ignore[no-untyped-def]
    rotation, points, biases, offsets, covariance, seen, innovation, noise, gate
):
    """Correct by an innovation (3,) that is `seen` (3, n) times the error, and noise of a covariance (3, 3).

    The squared innovation over its variance is given back; beyond the gate the noise is widened by as much.
    """
    n, n_joints = covariance.shape[0], offsets.shape[0]
    gains, spread, inverse = np.zeros((n, 3)), np.zeros((3, 3)), np.empty((3, 3))
    for k in range(n):
        a, b, c = seen[0, k], seen[1, k], seen[2, k]
        if a != 0.0 or b != 0.0 or c != 0.0:
            for i in range(n):
                gains[i, 0] += covariance[i, k] * a
                gains[i, 1] += covariance[i, k] * b
                gains[i, 2] += covariance[i, k] * c
    for k in range(n):
        for i in range(3):
            if seen[i, k] != 0.0:
                for j in range(3):
                    spread[i, j] += seen[i, k] * gains[k, j]
    _inverse(spread + noise, inverse)
    squared = innovation @ (inverse @ innovation)
    if squared > gate:
        _inverse(spread + noise * (squared / gate), inverse)
    gain = gains @ inverse
    for i in range(n):
        for j in range(i, n):
            taken = gain[i, 0] * gains[j, 0] + gain[i, 1] * gains[j, 1] + gain[i, 2] * gains[j, 2]
            covariance[i, j] -= taken
            covariance[j, i] = covariance[i, j]
    step = -(gain @ innovation)
    turn, left = np.empty((3, 3)), np.empty((3, 3))
    _exponential(step[:3].copy(), turn, left)
    rotation[:] = turn @ rotation
    for k in range(points.shape[0]):
        at = VELOCITY if k == 0 else POSITION if k == 1 else JOINTS + n_joints + 3 * (k - 2)
        points[k] = turn @ points[k] + left @ step[at : at + 3].copy()
    biases[0] += step[GYRO : GYRO + 3]
    biases[1] += step[ACCELEROMETER : ACCELEROMETER + 3]
    offsets += step[JOINTS : JOINTS + n_joints]
    return squared


@nb.njit(nb.float64[::1](nb.float64[:, ::1], nb.float64[::1]), **COMPILED)
def _joint_step(jacobian, step):  # type: ignore[no-untyped-def]
    """Change (3,) of a leg's angles that moves its foot by a step (3,); damped where the leg is straight."""
    inverse = np.empty((3, 3))
    _inverse(jacobian @ jacobian.T + _DAMPING**2 * np.eye(3), inverse)
    return jacobian.T @ (inverse @ step)


@nb.njit(nb.void(nb.float64[:, ::1], nb.int64, nb.int64), **COMPILED)
def _copy_mark(covariance, into, source):  # type: ignore[no-untyped-def]
    """Give the three entries at `into` the errors of those at `source`."""
    covariance[into : into + 3] = covariance[source : source + 3]
    covariance[:, into : into + 3] = covariance[:, source : source + 3]


@nb.njit(nb.void(*_STATE, nb.int64, nb.float64[::1], nb.float64[:, ::1], nb.float64[::1], nb.float64[::1]), **COMPILED)
def _land(  # type: ignore[no-untyped-def]
    rotation, points, biases, offsets, covariance, foot, centre, arm, walks, settings
):
    """Begin a foothold at a centre (3,) in trunk axes, whose Jacobian in `odom` is `arm` (3, 3).

    Where it is far enough from the anchor and about as high, both are taken to be as high; then it is the anchor.
    """
    n, last = covariance.shape[0], points.shape[0] - 1
    at, joints, anchor = n - 3 * (last - 1 - foot), JOINTS + 3 * foot, n - 3
    way = points[1] + rotation @ centre - points[last]
    reach = math.hypot(way[0], way[1])
    if walks[last - 2] >= 0.0 and reach >= _STRIDE and abs(way[2]) <= settings[LEVEL_SLOPE] * reach:
        seen, noise = np.zeros((3, n)), np.zeros((3, 3))
        seen[2, POSITION + 2], seen[2, anchor + 2] = 1.0, -1.0
        seen[2, ROTATION], seen[2, ROTATION + 1] = way[1], -way[0]
        seen[2, joints : joints + 3] = -arm[2]
        noise[0, 0] = noise[1, 1] = 1.0
        noise[2, 2] = settings[LEVEL] ** 2 + settings[PLACE] ** 2
        rise = np.array([0.0, 0.0, way[2]])
        _correct(rotation, points, biases, offsets, covariance, seen, rise, noise, settings[GATE])
    points[2 + foot] = points[1] + rotation @ centre
    _copy_mark(covariance, at, POSITION)
    for columns in (False, True):
        _add(covariance, at, arm, joints, -1.0, columns)
    for i in range(3):
        covariance[at + i, at + i] += settings[PLACE] ** 2
    if walks[last - 2] < 0.0 or reach >= _STRIDE:
        points[last] = points[2 + foot]
        _copy_mark(covariance, anchor, at)
        walks[last - 2] = 0.0


@nb.njit(
    nb.void(
        *_STATE,
        nb.int64,
        nb.float64[::1],
        nb.float64[:, ::1],
        nb.float64[::1],
        nb.float64[::1],
        nb.float64[:, ::1],
        nb.float64[:, ::1],
        nb.float64[::1],
        nb.float64,
        nb.float64[::1],
        nb.float64[::1],
    ),
    **COMPILED,
)
def _stand(  # type: ignore[no-untyped-def]
    rotation,
    points,
    biases,
    offsets,
    covariance,
    foot,
    centre,
    arm,
    passing,
    contact,
    jacobian,
    bend,
    rate,
    weight,
    settings,
    told,
):
    """Correct by a foot that stands: its centre is where it was, its lowest point is still.

    Measured are the `centre` (3,) and how fast the lowest point passes the trunk's origin, (3,), in trunk axes. What
    they are linear in is taken where the foot is expected, since noise that is in both pulls at the offsets: `arm`
    (3, 3) the centre's Jacobian in `odom`; `contact` (3,), `jacobian` (3, 3) and `bend` (3, 3) the lowest point, its
    Jacobian, and the change of its velocity with the angles, in trunk axes. `told` (2,) are the squared innovations.
    """
    n = covariance.shape[0]
    at, joints = n - 3 * (points.shape[0] - 2 - foot), JOINTS + 3 * foot
    seen, noise, lever, spin = np.zeros((3, n)), np.zeros((3, 3)), np.zeros((3, 3)), np.zeros((3, 3))
    for i in range(3):  # xi_d - xi_p + R J e
        seen[i, at + i], seen[i, POSITION + i] = 1.0, -1.0
        noise[i, i] = settings[PLACE] ** 2
    seen[:, joints : joints + 3] = arm
    innovation = points[2 + foot] - points[1] - rotation @ centre
    told[0] = _correct(rotation, points, biases, offsets, covariance, seen, innovation, noise, settings[GATE])
    _skew(contact, lever)
    _skew(rate, spin)
    seen[:] = 0.0
    for i in range(3):  # xi_v + R [c] e_g - R (d(J q')/dq + [w] J) e
        seen[i, VELOCITY + i] = 1.0
    seen[:, GYRO : GYRO + 3] = rotation @ lever
    seen[:, joints : joints + 3] = -rotation @ (bend + spin @ jacobian)
    turned = rotation @ jacobian
    noise[:] = settings[RATE] ** 2 * (turned @ turned.T) + settings[SLIP] ** 2 / weight * np.eye(3)
    innovation = points[0] + rotation @ passing
    told[1] = _correct(rotation, points, biases, offsets, covariance, seen, innovation, noise, settings[GATE])


@nb.njit(nb.void(*_STATE, nb.float64[::1], nb.float64), **COMPILED)
def _rest(rotation, points, biases, offsets, covariance, angular, speed):  # type: ignore[no-untyped-def]
    """Correct by a trunk at rest: its velocity is zero, up to a `speed` [m/s], and the angular rate is the bias."""
    for at, deviation in ((VELOCITY, speed), (GYRO, _REST_RATE)):
        seen = np.zeros((3, covariance.shape[0]))
        for i in range(3):
            seen[i, at + i] = 1.0
        innovation = points[0].copy() if at == VELOCITY else biases[0] - angular
        noise = deviation**2 * np.eye(3)
        _correct(rotation, points, biases, offsets, covariance, seen, innovation, noise, 1e9)


@nb.njit(
    nb.void(
        *_STATE,
        nb.float64[:, ::1],
        nb.float64[::1],
        nb.float64[:, ::1],
        nb.float64,
        nb.float64[:, ::1],
        nb.float64[::1],
        nb.float64[::1],
        nb.float64[::1],
        nb.float64[::1],
        nb.boolean,
        nb.float64[:, :, :, ::1],
        nb.float64[:, :, ::1],
        nb.float64[:, :, ::1],
        nb.float64[:, ::1],
        nb.float64,
        nb.float64[::1],
    ),
    **COMPILED,
)
def _step(  # type: ignore[no-untyped-def]
    rotation,
    points,
    biases,
    offsets,
    covariance,
    stance,
    walks,
    told,
    dt,
    imu,
    q,
    rates,
    weights,
    normal,
    at_rest,
    rotations,
    translations,
    axes,
    feet,
    radius,
    settings,
):
    """Take in one sample: predict, roll the feet that stand, correct.

    `stance` (2, L) holds the feet's times on the ground [s] and whether they stood at the last sample; `walks` (L + 1,)
    what `_predict` needs, `imu` (3, 3) the last angular rate, the present one, the mean specific force between them.
    """
    n_feet = weights.shape[0]
    shares, stood = np.zeros(n_feet), stance[1].copy()
    for foot in range(n_feet):
        stance[0, foot] = max(stance[0, foot] + dt, 0.0) if weights[foot] > 0.5 else -np.inf
        stance[1, foot] = 1.0 if stance[0, foot] >= settings[SETTLE] - _ROUNDING else 0.0
        shares[foot] = stance[1, foot] * max(weights[foot], 0.1)
        walks[foot] = settings[FOOTHOLD] / shares[foot] if stance[1, foot] > 0.0 and stood[foot] > 0.0 else -1.0
    mean = 0.5 * (imu[0] + imu[1]) - biases[0]
    if dt > 0.0:
        _predict(rotation, points, covariance, mean, imu[2] - biases[1], walks, dt, settings)
    down, angles = -radius * (normal @ rotation), q - offsets
    centres, moving = points_and_jacobians(angles, rotations, translations, axes, feet, np.zeros(3))
    contacts, jacobians = points_and_jacobians(angles, rotations, translations, axes, feet, down)
    clean, speeds = angles.copy(), np.zeros(q.shape[0])
    for foot in range(n_feet):
        if stance[1, foot] > 0.0 and stood[foot] > 0.0:
            off = (points[2 + foot] - points[1]) @ rotation - centres[foot]
            clean[3 * foot : 3 * foot + 3] += _joint_step(np.ascontiguousarray(moving[foot]), off)
    _, arms = points_and_jacobians(clean, rotations, translations, axes, feet, np.zeros(3))
    places, levers = points_and_jacobians(clean, rotations, translations, axes, feet, down)
    rate, bends = imu[1] - biases[0], np.zeros((n_feet, 3, 3))
    for foot in range(n_feet):
        ahead = -(points[0] @ rotation) - np.cross(rate, places[foot])
        speeds[3 * foot : 3 * foot + 3] = _joint_step(np.ascontiguousarray(levers[foot]), ahead)
    for j in range(3):
        clean[j::3] += _DIFFERENCE
        _, bent = points_and_jacobians(clean, rotations, translations, axes, feet, down)
        clean[j::3] -= _DIFFERENCE
        for foot in range(n_feet):
            change = np.ascontiguousarray(bent[foot] - levers[foot])
            bends[foot, :, j] = change @ speeds[3 * foot : 3 * foot + 3] / _DIFFERENCE
    for foot in range(n_feet):
        if stance[1, foot] == 0.0:
            continue
        jacobian, own = np.ascontiguousarray(jacobians[foot]), rates[3 * foot : 3 * foot + 3]
        arm = rotation @ np.ascontiguousarray(arms[foot])
        if stood[foot] == 0.0:
            _land(rotation, points, biases, offsets, covariance, foot, centres[foot].copy(), arm, walks, settings)
        elif dt > 0.0:  # w_shank x (r z), the centre's velocity beside the lowest point's
            rolling = (np.ascontiguousarray(moving[foot]) - jacobian) @ own - np.cross(mean, down)
            points[2 + foot] += dt * (rotation @ rolling)
        passing = jacobian @ own + np.cross(rate, contacts[foot])
        lever, bend, share = np.ascontiguousarray(levers[foot]), bends[foot], shares[foot]
        legs = centres[foot].copy(), arm, passing, places[foot].copy(), lever, bend
        _stand(rotation, points, biases, offsets, covariance, foot, *legs, rate, share, settings, told[foot])
    if at_rest:
        _rest(rotation, points, biases, offsets, covariance, imu[1], settings[REST_SPEED])


class StateFilter:
    """Estimate of attitude, velocity, position and IMU biases of one robot, from one IMU sample to the next.

    Attributes:
        legs: geometry of the legs, in the order of the feet.
        rotation: (3, 3) of the trunk in `odom`.
        points: velocity of the trunk's origin [m/s], its position [m], the feet's centres and the anchor [m], in
            `odom`.
        biases: (2, 3) of the gyroscope [rad/s] and of the accelerometer [m/s^2].
        offsets: (3 L,) constant errors of the joints' angles [rad].
        covariance: (18 + 6 L,)^2 of the right-invariant error, in the order of the module's offsets.
        innovations: (L, 2) squared innovations of places and velocities at the last sample, over their variances.
    """

    def __init__(self, robot: Robot, config: StateFilterConfig | None = None) -> None:
        """Start level at the origin, at rest, until :meth:`begin`."""
        self.configure(config or StateFilterConfig())
        self.legs = LegGeometry.from_tree(robot.tree, tuple(point.name for point in robot.tree.contacts))
        n_feet = len(robot.tree.contacts)
        self.rotation, self.points = np.eye(3), np.zeros((3 + n_feet, 3))
        self.biases, self.offsets = np.zeros((2, 3)), np.zeros(3 * n_feet)
        self.covariance = np.zeros((JOINTS + 6 * n_feet + 3,) * 2)
        self.innovations = np.zeros((n_feet, 2))
        self._stance, self._walks = np.zeros((2, n_feet)), np.zeros(n_feet + 1)
        self._imu, self._began = np.zeros((3, 3)), False

    def configure(self, config: StateFilterConfig) -> None:
        """Take over noise and gates; the estimate stays."""
        self.config = config
        self._settings = np.array([getattr(config, name) for name in SETTINGS])

    def begin(self, orientation: Array, velocity: Array, position: Array) -> None:
        """Start at an attitude (4,) (x, y, z, w), velocity [m/s] and position [m] in `odom`, with unknown biases."""
        self.rotation = quaternion_to_matrix(orientation).copy()
        self.points[:] = 0.0
        self.points[0], self.points[1] = velocity, position
        self.biases[:] = self.offsets[:] = 0.0
        deviations = np.zeros(len(self.covariance))
        for at, deviation in _FIRST.items():
            deviations[at : at + 3] = deviation
        deviations[JOINTS : JOINTS + len(self.offsets)] = self.config.offset
        self.covariance = np.diag(deviations**2)
        self._stance[0], self._stance[1] = -np.inf, 0.0
        self._walks[:] = -1.0
        self._began = False

    def update(
        self,
        dt: float,
        gyro: Array,
        force: Array,
        q: Array,
        rates: Array,
        weights: Array,
        normal: Array = _UP,
        at_rest: bool = False,
    ) -> None:
        """Take in a sample `dt` [s] after the last one.

        Args:
            gyro: (3,) angular rate at this instant, in trunk axes [rad/s].
            force: (3,) mean specific force at the trunk's origin since the last sample [m/s^2].
            q, rates: joint positions (12,) [rad] and velocities (12,) [rad/s].
            weights: (L,) in [0, 1], how much each foot stands.
            normal: (3,) unit normal of the ground in `odom`, on which balls roll.
            at_rest: the trunk does not move.
        """
        legs, imu = self.legs, self._imu
        imu[0], imu[1], imu[2] = imu[1], gyro, force
        _step(
            self.rotation,
            self.points,
            self.biases,
            self.offsets,
            self.covariance,
            self._stance,
            self._walks,
            self.innovations,
            dt if self._began else 0.0,
            imu,
            q,
            rates,
            weights,
            normal,
            at_rest,
            legs.rotations,
            legs.translations,
            legs.axes,
            legs.feet,
            legs.radius,
            self._settings,
        )
        self._began = True

    @property
    def pose_covariance(self) -> Array:
        """(6, 6) of position [m] and attitude about the axes of `odom` [rad]."""
        lever, errors = np.zeros((3, 3)), np.zeros((6, len(self.covariance)))
        _skew(self.points[1], lever)
        errors[:3, POSITION : POSITION + 3], errors[:3, :3], errors[3:, :3] = np.eye(3), -lever, np.eye(3)
        return errors @ self.covariance @ errors.T

    @property
    def twist_covariance(self) -> Array:
        """(6, 6) of velocity [m/s] and angular rate [rad/s] in trunk axes."""
        errors = np.zeros((6, len(self.covariance)))
        errors[:3, VELOCITY : VELOCITY + 3], errors[3:, GYRO : GYRO + 3] = self.rotation.T, -np.eye(3)
        return errors @ self.covariance @ errors.T
