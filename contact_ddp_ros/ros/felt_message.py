"""Contact and terrain estimate as one std_msgs/Float64MultiArray, for displays.

0 schema  1, 2 stamp of the state: seconds, nanoseconds  3 whether the feet have found a ground (0 or 1)
4 its height at the origin of odom [m]  5, 6 its rise over run along x and y of odom
7 for each foot whether it is felt on the ground (0 or 1) (4)
11 the force of the ground on each foot in odom axes [N] (4 x 3)
23 where feet have stood, in odom [m] (N x 3)
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

from contact_ddp_ros.base.config import validate
from contact_ddp_ros.base.errors import MessageError, ParameterError
from contact_ddp_ros.robot.ground import Ground
from contact_ddp_ros.robot.joints import FOOT_NAMES
from contact_ddp_ros.ros.conversions import doubles
from contact_ddp_ros.ros.timebase import NANOSECONDS

Array = NDArray[np.float64]

SCHEMA = 1
"""Raised whenever the layout changes."""

_HEADER = 7
_FEET = len(FOOT_NAMES)
_FIXED = _HEADER + 4 * _FEET
_LABEL = "contacts,forces,footholds"


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
    ground = report.ground
    plane = (0.0, 0.0, 0.0, 0.0) if ground is None else (1.0, ground.height, ground.slope_x, ground.slope_y)
    header = (SCHEMA, *divmod(report.stamp, NANOSECONDS), *plane)
    data = np.concatenate([header, report.contacts, report.forces.ravel(), report.footholds.ravel()])
    message = Float64MultiArray(data=doubles(data))
    message.layout.data_offset = _HEADER
    message.layout.dim = [MultiArrayDimension(label=_LABEL, size=len(data) - _HEADER, stride=1)]
    return message


def felt_report(message: Float64MultiArray) -> FeltReport:
    """The report of a message.

    Raises:
        MessageError: the message is of another schema or damaged.
    """
    data = np.array(message.data, dtype=np.float64)
    if len(data) < _FIXED or (len(data) - _FIXED) % 3:
        raise MessageError(f"report of what is felt has {len(data)} numbers; allowed: {_FIXED} and 3 for each foothold")
    if not np.isfinite(data).all() or data[0] != SCHEMA:
        raise MessageError(f"report of what is felt begins with {data[0]:g}; allowed: {SCHEMA}, and finite numbers")
    _, seconds, nanoseconds, known, height, slope_x, slope_y = data[:_HEADER].tolist()
    contacts = data[_HEADER : _HEADER + _FEET].tolist()
    if not {known, *contacts} <= {0.0, 1.0}:
        raise MessageError(f"report of what is felt has ground {known:g} and contacts {contacts}; allowed: 0 or 1")
    ground = Ground(height=height, slope_x=slope_x, slope_y=slope_y) if known else None
    try:
        validate(Ground() if ground is None else ground)
    except ParameterError as error:
        raise MessageError(f"the ground that is felt: {error}") from error
    return FeltReport(
        stamp=int(seconds) * NANOSECONDS + int(nanoseconds),
        contacts=tuple(map(bool, contacts)),
        forces=data[_HEADER + _FEET : _FIXED].reshape(_FEET, 3),
        ground=ground,
        footholds=data[_FIXED:].reshape(-1, 3),
    )
