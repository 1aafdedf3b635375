r"""Capture: a trot without a plan under a robot that runs or spins, until it is slow enough to stand.

Where no policy comes any more, a robot that runs cannot just stand: where the floor grips, four feet that stop pitch it
over, since friction acts at the feet and their load holds against a deceleration of no more than g x / h (x their
distance ahead of the centre of mass, h its height). It has to step (Raibert 1986, ch. 2; Pratt et al. 2006).

Diagonal pairs of feet take turns of T each. In heading axes (x forward, y left, z up, the trunk's yaw taken out), with
v and omega of the trunk, the pair on the ground makes the force and the moment about the centre of mass

    F = m (-a v / max(|v|, v_0), g + k_z (h - z) - d_z v_z)        M = -I (k (roll, pitch, 0) + d omega)

with the deceleration a, the stand's height h and the tilt against the ground. Foot forces f_i solve sum f_i = F,
sum r_i x f_i = M in the least squares of accelerations: no moment about the line through two feet is to be had, and
the inertias say which part of M gives way. A foot that would pull has no force; the others are cut to their friction
cones, and tau_i = -J_i' f_i. A drive's target velocity is that of a leg over a resting foot, so that it damps slip. The
pair in the air swings to where it lands half a stance and c ahead of its hips,

    r = r_hip + (T / 2 + c) (v + omega x r_hip)

and a foot of the other pair that hangs above the ground is held there, too: torque without a ground flings a leg. In
the first step no foot swings: a gait may leave any of them on the ground.
"""

import math

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.control.stand import StandLaw
from contact_ddp_ros.robot.ground import Ground
from contact_ddp_ros.robot.joint_pd import JointTargets
from contact_ddp_ros.robot.joints import LEG_NAMES
from contact_ddp_ros.robot.legs import LegGeometry
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.rotation import quaternion_to_matrix, quaternion_to_rpy
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.robot.tree import composite_body

Array = NDArray[np.float64]

_PAIRS = tuple([LEG_NAMES.index(leg) for leg in pair] for pair in (("fr", "hl"), ("fl", "hr")))
"""Diagonal pairs of legs."""
_FAST, _SLOW = (0.8, 2.5), (0.5, 1.5)
"""Horizontal speed [m/s] and turn rate [rad/s] from which on the robot steps, and up to which it then does."""
_UPRIGHT = 0.2
"""Tilt against the ground within which stepping may end [rad]."""
_STEP_TIME, _LONGEST = 0.1, 3.0
"""Time of a step, T, and of all steps at most [s]."""
_BRAKING = 3.0
"""Deceleration a [m/s^2]: a third of what floors give, so that a trot's feet stay loaded."""
_LEAD, _REACH = 0.03, 0.2
"""Time c by which feet land further ahead [s], and the furthest from below the hip that they land [m]."""
_LIFT, _TOUCH, _FOLLOW = 0.04, 0.02, 0.04
"""Height of a swing, height above the ground up to which a foot counts as on it, and the furthest that the target of a
foot which hangs above it is from that foot [m]."""
_HEIGHT, _TILT, _TURN = (200.0, 20.0), (150.0, 20.0), 15.0
"""Gains k and d [1/s^2], [1/s] of height and of roll and pitch, and d of yaw."""
_MOST_LOAD = 2.0
"""Largest vertical force, in weights."""
_RADIUS = 0.1
"""Least squares weigh an angular acceleration as the acceleration at this distance [m]."""
_NEWTON_STEPS, _NEWTON_MOST, _DAMPING = 4, 0.5, 1e-4
"""Steps of the inverse kinematics, the largest change of an angle in one [rad], and its damping [m^2]."""
_DOWN = np.array([0.0, 0.0, -1.0])


