import contextlib
import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contact_ddp_ros.base.errors import PolicyError
from contact_ddp_ros.control.config import SafetyConfig
from contact_ddp_ros.control.policy_validator import PolicyValidator
from contact_ddp_ros.control.safety import ViolationKind
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel
from contact_ddp_ros.robot.policy import NUMBERS, Policy
from contact_ddp_ros.robot.state import RobotState

from .support import bounding_policy, unchecked_policy, violation

CONFIG = SafetyConfig()
NOW = 5.0
NOT_NUMBERS = (np.nan, np.inf, -np.inf)


@pytest.fixture
def gate(robot: Robot) -> PolicyValidator:
    return PolicyValidator(WholeBodyModel(robot), robot.model_hash, CONFIG)


@pytest.fixture
def policy(robot: Robot) -> Policy:
    return bounding_policy(robot, NOW, sequence=7, epoch=3)


def test_a_good_policy_is_admitted(gate: PolicyValidator, policy: Policy) -> None:
    assert gate.check(policy, NOW, following=False) is None


@pytest.mark.parametrize("field", ["times", "states", "controls", "gains", "forces", "modes"])
@pytest.mark.parametrize("cut", [lambda a: a[1:], lambda a: a[..., :-1], lambda a: a[None]])
def test_policies_of_the_wrong_size_are_named(gate: PolicyValidator, policy: Policy, field: str, cut) -> None:
    broken = unchecked_policy(policy, **{field: cut(getattr(policy, field))})
    assert violation(gate.check(broken, NOW, following=False)) is ViolationKind.POLICY_SIZE


def test_an_empty_policy_is_named(gate: PolicyValidator, policy: Policy) -> None:
    empty = {field: getattr(policy, field)[:0] for field in ("controls", "gains", "modes", "forces")}
    broken = unchecked_policy(policy, times=policy.times[:1], states=policy.states[:1], **empty)
    assert violation(gate.check(broken, NOW, following=False)) is ViolationKind.POLICY_SIZE


