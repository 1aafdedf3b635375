"""A journal gives back what was kept, whatever happened to its last line."""

import math

import pytest

from contact_ddp_ros.base.errors import BenchmarkError
from contact_ddp_ros.runs.study.batch import JOURNAL_FILE, Journal

SETTINGS = {"seed": 3, "costs": {"ddp": 1.25}}


def begun(folder):
    with Journal.create(folder, SETTINGS) as journal:
        journal.add("a", {"held": 1.5, "tried": ((1.0, True),)})
        journal.add("b", {"held": math.nan})
    return folder / JOURNAL_FILE


def test_what_is_added_is_what_is_read(tmp_path):
    with Journal.create(tmp_path, SETTINGS) as journal:
        given = journal.add("a", {"held": 1.5, "tried": ((1.0, True),), "error": math.nan})
    with Journal.resume(tmp_path) as again:
        assert again.settings == SETTINGS
        assert again.finished == {"a": given} == {"a": {"held": 1.5, "tried": [[1.0, True]], "error": None}}


@pytest.mark.parametrize("torn", ['{"name": "c", "res', '{"name": "c", "result": 1}'])
def test_a_torn_last_line_is_cut_off(tmp_path, torn):
    path = begun(tmp_path)
    whole = path.read_text()
    path.write_text(whole + torn)
    with Journal.resume(tmp_path) as journal:
        assert set(journal.finished) == {"a", "b"}
        journal.add("c", 2)
    assert path.read_text() == whole + '{"name": "c", "result": 2}\n'


def test_damage_elsewhere_is_an_error(tmp_path):
    path = begun(tmp_path)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([lines[0], lines[1][:9] + "\n", lines[2]]))
    with pytest.raises(BenchmarkError, match="line 2"):
        Journal.resume(tmp_path)
    path.write_text("".join(lines[1:]))
    with pytest.raises(BenchmarkError, match="line 1"):
        Journal.resume(tmp_path)
    path.write_text("")
    with pytest.raises(BenchmarkError, match="settings"):
        Journal.resume(tmp_path)


def test_there_is_nothing_to_resume_and_nothing_to_overwrite(tmp_path):
    with pytest.raises(BenchmarkError, match="nothing to resume"):
        Journal.resume(tmp_path)
    begun(tmp_path)
    with pytest.raises(BenchmarkError, match="--resume"):
        Journal.create(tmp_path, SETTINGS)
