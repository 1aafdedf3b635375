"""One call for a closed loop."""

import inspect
from dataclasses import fields
from typing import get_type_hints

import numpy as np
import pytest

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.plants.pushes import Push
from contact_ddp_ros.runs.closed_loop import run
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.recording import Recorder
from contact_ddp_ros.runs.simulation import WITHOUT_EFFECT, simulate


def test_it_is_the_closed_loop_of_the_command_line() -> None:
    seen: list[int] = []
    found = simulate(duration=0.8, speed=0.3, listener=lambda recorder: seen.append(recorder.n_ticks))
    expected = run(RunOptions(duration=0.8, speed=((0.0, 0.3),)), Recorder())
    assert len(seen) == len(found.ticks["time"]) == 400
    for name in ("time", "position", "joint_positions", "torques"):
        assert np.array_equal(found.ticks[name], expected.ticks[name]), name


def test_options_come_from_both_ends() -> None:
    options = RunOptions(duration=0.1, seed=3, overrides={"planner.weight.pitch": 50.0})
    info = simulate(options, duration=0.05, gait="pronk").info
    assert info.options["duration"] == 0.05 and info.options["seed"] == 3
    assert info.parameters["planner"]["weight.pitch"] == 50.0
    assert info.parameters["planner"]["gait.name"] == "pronk"


@pytest.mark.parametrize(
    ("choices", "text"),
    [
        ({"durations": 1.0}, "simulate has no option 'durations'; did you mean duration"),
        ({"out": "here"}, "simulate has no option 'out'"),
        ({"duration": 1.0, "pushes": (Push(2.0, (0.0, 40.0, 0.0), 0.1),)}, "push 1 begins at 2 s, and the run ends"),
        ({"duration": 1.0, "stop_time": 2.0}, "stop_time is at 2 s, and the run ends at 1 s"),
        ({"duration": -1.0}, "duration is -1.0"),
        ({"speed": 3.5}, "beyond the 2.5 m/s of planner.reference.speed_limit"),
        ({"gait": "no_such.yaml"}, "no_such.yaml cannot be read"),
        ({"gait": 3}, "gait is 3; allowed: a packaged gait's name"),
        ({"options": RunOptions(backend="lcm")}, "backend is 'lcm', which has nodes"),
        ({"overrides": {"planner.weight.pich": 1.0}}, "did you mean"),
    ],
)
def test_what_is_not_allowed_is_refused_before_anything_runs(choices, text) -> None:
    with pytest.raises(ParameterError, match=text):
        simulate(**choices)


def test_an_editor_is_told_every_option_of_a_run_with_its_type() -> None:
    offered, wanted = inspect.signature(simulate).parameters, get_type_hints(RunOptions)
    names = [field.name for field in fields(RunOptions) if field.name not in WITHOUT_EFFECT]
    assert list(offered) == ["options", "listener", *names]
    assert all(offered[name].annotation == wanted[name] | None for name in names)
