"""Runs beside each other: what differs is found, what does not is left out, and every figure shows something."""

import csv
import json

import numpy as np
import pytest
from PIL import Image
from synthetic import Gait, bounding_recorder

from contact_ddp_ros.apps.cli import main
from contact_ddp_ros.base.errors import ParameterError, RecordingError
from contact_ddp_ros.plants.pushes import Push
from contact_ddp_ros.runs.recording import Recording, analysis, save
from contact_ddp_ros.runs.report.compare import figures, tables
from contact_ddp_ros.runs.report.compare.tables import load_runs, named, short_names


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    save(bounding_recorder(Gait(duration=3.0)).finish(), root / "slow")
    fast = bounding_recorder(
        Gait(duration=3.0, pitch=0.3), speed=((0.0, 1.0),), pushes=(Push(1.0, (0.0, 40.0, 0.0), 0.1),)
    )
    save(fast.finish(), root / "fast")
    return root / "slow", root / "fast"


@pytest.fixture(scope="module")
def runs(folders):
    return load_runs(folders)


def test_what_differs_in_the_making_comes_with_commands_first(runs):
    rows = [row for row in tables.settings(runs) if row.differs]
    assert [row.name for row in rows] == ["speed", "pushes"]
    assert [tables.words(value) for value in rows[0].values] == ["0.5 from 0 s", "1 from 0 s"]
    assert tables.words(rows[1].values[1]) == "1 s: (0, 40, 0) N for 0.1 s"


def test_figures_are_those_of_the_summaries(runs):
    rows = {row.name: row for row in tables.figures(runs)}
    assert rows["mean_speed"].values == tuple(run.figures["mean_speed"] for run in runs)
    assert rows["solve_ms.median"].values[0] == runs[0].figures["solve_ms.median"]
    assert rows["pitch_abs_max"].differs
    assert not rows["fell"].differs
    assert "options.seed" not in rows


@pytest.mark.parametrize(
    ("first", "other", "text"),
    [(2.0, 3.0, "+50.0 %"), (0.0, 3.0, "+3"), (1.0, 1.0, ""), (1e-15, 3e-16, ""), (None, 1.0, ""), (True, False, "")],
)
def test_changes_are_told_relative_where_that_means_something(first, other, text):
    assert tables.change(first, other) == text


def test_rounding_is_no_difference():
    assert not tables.Row("roll", (1e-15, 2e-16)).differs
    assert tables.Row("roll", (1e-15, 0.1)).differs
    assert tables.words(1e-15) == "0"


def test_values_are_told_as_short_as_they_can_be():
    assert tables.words("0123456789" * 4 + "+") == "0123456+"
    assert tables.words("/some/where/gait.yaml") == "gait.yaml"
    assert tables.words([[0.0, 0.5], [2.0, 1.0]]) == "0.5 from 0 s; 1 from 2 s"
    assert tables.words(None) == tables.ABSENT
    assert tables.words([]) == "none"


def test_runs_that_cannot_be_compared_are_refused(folders, tmp_path):
    with pytest.raises(ParameterError, match="two or more"):
        load_runs(folders[:1])
    with pytest.raises(ParameterError, match="twice"):
        load_runs([folders[0], folders[1], folders[0].parent / "fast" / ".." / "slow"])
    with pytest.raises(ParameterError, match="1 names for 2 runs"):
        load_runs(folders, ["a"])
    with pytest.raises(ParameterError, match="not all different"):
        load_runs(folders, ["a", "a"])
    with pytest.raises(RecordingError, match=str(tmp_path)):
        load_runs([folders[0], tmp_path])


def test_names_are_as_long_as_they_must_be(tmp_path):
    assert short_names([tmp_path / "x" / "a", tmp_path / "y" / "b"]) == ["a", "b"]
    assert short_names([tmp_path / "x" / "a", tmp_path / "y" / "a"]) == ["x/a", "y/a"]


def test_every_figure_is_drawn(runs, tmp_path):
    paths = figures.save_all(runs, tmp_path)
    assert [path.name for path in paths] == ["courses.png", "cycle.png", "figures.png"]
    for path in paths:
        pixels = np.asarray(Image.open(path).convert("L"))
        assert (pixels < 160).mean() > 0.005, f"{path.name} is all but empty"


def test_what_is_zero_in_every_run_has_no_panel(runs):
    upright = []
    for run in runs:
        ticks = {**run.recording.ticks, "orientation": np.tile([0.0, 0.0, 0.0, 1.0], (len(run.recording.rpy), 1))}
        upright.append(Recording(run.recording.info, ticks, run.recording.solves, ()))
    pairs = named(["a", "b"], upright)
    idle = {one.label for one in figures.COURSES if figures._is_idle(one, pairs)}
    assert {"pitch [°]", "roll [°]", "yaw [°]"} <= idle
    assert "trunk height [m]" not in idle


def test_cycles_begin_where_the_first_foot_lands(runs):
    recording = runs[0].recording
    times = recording.ticks["time"][analysis.begins(recording)]
    np.testing.assert_allclose(np.diff(times), 0.36, atol=2.1e-3)
    share = analysis.phase(recording)
    assert np.nanmin(share) == 0.0
    assert 0.99 < np.nanmax(share) < 1.0


def test_a_mean_course_is_the_course_where_all_cycles_are_alike(runs):
    recording = runs[0].recording
    course = analysis.mean_course(recording.rpy[:, 1], analysis.cycles(recording))
    assert course is not None
    assert course.mean.max() == pytest.approx(0.15, abs=2e-3)
    assert course.deviation.max() < 0.01
    assert analysis.mean_course(recording.rpy[:, 1], []) is None


def test_the_command_prints_and_saves(folders, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["compare", *map(str, folders), "--name", "one", "--name", "two", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert printed.index("speed") < printed.index("pitch_abs_max")
    record = json.loads((out / "comparison.json").read_text())
    assert record["runs"] == ["one", "two"]
    assert list(record["differing_settings"]) == ["speed", "pushes"]
    with (out / "comparison.csv").open() as file:
        rows = {row["name"]: row for row in csv.DictReader(file)}
    assert rows["speed"]["two"] == "[[0.0, 1.0]]"
    assert rows["seed"]["differs"] == "False"


def test_a_comparison_that_is_refused_leaves_no_folder(folders, tmp_path, capsys):
    assert main(["compare", str(folders[0]), "--out", str(tmp_path / "out")]) == 2
    assert "two or more" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
