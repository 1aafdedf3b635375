import json

import numpy as np
import pytest
from synthetic import Gait, bounding_recorder

from contact_ddp_ros.base.errors import RecordingError
from contact_ddp_ros.plants.pushes import Push
from contact_ddp_ros.runs.recording import load, save
from contact_ddp_ros.runs.recording.storage import MEANING_FILE, NUMBERS_FILE


@pytest.fixture
def recording():
    recorder = bounding_recorder(Gait(duration=0.8), pushes=(Push(0.1, (1.0, 2.0, 3.0), 0.1),))
    recorder.event(0.6, "a fault with ünusual lettering", fault=True)
    return recorder.finish(interrupted=True)


def test_a_recording_comes_back_as_it_was(recording, tmp_path):
    save(recording, tmp_path / "new" / "folder")
    loaded = load(tmp_path / "new" / "folder")
    assert loaded.info == recording.info
    assert loaded.events == recording.events
    tables = ((getattr(loaded, name), getattr(recording, name)) for name in ("ticks", "solves", "plans"))
    for table, expected in tables:
        assert list(table) == list(expected)
        for name, column in expected.items():
            assert table[name].dtype == column.dtype
            np.testing.assert_array_equal(table[name], column)


def test_only_the_two_files_are_left(recording, tmp_path):
    save(recording, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([NUMBERS_FILE, MEANING_FILE])


def test_an_interrupted_write_leaves_the_old_recording(recording, tmp_path, monkeypatch):
    save(recording, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def full(path, **_):
        path.write_bytes(b"half of it")
        raise OSError("no space left on device")

    monkeypatch.setattr(np, "savez_compressed", full)
    with pytest.raises(RecordingError, match="no space left"):
        save(recording, tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_files_of_two_runs_are_found_out(recording, tmp_path):
    save(recording, tmp_path / "a")
    save(bounding_recorder(Gait(duration=0.1)).finish(), tmp_path / "b")
    (tmp_path / "a" / NUMBERS_FILE).write_bytes((tmp_path / "b" / NUMBERS_FILE).read_bytes())
    with pytest.raises(RecordingError, match="same run"):
        load(tmp_path / "a")


@pytest.mark.parametrize("name", [NUMBERS_FILE, MEANING_FILE])
@pytest.mark.parametrize("damage", ["missing", "cut", "empty"])
def test_damage_is_one_clear_error(recording, tmp_path, name, damage):
    save(recording, tmp_path)
    path = tmp_path / name
    content = path.read_bytes()
    path.unlink()
    if damage != "missing":
        path.write_bytes(content[: len(content) // 2] if damage == "cut" else b"")
    with pytest.raises(RecordingError):
        load(tmp_path)


@pytest.mark.parametrize("key", ["schema", "info", "events"])
def test_a_description_of_another_kind_is_refused(recording, tmp_path, key):
    save(recording, tmp_path)
    meaning = json.loads((tmp_path / MEANING_FILE).read_text())
    del meaning[key]
    (tmp_path / MEANING_FILE).write_text(json.dumps(meaning))
    with pytest.raises(RecordingError):
        load(tmp_path)


def test_a_folder_that_cannot_be_written_is_an_error(recording, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(RecordingError, match="cannot write"):
        save(recording, tmp_path / "file")
