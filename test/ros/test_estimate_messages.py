"""Requests to the planner on the wire."""

import array

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rclpy.serialization import deserialize_message, serialize_message
from std_msgs.msg import Float64MultiArray

from contact_ddp_ros.base.errors import MessageError
from contact_ddp_ros.robot.ground import FootHeights, Ground, Payload, TerrainEstimate
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.ros.estimate_messages import (
    AIMS,
    MOVE,
    PlanRequest,
    RequestWriter,
    plan_request,
    plan_request_message,
)

STANDING = load_robot().standing_state()
SLOPES = st.floats(-1.0, 1.0)
GROUNDS = st.builds(Ground, height=st.floats(-100.0, 100.0), slope_x=SLOPES, slope_y=SLOPES)
HEIGHTS = st.tuples(*[st.floats(-1.0, 1.0)] * 4)
FEET = st.none() | st.builds(FootHeights, HEIGHTS, HEIGHTS)
PLACES = st.floats(-1.0, 1.0)
PAYLOADS = st.none() | st.builds(Payload, st.floats(-10.0, 50.0), PLACES, PLACES, PLACES)
FELT = st.builds(
    TerrainEstimate,
    st.none() | GROUNDS,
    st.floats(-1e3, 1e3),
    FEET,
    st.floats(0.0, 1.0),
    PAYLOADS,
    st.none() | st.floats(0.0, 1.0),
)


@given(st.integers(0, 2**31 * 1_000_000_000 - 1), st.sampled_from(AIMS), FELT)
def test_a_request_survives_the_wire(stamp: int, aim: str, felt: TerrainEstimate) -> None:
    request = PlanRequest(stamp, aim, STANDING, felt)
    wire = RequestWriter().message(request)
    assert deserialize_message(wire, Float64MultiArray) == plan_request_message(request)
    assert len(wire) == len(serialize_message(plan_request_message(request)))
    back = plan_request(wire)
    assert (back.stamp, back.aim, back.felt) == (stamp, aim, felt)
    for name in ("position", "orientation", "linear_velocity", "angular_velocity", "joint_positions"):
        np.testing.assert_array_equal(getattr(back.state, name), getattr(STANDING, name))
    np.testing.assert_array_equal(back.state.joint_velocities, STANDING.joint_velocities)


@pytest.mark.parametrize(
    ("slot", "value", "words"),
    [
        (0, 1.0, "schema is 1 in slot 0; allowed: whole numbers from 5 to 5"),
        (1, -1.0, "stamp is -1"),
        (2, 1e9, r"stamp is 1e\+09"),
        (3, 3.0, "aim is 3"),
        (3, 0.5, "aim is 0.5"),
        (5, np.nan, "position is nan"),
        (10, 2.0, "norm"),
        (41, np.nan, "advance is nan"),
        (42, 0.5, "ground is 0.5"),
        (46, -0.01, "roughness is -0.01"),
        (46, np.nan, "roughness is nan"),
        (47, 0.5, "feet is 0.5"),
        (48, np.inf, "feet is inf"),
        (55, 1e3, "feet is 1000 in slot 55; allowed: from -100 to 100"),
        (56, 0.5, "payload is 0.5"),
        (57, 51.0, "payload is 51"),
        (61, 2.0, "drive_inertia is 2"),
        (62, -1e-3, "drive_inertia is -0.001"),
        (60, np.nan, "payload is nan"),
    ],
)
def test_a_damaged_request_is_refused(slot: int, value: float, words: str) -> None:
    message = plan_request_message(PlanRequest(12, MOVE, STANDING))
    message.data[slot] = value
    with pytest.raises(MessageError, match=words):
        plan_request(serialize_message(message))


@pytest.mark.parametrize(("slot", "value"), [(43, np.inf), (43, 1e3), (44, 1.5), (45, np.nan)])
def test_a_ground_that_cannot_be_is_refused(slot: int, value: float) -> None:
    message = plan_request_message(PlanRequest(12, MOVE, STANDING, TerrainEstimate(Ground(), 0.0)))
    message.data[slot] = value
    with pytest.raises(MessageError, match="ground is"):
        plan_request(serialize_message(message))


@pytest.mark.parametrize("length", [0, 4, 40])
def test_a_truncated_request_is_refused(length: int) -> None:
    message = plan_request_message(PlanRequest(12, MOVE, STANDING))
    message.data = array.array("d", message.data[:length])
    with pytest.raises(MessageError, match="numbers"):
        plan_request(serialize_message(message))
