"""Inertia of the drives that the description lacks."""

import numpy as np
import pytest

from contact_ddp_ros.control.estimation.config import EstimationConfig
from contact_ddp_ros.control.estimation.reflected_inertia import DriveInertiaEstimate
from contact_ddp_ros.runs.closed_loop import ClosedLoop
from contact_ddp_ros.runs.options import RunOptions

CONFIG = EstimationConfig()
STEP = 0.002
AIR, GROUND = -10.0, 10.0


def swung(inertia: float, damping: float = 0.0, odds: float = AIR, seconds: float = 1.0) -> DriveInertiaEstimate:
    """Legs that swing at 3 Hz with the residual of drives that have an inertia and a damping too few."""
    estimate, smoothed = DriveInertiaEstimate(4), np.zeros(12)
    share = CONFIG.observer_rate * STEP / (1.0 + CONFIG.observer_rate * STEP)
    for time in np.arange(0.0, seconds, STEP):
        velocities = 8.0 * np.sin(2.0 * np.pi * 3.0 * time + np.arange(12.0))
        smoothed = smoothed + share * (velocities - smoothed) if time else velocities
        residual = -(inertia * CONFIG.observer_rate * (velocities - smoothed) + damping * smoothed)
        estimate.update(time, residual, velocities, np.full(4, odds), CONFIG)
    return estimate


@pytest.mark.parametrize("damping", [0.0, 0.2])
def test_it_is_found_beside_damping(damping: float) -> None:
    assert swung(0.01, damping).inertia(CONFIG) == pytest.approx(0.01, rel=0.1)


def test_little_is_none_and_comes_in_without_a_jump() -> None:
    least = CONFIG.drives_least
    assert swung(0.9 * least).inertia(CONFIG) == swung(-0.01).inertia(CONFIG) == 0.0
    assert 0.0 < swung(1.2 * least).inertia(CONFIG) < 0.4 * least
    assert swung(5.0).inertia(CONFIG) == pytest.approx(0.1), "the most that is believed"


def test_legs_on_the_ground_show_nothing() -> None:
    assert swung(0.01, odds=GROUND).inertia(CONFIG) == 0.0
    assert swung(0.01, seconds=5 * STEP).inertia(CONFIG) == 0.0


def test_a_pause_and_a_new_beginning_are_no_acceleration() -> None:
    estimate = swung(0.01)
    before = estimate.inertia(CONFIG)
    estimate.update(100.0, np.full(12, 50.0), np.full(12, 20.0), np.full(4, AIR), CONFIG)
    assert estimate.inertia(CONFIG) == before
    estimate.forget()
    assert estimate.inertia(CONFIG) == 0.0


@pytest.mark.parametrize(("gait", "missing"), [("bound", 0.0), ("trot", 0.008)])
def test_a_robot_that_moves_finds_what_its_simulated_drives_have(gait: str, missing: float) -> None:
    overrides = {"planner.gait.name": gait, "controller.stand.ramp_time": 0.3}
    loop = ClosedLoop(RunOptions(duration=60.0, overrides=overrides))
    loop.plant.model.dof_armature[6:] += missing
    while loop.plant.time < 1.8:
        loop.tick()
    assert loop.controller.fault is None
    assert loop.controller.felt.drive_inertia == pytest.approx(missing, abs=0.001)
