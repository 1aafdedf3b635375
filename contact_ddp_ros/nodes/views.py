"""A plan and the contact forces as a path and markers in `odom`, for RViz.

A planar plan lies in the vertical plane through the trunk along its heading; each leg of a pair has half of its force.
"""

import math
from collections.abc import Iterable

import numpy as np
from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Point, PoseStamped, Vector3
from nav_msgs.msg import Path
from numpy.typing import NDArray
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from contact_ddp_ros.models.planar import PlanarModel
from contact_ddp_ros.nodes.conversions import stamp_message, time_ns, to_stamp
from contact_ddp_ros.nodes.interfaces import ODOM_FRAME
from contact_ddp_ros.policy import Policy
from contact_ddp_ros.robot.joints import LEG_NAMES
from contact_ddp_ros.robot.model import Robot, foot_positions
from contact_ddp_ros.robot.rotation import quaternion_product, quaternion_to_matrix, quaternion_to_rpy
from contact_ddp_ros.robot.state import RobotState

Array = NDArray[np.float64]

STRIDE = 3
"""Nodes of a policy from one displayed to the next."""

_LENGTH = 0.001
"""Length of an arrow per force [m/N]."""

_LINE, _BALL, _SHAFT, _HEAD = 0.006, 0.03, 0.01, 0.02
"""Widths of lines, balls, arrow shafts and heads [m]."""

_LIFETIME = Duration(sec=1)
"""Markers that nobody renews vanish."""

_BLUE, _ORANGE, _GREEN = (0.0, 0.45, 0.70), (0.84, 0.37, 0.0), (0.0, 0.62, 0.45)
"""Of a palette that colour-blind people can tell apart."""

_N_AXES = 2
"""Planned force components of a planar foot: along and up."""


class _Plane:
    """Where the plane of a plan lies."""

    def __init__(self, state: RobotState) -> None:
        self.heading = float(quaternion_to_rpy(state.orientation)[2])
        self._cos, self._sin = math.cos(self.heading), math.sin(self.heading)
        self._offset = self._cos * state.position[1] - self._sin * state.position[0]

    def point(self, along: float, left: float, up: float) -> Point:
        """A point of the plane, or `left` of it [m]."""
        side = self._offset + left
        return _point((self._cos * along - self._sin * side, self._sin * along + self._cos * side, up))


def path_message(policy: Policy, state: RobotState, stride: int = STRIDE, origin: int = 0) -> Path:
    """Planned poses of the trunk, every `stride`-th node of a planar policy that was planned from `state`.

    Times count from the stamp `origin` [ns].
    """
    plane = _Plane(state)
    turn = np.array([0.0, 0.0, math.sin(0.5 * plane.heading), math.cos(0.5 * plane.heading)])
    message = Path()
    message.header.stamp = stamp_message(origin + time_ns(state.time))
    message.header.frame_id = ODOM_FRAME
    for time, (along, up, pitch) in zip(policy.times[::stride], policy.states[::stride, :3].tolist()):
        pose = PoseStamped()
        pose.header.frame_id = ODOM_FRAME
        pose.header.stamp = stamp_message(origin + time_ns(float(time)))
        pose.pose.position = plane.point(along, 0.0, up)
        nod = np.array([0.0, math.sin(0.5 * pitch), 0.0, math.cos(0.5 * pitch)])
        orientation = quaternion_product(turn, nod).tolist()
        for name, number in zip("xyzw", orientation):
            setattr(pose.pose.orientation, name, number)
        message.poses.append(pose)
    return message


