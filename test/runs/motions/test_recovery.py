"""Recoveries: from the back and from a side onto the feet."""

import math
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.loop.estimation import SENSOR_ERRORS
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.control.config import ControllerConfig
from contact_ddp_ros.control.controller import Controller
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.control.motion_controller import MotionController, MotionStage, foot_heights, start_state
from contact_ddp_ros.mpc.motions.spatial_problem import motion_problem
from contact_ddp_ros.robot.attitude import ANGLES
from contact_ddp_ros.robot.ground import cone_excess
from contact_ddp_ros.robot.motion import MotionSpec, load_motion
from contact_ddp_ros.robot.rotation import quaternion_to_matrix, rpy_to_quaternion
from contact_ddp_ros.runs.motions.trials import perturbed_run

from .support import ROBOT, executed, plan_of, run_of

ROLLS = {"recovery": math.pi, "recovery_side": -0.5 * math.pi}
N = ROBOT.tree.n


@pytest.mark.parametrize("name", ROLLS)
def test_the_plan_leads_from_lying_to_a_stand_within_every_limit(name: str) -> None:
    plan = plan_of(name)
    policy, config, task = plan.policy, plan.problem.config, plan.task
    assert plan.is_optimum and task.roll == pytest.approx(ROLLS[name]) and task.start_turn == -task.roll
    start, end = policy.states[0], policy.states[-1]
    assert start == pytest.approx(plan.problem.start) and start[ANGLES] == pytest.approx([0.0, 0.0, task.start_turn])
    assert end[ANGLES] == pytest.approx(np.zeros(3), abs=0.02)
    assert end[6:N] == pytest.approx(ROBOT.standing, abs=0.02) and np.abs(end[N:]).max() < 0.1
    assert plan.torque_share <= config.torque_share + 1e-6
    forces = policy.forces.reshape(len(policy.forces), -1, 3)[np.diff(policy.times) > 0.0]
    assert cone_excess(forces, config.friction).max() < 1e-3 and forces[:, :, 2].min() > -1e-3
    assert (policy.states[:, 6:N] >= ROBOT.lower).all() and (policy.states[:, 6:N] <= ROBOT.upper).all()


@pytest.mark.parametrize(("name", "height"), [("recovery", 0.048), ("recovery_side", 0.113)])
def test_the_trunk_carries_most_of_the_weight_before_it_begins(name: str, height: float) -> None:
    run = run_of(name)
    row = int(np.searchsorted(run.times, run.begun - 1e-9))
    assert run.stages[row - 1] is MotionStage.START
    assert run.heights[row] == pytest.approx(height, abs=2e-3), "on its drives"
    assert run.forces[row, :, 2].sum() < 0.3 * 9.81 * ROBOT.mass
    up = quaternion_to_matrix(run.states[row].orientation)[2]
    assert up[2] == pytest.approx(math.cos(ROLLS[name]), abs=0.02)


@pytest.mark.parametrize("name", ROLLS)
def test_it_ends_standing(name: str) -> None:
    run = run_of(name)
    task = run.task
    assert run.landed and not run.fell, run.outcome
    assert run.stages[-1] is MotionStage.END
    assert run.rotation == pytest.approx(task.roll, abs=0.05)
    assert run.displacement == pytest.approx(0.0, abs=0.05) and run.left == pytest.approx(task.left, abs=0.05)
    assert run.heights[-1] == pytest.approx(ROBOT.standing_height(), abs=0.02)
    assert run.torque_share <= 1.0 + 1e-9 and run.time_to_stand < 1.0
    assert run.lowest > 0.15 > run.heights.min(), "what lies has not fallen"


@pytest.mark.parametrize("name", ROLLS)
def test_a_perturbed_start_lands(name: str) -> None:
    """Perturbed starts: of 40, recovery lands from all and recovery_side from 38."""
    assert sum(perturbed_run(plan_of(name), seed).landed for seed in range(3)) >= 2


@pytest.mark.slow
def test_it_is_done_without_any_truth() -> None:
    result = executed(plan_of("recovery"), state="estimated", overrides=SENSOR_ERRORS, seed=5)
    assert result.landed, result.outcome


