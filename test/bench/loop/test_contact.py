"""The benchmark of the contact models: its runs, and figures of motions that are known."""

import numpy as np
import pytest

from benchmarks.loop import contact
from benchmarks.loop.contact import BENCHMARK, figures, run, slipped
from contact_ddp_ros.robot.model import foot_positions
from contact_ddp_ros.robot.rotation import quaternion_to_matrix, rpy_to_quaternion
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.runs.closed_loop import run_info
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.recording import Recorder, Recording
from contact_ddp_ros.runs.scenario import scenario
from contact_ddp_ros.runs.study.study import Case
from test.bench.studies import cases_of, group

OPTIONS = RunOptions(duration=4.0)
SCENARIO = scenario(OPTIONS)
ROBOT = SCENARIO.robot
PERIOD = 0.002


def moving(position, pitch=lambda time: 0.0, loaded=(True,) * 4, until=3.6) -> Recording:
    """A stiff robot whose trunk goes where it is told."""
    recorder = Recorder()
    recorder.begin(run_info("sim", SCENARIO, PERIOD, 0.01))
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
    found = figures(moving(lambda time: np.array([0.4 * time, 0.0, 0.27]), lambda time: -0.1))
    expected = {"speed": 0.4, "height": 0.27, "pitch": np.degrees(0.1), "depth": 4.0, "force": np.hypot(40.0, 3.0)}
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    assert found["over_weight"] == pytest.approx(found["force"] / (9.81 * ROBOT.mass))
    assert found["slip"] == pytest.approx(1e3 * 0.4 * moving(lambda time: np.zeros(3)).info.gait_period, rel=0.02)


def test_every_row_is_a_world_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contact, "missing", list)
    worlds = {case.group: scenario(case.options).simulator for case in cases_of(BENCHMARK, "--seeds", "2")}
    assert worlds["spring, 10 kN/m"].contact.stiffness == 10_000.0
    assert worlds["stiff"].contact.model == "stiff"
    assert worlds["DART, rigid"].engine == "dart"
    monkeypatch.setattr(contact, "missing", lambda: ["dart"])
    assert {case.group for case in cases_of(BENCHMARK)} == set(worlds) - {"DART, rigid"}


def test_falls_and_missing_engines_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contact, "missing", lambda: ["dart"])
    found = contact.report([group("spring", {"speed": 0.5}, {"fall": "2.00 s: tilt"})], None)
    assert found.exit_code == 1
    assert "spring #1: 2.00 s: tilt" in found.remarks[0] and "pip install" in found.remarks[1]
    wrong = RunOptions(duration=1.0, overrides={"simulator.contact.stiffness": 1.0})
    assert "contact.stiffness" in run(Case("spring", "spring #0", wrong))["fall"]
