import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from contact_ddp_ros.control.config import ControllerConfig, SafetyConfig
from contact_ddp_ros.control.controller import Controller
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.control.safety import ViolationKind
from contact_ddp_ros.control.state_plausibility import PlaceAnchor, StateContinuity
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.state import RobotState

from .support import alive, start_bound, state_at, tilted

CONFIG = SafetyConfig()
TICK = 0.002


@pytest.fixture
def continuity(robot: Robot) -> StateContinuity:
    continuity = StateContinuity(robot, CONFIG)
    assert continuity.check(alive(robot, 1.0), moving=True) is None
    return continuity


def violation(continuity: StateContinuity, state: RobotState, moving: bool = False) -> ViolationKind | None:
    finding = continuity.check(state, moving)
    return None if finding is None else finding.violation


@pytest.mark.parametrize(("share", "expected"), [(0.99, None), (1.01, ViolationKind.STATE_JUMP)])
def test_no_joint_is_faster_than_its_limit(robot: Robot, share: float, expected: ViolationKind | None) -> None:
    for joint, sign in itertools.product(range(robot.n_joints), (-1.0, 1.0)):
        continuity = StateContinuity(robot, CONFIG)
        continuity.check(alive(robot, 1.0), moving=False)
        reach = CONFIG.velocity_factor * robot.velocity_limits[joint] * TICK + CONFIG.joint_jump
        q = robot.standing.copy()
        q[joint] += sign * share * reach
        assert violation(continuity, state_at(alive(robot, 1.0), 1.0 + TICK, joint_positions=q)) is expected


def test_a_trunk_that_jumps_or_turns_over_is_found(continuity: StateContinuity, robot: Robot) -> None:
    here = alive(robot, 1.0 + TICK)
    away = dataclasses.replace(here, position=here.position + [0.1, 0.0, 0.0])
    assert violation(continuity, away) is ViolationKind.STATE_JUMP
    assert violation(continuity, tilted(here, yaw=0.3)) is ViolationKind.STATE_JUMP
    assert violation(continuity, dataclasses.replace(here, orientation=-here.orientation)) is None, "the same rotation"


def test_the_longer_the_gap_the_further_it_may_have_gone(continuity: StateContinuity, robot: Robot) -> None:
    q = robot.standing + 0.5
    assert violation(continuity, state_at(alive(robot, 1.0), 1.0 + TICK, joint_positions=q)) is ViolationKind.STATE_JUMP
    assert violation(continuity, state_at(alive(robot, 1.0), 1.02, joint_positions=q)) is None


def test_what_is_long_ago_is_no_measure(continuity: StateContinuity, robot: Robot) -> None:
    far = dataclasses.replace(alive(robot, 2.0), position=np.array([100.0, 0.0, 0.3]))
    assert violation(continuity, far) is None


def test_a_jump_back_in_time_begins_anew(continuity: StateContinuity, robot: Robot) -> None:
    assert violation(continuity, tilted(alive(robot, 0.5), yaw=2.0)) is None


@pytest.mark.parametrize("frozen", [("joint_positions", "joint_velocities"), ("position", "linear_velocity")])
def test_measurements_that_repeat_are_found_while_bounding(
    continuity: StateContinuity, robot: Robot, frozen: tuple[str, ...]
) -> None:
    first = alive(robot, 1.0)
    found = []
    for k in range(1, 10):
        state = alive(robot, 1.0 + k * TICK)
        moved = dataclasses.replace(state, joint_positions=state.joint_positions + 0.01 * k)
        state = dataclasses.replace(moved, **{field: getattr(first, field) for field in frozen})
        found.append(violation(continuity, state, moving=True))
    stuck = found.index(ViolationKind.STATE_STUCK)
    assert (stuck + 1) * TICK == pytest.approx(CONFIG.stuck_timeout, abs=1.01 * TICK)
    assert set(found[:stuck]) == {None}


def test_a_robot_that_stands_may_stand_still(continuity: StateContinuity, robot: Robot) -> None:
    first = alive(robot, 1.0)
    for k in range(1, 100):
        assert violation(continuity, state_at(first, 1.0 + k * TICK), moving=False) is None


def test_how_long_it_stood_still_does_not_count_when_it_bounds(continuity: StateContinuity, robot: Robot) -> None:
    first = alive(robot, 1.0)
    for k in range(1, 100):
        assert violation(continuity, state_at(first, 1.0 + k * TICK), moving=False) is None
    found = [violation(continuity, state_at(first, 1.0 + (99 + k) * TICK), moving=True) for k in range(1, 10)]
    stuck = found.index(ViolationKind.STATE_STUCK)
    assert (stuck + 1) * TICK == pytest.approx(CONFIG.stuck_timeout, abs=1.01 * TICK)


