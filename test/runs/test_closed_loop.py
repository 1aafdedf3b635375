"""Planner, controller and physics together, in lock-step: the robot bounds, and survives what it should."""

from dataclasses import astuple, replace

import numpy as np
import pytest
import yaml

from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.control.safety import ViolationKind
from contact_ddp_ros.plants.pushes import Push
from contact_ddp_ros.robot.joints import LEG_NAMES
from contact_ddp_ros.runs.closed_loop import ClosedLoop, run
from contact_ddp_ros.runs.loop import Channel, Observer
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.recording.falls import recoveries

BOUND = 2
SPEED = 0.5
OPTIONS = RunOptions(duration=3.3, speed=((0.0, SPEED),), overrides={"controller.stand.ramp_time": 0.3})
"""Stands up in 0.3 s and bounds for 3 s."""

STEADY = 1.0
"""Time after which the command has been reached [s]."""


def bounding(recording):
    return recording.ticks["control_mode"] == BOUND


def steady_speed(recording):
    """Mean over whole cycles of the gait at the end of the bound [m/s]."""
    rows = np.flatnonzero(bounding(recording))
    cycles = int((len(rows) * 0.002 - STEADY) / 0.36)
    return recording.heading_velocity[rows[-cycles * 180 :], 0].mean()


@pytest.fixture(scope="module")
def bound():
    return run(OPTIONS)


def test_it_bounds_at_the_commanded_speed(bound):
    time = bound.ticks["time"][bounding(bound)]
    assert time[0] < 0.4
    assert time[-1] > 3.29
    assert bound.fall is None
    assert steady_speed(bound) == pytest.approx(SPEED, rel=0.2)
    roll, pitch, yaw = np.abs(bound.rpy).max(axis=0)
    assert roll < 0.05 and yaw < 0.05
    assert 0.05 < pitch < 0.4
    assert (bound.height[bounding(bound)] > 0.2).all()


def test_its_feet_follow_the_schedule(bound):
    """Back and front pairs stand in turn, with both in the air in between."""
    rows = bounding(bound) & (bound.ticks["time"] > STEADY)
    front, back = np.split(bound.ticks["contact_forces"][rows][:, :, 2], 2, axis=1)
    mode = bound.ticks["mode"][rows]
    front_down, back_down = front.sum(axis=1) > 5.0, back.sum(axis=1) > 5.0
    assert back_down[mode == 0].mean() > 0.8
    assert front_down[mode == 2].mean() > 0.8
    assert (front_down | back_down)[(mode == 1) | (mode == 3)].mean() < 0.25


def test_a_bound_of_another_period_and_duty_runs_from_a_file(tmp_path):
    period, duty = 0.42, 0.2
    stances = {leg: [0.5, 0.5 + duty] if leg in ("fr", "fl") else [0.0, duty] for leg in LEG_NAMES}
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump({"period": period, "stances": stances}))
    other = run(replace(OPTIONS, overrides={**OPTIONS.overrides, "planner.gait.name": str(file)}))
    assert other.fall is None
    assert other.solves["ok"].all()
    steady = other.ticks["time"] > STEADY
    assert other.heading_velocity[steady, 0].mean() == pytest.approx(SPEED, rel=0.2)


def test_the_gait_changes_at_the_end_of_a_cycle_to_a_pronk_and_back_again():
    changes = ((1.0, "pronk"), (3.0, "bound"))
    changed = run(replace(OPTIONS, duration=4.4, gaits=changes))
    assert changed.fall is None
    assert changed.solves["ok"].all()
    assert [event.text for event in changed.events] == ["gait pronk requested", "gait bound requested"]
    names, time = np.array(changed.info.mode_names)[changed.ticks["mode"]], changed.ticks["time"]
    gaits = np.array([name.split()[0] for name in names])
    rows = bounding(changed)
    begins = time[1:][(gaits[1:] != gaits[:-1]) & rows[1:] & rows[:-1]]
    assert len(begins) == 2
    for (asked, _), begun in zip(changes, begins, strict=True):
        assert asked + 0.36 <= begun + 0.01 <= asked + 2 * 0.36 + 0.02
    start = time[rows][0]
    assert np.abs(np.mod(begins - start + 0.18, 0.36) - 0.18).max() < 0.005
    between = (time > begins[0] + 0.36) & (time < begins[1] - 0.36)
    assert np.abs(changed.rpy[between]).max() < 0.1
    assert changed.heading_velocity[rows & (time > start + STEADY), 0].mean() == pytest.approx(SPEED, rel=0.05)
    down = (changed.ticks["contact_forces"][:, :, 2] > 5.0).sum(axis=1)
    assert down[between & (names == "pronk stance")].mean() > 3.2, "it lands and leaves with all feet"
    assert down[between & (names == "pronk flight")].mean() < 0.5


