"""What an optimised motion keeps to: every limit, worked out again from states and torques."""

from dataclasses import replace

import numpy as np
import pytest

from contact_ddp_ros import check_derivatives
from contact_ddp_ros.base.errors import SolverError
from contact_ddp_ros.mpc.motions.optimizer import MotionPlan, optimise_motion
from contact_ddp_ros.mpc.motions.problem import MotionConfig, PlanarMotionProblem
from contact_ddp_ros.robot.ground import cone_excess
from contact_ddp_ros.robot.joint_pd import MotorConfig
from contact_ddp_ros.robot.models.planar import PlanarModel
from contact_ddp_ros.robot.motion import load_motion

from .support import ROBOT, STRIDES, plan_of, plan_of_strides

NAMES = ("jump", "jump_up", "backflip")


@pytest.mark.parametrize(("name", "step"), [("jump_up", 0.02), ("backflip", 0.01)])
def test_derivatives_are_right(name: str, step: float) -> None:
    problem = PlanarMotionProblem(PlanarModel(ROBOT), replace(load_motion(name), step=step))
    guess, rng = problem.guess(), np.random.default_rng(1)
    xs = guess.xs + rng.normal(0.0, 0.05, guess.xs.shape)
    us = guess.us + rng.normal(0.0, 2.0, guess.us.shape)
    report = check_derivatives(problem.problem(), xs, us, penalty=(1.0, 0.1, 0.1))
    assert report.ok, str(report)


def test_a_plan_says_where_it_is_no_optimum() -> None:
    plan = plan_of("jump")
    assert plan.is_optimum
    capped = optimise_motion(plan.task, ROBOT, max_iterations=len(plan.found.solution.iterations) - 1)
    assert not capped.is_optimum


@pytest.mark.parametrize("name", NAMES)
def test_every_limit_holds(name: str) -> None:
    plan = plan_of(name)
    model, policy, config, task = plan.problem.model, plan.policy, plan.problem.config, plan.task
    n, joints = model.tree.n, np.array(model.tree.actuated)
    steps = np.diff(policy.times) > 0.0
    states, torques = policy.states[:-1][steps], policy.controls[steps]
    forces = policy.forces.reshape(len(policy.forces), 2, 2)[steps]
    assert cone_excess(forces, config.friction).max() < 1e-3
    assert plan.torque_share <= config.torque_share + 1e-6
    motor, limits = MotorConfig(), ROBOT.velocity_limits[model.pairs[:, 0]]
    speeds = states[:, n + joints]
    left = (motor.idle_speed * limits - np.sign(torques) * speeds) / ((motor.idle_speed - motor.full_speed) * limits)
    share = np.abs(torques) / model.torque_limits
    assert (share <= config.torque_share * np.clip(left, 0.0, 1.0) + 1e-5).all(), "the torque-speed curve"
    landed = policy.times[:-1][steps] >= task.flight[1]
    assert share[landed].max() <= config.landing_share + 1e-6, "the landing keeps a reserve"
    lower, upper = (getattr(ROBOT, side)[model.pairs[:, 0]] for side in ("lower", "upper"))
    assert (states[:, joints] >= lower).all() and (states[:, joints] <= upper).all()
    assert _lowest(plan.problem, states) > 0.02, "hips and knees above the ground"


def _lowest(problem: PlanarMotionProblem, states: np.ndarray) -> float:
    """Least height of a hip or a knee above the ground [m]."""
    task, heights = problem.task, []
    for x in states:
        for leg in problem.legs:
            for point in leg.points(x)[:2]:
                heights.append(point[1] - (task.rise if point[0] > task.edge else 0.0))
    return min(heights)


@pytest.mark.parametrize("name", NAMES)
def test_it_leads_where_it_should(name: str) -> None:
    plan = plan_of(name)
    task, end, start = plan.task, plan.policy.states[-1], plan.problem.start
    n = plan.problem.model.tree.n
    assert end[0] == pytest.approx(task.displacement, abs=0.1 if task.rotation else 0.02)
    assert end[2] == pytest.approx(task.rotation, abs=0.02)
    assert end[3:n] == pytest.approx(start[3:n], abs=0.02)
    assert np.abs(end[n:]).max() < 0.1
    begin, touchdown = task.flight
    flying = (plan.policy.times > begin + 1e-9) & (plan.policy.times < touchdown - 1e-9)
    speeds, times = plan.policy.states[flying, n + 1], plan.policy.times[flying]
    assert (speeds[-1] - speeds[0]) / (times[-1] - times[0]) == pytest.approx(-9.81, abs=1.5), "ballistic"


