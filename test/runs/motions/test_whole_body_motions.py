"""A back flip and a barrel roll of the whole body: planned through attitudes without a singularity, and executed."""

import math
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.loop.estimation import SENSOR_ERRORS
from contact_ddp_ros import check_derivatives
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.control.turning import TurningBody
from contact_ddp_ros.mpc.motions.spatial_problem import motion_problem
from contact_ddp_ros.robot.attitude import ANGLES, Chart
from contact_ddp_ros.robot.ground import cone_excess
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel
from contact_ddp_ros.robot.motion import load_motion
from contact_ddp_ros.robot.rotation import quaternion_product, quaternion_to_matrix, rpy_to_quaternion
from contact_ddp_ros.runs.motions.trials import perturbed_run
from contact_ddp_ros.runs.report.video import frames

from .support import ROBOT, executed, plan_of, run_of

NAMES = ("backflip_whole_body", "barrel_roll", "running_barrel_roll")
N, FEET = ROBOT.tree.n, len(ROBOT.tree.contacts)


@pytest.mark.parametrize("name", ["backflip_whole_body", "running_barrel_roll", "recovery"])
def test_derivatives_are_right(name: str) -> None:
    """At nodes of every kind and mode, and at the end."""
    motion = motion_problem(replace(load_motion(name), step=0.01), ROBOT)
    problem = motion.problem()
    guess, rng = motion.guess(), np.random.default_rng(1)
    xs = guess.xs + rng.normal(0.0, 0.05, guess.xs.shape)
    us = guess.us + rng.normal(0.0, 2.0, guess.us.shape)
    _, kinds = np.unique(problem.node_integers, axis=0, return_index=True)
    report = check_derivatives(problem, xs, us, nodes=[*kinds, problem.n_nodes], penalty=(1.0, 0.1, 0.1))
    assert report.ok, str(report)


@pytest.mark.parametrize("name", NAMES)
def test_the_plan_turns_once_within_every_limit(name: str) -> None:
    plan = plan_of(name)
    policy, config, problem = plan.policy, plan.problem.config, plan.problem
    assert policy.chart is (Chart.YAW_ROLL_PITCH if name == "backflip_whole_body" else Chart.YAW_PITCH_ROLL)
    assert policy.states[-1, problem.turning] == pytest.approx(plan.task.turns, abs=0.02)
    ups = np.array([policy.chart.up(x[ANGLES]) for x in policy.states])
    assert ups[:, 2].min() < -0.99, "upside down on the way"
    x_axis = np.array([policy.chart.rotation(x[ANGLES])[2, 0] for x in policy.states])
    if name == "backflip_whole_body":
        assert np.abs(x_axis).max() > 0.999, "through a pitch of 90 degrees"
    assert max(abs(policy.chart.sine(policy.chart.rotation(x[ANGLES]))) for x in policy.states) < 0.5
    assert plan.torque_share <= config.torque_share + 1e-6
    steps = np.diff(policy.times) > 0.0
    forces = policy.forces.reshape(len(policy.forces), FEET, 3)[steps]
    assert cone_excess(forces, config.friction).max() < 1e-3
    joints = policy.states[:, 6:N]
    assert (joints >= ROBOT.lower).all() and (joints <= ROBOT.upper).all()


@pytest.mark.parametrize("name", NAMES)
def test_it_lands_and_stands(name: str) -> None:
    run = run_of(name)
    task = run.task
    assert run.landed, run.outcome
    assert run.rotation == pytest.approx(task.turns, abs=0.1)
    assert run.displacement == pytest.approx(task.displacement, abs=0.15)
    assert run.left == pytest.approx(task.left, abs=0.15)
    assert run.torque_share <= 1.0 + 1e-9
    over = np.array([quaternion_to_matrix(state.orientation)[2, 2] for state in run.states]) < -0.9
    assert over.any() and (run.forces[over] == 0.0).all(), "upside down in the air"


def test_the_running_roll_is_at_a_run_through_eight_flights() -> None:
    run = run_of("running_barrel_roll")
    assert len(run.touchdowns) == len(run.task.flights) == 8
    assert np.abs(run.delays).max() < 0.04
    assert run.flight_speed > 1.5
    begin, end = run.begun + np.array(run.task.flight)
    over = np.array([quaternion_to_matrix(state.orientation)[2, 2] for state in run.states]) < 0.0
    times = run.times[over]
    assert times.size and times.min() > begin and times.max() < end, "turned over in the longest flight"


def test_it_is_filmed() -> None:
    pictures = list(frames(run_of("barrel_roll").recording, 0.8, width=160))
    assert pictures and pictures[0].shape == (90, 160, 3)


def test_a_perturbed_start_lands() -> None:
    assert perturbed_run(plan_of("backflip_whole_body"), 1).landed


@pytest.mark.slow
def test_it_is_done_without_any_truth() -> None:
    result = executed(plan_of("running_barrel_roll"), state="estimated", overrides=SENSOR_ERRORS, seed=5)
    assert result.landed, result.outcome


def test_turns_are_counted_in_the_frame_of_the_start() -> None:
    state = replace(ROBOT.standing_state(), orientation=rpy_to_quaternion(0.0, 0.0, 2.0))
    for chart, axis in ((Chart.YAW_ROLL_PITCH, 1), (Chart.YAW_PITCH_ROLL, 0)):
        body = TurningBody(WholeBodyModel(ROBOT, chart), state)
        for angle in np.arange(0.0, 4.0 * math.pi, 0.3):
            half = 0.5 * angle
            turn = np.array([0.0, 0.0, 0.0, math.cos(half)])
            turn[axis] = math.sin(half)
            x = body.state(replace(state, orientation=quaternion_product(state.orientation, turn)))
            assert x[ANGLES] == pytest.approx([0.0, 0.0, angle], abs=1e-7)
        assert body.tilt(state) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model": "sphere"}, "allowed: planar, whole_body"),
        ({"model": "planar"}, "leaves the plane"),
        ({"rotation": -2.0 * math.pi}, "two axes"),
        ({"rise": 0.1}, "needs model: planar"),
    ],
)
def test_what_a_model_cannot_do_is_refused(change: dict[str, object], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        replace(load_motion("barrel_roll"), **change)  # type: ignore[arg-type]
