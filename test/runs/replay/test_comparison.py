import dataclasses
from time import perf_counter

import numpy as np
import pytest

from contact_ddp_ros.base.config import replace
from contact_ddp_ros.base.errors import ReplayError
from contact_ddp_ros.mpc.config import PlannerConfig
from contact_ddp_ros.mpc.planner import Planner
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel
from contact_ddp_ros.runs.closed_loop import ClosedLoop
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.replay import RecordedSolve, replay


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot()


@pytest.fixture(scope="module")
def solves() -> list[RecordedSolve]:
    """Those of a short run that stands, then bounds."""
    return recorded_run({})


def recorded_run(planner: dict[str, float], late: bool = False) -> list[RecordedSolve]:
    """The same with parameters of the planner; where solves are `late` each has a time for one iteration at most."""
    own = {f"planner.{name}": value for name, value in planner.items()}
    loop = ClosedLoop(RunOptions(duration=0.6, overrides={"controller.stand.ramp_time": 0.2, **own}))
    recorded, plan = [], loop.planner.plan

    def spy(state, speed, *, hold=False, felt, **steering):
        deadline = perf_counter() if late else None
        result = plan(state, speed, hold=hold, deadline=deadline, felt=felt, **steering)
        begun, ok = loop.planner.gait_start, result.policy is not None
        taken = result.solve_time, result.allowed, ok, result.policy
        recorded.append(RecordedSolve(state, speed, felt, hold, "bound", begun, *taken))
        return result

    loop.planner.plan = spy
    loop.run()
    assert {one.hold for one in recorded} == {True, False}
    return recorded


def test_a_whole_recording_gives_the_same_policies(robot: Robot, solves: list[RecordedSolve]) -> None:
    compared = replay(Planner(WholeBodyModel(robot)), solves)
    assert compared.disagreeing == 0
    assert np.nanmax(compared.torque) == 0.0
    assert compared.gain.max() == 0.0
    np.testing.assert_array_equal(compared.times, [one.state.time for one in solves])


def test_solves_that_a_deadline_cut_short_are_cut_short_again(robot: Robot) -> None:
    late = recorded_run({}, late=True)
    assert {one.allowed for one in late[1:]} == {1}
    compared = replay(Planner(WholeBodyModel(robot)), late)
    assert compared.disagreeing == 0 and np.nanmax(compared.torque) == 0.0
    free = [dataclasses.replace(one, allowed=1000) for one in late]
    assert np.nanmax(replay(Planner(WholeBodyModel(robot)), free).torque) > 0.01


def test_one_that_begins_in_the_middle_comes_close(robot: Robot) -> None:
    """Without the speed's trim: what it had learned is not in a recording."""
    untrimmed = {"reference.speed_integral": 0.0}
    planner = Planner(WholeBodyModel(robot), replace(PlannerConfig(), untrimmed))
    compared = replay(planner, recorded_run(untrimmed)[10:])
    assert np.isfinite(compared.torque).all(), "the gait has the recorded phase"
    assert compared.torque[-1] < 1e-2 * max(compared.torque[0], 1.0)


def test_other_parameters_show(robot: Robot, solves: list[RecordedSolve]) -> None:
    other = replace(PlannerConfig(), {"weight.height": 2.0 * PlannerConfig().weight.height})
    assert np.nanmax(replay(Planner(WholeBodyModel(robot), other), solves).torque) > 0.01


def test_a_policy_that_was_not_recorded_is_no_disagreement(robot: Robot, solves: list[RecordedSolve]) -> None:
    lost = [dataclasses.replace(solves[0], policy=None), *solves[1:3]]
    compared = replay(Planner(WholeBodyModel(robot)), lost)
    assert compared.disagreeing == 0 and np.isnan(compared.torque[0]) and np.nanmax(compared.torque) == 0.0
    failed = [dataclasses.replace(solves[0], policy=None, ok=False)]
    assert replay(Planner(WholeBodyModel(robot)), failed).disagreeing == 1


def test_nothing_and_another_robot_are_refused(robot: Robot, solves: list[RecordedSolve]) -> None:
    planner = Planner(WholeBodyModel(robot))
    with pytest.raises(ReplayError, match="no solve"):
        replay(planner, [])
    policy = solves[0].policy
    assert policy is not None
    foreign = dataclasses.replace(solves[0], policy=dataclasses.replace(policy, model_hash=1))
    with pytest.raises(ReplayError, match="model 1;"):
        replay(planner, [foreign])
