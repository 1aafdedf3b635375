"""A plan and the contact forces as a path and markers in `odom`, for RViz."""

from collections.abc import Iterable

import numpy as np
from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Point, PoseStamped, Vector3
from nav_msgs.msg import Path
from numpy.typing import NDArray
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from contact_ddp_ros.robot.joints import LEG_NAMES
from contact_ddp_ros.robot.model import Robot, foot_positions
from contact_ddp_ros.robot.policy import Policy
from contact_ddp_ros.robot.policy_kinematics import PolicyPoses, landings
from contact_ddp_ros.robot.rotation import quaternion_to_matrix
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.ros.conversions import stamp_message, time_ns, to_stamp
from contact_ddp_ros.ros.interfaces import ODOM_FRAME

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
"""Colours of a palette that colour-blind people can tell apart."""


def path_message(policy: Policy, state: RobotState, robot: Robot, stride: int = STRIDE, origin: int = 0) -> Path:
    """Planned poses of the trunk, every `stride`-th node of a policy that was planned from `state`.

    Times count from the stamp `origin` [ns].
    """
    planned, policy = PolicyPoses(robot), policy.shown
    message = Path()
    message.header.stamp = stamp_message(origin + time_ns(state.time))
    message.header.frame_id = ODOM_FRAME
    for time, x in zip(policy.times[::stride], policy.states[::stride]):
        whole = planned.state(x, state)
        pose = PoseStamped()
        pose.header.frame_id = ODOM_FRAME
        pose.header.stamp = stamp_message(origin + time_ns(float(time)))
        pose.pose.position = _point(whole.position)
        for name, number in zip("xyzw", whole.orientation.tolist()):
            setattr(pose.pose.orientation, name, number)
        message.poses.append(pose)
    return message


def plan_markers(policy: Policy, state: RobotState, robot: Robot, stride: int = STRIDE, origin: int = 0) -> MarkerArray:
    """The trunk's path over the horizon, where feet are to touch down, and the planned forces at the feet.

    Times count from the stamp `origin` [ns].
    """
    planned, policy = PolicyPoses(robot), policy.shown
    stamp = stamp_message(origin + time_ns(state.time))
    trunk = _marker(stamp, "horizon", Marker.LINE_STRIP, _BLUE, (_LINE, 0.0, 0.0))
    trunk.points = [_point(planned.state(x, state).position) for x in policy.states[::stride]]
    touchdowns = _marker(stamp, "touchdowns", Marker.SPHERE_LIST, _ORANGE, (_BALL, _BALL, _BALL))
    forces = _marker(stamp, "planned forces", Marker.LINE_LIST, _ORANGE, (_LINE, 0.0, 0.0))
    landing = dict(landings(policy.forces))
    for k, force in enumerate(policy.forces):
        pushing = planned.leg_forces(force, state) if k % stride == 0 else np.zeros((len(LEG_NAMES), 3))
        if k not in landing and not pushing.any():
            continue
        soles = _soles(robot, planned.state(policy.states[k], state))
        touchdowns.points += [_point(soles[leg]) for leg in landing.get(k, [])]
        for sole, push in zip(soles, pushing):
            if push.any():
                forces.points += [_point(sole), _point(sole + _LENGTH * push)]
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


def _soles(robot: Robot, state: RobotState) -> Array:
    """(4, 3) lowest points of the feet in `odom` [m]."""
    rotation = quaternion_to_matrix(state.orientation)
    feet = state.position + foot_positions(robot, state.joint_positions) @ rotation.T
    return np.asarray(feet - np.array([0.0, 0.0, robot.foot_radius]))


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
