"""States of a robot's own driver: parts of joints at rates and stamps of their own become one state."""

import numpy as np
import pytest

from contact_ddp_ros.plants.driver_streams import Joined, JoinedStreams, Stream

MS = 1_000_000


def test_a_stream_is_linear_between_its_samples_and_begins_anew_when_its_clock_is_set_back() -> None:
    stream = Stream()
    for stamp in (10, 20, 30):
        stream.put(stamp * MS, np.array([float(stamp)]))
    assert stream.at(24 * MS) == pytest.approx([24.0])
    assert stream.at(30 * MS) == [30.0]
    assert stream.at(0) == [10.0], "the oldest one"
    stream.put(25 * MS, np.array([99.0]))
    assert stream.at(24 * MS) == pytest.approx([24.0]), "late, and there is a newer one"
    stream.put(2 * MS, np.array([7.0]))
    assert stream.latest == 2 * MS


def joined(
    streams: JoinedStreams, stamp: float, names: list[str], scale: float = 1.0, **parts: list[float]
) -> Joined | None:
    motion = {"positions": [scale * stamp] * len(names), "velocities": [scale] * len(names), "efforts": []} | parts
    return streams.joints("/joint_states", names, round(stamp * MS), **motion)


def test_halves_at_different_stamps_are_joined_at_the_instant_that_both_have_reached() -> None:
    streams = JoinedStreams(["a", "b", "c"], 1, 2 * MS)
    assert streams.missing == ["a", "b", "c"]
    assert joined(streams, 10.0, ["gripper", "b", "a"]) is None
    assert streams.missing == ["c"] and streams.ignored == {"gripper"}
    assert joined(streams, 10.5, ["c"]) is None, "no sample of the other stream"
    state = streams.other(0, round(9.0 * MS), np.array([9.0]))
    assert state is not None and state.stamp == 9 * MS
    assert joined(streams, 12.0, ["gripper", "b", "a"]) is None, "the others are still where they were"
    assert joined(streams, 12.5, ["c"]) is None
    state = streams.other(0, round(11.0 * MS), np.array([11.0]))
    assert state is not None and state.stamp == 11 * MS
    np.testing.assert_allclose(state.positions, 11.0)
    np.testing.assert_allclose(state.others[0], 11.0)
    assert np.isnan(state.efforts).all()
    assert streams.other(0, round(11.5 * MS), np.array([11.5])) is None, "sooner than asked for"


def test_a_driver_that_starts_again_in_another_order_is_heard() -> None:
    streams = JoinedStreams(["a", "b"], 0, MS)
    assert joined(streams, 1.0, ["a", "b"]) is not None
    assert joined(streams, 2.0, ["b", "a"]) is None, "told by another"
    assert joined(streams, 3.0, ["a", "b"]) is not None
    state = joined(streams, 200.0, ["b", "a"], positions=[4.0, 3.0])
    assert state is not None and state.positions.tolist() == [3.0, 4.0]


def test_velocities_that_are_not_told_are_differences_and_joints_told_twice_count_once() -> None:
    streams = JoinedStreams(["a", "b"], 0, MS)
    assert joined(streams, 1.0, ["a", "b"], velocities=[], efforts=[3.0, 4.0]) is not None
    state = joined(streams, 3.0, ["a", "b"], 2.0, velocities=[], efforts=[3.0, 4.0])
    assert state is not None
    np.testing.assert_allclose(state.velocities, (6.0 - 1.0) / 0.002)
    np.testing.assert_allclose(state.efforts, [3.0, 4.0])
    assert joined(streams, 4.0, ["b"], 9.0) is None
    state = joined(streams, 5.0, ["a", "b"], 2.0)
    assert state is not None and state.positions[1] == 10.0
