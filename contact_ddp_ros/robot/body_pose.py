"""Commanded body pose: height, roll and pitch of the trunk while the robot moves or stands under the planner."""

import math
from dataclasses import astuple, dataclass

from contact_ddp_ros.base.errors import MessageError


@dataclass(frozen=True)
class BodyPose:
    """Commanded pose of the trunk over the estimated ground.

    Attributes:
        height: above the ground [m]; None: as configured.
        roll, pitch: about the ground's plane, right side down and nose down [rad].
    """

    height: float | None = None
    roll: float = 0.0
    pitch: float = 0.0

    def __post_init__(self) -> None:
        """Raises MessageError where a number is not finite."""
        if not all(value is None or math.isfinite(value) for value in astuple(self)):
            raise MessageError(f"height, roll and pitch of the body are {astuple(self)}; allowed: finite numbers")
