import re
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from synthetic import Gait, bounding_recorder, run_info

from contact_ddp_ros.base.errors import RecordingError
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.robot.policy import Policy
from contact_ddp_ros.robot.state import JointCommand, RobotState
from contact_ddp_ros.runs.recording import CONTROL_MODES, Recorder
from contact_ddp_ros.runs.recording.recorder import Table


def state(time: float = 0.0, position: tuple[float, float, float] = (0.0, 0.0, 0.3)) -> RobotState:
    identity = np.array([0.0, 0.0, 0.0, 1.0])
    return RobotState(time, np.array(position), identity, np.zeros(3), np.zeros(3), np.zeros(12), np.zeros(12))


def begun() -> Recorder:
    recorder = Recorder()
    recorder.begin(run_info())
    return recorder


def test_control_modes_are_those_of_the_controller():
    assert tuple(mode.value for mode in ControlMode) == CONTROL_MODES


def test_rows_survive_growth_in_order():
    table = Table({"a": (float, (2,)), "b": (str, ()), "c": (int, ()), "d": (bool, ())})
    for i in range(3000):
        table.append(a=(i, -i), b=f"text {i}", c=i, d=i % 2 == 0)
    columns = table.columns()
    np.testing.assert_array_equal(columns["a"], np.stack([np.arange(3000.0), -np.arange(3000.0)], axis=1))
    assert columns["b"][2999] == "text 2999"
    assert columns["c"][1024] == 1024
    np.testing.assert_array_equal(columns["d"], np.arange(3000) % 2 == 0)
    assert table.row(-2)["c"] == 2998
    assert table.row(-5000)["c"] == 0


def test_what_is_left_out_is_missing():
    recorder = begun()
    recorder.tick(state())
    ticks = recorder.finish().ticks
    assert np.isnan(ticks["foot_heights"]).all()
    assert np.isnan(ticks["planned_forces"]).all()
    assert ticks["mode"][0] == -1
    assert ticks["control_mode"][0] == -1


