from dataclasses import replace

import numpy as np
import pytest
from synthetic import Gait, bounding_recorder, quaternion

from contact_ddp_ros.plants.pushes import Push
from contact_ddp_ros.runs.recording import CONTROL_MODES, Event, Recording
from contact_ddp_ros.runs.recording.falls import first_fall, recoveries

DAMP, STAND, BOUND = (CONTROL_MODES.index(name) for name in ("damp", "stand", "move"))


@pytest.fixture
def recording():
    return bounding_recorder(Gait(duration=3.0)).finish()


def changed(recording: Recording, events: tuple[Event, ...] = (), **columns: np.ndarray) -> Recording:
    return Recording(recording.info, {**recording.ticks, **columns}, recording.solves, events)


def test_a_bounding_robot_has_not_fallen(recording):
    assert first_fall(recording) is None
    assert recording.fall is None and not recording.fell


def test_a_low_trunk_is_a_fall(recording):
    position = recording.ticks["position"].copy()
    position[1000:, 2] = 0.1
    fall = first_fall(changed(recording, position=position))
    assert fall is not None
    assert fall.time == pytest.approx(2.0)
    assert "trunk below" in fall.reason
    assert changed(recording, position=position).fell and changed(recording, position=position).fall == fall


@pytest.mark.parametrize("tilt", [(1.56, 0.0), (-1.56, 0.0), (0.0, 1.56), (0.0, -1.56)])
def test_a_large_tilt_is_a_fall(recording, tilt):
    orientation = recording.ticks["orientation"].copy()
    orientation[700] = quaternion(*tilt, 0.0)
    fall = first_fall(changed(recording, orientation=orientation))
    assert fall is not None
    assert fall.time == pytest.approx(1.4)
    assert "tilt" in fall.reason


def test_a_state_that_is_not_finite_is_a_fall(recording):
    position = recording.ticks["position"].copy()
    position[900:, 2] = np.nan
    assert first_fall(changed(recording, position=position)) is not None


def test_the_earliest_sign_is_told(recording):
    position = recording.ticks["position"].copy()
    position[1000:, 2] = 0.1
    faulty = changed(recording, (Event(1.9, "stale state", fault=True), Event(0.6, "bounding")), position=position)
    fall = first_fall(faulty)
    assert fall is not None
    assert (fall.time, fall.reason) == (1.9, "fault: stale state")


def test_rising_before_and_lying_down_after_a_bound_are_no_falls(recording):
    time = recording.ticks["time"]
    position, modes = recording.ticks["position"].copy(), np.full(len(time), BOUND)
    modes[time < 1.0] = STAND
    modes[time >= 2.0] = STAND
    modes[time >= 2.5] = DAMP
    position[(time < 0.9) | (time >= 2.5), 2] = 0.06
    assert first_fall(changed(recording, position=position, control_mode=modes)) is None


def test_damping_straight_from_a_bound_is_a_fall(recording):
    modes = np.where(recording.ticks["time"] >= 2.5, DAMP, BOUND)
    fall = first_fall(changed(recording, control_mode=modes))
    assert fall is not None
    assert fall.time == pytest.approx(2.5)
    told = changed(recording, (Event(2.502, "joint_velocity: 40 rad/s", fault=True),), control_mode=modes)
    assert first_fall(told).reason == "fault: joint_velocity: 40 rad/s", "the next tick says why"


def pushed(roll_after: float, until: float) -> Recording:
    """A push from 1.0 to 1.1 s after which the robot rolls by `roll_after` until the given instant."""
    recording = bounding_recorder(Gait(duration=4.0), pushes=(Push(1.0, (0.0, 40.0, 0.0), 0.1),)).finish()
    time, orientation = recording.ticks["time"], recording.ticks["orientation"].copy()
    orientation[(time > 1.05) & (time <= until)] = quaternion(roll_after, 0.0, 0.0)
    return changed(recording, orientation=orientation)


def test_recovery_is_timed_from_the_end_of_the_push():
    (recovery,) = recoveries(pushed(0.3, until=1.9))
    assert recovery.impulse == (0.0, 4.0, 0.0)
    assert recovery.roll_abs_max == pytest.approx(0.3)
    assert recovery.recovery_time_s == pytest.approx(0.8, abs=0.003)


