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
    overrides = {"planner.gait.name": gait, **SENSOR_ERRORS}
    run = {"duration": 6.0, "record_plans": 0, "video": False, "state": "estimated"} | values
    return RunOptions(speed=((0.0, speed),), overrides=overrides, **run)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize(("gait", "speed"), [("bound", 0.5), ("trot", 1.5), ("pronk", 0.5)])
def test_gaits_hold_at_the_commanded_speed_without_any_truth(gait: str, speed: float) -> None:
    loop = ClosedLoop(options(gait, speed, seed=1))
    ticks = loop.run().ticks
    late = ticks["time"] > 3.0
    assert loop.controller.mode is ControlMode.MOVE
    true = np.diff(ticks["true_position"][late][[0, -1], 0])[0] / np.ptp(ticks["time"][late])
    assert true == pytest.approx(speed, rel=0.03)
    path = np.ptp(ticks["true_position"][:, 0])
    drift = (ticks["position"] - ticks["true_position"])[[500, -1]]
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
    late = ticks["time"] > 3.0
    assert loop.estimator is not None and loop.controller.mode is ControlMode.MOVE
    drift = (ticks["position"] - ticks["true_position"])[late]
    assert abs(drift[-1, 2] - drift[0, 2]) < 0.08, "0.16 if feet that creep counted in full"
    assert np.abs(ticks["linear_velocity"] - ticks["true_linear_velocity"])[late].mean(axis=0).max() < 0.03
    assert np.abs(loop.estimator.filter.offsets).max() < 0.025


@pytest.mark.slow
def test_a_fault_after_missing_samples_of_the_imu_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = ClosedLoop(options("bound", 0.5, duration=2.4))
    assert loop.estimator is not None
    update = loop.estimator.update

    def with_a_hole(sample: ImuSample, *args: Any) -> RobotState:
        late = 0.2 if sample.time > 2.2 else 0.0
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
    late = ticks["time"] > 3.0
    assert np.diff(ticks["true_position"][late][[0, -1], 0])[0] > 0.45 * np.ptp(ticks["time"][late])


@pytest.mark.slow
def test_a_robot_thrown_down_gets_up_and_goes_on() -> None:
    """A fall that rolls over twice: no foot tells the velocity for seconds, and impacts are beyond every gate."""
    thrown = Push(3.0, (0.0, 600.0, 0.0), 0.1)
    loop = ClosedLoop(options("bound", 0.5, seed=24, duration=14.0, recover=True, pushes=(thrown,)))
    run = loop.run()
    assert any("recover requested" in event.text for event in run.events)
    assert loop.controller.mode is ControlMode.MOVE
    up_again = figures_of(run)["up_again_time_s"]
    assert up_again is not None and 5.0 < up_again < 12.0
    ticks, late = run.ticks, run.ticks["time"] > 12.5
    true = np.linalg.norm(np.diff(ticks["true_position"][late][[0, -1], :2], axis=0)) / np.ptp(ticks["time"][late])
    assert true == pytest.approx(0.5, abs=0.05)
    errors = (ticks["linear_velocity"] - ticks["true_linear_velocity"])[late]
    assert np.sqrt((errors**2).mean(axis=0)).max() < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["dart", "bullet"])
def test_other_engines_have_the_same_imu(engine: str) -> None:
    pytest.importorskip({"dart": "dartpy", "bullet": "pybullet"}[engine])
    loop = ClosedLoop(options("trot", 0.5, seed=3, engine=engine))
    ticks = loop.run().ticks
    noise = ticks["angular_velocity"] - ticks["true_angular_velocity"]
    late = ticks["time"] > 3.0
    assert loop.controller.mode is ControlMode.MOVE
    assert np.diff(ticks["true_position"][late][[0, -1], 0])[0] == pytest.approx(
        0.5 * np.ptp(ticks["time"][late]), rel=0.04
    )
    assert np.abs(noise[10:50]).max(axis=0).min() > 0.003, "the gyroscope's bias is not learned yet"


def test_another_word_for_the_state_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="state is 'guessed'; allowed: true, estimated"):
        RunOptions(state="guessed", out=tmp_path)