def test_from_its_back_legs_may_be_anywhere() -> None:
    plan, start = plan_of("recovery"), start_state(load_motion("recovery"), ROBOT)
    dropped = replace(
        start,
        position=start.position + np.array([0.0, 0.0, 0.3]),
        orientation=rpy_to_quaternion(math.pi - 0.2, 0.1, 1.0),
        joint_positions=ROBOT.standing.copy(),
    )
    assert executed(plan, start=dropped).landed


def test_one_that_does_not_get_into_its_posture_is_given_up() -> None:
    plan, config = plan_of("recovery"), ControllerConfig()
    law, controller = MotionController(ROBOT, plan.task, plan.policy, config), Controller(ROBOT, config)
    lying = start_state(plan.task, ROBOT)
    joints = lying.joint_positions.copy()
    joints[4] += 0.6
    now = 0.0

    def update() -> None:
        stuck = replace(lying, time=now, joint_positions=joints + 1e-6 * math.sin(1e3 * now))
        controller.update(stuck, now)

    update()
    assert controller.perform(law).accepted and controller.mode is ControlMode.MOTION
    while controller.mode is ControlMode.MOTION and now < 5.0:
        now += 0.002
        update()
    assert 3.0 < now < 4.0
    assert "recovery did not begin: fl_hip_joint is 0.60 rad from where it starts" in str(controller.fault)
    assert "lies on its back" in str(controller.fault)


def test_a_robot_that_stands_is_told_to_damp_first() -> None:
    plan, controller = plan_of("recovery"), Controller(ROBOT, ControllerConfig())
    controller.update(ROBOT.standing_state(), 0.0)
    answer = controller.perform(MotionController(ROBOT, plan.task, plan.policy))
    assert not answer.accepted and "it lies on its belly; recovery begins where it lies on its back" in answer.reason
    controller.request(ControlMode.STAND)
    answer = controller.perform(MotionController(ROBOT, plan.task, plan.policy))
    assert not answer.accepted and answer.reason == "in stand; recovery begins lying; damp first"


def test_the_lowest_foot_is_on_the_ground() -> None:
    for name, turn in ROLLS.items():
        task = load_motion(name)
        state, heights = start_state(task, ROBOT), foot_heights(task, ROBOT)
        assert heights.min() == 0.0 and heights.max() < 0.004
        assert quaternion_to_matrix(state.orientation)[2, 2] == pytest.approx(math.cos(turn), abs=1e-9)
    standing, jump = ROBOT.standing_state(), load_motion("jump")
    assert start_state(jump, ROBOT).position == pytest.approx(standing.position) and jump.start_turn == 0.0


def other_leg(task: MotionSpec, leg: str, angles: tuple[float, float, float]) -> MotionSpec:
    return replace(task, start={**task.start, leg: angles})


@pytest.mark.parametrize(
    ("leg", "angles", "words"),
    [
        ("fr", (0.2, -0.7, 2.75), "fr_knee_joint at 2.75 rad; allowed: 0.50 to 2.70"),
        ("fl", (1.0, 1.93, 2.22), "the foot of fl 0.031 m above the ground; allowed: 0.0 to 0.005"),
        ("fr", (0.1, -0.7, 2.64), "the knee of fr 0.029 m above the ground; allowed: 0.03 or more"),
    ],
)
def test_a_start_beyond_a_limit_is_refused(leg: str, angles: tuple[float, float, float], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        motion_problem(other_leg(load_motion("recovery_side"), leg, angles), ROBOT)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"start": {}}, "whole turns, or any roll with a start"),
        ({"start": {"fr": (0.0, 0.69, 2.62)}}, "a start of fr with model: whole_body; allowed: of fr, fl, hr, hl"),
        ({"model": "planar", "roll": 0.0, "left": 0.0, "take_off_roll": 0.0, "landing_roll": 0.0}, "model: planar"),
    ],
)
def test_a_motion_that_cannot_start_so_is_refused(change: dict[str, object], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        replace(load_motion("recovery"), **change)  # type: ignore[arg-type]