def plan_markers(policy: Policy, state: RobotState, robot: Robot, stride: int = STRIDE, origin: int = 0) -> MarkerArray:
    """The trunk's path over the horizon, where feet are to touch down, and the planned forces at the feet.

    Times count from the stamp `origin` [ns].
    """
    plane, feet = _Plane(state), _PlannedFeet(robot)
    stamp = stamp_message(origin + time_ns(state.time))
    trunk = _marker(stamp, "horizon", Marker.LINE_STRIP, _BLUE, (_LINE, 0.0, 0.0))
    trunk.points = [plane.point(x, 0.0, z) for x, z in policy.states[::stride, :2].tolist()]
    touchdowns = _marker(stamp, "touchdowns", Marker.SPHERE_LIST, _ORANGE, (_BALL, _BALL, _BALL))
    forces = _marker(stamp, "planned forces", Marker.LINE_LIST, _ORANGE, (_LINE, 0.0, 0.0))
    standing = np.abs(policy.forces).reshape(len(policy.forces), -1, _N_AXES).sum(axis=2) > 0.0
    for k in range(len(policy.forces)):
        landing = np.flatnonzero(standing[k] & ~standing[k - 1]) if k else np.zeros(0, dtype=int)
        shown = np.flatnonzero(standing[k]) if k % stride == 0 else np.zeros(0, dtype=int)
        if not (landing.size or shown.size):
            continue
        places = feet.at(policy.states[k])
        for pair in landing:
            touchdowns.points += [plane.point(*places[leg]) for leg in feet.legs[pair]]
        for pair in shown:
            along, up = 0.5 * _LENGTH * policy.forces[k, _N_AXES * pair : _N_AXES * (pair + 1)]
            for leg in feet.legs[pair]:
                x, y, z = places[leg]
                forces.points += [plane.point(x, y, z), plane.point(x + along, y, z + up)]
    return MarkerArray(markers=[trunk, touchdowns, forces])


def force_markers(state: RobotState, forces: Array, robot: Robot) -> MarkerArray:
    """Contact forces on the feet (n_feet, 3) in `odom` axes [N], as arrows at the feet of a state."""
    rotation = quaternion_to_matrix(state.orientation)
    places = state.position + foot_positions(robot, state.joint_positions) @ rotation.T
    markers = []
    for index, (place, force) in enumerate(zip(places, forces)):
        arrow = _marker(to_stamp(state.time), "measured forces", Marker.ARROW, _GREEN, (_SHAFT, _HEAD, 0.0))
        arrow.id = index
        arrow.points = [_point(place), _point(place + _LENGTH * force)]
        arrow.action = Marker.ADD if force.any() else Marker.DELETE
        markers.append(arrow)
    return MarkerArray(markers=markers)


class _PlannedFeet:
    """The feet of the whole robot in a planar state."""

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        self._model = PlanarModel(robot)
        self.legs = [[LEG_NAMES.index(leg) for leg in legs] for legs in self._model.legs_of.values()]

    def at(self, x: Array) -> list[tuple[float, float, float]]:
        """Lowest point of each foot: along the plane, left of it, up [m]."""
        along, up, pitch = x[:3].tolist()
        joints, _ = self._model.joint_state(x)
        cos, sin = math.cos(pitch), math.sin(pitch)
        return [
            (along + cos * x_foot + sin * z_foot, y_foot, up - sin * x_foot + cos * z_foot - self._robot.foot_radius)
            for x_foot, y_foot, z_foot in foot_positions(self._robot, joints).tolist()
        ]


def _marker(
    stamp: Time, namespace: str, kind: int, colour: tuple[float, float, float], scale: tuple[float, float, float]
) -> Marker:
    marker = Marker(ns=namespace, type=kind, action=Marker.ADD, lifetime=_LIFETIME)
    marker.header.stamp = stamp
    marker.header.frame_id = ODOM_FRAME
    marker.pose.orientation.w = 1.0
    red, green, blue = colour
    marker.color = ColorRGBA(r=red, g=green, b=blue, a=0.9)
    marker.scale = Vector3(x=scale[0], y=scale[1], z=scale[2])
    return marker


def _point(numbers: Iterable[float]) -> Point:
    x, y, z = numbers
    return Point(x=float(x), y=float(y), z=float(z))
