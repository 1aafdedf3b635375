import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from contact_ddp_ros.base.config import replace
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.control.config import ControllerConfig, SafetyConfig
from contact_ddp_ros.control.controller import Controller
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.control.move import last_exit
from contact_ddp_ros.control.safety import ViolationKind
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.policy import Policy
from contact_ddp_ros.robot.rotation import rpy_to_quaternion
from contact_ddp_ros.robot.state import JointCommand, RobotState

from .support import alive, bounding_policy, stand_up, start_bound, state_at, tilted, unchecked_policy

DAMP, STAND, BOUND = ControlMode.DAMP, ControlMode.STAND, ControlMode.MOVE
TICK = 0.002
SAFETY = SafetyConfig()
ROBOT = load_robot()


def is_damping(command: JointCommand) -> bool:
    return command.positions is None and not command.velocities.any() and not command.torques.any()


def drive_torques(command: JointCommand, state: RobotState, controller: Controller) -> np.ndarray:
    gains = controller.drive_gains
    if command.positions is None:
        return -gains.kd_damping * state.joint_velocities
    positions = gains.kp * (command.positions - state.joint_positions)
    return command.torques + positions + gains.kd * (command.velocities - state.joint_velocities)


def test_it_begins_damping_and_stays_so(controller: Controller, robot: Robot) -> None:
    assert controller.mode is DAMP
    assert is_damping(controller.update(None, 0.0))
    assert is_damping(controller.update(robot.standing_state(0.1), 0.1))
    assert controller.fault is None


def test_damping_reports_a_bad_state_without_latching_it(controller: Controller, robot: Robot) -> None:
    controller.update(tilted(robot.standing_state(0.1), roll=1.0), 0.1)
    assert controller.fault is None
    assert controller.finding is not None and controller.finding.violation is ViolationKind.TILT
    answer = controller.request(STAND)
    assert not answer.accepted and "roll" in answer.reason
    assert controller.mode is DAMP


def test_standing_up_needs_a_state(controller: Controller) -> None:
    assert not controller.request(STAND).accepted
    controller.update(None, 0.0)
    answer = controller.request(STAND)
    assert not answer.accepted and "no_state" in answer.reason


def test_standing_up_is_smooth_from_wherever_the_joints_are(controller: Controller, robot: Robot) -> None:
    # these legs move in the air, whatever the estimator takes their feet for
    controller.configure(replace(controller.config, {"estimation.ground": False}))
    start = 0.7 * robot.lower + 0.3 * robot.upper
    state = state_at(robot.standing_state(), 0.0, joint_positions=start)
    controller.update(state, 0.0)
    assert controller.request(STAND).accepted
    config = controller.config.stand
    fold = np.tile(config.fold, 4)
    begin = 0.0
    for origin, end, duration in ((start, fold, config.fold_time), (fold, robot.standing, config.ramp_time)):
        times = begin + np.append(np.arange(0.0, duration - TICK / 2, TICK), duration - 1e-9)
        commands = []
        for t in times:
            commands.append(controller.update(state_at(state, t), t))
            state = state_at(state, t, joint_positions=commands[-1].positions)
        positions = np.array([command.positions for command in commands])
        np.testing.assert_allclose(positions[0], origin, atol=1e-9)
        np.testing.assert_allclose(positions[-1], end, atol=1e-9)
        steps = np.diff(times)[:, None]
        rates = np.diff(positions, axis=0) / steps
        of_a_joint = duration if origin is fold else duration / 2
        assert (np.abs(rates) <= 1.875 * np.abs(end - origin) / of_a_joint * 1.01 + 1e-6).all()
        accelerations = np.diff(rates, axis=0) / TICK
        assert (np.abs(accelerations) <= 5.78 * np.abs(end - origin) / of_a_joint**2 * 1.01 + 1e-4).all()
        moving = np.array([command.velocities for command in commands])
        np.testing.assert_allclose(rates, 0.5 * (moving[:-1] + moving[1:]), atol=1e-2)
        begin += duration
    assert controller.update(state_at(state, begin), begin) is not None and controller.standing


