"""What goes into the planner: epochs, commands, parameters, and states that are not to be planned from."""

import math
from dataclasses import replace

import numpy as np
import pytest

from contact_ddp_ros.base.choices import PENALTIES
from contact_ddp_ros.base.errors import MessageError, ParameterError
from contact_ddp_ros.control.config import SafetyConfig
from contact_ddp_ros.control.policy_validator import PolicyValidator
from contact_ddp_ros.mpc.plan_result import OUTSIDE_LIMITS
from contact_ddp_ros.mpc.planner import Planner
from contact_ddp_ros.mpc.reference import TrunkCommand
from contact_ddp_ros.mpc.warm_start import LOST
from contact_ddp_ros.ocp.solution import Termination
from test.mpc.support import (
    MODEL,
    PERIOD,
    ROBOT,
    SWITCHES,
    TICK,
    N,
    Watched,
    config_with,
    disturbed_planner,
    follow,
    planner_with,
    robot_state,
    start_state,
)


class TestHeldGait:
    @pytest.mark.parametrize("seed", range(8))
    def test_what_was_planned_from_a_wild_state_does_not_last(self, seed):
        """Back on its feet the robot gets the plan that a planner without a past makes."""
        planner, random = Planner(MODEL), np.random.default_rng(seed)
        standing = ROBOT.standing_state()
        for k in range(15):
            wild = replace(
                standing,
                time=0.01 * k,
                position=standing.position - [0.0, 0.0, random.uniform(0.0, 0.25)],
                joint_positions=standing.joint_positions + random.normal(0.0, 0.5, 12),
                joint_velocities=random.normal(0.0, 10.0, 12),
            )
            planner.plan(wild, 0.0, hold=True)
        results = [planner.plan(replace(standing, time=1e-2 * k), 0.0, hold=True) for k in range(15, 40)]
        fresh = Planner(MODEL).plan(standing, 0.0, hold=True)
        assert results[-1].cost == pytest.approx(fresh.cost, rel=1e-3)
        assert np.abs(results[-1].policy.states - fresh.policy.states).max() < 0.1

    def test_a_challenge_needs_no_more_than_twice_the_iterations(self):
        planner = Planner(MODEL)
        watched = Watched(planner)
        for k in range(30):
            planner.plan(replace(ROBOT.standing_state(), time=0.01 * k), 0.0, hold=True)
        assert len(watched.solutions) == 30 + 2, "one every tenth of a second but for the first, which is cold"


class TestEpochs:
    def test_hold_keeps_the_gait_at_its_beginning(self):
        planner = planner_with()
        x = start_state(planner)
        for time in (5.0, 5.008, 5.0163, 5.05):
            result = planner.plan(robot_state(x, time), 0.7, hold=True)
            policy = result.policy
            assert policy.start == time
            assert policy.modes[0] == 0
            assert policy.times[np.flatnonzero(policy.modes)[0]] == pytest.approx(time + SWITCHES[0])
            assert policy.epoch == 1
        assert len(result.iterations) <= planner.config.iterations, "the warm start moved along"
        assert result.iterations[0].expected < 1.0

    def test_held_plans_are_at_rest_whatever_the_command(self):
        planner = planner_with()
        x = start_state(planner)
        for k in range(4):
            result = planner.plan(robot_state(x, 1.0 + 0.1 * k), 2.0, hold=True)
        assert abs(result.policy.states[:, N].mean()) < 0.2

    def test_the_gait_goes_on_where_hold_ends(self):
        planner = planner_with()
        x = start_state(planner)
        held = planner.plan(robot_state(x, 5.0), 0.5, hold=True)
        after = planner.plan(robot_state(held.policy.sample(5.012).state, 5.012), 0.5)
        assert after.policy.modes[0] == 0
        assert after.policy.times[np.flatnonzero(after.policy.modes)[0]] == pytest.approx(5.08)

    def test_reset_begins_a_new_epoch_cold(self):
        planner = planner_with()
        follow(planner, start_state(planner), [0.0, 0.012], 0.5)
        planner.reset(7.0)
        fresh = planner_with()
        fresh.reset(7.0)
        x = start_state(planner)
        again, first = (
            planner.plan_coordinates(x, 7.0, TrunkCommand(0.5)),
            fresh.plan_coordinates(x, 7.0, TrunkCommand(0.5)),
        )
        assert again.policy.epoch == 2
        assert (again.policy.controls == first.policy.controls).all()
        assert again.policy.sequence > 2, "sequences go on across epochs"

    def test_sequences_count_up(self):
        planner = planner_with()
        results = follow(planner, start_state(planner), np.arange(0.0, 0.04, TICK), 0.5)
        assert [result.policy.sequence for result in results] == [1, 2, 3, 4]

    def test_a_controllers_gate_admits_the_policies(self):
        planner = planner_with()
        gate = PolicyValidator(planner.model, ROBOT.model_hash, SafetyConfig())
        x = start_state(planner)
        for time in (0.0, 0.008, 0.016):
            result = planner.plan(robot_state(x, time), 0.5)
            assert gate.check(result.policy, time, following=time > 0.0) is None
            x = result.policy.sample(time + 0.008).state


