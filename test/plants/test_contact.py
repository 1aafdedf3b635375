"""The contact models of the simulated world."""

import numpy as np
import pytest

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.control.config import DriveConfig
from contact_ddp_ros.plants.mujoco import MujocoSimulator
from contact_ddp_ros.plants.options import ContactOptions, SimOptions
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.state import JointCommand

ROBOT = load_robot()
STAND = JointCommand(ROBOT.standing, np.zeros(12), np.zeros(12))
GAINS = DriveConfig(kp=(80.0, 80.0, 80.0), kd=(2.0, 2.0, 2.0)).gains(4)


def dropped(height: float = 0.0, time: float = 0.6, **contact: object) -> tuple[MujocoSimulator, np.ndarray]:
    """A robot that has come down on stiff legs, and the largest force on each foot [N]."""
    sim = MujocoSimulator(ROBOT, GAINS, SimOptions(contact=ContactOptions(**contact)))
    state = sim.truth().state
    state.position[2] += height
    sim.reset(state)
    sim.write(STAND)
    peak = np.zeros(4)
    for _ in range(round(time / sim.timestep)):
        sim.advance()
        peak = np.maximum(peak, sim.truth().contact_forces[:, 2])
    return sim, peak


@pytest.mark.parametrize("stiffness", [3000.0, 10_000.0, 100_000.0])
def test_a_spring_gives_way_by_force_over_stiffness(stiffness: float) -> None:
    sim, _ = dropped(model="spring", stiffness=stiffness)
    forces = sim.truth().contact_forces[:, 2]
    assert forces.sum() == pytest.approx(9.81 * ROBOT.mass, rel=0.03)
    np.testing.assert_allclose(-sim.truth().foot_heights * stiffness, forces, rtol=0.03)


def test_a_spring_loads_no_foot_that_is_off_the_ground() -> None:
    sim, _ = dropped(0.1, time=0.05, model="spring")
    assert sim.truth().foot_heights.min() > 0.01
    assert not sim.truth().contact_forces.any()


def test_the_stiff_one_gives_way_least_and_hits_hardest() -> None:
    depths, peaks = {}, {}
    for model in ("stiff", "relaxed", "spring"):
        sim, peak = dropped(0.05, model=model)
        depths[model], peaks[model] = -sim.truth().foot_heights.min(), peak.max()
    assert depths["stiff"] < 0.0005
    assert depths["stiff"] < depths["relaxed"] < depths["spring"]
    assert peaks["stiff"] > peaks["relaxed"]
    assert peaks["stiff"] > peaks["spring"]


@pytest.mark.parametrize("stiffness", [1000.0, 200_000.0])
@pytest.mark.parametrize("damping", [1.0, 500.0])
def test_springs_at_their_bounds_stay_finite(stiffness: float, damping: float) -> None:
    sim, peak = dropped(0.05, model="spring", stiffness=stiffness, damping=damping)
    assert peak.max() < 5000.0
    assert np.abs(sim.truth().state.linear_velocity).max() < 0.5


def test_other_models_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"contact\.model"):
        MujocoSimulator(ROBOT, GAINS, SimOptions(contact=ContactOptions(model="rubber")))
