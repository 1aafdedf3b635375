"""Steps of a contact-aided invariant extended Kalman filter, compiled: prediction, footholds, feet that stand, rest.

The equations are those of :mod:`contact_ddp_ros.control.estimation.state_filter`. Every step changes in place the
rotation (3, 3), the points (3 + L, 3) (velocity, position, feet, anchor), the biases (2, 3), the joints' offsets (3 L,)
and the covariance of the error. A measurement is an innovation (3,) that is `seen` (3, n) times the error.
"""

import math

import numba as nb
import numpy as np

from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.robot.legs import JACOBIAN_DAMPING, points_and_jacobians
from contact_ddp_ros.robot.rotation import COMPILED, WRITTEN, symmetric_inverse
from contact_ddp_ros.robot.tree import GRAVITY

ROTATION, VELOCITY, POSITION, GYRO, ACCELEROMETER, JOINTS = 0, 3, 6, 9, 12, 15
"""Places in the error vector: three entries each, then the joints' offsets, the feet, the anchor."""

_OFFSET_WALK = 1e-4
"""Random walk of the joints' offsets [rad/sqrt(s)]."""

_DIFFERENCE = 1e-6
"""Step of the differences that give the change of a leg's velocity with its angles [rad]."""

_STRIDE = 1.0
"""Least distance along the ground between a foothold and the anchor that is compared with it [m]."""

_REST_RATE = 0.02
"""Standard deviation of the angular rate of a trunk at rest [rad/s]."""

_IMPACT, _SINKING, _ARRIVAL = 0.01, 0.02, 0.03
"""Ages of a contact [s]: feet shake on any ground; on soft ground they sink; by then they slide no longer."""

_SLIDING, _STILL = 0.1, 0.01
"""Speed of feet that arrive on soft ground, and deviation of the speed of such that stand on hard ground [m/s]."""

_ARRIVING, _STANDING = 0.05, 0.2
"""Times of contact over which the speeds of feet are averaged, those of single feet added [s]."""

_FASTEST, _MEAN = 0.5, 0.1
"""Deviation that tells of a shaken leg or a wrong trunk instead [m/s]; time of the mean of a foot's velocity [s]."""

_CREEP, _YIELD, _RELAXATION = 20.0, 50.0, 0.05
"""Noise over the speeds of feet along soft ground and along its normal, alike for many samples; way over speed [s]."""

_DEEPEST = 0.03
"""Depth to which a foot may sink [m]."""

_ROUNDING = 1e-9
"""Tolerance of times [s]."""

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


@njit(nb.void(nb.float64[::1], nb.float64[:, ::1]), **COMPILED)
def skew(a, out):  # type: ignore[no-untyped-def]
    """Cross-product matrix (3, 3) of a vector (3,)."""
    out[0, 0] = out[1, 1] = out[2, 2] = 0.0
    out[0, 1], out[0, 2], out[1, 2] = -a[2], a[1], -a[0]
    out[1, 0], out[2, 0], out[2, 1] = a[2], -a[1], a[0]


@njit(nb.void(nb.float64[::1], nb.float64[:, ::1], nb.float64[:, ::1]), **COMPILED)
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


@njit(nb.void(nb.float64[:, ::1], nb.int64, nb.float64[:, ::1], nb.int64, nb.float64, nb.boolean), **COMPILED)
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


