"""Closed loops as data, and running them: what is said of a run reaches it, and how it ended is told."""

import re

import numpy as np
import pytest

from benchmarks.loop.harness import PUSH_DURATION, SPEED, bounding, cases, changed, moved, push_of, settled
from contact_ddp_ros.runs.options import SENSOR_ERRORS


def test_the_users_parameters_count_more_than_a_cases() -> None:
    base = bounding({"planner.rate": 50.0}, duration=3.0)
    (case,) = cases(base, {"group": {"name": {"overrides": {"planner.rate": 20.0, **SENSOR_ERRORS}, "friction": 0.4}}})
    assert (case.group, case.name) == ("group", "name")
    assert case.options.overrides["planner.rate"] == 50.0
    assert case.options.overrides.items() >= SENSOR_ERRORS.items()
    assert (case.options.friction, case.options.duration, case.options.speed) == (0.4, 3.0, ((0.0, SPEED),))
    assert base.friction != 0.4 and not base.overrides.keys() & SENSOR_ERRORS.keys(), "the base stays as it is"


def test_other_physics_engines_take_longer() -> None:
    base = bounding({}, duration=3.0)
    usual, other = cases(base, {"g": {"a": {}, "b": {"overrides": {"simulator.engine": "dart"}}}})
    assert usual.cost == 3.0 < other.cost


@pytest.mark.parametrize("towards", [(0.0, 1.0), 0.5 * np.pi])
def test_a_push_has_its_impulse_in_its_direction(towards) -> None:
    push = push_of(6.0, towards, 2.5)
    assert np.array(push.force) * push.duration == pytest.approx([0.0, 6.0, 0.0], abs=1e-12)
    assert (push.time, push.duration) == (2.5, PUSH_DURATION)


def test_a_run_that_bounds_is_told_from_one_that_does_not_and_one_that_cannot() -> None:
    base = bounding({}, duration=2.5)
    recording, fall = moved(base, 0.5)
    assert fall == ""
    rows = settled(recording)
    assert recording.ticks["time"][rows[0]] == pytest.approx(1.5, abs=2e-3)
    assert rows[-1] == len(recording.ticks["time"]) - 1
    assert moved(changed(base, stand_time=2.2), 1.0)[1].startswith("not moving: in stand until 2.2")
    fell = moved(changed(base, pushes=(push_of(90.0, (0.0, 1.0), 1.6),)), 0.5)[1]
    assert re.match(r"1\.[6-9]\d s: \w+: ", fell), fell
    nothing, why = moved(changed(base, {"planner.no_such_name": 1.0}), 0.5)
    assert nothing is None and "no_such_name" in why
