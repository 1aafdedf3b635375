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

ROTATION, VELOCITY, POSITION, GYRO, ACCELEROMETER, FEET = 0, 3, 6, 9, 12, 15
"""Offsets in the error vector: three entries each, then three of each foot."""

_FIRST: dict[int, float | tuple[float, ...]] = {
    ROTATION: (0.03, 0.03, 1e-3),
    VELOCITY: 0.1,
    POSITION: 1e-3,
    GYRO: 0.01,
    ACCELEROMETER: 0.1,
}
"""Standard deviations at the beginning: tilt, heading [rad], then [m/s, m, rad/s, m/s^2]."""

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
    contact_share: float = parameter(
        0.11, low=0.01, high=0.5, description="share of the weight on a foot at which contact and air are alike"
    )
    contact_spread: float = parameter(
        0.033, low=1e-3, high=0.2, description="share of the weight that multiplies a foot's odds of contact by e"
    )


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
def _predict(rotation, points, covariance, gyro, force, weights, dt, noise):  # type: ignore[no-untyped-def]
    """Propagate over dt with the mean angular rate and specific force, both without bias.

    `points` are v, p, then the feet; `noise` the densities of gyroscope, accelerometer, their biases and footholds.
    """
    n_feet = points.shape[0] - 2
    gravity = np.zeros((3, 3))
    gravity[0, 1], gravity[1, 0] = GRAVITY * dt, -GRAVITY * dt  # [g] dt with g = (0, 0, -GRAVITY)
    turn, lever, block = rotation * dt, np.zeros((3, 3)), np.zeros((3, 3))
    unit, half = np.eye(3) * dt, gravity * (0.5 * dt)
    for columns in (False, True):
        for foot in range(n_feet):
            if weights[foot] > 0.0:
                _skew(points[2 + foot], lever)
                _add(covariance, FEET + 3 * foot, lever @ turn, GYRO, -1.0, columns)
        _skew(points[1], lever)
        _add(covariance, POSITION, unit, VELOCITY, 1.0, columns)
        _add(covariance, POSITION, half, ROTATION, 1.0, columns)
        _add(covariance, POSITION, lever @ turn, GYRO, -1.0, columns)
        _skew(points[0], lever)
        _add(covariance, VELOCITY, gravity, ROTATION, 1.0, columns)
        _add(covariance, VELOCITY, lever @ turn, GYRO, -1.0, columns)
        _add(covariance, VELOCITY, turn, ACCELEROMETER, -1.0, columns)
        _add(covariance, ROTATION, turn, GYRO, -1.0, columns)
    spread = np.zeros((3 * (n_feet + 3), 3))  # of the gyroscope's noise, which turns everything about the origin
    at = np.zeros(n_feet + 3, dtype=np.int64)
    for k in range(n_feet + 3):
        at[k] = 3 * k if k < 3 else FEET + 3 * (k - 3)  # attitude, velocity, position, then feet
        if k == 0:
            spread[0, 0] = spread[1, 1] = spread[2, 2] = 1.0
        elif k < 3 or weights[k - 3] > 0.0:
            _skew(points[k - 1], lever)
            spread[3 * k : 3 * k + 3] = lever
    variance = noise[0] ** 2 * dt
    for a in range(n_feet + 3):
        for b in range(n_feet + 3):
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
        for foot in range(n_feet):
            if weights[foot] > 0.0:
                covariance[FEET + 3 * foot + i, FEET + 3 * foot + i] += (noise[4] / weights[foot]) ** 2 * dt
    change = rotation @ force
    change[2] -= GRAVITY
    points[1] += dt * points[0] + 0.5 * dt * dt * change
    points[0] += dt * change
    _exponential(gyro * dt, block, lever)
    rotation[:] = rotation @ block


