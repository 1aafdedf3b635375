import json
import math
import os
from dataclasses import dataclass

import numpy as np
import pytest

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.base.files import kept_unless_empty, new_folder, plain, write_json, written_whole


def test_json_is_strict(tmp_path):
    data = {"a": np.float64("nan"), "b": [math.inf, np.int64(3)], "c": np.array([1.0, np.nan]), 4: (True, None, "ü")}
    write_json(tmp_path / "x.json", data)

    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    text = (tmp_path / "x.json").read_text(encoding="utf-8")
    expected = {"a": None, "b": [None, 3], "c": [1.0, None], "4": [True, None, "ü"]}
    assert json.loads(text, parse_constant=refuse) == expected


def test_numpy_truth_stays_truth():
    assert plain(np.bool_(True)) is True


@dataclass(frozen=True)
class Half:
    share: float
    of: object


def test_dataclasses_are_objects_of_their_fields_however_deep():
    assert plain([Half(math.nan, {"other": Half(0.5, (1,))})]) == [
        {"share": None, "of": {"other": {"share": 0.5, "of": [1]}}}
    ]


def fail_halfway(path):
    with written_whole(path) as temporary:
        temporary.write_text("ne")
        raise RuntimeError


def test_a_failed_write_leaves_what_was_there(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("old")
    with pytest.raises(RuntimeError):
        fail_halfway(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_with_something_in_it_is_refused(tmp_path) -> None:
    assert new_folder("bench-solver", tmp_path / "new").is_dir()
    (tmp_path / "new" / "file").touch()
    with pytest.raises(ParameterError, match="empty folder"):
        new_folder("bench-solver", tmp_path / "new")


@pytest.mark.parametrize("names", [(), ("file",)])
def test_of_a_job_that_fails_only_an_empty_folder_goes(tmp_path, names) -> None:
    def job() -> None:
        with kept_unless_empty(new_folder("sim", tmp_path / "new")) as folder:
            for name in names:
                (folder / name).touch()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        job()
    assert (tmp_path / "new").exists() == bool(names)


def test_a_job_that_ends_well_keeps_its_folder(tmp_path) -> None:
    with kept_unless_empty(new_folder("sim", tmp_path / "new")) as folder:
        pass
    assert folder.is_dir()


def test_two_writers_of_one_file_at_once_do_not_meet(tmp_path) -> None:
    path = tmp_path / "x.txt"
    with written_whole(path) as one, written_whole(path) as other:
        assert one != other
        one.write_text("one")
        other.write_text("other")
    assert path.read_text() == "one", "the last one that ends counts"
    assert list(tmp_path.iterdir()) == [path]


def test_content_is_on_the_disk_before_the_name_and_the_name_before_the_end(tmp_path, monkeypatch) -> None:
    steps = []
    sync, rename = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda file: (steps.append(os.readlink(f"/proc/self/fd/{file}")), sync(file)))
    monkeypatch.setattr(os, "replace", lambda old, new: (steps.append("rename"), rename(old, new)))
    with written_whole(tmp_path / "x.txt") as temporary:
        temporary.write_text("new")
    assert steps == [str(temporary), "rename", str(tmp_path)]