def test_planned_forces_are_reshaped_per_contact_point():
    recorder = begun()
    recorder.tick(state(), planned_forces=[1.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(recorder.finish().ticks["planned_forces"][0], [[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ({"torques": np.zeros(3)}, "torques"),
        ({"contact_forces": np.zeros((4, 2))}, "contact_forces"),
        ({"planned_forces": np.zeros(6)}, "planned_forces"),
        ({"control_mode": "TROT"}, "damp, stand, move"),
    ],
)
def test_what_does_not_fit_is_refused_and_leaves_no_row(entries, words):
    recorder = begun()
    with pytest.raises(RecordingError, match=words):
        recorder.tick(state(), **entries)
    assert recorder.n_ticks == 0


def test_nothing_before_begin_and_begin_only_once():
    recorder = Recorder()
    with pytest.raises(RecordingError, match="begin"):
        recorder.tick(state())
    with pytest.raises(RecordingError, match="begin"):
        recorder.solve(0.0, solve_ms=1.0, iterations=1, status="converged")
    recorder.begin(run_info())
    with pytest.raises(RecordingError, match="new one"):
        recorder.begin(run_info())


def test_description_is_checked():
    with pytest.raises(RecordingError, match="wheel"):
        replace(run_info(), mode_feet=(("wheel",), (), (), ()))


def test_finished_columns_cannot_be_written_and_do_not_follow_the_recorder():
    recorder = begun()
    recorder.tick(state())
    recording = recorder.finish()
    recorder.tick(state(0.002))
    assert len(recording.ticks["time"]) == 1
    with pytest.raises(ValueError, match="read-only"):
        recording.ticks["time"][0] = 1.0


def test_listener_sees_every_tick():
    seen = []
    recorder = Recorder(lambda r: seen.append(float(r.last_tick["time"])))
    bounding_recorder(Gait(duration=0.02), recorder)
    np.testing.assert_allclose(seen, np.arange(10) * 0.002)


def test_recent_speed_is_along_the_heading():
    recorder = begun()
    for i in range(300):
        time = 0.002 * i
        recorder.tick(state(time, (-0.7 * time, 5.0 * time, 0.3)))
    assert recorder.recent_speed == pytest.approx(-0.7)


def test_heading_velocity_and_angles_of_a_tilted_robot():
    recording = bounding_recorder(Gait(duration=3.0, roll=0.3, pitch=0.4, yaw_rate=2.0)).finish()
    bounding = recording.ticks["control_mode"] == CONTROL_MODES.index("move")
    expected = np.zeros((len(bounding), 3))
    expected[bounding, 0] = 0.5
    np.testing.assert_allclose(recording.heading_velocity, expected, atol=1e-12)
    time = recording.ticks["time"]
    np.testing.assert_allclose(recording.rpy[:, 2], 2.0 * np.maximum(time - 0.5, 0.0), atol=1e-12)  # beyond π
    np.testing.assert_allclose(recording.rpy[:, 0], 0.3 * np.sin(3.0 * time) * bounding, atol=1e-12)


def policy(n_nodes: int, start: float = 0.0) -> Policy:
    shapes = ((n_nodes + 1, 14), (n_nodes, 4), (n_nodes, 4, 14))
    states, controls, gains = (np.full(shape, float(n_nodes)) for shape in shapes)
    times = start + 0.004 * np.arange(n_nodes + 1)
    return Policy(times, states, controls, gains, np.ones(n_nodes, dtype=np.int64), np.zeros((n_nodes, 4)))


def test_the_plan_of_every_so_manyth_solve_is_kept():
    recorder = Recorder(plans_every=3)
    recorder.begin(run_info())
    assert recorder.detailed
    for row in range(7):
        plan = None if row == 0 else policy(90 + row, 0.01 * row)
        recorder.solve(0.01 * row, solve_ms=1.0, iterations=2, status="converged", plan=plan)
    plans = recorder.finish().plans
    assert plans["solve"].tolist() == [3, 6]
    assert plans["nodes"].tolist() == [93, 96]
    assert plans["states"].shape == (2, 97, 14)
    assert (plans["states"][0, :94] == 93.0).all() and np.isnan(plans["states"][0, 94:]).all()
    assert np.isnan(plans["gains"][0, 93:]).all() and (plans["gains"][1] == 96.0).all()
    assert (plans["modes"][0, 93:] == -1).all()
    np.testing.assert_array_equal(plans["times"][1], policy(96, 0.06).times)


def test_no_plan_is_kept_unless_asked_for():
    recorder = begun()
    recorder.solve(0.0, solve_ms=1.0, iterations=2, status="converged", plan=policy(90))
    assert not recorder.detailed
    assert recorder.finish().plans == {}


def test_true_states_are_kept_where_they_are_not_the_measured_ones():
    for true_x, kept in ((0.0, False), (0.1, True)):
        recorder = begun()
        recorder.tick(state(), true_state=state(position=(true_x, 0.0, 0.3)))
        ticks = recorder.finish().ticks
        assert ("true_position" in ticks) is kept
        assert "true_orientation" not in ticks


def test_joint_targets_are_kept_and_damping_has_no_positions():
    recorder = begun()
    recorder.tick(state(), targets=JointCommand(np.ones(12), np.full(12, 2.0), np.full(12, 3.0)))
    recorder.tick(state(0.002), targets=JointCommand.damping(12))
    ticks = recorder.finish().ticks
    assert [float(ticks[f"target_{name}"][0, 0]) for name in ("positions", "velocities", "torques")] == [1.0, 2.0, 3.0]
    assert np.isnan(ticks["target_positions"][1]).all()
    assert (ticks["target_torques"][1] == 0.0).all()


def test_the_commit_is_that_of_the_checkout():
    assert re.fullmatch(r"[0-9a-f]{40}\+?|", run_info().commit)


def documented(heading: str) -> set[str]:
    """Keys of the table below a heading of docs/recording.md."""
    text = (Path(__file__).parents[3] / "docs" / "recording.md").read_text(encoding="utf-8")
    section = text.partition(f"\n## {heading}")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| (`.*?`) \|", section, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}


def test_every_key_is_documented():
    noisy = Recorder(plans_every=1)
    noisy.begin(run_info())
    other = RobotState(
        0.0, *(value + 0.1 for value in (np.zeros(3), np.zeros(4), *np.zeros((2, 3)), *np.zeros((2, 12))))
    )
    noisy.tick(state(), true_state=other)
    noisy.solve(0.0, solve_ms=1.0, iterations=2, status="converged", plan=policy(90))
    recording = noisy.finish()
    assert set(recording.ticks) == documented("ticks")
    assert set(recording.solves) == documented("solves")
    assert set(recording.plans) == documented("plans")
    assert {field.name for field in fields(recording.info)} == documented("info")