def test_the_controller_damps_on_a_jump_and_can_be_armed_again(robot: Robot) -> None:
    controller = Controller(robot, ControllerConfig())
    now = start_bound(controller, robot) + TICK
    swapped = robot.standing[[6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5]] + np.repeat([0.4, -0.4], 6)
    controller.update(state_at(alive(robot, now), now, joint_positions=swapped), now)
    assert controller.mode is ControlMode.DAMP
    assert controller.fault is not None and controller.fault.violation is ViolationKind.STATE_JUMP
    now += 2 * CONFIG.state_timeout
    controller.update(alive(robot, now), now)
    assert controller.request(ControlMode.STAND).accepted


def test_new_parameters_keep_the_memory(robot: Robot) -> None:
    controller = Controller(robot, ControllerConfig())
    now = start_bound(controller, robot)
    controller.configure(ControllerConfig(safety=dataclasses.replace(CONFIG, roll=0.4)))
    now += TICK
    controller.update(state_at(alive(robot, now), now, joint_positions=robot.standing + 0.4), now)
    assert controller.fault is not None and controller.fault.violation is ViolationKind.STATE_JUMP


def test_a_robot_that_was_put_elsewhere_is_believed_after_a_moment(continuity: StateContinuity, robot: Robot) -> None:
    found = []
    for k in range(1, 20):
        state = alive(robot, 1.0 + k * TICK)
        found.append(violation(continuity, dataclasses.replace(state, position=state.position + [0.5, 0.0, 0.0])))
    believed = found.index(None)
    assert 3 <= believed <= 5
    assert set(found[:believed]) == {ViolationKind.STATE_JUMP} and set(found[believed:]) == {None}


def test_states_that_jump_to_and_fro_are_never_believed(continuity: StateContinuity, robot: Robot) -> None:
    for k in range(1, 40):
        state = alive(robot, 1.0 + k * TICK)
        place = state.position + [2.0 if k % 2 else -2.0, 0.0, 0.0]
        assert violation(continuity, dataclasses.replace(state, position=place)) is ViolationKind.STATE_JUMP


def test_after_a_reset_it_stands_up_as_soon_as_it_is_told(robot: Robot) -> None:
    controller = Controller(robot, ControllerConfig())
    now = start_bound(controller, robot)
    for k in range(1, 8):
        state = alive(robot, now + k * TICK)
        away = {"position": state.position + [2.0, 1.0, 0.0], "joint_positions": state.joint_positions + 0.3}
        controller.update(dataclasses.replace(state, **away), now + k * TICK)
    assert controller.fault is not None and controller.fault.violation is ViolationKind.STATE_JUMP
    assert controller.request(ControlMode.STAND).accepted


def walked(robot: Robot, k: int) -> RobotState:
    """A state on a curve at 1 m/s and 1 rad/s, a tick after the last one."""
    time = 1.0 + k * TICK
    state = tilted(alive(robot, time), yaw=time)
    velocity = np.array([1.0, 0.0, 0.0])
    place = np.array([np.sin(time), -np.cos(time), 0.3])
    return dataclasses.replace(
        state, position=place, linear_velocity=velocity, angular_velocity=np.array([0.0, 0.0, 1.0])
    )


def corrected(state: RobotState, turn: float, shift: np.ndarray) -> RobotState:
    """The same state in another frame."""
    around = Rotation.from_rotvec([0.0, 0.0, turn])
    orientation = (around * Rotation.from_quat(state.orientation)).as_quat()
    return dataclasses.replace(state, position=around.apply(state.position) + shift, orientation=orientation)


def test_corrections_of_place_and_heading_leave_the_frame_in_which_the_robot_walks(robot: Robot) -> None:
    random, anchor = np.random.default_rng(0), PlaceAnchor(CONFIG)
    turn, shift = 0.0, np.zeros(3)
    for k in range(400):
        if k % 100 == 50:
            turn, shift = turn + random.uniform(-3.0, 3.0), shift + random.normal(size=3)
        true = walked(robot, k)
        found = anchor.follow(corrected(true, turn, shift))
        assert found.position == pytest.approx(true.position, abs=1e-5 * (1 + anchor.jumps))
        between = Rotation.from_quat(found.orientation) * Rotation.from_quat(true.orientation).inv()
        assert between.magnitude() < 1e-9
        assert anchor.follow(corrected(true, turn, shift)).position == pytest.approx(found.position), "asked again"
    assert anchor.jumps == 4
    assert anchor.finding(1.0 + 400 * TICK) is None


