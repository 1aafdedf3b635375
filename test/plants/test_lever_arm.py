"""Inertial unit away from the trunk's origin."""

import numpy as np
import pytest

from contact_ddp_ros.plants.sensing import LeverArm

PLACE = np.array([0.3, -0.1, 0.2])


def test_a_unit_beside_the_trunks_origin_feels_what_the_law_of_rigid_bodies_says() -> None:
    """A trunk that turns about its origin, against exact angular accelerations."""
    arm, step, errors = LeverArm(), 0.002, []
    for index in range(1000):
        time = index * step
        rate = np.array([2.0 * np.sin(3.0 * time), np.cos(5.0 * time), 3.0 * np.sin(time)])
        turning = np.array([6.0 * np.cos(3.0 * time), -5.0 * np.sin(5.0 * time), 3.0 * np.cos(time)])
        exact = np.cross(turning, PLACE) + np.cross(rate, np.cross(rate, PLACE))
        errors.append(arm.acceleration(time, rate, PLACE) - exact)
    assert np.abs(errors[1:]).max() < 0.02, "of up to 4 m/s^2"
    assert np.abs(np.sum(errors, axis=0)).max() * step < 6e-3, "m/s in 2 s"


def test_noise_of_samples_close_together_is_not_amplified() -> None:
    random, arm = np.random.default_rng(0), LeverArm()
    stamps = np.cumsum(random.choice([1e-9, 5e-5, 1e-3, 2e-3], 4000))
    found = [arm.acceleration(stamp, 0.005 * random.standard_normal(3), PLACE) for stamp in stamps]
    assert np.std(found) < 2.0, "m/s^2, of a lever of 0.37 m"


def test_a_pause_forgets_the_angular_acceleration() -> None:
    arm = LeverArm()
    arm.acceleration(0.0, np.zeros(3), PLACE)
    assert np.abs(arm.acceleration(0.002, np.array([0.0, 0.0, 1.0]), PLACE)).max() > 100.0
    rate = np.array([0.0, 0.0, 1.0])
    assert arm.acceleration(1.0, rate, PLACE) == pytest.approx(np.cross(rate, np.cross(rate, PLACE)))
