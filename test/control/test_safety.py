import dataclasses

import numpy as np
import pytest

from contact_ddp_ros.control.config import SafetyConfig
from contact_ddp_ros.control.safety import Supervisor, ViolationKind
from contact_ddp_ros.robot.ground import Ground
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.policy import Policy
from contact_ddp_ros.robot.rotation import rpy_to_quaternion

from .support import bounding_policy, state_at, tilted, violation

CONFIG = SafetyConfig()
NOW = 5.0
ARRAYS = ("position", "orientation", "linear_velocity", "angular_velocity", "joint_positions", "joint_velocities")
NOT_NUMBERS = (np.nan, np.inf, -np.inf)


@pytest.fixture
def supervisor(robot: Robot) -> Supervisor:
    return Supervisor(robot, CONFIG)


@pytest.fixture
def policy(robot: Robot) -> Policy:
    return bounding_policy(robot, NOW, sequence=7, epoch=3)


def test_a_standing_robot_passes(supervisor: Supervisor, robot: Robot) -> None:
    assert supervisor.state(robot.standing_state(NOW), NOW) is None


def test_no_state_is_named(supervisor: Supervisor) -> None:
    assert violation(supervisor.state(None, NOW)) is ViolationKind.NO_STATE


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
        assert violation(finding) is ViolationKind.STATE_NOT_FINITE
        assert field in str(finding)


@pytest.mark.parametrize("value", NOT_NUMBERS)
def test_a_stamp_that_is_not_finite_is_found(supervisor: Supervisor, robot: Robot, value: float) -> None:
    assert violation(supervisor.state(robot.standing_state(value), NOW)) is ViolationKind.STATE_NOT_FINITE


@pytest.mark.parametrize("field", ARRAYS)
@pytest.mark.parametrize("change", [lambda a: a[:-1], lambda a: np.append(a, 0.0), lambda a: a[None], lambda a: None])
def test_every_wrong_size_is_found(supervisor: Supervisor, robot: Robot, field: str, change) -> None:
    state = robot.standing_state(NOW)
    finding = supervisor.state(dataclasses.replace(state, **{field: change(getattr(state, field))}), NOW)
    assert violation(finding) is ViolationKind.STATE_SIZE
    assert field in str(finding)


@pytest.mark.parametrize(
    ("age", "expected"),
    [
        (0.0, None),
        (0.99 * CONFIG.state_timeout, None),
        (1.01 * CONFIG.state_timeout, ViolationKind.STATE_STALE),
        (100.0, ViolationKind.STATE_STALE),
        (-0.99 * CONFIG.clock_tolerance, None),
        (-1.01 * CONFIG.clock_tolerance, ViolationKind.STATE_FROM_FUTURE),
        (np.nan, ViolationKind.STATE_STALE),
    ],
)
def test_state_age(supervisor: Supervisor, robot: Robot, age: float, expected: ViolationKind | None) -> None:
    assert violation(supervisor.state(robot.standing_state(NOW), NOW + age)) is expected


@pytest.mark.parametrize("angle", ["roll", "pitch"])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_tilt(supervisor: Supervisor, robot: Robot, angle: str, sign: float) -> None:
    state, limit = robot.standing_state(NOW), getattr(CONFIG, angle)
    assert supervisor.state(tilted(state, **{angle: sign * 0.98 * limit}), NOW) is None
    finding = supervisor.state(tilted(state, **{angle: sign * 1.02 * limit}), NOW)
    assert violation(finding) is ViolationKind.TILT
    assert angle in str(finding)


def test_yaw_is_free_and_upside_down_is_not(supervisor: Supervisor, robot: Robot) -> None:
    assert supervisor.state(tilted(robot.standing_state(NOW), yaw=3.0), NOW) is None
    assert violation(supervisor.state(tilted(robot.standing_state(NOW), roll=np.pi), NOW)) is ViolationKind.TILT


@pytest.mark.parametrize("scale", [0.0, 0.5, 2.0])
def test_an_orientation_that_is_no_rotation_is_found(supervisor: Supervisor, robot: Robot, scale: float) -> None:
    state = robot.standing_state(NOW)
    broken = dataclasses.replace(state, orientation=scale * state.orientation)
    assert violation(supervisor.state(broken, NOW)) is ViolationKind.ORIENTATION