def reference_speeds(planner):
    """The speeds [m/s] that the planner's references follow, from now on."""
    seen, plan = [], planner.plan_coordinates

    def watched(x0, time, motion, *arguments, **options):
        seen.append(motion.forward)
        return plan(x0, time, motion, *arguments, **options)

    planner.plan_coordinates = watched
    return seen


class TestCommand:
    def test_the_planned_speed_approaches_the_command_at_a_limited_rate(self):
        planner = planner_with(reference__speed_integral=0.0)
        x = start_state(planner)
        seen = reference_speeds(planner)
        planner.plan(robot_state(x, 0.0), 1.0)
        for k in range(1, 60):
            planner.plan(robot_state(x, 0.01 * k), 1.0)
        assert np.diff(seen).max() == pytest.approx(0.02, rel=1e-6)
        assert seen[0] == 0.0
        assert seen[49] < 1.0 - 1e-6 < seen[-1] <= 1.0
        planner.plan(robot_state(x, 0.6), -1.0)
        assert seen[-1] == pytest.approx(0.98), "and back no faster"

    def test_a_command_beyond_the_limit_is_held_at_it(self):
        planner = planner_with(reference__speed_limit=0.3, reference__acceleration=20.0)
        seen = reference_speeds(planner)
        for k in range(5):
            planner.plan(robot_state(start_state(planner), 0.01 * k), 99.0)
        assert max(seen) == pytest.approx(0.3)

    def test_what_the_limit_forbids_has_not_to_be_unlearned(self):
        planner = planner_with(reference__speed_limit=0.3, reference__acceleration=20.0)
        seen = reference_speeds(planner)
        for k in range(200):  # of a robot that does not move
            planner.plan(robot_state(start_state(planner), 0.01 * k), 0.0 if k >= 190 else 1.0)
        assert seen[189] == pytest.approx(0.3)
        assert seen[-1] == pytest.approx(0.0, abs=0.02)

    @pytest.mark.parametrize("speed", [math.nan, math.inf, -math.inf])
    def test_a_command_that_is_not_finite_is_refused(self, speed):
        planner = planner_with()
        with pytest.raises(MessageError, match="speed"):
            planner.plan(robot_state(start_state(planner), 0.0), speed)

    @pytest.mark.parametrize("field", ["position", "orientation", "joint_positions", "joint_velocities"])
    def test_a_state_of_another_size_is_refused(self, field):
        planner = planner_with()
        state = robot_state(start_state(planner), 1.0)
        with pytest.raises(MessageError, match="12 joints"):
            planner.plan(replace(state, **{field: getattr(state, field)[:-1]}), 0.5)

    def test_a_state_that_is_not_finite_is_refused_and_changes_nothing(self):
        planner, twin = planner_with(), planner_with()
        x = start_state(planner)
        bad = x.copy()
        bad[N + 3] = np.nan
        first = [one.plan(robot_state(x, 0.0), 0.5) for one in (planner, twin)]
        for hold in (False, True):
            with pytest.raises(MessageError, match="state"):
                planner.plan(robot_state(bad, 0.004), 0.5, hold=hold)
        with pytest.raises(MessageError):
            planner.plan(robot_state(x, math.nan), 0.5)
        x = first[0].policy.sample(0.008).state
        after = [one.plan(robot_state(x, 0.008), 0.5).policy for one in (planner, twin)]
        assert (after[0].controls == after[1].controls).all()


class TestConfigure:
    @pytest.mark.parametrize(
        "change",
        [
            {"gait__step": 0.002},
            {"gait__integrator": "forward_euler"},
            {"gait__horizon_cycles": 2.0},
            {"variant": "ddp_tensor"},
        ],
    )
    def test_structural_changes_are_refused(self, change):
        planner = planner_with()
        before = planner.config
        with pytest.raises(ParameterError, match="fixed"):
            planner.configure(config_with(**change))
        assert planner.config is before

    def test_variants_that_share_their_kernels_take_over_from_each_other(self):
        planner = planner_with()
        planner.configure(config_with(variant="ilqr"))
        result = planner.plan(planner.model.robot.standing_state(), 0.5)
        assert result.iterations[-1].hessian_blend == 0.0

    def test_values_out_of_range_are_refused(self):
        planner = planner_with()
        broken = replace(planner.config, reference=replace(planner.config.reference, height=3.0))
        with pytest.raises(ParameterError, match="height"):
            planner.configure(broken)
        with pytest.raises(ParameterError, match="height"):
            Planner(MODEL, broken)

    def test_tunable_changes_show_in_the_next_plan(self):
        planner = planner_with(iterations=20)
        results = follow(planner, start_state(planner), np.arange(0.0, 0.4, TICK), 0.5)
        x, time = results[-1].policy.sample(0.408).state, 0.408
        planner.configure(config_with(iterations=20, weight__height=1e4, reference__height=0.25))
        lower = planner.plan_coordinates(x, time, TrunkCommand(0.5)).policy
        assert lower.states[45:, 1].mean() < results[-1].policy.states[45:, 1].mean() - 0.01
        assert lower.sequence == results[-1].policy.sequence + 1, "the gait goes on"


