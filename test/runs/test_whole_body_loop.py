"""The whole body in the loop: it trots where it is told, without a stabiliser, in lock-step."""

import numpy as np
import pytest

from benchmarks.loop.pushes import holds, motion
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.mpc.config import ReferenceConfig
from contact_ddp_ros.plants.pushes import Push
from contact_ddp_ros.robot.rotation import quaternion_to_rpy
from contact_ddp_ros.robot.state import BodyPose
from contact_ddp_ros.runs.closed_loop import ClosedLoop
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.recording import Recording

NOISE = {"simulator.noise.joint_velocities": 0.1}
WHOLE = {"planner.gait.name": "trot", **NOISE}


def trotted(duration: float = 5.0, **options: object) -> Recording:
    overrides = {**WHOLE, **options.pop("overrides", {})}  # type: ignore[dict-item]
    return ClosedLoop(RunOptions(duration=duration, overrides=overrides, **options)).run()  # type: ignore[arg-type]


def check_steady(recording: Recording, speed: float, left: float, turn: float) -> None:
    assert not [event for event in recording.events if event.fault]
    time = recording.ticks["time"]
    late = time > 3.0
    velocity = recording.actual("linear_velocity")[late].mean(axis=0)
    assert velocity[0] == pytest.approx(speed, abs=max(0.02 * abs(speed), 0.01))
    assert velocity[1] == pytest.approx(left, abs=0.03)
    yaw = np.unwrap([quaternion_to_rpy(one)[2] for one in recording.actual("orientation")[late]])
    rate = (yaw[-1] - yaw[0]) / (time[late][-1] - time[late][0])
    assert rate == pytest.approx(turn, abs=0.05)


@pytest.mark.parametrize(("speed", "left", "turn"), [(1.0, 0.0, 1.0), (0.3, 0.3, 0.0), (-0.5, 0.0, -1.0)])
def test_it_trots_as_commanded(speed: float, left: float, turn: float) -> None:
    recording = trotted(speed=((0.0, speed),), left=left, turn=turn)
    check_steady(recording, speed, left, turn)
    assert recording.info.force_dimension == 3
    assert len(recording.info.plan_coordinates) == 18


def test_it_gets_over_a_push_from_the_side_and_a_slope() -> None:
    push = Push(2.5, (0.0, 100.0, 0.0), 0.1)
    recording = trotted(duration=6.0, speed=((0.0, 0.5),), pushes=(push,), terrain="slope:6,30")
    assert not [event for event in recording.events if event.fault]
    late = recording.ticks["time"] > 4.5
    assert recording.actual("linear_velocity")[late].mean(axis=0)[0] == pytest.approx(0.5, abs=0.025)


@pytest.mark.parametrize("pose", [BodyPose(0.22, 0.0, 0.25), BodyPose(None, -0.25, -0.2)])
def test_a_stand_holds_the_trunk_as_it_is_told(pose: BodyPose) -> None:
    """Whatever velocity is commanded, and after a push."""
    push = Push(4.0, (20.0, 30.0, 0.0), 0.1)
    overrides = {**WHOLE, "planner.gait.name": "stand"}
    loop = ClosedLoop(RunOptions(duration=6.0, overrides=overrides, speed=((0.0, 0.5),), turn=1.0, pushes=(push,)))
    loop.pose = pose
    recording = loop.run()
    assert not [event for event in recording.events if event.fault] and loop.controller.mode is ControlMode.MOVE
    late = recording.ticks["time"] > 5.0
    position = recording.actual("position")[late].mean(axis=0)
    roll, pitch, yaw = np.mean([quaternion_to_rpy(one) for one in recording.actual("orientation")[late]], axis=0)
    assert (roll, pitch) == (pytest.approx(pose.roll, abs=0.02), pytest.approx(pose.pitch, abs=0.05))
    assert position[2] == pytest.approx(ReferenceConfig.height if pose.height is None else pose.height, abs=0.01)
    assert np.hypot(*position[:2]) < 0.06 and abs(yaw) < 0.1


