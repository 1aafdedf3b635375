from dataclasses import replace

import numpy as np
import pytest
from synthetic import Gait, bounding_recorder, run_info

from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.errors import RecordingError
from contact_ddp_ros.recording import CONTROL_MODES, Recorder
from contact_ddp_ros.recording.table import Table
from contact_ddp_ros.robot.state import RobotState


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
        ({"control_mode": "TROT"}, "damp, stand, bound"),
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
    bounding = recording.ticks["control_mode"] == CONTROL_MODES.index("bound")
    expected = np.zeros((len(bounding), 3))
    expected[bounding, 0] = 0.5
    np.testing.assert_allclose(recording.heading_velocity, expected, atol=1e-12)
    time = recording.ticks["time"]
    np.testing.assert_allclose(recording.rpy[:, 2], 2.0 * np.maximum(time - 0.5, 0.0), atol=1e-12)  # beyond π
    np.testing.assert_allclose(recording.rpy[:, 0], 0.3 * np.sin(3.0 * time) * bounding, atol=1e-12)
