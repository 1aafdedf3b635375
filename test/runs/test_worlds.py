"""Bounding in worlds that the plan does not know, in lock-step."""

from typing import Any

import numpy as np
import pytest

from contact_ddp_ros.robot.rotation import quaternion_to_rpy
from contact_ddp_ros.runs.closed_loop import ClosedLoop
from contact_ddp_ros.runs.options import ESTIMATED, TRUE, RunOptions
from contact_ddp_ros.runs.recording import Recording

DURATION = 4.3
COMMON = {"simulator.noise.joint_velocities": 0.1, "controller.stand.ramp_time": 0.3}
"""Without any noise, left and right stay equal for ever."""


LATE = {
    "simulator__delay__torque": 0.01,
    "controller__move__command_delay": 0.01,
    "controller__move__drive_delay": 0.01,
}


def bounded(terrain: str = "flat", state: str = ESTIMATED, **overrides: object) -> tuple[ClosedLoop, Recording]:
    values = {**COMMON, **{name.replace("__", "."): value for name, value in overrides.items()}}
    loop = ClosedLoop(RunOptions(duration=DURATION, terrain=terrain, state=state, overrides=values))
    return loop, loop.run()


def fell(recording: Recording) -> str:
    return next((event.text for event in recording.events if event.fault), "")


def mean_velocity(recording: Recording) -> np.ndarray:
    time, position = recording.ticks["time"], recording.actual("position")
    late = time > 2.3
    return (position[late][-1] - position[late][0]) / (time[late][-1] - time[late][0])


@pytest.mark.parametrize("terrain", ["slope:-10", "step:1.1,-0.03"])
def test_the_robot_bounds_over_ground_that_it_was_not_told_of(terrain: str) -> None:
    _, recording = bounded(terrain)
    assert not fell(recording)
    assert mean_velocity(recording)[0] == pytest.approx(0.5, abs=0.025)
    assert recording.fall is None, "heights count from the ground below"


def test_edges_that_stop_a_foot_are_climbed() -> None:
    _, recording = bounded("stairs:0.06,4,0.25", planner__gait__name="trot")
    assert not fell(recording)
    assert mean_velocity(recording)[0] > 0.35, "while it climbs"
    height = recording.actual("position")[:, 2]
    assert height[-180:].mean() > 0.05 + height[220:400].mean(), "over a cycle"


def test_where_feet_sink_the_estimated_height_stays() -> None:
    """A rise of 10 mm/s comes of feet that count as soon as on hard ground: they sink by 2 mm at each touchdown."""
    _, recording = bounded(planner__gait__name="trot", simulator__contact__model="spring")
    assert not fell(recording)
    assert mean_velocity(recording)[0] == pytest.approx(0.5, abs=0.02)
    rise = (recording.ticks["position"] - recording.actual("position"))[:, 2]
    assert abs(rise[-1] - rise[-1750]) < 0.025


def test_an_edge_is_climbed_for_having_been_met() -> None:
    _, climbed = bounded("step:1.15,0.1")
    assert not fell(climbed) and mean_velocity(climbed)[0] > 0.45
    _, recording = bounded("step:1.15,0.1", controller__estimation__stumble_roughness=0.0)
    assert fell(recording) or mean_velocity(recording)[0] < 0.2


def test_it_is_the_feeling_that_does_it() -> None:
    _, recording = bounded("slope:10", controller__estimation__ground=False, controller__estimation__timing=False)
    assert fell(recording)


def test_the_slope_is_felt_and_planned_for() -> None:
    loop, recording = bounded("slope:10,60")
    assert not fell(recording)
    assert mean_velocity(recording)[0] == pytest.approx(0.5, abs=0.025)
    ground = loop.controller.felt.ground
    assert ground is not None
    slope = np.tan(np.radians(10.0))
    assert ground.slope_x == pytest.approx(slope * np.cos(np.radians(60.0)), abs=0.02)
    assert ground.slope_y == pytest.approx(slope * np.sin(np.radians(60.0)), abs=0.03)


TILTED = {"simulator__imu__roll": 0.03, "simulator__imu__pitch": -0.07}
LOADED = {"simulator__payload__mass": 2.0, "simulator__payload__y": 0.06}
DELAYED = {"simulator__delay__state": 0.01, "simulator__delay__command": 0.01}
WEAK = {"simulator__torque_scale": 0.55}


@pytest.mark.parametrize(
    "trouble",
    [
        {**TILTED, **LOADED},
        {**DELAYED, "controller__move__command_delay": 0.01},
        {"state": TRUE, "simulator__delay__torque": 0.01, "controller__move__command_delay": 0.01},
        WEAK,  # what weak torques leave behind is no edge
        {**LATE, "planner__gait__name": "pace"},  # nor is a leg that late torque shakes
    ],
)
def test_errors_delays_and_loads_are_borne(trouble: dict[str, Any]) -> None:
    _, recording = bounded(**trouble)
    assert not fell(recording)
    assert mean_velocity(recording)[0] == pytest.approx(0.5, abs=0.1)
    roll = [quaternion_to_rpy(one)[0] for one in recording.actual("orientation")[-180:]]
    assert abs(np.mean(roll)) < 0.1


def test_contact_is_felt_as_the_simulator_has_it() -> None:
    loop = ClosedLoop(RunOptions(duration=60.0, overrides=COMMON))
    felt, true = [], []
    while loop.plant.time < 2.8:
        loop.tick()
        if loop.plant.time > 1.3:
            felt.append(loop.controller.estimator.contacts.contact.copy())
            true.append(loop.plant.truth().contact_forces[:, 2] > 5.0)
    wrong = np.array(felt) != np.array(true)
    assert wrong.mean() < 0.05
