"""Where a motion begins: standing, or in a posture of its own, which may be lying; and in which model's coordinates."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.robot.attitude import Chart
from contact_ddp_ros.robot.joints import LEG_NAMES
from contact_ddp_ros.robot.model import Robot, foot_positions
from contact_ddp_ros.robot.models.model import Model
from contact_ddp_ros.robot.models.planar import PlanarModel
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel
from contact_ddp_ros.robot.motion import MotionTask
from contact_ddp_ros.robot.rotation import quaternion_to_matrix, rpy_to_quaternion
from contact_ddp_ros.robot.state import RobotState

Array = NDArray[np.float64]


def start_state(task: MotionTask, robot: Robot) -> RobotState:
    """The robot at rest at the beginning of a motion, its lowest foot on the ground."""
    state = robot.standing_state()
    if not task.start:
        return state
    joints = np.concatenate([task.start[leg] for leg in LEG_NAMES])
    orientation = rpy_to_quaternion(task.start_turn, 0.0, 0.0)
    lying = replace(state, orientation=orientation, joint_positions=joints)
    return put_down(lying, robot)


def put_down(state: RobotState, robot: Robot, clearance: float = 0.0) -> RobotState:
    """The state with its lowest foot at a height above level ground [m]."""
    position = np.array([*state.position[:2], clearance - float(_soles(state, robot).min())])
    return replace(state, position=position)


def foot_heights(task: MotionTask, robot: Robot) -> Array:
    """(4,) of the feet above the ground at the beginning [m]; 0 of the lowest."""
    soles = _soles(start_state(task, robot), robot)
    return np.asarray(soles - soles.min())


def _soles(state: RobotState, robot: Robot) -> Array:
    """(4,) heights of the feet's lowest points over the trunk's origin [m]."""
    up = quaternion_to_matrix(state.orientation)[2]
    return foot_positions(robot, state.joint_positions) @ up - robot.foot_radius


def model_for(task: MotionTask, robot: Robot) -> PlanarModel | WholeBodyModel:
    """The model of a robot that a motion is planned with, in the chart whose last angle it turns about."""
    if task.model == PlanarModel.name:
        return PlanarModel(robot)
    return WholeBodyModel(robot, Chart.YAW_ROLL_PITCH if task.rotation else Chart.YAW_PITCH_ROLL)


def start_coordinates(task: MotionTask, model: Model) -> Array:
    """(2n,) of the same state in a model, with turns counted."""
    x = model.state(start_state(task, model.robot))
    if task.start:
        x[turning_index(model)] = task.start_turn
    return x


def turning_index(model: Model) -> int:
    """Index of the coordinate that counts a motion's turns, the last angle of the trunk."""
    return model.tree.n - len(model.torque_limits) - 1
