r"""What a sagittal plan leaves free: lateral velocity, roll and heading.

Frames. Heading axes: x forward, y left, z up, the trunk's yaw psi taken out; R = R_y(pitch) R_x(roll) turns trunk axes
into them. phi is the roll, c the centre of mass, omega the angular velocity, v_y the lateral velocity of c.

Stance. The pair on the ground is asked for the lateral force and the moments about c

    F_y = -m k_v (v_y - v_y*)
    M_x = -I_xx (k_phi phi + d_phi omega_x)
    M_z = -I_zz (k_psi (psi - psi*) + d_psi (omega_z - psi*'))

with mass m and inertia I of the whole robot in its standing pose. :mod:`contact_ddp_ros.control.allocation` shares
them out as foot forces F_i beside the planned F_x, F_z, within friction and load. The abductions, of which the plan
knows nothing, get all of tau_i = -J_i' R' F_i (J the leg's Jacobian at the point of contact, so that a foot beside the
abduction axis is carried too); hips and knees, which the plan already gives torque to, get the difference to what the
plan meant with the leg in the plane and the trunk level sideways:

    tau_i = -J_i' R' F_i + J_i(abduction 0)' R_y(pitch)' F_plan / 2

A foot that the plan has on the ground but that still hangs above it gets none of this: torque without a ground only
flings the leg. While the foot stands, the abduction's drive has no stiffness and its target velocity is that of a leg
over a resting foot, so that it damps slip, not motion of the trunk.

Each pair stands for less than a quarter of the cycle, one of them for about T_s = 80 of every 180 ms. Over a
stance that begins with (phi, omega) a damping d turns the rate towards -(k / d) phi at e^{-d T_s}; k / d of 5 /s
halves the angle in each flight.

Swing. The pair in the air lands beside its hips by (Raibert 1986, ch. 2)

    dy = k_p (v_y + x omega_z - v_y* - x psi*') + k_r phi

at the distance x of the pair ahead of c. With force through the centre of mass, F_y = -F_z dy / h: one stance carries
the weight of half a cycle, m g T / 2, so it takes m g T dy / (2 h) of lateral momentum without any roll moment; all
of it for k_p = 2 h / (g T) = 0.16 s, besides half a stance, T_s / 2, that the foot travels under the trunk. Less than
that, since F_y above does its part. The abduction angle theta follows from
o cos(theta + phi) + l sin(theta + phi) = o + dy, o being the lateral offset of the foot from the abduction axis and l
the height of that axis above the foot's centre when standing: the leg is placed against the vertical, not against a
rolled trunk.

Heading. psi* integrates the commanded yaw rate from where the bound began. Left and right hips and knees of a pair
part only where roll and yaw make them; the drives' PD around the plan holds them together.
"""

from dataclasses import dataclass
from math import asin, cos, sin

import numba as nb
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.control.allocation import LateralWrench, PairForces, allocated
from contact_ddp_ros.control.config import LateralConfig
from contact_ddp_ros.control.legs import JOINTS_PER_LEG, LegGeometry, composite_body, points_and_jacobians
from contact_ddp_ros.policy import PolicySample
from contact_ddp_ros.robot.joints import LEG_JOINTS, LEG_NAMES
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.planar import PAIRS
from contact_ddp_ros.robot.rotation import COMPILED, READ, READ_2D, WRITTEN, quaternion_to_rpy, wrap_angle
from contact_ddp_ros.robot.state import RobotState

Array = NDArray[np.float64]

_DOWN = np.array([0.0, 0.0, -1.0])
_LONGEST_STEP = 0.02
"""A longer time since the last update counts as this much [s]: the targets do not jump after a pause."""
_ABAD = LEG_JOINTS.index("abad")


@dataclass(frozen=True)
class LateralState:
    """Where the robot stands beside its plane, in heading axes.

    Attributes:
        roll, pitch, yaw: of the trunk [rad].
        rotation: (3, 3) from trunk axes to heading axes.
        com: (3,) centre of mass from the trunk's origin [m].
        velocity: lateral velocity of the centre of mass [m/s].
        rates: (3,) angular velocity [rad/s].
    """

    roll: float
    pitch: float
    yaw: float
    rotation: Array
    com: Array
    velocity: float
    rates: Array


