"""Planner and controller make the robot bound in DART, through Gazebo's topics and what Gazebo does to them."""

import numpy as np
import pytest

from contact_ddp_ros.apps.cli.gazebo import run_in_gazebo
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.runs.figures import figures_of
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.recording import CONTROL_MODES, Recorder

NOISE = {"simulator.noise.joint_positions": 0.001, "simulator.noise.joint_velocities": 0.05}


def test_the_robot_bounds_in_dart() -> None:
    options = RunOptions(duration=1.6, terrain="slope:8", overrides={"controller.stand.ramp_time": 0.2, **NOISE})
    recording = run_in_gazebo(options, Recorder(), "", emulator=True)
    ticks = recording.ticks
    assert not [event for event in recording.events if event.fault]
    np.testing.assert_allclose(np.diff(ticks["time"]), 0.002, atol=1e-9)
    bounding = ticks["control_mode"] == CONTROL_MODES.index("move")
    assert bounding.sum() > 500
    assert recording.info.heights(ticks["position"])[bounding].min() > 0.22
    assert np.abs(recording.rpy).max() < 0.45
    assert ticks["linear_velocity"][-100:, 0].mean() > 0.3
    flying = (ticks["foot_heights"] > 0.005).all(axis=1)
    assert flying.sum() > 100, "all feet leave the ground"
    assert np.abs(ticks["torques"]).max() > 5.0
    assert recording.solves["ok"].all()
    standing = ticks["contact_forces"][50:100, :, 2].sum(axis=1)
    assert standing.mean() == pytest.approx(9.81 * load_robot().mass, rel=0.1)
    wrong = ticks["joint_positions"] - ticks["true_joint_positions"]
    assert wrong.std() == pytest.approx(0.001, rel=0.1)


def test_a_robot_that_is_not_settled_first_stands_up_too() -> None:
    """Spawned robot: the first pose is that of straight legs, 0.42 m above the origin."""
    options = RunOptions(duration=0.5, overrides={"gazebo_bridge.gazebo.settle": False})
    recording = run_in_gazebo(options, Recorder(), "", emulator=True)
    assert np.abs(recording.ticks["linear_velocity"]).max() < 3.0
    assert not [event for event in recording.events if event.fault]
    assert figures_of(recording)["stood"]
