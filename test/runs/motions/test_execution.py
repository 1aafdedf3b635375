"""Motions executed in the simulator: from a stand into a stand, also where the world is another."""

import math
from dataclasses import replace
from itertools import groupby

import numpy as np
import pytest

from benchmarks.loop.estimation import SENSOR_ERRORS
from contact_ddp_ros.control.config import ControllerConfig
from contact_ddp_ros.control.controller import Controller
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.control.motion_controller import MotionController, MotionStage
from contact_ddp_ros.robot.joints import BASE_LINK
from contact_ddp_ros.robot.model import foot_positions
from contact_ddp_ros.robot.rotation import quaternion_to_matrix
from contact_ddp_ros.runs.closed_loop import ClosedLoop
from contact_ddp_ros.runs.loop import CONTROL_PERIOD
from contact_ddp_ros.runs.motions.result import MotionResult
from contact_ddp_ros.runs.motions.trials import Spread, perturbed_run
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.recording import CONTROL_MODES
from contact_ddp_ros.runs.report.video import frames
from contact_ddp_ros.runs.scene import RecordedRobot

from .support import ROBOT, executed, plan_of, plan_of_strides


@pytest.fixture(scope="module")
def backflip() -> MotionResult:
    return executed(plan_of("backflip"))


def test_the_jump_lands_where_it_should_and_stands() -> None:
    run = executed(plan_of("jump"))
    assert run.landed and not run.fell and run.reason == ""
    assert run.displacement == pytest.approx(0.6, abs=0.05)
    assert run.height > 0.1 and abs(run.rotation) < 0.05
    assert run.torque_share <= 1.0 + 1e-9
    assert run.stages[-1] is MotionStage.END and run.time_to_stand < 1.0


def test_the_jump_up_ends_on_the_step() -> None:
    run = executed(plan_of("jump_up"))
    assert run.landed
    assert run.displacement == pytest.approx(0.6, abs=0.05)
    assert run.coordinates[-1, 1] - run.coordinates[0, 1] == pytest.approx(0.15, abs=0.03)


def test_the_back_flip_turns_once_and_stands(backflip: MotionResult) -> None:
    assert backflip.landed and not backflip.fell
    assert backflip.rotation == pytest.approx(-2.0 * math.pi, abs=0.1)
    assert backflip.coordinates[:, 2].max() < 0.1, "nose up all the way"
    upside_down = np.abs(backflip.coordinates[:, 2] + math.pi) < 0.2
    assert upside_down.any() and (backflip.forces[upside_down] == 0.0).all(), "in the air"
    assert backflip.torque_share <= 1.0 + 1e-9
    assert backflip.lowest > 0.15
    lateral = np.array([quaternion_to_matrix(state.orientation)[1, 1] for state in backflip.states])
    assert lateral.min() > math.cos(0.02), "nothing leaves the plane"


def test_the_same_run_is_the_same_run(backflip: MotionResult) -> None:
    again = executed(plan_of("backflip"))
    assert (again.coordinates == backflip.coordinates).all() and (again.torques == backflip.torques).all()


def test_a_perturbed_start_lands() -> None:
    run = perturbed_run(plan_of("jump_up"), 1)
    assert run.landed, run.reason
    options = run.recording.info.options
    assert options["friction"] != RunOptions().in_effect("friction")
    assert options["overrides"]["simulator.imu.gyro_bias"] > 0.0


@pytest.mark.slow
def test_a_motion_is_done_without_any_truth() -> None:
    result = executed(plan_of("backflip"), state="estimated", overrides=SENSOR_ERRORS, seed=5)
    assert result.landed, result.outcome


def test_a_robot_may_be_put_down_far_from_the_pose() -> None:
    run = perturbed_run(plan_of("backflip"), 20, Spread().scaled(4.0))
    first = run.states[0]
    feet = foot_positions(ROBOT, first.joint_positions) @ quaternion_to_matrix(first.orientation)[2]
    assert first.position[2] + feet.min() - ROBOT.foot_radius == pytest.approx(0.01)
    assert np.abs(first.joint_positions - ROBOT.standing).max() > 0.15
    assert run.landed, run.outcome


def test_the_fastest_joint_is_told(backflip: MotionResult) -> None:
    shares = np.abs([state.joint_velocities for state in backflip.states]) / ROBOT.velocity_limits
    assert backflip.speed_share == shares.max()
    longest = max(len(list(run)) for joint in shares.T for fast, run in groupby(joint > 1.0) if fast)
    assert backflip.overspeed == pytest.approx(longest * CONTROL_PERIOD) and longest > 1


def test_ground_that_comes_early_or_late_is_felt() -> None:
    plan = plan_of("jump")
    early = executed(plan, terrain="step:0.3,0.03")
    late = executed(plan, terrain="step:0.3,-0.03")
    planned = early.begun + plan.task.flight[1]
    assert early.touchdown < planned - 0.005 and late.touchdown > planned + 0.005
    assert early.landed and late.landed