@nb.njit(
    nb.float64(
        nb.float64[:, ::1],
        nb.float64[:, ::1],
        nb.float64[:, ::1],
        nb.float64[:, ::1],
        nb.float64[:, ::1],
        nb.float64[:, ::1],
        nb.float64[::1],
        nb.float64,
    ),
    **COMPILED,
)
def _correct(rotation, points, biases, covariance, gains, variance, innovation, gate):  # type: ignore[no-untyped-def]
    """Correct by an innovation H xi (3,); `gains` holds C H' (n, 3) and `variance` H C H' and the noise, (6, 3).

    The squared innovation over its variance is given back; beyond the gate the noise is widened by as much.
    """
    total = variance[:3] + variance[3:]
    squared = innovation @ np.linalg.solve(total, innovation)
    if squared > gate:
        total = variance[:3] + variance[3:] * (squared / gate)
    inverse = np.linalg.inv(total)
    n = covariance.shape[0]
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
        at = VELOCITY if k == 0 else POSITION if k == 1 else FEET + 3 * (k - 2)
        points[k] = turn @ points[k] + left @ step[at : at + 3].copy()
    biases[0] += step[GYRO : GYRO + 3]
    biases[1] += step[ACCELEROMETER : ACCELEROMETER + 3]
    return squared


@nb.njit(
    nb.void(
        nb.float64[:, ::1],
        nb.float64[:, ::1],
        nb.float64[:, ::1],
        nb.float64[:, ::1],
        nb.float64[::1],
        nb.float64[:, ::1],
        nb.float64[:, ::1],
        nb.float64[:, :, ::1],
        nb.float64[::1],
        nb.float64[::1],
        nb.float64[::1],
        nb.float64[::1],
        nb.float64[:, ::1],
    ),
    **COMPILED,
)
def _observe(  # type: ignore[no-untyped-def]
    rotation, points, biases, covariance, angular, centres, contacts, jacobians, rates, weights, fresh, noise, told
):
    """Correct by all feet that stand: places and velocities. `told` (L, 2) holds their squared innovations.

    `noise`: error of a place, of the rates, slip speed, gate.
    """
    n = covariance.shape[0]
    gains, variance, lever = np.empty((n, 3)), np.empty((6, 3)), np.empty((3, 3))
    for foot in range(weights.shape[0]):
        at = FEET + 3 * foot
        if weights[foot] <= 0.0:
            continue
        if fresh[foot] > 0.0:
            points[2 + foot] = points[1] + rotation @ centres[foot]
            covariance[at : at + 3] = covariance[POSITION : POSITION + 3]
            covariance[:, at : at + 3] = covariance[:, POSITION : POSITION + 3]
            for i in range(3):
                covariance[at + i, at + i] += noise[0] ** 2
        for i in range(n):
            for j in range(3):
                gains[i, j] = covariance[i, at + j] - covariance[i, POSITION + j]
        variance[:] = 0.0
        for i in range(3):
            for j in range(3):
                variance[i, j] = gains[at + i, j] - gains[POSITION + i, j]
            variance[3 + i, i] = noise[0] ** 2
        innovation = points[2 + foot] - points[1] - rotation @ centres[foot]
        told[foot, 0] = _correct(rotation, points, biases, covariance, gains, variance, innovation, noise[3])
        # the lowest point of the foot stands still
        own = rates[3 * foot : 3 * foot + 3]
        _skew(contacts[foot], lever)
        turned = rotation @ lever
        for i in range(n):
            for j in range(3):
                gains[i, j] = covariance[i, VELOCITY + j]
                for k in range(3):
                    gains[i, j] += covariance[i, GYRO + k] * turned[j, k]
        arm = rotation @ np.ascontiguousarray(jacobians[foot])
        spread = noise[1] ** 2 * (arm @ arm.T)
        for i in range(3):
            for j in range(3):
                variance[i, j] = gains[VELOCITY + i, j]
                for k in range(3):
                    variance[i, j] += turned[i, k] * gains[GYRO + k, j]
                variance[3 + i, j] = spread[i, j]
            variance[3 + i, i] += noise[2] ** 2 / weights[foot]
        innovation = points[0] + arm @ own + rotation @ np.cross(angular - biases[0], contacts[foot])
        told[foot, 1] = _correct(rotation, points, biases, covariance, gains, variance, innovation, noise[3])


@nb.njit(
    nb.void(
        nb.float64[:, ::1], nb.float64[:, ::1], nb.float64[:, ::1], nb.float64[:, ::1], nb.float64[::1], nb.float64
    ),
    **COMPILED,
)
def _rest(rotation, points, biases, covariance, angular, speed):  # type: ignore[no-untyped-def]
    """Correct by a trunk at rest: its velocity is zero, up to a `speed` [m/s], and the angular rate is the bias."""
    n = covariance.shape[0]
    gains, variance = np.empty((n, 3)), np.zeros((6, 3))
    for at, deviation in ((VELOCITY, speed), (GYRO, _REST_RATE)):
        gains[:] = covariance[:, at : at + 3]
        variance[:3] = covariance[at : at + 3, at : at + 3]
        variance[3:] = deviation**2 * np.eye(3)
        innovation = points[0].copy() if at == VELOCITY else biases[0] - angular
        _correct(rotation, points, biases, covariance, gains, variance, innovation, 1e9)