def test_a_clock_that_steps_back_a_little_does_not_disturb_the_beginning_of_a_stand(
    controller: Controller, robot: Robot
) -> None:
    state = alive(robot, 1.0)
    controller.update(state, 1.0)
    assert controller.request(STAND).accepted
    earlier = 1.0 - 0.5 * SAFETY.clock_tolerance
    command = controller.update(alive(robot, earlier), earlier)
    assert not is_damping(command)
    np.testing.assert_allclose(command.positions, state.joint_positions, atol=1e-9)


def test_a_completed_stand_carries_the_weight(controller: Controller, robot: Robot) -> None:
    now = stand_up(controller, robot)
    state = alive(robot, now)
    torques = drive_torques(controller.update(state, now), state, controller)
    _, jacobians = controller._geometry.points_and_jacobians(robot.standing, np.array([0.0, 0.0, -1.0]))
    forces = -np.linalg.solve(jacobians.transpose(0, 2, 1), torques.reshape(4, 3, 1))[:, :, 0]
    np.testing.assert_allclose(forces.sum(axis=0), (0.0, 0.0, robot.mass * 9.81), atol=1e-6)


def test_stand_gains_are_reached_beyond_those_of_the_drives(controller: Controller, robot: Robot) -> None:
    now = stand_up(controller, robot)
    quiet = alive(robot, now)
    offset, rate = np.full(12, 0.01), np.full(12, 0.02)
    moved = state_at(quiet, now, joint_positions=robot.standing + offset, joint_velocities=rate)
    change = drive_torques(controller.update(moved, now), moved, controller) - drive_torques(
        controller.update(quiet, now), quiet, controller
    )
    config = controller.config.stand
    np.testing.assert_allclose(change, -np.tile(config.kp, 4) * offset - np.tile(config.kd, 4) * rate, atol=1e-9)


def test_bound_waits_for_a_policy_and_says_why(controller: Controller, robot: Robot) -> None:
    now = stand_up(controller, robot)
    answer = controller.request(BOUND)
    assert answer.accepted and "no_policy" in answer.reason
    assert controller.mode is STAND
    now += TICK
    controller.update(alive(robot, now), now)
    assert controller.mode is STAND and "no_policy" in controller.waiting_for
    assert controller.set_policy(bounding_policy(robot, now + 0.01), now).accepted
    now += TICK
    controller.update(alive(robot, now), now)
    assert controller.mode is STAND and "begins in" in controller.waiting_for
    now += 0.01
    controller.update(alive(robot, now), now)
    assert controller.mode is BOUND and controller.waiting_for == ""


def test_bound_waits_for_the_stand(controller: Controller, robot: Robot) -> None:
    controller.update(robot.standing_state(0.0), 0.0)
    controller.request(STAND)
    controller.set_policy(bounding_policy(robot, 0.0), 0.0)
    assert "standing up" in controller.request(BOUND).reason
    controller.update(robot.standing_state(TICK), TICK)
    assert controller.mode is STAND


def test_a_request_to_bound_lapses(controller: Controller, robot: Robot) -> None:
    now = stand_up(controller, robot)
    controller.request(BOUND)
    now += controller.config.move.request_timeout + TICK
    controller.update(alive(robot, now), now)
    assert controller.waiting_for == ""
    now += TICK
    controller.set_policy(bounding_policy(robot, now), now)
    controller.update(alive(robot, now), now)
    assert controller.mode is STAND


@pytest.mark.parametrize("mode", [STAND, DAMP])
def test_a_waiting_request_is_cancelled_by_another(controller: Controller, robot: Robot, mode: ControlMode) -> None:
    now = stand_up(controller, robot)
    controller.request(BOUND)
    assert controller.request(mode).accepted
    controller.set_policy(bounding_policy(robot, now), now)
    controller.update(alive(robot, now), now)
    assert controller.mode is mode


