"""States and policies for the controller's tests."""

import dataclasses

import numpy as np

from contact_ddp_ros.control.controller import Controller
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.control.safety import SafetyViolation, ViolationKind
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel
from contact_ddp_ros.robot.policy import Policy
from contact_ddp_ros.robot.rotation import rpy_to_quaternion
from contact_ddp_ros.robot.state import RobotState

KNOT = 0.004
MODE_KNOTS = (20, 25, 20, 25)
BACK, FRONT = slice(6, 12), slice(0, 6)


def state_at(state: RobotState, time: float, **changes: object) -> RobotState:
    return dataclasses.replace(state, time=time, **changes)


def alive(robot: Robot, time: float) -> RobotState:
    """A robot that stands as still as a real one: no two measurements are the same to the last bit."""
    state, wobble = robot.standing_state(time), 1e-9 * np.sin(1e3 * time)
    return dataclasses.replace(
        state, linear_velocity=state.linear_velocity + wobble, joint_velocities=state.joint_velocities + wobble
    )


def tilted(state: RobotState, roll: float = 0.0, pitch: float = 0.0, yaw: float = 0.0) -> RobotState:
    return dataclasses.replace(state, orientation=rpy_to_quaternion(roll, pitch, yaw))


def bounding_policy(robot: Robot, start: float, sequence: int = 0, epoch: int = 0, load: float = 180.0) -> Policy:
    """Stays in the standing pose, with the forces of one bounding cycle from back stance on."""
    n = sum(MODE_KNOTS)
    x = WholeBodyModel(robot).state(robot.standing_state())
    modes = np.repeat(np.arange(len(MODE_KNOTS)), MODE_KNOTS)
    forces = np.zeros((n, 12))
    forces[modes == 0, BACK] = np.tile((2.5, 0.0, 0.5 * load), 2)
    forces[modes == 2, FRONT] = np.tile((-2.5, 0.0, 0.5 * load), 2)
    return Policy(
        times=start + KNOT * np.arange(n + 1),
        states=np.tile(x, (n + 1, 1)),
        controls=np.zeros((n, 12)),
        gains=np.zeros((n, 12, len(x))),
        modes=modes,
        forces=forces,
        sequence=sequence,
        epoch=epoch,
        model_hash=robot.model_hash,
    )


def unchecked_policy(policy: Policy, **changes: object) -> Policy:
    """A policy as it would be if its own checks had failed to notice something."""
    broken = object.__new__(Policy)
    for field in dataclasses.fields(policy):
        object.__setattr__(broken, field.name, changes.get(field.name, getattr(policy, field.name)))
    return broken


def stand_up(controller: Controller, robot: Robot, now: float = 0.0) -> float:
    """Bring a controller to a completed stand with states of a robot that stands still; the time then."""
    state = robot.standing_state(now)
    controller.update(state, now)
    assert controller.request(ControlMode.STAND).accepted
    now += controller.config.stand.ramp_time
    controller.update(state_at(state, now), now)
    assert controller.standing
    return now


def start_bound(controller: Controller, robot: Robot, now: float = 0.0) -> float:
    """As :func:`stand_up`, then into BOUND."""
    now = stand_up(controller, robot, now) + 0.002
    assert controller.set_policy(bounding_policy(robot, now), now).accepted
    assert controller.request(ControlMode.MOVE).accepted
    controller.update(robot.standing_state(now), now)
    assert controller.mode is ControlMode.MOVE
    return now


def violation(finding: SafetyViolation | None) -> ViolationKind | None:
    return None if finding is None else finding.violation
