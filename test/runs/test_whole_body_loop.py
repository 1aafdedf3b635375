"""The whole body in the loop: it trots where it is told, without a stabiliser, in lock-step."""

import numpy as np
import pytest

from benchmarks.loop.pushes import holds, motion
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.plants.pushes import Push
from contact_ddp_ros.robot.rotation import quaternion_to_rpy
from contact_ddp_ros.robot.state import BodyPose
from contact_ddp_ros.runs.closed_loop import ClosedLoop
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.recording import Recording

NOISE = {"simulator.noise.joint_velocities": 0.1}
PROMPT = {"controller.stand.ramp_time": 0.3}
TROT = {"planner.gait.name": "trot", **NOISE, **PROMPT}


def moved(duration: float = 3.8, **options: object) -> Recording:
    overrides = {**TROT, **options.pop("overrides", {})}  # type: ignore[dict-item]
    recording = ClosedLoop(RunOptions(duration=duration, overrides=overrides, **options)).run()  # type: ignore[arg-type]
    assert not [event for event in recording.events if event.fault]
    return recording


def check_steady(recording: Recording, speed: float, left: float, turn: float, end: float = np.inf) -> None:
    """In the last two seconds before an end."""
    time = recording.ticks["time"]
    late = (time > min(end, time[-1]) - 2.0) & (time < end)
    velocity = recording.actual("linear_velocity")[late].mean(axis=0)
    assert velocity[0] == pytest.approx(speed, abs=max(0.02 * abs(speed), 0.01))
    assert velocity[1] == pytest.approx(left, abs=0.03)
    yaw = np.unwrap([quaternion_to_rpy(one)[2] for one in recording.actual("orientation")[late]])
    rate = (yaw[-1] - yaw[0]) / (time[late][-1] - time[late][0])
    assert rate == pytest.approx(turn, abs=0.05)


def mean_rpy(recording: Recording, begin: float, end: float) -> np.ndarray:
    time = recording.ticks["time"]
    rows = recording.actual("orientation")[(time > begin) & (time < end)]
    return np.mean([quaternion_to_rpy(one) for one in rows], axis=0)


def check_rises_gently(recording: Recording, stop: float) -> None:
    """Legs as prompt as under a level trunk would throw a low and tilted one up and over."""
    height, time = recording.actual("position")[:, 2], recording.ticks["time"]
    assert height[time < stop][-1] < height[-1] - 0.02
    assert height[time > stop + 0.5].max() < height[-1] + 0.01


@pytest.mark.parametrize(("speed", "left", "turn"), [(1.0, 0.0, 1.0), (-0.5, 0.3, -1.0)])
def test_it_trots_as_commanded(speed: float, left: float, turn: float) -> None:
    recording = moved(speed=((0.0, speed),), left=left, turn=turn)
    check_steady(recording, speed, left, turn)
    assert recording.info.force_dimension == 3
    assert len(recording.info.plan_coordinates) == 18


def test_it_gets_over_a_push_from_the_side_and_a_slope() -> None:
    push = Push(1.3, (0.0, 100.0, 0.0), 0.1)
    recording = moved(duration=4.8, speed=((0.0, 0.5),), pushes=(push,), terrain="slope:6,30")
    late = recording.ticks["time"] > 3.3
    assert recording.actual("linear_velocity")[late].mean(axis=0)[0] == pytest.approx(0.5, abs=0.025)


