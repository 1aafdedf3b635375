"""Plans from attitudes near and beyond the default chart's singularity, and their way from one chart to the other."""

import math
from dataclasses import replace

import numpy as np
import pytest

from contact_ddp_ros.fitting import for_model
from contact_ddp_ros.models.whole_body import WholeBodyModel
from contact_ddp_ros.mpc.chart_choice import policy_in_chart
from contact_ddp_ros.mpc.planner import Planner
from contact_ddp_ros.policy import Policy
from contact_ddp_ros.robot.attitude import ANGLES, Chart
from contact_ddp_ros.robot.model import load_robot
from contact_ddp_ros.robot.rotation import quaternion_product, quaternion_to_matrix, rpy_to_quaternion
from contact_ddp_ros.robot.state import RobotState
from test.mpc.support import config_with

ROBOT = load_robot()
MODEL = WholeBodyModel(ROBOT)


def thrown(pitch: float, time: float = 0.0, yaw: float = 0.7, roll: float = 0.1, rate: float = 0.0) -> RobotState:
    """In the air at a pitch in degrees, which may be beyond 90, and a rate of it."""
    return replace(
        ROBOT.standing_state(time),
        position=np.array([1.0, -2.0, 0.6]),
        orientation=rpy_to_quaternion(roll, math.radians(pitch), yaw),
        angular_velocity=np.array([0.3, rate, -0.2]),
        linear_velocity=np.array([0.2, 0.1, 0.3]),
    )


@pytest.fixture(scope="module")
def planner() -> Planner:
    return Planner(MODEL, for_model(config_with(gait__name="trot"), "whole_body"))


def check(policy: Policy | None, state: RobotState) -> None:
    assert policy is not None
    rotation = policy.chart.rotation(policy.states[0, ANGLES])
    np.testing.assert_allclose(rotation, quaternion_to_matrix(state.orientation), atol=1e-6)
    sines = [abs(policy.chart.sine(policy.chart.rotation(x[ANGLES]))) for x in policy.states]
    assert max(sines) < math.sin(math.radians(88.0)), "the whole plan stays off its chart's singularity"
    jumps = np.abs(np.diff(policy.states[:, :18], axis=0)).max(axis=1)
    assert jumps.max() < 0.6, "no angle jumps from knot to knot"
    assert policy.chart.up(policy.states[-1, ANGLES])[2] > 0.5, "it leads back to a level trunk"
    assert np.abs(policy.gains).max() < 2e3


@pytest.mark.parametrize("pitch", [-100.0, -80.0, 60.0, 80.0, 90.0, 100.0])
def test_a_robot_that_is_thrown_gets_plans(planner: Planner, pitch: float) -> None:
    state = thrown(pitch)
    planner.reset(0.0)
    for k in range(3):
        result = planner.plan(replace(state, time=0.01 * k), 0.0)
        check(result.policy, state)
        assert result.policy is not None
        assert (result.policy.chart is Chart.YAW_ROLL_PITCH) == (abs(abs(pitch) - 90.0) < 30.0)


def test_the_warm_start_goes_along_from_chart_to_chart(planner: Planner) -> None:
    planner.reset(0.0)
    charts, cold = [], []
    for k, pitch in enumerate(np.linspace(20.0, 110.0, 10).tolist() + np.linspace(95.0, 5.0, 7).tolist()):
        state = thrown(pitch, 0.01 * k)
        result = planner.plan(state, 0.0)
        check(result.policy, state)
        assert result.policy is not None
        charts.append(int(result.policy.chart))
        cold.append(result.cold)
    assert charts[0] == charts[-1] == 0 and max(charts) == 1
    assert np.count_nonzero(np.diff(charts)) == 2, "there and back, once"
    assert cold == [True] + [False] * (len(cold) - 1)


def test_a_policy_is_the_same_feedback_law_in_either_chart(planner: Planner) -> None:
    planner.reset(0.0)
    result = planner.plan(thrown(40.0), 0.0)
    here = result.policy
    assert here is not None and here.chart is Chart.YAW_PITCH_ROLL
    there = policy_in_chart(here, Chart.YAW_ROLL_PITCH)
    assert there is not None and there.chart is Chart.YAW_ROLL_PITCH
    np.testing.assert_allclose(there.in_chart(here.chart).gains, here.gains, atol=1e-6 * np.abs(here.gains).max())
    rng = np.random.default_rng(0)
    small = 1e-5
    for k in range(0, len(here.controls), 7):
        nominal = MODEL.robot_state(here.states[k], ROBOT.standing_state())
        turn = rpy_to_quaternion(*(small * rng.normal(size=3)).tolist())
        moved = replace(
            nominal,
            orientation=quaternion_product(nominal.orientation, turn),
            angular_velocity=Chart.YAW_PITCH_ROLL.rate_map(here.states[k, ANGLES]) @ here.states[k, 18:][ANGLES]
            + small * rng.normal(size=3),
            linear_velocity=quaternion_to_matrix(nominal.orientation).T @ here.states[k, 18:21],
            joint_velocities=here.states[k, 24:],
        )
        torques = [one.gains[k] @ MODEL.deviation(moved, one.states[k], one.chart) / small for one in (here, there)]
        np.testing.assert_allclose(torques[0], torques[1], atol=1e-3 * np.abs(here.gains).max())


def test_no_policy_is_taken_to_a_chart_in_which_it_is_singular(planner: Planner) -> None:
    planner.reset(0.0)
    policy = planner.plan(thrown(90.0), 0.0).policy
    assert policy is not None and policy.chart is Chart.YAW_ROLL_PITCH
    assert policy_in_chart(policy, Chart.YAW_PITCH_ROLL) is None
    assert policy_in_chart(policy, policy.chart) is policy
    assert policy_in_chart(None, Chart.YAW_PITCH_ROLL) is None


@pytest.mark.parametrize("pitch", [59.0, 61.0, 75.0, 89.9, 90.0, 90.1, 110.0])
def test_the_deviation_is_the_same_to_first_order_in_either_chart_and_finite(pitch: float) -> None:
    """From a nominal state at a pitch of 70 degrees, of measured states on both sides of the singularity."""
    nominal = MODEL.state(thrown(70.0, roll=0.0, rate=1.0))
    found = MODEL.deviation(thrown(pitch, roll=0.0, rate=1.0), nominal, Chart.YAW_PITCH_ROLL)
    assert np.isfinite(found).all()
    assert found[4] == pytest.approx(math.radians(pitch - 70.0), abs=0.15)
    assert np.abs(found[[3, 5]]).max() < 0.1