@pytest.mark.parametrize("gait", ["stand", "trot"])
def test_a_low_and_tilted_trunk_rises_gently_where_the_robot_is_to_stand(gait: str) -> None:
    """Legs as prompt as under a level trunk would throw it up and over."""
    overrides = {**WHOLE, "planner.gait.name": gait}
    loop = ClosedLoop(RunOptions(duration=6.5, overrides=overrides, speed=((0.0, 0.4),), stop_time=4.0))
    loop.pose = BodyPose(0.2, 0.25, 0.3)
    recording = loop.run()
    assert not [event for event in recording.events if event.fault]
    assert loop.controller.mode is ControlMode.STAND
    after = recording.ticks["time"] > 4.5
    assert recording.actual("position")[after, 2].max() < recording.actual("position")[-1, 2] + 0.01


def test_it_trots_with_its_nose_down() -> None:
    loop = ClosedLoop(RunOptions(duration=5.0, overrides=WHOLE, speed=((0.0, 0.5),)))
    loop.pose = BodyPose(0.25, 0.1, 0.2)
    recording = loop.run()
    check_steady(recording, 0.5 * np.cos(0.2), 0.0, 0.0)  # in the trunk's axes
    late = recording.ticks["time"] > 3.0
    roll, pitch, _ = np.mean([quaternion_to_rpy(one) for one in recording.actual("orientation")[late]], axis=0)
    assert (roll, pitch) == (pytest.approx(0.1, abs=0.02), pytest.approx(0.2, abs=0.03))


@pytest.mark.parametrize("gait", ["bound", "walk"])
def test_it_comes_to_stand_from_a_gait_and_moves_on(gait: str) -> None:
    gaits = ((2.5, gait), (5.0, "stand"), (7.0, gait))
    recording = trotted(9.5, speed=((0.0, 0.5),), gaits=gaits, overrides={"planner.gait.name": "stand"})
    assert not [event for event in recording.events if event.fault]
    time, ahead = recording.ticks["time"], recording.actual("linear_velocity")[:, 0]
    for begin, end, speed in ((2.0, 2.5, 0.0), (4.4, 5.0, 0.5), (6.3, 7.0, 0.0), (9.0, 9.5, 0.5)):
        assert ahead[(time > begin) & (time < end)].mean() == pytest.approx(speed, abs=0.06)


def test_a_walk_that_is_told_to_run_goes_as_fast_as_its_legs_reach() -> None:
    recording = trotted(8.0, speed=((0.0, 2.0),), overrides={"planner.gait.name": "walk"})
    check_steady(recording, 1.04, 0.0, 0.0)


def test_a_bound_survives_roll_impulses_that_lift_a_foot_as_it_lands() -> None:
    """1.5 N m s over 0.1 s; where plans may count on a foot that rises (`impulse_time` of 0) it falls at all three."""
    overrides = {"planner.gait.name": "bound"}
    loop, fallen = ClosedLoop(RunOptions(duration=60.0, speed=((0.0, 0.5),), overrides=overrides)), []
    for phase in (0.60, 0.94, 0.98):
        while loop.plant.time < 3.0 + 0.36 * phase:
            loop.tick()
        pushed = loop.fork()
        pushed.plant.push(np.zeros(3), 0.1, np.array([15.0, 0.0, 0.0]))
        while pushed.plant.time < loop.plant.time + 2.0 and pushed.controller.fault is None:
            pushed.tick()
        if pushed.controller.fault is not None:
            fallen.append(phase)
    assert len(fallen) <= 1, fallen


@pytest.mark.parametrize(("direction", "phase", "impulse"), [(1.5 * np.pi, 0.0, 24.0), (0.0, 0.5, 16.0)])
def test_a_push_at_speed_ends_stances_before_their_legs_are_straight(
    direction: float, phase: float, impulse: float
) -> None:
    """The trunk goes on at 2.9 or 3.3 m/s, where the leg of a stance of 0.2 s reaches no further than at 3.1 m/s."""
    trotting = motion({"planner.gait.name": "trot"}, speed=1.5)
    assert holds(trotting, direction, phase, impulse)


def test_it_stops_and_stands() -> None:
    loop = ClosedLoop(RunOptions(duration=5.0, speed=((0.0, 0.5),), stop_time=3.0, overrides=WHOLE))
    recording = loop.run()
    assert not [event for event in recording.events if event.fault]
    assert loop.controller.mode is ControlMode.STAND
