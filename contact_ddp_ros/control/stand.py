"""Standing: a smooth way to the standing pose from wherever the joints are, then stiff joints that carry the weight.

The pose is reached along a minimum-jerk path (Flash and Hogan 1985), s(r) = 10 r^3 - 15 r^4 + 6 r^5. On the way the
torques that carry the robot's weight on four equally loaded feet, tau = -J' (0, 0, m g / 4), come in with s. A robot
whose legs lie somewhere (it has just been damped in the middle of a leap) folds them first, which lays it down level
with its feet below its hips: straight from there to the pose it would tip over.

A trunk that moves with horizontal velocity v has its feet's targets shifted by c v. In the air this puts the feet
where a linear inverted pendulum of that speed comes to rest (the capture point, c = sqrt(h / g) for a point foot;
four feet need less). On the ground, where the feet do not move, the same shift pulls the trunk back as a damper:
the offset x of the feet obeys x = c v = -c dx/dt.

On a slope that is felt the trunk is parallel to the ground, with its feet shifted downhill by their depth times the
slope, so that the vertical through it meets the middle of its feet; the weight acts along that vertical.

Coming out of a gait the legs reach the pose promptly (:meth:`StandLaw.catch`), for feet that are about to land. A trunk
that is then low or tilted is not thrown up: the feet's targets follow the ground below it, as it is seen from the trunk
at that moment, and the trunk rises from there at a speed of its own.
"""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.control.config import MoveConfig, StandConfig
from contact_ddp_ros.robot.ground import Ground
from contact_ddp_ros.robot.joint_pd import JointTargets
from contact_ddp_ros.robot.joints import JOINT_NAMES
from contact_ddp_ros.robot.legs import LegGeometry
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.rotation import quaternion_to_matrix, quaternion_to_rpy, rpy_to_quaternion
from contact_ddp_ros.robot.state import DriveGains, RobotState

Array = NDArray[np.float64]

_DOWN = np.array([0.0, 0.0, -1.0])
_PROMPT, _TOO_LATE = 0.005, 0.01
"""Delays up to which the fed-forward part of the gains is whole, and from which on it would only shake the legs [s]."""
_LEAN_TIME = 0.2
"""Time to lean against a slope [s], before the weight is on the legs: on a steep one the robot would tip over."""
_NEWTON_STEPS = 6
"""Steps of the inverse kinematics of a shifted foot; half a millimetre is left of the deepest crouch."""
_RISE_SPEED = 0.2
"""Mean rising speed of the lowest corner of a trunk that comes out of a gait [m/s]."""
_DEEPEST = 0.7
"""The furthest that a foot is drawn up for that, as a share of its depth in the standing pose."""


