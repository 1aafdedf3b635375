"""The receding horizon: its warm start and its grid."""

from copy import deepcopy

import numpy as np
import pytest

from contact_ddp_ros.base.choices import INTERIOR_POINT, PENALTIES
from contact_ddp_ros.mpc.horizon import horizon_grid
from contact_ddp_ros.mpc.reference import TrunkCommand
from contact_ddp_ros.mpc.warm_start import heuristic_guess, shifted
from contact_ddp_ros.ocp.ddp import DdpSolver
from test.mpc.support import (
    PERIOD,
    STEP,
    SWITCHES,
    TICK,
    Watched,
    contact_velocity,
    converged_plan,
    follow,
    planner_with,
    start_state,
)


class TestWarmStart:
    def test_the_shifted_plan_rolls_out_as_it_was(self):
        """From the planned next state, guess and last plan agree to rounding wherever both exist."""
        planner = planner_with()
        last = follow(planner, start_state(planner), np.arange(0.0, 0.2, TICK), 0.5)[-1].policy
        time = last.start + TICK
        grid = horizon_grid(planner.builder.sequence, planner.config.gait.horizon_cycles, time)
        problem, xs = planner.builder.build(grid, planner.config, TrunkCommand(0.5))
        guess = shifted(last, grid, heuristic_guess(planner.builder, grid, xs, planner.config.first_guess))
        rolled = DdpSolver().solve(problem, last.sample(time).state, guess, max_iterations=0)
        known = grid.times[:-1] < last.end - 1e-6
        assert known.sum() > 85
        assert rolled.xs[:-1][known] == pytest.approx(guess.xs[:-1][known], abs=1e-9)

    @pytest.mark.parametrize("offset", [0.0, 0.0005, 0.001, 0.0025, 0.0035])
    def test_a_warm_start_costs_little_more_than_the_plan_before(self, offset):
        """On nominal states, on the grid and off it: only the few new nodes at the end are a guess."""
        planner = planner_with()
        watched = Watched(planner)
        times = np.concatenate([[0.0], np.arange(TICK, 0.72, TICK) + offset])
        follow(planner, start_state(planner), times, 0.5)
        excess = np.array([one.initial_cost - one.cost for one in watched.solutions])
        assert excess[0] > 20.0, "the cold guess is far away"
        assert np.median(excess[1:]) < 0.1
        assert excess[1:].max() < 6.0

    def test_a_warm_start_ends_at_the_cold_optimum(self):
        warm = planner_with(iterations=40)
        result = follow(warm, start_state(warm), np.arange(0.0, 0.15, TICK), 0.5)[-1]
        time = result.policy.start + TICK
        x = result.policy.sample(time).state
        cold = planner_with(first_iterations=200)
        cold._warm.touchdowns = deepcopy(warm._warm.touchdowns)
        ours, theirs = (
            warm.plan_coordinates(x, time, TrunkCommand(0.5)),
            cold.plan_coordinates(x, time, TrunkCommand(0.5)),
        )
        assert ours.status == theirs.status == "CONVERGED"
        assert ours.cost == pytest.approx(theirs.cost, rel=1e-5)
        assert ours.policy.controls == pytest.approx(theirs.policy.controls, abs=0.05)
        assert ours.policy.states == pytest.approx(theirs.policy.states, abs=0.02)

    @pytest.mark.parametrize(
        ("method", "iterations", "typical"),
        [(PENALTIES, 2, 1e-4), (PENALTIES, 3, 1e-6), (INTERIOR_POINT, 2, 3e-4), (INTERIOR_POINT, 3, 5e-5)],
    )
    def test_a_few_iterations_suffice(self, method, iterations, typical):
        """What is left to gain after a warm solve is nothing to speak of; another iteration of penalties squares it."""
        planner = planner_with(iterations=iterations, constraint__method=method)
        results = follow(planner, start_state(planner), np.arange(0.0, 0.72, TICK), 0.5)
        left = [result.iterations[-1].expected for result in results[1:]]
        assert np.median(left) < typical
        assert max(left) < 1e-2

    def test_multipliers_travel_with_their_touchdown(self):
        planner = planner_with()
        results = follow(planner, start_state(planner), np.arange(0.0, 0.12, TICK), 0.5)
        grid = horizon_grid(planner.builder.sequence, 1.0, 0.12)
        known = planner._warm.touchdowns.of(grid, round(PERIOD / STEP), 2)
        lift_off, front = (known[np.flatnonzero(grid.switches)[k]] for k in (3, 0))
        assert front[0] != 0.0 and front[1] == 0.0, "the front foot lands, the back foot does not"
        assert (lift_off == 0.0).all()
        assert results[-1].touchdown_error < 1e-3

    def test_multipliers_of_long_ago_are_forgotten(self):
        planner = planner_with()
        x, time = start_state(planner), 0.0
        for _ in range(3):
            planner.plan_coordinates(x, time, TrunkCommand(0.0))
            time += 10 * PERIOD
        assert len(planner._warm.touchdowns) < 16