class TestFailure:
    def test_a_diverged_solve_gives_no_policy_and_the_next_recovers(self):
        planner = planner_with()
        results = follow(planner, start_state(planner), [0.0, 0.012], 0.5)
        wild = results[-1].policy.sample(0.024).state
        wild[N:] = 1e8
        failed = planner.plan_coordinates(wild, 0.024, TrunkCommand(0.5))
        assert failed.policy is None
        assert failed.status == "DIVERGED"
        assert "diverged" in failed.message
        good = planner.plan_coordinates(results[-1].policy.sample(0.036).state, 0.036, TrunkCommand(0.5))
        assert good.policy is not None
        assert good.policy.sequence == results[-1].policy.sequence + 1
        assert good.iterations[0].expected < 5.0, "the last good plan is still the warm start"

    def test_a_cold_solve_that_diverges_stays_cold(self):
        planner = planner_with()
        wild = start_state(planner)
        wild[N:] = 1e8
        assert planner.plan_coordinates(wild, 0.0, TrunkCommand(0.5)).policy is None
        good = planner.plan_coordinates(start_state(planner), 0.008, TrunkCommand(0.5))
        assert good.status == "CONVERGED"
        assert len(good.iterations) > planner.config.iterations

    @pytest.mark.parametrize("seed", [3, 9, 17, 20])
    def test_where_the_last_plans_gains_diverge_the_heuristic_guess_takes_over(self, seed):
        planner, time, x = disturbed_planner(seed, 4.0, PENALTIES)
        watched = Watched(planner)
        result = planner.plan_coordinates(x, time, TrunkCommand(0.5))
        assert [one.termination for one in watched.solutions] == [Termination.DIVERGED, Termination.ITERATIONS]
        assert result.cost < watched.solutions[1].initial_cost

    @pytest.mark.parametrize("seed", [9, 31, 39, 53])
    def test_where_the_last_plans_gains_lead_astray_the_heuristic_guess_takes_over(self, seed):
        """They diverge no more than that, but break limits a hundredfold."""
        planner, time, x = disturbed_planner(seed, 3.0, PENALTIES)
        watched = Watched(planner)
        result = planner.plan_coordinates(x, time, TrunkCommand(0.5))
        astray, other = watched.solutions
        assert astray.termination is Termination.ITERATIONS
        assert astray.inequality_violation > 100.0
        assert result.inequality_violation == other.inequality_violation < 20.0

    def test_after_a_long_silence_the_plan_is_sound(self):
        planner = planner_with()
        first = planner.plan_coordinates(start_state(planner), 0.0, TrunkCommand(0.5))
        late = planner.plan_coordinates(start_state(planner), 10 * PERIOD, TrunkCommand(0.5))
        assert late.policy is not None
        assert late.policy.start == pytest.approx(10 * PERIOD)
        after = planner.plan_coordinates(
            late.policy.sample(10 * PERIOD + TICK).state, 10 * PERIOD + TICK, TrunkCommand(0.5)
        )
        assert after.cost < 2.0 * first.cost

    def test_a_plan_far_outside_its_limits_is_a_failed_solve_that_names_the_limit(self):
        """Policies keep the torques of the joints and every limit within its tolerance; there are no others."""
        failed = 0
        for seed in range(40):
            planner, time, x = disturbed_planner(seed, 6.0)
            warm = planner._warm.policy
            result = planner.plan_coordinates(x, time, TrunkCommand(0.5))
            if result.policy is not None:
                assert result.inequality_violation <= LOST
                assert (np.abs(result.policy.controls) <= planner.builder.effort_limits).all()
                continue
            assert planner._warm.policy is warm, "the last good plan is still the warm start"
            if result.status == OUTSIDE_LIMITS:
                failed += 1
                worst = max(result.violations().values(), key=lambda one: one.amount)
                assert result.inequality_violation > LOST
                assert result.message.startswith(f"{worst.name} is exceeded by {worst.amount:.3g} times its scale")
                assert f"at node {worst.node}, " in result.message
        assert failed