@dataclass(frozen=True)
class LateralCommand:
    """What the stabiliser adds to the planar command.

    Attributes:
        abad_positions: (4,) targets of the abductions, in the order of the legs [rad].
        abad_velocities: (4,) [rad/s].
        torques: (12,) to be added to the planar feedforward [N m].
        wanted: wrench asked of the stance; none of it is had in flight.
        forces: by pair on the ground, what the allocation made of it.
    """

    abad_positions: Array
    abad_velocities: Array
    torques: Array
    wanted: LateralWrench
    forces: dict[str, PairForces]


class LateralStabiliser:
    """Keeps its heading and the abduction targets from one update to the next."""

    def __init__(self, robot: Robot, geometry: LegGeometry, config: LateralConfig) -> None:
        """Mass, inertia and leg length are those of the standing pose."""
        self.config = config
        self._geometry = geometry
        self._body = composite_body(robot.tree, geometry, robot.standing)
        feet, _ = geometry.points_and_jacobians(robot.standing, _DOWN)
        axes = geometry.translations[:, 0]
        self._offsets = feet[:, 1] - axes[:, 1]
        self._length = float(np.mean(axes[:, 2] - feet[:, 2]))
        to_centre = self._length - geometry.radius  # the foot's sphere turns with the leg, its lowest point does not
        self._reach = np.hypot(self._offsets, to_centre)
        self._rest_angles = np.arctan2(self._offsets, to_centre)
        self._sides = np.sign(self._offsets)
        self._stations = axes[:, 0] - self._body.com[0]
        self._pairs = np.array([[LEG_NAMES.index(left), LEG_NAMES.index(right)] for right, left in PAIRS.values()])
        self._abads = np.arange(len(feet)) * JOINTS_PER_LEG + _ABAD
        self._abad_targets = np.zeros(len(feet))
        self._heading = 0.0
        self._origin = np.zeros(2)
        self._yaw_rate = 0.0
        self._lateral_velocity = 0.0

    @property
    def abads(self) -> NDArray[np.int64]:
        """(4,) indices of the abductions in the joint arrays."""
        return self._abads

    @property
    def heading(self) -> float:
        """Yaw that is held [rad]."""
        return self._heading

    def reset(self, state: RobotState) -> None:
        """Hold the present heading and line, beginning from the present abductions."""
        self._heading = float(quaternion_to_rpy(state.orientation)[2])
        self._origin = state.position[:2].copy()
        self._abad_targets = state.joint_positions[self._abads].copy()

    def take_over(self, other: "LateralStabiliser") -> None:
        """Go on with the heading, line and targets of another stabiliser, under this one's configuration."""
        self._heading, self._origin, self._abad_targets = other._heading, other._origin, other._abad_targets

    def steer(self, yaw_rate: float, lateral_velocity: float) -> None:
        """Turn the heading at `yaw_rate` [rad/s] and move left at `lateral_velocity` [m/s] from now on."""
        self._yaw_rate = yaw_rate
        self._lateral_velocity = lateral_velocity

    def update(self, state: RobotState, sample: PolicySample, dt: float) -> LateralCommand:
        """Abduction targets and torques for a checked state, `dt` [s] after the last update."""
        dt = min(max(dt, 0.0), _LONGEST_STEP)
        self._heading = wrap_angle(self._heading + self._yaw_rate * dt)
        seen = self._observe(state)
        speed = self._wanted_speed(state)
        wanted = self._wanted_wrench(seen, speed)
        forces, contact, torques = self._stance(state, seen, wanted, sample)
        placed = self._placement(seen, speed)
        abads = self._move_abads(state.joint_positions[self._abads], placed, contact, dt)
        # a foot at rest on the ground turns the abduction backwards by as much as the trunk moves over it
        swing_out = float(seen.rotation[1] @ state.linear_velocity) / self._length + float(seen.rates[0])
        return LateralCommand(abads, -swing_out * contact, torques, wanted, forces)

    def _stance(
        self, state: RobotState, seen: LateralState, wanted: LateralWrench, sample: PolicySample
    ) -> tuple[dict[str, PairForces], Array, Array]:
        """Forces by pair on the ground, (4,) how much each foot counts as standing, and (12,) torques [N m]."""
        planned = sample.forces.reshape(len(self._pairs), -1)
        if not planned.any():
            return {}, np.zeros(len(self._offsets)), np.zeros(len(state.joint_positions))
        config, geometry, ground = self.config, self._geometry, sample.ground
        rows, contact, torques = _stance(
            state.joint_positions,
            seen.rotation,
            seen.pitch,
            seen.com,
            float(state.position[2]) - ground.height,
            np.array([wanted.force, wanted.roll_moment, wanted.yaw_moment]),
            planned,
            self._pairs,
            (geometry.rotations, geometry.translations, geometry.axes, geometry.feet),
            (geometry.radius, ground.friction, config.minimum_load, config.contact_clearance),
        )
        forces = {name: PairForces.from_rows(of) for name, of, plan in zip(PAIRS, rows, planned) if plan.any()}
        return forces, contact, torques

    def _observe(self, state: RobotState) -> LateralState:
        return LateralState(*_observe(state.orientation, state.linear_velocity, state.angular_velocity, self._body.com))

    def _wanted_speed(self, state: RobotState) -> float:
        """Lateral velocity to go for: as commanded, or back to the line that is held [m/s]."""
        if self._yaw_rate != 0.0 or self._lateral_velocity != 0.0:
            self._origin = state.position[:2].copy()
        x, y = (state.position[:2] - self._origin).tolist()
        offset = y * cos(self._heading) - x * sin(self._heading)
        limit = self.config.velocity_limit
        return self._lateral_velocity + min(max(-self.config.position_gain * offset, -limit), limit)

    def _wanted_wrench(self, seen: LateralState, speed: float) -> LateralWrench:
        config, body = self.config, self._body
        limit = config.yaw_error_limit
        turned = min(max(wrap_angle(seen.yaw - self._heading), -limit), limit)
        roll_rate, _, yaw_rate = seen.rates.tolist()
        return LateralWrench(
            -body.mass * config.velocity_gain * (seen.velocity - speed),
            -body.inertia[0, 0] * (config.roll_stiffness * seen.roll + config.roll_damping * roll_rate),
            -body.inertia[2, 2] * (config.yaw_stiffness * turned + config.yaw_damping * (yaw_rate - self._yaw_rate)),
        )

    def _placement(self, seen: LateralState, speed: float) -> Array:
        """(4,) abduction angles that put the feet where they shall land [rad]."""
        config = self.config
        turning = float(seen.rates[2]) - self._yaw_rate
        shift = config.placement_gain * (seen.velocity - speed) + config.placement_roll_gain * seen.roll
        gain, width = config.placement_gain * turning, config.stance_width
        outward = self._offsets + width * self._sides + shift + gain * self._stations
        return _placed(outward, self._reach, self._rest_angles, seen.roll, config.abad_limit)

    def _move_abads(self, measured: Array, placed: Array, contact: Array, dt: float) -> Array:
        """Targets: rate-limited towards `placed` in swing; the measured angle, so no stiffness, in full contact."""
        self._abad_targets = _moved(self._abad_targets, measured, placed, contact, self.config.abad_rate * dt)
        return self._abad_targets.copy()


