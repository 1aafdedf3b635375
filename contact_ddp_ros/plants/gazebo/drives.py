r"""The joint drives that a simulator's joints lack: the law of the robot's own, with a watchdog.

Where a simulator runs by itself, efforts arrive some milliseconds after the state that they answer, and a joint whose
rotor weighs little does not bear its damping to be late: 6 ms fell the robot. So the joints of a world can carry the
damping D of the drives themselves (<damping>, which the engine integrates implicitly). Sent is then the torque without
it,

.. math:: e = \tau(q, \dot q) + D \dot q, \qquad e - D \dot q_{now} = \tau(q, \dot q) - D (\dot q_{now} - \dot q),

which is the law's torque when it comes at once, and damps with the present velocity when it comes late.
"""

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import MessageError
from contact_ddp_ros.robot.state import DriveGains, JointCommand
from contact_ddp_ros.robot.tree import Joint

Array = NDArray[np.float64]


def largest_effort(joint: Joint, damping: float) -> float:
    """Largest effort [N m] sent to a joint whose simulated damping is `damping` [N m s/rad]."""
    return joint.effort_limit + damping * joint.velocity_limit


class Drives:
    """Efforts from joint commands and joint states; times are those of the states [s]."""

    def __init__(self, gains: DriveGains, limits: Array, timeout: float, joint_damping: Array | float = 0.0) -> None:
        """Start without a command, damping.

        Args:
            gains: equal to the controller's.
            limits: (12,) largest efforts [N m].
            timeout: silence after which the joints damp [s].
            joint_damping: (12,) or of all, of the joints in the simulator beyond the robot's own [N m s/rad].
        """
        self.joint_damping = joint_damping
        self.gains, self.timeout = gains, timeout
        self._limits = limits
        self._damping = JointCommand.damping(len(limits))
        self._command, self._commanded = self._damping, -np.inf
        self.silent = True

    def apply(self, command: JointCommand, now: float) -> None:
        """Set the command, used from the next efforts on.

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

    def clear_command(self) -> None:
        """Discard the command: damp until the next one."""
        self._command, self._commanded = self._damping, -np.inf

    def efforts(self, positions: Array, velocities: Array, now: float) -> Array:
        """(12,) to be sent at joint positions [rad] and velocities [rad/s]: the torques without the joints' damping."""
        return self.torques(positions, velocities, now) + self.joint_damping * velocities

    def torques(self, positions: Array, velocities: Array, now: float) -> Array:
        """(12,) of the law at joint positions [rad] and velocities [rad/s], clipped [N m]."""
        if not 0.0 <= now - self._commanded <= self.timeout:
            self.clear_command()
            self.silent = True
        torques = self.gains.torques(self._command, positions, velocities)
        return np.minimum(np.maximum(torques, -self._limits), self._limits)
