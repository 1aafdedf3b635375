"""Closed loops whose state comes from IMU and joints alone; speeds are the simulator's truth."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.loop.estimation import SENSOR_ERRORS
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.plants import mujoco_model
from contact_ddp_ros.plants.pushes import Push
from contact_ddp_ros.robot.state import ImuSample, RobotState
from contact_ddp_ros.runs.closed_loop import ClosedLoop
from contact_ddp_ros.runs.figures import figures_of
from contact_ddp_ros.runs.options import RunOptions


def options(gait: str, speed: float, **values: object) -> RunOptions:
    overrides = {"planner.gait.name": gait, "controller.stand.ramp_time": 0.3, **SENSOR_ERRORS}
    run = {"duration": 4.8, "record_plans": 0, "video": False, "state": "estimated"} | values
    return RunOptions(speed=((0.0, speed),), overrides=overrides, **run)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize(("gait", "speed"), [("trot", 1.5), ("pronk", 0.5)])
def test_gaits_hold_at_the_commanded_speed_without_any_truth(gait: str, speed: float) -> None:
    loop = ClosedLoop(options(gait, speed, seed=1))
    ticks = loop.run().ticks
    late = ticks["time"] > 1.8
    assert loop.controller.mode is ControlMode.MOVE
    true = np.diff(ticks["true_position"][late][[0, -1], 0])[0] / np.ptp(ticks["time"][late])
    assert true == pytest.approx(speed, rel=0.03)
    path = np.ptp(ticks["true_position"][:, 0])
    drift = (ticks["position"] - ticks["true_position"])[[400, -1]]
    assert np.linalg.norm(np.diff(drift[:, :2], axis=0)) < 0.04 * path
    assert abs(np.diff(drift[:, 2])[0]) < 0.01 * path, "offsets of the joints are learned on level ground"
    errors = ticks["linear_velocity"][late] - ticks["true_linear_velocity"][late]
    assert np.sqrt((errors**2).mean(axis=0)).max() < 0.04


@pytest.mark.slow
def test_on_soft_slippery_ground_a_robot_does_not_seem_to_climb(monkeypatch: pytest.MonkeyPatch) -> None:
    """Feet that sink and creep alike in every stride, as in MuJoCo's own contacts, are no offsets of the joints."""
    monkeypatch.setattr(mujoco_model, "FRICTION_IMPEDANCE_RATIO", 1.0)
    soft = options("pace", 1.0, seed=2, robot="go2", friction=0.4)
    soft = replace(soft, overrides={**soft.overrides, "simulator.contact.model": "relaxed"})
    loop = ClosedLoop(soft)
    ticks = loop.run().ticks
    late = ticks["time"] > 1.8
    assert loop.estimator is not None and loop.controller.mode is ControlMode.MOVE
    drift = (ticks["position"] - ticks["true_position"])[late]
    assert abs(drift[-1, 2] - drift[0, 2]) < 0.08, "0.16 if feet that creep counted in full"
    assert np.abs(ticks["linear_velocity"] - ticks["true_linear_velocity"])[late].mean(axis=0).max() < 0.03
    assert np.abs(loop.estimator.filter.offsets).max() < 0.025


@pytest.mark.slow
def test_a_fault_after_missing_samples_of_the_imu_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = ClosedLoop(options("bound", 0.5, duration=1.2))
    assert loop.estimator is not None
    update = loop.estimator.update

    def with_a_hole(sample: ImuSample, *args: Any) -> RobotState:
        late = 0.2 if sample.time > 1.0 else 0.0
        state = update(replace(sample, time=sample.time + late), *args)
        return replace(state, time=sample.time)

    monkeypatch.setattr(loop.estimator, "update", with_a_hole)
    loop.run()
    assert loop.controller.fault is not None
    assert "in position: the state estimate begins anew after 0.202 s between two samples" in str(loop.controller.fault)


@pytest.mark.slow
def test_a_slope_that_nobody_told_of_is_climbed() -> None:
    loop = ClosedLoop(options("bound", 0.5, terrain="slope:10", seed=2))
    ticks = loop.run().ticks
    assert loop.controller.mode is ControlMode.MOVE
    late = ticks["time"] > 1.8
    assert np.diff(ticks["true_position"][late][[0, -1], 0])[0] > 0.45 * np.ptp(ticks["time"][late])


@pytest.mark.slow
def test_a_robot_thrown_down_gets_up_and_goes_on() -> None:
    """A fall that rolls over twice: no foot tells the velocity for seconds, and impacts are beyond every gate."""
    thrown = Push(1.8, (0.0, 600.0, 0.0), 0.1)
    loop = ClosedLoop(options("bound", 0.5, seed=24, duration=12.8, recover=True, pushes=(thrown,)))
    run = loop.run()
    assert any("recover requested" in event.text for event in run.events)
    assert loop.controller.mode is ControlMode.MOVE
    up_again = figures_of(run)["up_again_time_s"]
    assert up_again is not None and 3.8 < up_again < 10.8
    ticks, late = run.ticks, run.ticks["time"] > 11.3
    true = np.linalg.norm(np.diff(ticks["true_position"][late][[0, -1], :2], axis=0)) / np.ptp(ticks["time"][late])
    assert true == pytest.approx(0.5, abs=0.05)
    errors = (ticks["linear_velocity"] - ticks["true_linear_velocity"])[late]
    assert np.sqrt((errors**2).mean(axis=0)).max() < 0.05


def test_another_word_for_the_state_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="state is 'guessed'; allowed: true, estimated"):
        RunOptions(state="guessed", out=tmp_path)