_GEOMETRY = nb.types.Tuple((nb.float64[:, :, :, ::1], nb.float64[:, :, ::1], nb.float64[:, :, ::1], nb.float64[:, ::1]))
_SEEN = nb.types.Tuple((*[nb.float64] * 3, nb.float64[:, ::1], WRITTEN, nb.float64, WRITTEN))
_STANCE = nb.types.Tuple((nb.float64[:, :, ::1], WRITTEN, WRITTEN))(
    READ,
    nb.float64[:, ::1],
    nb.float64,
    READ,
    nb.float64,
    READ,
    READ_2D,
    nb.int64[:, ::1],
    _GEOMETRY,
    nb.types.UniTuple(nb.float64, 4),
)


@nb.njit("f8(f8, f8)", **COMPILED)
def _bounded(value, limit):  # type: ignore[no-untyped-def]
    return min(max(value, -limit), limit)


@nb.njit(_SEEN(READ, READ, READ, READ), **COMPILED)
def _observe(orientation, linear_velocity, angular_velocity, body_com):  # type: ignore[no-untyped-def]
    """The fields of :class:`LateralState`."""
    angles = quaternion_to_rpy(orientation)
    roll, pitch, yaw = angles[0], angles[1], angles[2]
    cr, sr, cp, sp = cos(roll), sin(roll), cos(pitch), sin(pitch)
    rotation = np.array([[cp, sp * sr, sp * cr], [0.0, cr, -sr], [-sp, cp * sr, cp * cr]])
    com, rates = np.zeros(3), np.zeros(3)
    velocity = 0.0
    for k in range(3):
        com += rotation[:, k] * body_com[k]
        rates += rotation[:, k] * angular_velocity[k]
        velocity += rotation[1, k] * linear_velocity[k]
    return roll, pitch, yaw, rotation, com, velocity + rates[2] * com[0] - rates[0] * com[2], rates


