"""All that is felt, from states and joint torques: foot forces, contact, ground."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.estimation.config import EstimationConfig
from contact_ddp_ros.estimation.contact import ContactEstimate
from contact_ddp_ros.estimation.foot_heights import FootHeightEstimate
from contact_ddp_ros.estimation.ground import GroundEstimate
from contact_ddp_ros.estimation.momentum import MomentumObserver
from contact_ddp_ros.robot.ground import FootHeights, Ground
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.state import DriveGains, JointCommand, RobotState

Array = NDArray[np.float64]


class Estimator:
    """Of one robot; keeps what it needs from one state to the next."""

    def __init__(self, robot: Robot, config: EstimationConfig) -> None:
        """Begin with nothing felt."""
        n_feet = len(robot.tree.contacts)
        self.config = config
        self._observer = MomentumObserver(robot)
        self._limits = robot.effort_limits
        self.contacts = ContactEstimate(n_feet)
        self._ground = GroundEstimate(n_feet)
        self._heights = FootHeightEstimate(n_feet)
        self._last: RobotState | None = None

    @property
    def ground(self) -> Ground | None:
        """The ground that is felt; None before there is one, or where it is not asked for."""
        return self._ground.ground if self.config.ground else None

    @property
    def roughness(self) -> float:
        """Of the footholds about that ground, a standard deviation [m]; 0 where there is none."""
        return self._ground.roughness if self.ground is not None else 0.0

    @property
    def feet(self) -> FootHeights | None:
        """The ground under single feet above that; None where there is none, or where it is not asked for."""
        ground = self.ground
        if ground is None or not self.config.feet:
            return None
        return self._heights.heights(ground, self._ground.footholds, self.config)

    @property
    def footholds(self) -> Array:
        """(N, 3) where feet have stood, in `odom` [m]."""
        return self._ground.footholds

    @property
    def forces(self) -> Array:
        """(n_feet, 3) of the ground on the feet, in `odom` axes [N]."""
        return self._observer.forces

    @property
    def points(self) -> Array:
        """(n_feet, 3) lowest points of the feet in `odom` [m]."""
        return self._observer.points

    def forget(self) -> None:
        """Begin anew: the robot or its clock has been put somewhere else."""
        self._observer.forget()
        self._ground.forget()
        self._heights.forget()
        self._last = None

    def update(self, state: RobotState, command: JointCommand, gains: DriveGains, scheduled: Sequence[bool]) -> None:
        """Take in a checked state, the command since the last one, and the feet that are to stand, (n_feet,) bool."""
        last, self._last = self._last, state
        if last is not None and state.time == last.time:
            return
        before = state if last is None else last
        positions = 0.5 * (before.joint_positions + state.joint_positions)
        velocities = 0.5 * (before.joint_velocities + state.joint_velocities)
        torques = np.clip(gains.torques(command, positions, velocities), -self._limits, self._limits)
        self._observer.update(state, torques, self.config.observer_rate)
        self.contacts.update(state.time, self._observer.forces[:, 2], np.array(scheduled), self.config)
        self._ground.update(state.time, state.position, self._observer.points, self.contacts, self.config)
        self._heights.update(self._observer.points, self.contacts.contact)
