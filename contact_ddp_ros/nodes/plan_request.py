"""What the controller asks the planner, as one atomic std_msgs/Float64MultiArray: a state, and what to plan for.

    0 schema  1, 2 stamp of the state: seconds, nanoseconds  3 index of the aim in AIMS
    4 position (3)  7 orientation (x, y, z, w)  11, 14 linear, angular velocity in base_link (3 each)
    17 joint positions (12)  29 joint velocities (12)

The state travels with the request, so the planner plans from just what the controller acted on, has no pairing of its
own, and need not receive five states for each one it reads.
"""

from dataclasses import dataclass

import numpy as np
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

from contact_ddp_ros.errors import MessageError
from contact_ddp_ros.nodes.conversions import check_state, doubles
from contact_ddp_ros.nodes.timebase import NANOSECONDS
from contact_ddp_ros.robot.joints import N_JOINTS
from contact_ddp_ros.robot.state import RobotState

SCHEMA = 1
"""Raised whenever the layout changes."""

HOLD, MOVE, STOP = "hold", "move", "stop"
AIMS = (HOLD, MOVE, STOP)
"""Hold the gait at its beginning (the robot stands), follow the commanded speed, or slow down in order to stand."""

_HEADER = 4
_SIZES = (3, 4, 3, 3, N_JOINTS, N_JOINTS)
_LENGTH = _HEADER + sum(_SIZES)
_SECONDS = 2**31


@dataclass(frozen=True)
class PlanRequest:
    """A request; `stamp` is the state's [ns]."""

    stamp: int
    aim: str
    state: RobotState


def plan_request_message(request: PlanRequest) -> Float64MultiArray:
    """A request as a message."""
    header = (SCHEMA, *divmod(request.stamp, NANOSECONDS), AIMS.index(request.aim))
    state = request.state
    parts = (state.position, state.orientation, state.linear_velocity, state.angular_velocity)
    numbers = np.concatenate([header, *parts, state.joint_positions, state.joint_velocities])
    message = Float64MultiArray(data=doubles(numbers))
    message.layout.data_offset = _HEADER
    message.layout.dim = [MultiArrayDimension(label="position,orientation,v,w,q,qd", size=_LENGTH - _HEADER, stride=1)]
    return message


def plan_request(message: Float64MultiArray) -> PlanRequest:
    """What a message asks for; the state's time is its stamp in seconds.

    Raises:
        MessageError: the message is of another schema or damaged, or its state is no state.
    """
    data = np.array(message.data, dtype=np.float64)
    if len(data) != _LENGTH or message.layout.data_offset != _HEADER:
        raise MessageError(
            f"plan request of {len(data)} numbers, {message.layout.data_offset} of them header; "
            f"allowed: {_LENGTH}, {_HEADER} of them header"
        )
    header = data[:_HEADER]
    limits = (SCHEMA, _SECONDS - 1, NANOSECONDS - 1, len(AIMS) - 1)
    if not ((header == np.floor(header)) & (header >= 0.0) & (header <= limits)).all() or header[0] != SCHEMA:
        raise MessageError(f"plan request header {header.tolist()}; allowed: {SCHEMA} and up to {limits[1:]}")
    _, seconds, nanoseconds, aim = (int(value) for value in header)
    parts = np.split(data[_HEADER:], np.cumsum(_SIZES)[:-1])
    stamp = seconds * NANOSECONDS + nanoseconds
    state = RobotState(1e-9 * stamp, *parts)
    check_state(state)
    return PlanRequest(stamp, AIMS[aim], state)
