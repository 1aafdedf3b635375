"""Whatever arrives, no exception escapes the controller's node and no torque is beyond the limits.

Messages are good ones with seeded damage. `--fuzz 100000` says how many of each topic; a command of the
node is looked at after every one of them.
"""

import copy
from collections.abc import Callable
from functools import partial
from itertools import cycle
from threading import Event

import numpy as np
import pytest
from nav_msgs.msg import Odometry
from rclpy.parameter import Parameter
from rclpy.serialization import deserialize_message, serialize_message
from ros_graph import NodeMaker
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from contact_ddp_ros.base.config import replace
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.mpc.planner import Planner
from contact_ddp_ros.robot.joints import JOINT_NAMES
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel
from contact_ddp_ros.robot.policy import Policy
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.ros.controller_node import ControllerNode
from contact_ddp_ros.ros.conversions import doubles, joint_state_message, odometry_message, time_ns
from contact_ddp_ros.ros.node_config import ControllerNodeConfig
from contact_ddp_ros.ros.parameters import NodeParameters
from contact_ddp_ros.ros.policy_message import DATA_OFFSET, policy_message

TICK = 0.002
NONSENSE = (np.nan, np.inf, -np.inf, 1e308, -1e30, 1e9, -0.0, 0.5, -3.0, 5e-324)
STRANGE_WORDS = ("", "odom", "base_link", "map", "\x00", "ä" * 300, "fl_knee_joint")
REARM_EVERY, DAMP_EVERY = 25, 150
BURST, GOOD_TICKS = 50, 170
"""Damaged messages after every stretch of good ticks, which is long enough to stand up and bound."""

POLICY_EVERY = 5


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot()


@pytest.fixture(scope="module")
def plan(robot: Robot) -> Policy:
    policy = Planner(WholeBodyModel(robot)).plan(robot.standing_state(0.0), 0.0, hold=True).policy
    assert policy is not None
    return policy


class Rig:
    """The controller's node without a loop: messages go in by its callbacks, commands are looked at."""

    def __init__(self, make_node: NodeMaker, robot: Robot, plan: Policy) -> None:
        self.robot, self.plan = robot, plan
        given = {"node.motions": "jump", "node.state": "odom"}
        node = make_node("fuzzed", parameter_overrides=[Parameter(name, value=one) for name, one in given.items()])
        self.under_test = ControllerNode(node, NodeParameters(node, ControllerNodeConfig()))
        self.under_test._stop = Event()
        self.under_test._now = lambda state: state.time
        self.under_test._commands = self
        self.state = robot.standing_state(1.0)
        self.time, self.ticks, self.modes = 1.0, 0, set()
        recover, stand, move = (
            partial(self.under_test._controller.request, mode)
            for mode in (ControlMode.RECOVER, ControlMode.STAND, ControlMode.MOVE)
        )
        jump = partial(self.under_test._perform, "jump")
        self._ways_up, self._ways_on = cycle([recover, stand]), cycle([move, jump])
        self._go_on = move
        self.limits = robot.effort_limits * (1.0 + 1e-6)
        self.last: JointTrajectory | None = None

    def publish(self, message: bytes) -> None:
        """What the node sends to the drives."""
        self.last = message = deserialize_message(message, JointTrajectory)
        point = message.points[0]
        efforts = np.array(point.effort)
        assert np.isfinite(efforts).all() and (np.abs(efforts) <= self.limits).all()
        assert np.isfinite(point.velocities).all() and np.isfinite(point.positions).all()
        if len(point.positions):
            gains = self.under_test._controller.drive_gains
            drive = gains.kp * (np.array(point.positions) - self.state.joint_positions)
            drive += gains.kd * (np.array(point.velocities) - self.state.joint_velocities)
            assert (np.abs(efforts + drive) <= self.limits).all()

    def messages(self) -> tuple[JointState, Odometry]:
        wobble = 1e-6 * np.sin(1e4 * self.time)
        state = self.robot.standing_state(self.time)
        self.state = RobotState(
            self.time, state.position, state.orientation, state.linear_velocity + wobble, state.angular_velocity,
            state.joint_positions, state.joint_velocities + wobble,
        )  # fmt: skip
        return joint_state_message(self.state, np.zeros(12)), odometry_message(self.state)

    def policy(self) -> Float64MultiArray:
        moved = Policy(
            self.plan.times + self.time, self.plan.states, self.plan.controls, self.plan.gains, self.plan.modes,
            self.plan.forces, self.ticks, 1, self.robot.model_hash,
        )  # fmt: skip
        return policy_message(moved, time_ns(self.time))

    def receive(self, message: object) -> None:
        """As the node's inlet would, then as its loop."""
        node = self.under_test
        if isinstance(message, JointState | Odometry):
            node._on_state(int(isinstance(message, Odometry)), serialize_message(message))
        else:
            node._planner.on_policy(serialize_message(message))
        pair, node._pair = node._pair, None
        if pair is not None:
            node._answer(*pair)
        self.modes.add(node._controller.mode)

    def tick(self) -> None:
        """Good messages for one tick; from time to time the requests that lead to a bound or a jump."""
        self.time += TICK
        self.ticks += 1
        for message in self.messages():
            self.receive(message)
        if self.ticks % REARM_EVERY == 0:
            self.request()
        if self.ticks % POLICY_EVERY == 0:
            self.receive(self.policy())

    def request(self) -> None:
        """Get up, then on to one and then to the other; from time to time damp."""
        controller = self.under_test._controller
        if controller.mode is ControlMode.DAMP:
            self._go_on = next(self._ways_on)
            next(self._ways_up)()
        elif self.ticks % DAMP_EVERY == 0 and controller.mode in (ControlMode.MOVE, ControlMode.MOTION):
            controller.request(ControlMode.DAMP)
        else:
            self._go_on()