class StandLaw:
    """Joint targets from the moment of :meth:`start` on."""

    def __init__(self, robot: Robot, geometry: LegGeometry, drive: DriveGains, config: StandConfig) -> None:
        """`drive` are the gains that the drives apply by themselves; the rest of the stand gains is fed forward."""
        n_legs = len(geometry.feet)
        self.config = config
        self._geometry = geometry
        self._pose = np.tile(np.asarray(config.pose, float), n_legs)
        self.fold = np.tile(np.asarray(config.fold, float), n_legs)
        """(12,) joint angles of folded legs [rad]."""
        self._is_knee = np.tile([False, False, True], n_legs)
        self._extra_kp = np.tile(np.asarray(config.kp, float), n_legs) - drive.kp
        self._extra_kd = np.tile(np.asarray(config.kd, float), n_legs) - drive.kd
        self.feet, jacobians = geometry.points_and_jacobians(self._pose, _DOWN)
        """(n_legs, 3) contact points of the pose in trunk axes [m]."""
        self._inverses = np.linalg.inv(jacobians)
        self._load = robot.mass / n_legs * float(np.linalg.norm(robot.tree.gravity))
        """Load of a foot [N]."""
        self._origin = self._pose
        self._aim = self._pose
        """(12,) where the way leads, leant against the ground [rad]."""
        self._started = 0.0
        self._moved = -math.inf
        self._folding = 0.0
        self._duration = config.ramp_time
        self._lifts = np.zeros((n_legs, 3))
        """(n_legs, 3) from the feet of the pose to where they are below the trunk that is to rise [m]."""

    def start(self, now: float, joint_positions: Array, duration: float, *, fold: bool = False) -> None:
        """Begin at time `now` [s] from `joint_positions` (12,) [rad] and reach the pose after `duration` [s].

        With `fold` legs that are far from the pose are folded before, unless they are already; that takes `fold_time`.
        """
        self._origin = np.array(joint_positions, float)
        self._started = now
        far = [
            float(np.abs(self._origin - posture).max()) > self.config.fold_from for posture in (self._pose, self.fold)
        ]
        self._folding = self.config.fold_time if fold and all(far) else 0.0
        self._duration = duration
        self._lifts = np.zeros_like(self._lifts)

    def catch(self, state: RobotState, now: float, ground: Ground) -> None:
        """Begin at time `now` [s] from a gait, above a ground: prompt legs, under a trunk that rises gently."""
        self.start(now, state.joint_positions, self.config.catch_time)
        roll, pitch = ground.tilt_of(state.orientation)
        below = np.array([0.0, 0.0, -_height_above(ground, state)])
        under = (self.feet * (1.0, 1.0, 0.0) + below) @ quaternion_to_matrix(rpy_to_quaternion(roll, pitch, 0.0))
        lifts = under - self.feet
        lifts[:, 2] = np.clip(lifts[:, 2], 0.0, -_DEEPEST * self.feet[:, 2])
        self._lifts = lifts if lifts[:, 2].max() > _RISE_SPEED * self._duration else np.zeros_like(lifts)

    def shift(self, offset: float) -> None:
        """Move the start of the way by `offset` [s]: the clock has jumped by it."""
        self._started += offset
        self._moved += offset

    def take_over(self, other: "StandLaw") -> None:
        """Go on with the way that another law is on, under this one's configuration."""
        self._origin, self._started, self._moved = other._origin, other._started, other._moved
        self._folding, self._duration, self._aim = other._folding, other._duration, other._aim
        self._lifts = other._lifts

    def progress(self, now: float) -> float:
        """Progress of the way to the stand, from 0 to 1."""
        duration = self._folding + max(self._duration, self._rise_time)
        return min(max((now - self._started) / duration, 0.0), 1.0)

    def watch(self, state: RobotState, now: float) -> None:
        """Note at `now` [s] whether the trunk of a finite state is at rest."""
        if max(map(abs, state.linear_velocity.tolist())) > self.config.rest_speed:
            self._moved = now

    def obstacle(self, state: RobotState, now: float, ground: Ground, config: MoveConfig) -> str:
        """Why a robot that should stand by `now` [s] does not, so that it cannot bound; empty where it does."""
        away = np.abs(state.joint_positions - self._aim)
        joint = int(np.argmax(away))
        if not away[joint] <= config.ready_angle:
            text = f"{JOINT_NAMES[joint]} is {away[joint]:.2f} rad from the standing pose"
            return f"{text}; allowed: {config.ready_angle} rad"
        roll, pitch = ground.tilt_of(state.orientation)
        if not max(abs(roll), abs(pitch)) <= config.ready_angle:
            where = " against the ground" if any(ground.slopes) else ""
            return f"the trunk is tilted by {roll:.2f}, {pitch:.2f} rad{where}; allowed: ±{config.ready_angle}"
        height, standing = _height_above(ground, state), -float(self.feet[:, 2].mean())
        if not abs(height - standing) <= config.ready_height:
            return f"the trunk is {height:.2f} m above the ground; standing: {standing:.2f} ± {config.ready_height} m"
        if not now - self._moved >= self.config.rest_time:
            return f"the trunk has not been slower than {self.config.rest_speed} m/s for {self.config.rest_time} s"
        return ""

    def targets(self, state: RobotState, now: float, late: float = 0.0, ground: Ground | None = None) -> JointTargets:
        """Joint targets for a finite state at time `now` [s], which act `late` [s] after the state was measured.

        `ground` is what is felt, level by default.
        """
        elapsed = now - self._started
        shift = weight = np.zeros_like(self._pose)
        if self._folding > 0.0 and elapsed < self._folding:
            origin, goal = self._origin, self.fold
            s, rate = self._fold_progress(elapsed)
        else:
            share, its_rate = minimum_jerk(elapsed - self._folding, self._duration)
            s, rate = np.full_like(self._pose, share), np.full_like(self._pose, its_rate)
            origin = self.fold if self._folding else self._origin
            slopes = minimum_jerk(elapsed - self._folding, _LEAN_TIME)[0] * _slopes(ground, state)
            lifts = self._lifts
            if lifts.any():
                lifts = (1.0 - minimum_jerk(elapsed, self._rise_time)[0]) * lifts
            self._aim, weight = self._placed(slopes, share * share * self._capture(state), lifts)
            goal = self._aim if lifts.any() else self._pose
            shift, weight = self._aim - goal, share * weight
        positions = origin + s * (goal - origin) + shift
        velocities = rate * (goal - origin)
        targets = self.stiffly(positions, velocities, state, late)
        return replace(targets, torques=targets.torques + weight)

    def stiffly(self, positions: Array, velocities: Array, state: RobotState, late: float = 0.0) -> JointTargets:
        """Targets (12,) [rad], [rad/s] held with the stand's gains; `late` as :meth:`targets`."""
        fed = min(max((_TOO_LATE - late) / (_TOO_LATE - _PROMPT), 0.0), 1.0)
        torques = fed * (
            self._extra_kp * (positions - state.joint_positions)
            + self._extra_kd * (velocities - state.joint_velocities)
        )
        return JointTargets(positions, velocities, torques)

    @property
    def _rise_time(self) -> float:
        """Duration of the trunk's rise out of a gait [s]."""
        return float(self._lifts[:, 2].max()) / _RISE_SPEED

    def _fold_progress(self, elapsed: float) -> tuple[Array, Array]:
        """Share of the way (12,) and its rate [1/s] after some time: first the knees bend, then short legs swing."""
        half = 0.5 * self._folding
        knees, others = minimum_jerk(elapsed, half), minimum_jerk(elapsed - half, half)
        s, rate = (np.where(self._is_knee, knee, other) for knee, other in zip(knees, others, strict=True))
        return s, rate

    def _capture(self, state: RobotState) -> Array:
        """(2,) shift of the feet with the trunk's velocity [m]."""
        shift = self.config.capture_gain * state.linear_velocity[:2]
        length = float(np.hypot(*shift))
        return shift * (self.config.capture_reach / length) if length > self.config.capture_reach else shift

    def _placed(self, slopes: Array, shift: Array, lifts: Array) -> tuple[Array, Array]:
        """(12,) pose on a slope (2,), ahead and aside; torques that carry the weight.

        Feet are shifted (2,) and lifted (n_legs, 3) [m].
        """
        wanted = self.feet.copy()
        wanted[:, :2] += self.feet[:, 2:] * slopes + shift
        wanted += lifts
        joints = self._pose.copy()
        for _ in range(_NEWTON_STEPS):
            feet, jacobians = self._geometry.points_and_jacobians(joints, _DOWN)
            joints += (self._inverses @ (wanted - feet)[:, :, None]).ravel()
        down = -np.array([*slopes, 1.0]) / math.hypot(*slopes, 1.0)
        return joints, (jacobians.transpose(0, 2, 1) @ (self._load * down)).ravel()


def _slopes(ground: Ground | None, state: RobotState) -> Array:
    """(2,) rise over run ahead of the trunk and to its left."""
    if ground is None or not any(ground.slopes):
        return np.zeros(2)
    yaw = float(quaternion_to_rpy(state.orientation)[2])
    return np.array([ground.ahead(yaw), ground.aside(yaw)])


def _height_above(ground: Ground, state: RobotState) -> float:
    x, y, z = state.position.tolist()
    return float(z - ground.height_at(x, y))


def minimum_jerk(elapsed: float, duration: float) -> tuple[float, float]:
    """Share of a way of `duration` [s] that is covered after `elapsed` [s], from 0 to 1, and its rate [1/s]."""
    r = min(max(elapsed / duration, 0.0), 1.0)
    return r**3 * (10.0 + r * (6.0 * r - 15.0)), 30.0 * (r * (1.0 - r)) ** 2 / duration
