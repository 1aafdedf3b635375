"""The controller's estimates as one std_msgs/Float64MultiArray each: the request to the planner, a report for displays.

A request is a state, and what to plan for. The state travels with it, so the planner plans from the state that the
controller acted on, does not have to pair messages, and does not receive the four of five states that it would not use.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from rclpy.serialization import serialize_message
from std_msgs.msg import Float64MultiArray

from contact_ddp_ros.base.errors import MessageError
from contact_ddp_ros.robot.ground import NO_PAYLOAD, FootHeights, Ground, Payload, TerrainEstimate
from contact_ddp_ros.robot.joints import N_JOINTS, N_LEGS
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.ros.array_codec import ArrayCodec, Part, array_message, count, fields, stamp
from contact_ddp_ros.ros.conversions import check_state
from contact_ddp_ros.ros.loop_messages import array_of

Array = NDArray[np.float64]

HOLD, MOVE, STOP = "hold", "move", "stop"
AIMS = (HOLD, MOVE, STOP)
"""Hold the gait at its beginning (the robot stands), follow the commanded speed, or slow down in order to stand."""

_STATE = {
    "position": 3,
    "orientation": 4,
    "linear_velocity": 3,
    "angular_velocity": 3,
    "joint_positions": N_JOINTS,
    "joint_velocities": N_JOINTS,
}
_PLANE, _LOAD = ("height", "slope_x", "slope_y"), ("mass", "x", "y", "z")
_HIGHEST = 100.0
"""Largest height of the ground under a foot about the plane, and largest roughness [m]."""

_REQUEST = ArrayCodec(
    "plan request",
    5,
    stamp(),
    count("aim", len(AIMS) - 1.0),
    *(Part(name, size) for name, size in _STATE.items()),
    Part("advance", 1, -1e6, 1e6),
    fields("ground", Ground(), _PLANE),
    Part("roughness", 1, 0.0, _HIGHEST),
    Part("feet", 2 * N_LEGS, -_HIGHEST, _HIGHEST, optional=True),
    fields("payload", NO_PAYLOAD, _LOAD),
    Part("drive_inertia", 1, 0.0, 1.0, optional=True),
)
"""Layout of a request; see :class:`PlanRequest` and :class:`TerrainEstimate` for units and frames.

`feet` are the heights of the ground where each foot stands, then where it is expected to land.
"""

_REQUEST_HEADER = 4
"""Schema, stamp and aim."""

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
    label = "position,orientation,v,w,q,qd,felt"
    return array_message(_numbers(request), _REQUEST_HEADER, (label, _REQUEST.size - _REQUEST_HEADER, 1))


class RequestWriter:
    """Requests as serialised messages."""

    def __init__(self) -> None:
        """Keep what stands before the numbers, which are the end of the message."""
        still = RobotState(0.0, *(np.zeros(size) for size in _STATE.values()))
        message = serialize_message(plan_request_message(PlanRequest(0, HOLD, still)))
        self._layout = message[: -_NUMBER.itemsize * _REQUEST.size]

    def message(self, request: PlanRequest) -> bytes:
        """Serialised message of :func:`plan_request_message`."""
        return self._layout + _numbers(request).astype(_NUMBER, copy=False).tobytes()


def _numbers(request: PlanRequest) -> Array:
    """The data of a request."""
    felt = request.felt
    return _REQUEST.array(
        {
            "stamp": request.stamp,
            "aim": AIMS.index(request.aim),
            **{name: getattr(request.state, name) for name in _STATE},
            "advance": felt.advance,
            "ground": felt.ground and [getattr(felt.ground, name) for name in _PLANE],
            "roughness": felt.roughness,
            "feet": felt.feet and (*felt.feet.standing, *felt.feet.landing),
            "payload": felt.payload and felt.payload.array(),
            "drive_inertia": felt.drive_inertia,
        }
    )


def plan_request(message: bytes) -> PlanRequest:
    """The request of a serialised message; the state's time is its stamp in seconds.

    Raises:
        MessageError: the message is of another schema or damaged, or its state is invalid.
    """
    offset, data = array_of(message)
    if len(data) != _REQUEST.size or offset != _REQUEST_HEADER:
        raise MessageError(
            f"plan request of {len(data)} numbers, {offset} of them header; "
            f"allowed: {_REQUEST.size}, {_REQUEST_HEADER} in the header"
        )
    found, _ = _REQUEST.values(data)
    state = RobotState(1e-9 * found["stamp"], *(np.array(found[name]) for name in _STATE))
    check_state(state)
    plane, feet, load = found["ground"], found["feet"], found["payload"]
    felt = TerrainEstimate(
        ground=plane and Ground(**dict(zip(_PLANE, plane))),
        advance=found["advance"],
        feet=feet and FootHeights(feet[:N_LEGS], feet[N_LEGS:]),
        roughness=found["roughness"],
        payload=load and Payload(*load),
        drive_inertia=found["drive_inertia"],
    )
    return PlanRequest(found["stamp"], AIMS[found["aim"]], state, felt)


_REPORT_HEADER = 7
"""Schema, stamp and ground."""

_REPORT = ArrayCodec(
    "report of what is felt",
    1,
    stamp(),
    fields("ground", Ground(), _PLANE),
    Part("contacts", N_LEGS, 0.0, 1.0, whole=True),
    Part("forces", 3 * N_LEGS),
)
"""Layout of a report; then footholds, three numbers each. See :class:`FeltReport` for units and frames."""


@dataclass(frozen=True)
class FeltReport:
    """Contact and terrain estimate in one state.

    Attributes:
        stamp: of the state [ns].
        contacts: which feet are on the ground, in the order of FOOT_NAMES.
        forces: (4, 3) of the ground on the feet, in `odom` axes [N].
        ground: the plane that the feet have found; None before there is one.
        footholds: (N, 3) where feet have stood, in `odom` [m].
    """

    stamp: int
    contacts: Sequence[bool]
    forces: Array
    ground: Ground | None
    footholds: Array


def felt_message(report: FeltReport) -> Float64MultiArray:
    """A report as a message."""
    values = {
        "stamp": report.stamp,
        "ground": report.ground and [getattr(report.ground, name) for name in _PLANE],
        "contacts": report.contacts,
        "forces": report.forces.ravel(),
    }
    data = _REPORT.array(values, report.footholds)
    return array_message(data, _REPORT_HEADER, ("contacts,forces,footholds", len(data) - _REPORT_HEADER, 1))


def felt_report(message: Float64MultiArray) -> FeltReport:
    """The report of a message.

    Raises:
        MessageError: the message is of another schema or damaged.
    """
    found, footholds = _REPORT.values(np.array(message.data, dtype=np.float64))
    if len(footholds) % 3 or not np.isfinite(footholds).all():
        raise MessageError(
            f"report of what is felt has {len(message.data)} numbers; allowed: {_REPORT.size} and 3 finite ones for "
            "each foothold"
        )
    return FeltReport(
        stamp=found["stamp"],
        contacts=tuple(map(bool, found["contacts"])),
        forces=np.reshape(found["forces"], (N_LEGS, 3)),
        ground=found["ground"] and Ground(**dict(zip(_PLANE, found["ground"]))),
        footholds=footholds.reshape(-1, 3),
    )
