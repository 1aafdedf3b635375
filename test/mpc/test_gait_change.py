"""The receding horizon where the gait changes: when another one begins, and that plans stay sound across it."""

from dataclasses import replace

import numpy as np
import pytest

from contact_ddp_ros.base.errors import ParameterError
from test.mpc.support import PERIOD, STEP, TICK, follow, planner_with, robot_state, start_state


def change_to(planner, name):
    planner.configure(replace(planner.config, gait=replace(planner.config.gait, name=name)))


def gaits_of(planner, policy):
    """Of each node of a policy, the name of its gait."""
    names = [name for name, schedule in planner.builder.sequence.gaits for _ in schedule.modes]
    return np.array(names)[policy.modes]


def test_a_new_gait_comes_in_from_the_horizons_end():
    """At the first plans after the request nothing has changed; then it begins at a cycle's end and goes on."""
    planner = planner_with()
    before = follow(planner, start_state(planner), np.arange(0.0, 0.2, TICK), 0.5)[-1]
    change_to(planner, "pronk")
    x = before.policy.sample(0.2).state
    results = follow(planner, x, np.arange(0.2, 1.6, TICK), 0.5)
    assert all(result.policy is not None and result.touchdown_error < 5e-3 for result in results)
    assert {result.gait for result in results} == {"pronk"}
    assert set(gaits_of(planner, results[0].policy)) == {"bound"}
    begins = set()
    for result in results:
        gaits, policy = gaits_of(planner, result.policy), result.policy
        pronk = np.flatnonzero(gaits == "pronk")
        if pronk.size and pronk[0] > 0:
            begins.add(round(float(policy.times[pronk[0]]) / STEP))
        assert (gaits[pronk[0] :] == "pronk").all() if pronk.size else True
    assert begins == {round(2 * PERIOD / STEP)}
    assert set(gaits_of(planner, results[-1].policy)) == {"pronk"}
    assert len(planner.builder.sequence.sections) == 1, "what is over is forgotten"


def test_policies_near_the_change_land_both_pairs_where_they_shall():
    planner = planner_with()
    follow(planner, start_state(planner), np.arange(0.0, 0.1, TICK), 0.5)
    change_to(planner, "pronk")
    x, time = start_state(planner), 0.1
    for result in follow(planner, x, np.arange(time, 0.7, TICK), 0.5):
        policy = result.policy
        gaits = gaits_of(planner, policy)
        change = np.flatnonzero((gaits[1:] == "pronk") & (gaits[:-1] == "bound"))
        for k in change:
            assert policy.times[k] == policy.times[k + 1], "a switch, of no duration"
            assert (policy.forces[k + 1 : k + 10, 1::2] > 0.0).all(), "both pairs carry load after it"


def test_a_robot_that_stands_begins_with_the_new_gait():
    planner = planner_with()
    state = robot_state(start_state(planner), 0.0)
    planner.plan(state, 0.0, hold=True)
    change_to(planner, "pronk")
    result = planner.plan(replace(state, time=0.01), 0.0, hold=True)
    assert set(gaits_of(planner, result.policy)) == {"pronk"}
    assert result.cold
    change_to(planner, "bound")
    result = planner.plan(replace(state, time=0.02), 0.0, hold=True)
    assert set(gaits_of(planner, result.policy)) == {"bound"}


def test_a_change_that_is_taken_back_in_time_does_not_happen():
    planner = planner_with()
    x = start_state(planner)
    follow(planner, x, np.arange(0.0, 0.1, TICK), 0.5)
    change_to(planner, "pronk")
    change_to(planner, "bound")
    results = follow(planner, x, np.arange(0.1, 1.2, TICK), 0.5)
    assert all(set(gaits_of(planner, result.policy)) == {"bound"} for result in results)


def test_gaits_that_are_not_for_the_plane_leave_the_planner_as_it_was():
    planner = planner_with()
    before, problem = planner.config, planner.builder
    with pytest.raises(ParameterError, match="moves fr and fl alike"):
        change_to(planner, "trot")
    with pytest.raises(ParameterError, match="did you mean"):
        change_to(planner, "pronc")
    assert planner.config is before and planner.builder is problem


def test_what_was_prepared_elsewhere_fits_when_plans_have_gone_on():
    planner = planner_with()
    follow(planner, start_state(planner), np.arange(0.0, 0.1, TICK), 0.5)
    change_to(planner, "pronk")
    bound = replace(planner.config, gait=replace(planner.config.gait, name="bound"))
    prepared = planner.prepared(bound)
    follow(planner, start_state(planner), np.arange(0.1, 0.3, TICK), 0.5)
    sections = planner.builder.sequence.sections
    assert len(sections) == 2
    planner.configure(bound, prepared)
    assert planner.builder.sequence.sections == sections
