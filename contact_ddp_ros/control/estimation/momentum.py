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

import numba as nb
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from contact_ddp_ros.control.estimation.config import EstimationConfig
from contact_ddp_ros.robot.legs import JACOBIAN_DAMPING, JOINTS_PER_LEG, LegGeometry, points_and_jacobians
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.rotation import COMPILED, READ, WRITTEN, quaternion_to_matrix
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
        self._integral: Array | None = None
        self._residual = np.zeros(self._model.nv)
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
        self._integral = None

    def update(self, state: RobotState, torques: Array, rate: float) -> None:
        """Take in a finite state and the joint torques (12,) that have acted since the last one [N m].

        `rate` is the bandwidth k [1/s].
        """
        model, data = self._model, self._data
        q = np.concatenate([state.position, state.orientation, state.joint_positions])
        v = np.concatenate([state.linear_velocity, state.angular_velocity, state.joint_velocities])
        pin.computeCoriolisMatrix(model, data, q, v)
        pin.computeGeneralizedGravity(model, data, q)
        momentum = pin.crba(model, data, q, pin.Convention.WORLD) @ v
        drift = data.C.T @ v - data.g
        rates = state.joint_velocities
        drift[BASE:] += torques - self._damping * rates - self._dry * np.tanh(rates / _DRY)
        step = state.time - self._time
        self._time = state.time
        if self._integral is None or not 0.0 <= step <= _LONGEST_STEP:
            self._integral = momentum
            self._residual[:] = 0.0
        elif step > 0.0:
            # implicit in r, so that no bandwidth is too large for the step
            self._integral = self._integral + step * drift
            self._residual = rate * (momentum - self._integral) / (1.0 + rate * step)
            self._integral = self._integral + step * self._residual
        self._look(state, np.stack([self.moments, torques]))

    def _look(self, state: RobotState, moments: Array) -> None:
        """Places of feet and knees, and forces at the feet that explain moments of the joints, (2, n_joints)."""
        legs = self._legs
        rotation = quaternion_to_matrix(state.orientation)
        self.points, self.knees, (self.forces, self.driven), of_feet = _felt(
            state.position,
            rotation,
            state.joint_positions.astype(np.float64),
            moments,
            legs.rotations,
            legs.translations,
            legs.axes,
            legs.feet,
            legs.radius,
        )
        self.wrench = self._residual[:BASE] - of_feet


@nb.njit(
    nb.types.Tuple((nb.float64[:, ::1], nb.float64[:, ::1], nb.float64[:, :, ::1], nb.float64[::1]))(
        READ,
        nb.float64[:, ::1],
        WRITTEN,
        nb.float64[:, ::1],
        nb.float64[:, :, :, ::1],
        nb.float64[:, :, ::1],
        nb.float64[:, :, ::1],
        nb.float64[:, ::1],
        nb.float64,
    ),
    **COMPILED,
)
def _felt(position, rotation, joints, moments, rotations, translations, axes, feet, radius):  # type: ignore[no-untyped-def]
    """Lowest points of the feet (L, 3), knees (L, 3), forces (k, L, 3) that explain k joint moments, in the world.

    Then (6,) the force and the moment of the first of these about the trunk's origin, in trunk axes.
    """
    down = -radius * np.ascontiguousarray(rotation[2])
    local, jacobians = points_and_jacobians(joints, rotations, translations, axes, feet, down)
    last, _ = points_and_jacobians(joints, rotations, translations, axes, np.zeros_like(feet), np.zeros(3))
    points, knees = np.empty((len(feet), 3)), np.empty((len(feet), 3))
    forces = np.empty((len(moments), len(feet), 3))
    wrench = np.zeros(6)
    for leg in range(len(feet)):
        jacobian = np.ascontiguousarray(jacobians[leg])
        square = jacobian @ jacobian.T + JACOBIAN_DAMPING**2 * np.eye(3)
        for k in range(len(moments)):
            weighed = jacobian @ moments[k, JOINTS_PER_LEG * leg : JOINTS_PER_LEG * (leg + 1)]
            force = np.linalg.solve(square, weighed)
            forces[k, leg] = rotation @ force
            if k == 0:
                # What the damping takes of a force would weigh as a payload.
                force += np.linalg.solve(square, JACOBIAN_DAMPING**2 * force)
                wrench[:3] += force
                wrench[3:] += np.cross(local[leg], force)
        points[leg] = position + rotation @ np.ascontiguousarray(local[leg])
        knees[leg] = position + rotation @ np.ascontiguousarray(last[leg])
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
        along = np.hypot(forces[:, 0], forces[:, 1])
        push = driven[:, :2]
        taken = -(forces[:, :2] * push).sum(axis=1) >= _TAKEN * (push * push).sum(axis=1)
        met = (
            swinging
            & (knees[:, 2] - points[:, 2] > _ABOVE)
            & taken
            & (along > config.stumble_force)
            & (along > np.abs(forces[:, 2]))
        )
        self._since = np.where(met, np.minimum(self._since, time), np.inf)
        for foot in np.flatnonzero(time - self._since >= _LASTS):
            self._place = points[foot, :2].copy()
        if self._place is not None and np.hypot(*(position[:2] - self._place)) > config.stumble_reach:
            self._place = None

    def roughness(self, config: EstimationConfig) -> float:
        """Roughness of the ground near that place [m]; 0 elsewhere."""
        return config.stumble_roughness if self._place is not None else 0.0
