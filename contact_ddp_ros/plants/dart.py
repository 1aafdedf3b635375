"""The robot in DART, a physics engine with rigid contacts: the world that `contact-ddp sdf` writes, without Gazebo."""

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.plants.dart_world import DartWorld
from contact_ddp_ros.plants.engine_world import check_new, physical
from contact_ddp_ros.plants.gazebo.sdf import world_sdf
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.plants.simulator import PhysicsSimulator
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.rotation import quaternion_to_matrix
from contact_ddp_ros.robot.state import DriveGains, RobotState

Array = NDArray[np.float64]


class DartSimulator(PhysicsSimulator):
    """The :class:`contact_ddp_ros.plants.simulator.PhysicsSimulator` in DART."""

    def __init__(self, robot: Robot, gains: DriveGains, options: SimOptions | None = None) -> None:
        """Build the world.

        Raises:
            ParameterError: an option is out of its range, or is MuJoCo's alone.
            ModelError: the URDF has a collision shape without an SDF primitive.
        """
        super().__init__(robot, gains, options)
        self._world = DartWorld(world_sdf(robot, physical(self._options)))
        self._begin = 0.0
        self.reset()

    def __deepcopy__(self, _memo: object) -> "DartSimulator":
        check_new(self, self._options)
        twin = DartSimulator(self._robot, self._gains, self._options)
        twin.reset(self.true_state())
        return twin

    @property
    def time(self) -> float:
        """The simulation's clock [s]."""
        return self._begin + 1e-9 * self._world.stamp

    def _place(self, state: RobotState) -> None:
        self._world.reset()
        self._begin = state.time
        self._world.place(state.position, quaternion_to_matrix(state.orientation), state.joint_positions)
        self._world.set_velocities(state.linear_velocity, state.angular_velocity, state.joint_velocities)

    def true_state(self) -> RobotState:
        """The state without noise."""
        world = self._world
        return RobotState(
            time=self.time,
            position=world.position,
            orientation=world.orientation,
            linear_velocity=world.linear_velocity,
            angular_velocity=world.angular_velocity,
            joint_positions=world.joint_positions,
            joint_velocities=world.joint_velocities,
        )

    def _joints(self) -> tuple[Array, Array]:
        return self._world.joint_positions, self._world.joint_velocities

    def _advance(self, torques: Array, wrench: Array | None) -> None:
        if wrench is not None:
            self._world.push_origin(wrench)
        self._world.step(torques)

    def _foot_centres(self) -> Array:
        return self._world.foot_positions()

    def contact_forces(self) -> Array:
        """(4, 3) force of the ground on each foot during the last step, in `odom` axes [N]."""
        return self._world.foot_forces()

    def specific_force(self) -> Array:
        """(3,) specific force at the trunk's origin in the last step, in `base_link` axes [m/s^2]."""
        return self._world.specific_force.copy()
