"""The control law of :mod:`contact_ddp_ros.control.lateral`, whose symbols and equations it uses, compiled."""

from math import asin, cos, sin

import numba as nb
import numpy as np

from contact_ddp_ros.control.allocation import allocated
from contact_ddp_ros.robot.joints import LEG_JOINTS
from contact_ddp_ros.robot.legs import JOINTS_PER_LEG, points_and_jacobians
from contact_ddp_ros.robot.rotation import COMPILED, READ, READ_2D, WRITTEN, quaternion_to_rpy, wrap_angle

_ABAD = LEG_JOINTS.index("abad")
ABADS = slice(_ABAD, None, JOINTS_PER_LEG)
"""The abductions in the joint arrays."""

_GEOMETRY = nb.types.Tuple((nb.float64[:, :, :, ::1], nb.float64[:, :, ::1], nb.float64[:, :, ::1], nb.float64[:, ::1]))
_LIMITS = nb.types.UniTuple(nb.float64, 4)
_SEEN = nb.types.Tuple((*[nb.float64] * 3, nb.float64[:, ::1], WRITTEN, nb.float64, WRITTEN))
_STANCE = nb.types.Tuple((nb.float64[:, :, ::1], WRITTEN, WRITTEN))(
    READ,
    nb.float64[:, ::1],
    nb.float64,
    READ,
    nb.types.UniTuple(nb.float64, 3),
    READ,
    READ_2D,
    nb.int64[:, ::1],
    _GEOMETRY,
    _LIMITS,
)
_STABILISED = nb.types.Tuple((nb.float64, WRITTEN, nb.float64, nb.float64, *[WRITTEN] * 4, nb.float64[:, :, ::1]))(
    *[READ] * 6,
    nb.types.UniTuple(nb.float64, 4),
    nb.types.UniTuple(nb.float64, 4),
    READ,
    READ,
    nb.float64,
    READ,
    nb.float64[:, ::1],
    nb.int64[:, ::1],
    *_GEOMETRY,
    _LIMITS,
    nb.types.UniTuple(nb.float64, 2),
    nb.types.UniTuple(nb.float64, 8),
    _LIMITS,
)


@nb.njit("f8(f8, f8)", **COMPILED)
def _bounded(value, limit):  # type: ignore[no-untyped-def]
    return min(max(value, -limit), limit)


@nb.njit(_SEEN(READ, READ, READ, READ), **COMPILED)
def _observe(orientation, linear_velocity, angular_velocity, body_com):  # type: ignore[no-untyped-def]
    """Where the robot stands beside its plane, in heading axes.

    Roll, pitch, yaw of the trunk [rad], (3, 3) rotation from trunk axes, (3,) centre of mass from the trunk's origin
    [m], its lateral velocity [m/s], and (3,) the angular velocity [rad/s].
    """
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
def _stance(joints, rotation, pitch, com, above, wanted, planned, pairs, geometry, limits):  # type: ignore[no-untyped-def]
    """Rows of each pair's forces (2, 3, 3), how much each foot counts as standing (4,), torques (12,) [N m].

    `above` are the height of the trunk's origin above the ground [m], and the ground's rise over run ahead and to the
    left; `limits` are the feet's radius [m], friction, minimum load [N] and the height from which a foot gets no force
    [m].
    """
    rotations, translations, axes, feet = geometry
    radius, friction, minimum_load, clearance = limits
    height, ahead, aside = above
    n_legs = len(feet)
    q = joints.copy()
    points, jacobians = points_and_jacobians(q, rotations, translations, axes, feet, -radius * rotation[2])
    rows, contact = np.zeros((len(pairs), 3, 3)), np.zeros(n_legs)
    loads, halves, pair_feet = np.zeros((n_legs, 3)), np.zeros((n_legs, 2)), np.zeros((2, 3))
    for pair in range(len(pairs)):
        force_x, force_z = planned[pair, 0], planned[pair, 1]
        if force_x == 0.0 and force_z == 0.0:
            continue
        for side in range(2):
            leg = pairs[pair, side]
            point = rotation @ np.ascontiguousarray(points[leg])
            clear = height + point[2] - ahead * point[0] - aside * point[1]  # below its sole
            contact[leg] = min(max(2.0 - 2.0 * clear / clearance, 0.0), 1.0)
            pair_feet[side] = point - com
        rows[pair] = allocated(wanted, pair_feet, force_x, force_z, friction, minimum_load)
        for side in range(2):
            leg = pairs[pair, side]
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