@pytest.fixture
def rig(make_node: NodeMaker, robot: Robot, plan: Policy) -> Rig:
    rig = Rig(make_node, robot, plan)
    short = {"stand.ramp_time": 0.2, "node.lockstep": False}
    rig.under_test.configure(replace(ControllerNodeConfig(), short))
    return rig


def damage_numbers(rng: np.random.Generator, values: np.ndarray) -> np.ndarray:
    """Nonsense in some places, or another size."""
    values = np.array(values, float)
    choice = rng.integers(4)
    if choice == 0:
        return values[: rng.integers(len(values) + 1)]
    if choice == 1:
        return np.concatenate([values, rng.normal(size=rng.integers(1, 40))])
    if len(values):
        places = rng.integers(len(values), size=rng.integers(1, 4))
        values[places] = rng.choice(NONSENSE, size=len(places))
    return values


def damage_stamp(rng: np.random.Generator, stamp: object) -> None:
    stamp.sec = int(rng.choice([-(2**31), -1, 0, stamp.sec, stamp.sec + 1, 2**31 - 1]))
    stamp.nanosec = int(rng.choice([0, stamp.nanosec, 999_999_999, 2**32 - 1]))


def damaged_joint_states(rng: np.random.Generator, rig: Rig) -> tuple[JointState, Odometry]:
    message, odometry = rig.messages()
    part = rng.integers(5)
    if part == 0:
        damage_stamp(rng, message.header.stamp)
        odometry.header.stamp = message.header.stamp
    elif part == 1:
        names = list(JOINT_NAMES)
        rng.shuffle(names)
        names[rng.integers(len(names))] = str(rng.choice(STRANGE_WORDS))
        message.name = names[: rng.integers(len(names) + 1)]
    else:
        field = ("position", "velocity", "effort")[part - 2]
        setattr(message, field, doubles(damage_numbers(rng, getattr(message, field))))
    return message, odometry


def damaged_odometry(rng: np.random.Generator, rig: Rig) -> tuple[JointState, Odometry]:
    joints, message = rig.messages()
    part = rng.integers(6)
    if part == 0:
        damage_stamp(rng, message.header.stamp)
    elif part == 1:
        message.header.frame_id = str(rng.choice(STRANGE_WORDS))
    elif part == 2:
        message.child_frame_id = str(rng.choice(STRANGE_WORDS))
    else:
        group = (
            message.pose.pose.position,
            message.pose.pose.orientation,
            message.twist.twist.linear if rng.integers(2) else message.twist.twist.angular,
        )[part - 3]
        axis = str(rng.choice(["x", "y", "z"]))
        setattr(group, axis, float(rng.choice(NONSENSE)))
    return joints, message


def damaged_policy(rng: np.random.Generator, rig: Rig) -> tuple[Float64MultiArray]:
    message = copy.deepcopy(rig.policy())
    values = np.array(message.data)
    part = rng.integers(4)
    if part == 0:
        values[rng.integers(DATA_OFFSET)] = rng.choice([*NONSENSE, 1.0, 2.0, 4e9, 2.0**53])
    elif part == 1:
        message.layout.data_offset = int(rng.choice([0, 1, DATA_OFFSET - 1, DATA_OFFSET + 1, 2**32 - 1]))
    elif part == 2:
        values = damage_numbers(rng, values)
    else:
        places = rng.integers(DATA_OFFSET, len(values), size=rng.integers(1, 200))
        values[places] *= rng.choice([-1.0, 10.0, 1e3, 1e6, np.nan])
    message.data = doubles(values)
    return (message,)


@pytest.mark.parametrize("make", [damaged_joint_states, damaged_odometry, damaged_policy])
def test_nothing_that_arrives_does_harm(
    rig: Rig, make: Callable[[np.random.Generator, Rig], tuple], request: pytest.FixtureRequest
) -> None:
    rng = np.random.default_rng(0)
    for k in range(request.config.getoption("--fuzz")):
        for _ in range(GOOD_TICKS if k % BURST == 0 else 1):
            rig.tick()
        for message in make(rng, rig):
            rig.receive(message)
    assert rig.modes == set(ControlMode), "it was tried in every mode"