class StateFilter:
    """Estimate of attitude, velocity, position and IMU biases of one robot, from one IMU sample to the next.

    Attributes:
        legs: geometry of the legs, in the order of the feet.
        rotation: (3, 3) of the trunk in `odom`.
        points: velocity of the trunk's origin [m/s], its position [m], then the feet's centres [m], in `odom`.
        biases: (2, 3) of the gyroscope [rad/s] and of the accelerometer [m/s^2].
        covariance: (15 + 3 L,)^2 of the right-invariant error: attitude, velocity, position, biases, feet.
        innovations: (L, 2) squared innovations of places and velocities at the last sample, over their variances.
    """

    def __init__(self, robot: Robot, config: StateFilterConfig | None = None) -> None:
        """Start level at the origin, at rest, until :meth:`begin`."""
        self.config = config or StateFilterConfig()
        self.legs = LegGeometry.from_tree(robot.tree, tuple(point.name for point in robot.tree.contacts))
        n_feet = len(robot.tree.contacts)
        self.rotation, self.points = np.eye(3), np.zeros((2 + n_feet, 3))
        self.biases = np.zeros((2, 3))
        self.covariance = np.zeros((FEET + 3 * n_feet,) * 2)
        self.innovations = np.zeros((n_feet, 2))
        self._age = np.full(n_feet, -math.inf)
        self._stands = np.zeros(n_feet, dtype=bool)
        self._rate: Array | None = None

    def begin(self, orientation: Array, velocity: Array, position: Array) -> None:
        """Start at an attitude (4,) (x, y, z, w), velocity [m/s] and position [m] in `odom`, with unknown biases."""
        self.rotation = quaternion_to_matrix(orientation).copy()
        self.points[:] = 0.0
        self.points[0], self.points[1] = velocity, position
        self.biases[:] = 0.0
        deviations = np.zeros(len(self.covariance))
        for at, deviation in _FIRST.items():
            deviations[at : at + 3] = deviation
        self.covariance = np.diag(deviations**2)
        self._age[:] = -math.inf
        self._stands[:] = False
        self._rate = None

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
        c, legs = self.config, self.legs
        self._age = np.where(weights > 0.5, np.maximum(self._age + dt, 0.0), -math.inf)
        stands = self._age >= c.settle - _ROUNDING
        fresh = (stands & ~self._stands).astype(float)
        shares = np.where(stands, np.maximum(weights, 0.1), 0.0)
        if self._rate is not None:
            mean = 0.5 * (self._rate + gyro) - self.biases[0]
            densities = np.array([c.gyro, c.accelerometer, c.gyro_walk, c.accelerometer_walk, c.foothold])
            kept = np.where(self._stands, shares, 0.0)
            _predict(self.rotation, self.points, self.covariance, mean, force - self.biases[1], kept, dt, densities)
        down = -legs.radius * (normal @ self.rotation)
        chain = legs.rotations, legs.translations, legs.axes, legs.feet
        centres, moving = points_and_jacobians(q, *chain, np.zeros(3))
        contacts, jacobians = points_and_jacobians(q, *chain, down)
        if self._rate is not None:  # w_shank x (r z), the centre's velocity beside the lowest point's
            turning = np.einsum("fij,fj->fi", moving - jacobians, rates.reshape(-1, 3)) - np.cross(mean, down)
            self.points[2:] += np.where(self._stands[:, None], dt * turning @ self.rotation.T, 0.0)
        self._rate, self._stands = gyro.copy(), stands
        told = np.array([c.place, c.rate, c.slip, c.gate])
        _observe(
            self.rotation,
            self.points,
            self.biases,
            self.covariance,
            gyro,
            centres,
            contacts,
            jacobians,
            rates,
            shares,
            fresh,
            told,
            self.innovations,
        )
        if at_rest:
            _rest(self.rotation, self.points, self.biases, self.covariance, gyro, c.rest_speed)

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
