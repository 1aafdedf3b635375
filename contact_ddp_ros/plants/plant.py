"""Interface of a simulator: read the state, apply a joint command, advance time."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.robot.state import JointCommand, RobotState

Array = NDArray[np.float64]


class Simulator(Protocol):
    """A free robot on ground at z = 0 in `odom` where it starts, whose joint drives execute the last command."""

    @property
    def time(self) -> float:
        """The simulation's clock [s]."""
        ...

    @property
    def timestep(self) -> float:
        """Length of a physics step [s]."""
        ...

    def reset(self, state: RobotState | None = None) -> None:
        """Put the robot into a state (standing, by default), drives damping, no push; the clock takes its stamp."""
        ...

    def state(self) -> RobotState:
        """The state as the sensors see it now."""
        ...

    def true_state(self) -> RobotState:
        """The state without the sensors' errors, where the simulator models such."""
        ...

    def apply(self, command: JointCommand) -> None:
        """Set the drives' command, executed from the next step on."""
        ...

    def step(self, n: int = 1) -> None:
        """Advance n physics steps.

        Raises:
            SimulationError: the state is no longer finite.
        """
        ...

    def push(self, force: Array, duration: float, torque: Array | None = None) -> None:
        """Apply a force (3,) [N] at the trunk's origin for `duration` [s] from now on, in `odom` axes; a moment, too.

        Pushes add up.
        """
        ...

    def foot_heights(self) -> Array:
        """(4,) height of each foot's lowest point above the ground below it [m]; negative where it presses in."""
        ...

    def contact_forces(self) -> Array:
        """(4, 3) force of the ground on each foot during the last step, in `odom` axes [N]."""
        ...

    def applied_torques(self) -> Array:
        """(12,) torques of the drives during the last step, after clipping [N m]."""
        ...

    def specific_force(self) -> Array:
        """(3,) specific force at the trunk's origin in the last step, in `base_link` axes [m/s^2]."""
        ...
