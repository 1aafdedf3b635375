"""The robot's conventions are ours, but for quaternions: shown by Cheetah-Software's own kinematics."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lcm_frames import ROBOT, N, estimate_frame, leg_frame, random_state
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import LinkError
from contact_ddp_ros.plants.lcm import conventions
from contact_ddp_ros.plants.lcm.codec import (
    CHEETAH_SOFTWARE,
    LAYOUTS,
    PD_TAU_TARGETS,
    WALK_THESE_WAYS,
    Frame,
    Layout,
    decode,
    encode,
)
from contact_ddp_ros.robot.rotation import quaternion_to_matrix
from contact_ddp_ros.robot.state import DriveGains, JointCommand, RobotState

Array = NDArray[np.float64]
SEEDS = st.integers(0, 2**32 - 1)
ABAD, THIGH, SHANK, KNEE_OFFSET = 0.062, 0.209, 0.195, 0.004
"""Lengths of a leg as Cheetah-Software has them [m]."""
RIGHT_LEGS = (-1.0, 1.0, -1.0, 1.0)
FLOAT = 1e-5
"""What single precision leaves of numbers of this size."""


def cheetah_software_feet(q: Array) -> Array:
    """Its forward kinematics: a leg's foot from its abduction joint, legs in the order FR, FL, HR, HL."""
    feet = []
    for side, (abad, hip, knee) in zip(RIGHT_LEGS, q.reshape(4, 3)):
        forward = THIGH * np.sin(hip) + SHANK * np.sin(hip + knee)
        down = THIGH * np.cos(hip) + SHANK * np.cos(hip + knee)
        out = side * (ABAD + KNEE_OFFSET)
        feet.append(
            [forward, out * np.cos(abad) + down * np.sin(abad), out * np.sin(abad) - down * np.cos(abad)],
        )
    return np.array(feet)


def decoded(state: RobotState, layout: Layout = CHEETAH_SOFTWARE, **changes: object) -> tuple[Frame, Frame]:
    legs = {name: value for name, value in changes.items() if name in ("q", "qd", "p", "v")}
    trunk = {name: value for name, value in changes.items() if name not in legs}
    return (
        decode(leg_frame(state, layout, **legs), [layout.leg_data]),
        decode(estimate_frame(state, layout, **trunk), [layout.estimate]),
    )


@given(SEEDS)
def test_joints_have_the_order_signs_and_zeros_of_the_robot(seed: int) -> None:
    q = np.random.default_rng(seed).uniform(-3.0, 3.0, N)
    np.testing.assert_allclose(conventions.feet_in_leg_frames(ROBOT, q), cheetah_software_feet(q), atol=1e-9)


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@given(seed=SEEDS)
def test_a_state_survives_the_way_through_frames(layout: Layout, seed: int) -> None:
    state = random_state(seed)
    back = conventions.robot_state(*decoded(state, layout), state.time)
    for name in RobotState.__dataclass_fields__:
        np.testing.assert_allclose(getattr(back, name), getattr(state, name), atol=FLOAT)


@given(SEEDS)
def test_frames_mean_what_the_robot_means_by_them(seed: int) -> None:
    state = random_state(seed)
    legs, trunk = decoded(state, WALK_THESE_WAYS)
    np.testing.assert_allclose(legs.array("p").reshape(4, 3), cheetah_software_feet(state.joint_positions), atol=FLOAT)
    h = 1e-6
    later = cheetah_software_feet(state.joint_positions + h * state.joint_velocities)
    earlier = cheetah_software_feet(state.joint_positions - h * state.joint_velocities)
    np.testing.assert_allclose(legs.array("v").reshape(4, 3), (later - earlier) / (2.0 * h), atol=1e-3)
    w, x, y, z = trunk.array("quat")
    rotation = quaternion_to_matrix(np.array([x, y, z, w]))
    np.testing.assert_allclose(trunk.array("vWorld"), rotation @ state.linear_velocity, atol=FLOAT)
    np.testing.assert_allclose(trunk.array("omegaWorld"), rotation @ state.angular_velocity, atol=FLOAT)
    np.testing.assert_allclose(trunk.array("aWorld"), rotation @ trunk.array("aBody"), atol=FLOAT)


