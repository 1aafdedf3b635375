"""Policies on the wire: exact round trip, documented layout, and no damaged one gets through."""

import array
import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rclpy.serialization import deserialize_message, serialize_message
from std_msgs.msg import Float64MultiArray

from contact_ddp_ros.base.errors import MessageError, PolicyError
from contact_ddp_ros.robot.attitude import Chart
from contact_ddp_ros.robot.ground import Ground
from contact_ddp_ros.robot.policy import Policy
from contact_ddp_ros.ros.policy_message import (
    DATA_OFFSET,
    STATUS_FAILED,
    no_policy_message,
    policy_answer,
    policy_message,
    serialised_policy_answer,
)

SLOTS = (
    *("schema", "sequence", "epoch", "stamp_sec", "stamp_nanosec", "status", "nodes", "n_x", "n_u", "n_f"),
    *("model_high", "model_low", "start_sec", "start_nanosec", "columns"),
)
SLOT = {name: index for index, name in enumerate(SLOTS)}
STAMP = 12_345_678_912
INSTANTS = st.integers(0, (2**31 - 1_000_000) * 1_000_000_000)
"""Stamps [ns] of simulations and of the wall clock, with room for the times of a policy behind them."""

ARRAYS = ("times", "states", "controls", "gains", "modes", "forces")


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    n, n_x, n_u, n_f = (draw(st.integers(1, top)) for top in (12, 36, 12, 12))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    start = draw(st.floats(0.0, 1e5))
    steps = random.choice([0.0, 0.001, 0.004], n)
    return Policy(
        times=start + np.concatenate([[0.0], np.cumsum(steps)]),
        states=random.normal(size=(n + 1, n_x)),
        controls=random.normal(size=(n, n_u)),
        gains=random.normal(size=(n, n_u, n_x)),
        modes=random.integers(0, 4, n),
        forces=random.normal(size=(n, n_f)),
        sequence=draw(st.integers(0, 2**53 - 1)),
        epoch=draw(st.integers(0, 2**53 - 1)),
        model_hash=draw(st.integers(0, 2**63 - 1)),
        ground=Ground(slope_x=draw(st.floats(-1.0, 1.0))),
        advance=draw(st.floats(-100.0, 100.0)),
    )


def some_policy() -> Policy:
    times = np.array([0.1, 0.104, 0.108])
    states = np.arange(42.0).reshape(3, 14)
    controls, gains = np.ones((2, 4)), np.ones((2, 4, 14))
    ground = Ground(height=-0.0175, friction=0.4, slope_x=0.1, slope_y=-0.2)
    return Policy(times, states, controls, gains, np.array([1, 2]), np.zeros((2, 4)), 7, 3, 2**62 + 5, ground, -0.04)


@given(policies(), INSTANTS, INSTANTS)
def test_a_policy_survives_the_wire(policy: Policy, stamp: int, origin: int) -> None:
    wire = serialize_message(policy_message(policy, stamp, origin))
    answer = policy_answer(deserialize_message(wire, Float64MultiArray), origin)
    back = answer.policy
    assert back is not None
    raw = serialised_policy_answer(wire, origin).policy
    assert raw is not None and all((getattr(raw, name) == getattr(back, name)).all() for name in ARRAYS)
    assert answer.stamp == stamp
    np.testing.assert_allclose(back.times, policy.times, rtol=0.0, atol=1e-9)
    np.testing.assert_array_equal(np.diff(back.times) > 0.0, np.diff(policy.times) > 0.0)
    for name in ("states", "controls", "gains", "modes", "forces"):
        np.testing.assert_array_equal(getattr(back, name), getattr(policy, name))
    assert (back.ground, back.advance) == (policy.ground, policy.advance)
    assert (back.sequence, back.epoch, back.model_hash) == (policy.sequence, policy.epoch, policy.model_hash)


