import numpy as np
import pytest
from synthetic import Gait, bounding_recorder

from contact_ddp_ros.robot.ground import cone_excess
from contact_ddp_ros.runs.recording import Recording, analysis


def test_the_gait_period_is_read_off_the_modes():
    recording = bounding_recorder(Gait(duration=3.0)).finish()
    assert analysis.gait_period(recording) == pytest.approx(0.36, abs=1e-9)
    unknown = {**recording.ticks, "mode": np.full_like(recording.ticks["mode"], -1)}
    assert (
        analysis.gait_period(Recording(recording.info, unknown, recording.solves, ()))
        == recording.info.gait_period
        > 0.0
    )


@pytest.mark.parametrize("n", [1, 3, 100])
@pytest.mark.parametrize("window", [0.001, 0.02, 0.05, 10.0])
def test_moving_figures_keep_their_length_and_bounds(n, window):
    values = np.random.default_rng(n).standard_normal(n)
    mean = analysis.moving_mean(values, window, 0.01)
    low, high = analysis.moving_range(values, window, 0.01)
    assert mean.shape == low.shape == high.shape == (n,)
    assert (low <= values).all()
    assert (values <= high).all()
    held = analysis.held_mean(values, window, 0.01)
    known = np.isfinite(mean)
    assert held.shape == (n,)
    assert np.isfinite(held).all()
    np.testing.assert_array_equal(held[known], mean[known])
    assert (low - 1e-12 <= mean)[known].all()
    assert (mean <= high + 1e-12)[known].all()


def test_a_mean_over_a_cycle_does_not_curl_at_the_ends():
    """Over a part of a cycle the mean follows the gait; there is none there."""
    time = np.arange(1000) * 0.002
    values = 0.7 + np.sin(2.0 * np.pi * time / 0.36)
    mean = analysis.moving_mean(values, 0.36, 0.002)
    known = np.isfinite(mean)
    np.testing.assert_allclose(mean[known], 0.7, atol=1e-12)
    assert known.sum() == 1000 - 180 + 1
    np.testing.assert_allclose(analysis.held_mean(values, 0.36, 0.002), 0.7, atol=1e-12)


def test_the_peak_force_is_that_of_one_foot():
    recording = bounding_recorder(Gait(duration=1.0)).finish()
    assert analysis.peak_force(recording) == np.nanmax(recording.ticks["contact_forces"][..., 2])
    blind = {**recording.ticks, "contact_forces": np.full_like(recording.ticks["contact_forces"], np.nan)}
    assert np.isnan(analysis.peak_force(Recording(recording.info, blind, recording.solves, ())))


def test_a_moving_mean_over_a_cycle_removes_it():
    time = np.arange(1000) * 0.002
    values = 0.7 + np.sin(2.0 * np.pi * time / 0.36)
    np.testing.assert_allclose(analysis.moving_mean(values, 0.36, 0.002)[100:-100], 0.7, atol=1e-12)


def test_cone_excess_in_plane_and_space():
    plane = np.array([[50.0, 100.0], [-70.0, 100.0], [0.0, -3.0]])
    np.testing.assert_allclose(cone_excess(plane, 0.6), [-10.0, 10.0, 3.0])
    np.testing.assert_allclose(cone_excess(np.array([[30.0, 40.0, 100.0]]), 0.6), [-10.0])
    normal = np.array([-0.3, -0.2, 1.0]) / np.sqrt(1.13)  # of ground that rises by 0.3 along x and 0.2 along y
    across = np.cross(normal, [1.0, 0.0, 0.0]) / np.linalg.norm(np.cross(normal, [1.0, 0.0, 0.0]))
    force = 100.0 * normal + 65.0 * across
    np.testing.assert_allclose(cone_excess(force, 0.6, np.array([0.3, 0.2])), 5.0)


def test_deviation_is_the_largest_with_its_sign():
    assert analysis.deviation(np.array([1.0, 2.0, -4.0, 3.0])) == -5.0
    assert np.isnan(analysis.deviation(np.empty(0)))


def test_a_steady_velocity_is_over_whole_cycles_and_leaves_out_standing_and_speeding_up():
    recording = bounding_recorder(Gait(duration=4.25), speed=((0.0, 0.0), (1.0, 0.8))).finish()
    time, forward = recording.ticks["time"], 0.8 + np.sin(2.0 * np.pi * (recording.ticks["time"] - 0.5) / 0.36)
    velocity = np.stack([np.where(time < 2.0, 0.1, forward), 0.0 * time, 0.0 * time], axis=1)
    level = np.tile([0.0, 0.0, 0.0, 1.0], (len(time), 1))
    ticks = {**recording.ticks, "linear_velocity": velocity, "orientation": level}
    found = Recording(recording.info, ticks, recording.solves, ())
    assert abs(forward[analysis.steady(found)].mean() - 0.8) > 0.02, "a part of a cycle would count"
    assert found.steady_velocity == pytest.approx([0.8, 0.0, 0.0], abs=1e-6)
