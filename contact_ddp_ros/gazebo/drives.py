"""The joint drives that a simulator's joints lack: the law of the robot's own, with a watchdog."""

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.errors import MessageError
from contact_ddp_ros.robot.state import DriveGains, JointCommand

Array = NDArray[np.float64]


class Drives:
    """Efforts from joint commands and joint states; times are those of the states [s]."""

    def __init__(self, gains: DriveGains, limits: Array, timeout: float) -> None:
        """Begin damping.

        Args:
            gains: equal to the controller's.
            limits: (12,) largest efforts [N m].
            timeout: silence after which the joints damp [s].
        """
        self.gains, self.timeout = gains, timeout
        self._limits = limits
        self._damping = JointCommand.damping(len(limits))
        self._command, self._commanded = self._damping, -np.inf
        self.silent = True

    def apply(self, command: JointCommand, now: float) -> None:
        """Take a command, which counts from the next efforts on.

        Raises:
            MessageError: it is not finite or has another number of joints; the drives damp.
        """
        parts = [command.velocities, command.torques]
        parts += [] if command.positions is None else [command.positions]
        good = all(np.shape(part) == self._limits.shape and bool(np.isfinite(part).all()) for part in parts)
        self._command, self._commanded = command if good else self._damping, now
        self.silent = False
        if not good:
            raise MessageError(f"joint command holds {parts}; every part must be {self._limits.size} finite numbers")

    def forget(self) -> None:
        """Damp until the next command."""
        self._command, self._commanded = self._damping, -np.inf

    def efforts(self, positions: Array, velocities: Array, now: float) -> Array:
        """(12,) at joint positions [rad] and velocities [rad/s], clipped [N m]."""
        if not 0.0 <= now - self._commanded <= self.timeout:
            self.forget()
            self.silent = True
        torques = self.gains.torques(self._command, positions, velocities)
        return np.minimum(np.maximum(torques, -self._limits), self._limits)
