"""Plans from attitudes near and beyond the default chart's singularity, and their way from one chart to the other."""

import math
from dataclasses import replace
from threading import Event

import numpy as np
import pytest

from contact_ddp_ros.base.choices import PENALTIES
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.mpc.config import for_model
from contact_ddp_ros.mpc.euler_convention import ChartChoice, policy_in_chart
from contact_ddp_ros.mpc.planner import Planner
from contact_ddp_ros.mpc.problem_builder import ProblemBuilder
from contact_ddp_ros.robot.attitude import ANGLES, Chart
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel
from contact_ddp_ros.robot.policy import Policy
from contact_ddp_ros.robot.rotation import quaternion_product, quaternion_to_matrix, rpy_to_quaternion
from contact_ddp_ros.robot.state import RobotState
from test.mpc.support import config_with

ROBOT = load_robot()
MODEL = WholeBodyModel(ROBOT)
N = MODEL.tree.n


def thrown(pitch: float, time: float = 0.0, yaw: float = 0.7, roll: float = 0.1, rate: float = 0.0) -> RobotState:
    """At a pitch in degrees, which may be beyond 90, and a rate of it."""
    return replace(
        ROBOT.standing_state(time),
        position=np.array([1.0, -2.0, 0.35]),
        orientation=rpy_to_quaternion(roll, math.radians(pitch), yaw),
        angular_velocity=np.array([0.3, rate, -0.2]),
        linear_velocity=np.array([0.2, 0.1, 0.3]),
    )


def followed(policy: Policy, time: float) -> RobotState:
    """Where a policy has the robot."""
    x, chart = policy.sample(time).state, policy.chart
    return replace(
        MODEL.in_chart(chart).robot_state(x, ROBOT.standing_state(), time),
        linear_velocity=chart.rotation(x[ANGLES]).T @ x[N : N + 3],
        angular_velocity=chart.rate_map(x[ANGLES]) @ x[N:][ANGLES],
        joint_velocities=x[N + 6 :].copy(),
    )


@pytest.fixture(scope="module")
def planner() -> Planner:
    """With relaxed barriers: out of attitudes like these the interior point leads more slowly."""
    config = config_with(gait__name="trot", constraint__method=PENALTIES)
    return Planner(MODEL, for_model(config, "whole_body"))


def check(policy: Policy | None, state: RobotState) -> None:
    assert policy is not None
    rotations = [policy.chart.rotation(x[ANGLES]) for x in policy.states]
    np.testing.assert_allclose(rotations[0], quaternion_to_matrix(state.orientation), atol=1e-6)
    sines = [abs(policy.chart.sine(rotation)) for rotation in rotations]
    assert max(sines) < math.sin(math.radians(80.0)), "the whole plan stays off its chart's singularity"
    assert np.abs(np.diff(policy.states[:, ANGLES], axis=0)).max() < 0.5, "no angle jumps from knot to knot"
    assert policy.chart.up(policy.states[-1, ANGLES])[2] > 0.9, "it leads back to a level trunk"


@pytest.mark.parametrize("pitch", [-100.0, 80.0, 90.0])
def test_plan_after_plan_leads_a_thrown_robot_back_and_the_warm_start_goes_along(
    planner: Planner, pitch: float
) -> None:
    """Each plan is made where the last one has the robot 10 ms later: in the second chart, then in the default one.

    Later plans, in which feet touch down, are not asked for: how well they lead depends on rounding.
    """
    planner.reset(0.0)
    state, chart, ups, cold = thrown(pitch), 1, [], []
    while chart == 1 and len(ups) < 40:
        result = planner.plan(state, 0.0)
        check(result.policy, state)
        assert result.policy is not None
        chart = int(result.policy.chart)
        cold.append(result.cold)
        ups.append(quaternion_to_matrix(state.orientation)[2, 2])
        state = followed(result.policy, 0.01 * len(ups))
    assert chart == 0 and len(ups) > 5 and ups[-1] > 0.4 > ups[0] + 0.2
    assert cold == [True] + [False] * (len(cold) - 1)


@pytest.mark.parametrize(("pitch", "other"), [(-20.0, False), (40.0, False), (59.0, False), (64.0, True), (90.0, True)])
def test_the_default_chart_is_left_only_near_its_singularity(planner: Planner, pitch: float, other: bool) -> None:
    planner.plan(thrown(0.0), 0.0)
    planner.reset(0.0)
    result = planner.plan(thrown(pitch, roll=0.0), 0.0)
    assert result.policy is not None
    assert (result.policy.chart is Chart.YAW_ROLL_PITCH) == other


def test_who_has_a_deadline_does_not_wait_for_the_other_chart(
    planner: Planner, monkeypatch: pytest.MonkeyPatch
) -> None:
    choice, present, asked = ChartChoice(), planner.builder.in_chart(Chart.YAW_PITCH_ROLL), Event()
    original, state = ProblemBuilder.in_chart, thrown(90.0)

    def in_its_time(builder: ProblemBuilder, chart: Chart) -> ProblemBuilder:
        assert asked.wait(60.0)
        return original(builder, chart)

    monkeypatch.setattr(ProblemBuilder, "in_chart", in_its_time)
    assert choice.builder(present, state, wait=False) is present
    asked.set()
    there = choice.builder(present, state, wait=True)
    assert there.model.chart is Chart.YAW_ROLL_PITCH and there.sequence == present.sequence
    assert choice.builder(there, thrown(10.0), wait=False) is present
    assert choice.builder(present, state, wait=False) is there


def test_where_there_is_no_other_chart_plans_stay_in_the_present_one(
    planner: Planner, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(_builder: ProblemBuilder, _chart: Chart) -> ProblemBuilder:
        raise ParameterError("the term knows one chart only")

    choice, present = ChartChoice(), planner.builder.in_chart(Chart.YAW_PITCH_ROLL)
    monkeypatch.setattr(ProblemBuilder, "in_chart", refuse)
    for _ in range(2):
        assert choice.builder(present, thrown(90.0), wait=True) is present
    assert [one.getMessage() for one in caplog.records] == [
        "plans stay in the chart yaw_pitch_roll of the attitude: the term knows one chart only"
    ]


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
