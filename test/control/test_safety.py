import dataclasses

import numpy as np
import pytest

from contact_ddp_ros.control.config import SafetyConfig
from contact_ddp_ros.control.safety import (
    FASTEST_TRUNK,
    FASTEST_TURN,
    Finding,
    PolicyGate,
    Supervisor,
    Violation,
)
from contact_ddp_ros.policy import Policy
from contact_ddp_ros.robot.model import Robot

from .support import bounding_policy, state_at, tilted, unchecked_policy

CONFIG = SafetyConfig()
NOW = 5.0
ARRAYS = ("position", "orientation", "linear_velocity", "angular_velocity", "joint_positions", "joint_velocities")
NOT_NUMBERS = (np.nan, np.inf, -np.inf)


@pytest.fixture
def supervisor(robot: Robot) -> Supervisor:
    return Supervisor(robot, CONFIG)


@pytest.fixture
def gate(robot: Robot) -> PolicyGate:
    return PolicyGate(np.array([34.0, 52.0, 34.0, 52.0]), 14, 4, robot.model_hash, CONFIG)


@pytest.fixture
def policy(robot: Robot) -> Policy:
    return bounding_policy(robot, NOW, sequence=7, epoch=3)


def name(finding: Finding | None) -> Violation | None:
    return None if finding is None else finding.violation


def test_a_standing_robot_passes(supervisor: Supervisor, robot: Robot) -> None:
    assert supervisor.state(robot.standing_state(NOW), NOW) is None


def test_no_state_is_named(supervisor: Supervisor) -> None:
    assert name(supervisor.state(None, NOW)) is Violation.NO_STATE


@pytest.mark.parametrize("value", NOT_NUMBERS)
@pytest.mark.parametrize("field", ARRAYS)
def test_every_entry_that_is_not_finite_is_found(
    supervisor: Supervisor, robot: Robot, field: str, value: float
) -> None:
    state = robot.standing_state(NOW)
    for index in range(len(getattr(state, field))):
        broken = getattr(state, field).copy()
        broken[index] = value
        finding = supervisor.state(dataclasses.replace(state, **{field: broken}), NOW)
        assert name(finding) is Violation.STATE_NOT_FINITE
        assert field in str(finding)


@pytest.mark.parametrize("value", NOT_NUMBERS)
def test_a_stamp_that_is_not_finite_is_found(supervisor: Supervisor, robot: Robot, value: float) -> None:
    assert name(supervisor.state(robot.standing_state(value), NOW)) is Violation.STATE_NOT_FINITE


@pytest.mark.parametrize("field", ARRAYS)
@pytest.mark.parametrize("change", [lambda a: a[:-1], lambda a: np.append(a, 0.0), lambda a: a[None], lambda a: None])
def test_every_wrong_size_is_found(supervisor: Supervisor, robot: Robot, field: str, change) -> None:
    state = robot.standing_state(NOW)
    finding = supervisor.state(dataclasses.replace(state, **{field: change(getattr(state, field))}), NOW)
    assert name(finding) is Violation.STATE_SIZE
    assert field in str(finding)


@pytest.mark.parametrize(
    ("age", "expected"),
    [
        (0.0, None),
        (0.99 * CONFIG.state_timeout, None),
        (1.01 * CONFIG.state_timeout, Violation.STATE_STALE),
        (100.0, Violation.STATE_STALE),
        (-0.99 * CONFIG.clock_tolerance, None),
        (-1.01 * CONFIG.clock_tolerance, Violation.STATE_FROM_FUTURE),
        (np.nan, Violation.STATE_STALE),
    ],
)
def test_state_age(supervisor: Supervisor, robot: Robot, age: float, expected: Violation | None) -> None:
    assert name(supervisor.state(robot.standing_state(NOW), NOW + age)) is expected