class CaptureLaw:
    """Joint targets from :meth:`start` until :attr:`done`."""

    def __init__(self, robot: Robot, geometry: LegGeometry, stand: StandLaw) -> None:
        """`stand` has the gains of legs in the air, and the pose whose height is held."""
        body = composite_body(robot.tree, robot.standing)
        self._geometry, self._stand = geometry, stand
        self._mass, self._inertia, self._centre = body.mass, np.diag(body.inertia), body.com
        self._gravity = float(np.linalg.norm(robot.tree.gravity))
        self._hips = stand.feet * (1.0, 1.0, 0.0)
        self._height = -float(stand.feet[:, 2].mean())
        self.done = True
        """End of the capture: the robot is slow enough to stand, or has stepped for as long as it may."""
        self.contacts = (True,) * len(stand.feet)
        """Feet that should be on the ground, in the order of FOOT_NAMES."""
        self._started = self._stepped = 0.0
        self._swinging: int | None = None
        self._lifted = self._hips
        self._joints = robot.standing

    def start(self, state: RobotState, now: float) -> None:
        """Begin at time `now` [s]; done at once where the robot is not fast."""
        self.done = not _exceeds(_FAST, state)
        self._started = self._stepped = now
        self._swinging, self.contacts = None, (True,) * len(self.contacts)
        self._joints = state.joint_positions

    def shift(self, offset: float) -> None:
        """Move the steps by `offset` [s]: the clock has jumped by it."""
        self._started += offset
        self._stepped += offset

    def take_over(self, other: "CaptureLaw") -> None:
        """Go on with the steps of another law, under this one's stand."""
        for name in ("done", "contacts", "_started", "_stepped", "_swinging", "_lifted", "_joints"):
            setattr(self, name, getattr(other, name))

    def targets(self, state: RobotState, now: float, late: float, ground: Ground) -> JointTargets | None:
        """Joint targets for a finite state above a ground at time `now` [s], which act `late` [s] after the state.

        None where the robot is slow enough to stand.
        """
        upright = max(map(abs, ground.tilt_of(state.orientation))) <= _UPRIGHT
        stepped = now - self._started > _STEP_TIME
        self.done = (stepped and upright and not _exceeds(_SLOW, state)) or now - self._started > _LONGEST
        return None if self.done else self._stepping(state, now, late, ground)

    def _stepping(self, state: RobotState, now: float, late: float, ground: Ground) -> JointTargets:
        rotation = quaternion_to_matrix(state.orientation)
        level = _about_z(-float(quaternion_to_rpy(state.orientation)[2])) @ rotation
        feet, jacobians = self._geometry.points_and_jacobians(state.joint_positions, -rotation[2])
        below = feet @ level.T
        places = state.position + feet @ rotation.T
        above = places[:, 2] - (ground.height + places[:, :2] @ ground.slopes)
        self._step(below, above, now)
        share, rate = _swung((now + late - self._stepped) / _STEP_TIME)
        goals = self._landings(level, state)
        goals[:, 2] = below[:, 2] - above
        swings, way = ~np.array(self.contacts), goals - self._lifted
        rates = np.zeros_like(goals)
        rates[swings] = (rate * way)[swings]
        hanging = ~swings & (above > _TOUCH)
        goals[hanging] = (below + np.clip(goals - below, -_FOLLOW, _FOLLOW))[hanging]
        rates[swings, 2] += 4.0 * _LIFT * (1.0 - 2.0 * share) * rate
        goals[swings] = (self._lifted + share * way)[swings]
        goals[swings, 2] += 4.0 * _LIFT * share * (1.0 - share)
        held = self._stand.stiffly(self._angles(goals @ level), _joint_rates(jacobians, rates @ level), state, late)
        down = ~swings & ~hanging
        if down.any():
            forces = self._pushing(below[down], state, level, ground) @ level
            resting = -(state.linear_velocity + np.cross(state.angular_velocity, feet))
            joints = np.repeat(down, feet.shape[1])
            held.torques[joints] = -(jacobians[down].transpose(0, 2, 1) @ forces[:, :, None]).ravel()
            held.positions[joints] = state.joint_positions[joints]
            held.velocities[joints] = _joint_rates(jacobians, resting)[joints]
        return held

    def _step(self, feet: Array, above: Array, now: float) -> None:
        """Change the pairs where a step is over. In the first all feet stand; then the pair swings that is higher."""
        if now - self._stepped < _STEP_TIME:
            return
        self._stepped, self._lifted = now, feet
        if self._swinging is None:
            self._swinging = int(np.argmax([above[pair].sum() for pair in _PAIRS]))
        else:
            self._swinging = 1 - self._swinging
        self.contacts = tuple(leg not in _PAIRS[self._swinging] for leg in range(len(feet)))

    def _landings(self, level: Array, state: RobotState) -> Array:
        """(n_legs, 3) landings under hips that come to rest above them, in heading axes, at the hips' height [m]."""
        hips = self._hips @ level.T
        lead = np.zeros_like(hips)
        moving = level @ state.linear_velocity + np.cross(level @ state.angular_velocity, hips)
        lead[:, :2] = (0.5 * _STEP_TIME + _LEAD) * moving[:, :2]
        length = np.linalg.norm(lead, axis=1, keepdims=True)
        landings: Array = hips + lead * np.minimum(1.0, _REACH / np.maximum(length, _REACH))
        return landings

    def _angles(self, wanted: Array) -> Array:
        """(12,) joint angles that put the feet at places (n_legs, 3) in trunk axes, or near them."""
        joints = self._joints
        for _ in range(_NEWTON_STEPS):
            feet, jacobians = self._geometry.points_and_jacobians(joints, _DOWN)
            joints = joints + np.clip(_joint_rates(jacobians, wanted - feet), -_NEWTON_MOST, _NEWTON_MOST)
        self._joints = joints
        return joints.copy()

    def _forces(self, feet: Array, state: RobotState, level: Array, ground: Ground) -> Array:
        """(n, 3) forces of the ground on feet (n, 3) in heading axes [N]."""
        velocity, turn = level @ state.linear_velocity, level @ state.angular_velocity
        x, y, z = state.position.tolist()
        wrench = np.zeros(6)
        wrench[:2] = -self._mass * _BRAKING / max(float(np.hypot(*velocity[:2])), _SLOW[0]) * velocity[:2]
        rise = _HEIGHT[0] * (self._height - z + ground.height_at(x, y)) - _HEIGHT[1] * velocity[2]
        weight = self._mass * self._gravity
        wrench[2] = min(max(weight + self._mass * rise, 0.0), _MOST_LOAD * weight)
        tilt = np.array([*ground.tilt_of(state.orientation), 0.0])
        wrench[3:] = -self._inertia * (_TILT[0] * tilt + (_TILT[1], _TILT[1], _TURN) * turn)
        arms = feet - level @ self._centre
        crosses = np.cross(arms[:, None, :], np.eye(3))  # rows r x e_j
        maps = np.concatenate([np.tile(np.eye(3), (len(feet), 1)), crosses.reshape(-1, 3)], axis=1).T
        weights = np.repeat([1.0, _RADIUS], 3) / np.concatenate([np.full(3, self._mass), self._inertia])
        maps, wrench = maps * weights[:, None], wrench * weights
        share = 1e-3 * np.trace(maps @ maps.T)
        forces = (maps.T @ np.linalg.solve(maps @ maps.T + share * np.eye(6), wrench)).reshape(-1, 3)
        return np.asarray(forces)

    def _pushing(self, feet: Array, state: RobotState, level: Array, ground: Ground) -> Array:
        """Forces of feet that only push: those that would pull, most first, have none."""
        forces, kept = np.zeros_like(feet), np.ones(len(feet), bool)
        while kept.any():
            forces[kept] = self._forces(feet[kept], state, level, ground)
            worst = int(np.argmin(np.where(kept, forces[:, 2], np.inf)))
            if forces[worst, 2] >= 0.0:
                break
            kept[worst], forces[worst] = False, 0.0
        return self._within_cones(forces, ground.friction)

    def _within_cones(self, forces: Array, friction: float) -> Array:
        """Forces (n, 3) with no more of a vertical part than a foot may have, and cut to their friction cones."""
        upward = np.minimum(forces[:, 2], _MOST_LOAD * self._mass * self._gravity)
        along = np.linalg.norm(forces[:, :2], axis=1)
        share = np.minimum(1.0, friction * upward / np.maximum(along, 1e-9))
        return np.column_stack([forces[:, :2] * share[:, None], upward])


def _exceeds(limits: tuple[float, float], state: RobotState) -> bool:
    """Comparison of a state's speed along the ground [m/s] and turn [rad/s] with limits: true beyond one of them."""
    x, y, _ = state.linear_velocity.tolist()
    return math.hypot(x, y) > limits[0] or abs(float(state.angular_velocity[2])) > limits[1]


def _swung(progress: float) -> tuple[float, float]:
    """Share of a swing's way after a share of its time, and its rate [1/s], 1.5 times the mean at most: a cubic."""
    r = min(max(progress, 0.0), 1.0)
    return r * r * (3.0 - 2.0 * r), 6.0 * r * (1.0 - r) / _STEP_TIME


def _joint_rates(jacobians: Array, rates: Array) -> Array:
    """(3 n,) joint rates of feet that move at rates (n, 3), damped near straight legs."""
    turned = jacobians.transpose(0, 2, 1)
    return np.asarray((turned @ np.linalg.solve(jacobians @ turned + _DAMPING * np.eye(3), rates[:, :, None])).ravel())


def _about_z(angle: float) -> Array:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
