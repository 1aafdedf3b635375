"""Bags that are written and read back."""

import errno
import os
import time as clock
from pathlib import Path

import numpy as np
import pytest
from ros_graph import PATIENCE, NodeMaker

from contact_ddp_ros.base.errors import ReplayError
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.policy import Policy
from contact_ddp_ros.robot.state import BodyPose
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.bag import BagWriter, recorded_solves
from contact_ddp_ros.ros.estimate_messages import MOVE, PlanRequest, plan_request_message
from contact_ddp_ros.ros.policy_message import policy_message
from contact_ddp_ros.ros.reports import OK, status
from contact_ddp_ros.ros.runtime import publisher

BEGIN = 1_700_000_000_000_000_000
"""Stamp of the first request: bags of a robot have the stamps of the wall clock [ns]."""

PERIOD = 10_000_000
"""Time between two [ns]."""


def written(folder: Path, make_node: NodeMaker, topics: tuple[io.Topic, ...] = io.REPLAYED) -> Path:
    """A bag of two requests, a plan for the second, and reports on three solves."""
    node, robot = make_node("writer", namespace="dog"), load_robot()
    outlets = {topic.name: publisher(node, topic) for topic in topics}
    report = {
        "speed": 0.5,
        "left": 0.0,
        "turn": 0.0,
        "height": 0.22,
        "roll": 0.0,
        "pitch": -0.1,
        "hold": False,
        "gait": "bound",
        "gait_start": BEGIN - 5 * PERIOD,
        "solve_ms": 2.0,
        "allowed": 7,
        "ok": True,
    }
    messages: list[tuple[io.Topic, object]] = []
    for k in range(2):
        request = PlanRequest(BEGIN + k * PERIOD, MOVE, robot.standing_state())
        messages.append((io.PLAN_REQUEST, plan_request_message(request)))
    for k in range(3):
        values = {"time": 0.0, "stamp": BEGIN + k * PERIOD, **report}
        messages.append((io.SOLVES, status("planner", OK, "fine", values)))
    times = 0.01 + np.array([0.0, 0.5])
    policy = Policy(times, np.zeros((2, 14)), np.ones((1, 4)), np.zeros((1, 4, 14)), np.zeros(1, int), np.zeros((1, 4)))
    messages.append((io.POLICY, policy_message(policy, BEGIN + PERIOD, BEGIN)))
    with BagWriter(folder, node, topics):
        deadline = clock.monotonic() + PATIENCE
        while any(outlet.get_subscription_count() == 0 for outlet in outlets.values()):
            assert clock.monotonic() < deadline
            clock.sleep(0.01)
        for topic, message in messages:
            if topic in topics:
                outlets[topic.name].publish(message)
                outlets[topic.name].wait_for_all_acked()
                clock.sleep(0.01)  # of those that keep the newest only, each is to be written
        clock.sleep(0.3)
    return folder


def test_what_was_written_is_read_back_in_seconds_since_the_first_request(tmp_path: Path, make_node: NodeMaker) -> None:
    solves, missing = recorded_solves(written(tmp_path / "bag", make_node))
    assert [one.state.time for one in solves] == [0.0, 0.01]
    assert missing == 1
    assert all((one.speed, one.hold, one.gait_start, one.solve_time) == (0.5, False, -0.05, 0.002) for one in solves)
    assert all(one.allowed == 7 and one.pose == BodyPose(0.22, 0.0, -0.1) for one in solves)
    assert solves[0].policy is None and solves[0].ok
    assert solves[1].policy is not None and (solves[1].policy.controls == 1.0).all()
    assert solves[1].policy.start == 0.01
    np.testing.assert_array_equal(solves[0].state.joint_positions, load_robot().standing)


def test_bags_that_cannot_be_replayed_say_why(tmp_path: Path, make_node: NodeMaker) -> None:
    with pytest.raises(ReplayError, match="no bag"):
        recorded_solves(tmp_path / "nothing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ReplayError, match="cannot read"):
        recorded_solves(tmp_path / "empty")
    poor = written(tmp_path / "poor", make_node, (io.PLAN_REQUEST, io.POLICY))
    with pytest.raises(ReplayError, match=r"holds none for the topic planner/solves"):
        recorded_solves(poor)
    with pytest.raises(ReplayError, match="cannot write"):
        BagWriter(poor, make_node("again"))


FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def fail(*_arguments: object) -> None:
    raise FULL


def test_a_disk_that_is_full_while_it_records_is_an_error_and_the_bag_is_not_whole(
    make_node: NodeMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("contact_ddp_ros.ros.bag.Writer.write", fail)
    with pytest.raises(ReplayError, match=r"bag.* is not whole: .*No space left"):
        written(tmp_path / "bag", make_node)
    with pytest.raises(ReplayError, match="cannot read the bag"):
        recorded_solves(tmp_path / "bag")


def test_a_disk_that_is_full_when_the_bag_is_closed_is_an_error(
    make_node: NodeMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("contact_ddp_ros.ros.bag.Writer.close", fail)
    with pytest.raises(ReplayError, match="is not whole"), BagWriter(tmp_path / "bag", make_node("writer")):
        pass
    with pytest.raises(ValueError, match="its own"), BagWriter(tmp_path / "other", make_node("other")):
        raise ValueError("its own")