def test_every_flight_has_its_touchdown() -> None:
    plan = plan_of_strides()
    level = executed(plan)
    assert level.landed and len(level.touchdowns) == 2 and np.abs(level.delays).max() < 0.006
    order = [stage for stage, _ in groupby(level.stages)]
    flying, stage = MotionStage.FLIGHT, MotionStage
    assert order == [stage.STAND, stage.TAKE_OFF, flying, stage.STRIDE, flying, stage.LANDING, stage.END]
    assert level.flight_speed > 1.0
    begin, end = (level.begun + instant for instant in plan.task.flight)
    speeds = level.coordinates[(level.times > begin) & (level.times < end), plan.problem.model.tree.n]
    assert speeds.min() - 0.01 < level.flight_speed < speeds.max() + 0.01
    early = executed(plan, terrain="step:0.25,0.03")
    assert early.landed and abs(early.delays[0]) < 0.006, "before the step"
    assert early.delays[1] < -0.005


def test_without_the_gains_it_goes_astray() -> None:
    plan = plan_of("backflip")
    stiff = replace(plan, policy=replace(plan.policy, gains=np.zeros_like(plan.policy.gains)))
    planned = plan.policy.states
    end = 0.5 + plan.task.flight[0]

    def error(run: MotionResult) -> float:
        row = int(np.searchsorted(run.times, end))
        wanted = planned[np.searchsorted(plan.policy.times, plan.task.flight[0])]
        return abs(float(run.coordinates[row, 2] - wanted[2]))

    assert error(executed(plan, trunk_mass_scale=1.05)) < 0.5 * error(executed(stiff, trunk_mass_scale=1.05))


def test_a_state_that_is_no_number_ends_in_damping() -> None:
    plan, state = plan_of("jump"), ROBOT.standing_state()
    law = MotionController(ROBOT, plan.task, plan.policy)
    controller = Controller(ROBOT, ControllerConfig())
    controller.update(state, 0.0)
    assert not controller.perform(law).accepted, "damping"
    assert controller.request(ControlMode.STAND).accepted
    assert controller.perform(law).accepted and "still standing up" in controller.waiting_for
    now = 0.0
    while controller.mode is ControlMode.STAND and now < 3.0:
        now += 0.002
        command = controller.update(replace(state, time=now), now)
    assert controller.mode is ControlMode.MOTION and command.positions is not None
    assert not controller.perform(law).accepted, "one at a time"
    broken = controller.update(replace(state, time=now + 0.002, position=np.array([np.nan, 0.0, 0.3])), now + 0.002)
    assert broken.positions is None and controller.fault is not None
    assert controller.update(replace(state, time=now + 0.004), now + 0.004).positions is None, "for good"


def test_a_stand_that_is_another_is_no_start() -> None:
    plan, config = plan_of("jump"), ControllerConfig()
    config = replace(config, stand=replace(config.stand, pose=(0.0, -1.0, 2.0), ramp_time=0.2))
    controller, joints = Controller(ROBOT, config), np.tile([0.0, -1.0, 2.0], 4)
    state = replace(ROBOT.standing_state(), joint_positions=joints, position=np.array([0.0, 0.0, 0.24]))
    controller.update(state, 0.0)
    controller.request(ControlMode.STAND)
    controller.perform(MotionController(ROBOT, plan.task, plan.policy, config))
    for now in np.arange(0.002, 0.5, 0.002):
        controller.update(replace(state, time=float(now)), float(now))
    assert controller.mode is ControlMode.STAND
    assert controller.waiting_for == "fr_knee_joint is 0.40 rad from where jump begins"


def test_it_is_filmed(backflip: MotionResult) -> None:
    pictures = list(frames(backflip.recording, 0.8, width=160))
    assert len(pictures) == 4 and pictures[0].shape == (90, 160, 3)
    assert (pictures[0] != pictures[1]).any()


def test_the_ghost_of_an_export_turns_with_the_robot(backflip: MotionResult) -> None:
    robot = RecordedRobot(backflip.recording)
    trunk = robot.bodies.index(BASE_LINK)
    pairs = [(one.robot, one.ghost) for one in robot.moments(50.0) if one.ghost is not None]
    alike = [abs(float(body.quaternions[trunk] @ ghost.quaternions[trunk])) for body, ghost in pairs]
    assert len(alike) > 20 and min(alike) > 0.97


def test_it_bounds_flips_and_bounds_on() -> None:
    """One controller throughout; a recording of it has no fall."""
    plan = plan_of("backflip")
    overrides = {"controller.stand.ramp_time": 0.3}
    loop = ClosedLoop(RunOptions(duration=6.0, speed=((0.0, 0.4),), overrides=overrides))
    law = MotionController(ROBOT, plan.task, plan.policy, loop.controller.config)
    seen: list[ControlMode] = []
    upside_down = False
    while loop.plant.time < 6.0:
        now = loop.plant.time
        if abs(now - 1.2) < 1e-6:
            loop.want(ControlMode.STAND)
        if now > 2.0 and law.stage is MotionStage.STAND and loop.controller.mode is ControlMode.STAND:
            assert loop.controller.perform(law).accepted
        loop.tick()
        mode = loop.controller.mode
        seen += [mode] if not seen or mode is not seen[-1] else []
        if mode is ControlMode.MOTION and not law.touchdowns:
            assert loop.want(ControlMode.MOVE).accepted, "afterwards"
            upside_down |= bool(quaternion_to_matrix(loop.plant.truth().state.orientation)[2, 2] < -0.9)
    stand, move, motion = ControlMode.STAND, ControlMode.MOVE, ControlMode.MOTION
    assert seen == [stand, move, stand, motion, stand, move] and upside_down
    recording = loop.recorder.finish()
    assert recording.fall is None and not [event for event in recording.events if event.fault]
    assert "motion" in {CONTROL_MODES[mode] for mode in recording.ticks["control_mode"]}