@pytest.mark.parametrize("side", ["lower", "upper"])
def test_joint_positions(supervisor: Supervisor, robot: Robot, side: str) -> None:
    outward = 1.0 if side == "upper" else -1.0
    for joint in range(robot.n_joints):
        for share, expected in ((0.9, None), (1.1, ViolationKind.JOINT_POSITION)):
            q = robot.standing.copy()
            q[joint] = getattr(robot, side)[joint] + outward * share * CONFIG.position_margin
            assert (
                violation(supervisor.state(state_at(robot.standing_state(), NOW, joint_positions=q), NOW)) is expected
            )


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_joint_velocities(supervisor: Supervisor, robot: Robot, sign: float) -> None:
    for joint in range(robot.n_joints):
        for share, expected in ((0.99, None), (1.01, ViolationKind.JOINT_VELOCITY)):
            v = np.zeros(robot.n_joints)
            v[joint] = sign * share * CONFIG.velocity_factor * robot.velocity_limits[joint]
            supervisor.state(state_at(robot.standing_state(), NOW), NOW)
            assert velocity_finding(supervisor, robot, v, 0.0) is None, "one sample fells nobody"
            assert velocity_finding(supervisor, robot, v, 0.9 * CONFIG.velocity_time) is None
            assert velocity_finding(supervisor, robot, v, 1.01 * CONFIG.velocity_time) is expected
        v[joint] = sign * 2.1 * CONFIG.velocity_factor * robot.velocity_limits[joint]
        supervisor.state(state_at(robot.standing_state(), NOW), NOW)
        assert velocity_finding(supervisor, robot, v, 0.0) is ViolationKind.JOINT_VELOCITY, "that cannot be true"


def velocity_finding(supervisor: Supervisor, robot: Robot, v: np.ndarray, later: float) -> ViolationKind | None:
    now = NOW + later
    return violation(supervisor.state(state_at(robot.standing_state(), now, joint_velocities=v), now))


def test_a_joint_that_slows_down_in_time_is_forgiven(supervisor: Supervisor, robot: Robot) -> None:
    fast = 1.1 * CONFIG.velocity_factor * robot.velocity_limits
    for later, v in ((0.0, fast), (0.01, 0.1 * fast), (0.02, fast), (0.03, fast)):
        assert velocity_finding(supervisor, robot, v, later) is None
    assert velocity_finding(supervisor, robot, fast, 0.041) is ViolationKind.JOINT_VELOCITY


@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize(
    ("moved", "torque", "allowed"),
    [
        (1.0, 0.0, CONFIG.coasting_time),
        (1.0, -1.0, CONFIG.coasting_time),
        (1.0, 0.01, CONFIG.velocity_time),
        (0.0, 0.0, CONFIG.velocity_time),
        (0.3, 0.0, CONFIG.velocity_time),
        (-1.0, 0.0, CONFIG.velocity_time),
    ],
)
def test_a_joint_that_is_thrown_has_longer_than_one_that_is_driven_or_untrue(
    robot: Robot, sign: float, moved: float, torque: float, allowed: float
) -> None:
    for joint in range(robot.n_joints):
        supervisor = Supervisor(robot, dataclasses.replace(CONFIG, position_margin=1.0))
        v = sign * 1.3 * CONFIG.velocity_factor * robot.velocity_limits * (np.arange(robot.n_joints) == joint)
        found = []
        for k in range(100):
            q, now = robot.standing + moved * 0.001 * k * v, NOW + 0.001 * k
            state = state_at(robot.standing_state(), now, joint_positions=q, joint_velocities=v)
            torques = sign * torque * robot.effort_limits
            found.append(violation(supervisor.state(state, now, moving=True, torques=torques)))
        first = next(k for k, one in enumerate(found) if one is not None)
        assert found[first] is ViolationKind.JOINT_VELOCITY
        assert first == pytest.approx(1e3 * allowed, abs=1.1)


def test_no_motion_confirms_a_velocity_that_alternates(supervisor: Supervisor, robot: Robot) -> None:
    fast = 1.1 * CONFIG.velocity_factor * robot.velocity_limits
    found = [velocity_finding(supervisor, robot, fast * (-1.0) ** k, 0.002 * k) for k in range(12)]
    assert found[:10] == [None] * 10 and found[11] is ViolationKind.JOINT_VELOCITY


@pytest.mark.parametrize("slope", [-0.2, 0.2])
def test_tilt_counts_against_the_ground(supervisor: Supervisor, robot: Robot, slope: float) -> None:
    pitch = -np.arctan(slope) - np.sign(slope) * 0.95 * CONFIG.pitch
    state = dataclasses.replace(robot.standing_state(), time=NOW, orientation=rpy_to_quaternion(0.0, pitch, 0.0))
    assert violation(supervisor.state(state, NOW)) is ViolationKind.TILT
    assert supervisor.state(state, NOW, Ground(slope_x=slope)) is None


