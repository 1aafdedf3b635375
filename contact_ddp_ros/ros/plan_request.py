"""The controller's request to the planner as one std_msgs/Float64MultiArray: a state, and what to plan for.

    0 schema  1, 2 stamp of the state: seconds, nanoseconds  3 index of the aim in AIMS
    4 position (3)  7 orientation (x, y, z, w)  11, 14 linear, angular velocity in base_link (3 each)
    17 joint positions (12)  29 joint velocities (12)
    41 how far contact has moved the gait ahead of its schedule [s]  42 whether the feet have found a ground (0 or 1)
    43 its height at the origin of odom [m]  44, 45 its rise over run along x and y of odom  46 its roughness [m]
    47 whether the ground under single feet is known (0 or 1); how far it lies above that ground [m]:
    48 where each foot stands or has stood last (4)  52 where it is expected to land next (4)
    56 whether a payload was weighed (0 or 1)  57 its mass [kg]  58 its place in base_link (3) [m]
    61 whether the drives' inertia was looked for (0 or 1)  62 that beside their armature [kg m²]

The state travels with the request, so the planner plans from the state that the controller acted on, does not have to
pair messages, and does not receive the four of five states that it would not use.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from rclpy.serialization import serialize_message
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

from contact_ddp_ros.base.config import validate
from contact_ddp_ros.base.errors import MessageError, ParameterError
from contact_ddp_ros.robot.ground import NO_PAYLOAD, FootHeights, Ground, Payload, TerrainEstimate
from contact_ddp_ros.robot.joints import N_JOINTS, N_LEGS
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.ros.cdr import array_of
from contact_ddp_ros.ros.conversions import check_state, doubles
from contact_ddp_ros.ros.timebase import NANOSECONDS

Array = NDArray[np.float64]

SCHEMA = 5
"""Raised whenever the layout changes."""

HOLD, MOVE, STOP = "hold", "move", "stop"
AIMS = (HOLD, MOVE, STOP)
"""Hold the gait at its beginning (the robot stands), follow the commanded speed, or slow down in order to stand."""

_HEADER = 4
_SIZES = (3, 4, 3, 3, N_JOINTS, N_JOINTS)
_ENDS = np.cumsum(_SIZES)[:-1].tolist()
_STATE_END = _HEADER + sum(_SIZES)
_PLANE = 6
_HEIGHTS = 1 + 2 * N_LEGS
_WEIGHED = 1 + len(NO_PAYLOAD.array())
_FELT = _PLANE + _HEIGHTS + _WEIGHED + 2
_LENGTH = _STATE_END + _FELT
_LONGEST_ADVANCE = 1e6
"""Largest shift of a gait against its schedule that is believed [s]."""
_HIGHEST = 100.0
"""Largest height of the ground under a foot about the plane, and largest roughness [m]."""
_HEAVIEST_DRIVE = 1.0
"""Inertia of a drive that is believed [kg m²]."""
_SECONDS = 2**31
_NUMBER = np.dtype("<f8")
"""Number type as serialised here: in little-endian CDR."""


@dataclass(frozen=True)
class PlanRequest:
    """A request; `stamp` is the state's [ns]."""

    stamp: int
    aim: str
    state: RobotState
    felt: TerrainEstimate = field(default_factory=TerrainEstimate)


def plan_request_message(request: PlanRequest) -> Float64MultiArray:
    """A request as a message."""
    message = Float64MultiArray(data=doubles(_numbers(request)))
    message.layout.data_offset = _HEADER
    label = "position,orientation,v,w,q,qd,felt"
    message.layout.dim = [MultiArrayDimension(label=label, size=_LENGTH - _HEADER, stride=1)]
    return message


class RequestWriter:
    """Requests as serialised messages."""

    def __init__(self) -> None:
        """Keep what stands before the numbers, which are the end of the message."""
        still = RobotState(0.0, *(np.zeros(size) for size in _SIZES))
        message = serialize_message(plan_request_message(PlanRequest(0, HOLD, still)))
        self._layout = message[: -_NUMBER.itemsize * _LENGTH]

    def message(self, request: PlanRequest) -> bytes:
        """Serialised message of :func:`plan_request_message`."""
        return self._layout + _numbers(request).astype(_NUMBER, copy=False).tobytes()


