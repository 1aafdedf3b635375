import json

import numpy as np
import pytest
from synthetic import Gait, bounding_recorder, run_info

from contact_ddp_ros.runs import figures
from contact_ddp_ros.runs.figures import figures_of
from contact_ddp_ros.runs.recording import CONTROL_MODES, Recorder, Recording


def changed(recording: Recording, **columns: np.ndarray) -> Recording:
    """The recording with some columns of its ticks replaced."""
    return Recording(recording.info, {**recording.ticks, **columns}, recording.solves, recording.events)


def solved(recording: Recording, **columns: np.ndarray) -> Recording:
    """The recording with some columns of its solves replaced."""
    return Recording(recording.info, recording.ticks, {**recording.solves, **columns}, recording.events)


@pytest.fixture(scope="module")
def recording():
    return bounding_recorder(Gait(duration=4.0)).finish()


def test_a_robot_that_stayed_limp_or_down_has_never_stood(recording):
    limp, standing = np.zeros(2000, int), np.full(2000, CONTROL_MODES.index("stand"))
    low = recording.ticks["position"] * [1.0, 1.0, 0.3]
    assert figures_of(recording)["stood"]
    assert figures_of(changed(recording, control_mode=standing))["stood"]
    assert figures_of(changed(recording, control_mode=limp - 1))["stood"], "nobody knows"
    for never in ({"control_mode": limp}, {"control_mode": standing, "position": low}):
        assert not figures_of(changed(recording, **never))["stood"]


def test_known_numbers_in_known_figures_out(recording):
    s = figures_of(recording)
    assert not s["fell"]
    assert s["fall_time_s"] is None
    assert s["sim_time_s"] == pytest.approx(4.0)
    assert s["bounding_time_s"] == pytest.approx(3.5)
    assert (s["commanded_speed"], s["mean_speed"]) == (pytest.approx(0.5), pytest.approx(0.5))
    assert (s["commanded_left"], s["commanded_turn"]) == (0.0, 0.0)
    assert s["mean_left"] == pytest.approx(0.0, abs=0.01)
    assert (s["height_min"], s["height_max"]) == (pytest.approx(0.265, abs=1e-4), pytest.approx(0.295, abs=1e-4))
    assert s["pitch_abs_max"] == pytest.approx(0.15, abs=1e-4)
    assert s["roll_abs_max"] == pytest.approx(0.02, abs=1e-4)
    assert s["yaw_drift"] == pytest.approx(0.01 * 3.498)
    assert s["lateral_drift"] == pytest.approx(0.005 * 3.498)
    assert s["torque_saturation_fraction"] == 0.0
    assert s["torque_excess_max_nm"] == 0.0
    assert s["friction_violation_fraction"] == 0.0
    assert s["touchdown_height_measured_max_m"] == 0.0
    assert s["real_time_factor"] == pytest.approx(0.8)
    assert (s["planner_period_ms"], s["control_period_ms"]) == (10.0, 2.0)


def test_solves_are_counted(recording):
    n = len(recording.solves["time"])
    milliseconds = np.arange(1.0, n + 1.0)
    missed = milliseconds > n - 7
    ok = np.ones(n, dtype=bool)
    ok[3] = False
    errors = np.full(n, 1e-3)
    errors[3], errors[10] = 0.5, 4e-3  # the first of a solve that was not published
    s = figures_of(
        solved(
            recording,
            solve_ms=milliseconds,
            deadline_missed=missed,
            ok=ok,
            touchdown_error=errors,
            iterations=np.full(n, 3),
        )
    )
    assert (s["solves"], s["solves_failed"]) == (n, 1)
    assert s["solve_ms.median"] == pytest.approx((n + 1) / 2)
    assert s["solve_ms.p99"] == pytest.approx(1 + 0.99 * (n - 1))
    assert s["solve_ms.max"] == n
    assert s["deadline_misses"] == 7
    assert s["deadline_miss_fraction"] == pytest.approx(7 / n)
    assert s["iterations_per_solve"] == 3.0
    assert s["touchdown_error_max_m"] == 4e-3
    assert s["touchdown_error_median_m"] == 1e-3