@nb.njit(**COMPILED)
def _wanted_speed(position, origin, heading, lateral_velocity, limits):  # type: ignore[no-untyped-def]
    """Lateral velocity to go for: as commanded, or back to the line that is held [m/s]."""
    position_gain, velocity_limit = limits
    x, y = position[0] - origin[0], position[1] - origin[1]
    offset = y * cos(heading) - x * sin(heading)
    return lateral_velocity + _bounded(-position_gain * offset, velocity_limit)


@nb.njit(**COMPILED)
def _wanted_wrench(roll, turned, too_fast, roll_rate, turn_rate, gains):  # type: ignore[no-untyped-def]
    """(3,) lateral force [N], roll and yaw moment [N m]; speed and turns are those beyond the wanted ones."""
    force, inertia_x, roll_stiffness, roll_damping, inertia_z, yaw_stiffness, yaw_damping, yaw_error_limit = gains
    turned = _bounded(wrap_angle(turned), yaw_error_limit)
    return np.array(
        [
            force * too_fast,
            inertia_x * (roll_stiffness * roll + roll_damping * roll_rate),
            inertia_z * (yaw_stiffness * turned + yaw_damping * turn_rate),
        ]
    )


@nb.njit(**COMPILED)
def _placed(legs, roll, too_fast, turn_rate, placing):  # type: ignore[no-untyped-def]
    """(4,) abduction angles that put the feet where they shall land [rad]."""
    placement_gain, roll_gain, width, limit = placing
    offsets, reach, rest_angles, stations = legs
    shift = placement_gain * too_fast + roll_gain * roll
    gain = placement_gain * turn_rate
    angles = np.empty(len(offsets))
    for leg in range(len(offsets)):
        outward = offsets[leg] + width * np.sign(offsets[leg]) + shift + gain * stations[leg]
        angle = asin(_bounded(outward / reach[leg], 1.0)) - rest_angles[leg] - roll
        angles[leg] = _bounded(angle, limit)
    return angles


@nb.njit(**COMPILED)
def _moved(targets, measured, placed, contact, step):  # type: ignore[no-untyped-def]
    """(4,) targets moved by `step` [rad] at most towards `placed`; the measured angle, so no stiffness, in contact."""
    moved = np.empty(len(targets))
    for leg in range(len(targets)):
        target = targets[leg] + _bounded(placed[leg] - targets[leg], step)
        moved[leg] = target + contact[leg] * (measured[leg] - target)
    return moved


@nb.njit(_STABILISED, **COMPILED)
def stabilised(  # type: ignore[no-untyped-def]
    position,
    orientation,
    linear_velocity,
    angular_velocity,
    joints,
    forces,
    ground,
    wanted,
    origin,
    targets,
    step,
    body_com,
    legs,
    pairs,
    rotations,
    translations,
    axes,
    feet,
    limits,
    speed_limits,
    gains,
    placing,
):
    """One update of the stabiliser.

    The heading that is held [rad], the abduction targets (4,) to go on from [rad], how far lateral velocity [m/s] and
    roll [rad] are beyond those asked for, and the fields of a LateralCommand.
    """
    radius, length, minimum_load, clearance = limits
    height, friction, ahead, aside = ground
    heading, yaw_rate, lateral_velocity, lean = wanted
    heading = wrap_angle(heading)
    roll, pitch, yaw, rotation, com, velocity, rates = _observe(
        orientation, linear_velocity, angular_velocity, body_com
    )
    too_fast = velocity - _wanted_speed(position, origin, heading, lateral_velocity, speed_limits)
    leaning = roll - lean
    wrench = _wanted_wrench(leaning, yaw - heading, too_fast, rates[0], rates[2] - yaw_rate, gains)
    rows, contact, torques = np.zeros((len(pairs), 3, 3)), np.zeros(len(feet)), np.zeros(len(joints))
    if forces.any():
        rows, contact, torques = _stance(
            joints,
            rotation,
            pitch,
            com,
            (position[2] - height, ahead, aside),
            wrench,
            np.ascontiguousarray(forces).reshape(len(pairs), -1),
            pairs,
            (rotations, translations, axes, feet),
            (radius, friction, minimum_load, clearance),
        )
    placed = _placed(legs, roll, too_fast, rates[2] - yaw_rate, placing)
    targets = _moved(targets, joints[ABADS], placed, contact, step)
    # a foot at rest on the ground turns the abduction backwards by as much as the trunk moves over it
    swing_out = rotation[1] @ np.ascontiguousarray(linear_velocity) / length + rates[0]
    return heading, targets, too_fast, leaning, targets.copy(), -swing_out * contact, torques, wrench, rows
