r"""Two charts of the trunk's attitude that cover all of them, and the map from one to the other.

    yaw_pitch_roll    R = R_z(yaw) R_y(pitch) R_x(roll)      singular where the trunk's x axis is vertical
    yaw_roll_pitch    R = R_z(yaw) R_x(roll) R_y(pitch)      singular where its y axis is

An attitude is as far from a chart's singularity as that body axis is from the vertical. Two axes at right angles are
not both within 45° of it, so one of the two charts always has its middle angle within ±45°. The world's axes, gravity,
the ground and the heading are the same in both: only the order of the last two joints of the floating base changes.

Rates of a chart's angles θ give the angular velocity in trunk axes, ω = E(θ) θ'. The change from chart a to chart b is

    θ_b = f(θ_a)          θ_b' = J θ_a'          J = ∂f/∂θ_a = E_b⁻¹ E_a

and its derivative by (θ_a, θ_a') is [[J, 0], [C, J]], C = E_b⁻¹ [ ∂(E_a θ_a')/∂θ_a − ∂(E_b θ_b')/∂θ_b J ]. Angles are
counted in whole turns: f takes those next to given ones.
"""

import math
from dataclasses import replace
from enum import IntEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.robot.rotation import quaternion_product, rotation_vector_to_quaternion
from contact_ddp_ros.robot.tree import RigidBodyTree

Array = NDArray[np.float64]

ANGLES: Final = slice(3, 6)
"""Slice of the attitude's angles in the coordinates q of a floating base."""

STAY: Final = math.radians(60.0)
"""Middle angle beyond which the other chart is taken [rad]; from 45° on the other one is the better."""


_GIMBAL_LOCK: Final = 1e-8
"""Cosine of the middle angle below which the other two cannot be told apart: the last one is then 0, to that."""


class Chart(IntEnum):
    """Order of the floating base's rotations, from the world to the trunk."""

    YAW_PITCH_ROLL = 0
    YAW_ROLL_PITCH = 1

    @property
    def other(self) -> "Chart":
        """The one that is regular where this one is singular."""
        return Chart(1 - self)

    @property
    def names(self) -> tuple[str, str, str]:
        """Names of the three angles."""
        first, second, third = self.name.lower().split("_")
        return first, second, third

    @property
    def axes(self) -> tuple[Array, Array, Array]:
        """Axes of the three rotations, each in the frame that it turns."""
        x, y, z = np.eye(3)
        return (z, y, x) if self is Chart.YAW_PITCH_ROLL else (z, x, y)

    def rotation(self, angles: Array) -> Array:
        """(3, 3) from trunk to world, of (3,) angles [rad]."""
        first, second, third = (_turn(axis, float(angle)) for axis, angle in zip(self.axes, angles, strict=True))
        return np.asarray(first @ second @ third)

    def quaternion(self, angles: Array) -> Array:
        """(4,) = (x, y, z, w) of (3,) angles [rad]."""
        turns = [rotation_vector_to_quaternion(angle * axis) for axis, angle in zip(self.axes, angles, strict=True)]
        return quaternion_product(quaternion_product(turns[0], turns[1]), turns[2])

    def up(self, angles: Array) -> Array:
        """(3,) unit vector that points up, in trunk axes, of (3,) angles."""
        middle, last = float(angles[1]), float(angles[2])
        if self is Chart.YAW_PITCH_ROLL:
            return np.array([-math.sin(middle), math.cos(middle) * math.sin(last), math.cos(middle) * math.cos(last)])
        return np.array([-math.cos(middle) * math.sin(last), math.sin(middle), math.cos(middle) * math.cos(last)])

    def sine(self, rotation: Array) -> float:
        """Sine of the middle angle."""
        value = -rotation[2, 0] if self is Chart.YAW_PITCH_ROLL else rotation[2, 1]
        return min(max(float(value), -1.0), 1.0)

    def angles(self, rotation: Array, near: Array | None = None) -> Array:
        """(3,) of a rotation (3, 3); the middle one within ±π/2, the others within half a turn of those of `near`."""
        r, sine = rotation, self.sine(rotation)
        along_x, along_y = (r[1, 0], r[0, 0]), (-r[0, 1], r[1, 1])  # headings of the x and of the y axis, as vectors
        turned, alone = (along_x, along_y) if self is Chart.YAW_PITCH_ROLL else (along_y, along_x)
        cosine = math.hypot(*turned)
        first = math.atan2(*(alone if cosine < _GIMBAL_LOCK else turned))
        c, s = math.cos(first), math.sin(first)
        # from what the first turn leaves: exact near the singularity, too, where the first is anybody's guess
        if self is Chart.YAW_PITCH_ROLL:
            last = math.atan2(s * r[0, 2] - c * r[1, 2], c * r[1, 1] - s * r[0, 1])
        else:
            last = math.atan2(c * r[0, 2] + s * r[1, 2], c * r[0, 0] + s * r[1, 0])
        found = np.array([first, math.atan2(sine, cosine), last])
        if near is not None:
            found[::2] += 2.0 * math.pi * np.floor((near[::2] - found[::2]) / (2.0 * math.pi) + 0.5)
        return found

    def rate_map(self, angles: Array) -> Array:
        """(3, 3) E: angular velocity in trunk axes from the rates of (3,) angles."""
        axes, (_, second, third) = self.axes, angles
        back = _turn(axes[2], -float(third))
        return np.stack([back @ _turn(axes[1], -float(second)) @ axes[0], back @ axes[1], axes[2]], axis=1)

    def rate_slope(self, angles: Array, rates: Array) -> Array:
        """(3, 3) derivative of E θ' by θ."""
        axes, (_, second, third) = self.axes, angles
        back = _turn(axes[2], -float(third))
        before = _turn(axes[1], -float(second)) @ axes[0] * rates[0]
        by_second = back @ np.cross(before, axes[1])
        by_third = np.cross(back @ (before + axes[1] * rates[1]), axes[2])
        return np.stack([np.zeros(3), by_second, by_third], axis=1)

    def rates(self, angles: Array, angular_velocity: Array) -> Array:
        """(3,) rates of (3,) angles at an angular velocity (3,) in trunk axes [rad/s]."""
        return np.asarray(np.linalg.solve(self.rate_map(angles), angular_velocity), dtype=np.float64)