def test_the_bound_law_is_the_policys(controller: Controller, robot: Robot) -> None:
    now = stand_up(controller, robot) + TICK
    plain = bounding_policy(robot, now)
    rng = np.random.default_rng(0)
    flight = np.zeros_like(plain.forces)
    policy = dataclasses.replace(
        plain,
        controls=rng.uniform(-4, 4, plain.controls.shape),
        gains=rng.uniform(-1, 1, plain.gains.shape),
        forces=flight,
        states=plain.states + rng.uniform(-0.02, 0.02, plain.states.shape),
    )
    controller.set_policy(policy, now)
    controller.request(BOUND)
    now += 0.0065
    state = alive(robot, now)
    command = controller.update(state, now)
    sample = policy.sample(now)
    x = np.concatenate([[0.0, 0.0, state.position[2]], np.zeros(3), robot.standing, np.zeros(18)])
    u = sample.control + sample.gain @ (x - sample.state)
    np.testing.assert_allclose(command.torques, u, atol=1e-6)
    np.testing.assert_allclose(command.positions, sample.state[6:18])
    np.testing.assert_allclose(command.velocities, sample.state[24:])
    without = replace(controller.config, {"move.feedback": False})
    controller.configure(without)
    command = controller.update(state, now)
    np.testing.assert_allclose(command.torques, sample.control)


def test_feet_on_the_ground_are_those_that_carry_load_by_plan(controller: Controller, robot: Robot) -> None:
    now = start_bound(controller, robot)
    assert controller.move.contacts == (False, False, True, True)
    now += TICK
    controller.set_policy(bounding_policy(robot, now, sequence=1, load=0.0), now)
    controller.update(alive(robot, now), now)
    assert controller.move.contacts == (False,) * 4
    controller.request(ControlMode.DAMP)
    controller.update(alive(robot, now + TICK), now + TICK)
    assert controller.move.contacts == (True,) * 4


def test_a_late_policy_is_followed_until_the_last_good_instant_of_its_horizon(
    controller: Controller, robot: Robot
) -> None:
    start = start_bound(controller, robot)
    end = start + 0.36  # the horizon ends in the air
    for now in np.arange(start + TICK, end - TICK, TICK):
        assert not is_damping(controller.update(alive(robot, now), now))
        assert controller.mode is BOUND
    for now in (end, end + TICK):
        assert not is_damping(controller.update(alive(robot, now), now))
    assert controller.mode is STAND and controller.fault is None
    assert controller.retreats == 1
    assert controller.retreat is not None and controller.retreat.violation is ViolationKind.POLICY_OVER
    assert controller.waiting_for


def retreated(controller: Controller, robot: Robot) -> float:
    """Bring it to a stand for want of policies; the time when it stands."""
    start = start_bound(controller, robot)
    for now in np.arange(start + TICK, start + 0.36 + controller.config.stand.catch_time + TICK, TICK):
        controller.update(alive(robot, now), now)
    assert controller.standing
    return float(now)


def test_it_bounds_again_where_a_policy_comes_soon_after(controller: Controller, robot: Robot) -> None:
    now = retreated(controller, robot) + TICK
    assert controller.set_policy(bounding_policy(robot, now, sequence=9), now).accepted
    controller.update(alive(robot, now), now)
    assert controller.mode is BOUND


def test_it_stays_standing_where_none_comes(controller: Controller, robot: Robot) -> None:
    begin = retreated(controller, robot)
    for now in np.arange(begin, begin + controller.config.move.resume_timeout + 0.1, 0.01):
        controller.update(alive(robot, now), now)
    later = float(now) + 0.01
    assert controller.set_policy(bounding_policy(robot, later, sequence=9), later).accepted
    controller.update(alive(robot, later), later)
    assert controller.mode is STAND and controller.waiting_for == ""
    assert controller.given_up.startswith("no_policy"), "what it waited for in vain"
    assert controller.request(BOUND).accepted and controller.given_up == ""