@pytest.mark.parametrize("angle", ["roll", "pitch"])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_tilt(supervisor: Supervisor, robot: Robot, angle: str, sign: float) -> None:
    state, limit = robot.standing_state(NOW), getattr(CONFIG, angle)
    assert supervisor.state(tilted(state, **{angle: sign * 0.98 * limit}), NOW) is None
    finding = supervisor.state(tilted(state, **{angle: sign * 1.02 * limit}), NOW)
    assert name(finding) is Violation.TILT
    assert angle in str(finding)


def test_yaw_is_free_and_upside_down_is_not(supervisor: Supervisor, robot: Robot) -> None:
    assert supervisor.state(tilted(robot.standing_state(NOW), yaw=3.0), NOW) is None
    assert name(supervisor.state(tilted(robot.standing_state(NOW), roll=np.pi), NOW)) is Violation.TILT


@pytest.mark.parametrize("scale", [0.0, 0.5, 2.0])
def test_an_orientation_that_is_no_rotation_is_found(supervisor: Supervisor, robot: Robot, scale: float) -> None:
    state = robot.standing_state(NOW)
    broken = dataclasses.replace(state, orientation=scale * state.orientation)
    assert name(supervisor.state(broken, NOW)) is Violation.ORIENTATION


@pytest.mark.parametrize("side", ["lower", "upper"])
def test_joint_positions(supervisor: Supervisor, robot: Robot, side: str) -> None:
    outward = 1.0 if side == "upper" else -1.0
    for joint in range(robot.n_joints):
        for share, expected in ((0.9, None), (1.1, Violation.JOINT_POSITION)):
            q = robot.standing.copy()
            q[joint] = getattr(robot, side)[joint] + outward * share * CONFIG.position_margin
            assert name(supervisor.state(state_at(robot.standing_state(), NOW, joint_positions=q), NOW)) is expected


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_joint_velocities(supervisor: Supervisor, robot: Robot, sign: float) -> None:
    for joint in range(robot.n_joints):
        for share, expected in ((0.99, None), (1.01, Violation.JOINT_VELOCITY)):
            v = np.zeros(robot.n_joints)
            v[joint] = sign * share * CONFIG.velocity_factor * robot.velocity_limits[joint]
            assert name(supervisor.state(state_at(robot.standing_state(), NOW, joint_velocities=v), NOW)) is expected


def test_commands(supervisor: Supervisor, robot: Robot) -> None:
    limits = robot.effort_limits
    assert supervisor.command(limits, -limits) is None
    for broken in NOT_NUMBERS:
        assert name(supervisor.command(limits * broken, limits)) is Violation.COMMAND_NOT_FINITE
        assert name(supervisor.command(limits, limits * broken)) is Violation.COMMAND_NOT_FINITE
    assert name(supervisor.command(1.01 * limits, limits)) is Violation.TORQUE
    assert name(supervisor.command(limits, -1.01 * limits)) is Violation.TORQUE


def test_the_first_of_several_violations_is_named_in_order(supervisor: Supervisor, robot: Robot) -> None:
    state = tilted(robot.standing_state(0.0), roll=2.0)
    assert name(supervisor.state(state, NOW)) is Violation.STATE_STALE
    state = dataclasses.replace(state, joint_positions=np.full(12, np.nan))
    assert name(supervisor.state(state, NOW)) is Violation.STATE_NOT_FINITE
    state = dataclasses.replace(state, position=np.zeros(2))
    assert name(supervisor.state(state, NOW)) is Violation.STATE_SIZE


def test_policy_age(supervisor: Supervisor, policy: Policy) -> None:
    assert supervisor.policy_age(policy, NOW) is None
    assert supervisor.policy_age(policy, NOW + 0.99 * CONFIG.policy_timeout) is None
    assert name(supervisor.policy_age(policy, NOW + 1.01 * CONFIG.policy_timeout)) is Violation.POLICY_STALE
    assert name(supervisor.policy_age(policy, np.nan)) is Violation.POLICY_STALE
    assert name(supervisor.policy_age(None, NOW)) is Violation.NO_POLICY
    short = dataclasses.replace(policy, times=NOW + 1e-5 * np.arange(len(policy.times)))
    assert name(supervisor.policy_age(short, NOW + 0.01)) is Violation.POLICY_OVER