def _numbers(request: PlanRequest) -> Array:
    """The data of a request."""
    header = (SCHEMA, *divmod(request.stamp, NANOSECONDS), AIMS.index(request.aim))
    state = request.state
    parts = (state.position, state.orientation, state.linear_velocity, state.angular_velocity)
    ground = request.felt.ground
    plane = (0.0, 0.0, 0.0, 0.0) if ground is None else (1.0, ground.height, ground.slope_x, ground.slope_y)
    feet = request.felt.feet
    heights = np.zeros(_HEIGHTS) if feet is None else np.array([1.0, *feet.standing, *feet.landing])
    payload = request.felt.payload
    weighed = (float(payload is not None), *(payload or NO_PAYLOAD).array())
    inertia = request.felt.drive_inertia
    drives = (float(inertia is not None), inertia or 0.0)
    felt = (request.felt.advance, *plane, request.felt.roughness, *heights, *weighed, *drives)
    return np.concatenate([header, *parts, state.joint_positions, state.joint_velocities, felt])


def plan_request(message: bytes) -> PlanRequest:
    """The request of a serialised message; the state's time is its stamp in seconds.

    Raises:
        MessageError: the message is of another schema or damaged, or its state is invalid.
    """
    offset, data = array_of(message)
    if len(data) != _LENGTH or offset != _HEADER:
        raise MessageError(
            f"plan request of {len(data)} numbers, {offset} of them header; allowed: {_LENGTH}, {_HEADER} in the header"
        )
    header = data[:_HEADER]
    limits = (SCHEMA, _SECONDS - 1, NANOSECONDS - 1, len(AIMS) - 1)
    if not ((header == np.floor(header)) & (header >= 0.0) & (header <= limits)).all() or header[0] != SCHEMA:
        raise MessageError(f"plan request header {header.tolist()}; allowed: {SCHEMA} and up to {limits[1:]}")
    _, seconds, nanoseconds, aim = (int(value) for value in header)
    parts = (part.copy() for part in np.split(data[_HEADER:_STATE_END], _ENDS))
    stamp = seconds * NANOSECONDS + nanoseconds
    state = RobotState(1e-9 * stamp, *parts)
    check_state(state)
    felt = np.split(data[_STATE_END:], np.cumsum([_PLANE, _HEIGHTS, _WEIGHED]))
    return PlanRequest(stamp, AIMS[aim], state, _felt(*felt))


def _felt(plane: Array, feet: Array, weighed: Array, drives: Array) -> TerrainEstimate:
    """Raises MessageError where the numbers are out of their range."""
    advance, known, height, slope_x, slope_y, roughness = plane.tolist()
    if known not in (0.0, 1.0) or not abs(advance) <= _LONGEST_ADVANCE:
        raise MessageError(f"plan request with advance {advance} s and ground {known}; allowed: finite, 0 or 1")
    if not 0.0 <= roughness <= _HIGHEST:
        raise MessageError(f"plan request with a ground of roughness {roughness} m; allowed: 0 to {_HIGHEST} m")
    body = _payload(weighed), _drive_inertia(drives)
    if known == 0.0:
        return TerrainEstimate(None, advance, _heights(feet), roughness, *body)
    ground = Ground(height=height, slope_x=slope_x, slope_y=slope_y)
    try:
        validate(ground)
    except ParameterError as error:
        raise MessageError(f"the ground of a plan request: {error}") from error
    return TerrainEstimate(ground, advance, _heights(feet), roughness, *body)


def _heights(numbers: Array) -> FootHeights | None:
    known, heights = numbers[0], numbers[1:]
    if known not in (0.0, 1.0) or not (np.abs(heights) <= _HIGHEST).all():
        raise MessageError(f"plan request with feet {known} at {heights.tolist()} m; allowed: 0 or 1, to {_HIGHEST} m")
    if known == 0.0:
        return None
    standing, landing = heights.reshape(2, N_LEGS).tolist()
    return FootHeights(tuple(standing), tuple(landing))


def _payload(numbers: Array) -> Payload | None:
    known, *of_payload = numbers.tolist()
    payload = Payload(*of_payload)
    try:
        validate(payload)
    except ParameterError as error:
        raise MessageError(f"the payload of a plan request: {error}") from error
    if known not in (0.0, 1.0):
        raise MessageError(f"plan request with payload {known}; allowed: 0 or 1")
    return payload if known else None


def _drive_inertia(numbers: Array) -> float | None:
    known, inertia = numbers.tolist()
    if known not in (0.0, 1.0) or not 0.0 <= inertia <= _HEAVIEST_DRIVE:
        raise MessageError(
            f"plan request with drives {known} of {inertia} kg m²; allowed: 0 or 1, 0 to {_HEAVIEST_DRIVE} kg m²"
        )
    return inertia if known else None
