import numpy as np
import pytest
from PIL import Image
from synthetic import Gait, bounding_recorder, run_info

from contact_ddp_ros.plants.pushes import Push
from contact_ddp_ros.runs.recording import Recorder, Recording
from contact_ddp_ros.runs.report import panels, plots
from contact_ddp_ros.runs.report.style import stretches


@pytest.fixture(scope="module")
def recording():
    return bounding_recorder(Gait(duration=2.0), pushes=(Push(1.0, (0.0, 40.0, 0.0), 0.1),)).finish()


def test_every_figure_is_a_picture_with_something_on_it(recording, tmp_path):
    paths = plots.save_all(recording, tmp_path)
    assert paths[0].name == "overview.png"
    assert sorted(paths) == sorted(tmp_path.iterdir())
    for path in paths:
        pixels = np.asarray(Image.open(path).convert("L"))
        assert pixels.shape[1] > 800
        assert (pixels < 128).mean() > 0.002, f"{path.name} is all but empty"


def test_a_source_that_knows_little_can_be_drawn(recording, tmp_path):
    blind = dict(recording.ticks)
    for name in ("torques", "foot_heights", "contact_forces", "planned_forces", "commanded_speed"):
        blind[name] = np.full_like(blind[name], np.nan)
    for name in ("mode", "control_mode"):
        blind[name] = np.full_like(blind[name], -1)
    none = {name: column[:0] for name, column in recording.solves.items()}
    assert plots.save_all(Recording(recording.info, blind, none, ()), tmp_path)


def test_a_single_tick_can_be_drawn_and_none_draws_nothing(recording, tmp_path):
    first = {name: column[:1] for name, column in recording.ticks.items()}
    assert plots.save_all(Recording(recording.info, first, recording.solves, ()), tmp_path / "one")
    empty = Recorder()
    empty.begin(run_info())
    assert plots.save_all(empty.finish(), tmp_path / "none") == ()
    assert not (tmp_path / "none").exists()


def test_the_close_up_is_the_end_of_bounding(recording):
    times = recording.ticks["time"][panels.close_up(recording)]
    assert times[0] == pytest.approx(1.998 - panels.CLOSE_UP, abs=2.1e-3)
    assert times[-1] == pytest.approx(1.998)


def test_stretches_are_found_at_both_ends():
    time = np.arange(6.0)
    assert stretches(time, np.array([1, 1, 0, 1, 0, 1], dtype=bool)) == [(0.0, 2.0), (3.0, 4.0), (5.0, 5.0)]
    assert stretches(time, np.zeros(6, dtype=bool)) == []