def test_a_good_policy_is_admitted(gate: PolicyGate, policy: Policy) -> None:
    assert gate.check(policy, NOW, following=False) is None


@pytest.mark.parametrize("field", ["times", "states", "controls", "gains", "forces", "modes"])
@pytest.mark.parametrize("cut", [lambda a: a[1:], lambda a: a[..., :-1], lambda a: a[None]])
def test_policies_of_the_wrong_size_are_named(gate: PolicyGate, policy: Policy, field: str, cut) -> None:
    broken = unchecked_policy(policy, **{field: cut(getattr(policy, field))})
    assert name(gate.check(broken, NOW, following=False)) is Violation.POLICY_SIZE


def test_an_empty_policy_is_named(gate: PolicyGate, policy: Policy) -> None:
    empty = {field: getattr(policy, field)[:0] for field in ("controls", "gains", "modes", "forces")}
    broken = unchecked_policy(policy, times=policy.times[:1], states=policy.states[:1], **empty)
    assert name(gate.check(broken, NOW, following=False)) is Violation.POLICY_SIZE


@pytest.mark.parametrize("value", NOT_NUMBERS)
@pytest.mark.parametrize("field", ["times", "states", "controls", "gains", "forces"])
def test_policies_that_are_not_finite_are_named(gate: PolicyGate, policy: Policy, field: str, value: float) -> None:
    broken = getattr(policy, field).copy()
    broken.flat[broken.size // 2] = value
    found = gate.check(unchecked_policy(policy, **{field: broken}), NOW, following=False)
    assert name(found) is Violation.POLICY_NOT_FINITE
    assert field in str(found)


def test_a_policy_of_another_model_is_named(gate: PolicyGate, policy: Policy) -> None:
    other = dataclasses.replace(policy, model_hash=policy.model_hash + 1)
    assert name(gate.check(other, NOW, following=False)) is Violation.POLICY_MODEL


@pytest.mark.parametrize("sequence", [0, 6, 7])
@pytest.mark.parametrize("following", [False, True])
def test_sequences_must_increase(gate: PolicyGate, policy: Policy, sequence: int, following: bool) -> None:
    assert gate.check(policy, NOW, following) is None
    again = dataclasses.replace(policy, sequence=sequence)
    assert name(gate.check(again, NOW, following)) is Violation.POLICY_SEQUENCE
    assert gate.check(dataclasses.replace(policy, sequence=8), NOW, following) is None


def test_epochs_do_not_mix_while_following(gate: PolicyGate, policy: Policy) -> None:
    gate.check(policy, NOW, following=True)
    for epoch in (2, 4):
        other = dataclasses.replace(policy, epoch=epoch, sequence=8)
        assert name(gate.check(other, NOW, following=True)) is Violation.POLICY_EPOCH


def test_a_later_epoch_is_welcome_and_an_earlier_one_only_once_the_last_ran_out(
    gate: PolicyGate, policy: Policy, robot: Robot
) -> None:
    gate.check(policy, NOW, following=False)
    earlier = dataclasses.replace(policy, epoch=2)
    assert name(gate.check(earlier, NOW, following=False)) is Violation.POLICY_EPOCH
    later = bounding_policy(robot, NOW, sequence=0, epoch=4)
    assert gate.check(later, NOW, following=False) is None
    then = NOW + 1.0
    assert gate.check(bounding_policy(robot, then, sequence=0, epoch=0), then, following=False) is None


def test_a_restarted_planner_may_count_anew(gate: PolicyGate, policy: Policy, robot: Robot) -> None:
    gate.check(policy, NOW, following=False)
    then = NOW + 1.0
    restarted = bounding_policy(robot, then, sequence=0, epoch=policy.epoch)
    assert gate.check(restarted, then, following=False) is None


def test_refused_policies_leave_no_trace_in_the_order(gate: PolicyGate, policy: Policy) -> None:
    gate.check(policy, NOW, following=False)
    ahead = dataclasses.replace(policy, sequence=1000, model_hash=0)
    assert gate.check(ahead, NOW, following=False) is not None
    assert gate.check(dataclasses.replace(policy, sequence=8), NOW, following=False) is None


def test_policies_of_another_time_are_named(gate: PolicyGate, policy: Policy) -> None:
    late = NOW + 1.01 * CONFIG.policy_timeout
    assert name(gate.check(policy, late, following=False)) is Violation.POLICY_STALE
    early = NOW - CONFIG.policy_timeout - CONFIG.clock_tolerance - 0.001
    assert name(gate.check(policy, early, following=False)) is Violation.POLICY_FROM_FUTURE
    assert name(gate.check(policy, np.nan, following=False)) is Violation.POLICY_STALE
    short = dataclasses.replace(policy, times=NOW + 1e-5 * np.arange(len(policy.times)))
    assert name(gate.check(short, NOW + 0.01, following=False)) is Violation.POLICY_OVER


def test_policies_that_ask_for_more_than_the_joints_can_give_are_named(gate: PolicyGate, policy: Policy) -> None:
    limits = CONFIG.policy_torque_factor * np.array([34.0, 52.0, 34.0, 52.0])
    for sign in (-1.0, 1.0):
        for control, limit in enumerate(limits):
            controls = policy.controls.copy()
            controls[40, control] = sign * 1.01 * limit
            found = gate.check(dataclasses.replace(policy, controls=controls), NOW, following=False)
            assert name(found) is Violation.POLICY_TORQUE
            assert "knot 40" in str(found)
    fine = dataclasses.replace(policy, controls=np.tile(limits, (len(policy.controls), 1)))
    assert gate.check(fine, NOW, following=False) is None


@pytest.mark.parametrize(
    ("index", "limit"), [(1, CONFIG.policy_height), (2, CONFIG.policy_angle), (6, CONFIG.policy_angle)]
)
def test_policies_for_another_place_are_named(gate: PolicyGate, policy: Policy, index: int, limit: float) -> None:
    state = policy.states[0].copy()
    state[0] += 100.0
    assert gate.check(policy, NOW, following=False, state=state) is None, "where it runs to does not matter"
    state[index] += 1.01 * limit
    later = dataclasses.replace(policy, sequence=8)
    assert name(gate.check(later, NOW, following=False, state=state)) is Violation.POLICY_AWAY
    state[index] -= 0.02 * limit
    assert gate.check(later, NOW, following=False, state=state) is None


@pytest.mark.parametrize(("field", "limit"), [("linear_velocity", FASTEST_TRUNK), ("angular_velocity", FASTEST_TURN)])
def test_trunk_velocities(supervisor: Supervisor, robot: Robot, field: str, limit: float) -> None:
    for axis in range(3):
        for value, expected in ((0.99 * limit, None), (-1.01 * limit, Violation.TRUNK_VELOCITY)):
            state = dataclasses.replace(robot.standing_state(NOW), **{field: value * np.eye(3)[axis]})
            assert name(supervisor.state(state, NOW)) is expected


@pytest.mark.parametrize("field", ["times", "states", "gains", "forces"])
@pytest.mark.parametrize("value", [1e6, -1e6])
def test_plans_that_no_robot_could_follow_are_named(gate: PolicyGate, policy: Policy, field: str, value: float) -> None:
    broken = getattr(policy, field).copy()
    broken.flat[broken.size // 2] = value
    found = gate.check(unchecked_policy(policy, **{field: broken}), NOW, following=False)
    assert name(found) is Violation.POLICY_RANGE
