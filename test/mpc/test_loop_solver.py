"""Limits in the receding horizon: hard by the interior point, or soft."""

from time import perf_counter

import numpy as np
import pytest

from contact_ddp_ros.base.choices import CONSTRAINTS, INTERIOR_POINT
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.mpc.reference import TrunkCommand
from contact_ddp_ros.mpc.warm_start import shifted_multipliers
from contact_ddp_ros.ocp.interior_solution import FEASIBLE
from contact_ddp_ros.robot.gaits.grid import KnotGrid
from test.mpc.support import TICK, config_with, converged_plan, disturbed_planner, follow, planner_with, start_state

HARD = {"constraint__method": INTERIOR_POINT}
SHARE = {"constraint__torque_share": 0.5}
"""Of the motors' torques, so that they limit the bound."""


@pytest.mark.parametrize("method", CONSTRAINTS)
def test_two_iterations_a_plan_follow_the_bound(method):
    planner = planner_with(constraint__method=method)
    results = follow(planner, start_state(planner), np.arange(0.0, 0.72, TICK), 0.5)
    assert all(result.policy is not None for result in results)
    assert max(result.touchdown_error for result in results[1:]) < 5e-3
    assert np.mean([len(result.iterations) for result in results[1:]]) <= 2.0


def test_hard_limits_hold_where_soft_ones_do_not():
    worst = {}
    for method in CONSTRAINTS:
        planner = planner_with(constraint__method=method, **SHARE)
        results = follow(planner, start_state(planner), np.arange(0.0, 0.36, TICK), 0.5)
        worst[method] = np.array([result.inequality_violation for result in results[5:]])
    assert (worst["penalties"] > 1e-3).mean() > 0.5
    assert (worst["interior_point"] < 1e-6).mean() > 0.9


def plan_after_a_disturbance(seed, further, deadline=None):
    """A plan from a state that is not the predicted one."""
    planner, time, x = disturbed_planner(seed, 0.5)
    planner.configure(config_with(**HARD, constraint__further_iterations=further))
    return planner.plan_coordinates(x, time, TrunkCommand(0.5), deadline=deadline)


@pytest.mark.parametrize("seed", [0, 3, 9, 11])
def test_a_solve_goes_on_until_hard_limits_hold(seed):
    short, long = (plan_after_a_disturbance(seed, further) for further in (0, 8))
    assert len(short.iterations) == 2
    assert short.inequality_violation > 0.1
    assert 2 < len(long.iterations) <= 10
    assert long.inequality_violation <= FEASIBLE
    assert [one.cost for one in long.iterations[:2]] == [one.cost for one in short.iterations]


@pytest.mark.parametrize("seed", [3, 18])
def test_a_state_that_keeps_no_limit_does_not_spoil_the_sweep(seed):
    """Multipliers of limits that cannot hold grow from iteration to iteration; unbounded they stall these solves."""
    planner, time, x = disturbed_planner(seed, 1.0)
    planner.configure(config_with(**HARD, constraint__further_iterations=40))
    result = planner.plan_coordinates(x, time, TrunkCommand(0.5))
    assert result.status != "STALLED"
    assert result.inequality_violation < 0.6


@pytest.mark.parametrize("seed", [1, 2])
def test_no_iteration_is_added_where_limits_hold(seed):
    assert len(plan_after_a_disturbance(seed, 8).iterations) == 2


def test_no_iteration_is_added_past_the_deadline():
    planner, time, x = disturbed_planner(11, 0.5)
    planner.configure(config_with(**HARD))
    planner._budget.record(0.1, 1)
    late = planner.plan_coordinates(x, time, TrunkCommand(0.5), deadline=perf_counter() - 1.0)
    assert len(late.iterations) == 1
    assert late.inequality_violation > FEASIBLE


def test_the_breakdown_of_the_cost_adds_up_with_hard_limits():
    planner = planner_with(**HARD)
    result = follow(planner, start_state(planner), np.arange(0.0, 5 * TICK, TICK), 0.5)[-1]
    assert result.cost_terms().sum() == pytest.approx(result.cost, rel=1e-9)


def test_gains_do_not_feed_back_a_torque_at_its_limit():
    planner = planner_with(**HARD, **SHARE)
    policy = follow(planner, start_state(planner), np.arange(0.0, 0.36, TICK), 0.5)[-1].policy
    limits = 0.5 * 2.0 * np.array([17.0, 26.0, 17.0, 26.0])
    size = np.abs(policy.controls) / limits
    gains = np.linalg.norm(policy.gains, axis=2)
    free, held = gains[(size < 0.7) & (gains > 0.0)], gains[size > 0.99]
    assert held.size > 5
    assert np.median(held) < 0.2 * np.median(free)


def test_multipliers_follow_their_nodes():
    _, result = converged_plan(0.5)
    last = result.policy
    rows = np.arange(float(len(last.controls)))[:, None]
    grid = _grid(last, 3)
    moved = shifted_multipliers(last, rows, grid)
    known = grid.times[:-1] < last.end - 1e-7
    assert moved[known, 0].tolist() == rows[3:, 0].tolist()
    assert not moved[~known].any()


def test_a_barrier_of_no_weight_is_refused():
    with pytest.raises(ParameterError, match=r"constraint\.barrier_weight is 0"):
        planner_with(constraint__method=INTERIOR_POINT, constraint__barrier_weight=0.0)


def test_a_planner_at_work_refuses_it_and_goes_on():
    planner = planner_with()
    with pytest.raises(ParameterError, match=r"constraint\.barrier_weight is 0"):
        planner.configure(config_with(**HARD, constraint__barrier_weight=0.0))
    assert planner.config == config_with()
    planner.configure(config_with(**HARD))
    assert planner.plan_coordinates(start_state(planner), 0.0, TrunkCommand(0.5)).policy is not None


def _grid(last, first):
    """The policy's own grid from a node on, and a step beyond its end."""
    times = np.append(last.times[first:], last.end + 0.004)
    durations = np.diff(times)
    modes = np.append(last.modes[first:], [last.modes[-1]] * 2)
    return KnotGrid(times, durations, modes, durations == 0.0, 0)
