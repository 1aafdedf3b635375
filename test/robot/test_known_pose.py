"""Joints compared with a pose that a person sees: wrong sectors, wrong signs, and legs that are somewhere else."""

import dataclasses
import math

import numpy as np
import pytest

from contact_ddp_ros.robot.joints import JOINT_NAMES, N_JOINTS
from contact_ddp_ros.robot.known_pose import KnownPose, pose_errors, pose_report
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.model import foot_positions
from contact_ddp_ros.robot.state import RobotState

ROBOT = load_robot()
SECTORS = np.tile([2.0 * math.pi / 6.0, 2.0 * math.pi / 6.0, 2.0 * math.pi / 9.33], 4)
TICK = 0.002


def by_hand(seed: int) -> np.ndarray:
    """The known pose as a person makes it: within a seventh of a sector."""
    return ROBOT.folded + np.random.default_rng(seed).uniform(-0.14, 0.14, N_JOINTS) * SECTORS


def state(time: float, positions: np.ndarray, rates: float = 0.0) -> RobotState:
    made = ROBOT.standing_state(time)
    return dataclasses.replace(made, joint_positions=positions, joint_velocities=np.full(N_JOINTS, rates))


def test_the_known_pose_is_the_one_of_a_robot_on_its_belly() -> None:
    np.testing.assert_allclose(ROBOT.folded[:3], (0.0, -1.229, 2.8), atol=1e-3)
    knees = foot_positions(ROBOT, ROBOT.folded)
    assert -0.08 < knees[:, 2].min() <= knees[:, 2].max() < -0.05, "shanks flat on the ground beside the trunk"
    assert ((ROBOT.folded >= ROBOT.lower) & (ROBOT.folded <= ROBOT.upper)).all()


@pytest.mark.parametrize("seed", range(20))
def test_a_person_s_pose_agrees(seed: int) -> None:
    assert not pose_errors(ROBOT, by_hand(seed))
    assert pose_report(ROBOT, by_hand(seed)).startswith("agrees")


@pytest.mark.parametrize("turns", [-2, -1, 1, 2])
@pytest.mark.parametrize("joint", range(N_JOINTS))
def test_a_joint_that_woke_in_a_wrong_sector_is_named_with_its_error(joint: int, turns: int) -> None:
    positions = by_hand(joint)
    positions[joint] += turns * SECTORS[joint]
    (error,) = pose_errors(ROBOT, positions)
    assert error.startswith(JOINT_NAMES[joint])
    assert f"a zero error of {turns * SECTORS[joint]:.2f} rad, {turns:+d} turns" in error


@pytest.mark.parametrize("joint", [j for j in range(N_JOINTS) if j % 3])
def test_a_joint_that_is_turned_the_other_way_is_told_from_a_wrong_sector(joint: int) -> None:
    positions = by_hand(joint)
    positions[joint] *= -1.0
    (error,) = pose_errors(ROBOT, positions)
    assert error.startswith(JOINT_NAMES[joint])
    assert error.endswith("a sign error, it is turned the other way")


def test_a_leg_that_is_somewhere_else_is_neither() -> None:
    positions = ROBOT.folded.copy()
    positions[0] = 0.6
    (error,) = pose_errors(ROBOT, positions)
    assert error == "fr_abad_joint reads 0.60 rad, 0.00 ± 0.42 expected"


def test_without_gear_ratios_nothing_is_compared() -> None:
    unknown = dataclasses.replace(ROBOT, gears=np.zeros(N_JOINTS))
    assert not pose_errors(unknown, ROBOT.standing)
    assert "no gear ratios" in pose_report(unknown, ROBOT.standing)


def watched(check: KnownPose, *spans: tuple[float, float, np.ndarray, float, bool]) -> KnownPose:
    for begin, end, positions, rates, limp in spans:
        for time in np.arange(begin, end, TICK):
            check.watch(state(float(time), positions, rates), limp=limp)
    return check


@pytest.mark.parametrize(
    ("positions", "rates", "limp", "duration", "seen"),
    [
        (by_hand(1), 0.0, True, 0.6, True),
        (by_hand(1), 0.0, True, 0.4, False),
        (by_hand(1), 0.5, True, 0.6, False),
        (by_hand(1), 0.0, False, 0.6, False),
        (ROBOT.standing, 0.0, True, 0.6, False),
    ],
)
def test_it_is_seen_at_rest_and_limp(
    positions: np.ndarray, rates: float, limp: bool, duration: float, seen: bool
) -> None:
    check = watched(KnownPose(ROBOT), (0.0, duration, positions, rates, limp))
    assert check.seen == seen
    assert (check.obstacle == "") == seen


def test_it_stays_seen_until_the_drives_may_have_been_off() -> None:
    check = watched(KnownPose(ROBOT), (0.0, 0.6, by_hand(2), 0.0, True), (1.0, 1.5, ROBOT.standing, 0.0, False))
    check.watch(state(11.0, ROBOT.standing), limp=True)
    assert check.seen, "a cable pulled for some seconds"
    check.watch(state(22.0, ROBOT.standing), limp=True)
    assert not check.seen
    assert "fr_hip_joint reads -0.80 rad, -1.23 ± 0.42 expected" in check.obstacle
