"""State estimator: contact-aided invariant extended Kalman filter of the trunk, its footholds and the IMU's biases.

The state is X = (R, v, p, d_1 .. d_L) in the group SE_{L+2}(3) with the biases of gyroscope and accelerometer
(Hartley, Ghaffari, Eustice and Grizzle 2020): attitude R of the trunk, velocity v and position p of its origin, and
centres d_i of the feet that stand, all in `odom`. The error is right-invariant, X_est X^-1 = exp(xi), with

    xi_R' = -R e_g,   xi_v' = g x xi_R - [v] R e_g - R e_a,   xi_p' = xi_v - [p] R e_g,   xi_d' = -[d] R e_g

where e_g, e_a are the errors of the biases. A foot that stands tells twice, by the joints' angles and by their rates:

    R h(q) = d - p,    v + R (w x c(q) + J(q) q') = 0

where h is the foot's centre and c its lowest point in trunk axes. A ball that stands rolls: its centre moves with
d' = w_shank x (r z), which is the input of d. Impacts shake the joints: a foot counts from a few milliseconds
after its touchdown on. How much a foot stands is a weight in [0, 1] that divides the variances of its measurements,
and innovations beyond a gate widen them further (a foot that slips).

On soft ground feet slide for some hundredths of a second after their touchdown, sink, rise while they stand, and creep
with the force along the ground. There they count when they slide no longer, their footholds are as high as where they
touched the ground, and the variances of their velocities along the ground and along its normal, by which soft ground is
known, are added to those of what they tell. Errors that are alike in every stride would be taken for offsets, biases
and a slope otherwise.

Offsets e of the joints' angles, which are q - e, are states, too: they bend the way that a foot seems to go, and where
they tilt all legs beside the IMU the robot seems to climb. Footholds show that: one that comes down a stride away from
an older one, the anchor a, and about as high, is taken to be as high, a_z = (p + R h)_z. Ground that rises is left as
it is found.

Position and heading are not observable; their covariance grows, as it must.
"""

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.control.estimation.config import StateFilterConfig
from contact_ddp_ros.control.estimation.filter_steps import (
    ACCELEROMETER,
    GYRO,
    JOINTS,
    POSITION,
    ROTATION,
    SETTINGS,
    VELOCITY,
    skew,
    step,
)
from contact_ddp_ros.robot.legs import LegGeometry
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.rotation import quaternion_to_matrix

Array = NDArray[np.float64]

_FIRST: dict[int, float | tuple[float, ...]] = {
    ROTATION: (0.03, 0.03, 1e-3),
    VELOCITY: 0.1,
    POSITION: 1e-3,
    GYRO: 0.01,
    ACCELEROMETER: 0.1,
}
"""Standard deviations at the beginning: tilt, heading [rad], then [m/s, m, rad/s, m/s^2]."""

_UNKNOWN_SPEED = 1.0
"""Standard deviation of a velocity of which nothing is known [m/s]."""

_UP = np.array([0.0, 0.0, 1.0])


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
        speeds: (3,) softness of the ground: mean square of the velocities of feet that arrive, and the variances of
            those of feet that stand, along an axis of the ground and along its normal [m^2/s^2].
    """

    def __init__(self, robot: Robot, config: StateFilterConfig | None = None) -> None:
        """Start level at the origin, at rest, until :meth:`begin`."""
        self.configure(config or StateFilterConfig())
        self.legs = LegGeometry.from_tree(robot.tree, tuple(point.name for point in robot.tree.contacts))
        n_feet = len(robot.tree.contacts)
        self.rotation, self.points = np.eye(3), np.zeros((3 + n_feet, 3))
        self.biases, self.offsets = np.zeros((2, 3)), np.zeros(3 * n_feet)
        self.covariance = np.zeros((JOINTS + 6 * n_feet + 3,) * 2)
        self.innovations, self.speeds = np.zeros((n_feet, 2)), np.zeros(3)
        self._stance, self._means, self._walks = np.zeros((2, n_feet)), np.zeros((n_feet, 2, 3)), np.zeros(n_feet + 1)
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
        self.speeds[:] = 0.0
        self._walks[:] = -1.0
        self._began = False

    def forget_velocity(self, blow: Array | None = None) -> None:
        """Take the velocity for unknown, so that the next foot that stands tells it and moves nothing else.

        A `blow` is a specific force (3,) in trunk axes, zero along the axes that were measured in full: what is known
        of the velocity along those stays. Along the others it is forgotten; a trunk that moved against the blow has
        lost that speed, as bodies do that hit the ground.
        """
        self.speeds[:] = 0.0  # which a wrong velocity makes, too
        lost = np.eye(3) if blow is None else self.rotation[:, blow != 0.0]
        unknown, kept = lost @ lost.T, np.eye(3) - lost @ lost.T
        axes = slice(VELOCITY, VELOCITY + 3)
        self.covariance[axes] = kept @ self.covariance[axes]
        self.covariance[:, axes] = self.covariance[:, axes] @ kept
        self.covariance[axes, axes] += _UNKNOWN_SPEED**2 * unknown
        if blow is not None:
            along = lost.T @ self.points[0]
            self.points[0] -= lost @ np.where(along * blow[blow != 0.0] < 0.0, along, 0.0)

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
        step(
            self.rotation,
            self.points,
            self.biases,
            self.offsets,
            self.covariance,
            self._stance,
            self._means,
            self._walks,
            self.innovations,
            dt if self._began else 0.0,
            imu,
            q,
            rates,
            weights,
            normal,
            at_rest,
            self.speeds,
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
        skew(self.points[1], lever)
        errors[:3, POSITION : POSITION + 3], errors[:3, :3], errors[3:, :3] = np.eye(3), -lever, np.eye(3)
        return errors @ self.covariance @ errors.T

    @property
    def twist_covariance(self) -> Array:
        """(6, 6) of velocity [m/s] and angular rate [rad/s] in trunk axes."""
        errors = np.zeros((6, len(self.covariance)))
        errors[:3, VELOCITY : VELOCITY + 3], errors[3:, GYRO : GYRO + 3] = self.rotation.T, -np.eye(3)
        return errors @ self.covariance @ errors.T