def test_every_plan_is_sound(bound):
    assert bound.solves["ok"].all()
    assert bound.solves["touchdown_error"].max() < 1e-3
    steady = bound.solves["time"] > STEADY
    assert bound.solves["friction_violation"][steady].max() == 0.0
    assert not any("refused" in event.text for event in bound.events)


def test_no_torque_exceeds_its_actuator(bound):
    limits = np.array(bound.info.torque_limits)
    assert (np.abs(bound.ticks["torques"]) <= limits * (1.0 + 1e-9)).all()


def test_the_same_options_give_the_same_run(bound):
    again = run(replace(OPTIONS, duration=1.3))
    timing = {"wall_time", "solve_ms", "deadline_missed"}
    for table in ("ticks", "solves"):
        one, other = getattr(bound, table), getattr(again, table)
        for name in set(one) - timing:
            first = np.ascontiguousarray(one[name][: len(other[name])])
            assert first.tobytes() == np.ascontiguousarray(other[name]).tobytes(), name
    assert bounding(again).sum() > 300


def test_it_comes_back_to_a_stand():
    recording = run(replace(OPTIONS, stop_time=1.2, duration=3.0))
    modes = recording.ticks["control_mode"]
    assert (modes == BOUND).any()
    assert modes[-1] == 1
    assert recording.fall is None
    last = recording.ticks["time"] > 2.8
    assert np.abs(recording.heading_velocity[last]).max() < 0.05
    assert recording.height[last] == pytest.approx(0.29, abs=0.03)
    assert np.abs(recording.rpy[last, :2]).max() < 0.1


def test_it_survives_a_push():
    """4 N s forwards and 4 to the left over 0.1 s, at the beginning of a front stance."""
    recording = run(replace(OPTIONS, pushes=(Push(1.56, (40.0, 40.0, 0.0), 0.1),)))
    assert recording.fall is None
    (recovery,) = recoveries(recording)
    assert recovery.impulse == pytest.approx([4.0, 4.0, 0.0])
    assert recovery.recovery_time_s is not None
    pushed = (recording.ticks["time"] > 1.56) & (recording.ticks["time"] < 1.8)
    felt = np.abs(recording.heading_velocity[pushed, :2] - [SPEED, 0.0]).max(axis=0)
    assert felt.min() > 0.2, "the push must have been felt"


def test_it_survives_a_roll_impulse_at_any_phase():
    """1.1 N m s over 0.1 s, which turns it at 11 rad/s in flight: one foot alone has to stop that."""
    loop = ClosedLoop(replace(OPTIONS, duration=60.0))
    for sign in (1.0, -1.0, 1.0):
        phase_end = max(loop.plant.time, 1.5 - 0.12) + 0.12
        while loop.plant.time < phase_end - 1e-9:
            loop.tick()
        pushed = loop.fork()
        pushed.plant.push(np.zeros(3), 0.1, np.array([11.0 * sign, 0.0, 0.0]))
        while pushed.plant.time < phase_end + 1.0:
            pushed.tick()
        assert pushed.controller.fault is None
        recording = pushed.recorder.finish()
        late = recording.ticks["time"] > phase_end + 0.64
        assert np.abs(recording.rpy[late, 0]).max() < 0.3


def test_a_speed_that_changes_is_reached_without_a_detour():
    """What makes up for constant disturbances does not learn from the time that a change takes."""
    speeds = ((0.0, 0.0), (1.5, 1.0), (3.5, 0.0))
    recording = run(replace(OPTIONS, duration=5.5, speed=speeds))
    assert recording.fall is None
    time, forward = recording.ticks["time"], recording.heading_velocity[:, 0]
    for end, commanded in ((1.5, 0.0), (3.5, 1.0), (5.5, 0.0)):
        cycle = (time >= end - 0.36) & (time < end - 1e-9)
        assert forward[cycle].mean() == pytest.approx(commanded, abs=0.01)