def standing_heights(plan: MotionPlan, last: float) -> np.ndarray:
    """(N, n_f) heights of the feet's lowest points in the last so many seconds [m]."""
    policy, problem = plan.policy, plan.problem
    radii = np.array([problem.model.tree.contact(leg.foot).radius for leg in problem.legs])
    rows = policy.states[policy.times >= policy.times[-1] - last - 1e-9]
    return np.array([[leg.points(x)[-1][1] for leg in problem.legs] for x in rows]) - radii


def test_what_stands_on_a_rise_does_not_sink() -> None:
    task = plan_of("jump_up").task
    heights = standing_heights(plan_of("jump_up"), task.duration - task.flight[1])
    assert np.abs(heights - task.rise).max() < 1.5e-3


def test_front_and_hind_feet_land_on_unlike_heights() -> None:
    task = load_motion("jump_up")
    half = replace(task, displacement=0.35, rise=0.12, landing={"hr": 0.0, "hl": 0.0}, step=0.005)
    plan = optimise_motion(half, ROBOT)
    wanted = [0.0 if leg.foot == "back_foot" else 0.12 for leg in plan.problem.legs]
    assert np.abs(standing_heights(plan, task.duration - task.flight[1]) - wanted).max() < 3e-3
    nose = plan.policy.states[-1, 2]
    hips = {leg.foot: leg.hip_x for leg in plan.problem.legs}
    assert nose == pytest.approx(-np.arctan(0.12 / (hips["front_foot"] - hips["back_foot"])), abs=0.02)


def test_feet_are_clear_of_the_ground_from_one_flight_to_the_next() -> None:
    plan = plan_of_strides()
    (_, first), (second, _) = STRIDES.flights
    heights = standing_heights(plan, STRIDES.duration)
    front = [leg.foot for leg in plan.problem.legs].index("front_foot")
    times = plan.policy.times
    stride = (times > first - 1e-9) & (times < second + 1e-9)
    assert heights[stride, front].min() > 0.02, "the front feet, while the hind ones stand"
    assert np.abs(heights[stride, 1 - front]).max() < 3e-3
    for begin, end in STRIDES.flights:
        assert heights[(times > begin + 1e-9) & (times < end - 1e-9)].min() > -6e-3


def test_what_comes_after_the_longest_flight_has_the_landings_torque() -> None:
    plan = plan_of_strides()
    shares = np.abs(plan.policy.controls) / plan.problem.model.torque_limits
    landed = plan.policy.times[:-1] >= STRIDES.flight[1]
    config = plan.problem.config
    assert shares[landed].max() <= config.landing_share + 1e-6 < shares[~landed].max() <= config.torque_share + 1e-6


def test_without_the_second_order_it_is_the_same_optimum() -> None:
    ilqr = optimise_motion(load_motion("jump"), ROBOT, variant="ilqr")
    assert ilqr.found.solution.cost == pytest.approx(plan_of("jump").found.solution.cost, rel=1e-5)


def test_what_the_motors_cannot_do_is_refused() -> None:
    with pytest.raises(SolverError, match="no jump within the limits was found in 30 iterations"):
        optimise_motion(load_motion("jump"), ROBOT, MotionConfig(torque_share=0.2), max_iterations=30)


def test_a_way_that_is_too_long_is_refused() -> None:
    with pytest.raises(SolverError, match="within the limits"):
        optimise_motion(replace(load_motion("jump"), displacement=2.0), ROBOT, max_iterations=60)


def test_a_longer_jump_takes_more_torque() -> None:
    jump = load_motion("jump")
    short = optimise_motion(replace(jump, displacement=0.2), ROBOT)
    assert np.abs(short.policy.controls).sum() < np.abs(plan_of("jump").policy.controls).sum()