def test_the_layout_is_the_documented_one() -> None:
    policy = some_policy()
    message = policy_message(policy, STAMP)
    offset, width = message.layout.data_offset, 2 + 14 + 4 + 4 * 14 + 4
    assert offset == DATA_OFFSET == len(SLOTS) + 6 == 21
    assert [dimension.size for dimension in message.layout.dim] == [3, width]
    assert [dimension.stride for dimension in message.layout.dim] == [3 * width, width]
    header = dict(zip(SLOTS, message.data[:offset]))
    assert list(message.data[len(SLOTS) : offset]) == [-0.0175, 0.4, 0.1, -0.2, -0.04, 0.0]
    assert (header["sequence"], header["epoch"], header["status"], header["nodes"]) == (7, 3, 0, 2)
    assert int(header["model_high"]) * 2**32 + int(header["model_low"]) == policy.model_hash
    assert (header["start_sec"], header["start_nanosec"]) == (0, 100_000_000)
    rows = np.array(message.data[offset:]).reshape(3, width)
    np.testing.assert_allclose(rows[:, 0], [0.0, 0.004, 0.008], atol=1e-12)
    np.testing.assert_array_equal(rows[:, 1], [1, 2, 2])
    np.testing.assert_array_equal(rows[:, 2:16], policy.states)
    assert not rows[-1, 16:].any()


def test_the_chart_of_the_attitude_survives_and_an_unknown_one_is_refused() -> None:
    policy = dataclasses.replace(some_policy(), chart=Chart.YAW_ROLL_PITCH)
    message = policy_message(policy, STAMP)
    answer = policy_answer(message)
    assert answer.policy is not None and answer.policy.chart is Chart.YAW_ROLL_PITCH
    for unknown in (2.0, 0.5, float("nan")):
        message.data[DATA_OFFSET - 1] = unknown
        with pytest.raises(MessageError, match="chart"):
            policy_answer(message)


@given(INSTANTS)
def test_the_word_that_there_is_no_policy_survives(stamp: int) -> None:
    wire = serialize_message(no_policy_message(stamp, STATUS_FAILED, 2**62))
    answer = policy_answer(deserialize_message(wire, Float64MultiArray))
    assert answer.policy is None
    assert answer.status == STATUS_FAILED
    assert answer.stamp == stamp


def _damaged(slot: str, value: float) -> Float64MultiArray:
    message = policy_message(some_policy(), STAMP)
    message.data[SLOT[slot]] = value
    return message


@pytest.mark.parametrize(
    ("slot", "value", "words"),
    [
        ("schema", 1.0, "schema is 1"),
        ("nodes", 3.0, "nodes"),
        ("nodes", 0.0, "nodes"),
        ("nodes", 1e15, "nodes"),
        ("n_x", 13.0, "n_x = 13"),
        ("n_u", 5.0, "n_u = 5"),
        ("columns", 81.0, "81 columns"),
        ("sequence", -1.0, "allowed: whole numbers"),
        ("epoch", 0.5, "allowed: whole numbers"),
        ("stamp_sec", math.nan, "allowed: whole numbers"),
        ("model_low", math.inf, "allowed: whole numbers"),
    ],
)
def test_a_damaged_header_is_refused(slot: str, value: float, words: str) -> None:
    with pytest.raises(MessageError, match=words):
        policy_answer(_damaged(slot, value))


@pytest.mark.parametrize("length", [0, 14, 15, 17, 100])
def test_a_truncated_message_is_refused(length: int) -> None:
    message = policy_message(some_policy(), STAMP)
    message.data = array.array("d", message.data[:length])
    with pytest.raises(MessageError):
        policy_answer(message)


def test_a_wrong_offset_is_refused() -> None:
    message = policy_message(some_policy(), STAMP)
    message.layout.data_offset = 14
    with pytest.raises(MessageError, match="14"):
        policy_answer(message)


@pytest.mark.parametrize(("column", "value"), [(0, 1.0), (1, 0.5), (1, math.nan), (2, math.nan), (20, math.inf)])
def test_rows_that_are_no_policy_are_refused(column: int, value: float) -> None:
    message = policy_message(some_policy(), STAMP)
    message.data[DATA_OFFSET + column] = value
    with pytest.raises(PolicyError):
        policy_answer(message)


@pytest.mark.parametrize("cut", [5, 20, 100, 1000])
def test_serialised_messages_that_end_too_soon_are_refused(cut: int) -> None:
    wire = serialize_message(policy_message(some_policy(), STAMP))
    with pytest.raises(MessageError):
        serialised_policy_answer(wire[:cut])
