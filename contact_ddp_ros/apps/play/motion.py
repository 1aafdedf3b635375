"""The motion that people command, on its way to a loop: speed to its planner, turn and sideways to its controller."""

import math

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.control.controller import Controller
from contact_ddp_ros.runs.channel import Links
from contact_ddp_ros.runs.live.commands import Drive


class CommandedMotion(Links):
    """Hands a loop the speed that people command."""

    def __init__(self, drive: Drive) -> None:
        """Begin with a motion."""
        self.drive = drive

    def take(self, drive: Drive) -> None:
        """Command another motion.

        Raises:
            ParameterError: a number is not finite.
        """
        if not all(map(math.isfinite, (drive.forward, drive.turn, drive.sideways))):
            raise ParameterError(f"the commanded motion is {drive}; allowed: finite numbers")
        self.drive = drive

    def steer(self, controller: Controller) -> None:
        """Tell a controller what is its part of it."""
        controller.steer(self.drive.turn, self.drive.sideways)

    def speed(self, speed: float, now: float) -> float:
        """The commanded one, whatever the options say."""
        return self.drive.forward
