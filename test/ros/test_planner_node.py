"""The planner's node without a loop: what it answers to a request."""

import itertools
import time as clock
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import Pose, Quaternion
from rclpy.parameter import Parameter
from rclpy.serialization import serialize_message
from ros_graph import BUILDING, NodeMaker
from std_msgs.msg import Float64MultiArray

from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.ros import planner_node
from contact_ddp_ros.ros.estimate_messages import AIMS, HOLD, MOVE, PlanRequest, RequestWriter
from contact_ddp_ros.ros.node_config import PlannerNodeConfig
from contact_ddp_ros.ros.parameters import NodeParameters
from contact_ddp_ros.ros.plan_views import path_message, plan_markers
from contact_ddp_ros.ros.planner_node import PlannerNode
from contact_ddp_ros.ros.policy_message import DATA_OFFSET, PolicyAnswer, policy_answer
from contact_ddp_ros.ros.timebase import ClockPace

PERIOD = 10_000_000
WALL = 1_800_000_000_123_456_789


class Planner:
    """Requests go in, policies come out."""

    def __init__(self, make_node: NodeMaker, name: str) -> None:
        node = make_node(name)
        self.node = PlannerNode(node, NodeParameters(node, PlannerNodeConfig()))
        self.node._lockstep = True  # all iterations, however slow the machine
        self.node._policies = self
        self.answers: list[Float64MultiArray] = []

    def publish(self, message: Float64MultiArray) -> None:
        self.answers.append(message)

    def ask(self, stamp: int, aim: str, height: float = 0.0) -> PolicyAnswer:
        state = load_robot().standing_state()
        state.position[2] += height
        self.node._on_request(RequestWriter().message(PlanRequest(stamp, aim, state)))
        self.node._solve(self.node._wanted)
        return policy_answer(self.answers[-1], stamp)


@pytest.fixture
def make_planner(make_node: NodeMaker) -> "type[Planner]":
    return lambda name: Planner(make_node, name)


def test_plans_do_not_depend_on_where_the_clock_is(make_planner: "type[Planner]") -> None:
    """The same states at any time give the same plan to the last bit."""
    plans = []
    for name, begin in (("early", 0), ("late", WALL)):
        planner = make_planner(name)
        aims = [HOLD, HOLD, *[MOVE] * 20]
        heights = 1e-3 * np.sin(np.arange(len(aims)))
        plans.append([planner.ask(begin + k * PERIOD, aim, heights[k]).policy for k, aim in enumerate(aims)])
        rows = [np.array(message.data[DATA_OFFSET:]) for message in planner.answers]
        plans[-1] = list(zip(plans[-1], rows, strict=True))
    for (early, early_rows), (late, late_rows) in zip(*plans, strict=True):
        assert early is not None and late is not None
        np.testing.assert_array_equal(early_rows, late_rows)
        np.testing.assert_array_equal(early.times, late.times)


def test_an_answer_carries_the_stamp_and_begins_at_the_state(make_planner: "type[Planner]") -> None:
    planner = make_planner("stamps")
    for k in range(3):
        answer = planner.ask(WALL + k * PERIOD, MOVE)
        assert answer.stamp == WALL + k * PERIOD
        assert answer.policy is not None and answer.policy.start == pytest.approx(0.0, abs=1e-9)


def test_a_clock_that_is_set_back_is_followed(make_planner: "type[Planner]") -> None:
    """As where a simulator is started again: its time is before the planner's first stamp."""
    planner = make_planner("set_back")
    planner.ask(5_000_000_000, HOLD)
    answer = planner.ask(PERIOD, HOLD)
    assert answer.stamp == PERIOD and answer.policy is not None
    state = load_robot().standing_state(-4.99)
    assert plan_markers(answer.policy, state, load_robot(), origin=5_000_000_000).markers
    assert path_message(answer.policy, state, load_robot(), origin=5_000_000_000).poses


def test_a_damaged_request_is_refused_and_the_next_one_answered(make_planner: "type[Planner]") -> None:
    planner = make_planner("damaged")
    planner.node._on_request(serialize_message(Float64MultiArray()))
    assert planner.node._wanted is None
    assert planner.ask(WALL, AIMS[0]).policy is not None