@nb.njit(nb.float64[:, ::1](READ, nb.float64, nb.float64[:, ::1], nb.float64, _GEOMETRY), **COMPILED)
def _planar_torques(joints, pitch, planned, radius, geometry):  # type: ignore[no-untyped-def]
    """(4, 3) joint torques J' F of planar forces (4, 2) on legs without abduction under a trunk without roll."""
    rotations, translations, axes, feet = geometry
    upright = joints.copy()
    upright[_ABAD::JOINTS_PER_LEG] = 0.0
    sine, cosine = sin(pitch), cos(pitch)
    _, jacobians = points_and_jacobians(
        upright, rotations, translations, axes, feet, radius * np.array([sine, 0.0, -cosine])
    )
    torques = np.zeros((len(feet), JOINTS_PER_LEG))
    for leg in range(len(feet)):
        forward = cosine * planned[leg, 0] - sine * planned[leg, 1]
        upward = sine * planned[leg, 0] + cosine * planned[leg, 1]
        for j in range(JOINTS_PER_LEG):
            if j != _ABAD:
                torques[leg, j] = jacobians[leg, 0, j] * forward + jacobians[leg, 2, j] * upward
    return torques


@nb.njit(_STANCE, **COMPILED)
def _stance(joints, rotation, pitch, com, height, wanted, planned, pairs, geometry, limits):  # type: ignore[no-untyped-def]
    """Rows of each pair's forces (2, 3, 3), how much each foot counts as standing (4,), torques (12,) [N m].

    `height` is that of the trunk's origin above the ground [m]; `limits` are the feet's radius [m], friction,
    minimum load [N] and the height from which a foot gets no force [m].
    """
    rotations, translations, axes, feet = geometry
    radius, friction, minimum_load, clearance = limits
    n_legs = len(feet)
    q = joints.copy()
    points, jacobians = points_and_jacobians(q, rotations, translations, axes, feet, -radius * rotation[2])
    rows, contact = np.zeros((len(pairs), 3, 3)), np.zeros(n_legs)
    loads, halves, pair_feet = np.zeros((n_legs, 3)), np.zeros((n_legs, 2)), np.zeros((2, 3))
    for pair in range(len(pairs)):
        force_x, force_z = planned[pair, 0], planned[pair, 1]
        if force_x == 0.0 and force_z == 0.0:
            continue
        higher = -np.inf
        for side in range(2):
            point = rotation @ np.ascontiguousarray(points[pairs[pair, side]])
            higher = max(higher, point[2])
            pair_feet[side] = point - com
        # of the higher foot: from its sole's height above the ground
        standing = min(max(2.0 - 2.0 * (height + higher) / clearance, 0.0), 1.0)
        rows[pair] = allocated(wanted, pair_feet, force_x, force_z, friction, minimum_load)
        for side in range(2):
            leg = pairs[pair, side]
            contact[leg] = standing
            loads[leg] = rows[pair, side]
            halves[leg, 0], halves[leg, 1] = 0.5 * force_x, 0.5 * force_z
    torques = _planar_torques(q, pitch, halves, radius, geometry)
    for leg in range(n_legs):
        for j in range(JOINTS_PER_LEG):
            for row in range(3):
                load = 0.0  # in trunk axes
                for k in range(3):
                    load += rotation[k, row] * loads[leg, k]
                torques[leg, j] -= jacobians[leg, row, j] * load
            torques[leg, j] *= contact[leg]
    return rows, contact, torques.ravel()


@nb.njit(WRITTEN(READ, READ, READ, nb.float64, nb.float64), **COMPILED)
def _placed(outward, reach, rest_angles, roll, limit):  # type: ignore[no-untyped-def]
    """(4,) abduction angles of feet that are to be `outward` (4,) [m] of their axes, no larger than `limit` [rad]."""
    angles = np.empty(len(outward))
    for leg in range(len(outward)):
        angle = asin(_bounded(outward[leg] / reach[leg], 1.0)) - rest_angles[leg] - roll
        angles[leg] = _bounded(angle, limit)
    return angles


@nb.njit(WRITTEN(READ, READ, READ, READ, nb.float64), **COMPILED)
def _moved(targets, measured, placed, contact, step):  # type: ignore[no-untyped-def]
    """(4,) targets moved by `step` [rad] at most towards `placed`, and to the measured angle as far as in contact."""
    moved = np.empty(len(targets))
    for leg in range(len(targets)):
        target = targets[leg] + _bounded(placed[leg] - targets[leg], step)
        moved[leg] = target + contact[leg] * (measured[leg] - target)
    return moved
