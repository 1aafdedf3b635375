"""Contract between a robot and everything that drives it: read its state, write a joint command, let time pass."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.robot.state import ImuSample, JointCommand, RobotState

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Capabilities:
    """Abilities that not every plant has.

    Attributes:
        truth: :meth:`Plant.truth` knows foot heights and contact forces, too.
        places: :meth:`Plant.reset` puts the robot into a given state, too, not only back to its start.
    """

    truth: bool = True
    places: bool = True


class Truth(Protocol):
    """Quantities at one instant without the errors of sensors, NaN for what the plant does not know.

    Read them before the plant moves: some are computed when they are read.
    """

    @property
    def state(self) -> RobotState:
        """State of the robot."""
        ...

    @property
    def foot_heights(self) -> Array:
        """(4,) height of each foot's lowest point above the ground below it [m]; negative where it presses in."""
        ...

    @property
    def contact_forces(self) -> Array:
        """(4, 3) force of the ground on each foot during the last step, in `odom` axes [N]."""
        ...

    @property
    def applied_torques(self) -> Array:
        """(12,) torques of the drives during the last step, after clipping [N m]."""
        ...

    @property
    def specific_force(self) -> Array:
        """(3,) specific force at the trunk's origin in the last step, in `base_link` axes [m/s^2]."""
        ...


class Plant(Protocol):
    """A free robot on ground at z = 0 in `odom` where it starts, whose joint drives execute the last command."""

    @property
    def capabilities(self) -> Capabilities:
        """Abilities of this plant; a method without its ability raises SimulationError."""
        ...

    @property
    def time(self) -> float:
        """The plant's clock [s]."""
        ...

    @property
    def timestep(self) -> float:
        """Length of a physics step [s]."""
        ...

    def read(self) -> RobotState | None:
        """The state as the sensors see it now; None before the first one."""
        ...

    def write(self, command: JointCommand) -> None:
        """Set the drives' command, executed from the next step on."""
        ...

    def advance(self, n: int = 1) -> None:
        """Advance n physics steps.

        Raises:
            SimulationError: the state is no longer finite.
        """
        ...

    def reset(self, state: RobotState | None = None) -> None:
        """Put the robot into a state (standing, by default), drives damping, no push; the clock takes its stamp."""
        ...

    def push(self, force: Array, duration: float, torque: Array | None = None) -> None:
        """Apply a force (3,) [N] at the trunk's origin for `duration` [s] from now on, in `odom` axes; a moment, too.

        Pushes add up.
        """
        ...

    def imu(self) -> ImuSample | None:
        """Newest sample of the inertial unit; None where there is none."""
        ...

    def truth(self) -> Truth | None:
        """Quantities without the errors of sensors, at the present instant; None where the plant does not know them."""
        ...


class SimulatedPlant(Plant, Protocol):
    """A plant whose state and truth are known at every instant."""

    def read(self) -> RobotState:
        """The state as the sensors see it now."""
        ...

    def imu(self) -> ImuSample:
        """Sample of the inertial unit now."""
        ...

    def truth(self) -> Truth:
        """Quantities without the errors of sensors, at the present instant."""
        ...