def test_a_push_that_does_nothing_needs_no_recovery():
    (recovery,) = recoveries(pushed(0.01, until=1.9))
    assert recovery.recovery_time_s == 0.0


def test_a_robot_that_stays_crooked_never_recovers():
    (recovery,) = recoveries(pushed(-0.3, until=10.0))
    assert recovery.recovery_time_s is None


def test_a_changed_heading_is_crooked():
    recording = bounding_recorder(Gait(duration=2.0), pushes=(Push(1.0, (0.0, 40.0, 0.0), 0.1),)).finish()
    orientation = recording.ticks["orientation"].copy()
    orientation[recording.ticks["time"] > 1.2] = quaternion(0.0, 0.0, 0.4)
    (recovery,) = recoveries(changed(recording, orientation=orientation))
    assert recovery.recovery_time_s is None


def test_pushes_after_the_end_are_left_out_and_each_ends_at_the_next():
    pushes = (Push(2.0, (1.0, 0.0, 0.0), 0.1), Push(1.0, (0.0, 1.0, 0.0), 0.1), Push(50.0, (0.0, 1.0, 0.0), 0.1))
    recording = bounding_recorder(Gait(duration=3.0), pushes=pushes).finish()
    orientation = recording.ticks["orientation"].copy()
    orientation[recording.ticks["time"] >= 2.0] = quaternion(0.5, 0.0, 0.0)
    first, second = recoveries(changed(recording, orientation=orientation))
    assert first.time == 1.0
    assert first.roll_abs_max < 0.1
    assert second.recovery_time_s is None


@pytest.mark.parametrize(
    ("text", "fault", "cause"),
    [
        ("policy_stale: the policy is 0.112 s old; allowed: 0.100 s", True, "late policies"),
        ("policy_over: the policy ended 0.002 s ago", True, "late policies: the last one ran out"),
        ("state_stale: no state for 0.05 s", True, "late states"),
        ("policy refused: policy_away: has base_pitch 0.7 rad", False, "policies that do not begin where the robot is"),
        ("tilt: the trunk tilts by 0.9 rad", True, ""),
        (
            "tilt: roll is 0.8 rad; on the way down for want of policies: policy_stale: the policy is old, since"
            " 3 plans in a row were refused or failed: policy_torque: control 3 of knot 0 is -30.2 N m; allowed: ±25.5",
            True,
            "refused policies: control 3 of knot 0 is -30.2 N m; allowed: ±25.5",
        ),
        (
            "no policy: solve_failed: outside_limits: friction of fl_foot is exceeded",
            False,
            "failed solves: outside_limits: friction of fl_foot is exceeded",
        ),
    ],
)
def test_the_cause_is_named_by_the_fault_or_by_what_came_before(recording, text, fault, cause):
    events = (Event(1.7, text, fault), Event(1.9, "tilt: the trunk tilts by 0.9 rad", True))
    fall = first_fall(changed(recording, events))
    assert fall is not None
    assert fall.cause == cause


def test_what_was_long_before_is_no_cause(recording):
    events = (Event(0.6, "policy refused: policy_stale: 0.2 s"), Event(1.9, "tilt: 0.9 rad", True))
    fall = first_fall(changed(recording, events))
    assert fall is not None
    assert fall.cause == ""


@pytest.mark.parametrize(("lockstep", "cause"), [(True, ""), (False, "late policies: ")])
def test_late_solves_are_a_cause_where_time_does_not_wait_for_them(recording, lockstep, cause):
    late = {**recording.solves, "deadline_missed": np.ones_like(recording.solves["deadline_missed"])}
    info = replace(recording.info, options={**recording.info.options, "lockstep": lockstep})
    fall = first_fall(Recording(info, recording.ticks, late, (Event(1.9, "tilt: 0.9 rad", True),)))
    assert fall is not None
    assert fall.cause.startswith(cause) and bool(fall.cause) is bool(cause)


def test_a_push_is_a_cause():
    pushed = bounding_recorder(Gait(duration=3.0), pushes=(Push(1.5, (0.0, 400.0, 0.0), 0.1),)).finish()
    fall = first_fall(changed(pushed, (Event(1.9, "tilt: 0.9 rad", True),)))
    assert fall is not None
    assert fall.cause == "the push at 1.5 s"
