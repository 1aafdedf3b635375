"""Forces at the feet from the robot's generalised momentum: an observer that needs no acceleration and no foot sensor.

With p = M(q) v, joint torques tau, contact forces f and Mdot = C + C' (De Luca et al. 2006),

    pdot = S' tau + C' v - g + J' f,        r = k (p - p(0) - integral of (S' tau + C' v - g + r) dt)

so that r follows J' f with the time constant 1 / k. The rows of a leg's own joints hold that leg's force alone:
r_leg = J_leg' f. A leg that is almost straight shows no force along itself, which a damped inverse leaves out. What the
rows of the base hold beside these forces acts on the trunk: a payload, wind, a push.

See eq. (26) of docs/mathematics.md.

A foot that meets something in its swing: the ground there is higher than the feet are lifted.

A foot that is neither to stand nor felt to stand, and that a force pushes along the ground more than up or down, has
met an edge: one that lands is pushed up. What stops a foot takes all that the torques push it with, where weak or late
torques only take a share; and a leg that is stopped by its knee, low above the ground, would only fold further.
Feet are lifted higher from then on, until the robot has left the place.
"""

import math

import numba as nb
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.control.estimation.config import EstimationConfig
from contact_ddp_ros.robot.legs import JACOBIAN_DAMPING, JOINTS_PER_LEG, LegGeometry, points_and_jacobians
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.rotation import (
    COMPILED,
    FLAGS,
    READ,
    READ_2D,
    WRITTEN,
    quaternion_to_matrix,
    symmetric_inverse,
)
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.robot.tree import BASE, free_flyer_model

Array = NDArray[np.float64]

_DRY = 0.2
"""Joint velocity at which dry friction is mostly there [rad/s]."""
_LONGEST_STEP = 0.02
"""After a longer pause the observer begins anew [s]."""


class MomentumObserver:
    """Follows the forces at the feet from one state to the next.

    Attributes:
        points: (n_feet, 3) lowest points of the feet at the last state, in `odom` [m].
        knees: (n_feet, 3) origins of the legs' last joints, in `odom` [m].
        forces: (n_feet, 3) estimated forces of the ground on the feet, in `odom` axes [N].
        driven: (n_feet, 3) forces with which the joint torques push the feet, those of legs without inertia [N].
        wrench: (6,) force [N], then moment about the trunk's origin [N m], in trunk axes, on the trunk beside those.
    """

    def __init__(self, robot: Robot) -> None:
        """Begin with no force."""
        tree = robot.tree
        self._model = free_flyer_model(tree)
        self._data = self._model.createData()
        self._legs = LegGeometry.from_tree(tree, tuple(point.name for point in tree.contacts))
        drives = tree.joints[BASE:]
        self._damping = np.array([joint.damping for joint in drives])
        self._dry = np.array([joint.dry_friction for joint in drives])
        self._begun = False
        self._integral, self._residual = np.zeros((2, self._model.nv))
        self._time = 0.0
        self.points = np.zeros((len(tree.contacts), 3))
        self.knees = np.zeros((len(tree.contacts), 3))
        self.forces = np.zeros((len(tree.contacts), 3))
        self.driven = np.zeros((len(tree.contacts), 3))
        self.wrench = np.zeros(BASE)

    @property
    def moments(self) -> Array:
        """(n_joints,) what acts on the joints beside the torques: of a leg in the air, errors of its model [N m]."""
        return self._residual[BASE:]

    def forget(self) -> None:
        """Begin anew at the next state."""
        self._begun = False

    def update(self, state: RobotState, torques: Array, rate: float) -> None:
        """Take in a finite state and the joint torques (12,) that have acted since the last one [N m].

        `rate` is the bandwidth k [1/s].
        """
        model, data, legs = self._model, self._data, self._legs
        q = np.concatenate([state.position, state.orientation, state.joint_positions])
        v = np.concatenate([state.linear_velocity, state.angular_velocity, state.joint_velocities])
        pin.computeCoriolisMatrix(model, data, q, v)
        pin.computeGeneralizedGravity(model, data, q)
        inertia = pin.crba(model, data, q, pin.Convention.WORLD)
        step = state.time - self._time
        self._time = state.time
        begins = not self._begun or not 0.0 <= step <= _LONGEST_STEP
        self._begun = True
        _follow(
            inertia,
            data.C.T,
            data.g,
            v,
            torques,
            self._damping,
            self._dry,
            math.inf if begins else step,
            rate,
            self._integral,
            self._residual,
        )
        self.points, self.knees, (self.forces, self.driven), self.wrench = _felt(
            q, self._residual, torques, legs.rotations, legs.translations, legs.axes, legs.feet, legs.radius
        )


