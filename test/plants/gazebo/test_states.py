"""Pairing by stamp in any order, and velocities from poses."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plants.gazebo.messages import STEP, joint_states, odometry

from contact_ddp_ros.base.errors import MessageError
from contact_ddp_ros.plants.gazebo.states import Measurement, StateReader
from contact_ddp_ros.robot.joints import JOINT_NAMES


def begun(stamp: int = 0, **motion: object) -> StateReader:
    """A reader that has heard both messages of an instant, which make no state alone."""
    reader = StateReader()
    assert tell(reader, stamp, **motion) == []
    return reader


def tell(reader: StateReader, stamp: int, joints_first: bool = True, **motion: object) -> list[Measurement]:
    """Both messages of an instant; what came of them."""
    calls = [lambda: reader.joints(joint_states(stamp)), lambda: reader.odometry(odometry(stamp, **motion))]
    found = [call() for call in (calls if joints_first else calls[::-1])]
    return [measurement for measurement in found if measurement is not None]


@given(st.lists(st.booleans(), min_size=2, max_size=20))
def test_each_instant_gives_one_state_whichever_message_comes_first(orders: list[bool]) -> None:
    reader = begun()
    for step, joints_first in enumerate(orders, start=1):
        (measurement,) = tell(reader, step * STEP, joints_first)
        assert measurement.stamp == step * STEP
        assert measurement.state.time == pytest.approx(1e-3 * step)
        assert measurement.state.joint_positions[0] == pytest.approx(1e-3 * step)
        assert not measurement.restarted


@given(st.permutations([(kind, step) for kind in "jo" for step in range(1, 7)]))
def test_messages_of_different_instants_are_never_joined(news: list[tuple[str, int]]) -> None:
    """Each topic keeps its order, as a transport does; between the topics everything may happen."""
    topics = {"j": iter(range(1, 7)), "o": iter(range(1, 7))}
    reader, stamps = begun(), []
    for kind, _ in news:
        stamp = next(topics[kind]) * STEP
        read = reader.joints(joint_states(stamp)) if kind == "j" else reader.odometry(odometry(stamp, (1.0, 0.0, 0.0)))
        if read is not None:
            stamps.append(read.stamp)
            assert read.state.joint_positions[0] == pytest.approx(1e-9 * read.stamp)
            assert read.state.position[0] == pytest.approx(1e-9 * read.stamp)
    assert stamps == sorted(stamps) == [step * STEP for step in range(1, 7)]


def test_repeats_while_time_stands_are_no_news() -> None:
    reader = begun()
    assert len(tell(reader, STEP)) == 1
    for _ in range(3):
        assert reader.joints(joint_states(STEP)) is None
        assert reader.odometry(odometry(STEP)) is None
    assert reader.joint_stamp == STEP


@pytest.mark.parametrize("joints_first", [True, False])
def test_a_jump_back_is_a_new_beginning(joints_first: bool) -> None:
    reader = StateReader()
    for step in range(5, 8):
        tell(reader, step * STEP)
    reader.joints(joint_states(0))  # while time stands there is no odometry
    reader.joints(joint_states(STEP))  # nor at the first step
    assert tell(reader, 2 * STEP, joints_first) == [], "no difference across the jump"
    (measurement,) = tell(reader, 3 * STEP, joints_first)
    assert measurement.restarted
    assert measurement.stamp == 3 * STEP
    assert np.abs(measurement.state.linear_velocity).max() == pytest.approx(0.0, abs=1e-12)
    (measurement,) = tell(reader, 4 * STEP, joints_first)
    assert not measurement.restarted
    assert np.abs(measurement.state.linear_velocity).max() == pytest.approx(0.0, abs=1e-12)


def test_a_lost_half_costs_one_state_only() -> None:
    reader = begun()
    tell(reader, STEP)
    reader.joints(joint_states(2 * STEP))
    (measurement,) = tell(reader, 3 * STEP, velocity=(0.3, 0.0, 0.0))
    assert measurement.stamp == 3 * STEP
    assert measurement.state.linear_velocity[0] == pytest.approx(0.3 * 3 / 2), "the first was at zero speed"


@given(
    st.tuples(*[st.floats(-3.0, 3.0)] * 3),
    st.floats(-8.0, 8.0),
    st.integers(1, 5),
)
def test_velocities_are_those_of_the_motion(velocity: tuple[float, float, float], turn: float, gap: int) -> None:
    reader = begun(10 * STEP, velocity=velocity, turn=turn)
    (measurement,) = tell(reader, (10 + gap) * STEP, velocity=velocity, turn=turn)
    state = measurement.state
    heading = turn * 1e-9 * measurement.stamp
    cosine, sine = math.cos(heading), math.sin(heading)
    x, y, z = velocity
    np.testing.assert_allclose(state.linear_velocity, [cosine * x + sine * y, -sine * x + cosine * y, z], atol=1e-6)
    np.testing.assert_allclose(state.angular_velocity, [0.0, 0.0, turn], atol=1e-6)


def test_the_twist_counts_where_it_is_asked_for_once_its_mean_is_of_the_robots_motion_alone() -> None:
    """The server's first sample is the way from the origin, which stays in its mean for ten messages."""
    reader = StateReader(differences=False)
    for beginning in (0, 500 * STEP, STEP):  # the start, a gap, a reset
        told = [tell(reader, beginning + step * STEP) for step in range(12)]
        assert told[0] == []
        speeds = [one[0].state.linear_velocity[0] for one in told[1:]]
        assert np.abs(speeds[:9]).max() == 0.0
        assert speeds[9:] == [99.0, 99.0]


def test_a_trunk_high_above_the_origin_does_not_begin_at_its_height_over_a_step() -> None:
    """A server after its start: the robot hangs at 0.42 m, and the first twist says 421.5 m/s."""
    reader = StateReader()
    found = []
    for step in range(2, 6):
        reader.joints(joint_states(step * STEP))
        message = odometry(step * STEP)
        message.pose.position.z, message.twist.linear.z = 0.4215, 421.5 / (step - 1)
        found.append(reader.odometry(message))
    assert found[0] is None
    for measurement in found[1:]:
        assert measurement is not None
        np.testing.assert_allclose(measurement.state.linear_velocity, 0.0, atol=1e-12)


def test_joints_are_told_apart_by_name() -> None:
    reader = begun()
    reader.joints(joint_states(STEP, ("wheel", *JOINT_NAMES[::-1])))
    measurement = reader.odometry(odometry(STEP))
    assert measurement is not None
    np.testing.assert_allclose(measurement.state.joint_velocities, -np.arange(12.0))
    with pytest.raises(MessageError, match=JOINT_NAMES[3]):
        reader.joints(joint_states(2 * STEP, (*JOINT_NAMES[:3], *JOINT_NAMES[4:])))


def test_garbage_is_refused_and_what_follows_is_read() -> None:
    reader = begun()
    tell(reader, STEP)
    poisoned = joint_states(2 * STEP)
    poisoned.joint[4].axis1.velocity = math.nan
    with pytest.raises(MessageError, match="finite"):
        reader.joints(poisoned)
    for damage in ("position", "orientation"):
        broken = odometry(2 * STEP)
        getattr(broken.pose, damage).x = math.inf
        with pytest.raises(MessageError, match="finite"):
            StateReader().odometry(broken)
    bent = odometry(2 * STEP)
    bent.pose.orientation.w = 1.1
    with pytest.raises(MessageError, match=r"norm 1\.1"):
        reader.odometry(bent)
    assert reader.odometry(odometry(2 * STEP)) is None
    assert len(tell(reader, 3 * STEP)) == 1
