"""Faults are what they say, and the benchmark notices what does not hold."""

import dataclasses

import numpy as np
import pytest

from benchmarks.loop import reliability
from benchmarks.loop.faults import FAULTS, KINDS, STATE_DELAY, STATE_INTERVAL, Fault
from benchmarks.loop.reliability import LIMITS, complaints, inject
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.policy import Policy
from contact_ddp_ros.robot.state import JointCommand
from contact_ddp_ros.runs.study.study import Figures, groups_of
from test.bench.studies import cases_of

TICK = 0.002
BEGIN, END = 0.1, 0.3


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot()


def fault(robot: Robot, target: str, kind: str, seed: int = 0) -> Fault:
    return FAULTS[target](kind, BEGIN, END, seed, robot.effort_limits)


def states(robot: Robot, link: Fault) -> tuple[np.ndarray, list]:
    times = TICK * np.arange(200)
    return times, [link.state(robot.standing_state(float(time))) for time in times]


@pytest.mark.parametrize("kind", KINDS)
def test_outside_its_window_a_fault_changes_nothing(robot: Robot, kind: str) -> None:
    times, received = states(robot, fault(robot, "state", kind))
    for time, state in zip(times, received):
        if not BEGIN - 1e-9 <= time < END:
            assert state is not None and state.time == time
            assert (state.joint_positions == robot.standing).all()
    clock = fault(robot, "clock", kind)
    assert [clock.clock(time) for time in times if time < BEGIN - 1e-9] == [t for t in times if t < BEGIN - 1e-9]
    velocity = fault(robot, "velocity", kind)
    assert {velocity.speed(0.5, time) for time in times if time < BEGIN - 1e-9} == {0.5}


def test_states_are_lost_late_or_seldom(robot: Robot) -> None:
    def ages(kind: str) -> np.ndarray:
        times, received = states(robot, fault(robot, "state", kind))
        inside = (times >= BEGIN) & (times < END - 1e-9)
        return (times - [one.time for one in received])[inside]

    assert ages("off")[-1] == pytest.approx(END - BEGIN, abs=2 * TICK)
    np.testing.assert_allclose(ages("delayed"), STATE_DELAY, atol=1e-9)
    assert ages("slow").max() == pytest.approx(STATE_INTERVAL - TICK, abs=1e-9)
    assert ages("stuck").max() == 0.0
    assert 0.0 == ages("intermittent").min() < ages("intermittent").max()


def test_the_onset_is_that_of_the_unbroken_fault(robot: Robot) -> None:
    link = fault(robot, "state", "intermittent", seed=3)
    for time in TICK * np.arange(200):
        state = link.state(robot.standing_state(float(time)))
        fresh = state is not None and state.time == time
        assert (link.onset == np.inf) == fresh
        if not fresh:
            assert link.onset == pytest.approx(state.time + TICK)


def test_garbage_is_always_something_that_must_be_refused(robot: Robot) -> None:
    link = fault(robot, "state", "garbage")
    for time in BEGIN + TICK * np.arange(50):
        state = link.state(robot.standing_state(float(time)))
        fields = [getattr(state, one.name) for one in dataclasses.fields(state)]
        sizes = [np.shape(one) for one in fields] != [
            np.shape(getattr(robot.standing_state(), one.name)) for one in dataclasses.fields(state)
        ]
        assert sizes or any((~np.isfinite(one) | (np.abs(one) > 1e20)).any() for one in fields)


@pytest.mark.parametrize("kind", KINDS)
def test_of_a_faulty_policy_link_only_what_is_fine_arrives_unharmed(robot: Robot, kind: str) -> None:
    link = fault(robot, "policy", kind, seed=1)
    arrived = []
    for k in range(40):
        due = 0.01 * k
        times = due + np.array([0.0, 0.3, 0.6])
        policy = Policy(
            times, np.zeros((3, 14)), np.ones((2, 4)), np.ones((2, 4, 14)), np.zeros(2, int), np.zeros((2, 4)), k + 1
        )
        for when, one in link.policies(policy, due):
            arrived.append((due, when, one is policy))
    inside = [one for one in arrived if BEGIN - 1e-9 <= one[0] < END - 1e-9]
    fine = [one for one in inside if one[2] and one[1] == one[0]]
    assert len(fine) < 20
    assert (len(fine) > 0) == (kind in ("slow", "intermittent"))
    assert all(one[2] for one in arrived if one[0] < BEGIN - 1e-9)


def test_torques_beyond_the_limits_are_seen(robot: Robot) -> None:
    link, limits = fault(robot, "state", "off"), robot.effort_limits
    link.command(JointCommand(robot.standing, np.zeros(12), 0.5 * limits), 0.0)
    assert link.torque_share == 0.5
    link.command(JointCommand(robot.standing * np.nan, np.zeros(12), 0.1 * limits), 0.0)
    assert link.torque_share == np.inf


def test_unknown_kinds_are_refused(robot: Robot) -> None:
    with pytest.raises(ParameterError, match="there are off, stuck"):
        fault(robot, "state", "rusty")


def test_complaints_name_all_that_did_not_hold() -> None:
    fine = {"damped_after": LIMITS["state"], "reason": "", "bounding": False, "stood": False, "torque": 0.5}
    fine |= {"rearmed": True, "failed": ""}
    assert complaints("state", fine) == []
    assert len(complaints("state", {**fine, "damped_after": 0.09, "torque": 1.1, "rearmed": False})) == 3
    assert complaints("state", {**fine, "damped_after": None}) == ["never damped, allowed: 80 ms"]
    planned = {**fine, "damped_after": None, "stood": True}
    assert complaints("policy", planned) == []
    assert complaints("policy", {**planned, "reason": "policy_over"}) == ["damped: policy_over"]
    assert complaints("velocity", {**fine, "bounding": True}) == []
    assert complaints("velocity", fine) == ["the bound ended"]


def injected(target: str, kind: str) -> Figures:
    cases = {case.group: case for case in cases_of(reliability.BENCHMARK, "--quick")}
    return inject(cases[f"{target}, {kind}"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "kind", "violation"),
    [("state", "wrong", "state_jump"), ("clock", "stuck", "state_from_future")],
)
def test_it_damps_in_time_and_bounds_again(target: str, kind: str, violation: str) -> None:
    reaction = injected(target, kind)
    assert (reaction["fall"], reaction["reason"]) == ("", violation)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["wrong", "delayed"])
def test_without_good_policies_it_never_damps(kind: str) -> None:
    reaction = injected("policy", kind)
    assert (reaction["fall"], reaction["reason"]) == ("", "")
    assert reaction["stood"] == (kind != "delayed"), "late ones still serve"


def test_a_figure_and_a_table_are_made(tmp_path) -> None:
    cases = cases_of(reliability.BENCHMARK, "--seeds", "1")
    figures = {"damped_after": 0.01, "reason": "f", "stood": False, "torque": 0.5, "rearmed": True}
    groups = groups_of(cases, [{"fall": "torque" * (case.values["kind"] == "off"), **figures} for case in cases])
    found = reliability.REPORT(groups, None)
    assert (found.exit_code, len(found.remarks)) == (1, len(FAULTS))
    for name, draw in found.drawings.items():
        draw(tmp_path / name)
    assert (tmp_path / "reliability.png").stat().st_size > 1000
    assert (tmp_path / reliability.TABLE_FILE).read_text().count("\n") == 2 + len(FAULTS) * len(KINDS)