def test_a_robot_that_moves_may_come_back_from_beyond_the_limits(supervisor: Supervisor, robot: Robot) -> None:
    def found(roll: float, now: float, moving: bool = True) -> ViolationKind | None:
        return violation(supervisor.state(tilted(robot.standing_state(now), roll=roll), now, moving=moving))

    beyond, time = 1.2 * CONFIG.roll, CONFIG.tilt_time
    assert found(beyond, NOW) is None and found(-beyond, NOW + 0.9 * time) is None
    assert found(beyond, NOW + 1.01 * time) is ViolationKind.TILT
    assert found(0.9 * CONFIG.roll, NOW + 1.02 * time) is None
    assert found(beyond, NOW + 1.03 * time) is None, "the time counts anew"
    assert found(beyond, NOW + 1.03 * time, moving=False) is ViolationKind.TILT
    assert found(1.91 * CONFIG.roll, NOW + 1.03 * time) is ViolationKind.TILT


def test_a_leg_of_a_robot_that_moves_may_be_thrown_against_its_stop(supervisor: Supervisor, robot: Robot) -> None:
    def found(beyond: float, now: float, moving: bool = True) -> ViolationKind | None:
        q = robot.standing.copy()
        q[3] = robot.lower[3] - beyond * CONFIG.position_margin
        return violation(supervisor.state(state_at(robot.standing_state(), now, joint_positions=q), now, moving=moving))

    time = CONFIG.position_time
    assert found(2.0, NOW) is None and found(4.9, NOW + 0.9 * time) is None
    assert found(2.0, NOW + 1.01 * time) is ViolationKind.JOINT_POSITION
    assert found(0.9, NOW + 1.02 * time) is None
    assert found(2.0, NOW + 1.03 * time) is None, "the time counts anew"
    assert found(2.0, NOW + 1.03 * time, moving=False) is ViolationKind.JOINT_POSITION
    assert found(5.1, NOW + 1.03 * time) is ViolationKind.JOINT_POSITION, "no stop gives way so far"


def test_a_robot_may_get_up_from_a_joint_pressed_against_its_stop(supervisor: Supervisor, robot: Robot) -> None:
    def found(beyond: float, rising: bool, joint: int = 3) -> ViolationKind | None:
        q = robot.standing.copy()
        q[joint] = robot.lower[joint] - beyond * CONFIG.position_margin
        return violation(supervisor.state(state_at(robot.standing_state(), NOW, joint_positions=q), NOW, rising=rising))

    assert found(2.0, rising=True) is ViolationKind.JOINT_POSITION, "it has not lain there"
    assert found(2.0, rising=False) is ViolationKind.JOINT_POSITION, "a robot that stands does not press it there"
    assert found(2.0, rising=True) is None and found(2.4, rising=True) is None
    assert found(2.6, rising=True) is ViolationKind.JOINT_POSITION, "it goes further"
    assert found(1.2, rising=True, joint=6) is ViolationKind.JOINT_POSITION, "another one"
    assert found(0.9, rising=True) is None
    assert found(2.0, rising=True) is ViolationKind.JOINT_POSITION, "it has come back before"
    assert found(5.1, rising=False) is ViolationKind.JOINT_POSITION
    assert found(5.1, rising=True) is ViolationKind.JOINT_POSITION, "no stop gives way so far"


def test_commands(supervisor: Supervisor, robot: Robot) -> None:
    limits = robot.effort_limits
    assert supervisor.command(limits, -limits) is None
    for broken in NOT_NUMBERS:
        assert violation(supervisor.command(limits * broken, limits)) is ViolationKind.COMMAND_NOT_FINITE
        assert violation(supervisor.command(limits, limits * broken)) is ViolationKind.COMMAND_NOT_FINITE
    assert violation(supervisor.command(1.01 * limits, limits)) is ViolationKind.TORQUE
    assert violation(supervisor.command(limits, -1.01 * limits)) is ViolationKind.TORQUE


def test_the_first_of_several_violations_is_named_in_order(supervisor: Supervisor, robot: Robot) -> None:
    state = tilted(robot.standing_state(0.0), roll=2.0)
    assert violation(supervisor.state(state, NOW)) is ViolationKind.STATE_STALE
    state = dataclasses.replace(state, joint_positions=np.full(12, np.nan))
    assert violation(supervisor.state(state, NOW)) is ViolationKind.STATE_NOT_FINITE
    state = dataclasses.replace(state, position=np.zeros(2))
    assert violation(supervisor.state(state, NOW)) is ViolationKind.STATE_SIZE


@pytest.mark.parametrize(
    ("field", "limit"), [("linear_velocity", CONFIG.trunk_speed), ("angular_velocity", CONFIG.trunk_turn_rate)]
)
def test_trunk_velocities(supervisor: Supervisor, robot: Robot, field: str, limit: float) -> None:
    for axis in range(3):
        for value, expected in ((0.99 * limit, None), (-1.01 * limit, ViolationKind.TRUNK_VELOCITY)):
            state = dataclasses.replace(robot.standing_state(NOW), **{field: value * np.eye(3)[axis]})
            assert violation(supervisor.state(state, NOW)) is expected
