import numpy as np
import pytest
from synthetic import Gait, bounding_recorder, run_info

from contact_ddp_ros.base.errors import RecordingError, SimulationError
from contact_ddp_ros.plants.pushes import Push
from contact_ddp_ros.runs.recording import Recorder, Recording
from contact_ddp_ros.runs.report import video

_BOX = 6
"""MuJoCo's number of the shape."""


@pytest.fixture(scope="module")
def recording():
    return bounding_recorder(Gait(duration=1.0), pushes=(Push(0.5, (0.0, 40.0, 0.0), 0.05),)).finish()


def times(recording: Recording, **options: float) -> np.ndarray:
    wanted = {"period": 0.1, "longest": 100.0} | options
    return recording.ticks["time"][video._frame_rows(recording, **wanted)]


def test_frames_are_evenly_spread_over_the_run(recording):
    np.testing.assert_allclose(times(recording), np.arange(0.0, 0.95, 0.1), atol=2e-3)


def test_long_runs_are_filmed_from_their_beginning(recording):
    assert times(recording, longest=0.3)[-1] == pytest.approx(0.3, abs=2e-3)


def test_the_film_ends_where_the_state_is_not_finite(recording):
    position = recording.ticks["position"].copy()
    position[300:] = np.nan
    broken = Recording(recording.info, {**recording.ticks, "position": position}, recording.solves, ())
    assert times(broken)[-1] < 0.6


def test_a_push_is_shown_long_enough_to_be_seen(recording):
    assert video._push(recording, 0.49) is None
    np.testing.assert_array_equal(video._push(recording, 0.6), [0.0, 40.0, 0.0])
    assert video._push(recording, 0.8) is None


def test_nothing_cannot_be_filmed(tmp_path):
    recorder = Recorder()
    recorder.begin(run_info())
    with pytest.raises(RecordingError, match="no tick"):
        video.render_recording(recorder.finish(), tmp_path / "x.mp4")
    with pytest.raises(RecordingError, match="no tick"):
        video.render_still(recorder.finish(), tmp_path / "x.png")
    assert list(tmp_path.iterdir()) == []


def test_a_film_and_a_picture_are_made(recording, tmp_path):
    shares = []
    path = tmp_path / "x.gif"
    try:
        video.render_recording(recording, path, frames_per_second=5.0, speed=2.0, progress=shares.append)
    except SimulationError as error:
        pytest.skip(str(error))
    assert shares == [0.0, pytest.approx(1 / 3), pytest.approx(2 / 3)]
    assert path.read_bytes().startswith(b"GIF8")
    video.render_still(recording, tmp_path / "x.png")
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
    assert len(list(tmp_path.iterdir())) == 2


def test_the_film_shows_the_step_on_which_the_robot_ran():
    stepped = bounding_recorder(Gait(duration=0.2), terrain="step:1,0.03").finish()
    try:
        with video._renderer(stepped) as renderer:
            model = renderer._model
            box = next(k for k in range(model.ngeom) if model.geom_bodyid[k] == 0 and model.geom(k).type[0] == _BOX)
            step = model.geom(box)
    except SimulationError as error:
        pytest.skip(str(error))
    assert step.pos[2] + step.size[2] == pytest.approx(0.03)
    assert step.pos[0] - step.size[0] == pytest.approx(1.0)
