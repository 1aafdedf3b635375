"""The benchmark of the contact models: its runs, and figures of motions that are known."""

import numpy as np
import pytest

from benchmarks.loop import contact
from benchmarks.loop.cases import Case
from benchmarks.loop.contact import (
    ContactOutcome,
    outcome,
    run,
    runs,
    slipped,
    table,
)
from benchmarks.output import console
from contact_ddp_ros.robot.model import foot_positions
from contact_ddp_ros.robot.rotation import quaternion_to_matrix, rpy_to_quaternion
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.recording import Recorder, Recording
from contact_ddp_ros.runs.robot_scaling import planner_config, robot_of, simulator_options
from contact_ddp_ros.runs.run_info import run_info

OPTIONS = RunOptions(duration=4.0)
ROBOT = robot_of(OPTIONS)
PERIOD = 0.002


def moving(position, pitch=lambda time: 0.0, loaded=(True,) * 4, until=3.6) -> Recording:
    """A stiff robot whose trunk goes where it is told."""
    recorder = Recorder()
    recorder.begin(run_info("sim", OPTIONS, ROBOT, planner_config(OPTIONS, ROBOT), PERIOD, 0.01))
    standing = ROBOT.standing_state()
    for time in np.arange(0.0, until, PERIOD):
        recorder.tick(
            RobotState(
                time=float(time),
                position=position(time),
                orientation=rpy_to_quaternion(0.0, pitch(time), 0.0),
                linear_velocity=np.zeros(3),
                angular_velocity=np.zeros(3),
                joint_positions=standing.joint_positions,
                joint_velocities=np.zeros(12),
            ),
            commanded_speed=0.5,
            torques=np.zeros(12),
            foot_heights=np.full(4, -0.004),
            contact_forces=np.array([[3.0, 0.0, 40.0 * one] for one in loaded]),
            mode=0,
            control_mode="move",
        )
    return recorder.finish()


def test_a_foot_that_is_dragged_slips_as_far_as_it_goes() -> None:
    height = ROBOT.standing_height()
    dragged = moving(lambda time: np.array([0.1 * time, 0.0, height]), loaded=(True, False, True, False))
    rows = np.arange(100, 601)
    assert slipped(dragged, rows) == pytest.approx(2 * 0.1 * 500 * PERIOD, rel=1e-6)


def test_a_foot_that_rolls_does_not_slip() -> None:
    """About the foot in front on the right, whose centre goes on by radius times angle."""
    foot, rate = foot_positions(ROBOT, ROBOT.standing)[0], 0.3

    def position(time: float) -> np.ndarray:
        centre = np.array([ROBOT.foot_radius * rate * time, foot[1], ROBOT.foot_radius])
        return centre - quaternion_to_matrix(rpy_to_quaternion(0.0, rate * time, 0.0)) @ foot

    rolled = moving(position, lambda time: rate * time, loaded=(True, False, False, False), until=1.0)
    way = ROBOT.foot_radius * rate * 400 * PERIOD
    assert slipped(rolled, np.arange(0, 401)) < 0.002 * way


def test_figures_are_those_of_the_motion() -> None:
    found = outcome(moving(lambda time: np.array([0.4 * time, 0.0, 0.27]), lambda time: -0.1))
    assert found.speed == pytest.approx(0.4)
    assert found.height == pytest.approx(0.27)
    assert found.pitch == pytest.approx(np.degrees(0.1))
    assert found.depth == pytest.approx(4.0)
    assert found.force == pytest.approx(np.hypot(40.0, 3.0))
    assert found.slip == pytest.approx(1e3 * 0.4 * moving(lambda time: np.zeros(3)).info.gait_period, rel=0.02)


def test_every_row_is_a_world_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contact, "missing", list)
    items = runs(2, 4.0, {"planner.weight.pitch": 61.0})
    assert len({item.name for item in items}) == len(items)
    assert {item.options.seed for item in items} == {0, 1}
    assert all(item.options.parameters("planner") == {"weight.pitch": 61.0} for item in items)
    worlds = {item.group: simulator_options(item.options, ROBOT) for item in items}
    assert worlds["spring, 10 kN/m"].contact.stiffness == 10_000.0
    assert worlds["stiff"].contact.model == "stiff"
    assert worlds["DART, rigid"].engine == "dart"
    monkeypatch.setattr(contact, "missing", lambda: ["dart"])
    assert {item.group for item in runs(1, 4.0, {})} == set(worlds) - {"DART, rigid"}


def test_what_fails_is_said() -> None:
    options = RunOptions(duration=1.0, overrides={"simulator.contact.stiffness": 1.0})
    assert "contact.stiffness" in run(Case("spring", "spring #0", options)).fall


def test_the_table_leaves_out_runs_that_fell() -> None:
    good = ContactOutcome("", 0.5, 0.27, 12.0, 0.2, 1.0, 175.0)
    terminal = console()
    with terminal.capture() as shown:
        terminal.print(table({"stiff": [good, ContactOutcome("2.00 s: tilt")], "soft": [good, good]}, 87.5))
    text = shown.get()
    assert "1 of 2" in text
    assert "0.500 ± 0.000" in text
    assert "2.00" in text
