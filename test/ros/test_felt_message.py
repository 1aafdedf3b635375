"""What the feet feel on the wire, and who gets it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rclpy.serialization import deserialize_message, serialize_message
from std_msgs.msg import Float64MultiArray

from contact_ddp_ros.base.errors import MessageError
from contact_ddp_ros.robot.ground import Ground
from contact_ddp_ros.ros.estimate_messages import FeltReport, felt_message, felt_report

FORCES = np.arange(12.0).reshape(4, 3)
FOOTHOLDS = 0.1 * np.arange(6.0).reshape(2, 3)
GROUNDS = st.none() | st.builds(Ground, height=st.floats(-100.0, 100.0), slope_x=st.floats(-1.0, 1.0))
CONTACTS = st.tuples(*[st.booleans()] * 4)


def message(footholds: np.ndarray = FOOTHOLDS) -> Float64MultiArray:
    return felt_message(FeltReport(12, (True, False, False, True), FORCES, Ground(height=0.1), footholds))


@given(st.integers(0, 2**31 * 1_000_000_000 - 1), CONTACTS, GROUNDS, st.integers(0, 20))
def test_a_report_survives_the_wire(stamp: int, contacts: tuple[bool, ...], ground: Ground | None, count: int) -> None:
    footholds = np.arange(3.0 * count).reshape(count, 3)
    wire = serialize_message(felt_message(FeltReport(stamp, contacts, FORCES, ground, footholds)))
    back = felt_report(deserialize_message(wire, Float64MultiArray))
    assert (back.stamp, back.contacts, back.ground) == (stamp, contacts, ground)
    np.testing.assert_array_equal(back.forces, FORCES)
    np.testing.assert_array_equal(back.footholds, footholds)


@pytest.mark.parametrize(
    ("slot", "value", "words"),
    [
        (0, 2.0, "schema is 2 in slot 0; allowed: whole numbers from 1 to 1"),
        (3, 0.5, "ground is 0.5"),
        (4, 1e9, "ground is"),
        (5, 7.0, "ground is 7"),
        (8, 3.0, "contacts"),
        (12, np.inf, "forces is inf"),
        (-1, np.nan, "finite"),
    ],
)
def test_a_damaged_report_is_refused(slot: int, value: float, words: str) -> None:
    damaged = message()
    damaged.data[slot] = value
    with pytest.raises(MessageError, match=words):
        felt_report(damaged)


@pytest.mark.parametrize("length", [0, 7, 22, 24])
def test_a_report_of_another_length_is_refused(length: int) -> None:
    damaged = message(np.zeros((0, 3)))
    damaged.data = list(damaged.data)[:length] + [0.0] * max(0, length - 23)
    with pytest.raises(MessageError, match=f"has {length} numbers"):
        felt_report(damaged)
