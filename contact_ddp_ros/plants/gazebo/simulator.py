"""A Gazebo server in lock-step as the simulator of the closed loop: the same planner and controller, other physics."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import SimulationError
from contact_ddp_ros.plants.gazebo.bridge import GazeboBridge, GazeboTruth
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.plants.plant import Capabilities
from contact_ddp_ros.plants.sensing import sensed
from contact_ddp_ros.plants.terrain.words import parse_terrain
from contact_ddp_ros.robot.model import Robot, foot_positions
from contact_ddp_ros.robot.rotation import quaternion_to_matrix
from contact_ddp_ros.robot.state import ImuSample, JointCommand, RobotState

Array = NDArray[np.float64]


_IMU_PATIENCE = 0.2
"""Time for which a world may be without a sample of its inertial unit [s]."""


class GazeboSimulator:
    """A :class:`contact_ddp_ros.plants.plant.SimulatedPlant`; its clock begins at zero with the bridge's first state.

    A server tells no forces at the feet in terms that this package could check, so these are not known there.
    """

    capabilities = Capabilities(places=False)

    def __init__(
        self,
        robot: Robot,
        bridge: GazeboBridge,
        options: SimOptions | None = None,
        foot_forces: Callable[[], Array] | None = None,
    ) -> None:
        """Start the bridge; its world is driven by this object from now on.

        Args:
            robot: that is in the world.
            bridge: to it.
            options: errors of the measured states; and the ground, which the world's file is taken to have.
            foot_forces: tells the forces (4, 3) on the feet in the last step [N], where they are known.

        Raises:
            GazeboError: the server or its messages stay away.
        """
        self._robot = robot
        self._bridge = bridge
        self._options = SimOptions() if options is None else options
        self._terrain = parse_terrain(self._options.terrain)
        self._foot_forces = foot_forces
        self._rng = np.random.default_rng(self._options.seed)
        self._measured: RobotState | None = None
        self._begin = bridge.start().time

    @property
    def time(self) -> float:
        """The simulation's clock [s]."""
        return self._true_state().time

    @property
    def timestep(self) -> float:
        """Length of a physics step [s]."""
        return self._bridge.config.timestep

    def reset(self, state: RobotState | None = None) -> None:
        """Put the robot back on its legs, drives damping; the clock goes on.

        Raises:
            SimulationError: a state is given; Gazebo knows only the one that its file describes.
        """
        self._bridge.reset(state)
        self._rng = np.random.default_rng(self._options.seed)
        self._measured = None

    def read(self) -> RobotState:
        """The newest state as it is measured; repeated calls at one instant return the same state."""
        if self._measured is None:
            self._measured = sensed(self._true_state(), self._options, self._rng)
        return self._measured

    def _true_state(self) -> RobotState:
        state = self._bridge.state
        return replace(state, time=state.time - self._begin)

    def write(self, command: JointCommand) -> None:
        """Set the drives' command."""
        self._bridge.write(command)

    def advance(self, n: int = 1) -> None:
        """Advance n physics steps with the efforts that answer the present state."""
        self._bridge.advance(n)
        self._measured = None

    def push(self, force: Array, duration: float, torque: Array | None = None) -> None:
        """Apply a force (3,) in odom axes [N] at the trunk's centre of mass for `duration` [s].

        Raises:
            ParameterError: a moment is asked for, which the world does not take.
        """
        self._bridge.push(force, duration, torque)

    def imu(self) -> ImuSample:
        """Newest sample of the world's inertial unit; its force is NaN before the first.

        Raises:
            SimulationError: the world has told none for some time.
        """
        sample, state = self._bridge.imu(), self._true_state()
        if sample is not None:
            return replace(sample, time=state.time)
        if state.time > _IMU_PATIENCE:
            raise SimulationError("the world has sent no IMU sample; its robot needs an IMU sensor")
        return ImuSample(state.time, state.angular_velocity, np.full(3, np.nan))

    def truth(self) -> GazeboTruth:
        """Quantities without the errors of sensors, at the present instant; NaN for what the world does not tell."""
        robot, truth = self._robot, self._bridge.truth()
        feet = foot_positions(robot, truth.state.joint_positions) @ quaternion_to_matrix(truth.state.orientation).T
        return replace(
            truth,
            state=self._true_state(),
            foot_heights=self._terrain.clearances(feet + truth.state.position, robot.foot_radius),
            contact_forces=truth.contact_forces if self._foot_forces is None else self._foot_forces(),
        )