def test_plans_that_failed_or_were_refused_are_why_it_stands(controller: Controller, robot: Robot) -> None:
    """The reason names how many in a row, and the last one's fault; an accepted policy ends the row."""
    start = start_bound(controller, robot)
    for now in np.arange(start + 0.01, start + 1.0, 0.01):
        controller.miss_policy("outside_limits: friction of front is exceeded")
        good = bounding_policy(robot, now, sequence=5)
        assert not controller.set_policy(dataclasses.replace(good, controls=good.controls + 1e3), now).accepted
        controller.update(alive(robot, now), now)
        if controller.mode is STAND:
            break
    assert controller.retreat is not None
    count = 2 * round((now - start) / 0.01)
    assert f", since {count} plans in a row were refused or failed: policy_torque: " in str(controller.retreat)
    assert controller.move.refusals[ViolationKind.SOLVE_FAILED] == controller.move.refusals[ViolationKind.POLICY_TORQUE]
    later = now + 0.01
    assert controller.set_policy(bounding_policy(robot, later, sequence=9), later).accepted
    assert "plans in a row" not in controller.move.entry_obstacle(later)


@pytest.mark.parametrize("word", [STAND, DAMP])
def test_a_word_of_people_ends_the_wish_to_bound_again(controller: Controller, robot: Robot, word: ControlMode) -> None:
    now = retreated(controller, robot) + TICK
    controller.request(word)
    assert controller.set_policy(bounding_policy(robot, now, sequence=9), now).accepted
    controller.update(alive(robot, now), now)
    assert controller.mode is word


def test_a_late_policy_that_the_robot_has_left_is_not_followed(controller: Controller, robot: Robot) -> None:
    start = start_bound(controller, robot)
    away = np.tile([0.0, 0.8, 0.0], 4) * (SAFETY.policy_angle / 0.7)
    for now in (start + 0.02, start + 0.1):
        slow = dataclasses.replace(alive(robot, now), joint_positions=robot.standing + away)
        controller.configure(replace(controller.config, {"safety.joint_jump": 3.0}))
        controller.update(slow, now)
        assert controller.mode is (BOUND if now == start + 0.02 else STAND)
    assert controller.retreat is not None and "rad from where it is" in controller.retreat.finding.text


def test_a_fall_on_the_way_down_is_put_down_to_the_missing_policies(controller: Controller, robot: Robot) -> None:
    now = retreated(controller, robot) + TICK
    assert is_damping(controller.update(tilted(alive(robot, now), roll=1.0), now))
    assert controller.fault is not None and controller.fault.violation is ViolationKind.TILT
    assert "want of policies: policy_over" in controller.fault.finding.text


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"joint_positions": np.tile([0.0, -1.25, 2.5], 4)}, "from the standing pose"),
        ({"position": np.array([0.0, 0.0, 0.1])}, "above the ground"),
        ({"orientation": rpy_to_quaternion(0.4, 0.0, 0.0)}, "tilted"),
    ],
)
def test_no_bound_begins_but_from_a_stand(
    controller: Controller, robot: Robot, change: dict[str, np.ndarray], words: str
) -> None:
    controller.configure(
        replace(
            ControllerConfig(),
            {
                "safety.joint_jump": 3.0,
                "safety.policy_angle": 6.0,
                "safety.policy_height": 1.0,
                "safety.base_jump": 1.0,
            },
        )
    )
    now = stand_up(controller, robot) + 0.2
    controller.update(dataclasses.replace(alive(robot, now), **change), now)
    controller.set_policy(bounding_policy(robot, now), now)
    assert controller.request(BOUND).accepted
    controller.update(dataclasses.replace(alive(robot, now + TICK), **change), now + TICK)
    assert controller.mode is STAND
    assert words in controller.waiting_for