@njit(
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
def predict(rotation, points, covariance, gyro, force, walks, dt, noise):  # type: ignore[no-untyped-def]
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
                skew(points[2 + mark], lever)
                _add(covariance, feet + 3 * mark, lever @ turn, GYRO, -1.0, columns)
        skew(points[1], lever)
        _add(covariance, POSITION, unit, VELOCITY, 1.0, columns)
        _add(covariance, POSITION, half, ROTATION, 1.0, columns)
        _add(covariance, POSITION, lever @ turn, GYRO, -1.0, columns)
        skew(points[0], lever)
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
            skew(points[k - 1], lever)
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


_STATE = (nb.float64[:, ::1],) * 3 + (nb.float64[::1], nb.float64[:, ::1])
"""Types of rotation, points, biases, offsets and covariance."""


@njit(nb.float64(*_STATE, nb.float64[:, ::1], nb.float64[::1], nb.float64[:, ::1], nb.float64), **COMPILED)
def _correct(  # type: ignore[no-untyped-def]
    rotation, points, biases, offsets, covariance, seen, innovation, noise, gate
):
    """Correct by an innovation (3,) that is `seen` (3, n) times the error, and noise of a covariance (3, 3).

    The squared innovation over its variance is given back; beyond the gate the noise is widened by its square, so that
    the further off a measurement is the less it moves.
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
    symmetric_inverse(spread + noise, inverse)
    squared = innovation @ (inverse @ innovation)
    if squared > gate:
        symmetric_inverse(spread + noise * (squared / gate) ** 2, inverse)
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


@njit(nb.float64[::1](nb.float64[:, ::1], nb.float64[::1]), **COMPILED)
def _joint_step(jacobian, step):  # type: ignore[no-untyped-def]
    """Change (3,) of a leg's angles that moves its foot by a step (3,); damped where the leg is straight."""
    inverse = np.empty((3, 3))
    symmetric_inverse(jacobian @ jacobian.T + JACOBIAN_DAMPING**2 * np.eye(3), inverse)
    return jacobian.T @ (inverse @ step)


@njit(nb.void(nb.float64[:, ::1], nb.int64, nb.int64), **COMPILED)
def _copy_mark(covariance, into, source):  # type: ignore[no-untyped-def]
    """Give the three entries at `into` the errors of those at `source`."""
    covariance[into : into + 3] = covariance[source : source + 3]
    covariance[:, into : into + 3] = covariance[:, source : source + 3]


@njit(nb.void(*_STATE[1:2], nb.float64[:, ::1], nb.int64, nb.float64[::1], nb.float64[:, ::1]), **COMPILED)
def _mark(points, covariance, foot, place, arm):  # type: ignore[no-untyped-def]
    """Put a foot's mark at a place (3,) in `odom`, as uncertain as the trunk's and as the joints' angles make it."""
    at, joints = covariance.shape[0] - 3 * (points.shape[0] - 2 - foot), JOINTS + 3 * foot
    points[2 + foot] = place
    _copy_mark(covariance, at, POSITION)
    for columns in (False, True):
        _add(covariance, at, arm, joints, -1.0, columns)


@njit(nb.void(*_STATE, nb.int64, nb.float64[::1], nb.float64[:, ::1], *[nb.float64[::1]] * 2), **COMPILED)
def _land(  # type: ignore[no-untyped-def]
    rotation, points, biases, offsets, covariance, foot, place, arm, walks, settings
):
    """Begin a foothold at a place (3,) of the foot's centre in `odom`, which has the Jacobian `arm` (3, 3).

    Where it is far enough from the anchor and about as high, both are taken to be as high; then it is the anchor.
    """
    n, last = covariance.shape[0], points.shape[0] - 1
    at, joints, anchor = n - 3 * (last - 1 - foot), JOINTS + 3 * foot, n - 3
    way = place - points[last]
    reach = math.hypot(way[0], way[1])
    if walks[last - 2] >= 0.0 and reach >= _STRIDE and abs(way[2]) <= settings[LEVEL_SLOPE] * reach:
        seen, noise = np.zeros((3, n)), np.zeros((3, 3))
        seen[2, POSITION + 2], seen[2, anchor + 2] = 1.0, -1.0
        seen[2, ROTATION], seen[2, ROTATION + 1] = way[1], -way[0]
        seen[2, joints : joints + 3] = -arm[2]
        noise[0, 0] = noise[1, 1] = 1.0
        noise[2, 2] = settings[LEVEL] ** 2 + settings[PLACE] ** 2
        rise, expected = np.array([0.0, 0.0, way[2]]), seen[2] @ (covariance @ seen[2]) + noise[2, 2]
        if way[2] ** 2 <= settings[GATE] * expected:  # a step otherwise
            _correct(rotation, points, biases, offsets, covariance, seen, rise, noise, settings[GATE])
    _mark(points, covariance, foot, place, arm)
    for i in range(3):
        covariance[at + i, at + i] += settings[PLACE] ** 2
    if walks[last - 2] < 0.0 or reach >= _STRIDE:
        points[last] = points[2 + foot]
        _copy_mark(covariance, anchor, at)
        walks[last - 2] = 0.0


@njit(
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
        nb.float64[:, ::1],
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
    softness,
    settings,
    told,
):
    """Correct by a foot that stands: its centre is where it was, its lowest point is still.

    Measured are the `centre` (3,) and how fast the lowest point passes the trunk's origin, (3,), in trunk axes. What
    they are linear in is taken where the foot is expected, since noise that is in both pulls at the offsets: `arm`
    (3, 3) the centre's Jacobian in `odom`; `contact` (3,), `jacobian` (3, 3) and `bend` (3, 3) the lowest point, its
    Jacobian, and the change of its velocity with the angles, in trunk axes. `softness` (3, 3) is the covariance of the
    velocity with which the ground yields, for one sample [m^2/s^2], `told` (2,) are the squared innovations.
    """
    n = covariance.shape[0]
    at, joints = n - 3 * (points.shape[0] - 2 - foot), JOINTS + 3 * foot
    seen, noise, lever, spin = np.zeros((3, n)), np.zeros((3, 3)), np.zeros((3, 3)), np.zeros((3, 3))
    for i in range(3):  # xi_d - xi_p + R J e
        seen[i, at + i], seen[i, POSITION + i] = 1.0, -1.0
        noise[i, i] = settings[PLACE] ** 2
    noise += _RELAXATION**2 * softness
    seen[:, joints : joints + 3] = arm
    innovation = points[2 + foot] - points[1] - rotation @ centre
    told[0] = _correct(rotation, points, biases, offsets, covariance, seen, innovation, noise, settings[GATE])
    skew(contact, lever)
    skew(rate, spin)
    seen[:] = 0.0
    for i in range(3):  # xi_v + R [c] e_g - R (d(J q')/dq + [w] J) e
        seen[i, VELOCITY + i] = 1.0
    seen[:, GYRO : GYRO + 3] = rotation @ lever
    seen[:, joints : joints + 3] = -rotation @ (bend + spin @ jacobian)
    turned = rotation @ jacobian
    noise[:] = settings[RATE] ** 2 * (turned @ turned.T) + settings[SLIP] ** 2 / weight * np.eye(3)
    noise += softness
    innovation = points[0] + rotation @ passing
    told[1] = _correct(rotation, points, biases, offsets, covariance, seen, innovation, noise, settings[GATE])


@njit(nb.void(nb.float64, WRITTEN, nb.float64, WRITTEN, nb.float64[:, ::1], WRITTEN), **COMPILED)
def _feel(age, motion, dt, normal, means, speeds):  # type: ignore[no-untyped-def]
    """Take the velocity (3,) of a foot's lowest point at an age of its contact [s] into the softness of the ground.

    It counts about its mean over the contact, for the trunk's velocity may be wrong, and by its product with the last,
    which noise has no part in. `means` (2, 3) are that mean and the last deviation, `speeds` as in :func:`step`.
    """
    if _IMPACT <= age < _ARRIVAL:
        speeds[0] += dt / _ARRIVING * (motion @ motion - speeds[0])
    if age < _SINKING:
        return
    if age < _SINKING + dt:
        means[0], means[1] = motion, 0.0
    off = motion - means[0]
    means[0] += max(dt / (age - _SINKING + dt), dt / _MEAN) * off
    if off @ off >= _FASTEST**2:
        off[:] = 0.0
    along = (normal @ off) * (normal @ means[1])
    speeds[1] += dt / _STANDING * (0.5 * (off @ means[1] - along) - speeds[1])
    speeds[2] += dt / _STANDING * (along - speeds[2])
    means[1] = off


@njit(nb.void(*_STATE, nb.float64[::1], nb.float64), **COMPILED)
def _rest(rotation, points, biases, offsets, covariance, angular, speed):  # type: ignore[no-untyped-def]
    """Correct by a trunk at rest: its velocity is zero, up to a `speed` [m/s], and the angular rate is the bias."""
    for at, deviation in ((VELOCITY, speed), (GYRO, _REST_RATE)):
        seen = np.zeros((3, covariance.shape[0]))
        for i in range(3):
            seen[i, at + i] = 1.0
        innovation = points[0].copy() if at == VELOCITY else biases[0] - angular
        noise = deviation**2 * np.eye(3)
        _correct(rotation, points, biases, offsets, covariance, seen, innovation, noise, 1e9)


@njit(
    nb.void(
        *_STATE,
        nb.float64[:, ::1],
        nb.float64[:, :, ::1],
        nb.float64[::1],
        nb.float64[:, ::1],
        nb.float64,
        nb.float64[:, ::1],
        nb.float64[::1],
        nb.float64[::1],
        nb.float64[::1],
        nb.float64[::1],
        nb.boolean,
        nb.float64[::1],
        nb.float64[:, :, :, ::1],
        nb.float64[:, :, ::1],
        nb.float64[:, :, ::1],
        nb.float64[:, ::1],
        nb.float64,
        nb.float64[::1],
    ),
    **COMPILED,
)
def step(  # type: ignore[no-untyped-def]
    rotation,
    points,
    biases,
    offsets,
    covariance,
    stance,
    means,
    walks,
    told,
    dt,
    imu,
    q,
    rates,
    weights,
    normal,
    at_rest,
    speeds,
    rotations,
    translations,
    axes,
    feet,
    radius,
    settings,
):
    """Take in one sample: predict, roll the feet that stand, correct.

    `stance` (2, L) holds the feet's times on the ground [s] and whether they stood at the last sample; `means`
    (L, 2, 3) the means of their velocities and the last deviations from those [m/s]; `walks` (L + 1,) what `predict`
    needs, `imu` (3, 3) the last angular rate, the present one, the mean specific force between them. `speeds` (3,) are
    the mean square of the velocities of feet that arrive, and the variances of those of feet that stand, along an axis
    of the ground and along its normal [m^2/s^2].
    """
    n_feet = weights.shape[0]
    settle = settings[SETTLE]
    settle += max(_ARRIVAL - settle, 0.0) * min(max(math.sqrt(speeds[0]) / _SLIDING - 0.5, 0.0), 1.0)
    creep, yielding = max(speeds[1] - _STILL**2, 0.0), max(speeds[2] - _STILL**2, 0.0)
    upright = normal.reshape(3, 1) * normal
    softness = _CREEP**2 * creep * (np.eye(3) - upright) + _YIELD**2 * yielding * upright
    shares, stood = np.zeros(n_feet), stance[1].copy()
    for foot in range(n_feet):
        stance[0, foot] = max(stance[0, foot] + dt, 0.0) if weights[foot] > 0.5 else -np.inf
        stance[1, foot] = 1.0 if stance[0, foot] >= settle - _ROUNDING else 0.0
        shares[foot] = stance[1, foot] * max(weights[foot], 0.1)
        walks[foot] = 0.0 if stance[0, foot] > 0.0 else -1.0
        if stance[1, foot] > 0.0 and stood[foot] > 0.0:
            walks[foot] = settings[FOOTHOLD] / shares[foot]
    mean = 0.5 * (imu[0] + imu[1]) - biases[0]
    if dt > 0.0:
        predict(rotation, points, covariance, mean, imu[2] - biases[1], walks, dt, settings)
    down, angles = -radius * (normal @ rotation), q - offsets
    centres, moving = points_and_jacobians(angles, rotations, translations, axes, feet, np.zeros(3))
    contacts, jacobians = points_and_jacobians(angles, rotations, translations, axes, feet, down)
    clean, own_rates = angles.copy(), np.zeros(q.shape[0])
    for foot in range(n_feet):
        if stance[1, foot] > 0.0 and stood[foot] > 0.0:
            off = (points[2 + foot] - points[1]) @ rotation - centres[foot]
            clean[3 * foot : 3 * foot + 3] += _joint_step(np.ascontiguousarray(moving[foot]), off)
    _, arms = points_and_jacobians(clean, rotations, translations, axes, feet, np.zeros(3))
    places, levers = points_and_jacobians(clean, rotations, translations, axes, feet, down)
    unaided = points[0].copy()
    rate, bends = imu[1] - biases[0], np.zeros((n_feet, 3, 3))
    for foot in range(n_feet):
        ahead = -(points[0] @ rotation) - np.cross(rate, places[foot])
        own_rates[3 * foot : 3 * foot + 3] = _joint_step(np.ascontiguousarray(levers[foot]), ahead)
    for j in range(3):
        clean[j::3] += _DIFFERENCE
        _, bent = points_and_jacobians(clean, rotations, translations, axes, feet, down)
        clean[j::3] -= _DIFFERENCE
        for foot in range(n_feet):
            change = np.ascontiguousarray(bent[foot] - levers[foot])
            bends[foot, :, j] = change @ own_rates[3 * foot : 3 * foot + 3] / _DIFFERENCE
    for foot in range(n_feet):
        age = stance[0, foot]
        if age < 0.0:
            continue
        place, arm = points[1] + rotation @ centres[foot].copy(), rotation @ np.ascontiguousarray(arms[foot])
        if age == 0.0:
            _mark(points, covariance, foot, place, arm)
        jacobian, own = np.ascontiguousarray(jacobians[foot]), rates[3 * foot : 3 * foot + 3]
        passing = jacobian @ own + np.cross(rate, contacts[foot])
        _feel(age, rotation @ passing + unaided, dt, normal, means[foot], speeds)
        if stance[1, foot] == 0.0:
            continue
        if stood[foot] == 0.0:
            sunk = min(max(normal @ (place - points[2 + foot]), -_DEEPEST), _DEEPEST)
            place -= yielding / (yielding + _STILL**2) * sunk * normal
            _land(rotation, points, biases, offsets, covariance, foot, place, arm, walks, settings)
        elif dt > 0.0:  # w_shank x (r z), the centre's velocity beside the lowest point's
            rolling = (np.ascontiguousarray(moving[foot]) - jacobian) @ own - np.cross(mean, down)
            points[2 + foot] += dt * (rotation @ rolling)
        lever, bend, share = np.ascontiguousarray(levers[foot]), bends[foot], shares[foot]
        legs = centres[foot].copy(), arm, passing, places[foot].copy(), lever, bend
        _stand(rotation, points, biases, offsets, covariance, foot, *legs, rate, share, softness, settings, told[foot])
    means[:, 0] += points[0] - unaided
    if at_rest:
        _rest(rotation, points, biases, offsets, covariance, imu[1], settings[REST_SPEED])
