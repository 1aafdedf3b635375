"""The controller's node without a loop: which state is answered by what."""

import copy
import re

import numpy as np
import pytest
from rclpy.parameter import Parameter
from rclpy.serialization import deserialize_message, serialize_message
from ros_graph import NodeMaker
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from contact_ddp_ros.base.config import replace
from contact_ddp_ros.control.controller import Controller
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.ros.controller_node import ControllerNode
from contact_ddp_ros.ros.conversions import joint_state_message, odometry_message, stamp_message
from contact_ddp_ros.ros.estimate_messages import felt_report
from contact_ddp_ros.ros.loop_messages import stamp_of
from contact_ddp_ros.ros.node_config import ControllerNodeConfig
from contact_ddp_ros.ros.parameters import NodeParameters
from contact_ddp_ros.ros.reports import ERROR, OK, WARN, status_values

WALL = 1_800_000_000_123_456_789
PERIOD = 2_000_000


class Rig:
    """Messages go in by the node's callbacks, commands are kept."""

    def __init__(self, make_node: NodeMaker) -> None:
        node = make_node("controller_under_test", parameter_overrides=[Parameter("node.state", value="odom")])
        self.node = ControllerNode(node, NodeParameters(node, ControllerNodeConfig()))
        self.node._now = lambda state: state.time
        self.node._commands = self
        self.commands: list[bytes] = []
        self.state = load_robot().standing_state()

    def publish(self, message: bytes) -> None:
        self.commands.append(message)

    def joints(self, stamp: int, **changes: object) -> bytes:
        message = joint_state_message(self.state, np.zeros(12))
        message.header.stamp = stamp_message(stamp)
        for name, value in changes.items():
            setattr(message, name, value)
        return serialize_message(message)

    def odometry(self, stamp: int) -> bytes:
        message = copy.deepcopy(odometry_message(self.state))
        message.header.stamp = stamp_message(stamp)
        return serialize_message(message)

    def send(self, kind: int, message: bytes) -> None:
        self.node._on_state(kind, message)
        pair, self.node._pair = self.node._pair, None
        if pair is not None:
            self.node._answer(*pair)

    def tick(self, stamp: int, **changes: object) -> None:
        self.send(1, self.odometry(stamp))
        self.send(0, self.joints(stamp, **changes))