def test_saturation_and_excess_count_joints_and_ticks_while_active(recording):
    limits = np.array(recording.info.torque_limits)
    torques = np.zeros_like(recording.ticks["torques"])
    torques[0] = 10 * limits  # standing: does not count
    bounding = np.flatnonzero(recording.ticks["control_mode"] == 2)
    torques[bounding[:35], 4] = -limits[4]
    torques[bounding[100], 2] = limits[2] + 1.5
    s = figures_of(changed(recording, torques=torques))
    assert s["torque_saturation_fraction"] == pytest.approx(36 / (len(bounding) * len(limits)))
    assert s["torque_excess_max_nm"] == pytest.approx(1.5)


def test_friction_counts_ticks_with_contact_only(recording):
    forces = np.zeros_like(recording.ticks["planned_forces"])
    bounding = np.flatnonzero(recording.ticks["control_mode"] == 2)
    stance = bounding[:100]
    forces[stance, 0] = (30.0, 100.0)
    forces[stance[:10], 0] = (-62.0, 100.0)  # 2 N outside the cone of 0.6
    forces[stance[10], 0] = (0.0, -1.0)  # pulls
    forces[stance[11], 0] = (60.2, 100.0)  # within the tolerance
    s = figures_of(changed(recording, planned_forces=forces))
    assert s["friction_violation_fraction"] == pytest.approx(11 / 100)
    assert s["friction_violation_max_n"] == pytest.approx(2.0)


def test_measured_touchdowns_are_looked_up_at_the_scheduled_instants(recording):
    modes = recording.ticks["mode"]
    landing = np.flatnonzero((modes[1:] == 2) & (modes[:-1] == 1))[4] + 1
    heights = recording.ticks["foot_heights"].copy()
    heights[landing, 1] = -7e-3  # front left, pressed in
    heights[landing - 1, 1] = 1.0  # not the instant
    heights[landing, 2] = 1.0  # a hind foot does not land then
    assert figures_of(changed(recording, foot_heights=heights))["touchdown_height_measured_max_m"] == pytest.approx(
        7e-3
    )


def test_mean_speed_leaves_out_what_has_not_settled():
    gait = Gait(duration=9.0, speed_ratio=0.9)
    recording = bounding_recorder(gait, speed=((0.0, 0.5), (4.0, 1.0))).finish()
    velocity = recording.ticks["linear_velocity"].copy()
    time = recording.ticks["time"]
    velocity[(time < 2.4) | ((time >= 4.0) & (time < 5.9))] = 100.0
    s = figures_of(changed(recording, linear_velocity=velocity))
    assert s["commanded_speed"] == pytest.approx((3 * 0.5 + 8 * 1.0) / 11), "of whole cycles"
    assert s["mean_speed"] == pytest.approx(0.9 * s["commanded_speed"])
    assert [(phase["commanded_speed"], round(phase["mean_speed"], 6)) for phase in s["speed_phases"]] == [
        (0.5, 0.45),
        (1.0, 0.9),
    ]


def test_drifts_are_the_largest_with_their_sign(recording):
    position = recording.ticks["position"].copy()
    middle = len(position) // 2
    position[middle, 1] -= 0.4
    s = figures_of(changed(recording, position=position))
    assert s["lateral_drift"] == pytest.approx(-0.4 + 0.005 * (recording.ticks["time"][middle] - 0.5))


def test_an_empty_run_has_a_summary_too(tmp_path):
    recorder = Recorder()
    recorder.begin(run_info())
    empty = recorder.finish()
    s = figures_of(empty)
    assert s["sim_time_s"] == 0.0
    assert s["mean_speed"] is None
    figures.save(empty, tmp_path)
    assert json.loads((tmp_path / "summary.json").read_text())["mean_speed"] is None


def test_the_json_has_every_promised_figure_and_is_strict(recording, tmp_path):
    missing = changed(recording, foot_heights=np.full_like(recording.ticks["foot_heights"], np.nan))
    path = figures.save(missing, tmp_path)

    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    data = json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)
    promised = (
        "fell sim_time_s commanded_speed mean_speed height_min height_max pitch_abs_max roll_abs_max yaw_drift "
        "lateral_drift touchdown_error_max_m torque_saturation_fraction friction_violation_fraction solve_ms "
        "iterations_per_solve deadline_misses real_time_factor variant versions"
    )
    assert set(promised.split()) <= set(data)
    assert set(data["solve_ms"]) == {"median", "p99", "max"}
    assert {"contact_ddp_ros", "python", "numpy"} <= set(data["versions"])
    assert data["touchdown_height_measured_max_m"] is None
    assert [path.name for path in tmp_path.iterdir()] == ["summary.json"]