def test_a_somersault_is_no_correction_of_the_heading(robot: Robot) -> None:
    anchor, rate = PlaceAnchor(CONFIG), 9.0
    for k in range(400):
        spin = {"orientation": Rotation.from_rotvec([0.0, rate * k * TICK, 0.3]).as_quat()}
        state = dataclasses.replace(alive(robot, 1.0 + k * TICK), angular_velocity=np.array([0.0, rate, 0.0]), **spin)
        anchor.follow(state)
    assert anchor.jumps == 0


@pytest.mark.parametrize("wild", [{"position": np.full(3, 1e30)}, {"orientation": np.zeros(4)}])
def test_a_garbled_message_does_not_move_the_frame(robot: Robot, wild: dict[str, np.ndarray]) -> None:
    """The controller damps, and the planner is not shown a frame made of such a message."""
    controller = Controller(robot, ControllerConfig())
    now = start_bound(controller, robot)
    for k in range(1, 4):
        controller.update(alive(robot, now + k * TICK), now + k * TICK)
    garbled = dataclasses.replace(alive(robot, now + 4 * TICK), **wild)
    controller.localised(garbled)
    assert not controller.anchor.moved
    controller.update(garbled, now + 4 * TICK)
    assert controller.fault is not None
    assert not controller.anchor.moved


def test_a_robot_that_damps_is_in_the_frame_of_its_source_again(robot: Robot) -> None:
    controller = Controller(robot, ControllerConfig())
    now = start_bound(controller, robot)
    for k in range(1, 20):
        state = alive(robot, now + k * TICK)
        shifted = dataclasses.replace(state, position=state.position + ([3.0, 1.0, 0.2] if k > 5 else 0.0))
        controller.update(shifted, now + k * TICK)
    assert controller.anchor.moved and controller.fault is None
    controller.request(ControlMode.DAMP)
    for k in range(20, 30):
        state = alive(robot, now + k * TICK)
        controller.update(dataclasses.replace(state, position=state.position + [3.0, 1.0, 0.2]), now + k * TICK)
        assert controller.finding is None, "the end of the frame is no jump"
    assert not controller.anchor.moved


def test_a_place_that_jumps_all_the_time_is_found(robot: Robot) -> None:
    anchor = PlaceAnchor(CONFIG)
    found = []
    for k in range(40):
        anchor.follow(corrected(walked(robot, k), 0.0, np.array([0.3 * (k % 2), 0.0, 0.0])))
        found.append(anchor.finding(1.0 + k * TICK))
    assert found[5] is None
    assert found[-1] is not None
    assert found[-1].violation is ViolationKind.STATE_JUMP


def test_a_step_with_another_velocity_is_no_correction(robot: Robot) -> None:
    anchor = PlaceAnchor(CONFIG)
    anchor.follow(walked(robot, 0))
    state = corrected(walked(robot, 1), 0.0, np.array([0.3, 0.0, 0.0]))
    state = dataclasses.replace(state, linear_velocity=np.array([4.0, 0.0, 0.0]))
    assert anchor.follow(state).position == pytest.approx(state.position)


def test_a_trunk_may_rest_while_its_joints_begin_to_move(continuity: StateContinuity, robot: Robot) -> None:
    still = alive(robot, 1.0)
    found = []
    for k in range(1, 60):
        joints = robot.standing + 1e-4 * k
        state = state_at(still, 1.0 + k * TICK, joint_positions=joints)
        found.append(violation(continuity, state, moving=True))
    assert 19 <= found.index(ViolationKind.STATE_STUCK) <= 20, "2e-3 rad"


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-4, 1e-2, 1.0]))
def test_what_compares_fast_says_the_same_as_what_names_the_jump(seed: int, scale: float) -> None:
    random, robot = np.random.default_rng(seed), load_robot()
    continuity, one = StateContinuity(robot, SafetyConfig()), robot.standing_state(0.0)
    moved = random.choice(("joint_positions", "position", "joint_velocities", "angular_velocity", "time"))
    change = {moved: getattr(one, moved) + scale * random.standard_normal(np.shape(getattr(one, moved)))}
    other = tilted(dataclasses.replace(one, **{"time": 0.002} | change), *(scale * random.choice([0.0, 1.0], 3)))
    near, joints, trunk = continuity._compare(one, other)
    assert near == (continuity._jump(one, other) is None)
    assert joints == (moved in ("joint_positions", "joint_velocities"))
    turned = (other.orientation != one.orientation).any()
    assert trunk == (moved in ("position", "angular_velocity") or turned)
