"""The benchmark of the two engines: what is laid over what, and that a figure comes of it."""

from pathlib import Path

import numpy as np
from synthetic import Gait, bounding_recorder

from benchmarks.ros.gazebo import PHYSICS, draw, last_cycles
from contact_ddp_ros.runs.recording import Recorder, Recording


def recording(duration: float) -> Recording:
    recorder = Recorder()
    bounding_recorder(Gait(duration=duration), recorder)
    return recorder.finish()


def test_the_last_two_cycles_begin_with_a_back_stance() -> None:
    ticks = recording(4.0).ticks
    rows = last_cycles(recording(4.0))
    mode = ticks["mode"][rows]
    assert mode[0] == 0
    assert ticks["mode"][rows[0] - 1] != 0
    assert np.count_nonzero((mode[1:] == 0) & (mode[:-1] != 0)) == 1
    assert last_cycles(recording(0.6)).size == 0


def test_runs_of_any_length_are_drawn(tmp_path: Path) -> None:
    runs = {name: recording(4.0 if physics.rotors else 0.6) for name, physics in PHYSICS.items()}
    draw(runs, tmp_path / "gazebo.png")
    assert (tmp_path / "gazebo.png").read_bytes().startswith(b"\x89PNG")