def test_fresh_policies_keep_it_bounding_and_a_future_one_waits_its_turn(controller: Controller, robot: Robot) -> None:
    now = start_bound(controller, robot)
    for sequence in range(1, 200):
        now += TICK
        if sequence % 5 == 0:
            ahead = dataclasses.replace(
                bounding_policy(robot, now + 0.005, sequence), controls=np.full((90, 12), 0.05 * sequence)
            )
            assert controller.set_policy(ahead, now).accepted
        command = controller.update(alive(robot, now), now)
        assert controller.mode is BOUND
        held = 0.05 * ((sequence - 3) // 5 * 5 if sequence >= 8 else 0)
        assert command.torques[1] == pytest.approx(held, abs=1e-6)


def test_refused_policies_are_named_counted_and_not_used(controller: Controller, robot: Robot) -> None:
    now = start_bound(controller, robot)
    good = dataclasses.replace(bounding_policy(robot, now, 5), controls=np.full((90, 12), 7.0))
    controls = good.controls.copy()
    controls[3] = np.nan
    broken = {
        "policy_size": unchecked_policy(good, gains=good.gains[:, :, 1:]),
        "policy_not_finite": unchecked_policy(good, controls=controls),
        "policy_model": dataclasses.replace(good, model_hash=1),
        "policy_epoch": dataclasses.replace(good, epoch=1),
        "policy_sequence": dataclasses.replace(good, sequence=0),
        "policy_over": dataclasses.replace(good, times=good.times - 0.4),
    }
    before = controller.update(alive(robot, now), now)
    for name, policy in broken.items():
        for _ in range(2):
            answer = controller.set_policy(policy, now)
            assert not answer.accepted and answer.reason.startswith(name)
            assert controller.move.refused is not None and str(controller.move.refused) == answer.reason
    assert {why.value: count for why, count in controller.move.refusals.items()} == dict.fromkeys(broken, 2)
    after = controller.update(alive(robot, now), now)
    np.testing.assert_array_equal(before.torques, after.torques)
    assert controller.set_policy(good, now).accepted
    assert controller.move.refused is None


def test_a_bound_that_waits_says_that_policies_are_refused(controller: Controller, robot: Robot) -> None:
    now = stand_up(controller, robot)
    assert controller.request(BOUND).reason.endswith("no policy has arrived")
    assert not controller.set_policy(dataclasses.replace(bounding_policy(robot, now), model_hash=1), now).accepted
    assert ", since the last plan was refused or failed: policy_model: made for" in controller.request(BOUND).reason
    controller.update(alive(robot, now + 0.002), now + 0.002)
    assert ", since the last plan was refused or failed: policy_model: made for" in controller.waiting_for


STATE_FAULTS = {
    ViolationKind.NO_STATE: lambda state: None,
    ViolationKind.STATE_SIZE: lambda state: dataclasses.replace(state, joint_positions=np.zeros(11)),
    ViolationKind.STATE_NOT_FINITE: lambda state: dataclasses.replace(state, position=np.full(3, np.nan)),
    ViolationKind.STATE_STALE: lambda state: state_at(state, state.time - 0.1),
    ViolationKind.STATE_FROM_FUTURE: lambda state: state_at(state, state.time + 0.03),
    ViolationKind.TILT: lambda state: tilted(state, pitch=1.54),
    ViolationKind.JOINT_POSITION: lambda state: dataclasses.replace(state, joint_positions=np.full(12, 9.0)),
    ViolationKind.JOINT_VELOCITY: lambda state: dataclasses.replace(state, joint_velocities=np.full(12, 99.0)),
}


@pytest.mark.parametrize("violation", STATE_FAULTS)
@pytest.mark.parametrize("begin", [stand_up, start_bound])
def test_every_state_fault_latches_damping_until_re_armed(
    controller: Controller, robot: Robot, violation: ViolationKind, begin
) -> None:
    now = begin(controller, robot) + TICK
    good = alive(robot, now)
    assert is_damping(controller.update(STATE_FAULTS[violation](good), now))
    assert controller.mode is DAMP
    assert controller.fault is not None and controller.fault.violation is violation
    assert not controller.request(STAND).accepted, "the last state is still the bad one"
    now += TICK
    assert is_damping(controller.update(state_at(good, now), now)), "latched"
    refused = controller.request(BOUND)
    assert not refused.accepted and "stand first" in refused.reason
    assert controller.fault is not None
    answer = controller.request(STAND)
    assert answer.accepted and violation.value in answer.reason
    assert controller.fault is None and controller.mode is STAND
    assert not is_damping(controller.update(state_at(good, now), now))


def test_rearming_clears_the_fault_and_keeps_damping(controller: Controller, robot: Robot) -> None:
    now = stand_up(controller, robot) + TICK
    controller.update(None, now)
    assert controller.rearm().accepted
    assert controller.fault is None and controller.mode is DAMP
    assert is_damping(controller.update(alive(robot, now), now))


@pytest.mark.parametrize("now", [np.nan, np.inf])
def test_a_clock_that_is_not_finite_ends_in_damping(controller: Controller, robot: Robot, now: float) -> None:
    stand_up(controller, robot)
    assert is_damping(controller.update(robot.standing_state(), now))
    assert controller.fault is not None and controller.fault.violation is ViolationKind.CLOCK_NOT_FINITE


def test_a_clock_that_steps_back_while_bounding_ends_in_damping(controller: Controller, robot: Robot) -> None:
    start_bound(controller, robot)
    assert is_damping(controller.update(robot.standing_state(0.5), 0.5))
    assert controller.fault is not None and controller.fault.violation is ViolationKind.CLOCK_BACKWARDS


def test_a_clock_that_steps_back_while_standing_begins_ages_anew(controller: Controller, robot: Robot) -> None:
    now = stand_up(controller, robot, now=100.0)
    controller.set_policy(bounding_policy(robot, now, sequence=50), now)
    controller.request(BOUND)
    command = controller.update(robot.standing_state(0.0), 0.0)
    assert controller.mode is STAND and controller.fault is None
    np.testing.assert_allclose(command.positions, robot.standing)
    assert controller.standing and "no_policy" in controller.waiting_for
    assert controller.set_policy(bounding_policy(robot, TICK, sequence=0), TICK).accepted
    controller.update(robot.standing_state(TICK), TICK)
    assert controller.mode is BOUND


def test_a_small_step_back_is_jitter(controller: Controller, robot: Robot) -> None:
    now = start_bound(controller, robot)
    controller.update(robot.standing_state(now + 0.004), now + 0.004)
    controller.update(robot.standing_state(now + 0.004), now + 0.001)
    assert controller.mode is BOUND


def test_coming_to_a_stand_at_once(robot: Robot) -> None:
    controller = Controller(robot, replace(ControllerConfig(), {"move.exit_instant": "now"}))
    now = start_bound(controller, robot) + TICK
    assert controller.request(STAND).accepted and controller.stopping
    command = controller.update(alive(robot, now), now)
    assert controller.mode is STAND and not controller.stopping
    np.testing.assert_allclose(command.positions, robot.standing, atol=1e-9)
    assert not controller.standing
    later = now + controller.config.stand.catch_time
    controller.update(robot.standing_state(later), later)
    assert controller.standing


def test_a_fast_robot_slows_down_before_it_stands(robot: Robot) -> None:
    controller = Controller(robot, replace(ControllerConfig(), {"move.exit_instant": "now"}))
    now = start_bound(controller, robot) + TICK
    assert controller.request(STAND).accepted
    fast = np.array([1.01 * controller.config.move.exit_speed, 0.0, 0.0])
    controller.update(state_at(robot.standing_state(), now, linear_velocity=fast), now)
    assert controller.mode is BOUND and controller.stopping and "slowing down" in controller.waiting_for
    assert controller.request(BOUND).accepted
    assert not controller.stopping, "changed its mind"
    controller.update(alive(robot, now), now)
    assert controller.mode is BOUND
    controller.request(STAND)
    controller.update(state_at(robot.standing_state(), now, linear_velocity=0.98 * fast), now)
    assert controller.mode is STAND


@pytest.mark.parametrize(("instant", "delay"), [("flight", 0.080), ("touchdown", 0.180 - 0.03)])
def test_the_exit_instant_is_waited_for(robot: Robot, instant: str, delay: float) -> None:
    controller = Controller(robot, replace(ControllerConfig(), {"move.exit_instant": instant}))
    start = start_bound(controller, robot)
    assert controller.request(STAND).accepted
    switched = None
    for k in range(1, 150):
        now = start + k * TICK
        if k % 5 == 0:
            whole = bounding_policy(robot, start)
            first = whole.node(now)
            rest = dataclasses.replace(
                whole, sequence=k, times=whole.times[first:], states=whole.states[first:],
                **{name: getattr(whole, name)[first:] for name in ("controls", "gains", "modes", "forces")},
            )  # fmt: skip
            assert controller.set_policy(rest, now).accepted
        controller.update(alive(robot, now), now)
        if controller.mode is STAND:
            switched = now - start
            break
    assert switched == pytest.approx(delay, abs=1.5 * TICK)


def test_the_wait_for_the_exit_instant_is_bounded(robot: Robot) -> None:
    config = replace(ControllerConfig(), {"move.exit_instant": "flight", "move.exit_timeout": 0.01})
    controller = Controller(robot, config)
    now = start_bound(controller, robot)
    controller.request(STAND)
    controller.update(alive(robot, now), now)
    assert controller.mode is BOUND and "flight" in controller.waiting_for
    controller.update(alive(robot, now + 0.012), now + 0.012)
    assert controller.mode is STAND


def test_a_moving_trunk_has_its_feet_put_under_it(controller: Controller, robot: Robot) -> None:
    now = stand_up(controller, robot)
    config = controller.config.stand
    for velocity in (np.array([0.4, -0.2, 0.0]), np.array([5.0, 5.0, 0.0])):
        command = controller.update(state_at(robot.standing_state(), now, linear_velocity=velocity), now)
        geometry = controller._geometry
        down = np.array([0.0, 0.0, -1.0])
        shift = (
            geometry.points_and_jacobians(command.positions, down)[0]
            - geometry.points_and_jacobians(robot.standing, down)[0]
        )
        wanted = config.capture_gain * velocity[:2]
        wanted *= min(1.0, config.capture_reach / np.linalg.norm(wanted))
        np.testing.assert_allclose(shift, np.tile([*wanted, 0.0], (4, 1)), atol=2e-3)


def test_new_parameters_take_over_without_a_jump(controller: Controller, robot: Robot) -> None:
    now = start_bound(controller, robot)
    for _ in range(5):
        now += TICK
        before = controller.update(alive(robot, now), now)
    controller.configure(replace(controller.config, {"safety.roll": 0.4}))
    after = controller.update(alive(robot, now), now)
    assert controller.mode is BOUND
    np.testing.assert_allclose(after.torques, before.torques, atol=0.2)


@pytest.mark.parametrize(
    "changes",
    [{"stand": {"pose": (0.0, -3.0, 3.0)}}, {"safety": {"roll": -1.0}}, {"move": {"exit_speed": np.nan}}],
)
def test_bad_parameters_are_refused_and_the_old_ones_stay(controller: Controller, changes: dict) -> None:
    old = controller.config
    parts = {name: dataclasses.replace(getattr(old, name), **values) for name, values in changes.items()}
    with pytest.raises(ParameterError):
        controller.configure(dataclasses.replace(old, **parts))
    assert controller.config is old


def anything(shape: tuple[int, ...]) -> st.SearchStrategy[np.ndarray]:
    wild = st.floats(allow_nan=True, allow_infinity=True) | st.floats(-100.0, 100.0)
    return arrays(float, shape, elements=wild)


def plausible(shape: tuple[int, ...], size: float) -> st.SearchStrategy[np.ndarray]:
    return arrays(float, shape, elements=st.floats(-size, size))


wild_states = st.builds(
    RobotState,
    time=st.floats(1.4, 1.6) | st.floats(),
    position=anything((3,)),
    orientation=anything((4,)),
    linear_velocity=anything((3,)),
    angular_velocity=anything((3,)),
    joint_positions=anything((12,)),
    joint_velocities=anything((12,)),
)
tame_states = st.builds(
    lambda q, v, rpy, w, velocity: state_at(
        tilted(ROBOT.standing_state(), *rpy),
        0.0,
        joint_positions=np.clip(ROBOT.standing + q, ROBOT.lower, ROBOT.upper),
        joint_velocities=v,
        angular_velocity=w,
        linear_velocity=velocity,
    ),
    plausible((12,), 3.0), plausible((12,), 25.0), plausible((3,), 0.45), plausible((3,), 1e3), plausible((3,), 1e3),
)  # fmt: skip


def wild_policy(start: float, sequence: int, draw) -> Policy:
    base = bounding_policy(ROBOT, start, sequence)
    return dataclasses.replace(
        base,
        states=base.states + draw(plausible((36,), 1e6)),
        controls=base.controls + draw(plausible((12,), 1e6)),
        gains=base.gains + draw(plausible((12, 36), 1e6)),
        forces=base.forces + draw(plausible((12,), 1e6)),
    )


@pytest.mark.slow
@settings(deadline=None, max_examples=75)
@given(data=st.data())
def test_torques_are_finite_and_within_limits_whatever_comes(data) -> None:
    controller = Controller(ROBOT, ControllerConfig())
    now = start_bound(controller, ROBOT)
    for step in range(3):
        now += TICK
        controller.set_policy(wild_policy(now, step + 1, data.draw), now)
        state = state_at(data.draw(tame_states), now) if data.draw(st.booleans()) else data.draw(wild_states)
        command = controller.update(state, now)
        assert np.isfinite(command.torques).all() and np.isfinite(command.velocities).all()
        slack = ROBOT.effort_limits * (1.0 + 1e-6)
        assert (np.abs(command.torques) <= slack).all()
        if command.positions is not None:
            assert np.isfinite(command.positions).all()
            assert (np.abs(drive_torques(command, state, controller)) <= slack).all()


def test_the_last_exit_of_a_policy_is_in_the_air(robot: Robot) -> None:
    whole, lead = bounding_policy(robot, 5.0), 0.03
    assert last_exit(whole, lead) == pytest.approx(5.36)  # ends in the air
    for first in range(1, 89):
        cycle = np.arange(first, first + 90) % 90
        policy = dataclasses.replace(whole, forces=whole.forces[cycle], modes=whole.modes[cycle])
        instant = last_exit(policy, lead)
        node = policy.node(min(instant, policy.end - 1e-6))
        assert not policy.forces[node].any()
        touchdown = np.flatnonzero(policy.forces[node:].any(axis=1))
        if touchdown.size:
            assert policy.times[node + touchdown[0]] - instant <= lead + 1e-9
            assert not policy.forces[node + touchdown[-1] + 1 :].size, "no later flight"


def test_no_bound_begins_while_the_trunk_still_moves(controller: Controller, robot: Robot) -> None:
    """A robot that hops where it stands has its feet in the air when the plan has them on the ground."""
    now = stand_up(controller, robot)
    needed = round(controller.config.stand.rest_time / TICK)
    modes = []
    for k, speed in enumerate([0.5, *[0.1] * 2 * needed]):
        now += TICK
        hopping = state_at(alive(robot, now), now, linear_velocity=np.array([0.0, 0.0, speed]))
        controller.set_policy(bounding_policy(robot, now, sequence=k + 1), now)
        controller.request(BOUND)
        controller.update(hopping, now)
        modes.append(controller.mode)
    assert all(mode is STAND for mode in modes[: needed - 1])
    assert all(mode is BOUND for mode in modes[needed + 2 :])