def test_it_survives_a_planner_delay():
    recording = run(replace(OPTIONS, planner_delay=0.005, duration=2.4))
    assert recording.fall is None
    assert steady_speed(recording) == pytest.approx(SPEED, rel=0.2)


def test_a_state_that_is_not_finite_ends_in_damping():
    """For one tick, at which a plan is due: the controller damps, stays there, and the run goes on."""
    loop = ClosedLoop(replace(OPTIONS, duration=1.0))
    measure, commands, write = loop.plant.read, [], loop.plant.write
    bad = []

    def read():
        measured = measure()
        if measured.time >= 0.7 and not bad:
            if loop.ticks % loop.ticks_per_plan == 0:
                bad.append(measured.time)
                return replace(measured, joint_velocities=np.full(12, np.nan))
        return measured

    def record(command):
        commands.append((loop.plant.time, command))
        write(command)

    loop.plant.read, loop.plant.write = read, record
    recording = loop.run()
    assert len(bad) == 1
    assert recording.ticks["time"][-1] == pytest.approx(0.998)
    before = [command for time, command in commands if time < bad[0] - 1e-9]
    after = [command for time, command in commands if time >= bad[0] - 1e-9]
    assert before[-1].positions is not None
    assert len(after) > 100
    for command in after:
        assert command.positions is None
        assert (command.torques == 0.0).all() and (command.velocities == 0.0).all()
    assert loop.controller.mode is ControlMode.DAMP
    assert loop.controller.fault is not None
    assert loop.controller.fault.violation is ViolationKind.STATE_NOT_FINITE
    assert any(event.fault for event in recording.events)
    assert any("no plan" in event.text for event in recording.events)


class Noted(Observer):
    """Notes which hook was called at which tick and time."""

    def __init__(self):
        self.calls = []

    def before_tick(self, loop):
        self.calls.append(("before", loop.ticks, loop.plant.time, loop.recorder.n_ticks))

    def after_update(self, loop):
        self.calls.append(("updated", loop.ticks, loop.plant.time, loop.recorder.n_ticks))

    def after_tick(self, loop):
        self.calls.append(("after", loop.ticks, loop.plant.time, loop.recorder.n_ticks))


@pytest.mark.parametrize("lockstep", [True, False])
def test_observers_take_part_before_and_after_every_tick(lockstep):
    loop, noted = ClosedLoop(replace(OPTIONS, duration=0.02, lockstep=lockstep)), Noted()
    loop.observers.append(noted)
    recording = loop.run()
    times = [*recording.ticks["time"], loop.plant.time]
    expected = []
    for tick in range(10):
        expected += [("before", tick, times[tick], tick), ("updated", tick, times[tick], tick)]
        expected.append(("after", tick + 1, times[tick + 1], tick + 1))
    assert noted.calls == expected


class Heard(Channel):
    """Keeps the bits of the last command."""

    def command(self, command, now):
        self.bits = [np.asarray(part).tobytes() for part in astuple(command)]
        return command


def test_a_fork_goes_on_alike_and_by_itself():
    """From the same state, and the original does not notice what the copy does with a parameter of its own."""

    def bounding() -> ClosedLoop:
        loop = ClosedLoop(OPTIONS)
        while loop.plant.time < 0.6:
            loop.tick()
        return loop

    original, undisturbed = bounding(), bounding()
    alike, other = original.fork(Heard()), original.fork()
    other.planner.configure(replace(other.planner.config, iterations=1))
    other.plant.push(np.array([0.0, 40.0, 0.0]), 0.1)
    heard = undisturbed.fork(Heard())
    for _ in range(120):
        for loop in (original, alike, other, undisturbed, heard):
            loop.tick()
        assert alike._channel.bits == heard._channel.bits
    states = [astuple(loop.plant.truth().state) for loop in (original, undisturbed, alike, other)]
    same = [all(np.array_equal(a, b) for a, b in zip(states[0], state)) for state in states]
    assert same == [True, True, True, False]
    assert original.planner.config.iterations == 2
    assert len(original.recorder.finish().ticks["time"]) == len(alike.recorder.finish().ticks["time"])