def test_a_stand_holds_the_trunk_as_it_is_told_and_rises_gently() -> None:
    """Whatever velocity is commanded, and after a push."""
    push, pose = Push(2.0, (20.0, 30.0, 0.0), 0.1), BodyPose(0.25, -0.2, 0.2)
    overrides = {**TROT, "planner.gait.name": "stand"}
    run = {"speed": ((0.0, 0.5),), "turn": 1.0, "pushes": (push,), "stop_time": 4.0}
    loop = ClosedLoop(RunOptions(duration=6.0, overrides=overrides, **run))  # type: ignore[arg-type]
    loop.pose = pose
    recording = loop.run()
    assert not [event for event in recording.events if event.fault] and loop.controller.mode is ControlMode.STAND
    time = recording.ticks["time"]
    position = recording.actual("position")[(time > 3.0) & (time < 4.0)].mean(axis=0)
    roll, pitch, yaw = mean_rpy(recording, 3.0, 4.0)
    assert (roll, pitch) == (pytest.approx(pose.roll, abs=0.02), pytest.approx(pose.pitch, abs=0.05))
    assert position[2] == pytest.approx(pose.height, abs=0.01)
    assert np.hypot(*position[:2]) < 0.06 and abs(yaw) < 0.1
    check_rises_gently(recording, 4.0)


def test_it_trots_with_its_nose_down_then_stops_and_rises_gently() -> None:
    loop = ClosedLoop(RunOptions(duration=5.8, overrides=TROT, speed=((0.0, 0.4),), stop_time=3.8))
    loop.pose = pose = BodyPose(0.2, 0.12, 0.25)
    recording = loop.run()
    assert not [event for event in recording.events if event.fault]
    check_steady(recording, 0.4 * np.cos(pose.pitch), 0.0, 0.0, end=3.8)  # in the trunk's axes
    roll, pitch, _ = mean_rpy(recording, 1.8, 3.8)
    assert (roll, pitch) == (pytest.approx(pose.roll, abs=0.02), pytest.approx(pose.pitch, abs=0.03))
    assert loop.controller.mode is ControlMode.STAND
    check_rises_gently(recording, 3.8)


def test_it_comes_to_stand_from_gaits_and_moves_on() -> None:
    gaits = ((0.6, "bound"), (2.6, "stand"), (4.0, "walk"), (6.6, "stand"))
    recording = moved(8.0, speed=((0.0, 0.5),), gaits=gaits, overrides={"planner.gait.name": "stand"})
    time, ahead = recording.ticks["time"], recording.actual("linear_velocity")[:, 0]
    for begin, end, speed in ((0.4, 0.6, 0.0), (2.0, 2.6, 0.5), (3.6, 4.0, 0.0), (6.0, 6.6, 0.5), (7.6, 8.0, 0.0)):
        assert ahead[(time > begin) & (time < end)].mean() == pytest.approx(speed, abs=0.06)


def test_a_walk_that_is_told_to_run_goes_as_fast_as_its_legs_reach() -> None:
    recording = moved(4.5, speed=((0.0, 2.0),), overrides={"planner.gait.name": "walk"})
    check_steady(recording, 1.04, 0.0, 0.0)


def test_a_bound_survives_roll_impulses_that_lift_a_foot_as_it_lands() -> None:
    """1.5 N m s over 0.1 s; where plans may count on a foot that rises (`impulse_time` of 0) it falls at all three."""
    overrides = {"planner.gait.name": "bound", **PROMPT}
    loop, fallen = ClosedLoop(RunOptions(duration=60.0, speed=((0.0, 0.5),), overrides=overrides)), []
    for phase in (0.60, 0.94, 0.98):
        while loop.plant.time < 1.8 + 0.36 * phase:
            loop.tick()
        pushed = loop.fork()
        pushed.plant.push(np.zeros(3), 0.1, np.array([15.0, 0.0, 0.0]))
        while pushed.plant.time < loop.plant.time + 1.2 and pushed.controller.fault is None:
            pushed.tick()
        if pushed.controller.fault is not None:
            fallen.append(phase)
    assert len(fallen) <= 1, fallen


def test_a_push_at_speed_ends_stances_before_their_legs_are_straight() -> None:
    """The trunk goes on at 3.3 m/s, where the leg of a stance of 0.2 s reaches no further than at 3.1 m/s."""
    trotting = motion({"planner.gait.name": "trot", **PROMPT}, speed=1.5)
    assert holds(trotting, direction=0.0, phase=0.5, impulse=16.0)