@njit(
    nb.void(
        *[nb.types.Array(nb.float64, 2, "C", readonly=True)] * 2,
        *[READ] * 3,
        *[nb.float64[::1]] * 2,
        *[nb.float64] * 2,
        *[nb.float64[::1]] * 2,
    ),
    **COMPILED,
)
def _follow(inertia, coriolis, gravity, v, torques, damping, dry, step, rate, integral, residual):  # type: ignore[no-untyped-def]
    """Integral and residual (n,) a step [s] on, both updated in place; begun anew where it is infinite.

    `inertia` (n, n) is symmetric, `coriolis` C' (n, n).
    """
    for i in range(len(v)):
        momentum, drift = 0.0, -gravity[i]
        for j in range(len(v)):
            momentum += inertia[i, j] * v[j]
            drift += coriolis[i, j] * v[j]
        if i >= BASE:
            k = i - BASE
            drift += torques[k] - damping[k] * v[i] - dry[k] * math.tanh(v[i] / _DRY)
        if step == math.inf:
            integral[i], residual[i] = momentum, 0.0
        elif step > 0.0:
            # implicit in r, so that no bandwidth is too large for the step
            integral[i] += step * drift
            residual[i] = rate * (momentum - integral[i]) / (1.0 + rate * step)
            integral[i] += step * residual[i]


@njit(
    nb.types.Tuple((nb.float64[:, ::1], nb.float64[:, ::1], nb.float64[:, :, ::1], nb.float64[::1]))(
        WRITTEN,
        WRITTEN,
        READ,
        nb.float64[:, :, :, ::1],
        nb.float64[:, :, ::1],
        nb.float64[:, :, ::1],
        nb.float64[:, ::1],
        nb.float64,
    ),
    **COMPILED,
)
def _felt(q, residual, torques, rotations, translations, axes, feet, radius):  # type: ignore[no-untyped-def]
    """Lowest points of the feet (L, 3), knees (L, 3), and two forces (2, L, 3) on each, in the world.

    `q` (7 + 3 L,) is position, quaternion and joints. The first force explains the residual (6 + 3 L,) of the leg, the
    second the drives' torques (3 L,). Then (6,) force and moment that the first leave on the trunk, in its axes.
    """
    rotation, n_feet = quaternion_to_matrix(q[3:7]), len(feet)
    local, jacobians = points_and_jacobians(q[7:], rotations, translations, axes, feet, -radius * rotation[2])
    last, _ = points_and_jacobians(q[7:], rotations, translations, axes, np.zeros_like(feet), np.zeros(3))
    points, knees = np.empty((n_feet, 3)), np.empty((n_feet, 3))
    forces = np.empty((2, n_feet, 3))
    wrench = residual[:BASE].copy()
    square, inverse, force = np.empty((3, 3)), np.empty((3, 3)), np.empty((2, 3))
    for leg in range(n_feet):
        jacobian, first = jacobians[leg], JOINTS_PER_LEG * leg
        for i in range(3):
            force[:, i] = 0.0
            for j in range(3):
                square[i, j] = JACOBIAN_DAMPING**2 if i == j else 0.0
                for m in range(JOINTS_PER_LEG):
                    square[i, j] += jacobian[i, m] * jacobian[j, m]
        symmetric_inverse(square, inverse)
        for i in range(3):
            for m in range(JOINTS_PER_LEG):
                weight = 0.0
                for j in range(3):
                    weight += inverse[i, j] * jacobian[j, m]
                force[0, i] += weight * residual[BASE + first + m]
                force[1, i] += weight * torques[first + m]
        for i in range(3):
            points[leg, i], knees[leg, i] = q[i], q[i]
            forces[:, leg, i] = 0.0
            for j in range(3):
                points[leg, i] += rotation[i, j] * local[leg, j]
                knees[leg, i] += rotation[i, j] * last[leg, j]
                forces[:, leg, i] += rotation[i, j] * force[:, j]
        # What the damping takes of a force would weigh as a payload.
        force[0] += JACOBIAN_DAMPING**2 * (inverse @ force[0])
        x, y, z = force[0]
        wrench[:3] -= force[0]
        wrench[3] -= local[leg, 1] * z - local[leg, 2] * y
        wrench[4] -= local[leg, 2] * x - local[leg, 0] * z
        wrench[5] -= local[leg, 0] * y - local[leg, 1] * x
    return points, knees, forces, wrench


