"""Stand up from straight legs, Gazebo's initial posture, to bent legs in a stepped world."""

import numpy as np

from contact_ddp_ros.plants.gazebo.efforts import Drives
from contact_ddp_ros.plants.gazebo.world import World, WorldRestartedError
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.state import DriveGains, JointCommand

_KP, _KD = 80.0, 2.0
"""Gains of all joints while standing up [N m/rad, N m s/rad]."""

_TIME, _REST = 0.8, 0.4
"""Duration of the joint motion, and of the rest after it [s]."""

_STEPS = 2
"""Physics steps per effort."""

_TRIES = 3
"""Number of attempts where another program resets the world meanwhile."""


def reset_and_stand_up(world: World, robot: Robot, timestep: float) -> None:
    """Reset the world and stand the robot up, at rest.

    Args:
        world: of the robot.
        robot: in it.
        timestep: of its physics [s].

    Raises:
        GazeboError: the server does not answer, or its states do not come.
    """
    for _ in range(_TRIES):
        try:
            _stand_up(world, robot, timestep)
            return
        except WorldRestartedError as error:
            last = error
    raise last


def _stand_up(world: World, robot: Robot, timestep: float) -> None:
    world.begin_again()
    world.find()
    state = world.first_state()
    begin, n = state.joint_positions, robot.n_joints
    stiff, damped = np.full(n, _KP), np.full(n, _KD)
    drives = Drives(DriveGains(stiff, damped, damped), robot.effort_limits, np.inf)
    for tick in range(round((_TIME + _REST) / timestep / _STEPS)):
        share = min(1.0, tick * _STEPS * timestep / _TIME)
        target = begin + share * (robot.standing - begin)
        drives.apply(JointCommand(target, np.zeros(n), np.zeros(n)), 0.0)
        state = world.step(_STEPS, drives.efforts(state.joint_positions, state.joint_velocities, 0.0))