@given(SEEDS)
def test_a_robot_of_our_conventions_agrees(seed: int) -> None:
    assert conventions.disagreement(ROBOT, *decoded(random_state(seed))) is None


def _joint(index: int, factor: float, offset: float = 0.0) -> Array:
    q = random_state(4).joint_positions.copy()
    q[index] = factor * q[index] + offset
    return q


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"q": _joint(1, -1.0)}, "fr_foot"),
        ({"q": _joint(5, 1.0, 0.1)}, "fl_foot"),
        ({"q": _joint(9, -1.0)}, "hl_foot"),
        ({"q": random_state(4).joint_positions.reshape(4, 3)[[1, 0, 3, 2]].ravel()}, "order, sign or zero"),
        ({"quat": random_state(4).orientation}, "roll, pitch, yaw"),
        ({"quat": np.roll(random_state(4).orientation, 1) * [1, -1, -1, -1]}, "roll, pitch, yaw"),
        ({"vWorld": random_state(4).linear_velocity}, "velocity in the world"),
    ],
)
def test_a_robot_of_other_conventions_is_found_out(changes: dict[str, Array], words: str) -> None:
    found = conventions.disagreement(ROBOT, *decoded(random_state(4), **changes))
    assert found is not None
    assert words in found


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"q": np.zeros(N), "qd": np.zeros(N)}, "does not read its drives"),
        ({"p": np.zeros(3), "vBody": np.zeros(3)}, "estimates no position"),
        ({"quat": np.zeros(4)}, "norm 0.0000"),
        ({"quat": np.array([1.1, 0.0, 0.0, 0.0])}, "norm 1.1000"),
    ],
)
def test_what_was_never_filled_in_is_no_state(changes: dict[str, Array], words: str) -> None:
    state = random_state(5)
    legs = {name: value for name, value in changes.items() if np.size(value) == N}
    trunk = {name: value for name, value in changes.items() if np.size(value) != N}
    frames = (
        decode(leg_frame(state, **legs), [CHEETAH_SOFTWARE.leg_data]),
        decode(estimate_frame(state, **trunk), [CHEETAH_SOFTWARE.estimate]),
    )
    with pytest.raises(LinkError, match=words):
        conventions.robot_state(*frames, 0.0)


@given(SEEDS)
def test_a_command_survives_the_way_through_targets(seed: int) -> None:
    random = np.random.default_rng(seed)
    command = JointCommand(*random.normal(size=(3, N)))
    gains = DriveGains(*random.uniform(0.1, 50.0, (3, N)))
    frame = decode(encode(PD_TAU_TARGETS, conventions.target_values(command, gains)), [PD_TAU_TARGETS])
    back, executed = conventions.joint_command(frame)
    for name in ("positions", "velocities", "torques"):
        np.testing.assert_array_equal(getattr(back, name), getattr(command, name))
    np.testing.assert_array_equal(executed.kp, gains.kp)
    np.testing.assert_array_equal(executed.kd, gains.kd)


def test_damping_survives_the_way_through_targets() -> None:
    gains = DriveGains(np.full(N, 30.0), np.full(N, 0.5), np.full(N, 2.5))
    values = conventions.target_values(JointCommand.damping(N), gains)
    back, executed = conventions.joint_command(decode(encode(PD_TAU_TARGETS, values), [PD_TAU_TARGETS]))
    assert back.positions is None
    assert not executed.kp.any()
    np.testing.assert_array_equal(executed.kd_damping, gains.kd_damping)


def test_a_negative_gain_is_refused() -> None:
    values = {"kp": np.full(N, 1.0), "kd": np.full(N, -0.1)}
    with pytest.raises(LinkError, match="negative gain"):
        conventions.joint_command(decode(encode(PD_TAU_TARGETS, values), [PD_TAU_TARGETS]))
