"""The command governor: what is planned for keeps the limits at every instant, follows the path, and gets there."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contact_ddp_ros.mpc.config import MOST_TURN, ReferenceConfig
from contact_ddp_ros.mpc.governor import CommandGovernor, MotionLimits, motion_limits, pose_cut
from contact_ddp_ros.mpc.reference import TrunkCommand
from contact_ddp_ros.mpc.whole_body_reference import WholeBodyReference
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel
from contact_ddp_ros.robot.rotation import quaternion_to_matrix, rpy_to_quaternion
from test.mpc.support import ROBOT, config_with

CONFIG = ReferenceConfig()
LIMITS = MotionLimits(2.5, np.array([[2.8, 2.6], [2.8, 2.6], [3.0, 2.8], [3.0, 2.8]]), np.full(4, 0.22), 3.5)
THIGH, SHANK, SOLE = 0.209, 0.195, 0.0175
HIPS = np.array([[0.19, 0.111, 0.0], [0.19, -0.111, 0.0], [-0.19, 0.111, 0.0], [-0.19, -0.111, 0.0]])
"""Hips of the Mini Cheetah in the trunk's axes [m]."""

REFERENCE = WholeBodyReference(WholeBodyModel(ROBOT).tree, config_with(gait__name="trot").gait)
AXIS = st.floats(-5.0, 5.0)
COMMANDS = st.builds(TrunkCommand, AXIS, AXIS, st.floats(-20.0, 20.0))


def settled(command: TrunkCommand, limits: MotionLimits = LIMITS) -> tuple[TrunkCommand, CommandGovernor]:
    governor = CommandGovernor()
    for k in range(500):
        motion = governor.follow(command, 0.01 * k, limits, CONFIG)
    return motion, governor


def assert_within(motion: TrunkCommand, limits: MotionLimits = LIMITS) -> None:
    assert motion.speed <= limits.speed + 1e-9
    ahead, sideways = limits.feet.T
    reached = np.hypot(motion.forward / ahead, motion.lateral / sideways) + abs(motion.turn) * limits.radii / sideways
    assert (reached <= 1.0 + 1e-9).all()
    assert motion.speed * abs(motion.turn) <= limits.acceleration + 1e-9


@given(draws=st.lists(st.tuples(COMMANDS, st.integers(1, 150)), min_size=1, max_size=8))
def test_every_instant_keeps_the_limits_and_the_accelerations(draws):
    governor, before, time = CommandGovernor(), TrunkCommand(0.0), 0.0
    for command, ticks in draws:
        for _ in range(ticks):
            time += 0.01
            motion = governor.follow(command, time, LIMITS, CONFIG)
            assert_within(motion)
            change = math.hypot(motion.forward - before.forward, motion.lateral - before.lateral)
            assert change <= CONFIG.acceleration * 0.01 + 1e-9
            if abs(motion.turn) > abs(before.turn):
                assert abs(motion.turn - before.turn) <= CONFIG.turn_acceleration * 0.01 + 1e-9
            before = motion


@given(command=COMMANDS)
def test_a_lasting_command_is_followed_along_its_own_path(command):
    motion, governor = settled(command)
    turn = min(max(command.turn, -MOST_TURN), MOST_TURN)
    slower = min(LIMITS.speed / max(command.speed, 1e-9), 1.0)
    share = motion.speed / (slower * command.speed) if command.speed > 1e-6 else motion.turn / turn if turn else 1.0
    assert 0.0 <= share <= 1.0 + 1e-9
    assert motion.forward == pytest.approx(share * slower * command.forward, abs=1e-6)
    assert motion.lateral == pytest.approx(share * slower * command.lateral, abs=1e-6)
    assert motion.turn == pytest.approx(share * turn, abs=1e-6)
    factors = share, slower, abs(turn) / abs(command.turn) if command.turn else 1.0
    if not 0.98 < min(factors) < 1.0:
        assert bool(governor.cut) is (min(factors) < 1.0)


@pytest.mark.parametrize(
    "command, why",
    [
        (TrunkCommand(0.5, 0.2, 0.5), ""),
        (TrunkCommand(3.0), "speed limit"),
        (TrunkCommand(2.0, 2.0), "speed limit"),
        (TrunkCommand(2.5, 0.0, 4.0), "friction"),
        (TrunkCommand(0.0, 0.0, 9.0), "largest turn"),
    ],
)
def test_a_cut_is_told_with_its_reason(command, why):
    _, governor = settled(command)
    assert why in governor.cut
    assert bool(why) is bool(governor.cut)


def test_a_gait_that_goes_nowhere_takes_no_command():
    motion, governor = settled(TrunkCommand(1.0, 0.5, 2.0), replace(LIMITS, feet=np.zeros((4, 2)), speed=0.0))
    assert (motion.forward, motion.lateral, motion.turn) == pytest.approx((0.0, 0.0, 0.0), abs=1e-6)
    assert "speed limit, 0 m/s" in governor.cut


def test_limits_that_shrink_on_the_way_slow_down_at_the_given_rate():
    governor = CommandGovernor()
    for k in range(300):
        governor.follow(TrunkCommand(2.5), 0.01 * k, LIMITS, CONFIG)
    slow = replace(LIMITS, speed=1.0, feet=np.ones((4, 2)))
    speeds = [governor.follow(TrunkCommand(2.5), 3.0 + 0.01 * k, slow, CONFIG).forward for k in range(100)]
    assert np.diff(speeds).min() == pytest.approx(-0.02)
    assert speeds[-1] == pytest.approx(1.0)
    assert slow.hold(governor.motion)
    assert not slow.hold(TrunkCommand(2.5))


def test_friction_is_that_of_the_plan():
    turns = [
        settled(TrunkCommand(2.0, 0.0, 6.0), motion_limits(LIMITS.feet, LIMITS.radii, friction, CONFIG))[0]
        for friction in (0.3, 0.6)
    ]
    shares = [motion.speed * motion.turn / (9.81 * friction) for motion, friction in zip(turns, (0.3, 0.6))]
    assert shares == pytest.approx([CONFIG.turn_friction] * 2, rel=1e-6)


def test_a_clock_set_back_moves_nothing():
    governor = CommandGovernor()
    governor.rest(5.0)
    assert governor.follow(TrunkCommand(1.0), 4.0, LIMITS, CONFIG).forward == 0.0


@given(height=st.floats(0.15, 0.36), roll=st.floats(-0.3, 0.3), pitch=st.floats(-0.3, 0.3))
def test_a_trunk_pose_keeps_every_hip_where_its_leg_can_work(height, roll, pitch):
    wished = replace(CONFIG, height=height, roll=roll, pitch=pitch)
    held = REFERENCE.reachable(wished)
    rotation = quaternion_to_matrix(rpy_to_quaternion(held.roll, held.pitch, 0.0))
    hips = held.height - SOLE + (rotation @ HIPS.T)[2]
    straight = THIGH + SHANK
    assert (hips > 0.40 * straight).all() and (hips < 0.87 * straight).all()
    assert abs(held.roll) <= abs(roll) and abs(held.pitch) <= abs(pitch)
    same = (held.height, held.roll, held.pitch) == (height, roll, pitch)
    assert bool(pose_cut(wished, held)) <= (not same)


def test_a_level_trunk_of_the_default_height_is_held_as_told():
    assert REFERENCE.reachable(CONFIG) == CONFIG
    assert pose_cut(CONFIG, CONFIG) == ""