def test_the_gait_may_change_while_it_plans(make_planner: "type[Planner]", tmp_path: Path) -> None:
    """By its parameter, at the end of a cycle; a gait that is not for the grid is refused and changes nothing."""
    odd = tmp_path / "odd.yaml"
    odd.write_text("period: 0.355\nstances: {fr: [0, 0.4], fl: [0, 0.4], hr: [0.5, 0.9], hl: [0.5, 0.9]}\n")
    planner = make_planner("changing")
    node = planner.node.node
    planner.node._parameters.connect(planner.node.configure)
    planner.ask(WALL, HOLD)
    planner.ask(WALL + PERIOD, MOVE)
    refused = node.set_parameters([Parameter("gait.name", value=str(odd))])[0]
    assert not refused.successful and "whole number of steps" in refused.reason
    assert node.set_parameters([Parameter("gait.name", value="pronk")])[0].successful
    modes = [planner.ask(WALL + k * PERIOD, MOVE).policy.modes for k in range(2, 80)]
    assert max(modes[0]) < 4, "the bound's four modes only"
    assert min(modes[-1]) >= 4, "all of the pronk"


GOING_ON = "period: 0.4\nstances: {fr: [0, 0.4], fl: [0.1, 0.5], hr: [0.5, 0.8], hl: [0.4, 0.9]}\n"


def test_a_gait_that_has_to_be_compiled_is_accepted_at_once_and_taken_over_later(
    make_planner: "type[Planner]", tmp_path: Path
) -> None:
    """Other parameters of the same change apply at once, and the planner goes on with the present gait."""
    (tmp_path / "mine.yaml").write_text(GOING_ON)
    planner = make_planner("compiling")
    node, planner.node._lockstep = planner.node, False
    node._parameters.connect(node.configure)
    planner.ask(WALL, HOLD)
    ready = node.node.set_parameters([Parameter("gait.name", value="bound"), Parameter("weight.pitch", value=21.0)])
    assert all(result.successful for result in ready)
    wanted = [Parameter("gait.name", value=str(tmp_path / "mine.yaml")), Parameter("weight.pitch", value=22.0)]
    assert node.node.set_parameters_atomically(wanted).successful
    assert node._planner.config.gait.name == "bound" and node._planner.config.weight.pitch == 22.0
    assert node.report()[2]["compiling"] == str(tmp_path / "mine.yaml")
    modes, stamp = [], WALL
    deadline = clock.monotonic() + BUILDING
    while not modes or min(modes[-1]) < 4:
        stamp += PERIOD
        answer = planner.ask(stamp, MOVE)
        assert answer.policy is not None, "it goes on"
        modes.append(answer.policy.modes)
        assert clock.monotonic() < deadline
    assert max(modes[0]) < 4, "the bound's four modes only"
    assert node._planner.config.gait.name == str(tmp_path / "mine.yaml")
    assert node.report()[2]["compiling"] == ""


class Reports(list[dict[str, str]]):
    """What is said of solves."""

    def publish(self, message: DiagnosticStatus) -> None:
        self.append({one.key: one.value for one in message.values})


def test_the_trunk_is_held_as_told_and_a_pose_that_is_none_changes_nothing(make_planner: "type[Planner]") -> None:
    planner = make_planner("posed")
    planner.node._reports = reports = Reports()
    told = Pose()
    told.position.z, told.orientation.y, told.orientation.w = 0.22, float(np.sin(0.1)), float(np.cos(0.1))
    heights = []
    for k, pose in enumerate((Pose(), told, Pose(orientation=Quaternion(w=0.0)))):
        planner.node._on_body_pose(pose)
        planner.ask(WALL, HOLD)
        for later in range(1, 50):
            policy = planner.ask(WALL + (100 * k + later) * PERIOD, MOVE).policy
        assert policy is not None
        heights.append(policy.states[:, 2].mean())
    assert max(heights[1:]) < heights[0] - 0.02
    said = [tuple(float(report[name]) for name in ("height", "roll", "pitch")) for report in reports[::50]]
    assert said == [pytest.approx(one) for one in ((0.27, 0.0, 0.0), (0.22, 0.0, 0.2), (0.22, 0.0, 0.2))]


@pytest.mark.parametrize("simulated", [True, False])
def test_where_a_simulator_is_slow_a_solve_may_take_longer(
    make_planner: "type[Planner]", monkeypatch: pytest.MonkeyPatch, simulated: bool
) -> None:
    """Solves of 40 ms and requests every 120 ms, 10 ms apart on the clock of their stamps."""
    planner = make_planner("slow")
    instants = itertools.count(clock.perf_counter() + 1e4, 0.04)  # far behind the planner's deadlines
    monkeypatch.setattr(planner_node, "clock", SimpleNamespace(perf_counter=lambda: next(instants)))
    planner.node._lockstep, planner.node._pace = False, ClockPace(simulated)
    for k in range(20):
        planner.ask(k * PERIOD, MOVE if k else HOLD)
    assert (planner.node._planner.config.rate == 100.0) == simulated