class TestGrid:
    @pytest.mark.parametrize("cycles", [0.25, 2.0])
    def test_horizon_lengths(self, cycles):
        planner = planner_with(gait__horizon_cycles=cycles)
        results = follow(planner, start_state(planner), np.arange(0.0, 0.1, TICK), 0.5)
        for result in results:
            policy = result.policy
            assert policy.end - policy.start == pytest.approx(STEP * round(cycles * PERIOD / STEP), abs=1e-9)
            n_steps = int((np.diff(policy.times) > 0.0).sum())
            assert n_steps == round(cycles * PERIOD / STEP)
            assert result.status in ("CONVERGED", "ITERATIONS")

    @pytest.mark.parametrize("late", [1e-10, 0.0004, 0.00299, 0.0031, 0.004 - 1e-10])
    def test_the_first_step_ends_on_the_gaits_grid(self, late):
        planner = planner_with()
        x, time = start_state(planner), 0.1 + late
        policy = planner.plan_coordinates(x, time, TrunkCommand(0.5)).policy
        assert policy.start == pytest.approx(time, abs=1e-8)
        steps = np.diff(policy.times)
        assert (policy.times[1:] / STEP) == pytest.approx(np.rint(policy.times[1:] / STEP), abs=1e-5)
        assert 0.25 * STEP - 1e-9 <= steps[0] <= 1.25 * STEP + 1e-9
        assert steps[1:][steps[1:] > 0.0] == pytest.approx(STEP)

    @pytest.mark.parametrize("start", [0.0, 0.02, 0.0795, 0.08, 0.0805, 0.18, 3.7])
    def test_every_switch_ahead_is_a_node_once(self, start):
        planner = planner_with()
        policy = planner.plan_coordinates(start_state(planner), start, TrunkCommand(0.5)).policy
        resets = np.flatnonzero(np.diff(policy.times) == 0.0)
        expected = [time for cycle in range(13) for time in SWITCHES + cycle * PERIOD]
        ahead = [time for time in expected if start + 1e-9 < time < policy.end + 1e-9]
        found = policy.times[resets].tolist()
        if found and found[0] == policy.start:
            found = found[1:]
            ahead = [time for time in ahead if time > policy.start + 0.25 * STEP]
        assert found == pytest.approx(ahead, abs=1e-9)
        assert (policy.controls[resets] == 0.0).all()
        assert (policy.gains[resets] == 0.0).all()
        schedule = planner.builder.sequence.schedule(0)
        for k in np.flatnonzero(np.diff(policy.times) > 1e-9):
            assert policy.modes[k] == schedule.phase(float(policy.times[k + 1]) - 0.4 * STEP).mode

    @pytest.mark.parametrize(("touchdown", "foot"), [(0.18, "front_foot"), (0.36, "back_foot")])
    def test_a_touchdown_at_the_start_brings_the_foot_to_rest(self, touchdown, foot):
        _, result = converged_plan(0.5)
        earlier = result.policy
        planner = planner_with()
        before = _state_before(earlier, touchdown)
        policy = planner.plan_coordinates(before, PERIOD + touchdown, TrunkCommand(0.5)).policy
        assert policy.times[0] == policy.times[1] == pytest.approx(PERIOD + touchdown)
        assert np.abs(contact_velocity(foot, policy.states[0])).max() > 0.05, "the state is that before the impact"
        assert contact_velocity(foot, policy.states[1]) == pytest.approx([0.0, 0.0], abs=1e-9)
        again = planner.plan_coordinates(policy.states[1], PERIOD + touchdown, TrunkCommand(0.5)).policy
        assert again.states[1] == pytest.approx(policy.states[1], abs=1e-9), "a state after it stays as it is"

    def test_planned_stance_feet_do_not_move(self):
        _, result = converged_plan(0.5)
        planner = planner_with()
        policy = result.policy
        for k in np.flatnonzero(np.diff(policy.times) > 0.0)[::4]:
            for foot in planner.builder.sequence.schedule(0).modes[policy.modes[k]].contacts:
                assert np.abs(contact_velocity(foot, policy.states[k])).max() < 0.02

    def test_a_plan_before_the_epoch_is_in_the_cycle_before(self):
        planner = planner_with()
        policy = planner.plan_coordinates(start_state(planner), -0.05, TrunkCommand(0.0)).policy
        assert policy.modes[0] == len(planner.builder.sequence.schedule(0).modes) - 1


def _state_before(policy, touchdown):
    """The planned state before the reset of a touchdown at this time of the gait."""
    resets = np.flatnonzero(np.diff(policy.times) == 0.0)
    phases = np.mod(policy.times[resets] - touchdown + 1e-6, PERIOD)
    return policy.states[resets[np.argmin(phases)]]