@pytest.mark.parametrize("value", NOT_NUMBERS)
@pytest.mark.parametrize("field", ["times", "states", "controls", "gains", "forces"])
def test_policies_that_are_not_finite_are_named(
    gate: PolicyValidator, policy: Policy, field: str, value: float
) -> None:
    broken = getattr(policy, field).copy()
    broken.flat[broken.size // 2] = value
    found = gate.check(unchecked_policy(policy, **{field: broken}), NOW, following=False)
    assert violation(found) is ViolationKind.POLICY_NOT_FINITE
    assert field in str(found)


def test_a_policy_of_another_model_is_named(gate: PolicyValidator, policy: Policy) -> None:
    other = dataclasses.replace(policy, model_hash=policy.model_hash + 1)
    assert violation(gate.check(other, NOW, following=False)) is ViolationKind.POLICY_MODEL


@pytest.mark.parametrize("sequence", [0, 6, 7])
@pytest.mark.parametrize("following", [False, True])
def test_sequences_must_increase(gate: PolicyValidator, policy: Policy, sequence: int, following: bool) -> None:
    assert gate.check(policy, NOW, following) is None
    again = dataclasses.replace(policy, sequence=sequence)
    assert violation(gate.check(again, NOW, following)) is ViolationKind.POLICY_SEQUENCE
    assert gate.check(dataclasses.replace(policy, sequence=8), NOW, following) is None


def test_epochs_do_not_mix_while_following(gate: PolicyValidator, policy: Policy) -> None:
    gate.check(policy, NOW, following=True)
    for epoch in (2, 4):
        other = dataclasses.replace(policy, epoch=epoch, sequence=8)
        assert violation(gate.check(other, NOW, following=True)) is ViolationKind.POLICY_EPOCH


def test_a_later_epoch_is_welcome_and_an_earlier_one_only_once_the_last_ran_out(
    gate: PolicyValidator, policy: Policy, robot: Robot
) -> None:
    gate.check(policy, NOW, following=False)
    earlier = dataclasses.replace(policy, epoch=2)
    assert violation(gate.check(earlier, NOW, following=False)) is ViolationKind.POLICY_EPOCH
    later = bounding_policy(robot, NOW, sequence=0, epoch=4)
    assert gate.check(later, NOW, following=False) is None
    then = NOW + 1.0
    assert gate.check(bounding_policy(robot, then, sequence=0, epoch=0), then, following=False) is None


def test_a_restarted_planner_may_count_anew(gate: PolicyValidator, policy: Policy, robot: Robot) -> None:
    gate.check(policy, NOW, following=False)
    then = NOW + 1.0
    restarted = bounding_policy(robot, then, sequence=0, epoch=policy.epoch)
    assert gate.check(restarted, then, following=False) is None


def test_refused_policies_leave_no_trace_in_the_order(gate: PolicyValidator, policy: Policy) -> None:
    gate.check(policy, NOW, following=False)
    ahead = dataclasses.replace(policy, sequence=1000, model_hash=0)
    assert gate.check(ahead, NOW, following=False) is not None
    assert gate.check(dataclasses.replace(policy, sequence=8), NOW, following=False) is None


def test_policies_of_another_time_are_named(gate: PolicyValidator, policy: Policy) -> None:
    late = NOW + 1.01 * CONFIG.policy_timeout
    assert violation(gate.check(policy, late, following=False)) is ViolationKind.POLICY_STALE
    early = NOW - CONFIG.policy_timeout - CONFIG.clock_tolerance - 0.001
    assert violation(gate.check(policy, early, following=False)) is ViolationKind.POLICY_FROM_FUTURE
    assert violation(gate.check(policy, np.nan, following=False)) is ViolationKind.POLICY_OVER
    short = dataclasses.replace(policy, times=NOW + 1e-5 * np.arange(len(policy.times)))
    assert violation(gate.check(short, NOW + 0.01, following=False)) is ViolationKind.POLICY_OVER
    assert gate.check(policy, late, following=True) is None, "better than the one before it"


def test_policies_that_ask_for_more_than_the_joints_can_give_are_named(gate: PolicyValidator, policy: Policy) -> None:
    limits = CONFIG.policy_torque_factor * np.tile([17.0, 17.0, 26.0], 4)
    for sign in (-1.0, 1.0):
        for control, limit in enumerate(limits):
            controls = policy.controls.copy()
            controls[40, control] = sign * 1.01 * limit
            found = gate.check(dataclasses.replace(policy, controls=controls), NOW, following=False)
            assert violation(found) is ViolationKind.POLICY_TORQUE
            assert "knot 40" in str(found)
    fine = dataclasses.replace(policy, controls=np.tile(limits, (len(policy.controls), 1)))
    assert gate.check(fine, NOW, following=False) is None


@pytest.mark.parametrize(
    ("index", "limit"), [(2, CONFIG.policy_height), (4, CONFIG.policy_angle), (8, CONFIG.policy_angle)]
)
def test_policies_for_another_place_are_named(gate: PolicyValidator, policy: Policy, index: int, limit: float) -> None:
    robot = load_robot()
    model, x = WholeBodyModel(robot), policy.states[0].copy()

    def measured() -> RobotState:
        return model.robot_state(x, robot.standing_state())

    x[0] += 100.0
    assert gate.check(policy, NOW, following=False, state=measured()) is None, "where it runs to does not matter"
    x[index] += 1.01 * limit
    later = dataclasses.replace(policy, sequence=8)
    assert violation(gate.check(later, NOW, following=False, state=measured())) is ViolationKind.POLICY_AWAY
    x[index] -= 0.02 * limit
    assert gate.check(later, NOW, following=False, state=measured()) is None


@pytest.mark.parametrize(
    ("field", "column", "limit"),
    [
        ("gains", (1, 3), CONFIG.policy_gain),
        ("forces", 2, CONFIG.policy_force),
        ("states", 20, CONFIG.policy_velocity),
    ],
)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_numbers_that_no_robot_could_follow_are_named(
    gate: PolicyValidator, policy: Policy, field: str, column: int | tuple[int, int], limit: float, sign: float
) -> None:
    for share, expected in ((1.001, ViolationKind.POLICY_RANGE), (0.999, None)):
        broken = getattr(policy, field).copy()
        broken[len(broken) // 2][column] = sign * share * limit
        found = gate.check(unchecked_policy(policy, **{field: broken}), NOW, following=False)
        assert violation(found) is expected


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_plans_that_jump_from_knot_to_knot_are_named(gate: PolicyValidator, policy: Policy, sign: float) -> None:
    for share, expected in ((1.001, ViolationKind.POLICY_RANGE), (0.9, None)):
        broken = policy.states.copy()
        broken[len(broken) // 2 :, 4] += sign * share * CONFIG.policy_step
        found = gate.check(unchecked_policy(policy, states=broken), NOW, following=False)
        assert violation(found) is expected


def test_plans_that_run_back_in_time_or_leave_gaps_are_named(gate: PolicyValidator, policy: Policy) -> None:
    middle = len(policy.times) // 2
    for step, expected in (
        (-1e-6, ViolationKind.POLICY_RANGE),
        (0.999 * CONFIG.policy_knot, None),
        (1.001 * CONFIG.policy_knot, ViolationKind.POLICY_RANGE),
    ):
        broken = policy.times.copy()
        broken[middle:] += step - (broken[middle] - broken[middle - 1])
        gate.forget()
        found = gate.check(unchecked_policy(policy, times=broken), NOW, following=False)
        assert violation(found) is expected


@settings(deadline=None)
@given(
    st.sampled_from(NUMBERS),
    st.integers(0, 2**16),
    st.floats() | st.sampled_from([1.0, 34.0, 52.0, 1e3, 1e4]),
    st.booleans(),
)
def test_all_checks_at_once_say_the_same_as_those_that_name(field: str, at: int, value: float, many: bool) -> None:
    robot = load_robot()
    gate, policy = PolicyValidator(WholeBodyModel(robot), robot.model_hash, CONFIG), None
    good = bounding_policy(robot, NOW)
    values = np.full_like(getattr(good, field), value) if many else getattr(good, field).copy()
    values.flat[at % values.size] = value
    broken = unchecked_policy(good, **{field: values})
    named = gate._finite(broken) or gate._range(broken) or gate._torque(broken)
    assert gate._is_fine(broken) == (named is None)
    with contextlib.suppress(PolicyError):
        policy = dataclasses.replace(good, **{field: values})
    ordered = bool((broken.times[1:] >= broken.times[:-1]).all())
    assert (policy is not None) == (gate._finite(broken) is None and ordered)


def test_lateness(gate: PolicyValidator, policy: Policy) -> None:
    assert gate.lateness(policy, NOW) is None
    assert gate.lateness(policy, NOW + 0.99 * CONFIG.policy_timeout) is None
    assert violation(gate.lateness(policy, NOW + 1.01 * CONFIG.policy_timeout)) is ViolationKind.POLICY_STALE
    assert violation(gate.lateness(policy, np.nan)) is ViolationKind.POLICY_OVER
    assert violation(gate.lateness(None, NOW)) is ViolationKind.NO_POLICY
    short = dataclasses.replace(policy, times=NOW + 1e-5 * np.arange(len(policy.times)))
    assert violation(gate.lateness(short, NOW + 0.01)) is ViolationKind.POLICY_OVER


@pytest.mark.parametrize("failed", [False, True])
def test_a_planner_that_fails_meanwhile_is_not_taken_for_a_slow_one(
    gate: PolicyValidator, robot: Robot, failed: bool
) -> None:
    """The same policies 50 ms apart, with and without a solve in between that gave none."""
    for sequence in range(20):
        now = NOW + 0.05 * sequence
        if failed:
            gate.missed()
        assert gate.check(bounding_policy(robot, now, sequence=sequence, epoch=3), now, following=True) is None
    assert gate.pace.period == pytest.approx(CONFIG.planner_period if failed else 0.05, rel=0.03)


def test_a_pause_between_two_policies_is_not_the_planners(gate: PolicyValidator, robot: Robot) -> None:
    for sequence, now in enumerate((NOW, NOW + 10.0)):
        assert gate.check(bounding_policy(robot, now, sequence=sequence, epoch=3), now, following=False) is None
    assert gate.pace.period == CONFIG.planner_period
