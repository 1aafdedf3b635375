"""Stands that are refused and faults where the joints do something else, or their zeros are not known."""

import dataclasses

import numpy as np
import pytest

from contact_ddp_ros.base.config import replace
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.control.config import ControllerConfig
from contact_ddp_ros.control.controller import Controller
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.control.safety import ViolationKind
from contact_ddp_ros.robot.model import Robot

from .support import alive, state_at

TEXT = "somebody else moves the legs"


def test_a_stand_is_refused_and_ends_where_it_is_not_executed(robot: Robot) -> None:
    controller = Controller(robot, ControllerConfig())
    controller.execution = TEXT
    controller.update(alive(robot, 0.0), 0.0)
    for mode in (ControlMode.STAND, ControlMode.RECOVER):
        answer = controller.request(mode)
        assert not answer.accepted
        assert f"not_executed: {TEXT}" in answer.reason
    controller.execution = ""
    controller.update(alive(robot, 0.002), 0.002)
    assert controller.request(ControlMode.STAND).accepted
    assert controller.update(alive(robot, 0.004), 0.004).positions is not None
    controller.execution = TEXT
    assert controller.update(alive(robot, 0.006), 0.006).positions is None
    assert controller.fault is not None
    assert controller.fault.violation is ViolationKind.NOT_EXECUTED


def test_a_fault_for_want_of_a_place_tells_why_there_is_none(robot: Robot) -> None:
    controller = Controller(robot, ControllerConfig())
    controller.update(alive(robot, 0.0), 0.0)
    assert controller.request(ControlMode.STAND).accepted
    controller.unlocated = "no sample came"
    lost = dataclasses.replace(alive(robot, 0.002), position=np.full(3, np.nan))
    assert controller.update(lost, 0.002).positions is None
    assert str(controller.fault) == "state_not_finite: not a finite number in position: no sample came"


@pytest.mark.parametrize("turns", [0, -1, 1])
@pytest.mark.parametrize("joint", [0, 7, 11])
def test_the_first_stand_waits_for_joints_whose_zeros_are_right(robot: Robot, joint: int, turns: int) -> None:
    controller = Controller(robot, replace(ControllerConfig(), {"safety.check_known_pose": True}))
    positions = robot.folded.copy()
    positions[joint] += 0.95 * turns * 2.0 * np.pi / robot.gears[joint]
    lying = dataclasses.replace(robot.standing_state(), joint_positions=positions)
    for time in np.arange(0.0, 0.7, 0.002):
        controller.update(state_at(lying, float(time)), float(time))
    answer = controller.request(ControlMode.STAND)
    beyond = not -2.9 < positions[joint] < 2.9
    assert answer.accepted == (turns == 0)
    if turns and not beyond:
        assert "a zero error of" in answer.reason
    if turns:
        assert ["fr_abad", "hr_hip", "hl_knee"][[0, 7, 11].index(joint)] in answer.reason


def test_unknown_gear_ratios_are_told_to_who_wants_the_check(robot: Robot) -> None:
    unknown = dataclasses.replace(robot, gears=np.zeros(robot.n_joints))
    with pytest.raises(ParameterError, match=r"joints\.gear in the robot's file"):
        Controller(unknown, replace(ControllerConfig(), {"safety.check_known_pose": True}))