class Listened:
    """A publisher that keeps what is published; `count` is how many listen."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.messages: list[Float64MultiArray] = []

    def get_subscription_count(self) -> int:
        return self.count

    def publish(self, message: Float64MultiArray) -> None:
        self.messages.append(message)


@pytest.fixture
def rig(make_node: NodeMaker) -> Rig:
    return Rig(make_node)


def test_commands_answer_stamps_of_the_wall_clock_to_the_nanosecond(rig: Rig) -> None:
    stamps = [WALL + k * PERIOD + k for k in range(50)]
    for stamp in stamps:
        rig.tick(stamp)
    assert [stamp_of(command) for command in rig.commands] == stamps


def test_a_malformed_state_does_not_take_the_answer_of_a_good_one(rig: Rig) -> None:
    rig.tick(WALL)
    answer = rig.commands[-1]
    rig.tick(WALL + PERIOD, name=["knee"])
    assert stamp_of(rig.commands[-1]) == WALL + PERIOD
    assert not len(deserialize_message(rig.commands[-1], JointTrajectory).points[0].positions), "it damps"
    rig.node._answer(WALL, rig.joints(WALL), rig.odometry(WALL))
    assert rig.commands[-1] == answer


def test_odometry_that_comes_a_period_late_is_no_loss(rig: Rig) -> None:
    for k in range(100):
        rig.send(0, rig.joints(WALL + k * PERIOD))
        if k:
            rig.send(1, rig.odometry(WALL + (k - 1) * PERIOD))
    assert [stamp_of(command) for command in rig.commands] == [WALL + k * PERIOD for k in range(99)]


def test_states_that_do_not_pair_are_reported(rig: Rig) -> None:
    for k in range(20):
        rig.send(0, rig.joints(WALL + k * PERIOD))
        rig.send(1, rig.odometry(WALL + k * PERIOD + PERIOD // 2))
    rig.node._report.unpaired(rig.node._pairing.alone)
    level, text, _ = rig.node.report()
    assert level == ERROR and "do not pair" in text
    assert not rig.commands
    rig.tick(WALL + 100 * PERIOD)
    rig.node._report.unpaired(rig.node._pairing.alone)
    assert rig.node.report()[0] == OK


def test_one_malformed_message_is_forgotten_by_the_next_report(rig: Rig) -> None:
    rig.node.configure(replace(ControllerNodeConfig(), {}))
    rig.tick(WALL, name=["knee"])
    level, text, values = rig.node.report()
    assert level == WARN and "malformed" in text and "knee" in values["last refused message"]
    rig.tick(WALL + PERIOD)
    level, _, values = rig.node.report()
    assert level == OK and values["malformed messages"] == 1


def test_a_clock_that_is_set_back_is_followed(rig: Rig) -> None:
    rig.tick(WALL)
    rig.tick(5 * PERIOD)
    rig.tick(6 * PERIOD)
    assert [stamp_of(command) for command in rig.commands] == [WALL, 5 * PERIOD, 6 * PERIOD]


def test_what_is_felt_is_told_now_and_then_and_only_where_somebody_listens(rig: Rig) -> None:
    stamps = [WALL + k * PERIOD for k in range(100)]
    rig.node._report._felt = listened = Listened(rig.node._report._felt.get_subscription_count())
    for stamp in stamps[:50]:
        rig.tick(stamp)
    assert not listened.messages, "nobody listens"
    listened.count = 1
    for stamp in stamps[50:]:
        rig.tick(stamp)
    published = [felt_report(message) for message in listened.messages]
    assert len(published) == 5, "at a tenth of the rate of the states"
    assert set(np.diff([one.stamp for one in published])) == {10 * PERIOD}
    assert published[-1].stamp in stamps
    estimator = rig.node._controller.estimator
    np.testing.assert_array_equal(published[-1].forces, estimator.forces)
    assert published[-1].contacts == tuple(map(bool, estimator.contacts.contact))


@pytest.mark.parametrize("changes", [{}, {"name": ["knee"]}], ids=["good", "malformed"])
def test_a_first_state_of_another_age_does_not_blur_the_seconds_of_all_that_follow(
    rig: Rig, changes: dict[str, object]
) -> None:
    rig.tick(0, **changes)
    rig.tick(WALL)
    state = rig.node._last_state
    assert state is not None and state.time == 0.0
    assert [stamp_of(command) for command in rig.commands] == [0, WALL]


class Stander:
    """A controller that may stand, for what is told about it."""

    def __init__(self, controller: Controller) -> None:
        self._controller, self.standing = controller, False

    def __getattr__(self, name: str) -> object:
        return getattr(self._controller, name)


def test_events_tell_once_that_the_robot_stands(rig: Rig) -> None:
    """And again after it has done something else."""
    report = rig.node._report
    report._events = told = Listened(1)
    report._controller = stander = Stander(rig.node._controller)
    for k, standing in enumerate((False, True, True, False, True)):
        stander.standing = standing
        report.changes(0.1 * k)
    texts = [(one.message, status_values(one)["standing"]) for one in told.messages]
    assert texts.count(("stands", "True")) == 2


def test_absurd_numbers_of_a_state_are_told_in_a_few_digits(rig: Rig) -> None:
    """Whatever is wrong with it: the text of the fault and every value of events and diagnostics."""
    report = rig.node._report
    report._events = told = Listened(1)
    rig.tick(WALL)
    assert rig.node._controller.request(ControlMode.STAND).accepted
    for k, name in enumerate(("joint_positions", "joint_velocities", "linear_velocity", "position"), start=1):
        rig.state = load_robot().standing_state()
        getattr(rig.state, name)[:] = -1e300
        rig.tick(WALL + k * PERIOD)
        _, text, values = rig.node.report()
        rig.node._controller.request(ControlMode.DAMP)
        for one in (text, *(str(value) for value in values.values()), *(event.message for event in told.messages)):
            assert re.search(r"\d{20}", one) is None, one
            assert len(one) < 200
        assert "1e+300" in str(values["finding"])
