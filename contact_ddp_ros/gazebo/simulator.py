"""A Gazebo server in lock-step as the simulator of the closed loop: the same planner and controller, other physics."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.errors import ParameterError, SimulationError
from contact_ddp_ros.gazebo.bridge import GazeboBridge
from contact_ddp_ros.robot.model import Robot, foot_positions
from contact_ddp_ros.robot.rotation import quaternion_to_matrix
from contact_ddp_ros.robot.state import JointCommand, RobotState

Array = NDArray[np.float64]


class GazeboSimulator:
    """A :class:`contact_ddp_ros.sim.interface.Simulator`; its clock begins at zero with the bridge's first state.

    Gazebo tells no forces at the feet in terms that this package could check, so these are not known.
    """

    def __init__(self, robot: Robot, bridge: GazeboBridge) -> None:
        """Start the bridge, which must be one that steps it, and take its world over.

        Raises:
            ParameterError: the bridge lets time run freely.
            GazeboError: the server or its messages stay away.
        """
        if not bridge.stepped:
            raise ParameterError("the closed loop needs a bridge that steps the world")
        self._robot = robot
        self._bridge = bridge
        self._begin = bridge.start().time
        self._torques = np.zeros(robot.n_joints)

    @property
    def time(self) -> float:
        """The simulation's clock [s]."""
        return self.state().time

    @property
    def timestep(self) -> float:
        """Length of a physics step [s]."""
        return self._bridge.config.timestep

    def reset(self, state: RobotState | None = None) -> None:
        """Put the robot back on its legs, drives damping; the clock goes on.

        Raises:
            SimulationError: a state is given; Gazebo knows only the one that its file describes.
        """
        if state is not None:
            raise SimulationError("Gazebo begins where its world's file says; it cannot be put into another state")
        self._bridge.reset()

    def state(self) -> RobotState:
        """The newest state."""
        state = self._bridge.state
        return replace(state, time=state.time - self._begin)

    def true_state(self) -> RobotState:
        """The same: the world's file has no noise."""
        return self.state()

    def apply(self, command: JointCommand) -> None:
        """Hand the drives a new command."""
        self._bridge.apply(command)

    def step(self, n: int = 1) -> None:
        """Advance n physics steps with the efforts that answer the present state."""
        self._bridge.advance(n)

    def push(self, force: Array, duration: float) -> None:
        """Have a force (3,) in odom axes act on the trunk's centre of mass for `duration` [N, s]."""
        self._bridge.push(force, duration)

    def foot_heights(self) -> Array:
        """(4,) height of each foot's lowest point above z = 0 [m]."""
        state = self._bridge.state
        rotation = quaternion_to_matrix(state.orientation)
        feet = foot_positions(self._robot, state.joint_positions)
        return (feet @ rotation.T + state.position)[:, 2] - self._robot.foot_radius

    def contact_forces(self) -> Array:
        """(4, 3) not numbers: not known."""
        return np.full((len(self._robot.tree.contacts), 3), np.nan)

    def applied_torques(self) -> Array:
        """(12,) torques sent last [N m]."""
        return self._bridge.torques

    def specific_force(self) -> Array:
        """(3,) what the IMU showed last, in `base_link` axes [m/s^2]; not numbers where it is silent."""
        force = self._bridge.specific_force
        return np.full(3, np.nan) if force is None else force