_LASTS = 0.009
"""Least time for which a foot must have been stopped [s]."""
_ABOVE = 0.03
"""Least height of a knee above its foot: below, the knee may have met the ground [m]."""
_TAKEN = 0.8
"""Share of the torques' push along the ground that a foot which has been stopped loses at least."""


class SwingCollisionDetector:
    """The last place where a foot has met something."""

    def __init__(self, n_feet: int) -> None:
        """Begin without one."""
        self._n_feet = n_feet
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self._since = np.full(self._n_feet, np.inf)
        """Beginning of the force on each foot that swings [s]."""
        self._place: Array | None = None

    def update(
        self,
        time: float,
        position: Array,
        points: Array,
        knees: Array,
        forces: Array,
        driven: Array,
        swinging: NDArray[np.bool_],
        config: EstimationConfig,
    ) -> None:
        """Take in the trunk's position (3,) and lowest points of the feet and knees (n_feet, 3) [m] at a time [s].

        `forces` (n_feet, 3) [N] are the ground's on the feet, `driven` those with which the joint torques push them.
        All are in `odom`; `swinging` are the feet that are in the air by schedule and by what is felt, (n_feet,) bool.
        """
        foot = _met(time, points, knees, forces, driven, swinging, config.stumble_force, self._since)
        if foot >= 0:
            self._place = points[foot, :2].copy()
        if self._place is not None and np.hypot(*(position[:2] - self._place)) > config.stumble_reach:
            self._place = None

    def roughness(self, config: EstimationConfig) -> float:
        """Roughness of the ground near that place [m]; 0 elsewhere."""
        return config.stumble_roughness if self._place is not None else 0.0


@njit(nb.int64(nb.float64, *[READ_2D] * 4, FLAGS, nb.float64, WRITTEN), **COMPILED)
def _met(time, points, knees, forces, driven, swinging, least, since):  # type: ignore[no-untyped-def]
    """Index of a foot that something has stopped for long enough, or -1; beginnings (n_feet,) are updated in place."""
    found = -1
    for foot in range(len(since)):
        (x, y, z), (dx, dy, _) = forces[foot], driven[foot]
        along = math.hypot(x, y)
        stopped = -(x * dx + y * dy) >= _TAKEN * (dx * dx + dy * dy) and along > least and along > abs(z)
        if swinging[foot] and stopped and knees[foot, 2] - points[foot, 2] > _ABOVE:
            since[foot] = min(since[foot], time)
        else:
            since[foot] = np.inf
        if time - since[foot] >= _LASTS:
            found = foot
    return found
