"""Planner and controller make the robot bound in DART, through Gazebo's topics and what Gazebo does to them."""

import numpy as np

from contact_ddp_ros.cli.gazebo import run_in_gazebo
from contact_ddp_ros.options import RunOptions
from contact_ddp_ros.recording import CONTROL_MODES, Recorder


def test_the_robot_bounds_in_dart() -> None:
    options = RunOptions(duration=1.6, overrides={"controller.stand.ramp_time": 0.2})
    recording = run_in_gazebo(options, Recorder(), "", stand_in=True)
    ticks = recording.ticks
    assert not [event for event in recording.events if event.fault]
    np.testing.assert_allclose(np.diff(ticks["time"]), 0.002, atol=1e-9)
    bounding = ticks["control_mode"] == CONTROL_MODES.index("bound")
    assert bounding.sum() > 500
    assert ticks["position"][bounding, 2].min() > 0.22
    assert np.abs(recording.rpy).max() < 0.45
    assert ticks["linear_velocity"][-100:, 0].mean() > 0.3
    flying = (ticks["foot_heights"] > 0.005).all(axis=1)
    assert flying.sum() > 100, "all feet leave the ground"
    assert np.abs(ticks["torques"]).max() > 5.0
    assert recording.solves["ok"].all()