def chart_for(rotation: Array, present: Chart = Chart.YAW_PITCH_ROLL) -> Chart:
    """The chart for an attitude (3, 3): the present one while its middle angle is within STAY."""
    return present if abs(present.sine(rotation)) <= math.sin(STAY) else present.other


def planning_chart(rotation: Array, present: Chart) -> Chart:
    """The chart to plan in from an attitude (3, 3): the default one again where it is as good as the other one."""
    default = Chart.YAW_PITCH_ROLL
    return default if abs(default.sine(rotation)) <= math.sqrt(0.5) else chart_for(rotation, present)


def changed(x: Array, chart: Chart, to: Chart, near: Array | None = None) -> Array:
    """States (..., 2n) of one chart in another; angles next to those of `near` (..., 2n), in that chart."""
    if chart is to:
        return x.copy()
    result = x.copy()
    rows = result.reshape(-1, x.shape[-1])
    wanted = None if near is None else np.asarray(near).reshape(rows.shape)
    angles, rates = ANGLES, _rates(x)
    for k, row in enumerate(rows):
        theta, velocity = row[angles].copy(), chart.rate_map(row[angles]) @ row[rates]
        row[angles] = to.angles(chart.rotation(theta), None if wanted is None else wanted[k, angles])
        row[rates] = to.rates(row[angles], velocity)
    return result


def change_derivative(x: Array, chart: Chart, to: Chart) -> Array:
    """(2n, 2n) of :func:`changed` at a state (2n,)."""
    derivative = np.eye(len(x))
    if chart is to:
        return derivative
    rates, after = _rates(x), changed(x, chart, to)
    inverse = np.linalg.inv(to.rate_map(after[ANGLES]))
    slope = inverse @ chart.rate_map(x[ANGLES])
    bend = chart.rate_slope(x[ANGLES], x[rates]) - to.rate_slope(after[ANGLES], after[rates]) @ slope
    derivative[ANGLES, ANGLES] = derivative[rates, rates] = slope
    derivative[rates, ANGLES] = inverse @ bend
    return derivative


def in_chart(tree: RigidBodyTree, chart: Chart) -> RigidBodyTree:
    """The tree of a robot, whose base has the joints of BASE_JOINTS, with the base's rotations in a chart's order."""
    if chart is Chart.YAW_PITCH_ROLL:
        return tree
    joints = list(tree.joints)
    pitch, trunk = joints[ANGLES.start + 1], joints[ANGLES.start + 2]
    joints[ANGLES.start + 1] = replace(pitch, name=trunk.name, axis=trunk.axis)
    joints[ANGLES.start + 2] = replace(trunk, name=pitch.name, axis=pitch.axis)
    return replace(tree, joints=tuple(joints))


def _rates(x: Array) -> slice:
    n = x.shape[-1] // 2
    return slice(n + ANGLES.start, n + ANGLES.stop)


def _turn(axis: Array, angle: float) -> Array:
    """(3, 3) rotation about a unit axis."""
    x, y, z = axis
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + math.sin(angle) * skew + (1.0 - math.cos(angle)) * (skew @ skew)
