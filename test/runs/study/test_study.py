"""A study runs every point once, tells falls from figures, and goes on where it was cut off."""

import csv
import json

import numpy as np
import pytest
from PIL import Image
from rich.console import Console

from contact_ddp_ros.apps.cli import main
from contact_ddp_ros.apps.cli.parser import build_parser
from contact_ddp_ros.base.errors import BenchmarkError, ParameterError
from contact_ddp_ros.runs.figures import METRICS, check_metrics
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.study import grid
from contact_ddp_ros.runs.study.axes import Axis, options_at, parse_axis
from contact_ddp_ros.runs.study.figures import draw
from contact_ddp_ros.runs.study.grid import Grid, folder_name, run_grid, with_noise
from contact_ddp_ros.runs.study.study import Case, Group

PITCH = "planner.weight.pitch"
NOISY = {"simulator.noise.joint_positions": 0.002}


@pytest.mark.parametrize(
    ("text", "name", "values"),
    [
        (f"{PITCH}=20:80:4", PITCH, (20, 40, 60, 80)),
        ("friction=0.2:0.8:3", "friction", (0.2, 0.5, 0.8)),
        ("planner.rate=50:100:4", "planner.rate", (50.0, 66.6666666667, 83.3333333333, 100.0)),
        ("variant=ilqr, ddp", "variant", ("ilqr", "ddp")),
        (f"{PITCH}=5", PITCH, (5,)),
        ("controller.stand.kp=[1, 2]", "controller.stand.kp", ([1, 2],)),
        ("ground=slope:5", "ground", ("slope:5",)),
        ("ground=flat,slope:5", "ground", ("flat", "slope:5")),
        ("ground=boxes:0.03,1,flat", "ground", ("boxes:0.03,1", "flat")),
        ("ground=flat,slope:5,90,boxes:0.02,3", "ground", ("flat", "slope:5,90", "boxes:0.02,3")),
    ],
)
def test_axes_are_read(text, name, values):
    assert parse_axis(text) == Axis(name, values)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("pitch", "is not NAME=LOW:HIGH:COUNT"),
        ("friction=1:0:3", "the first must be the smaller"),
        ("friction=0:1:1", "whole number from 2"),
        ("friction=0:1:2.5", "whole number from 2"),
        ("friction=0:1:99999", "whole number from 2"),
        ("friction=a:1:3", "'a' is no bound"),
        ("friction=0.1,,0.2", "empty value"),
        ("friction=0.1,0.1", "a value twice"),
        ("friction=0.1:0.5", "LOW:HIGH:COUNT, such as friction=0.1:0.5:5"),
        ("fricton=0.1:0.5:3", "did you mean friction"),
    ],
)
def test_words_that_mean_no_axis_are_refused(text, why):
    with pytest.raises(ParameterError, match=why):
        parse_axis(text)


def test_options_and_parameters_are_set_at_a_point():
    point = {"speed": 1, "gait": "pronk", "ground": "slope:5", PITCH: 3.0}
    options = options_at(RunOptions(gaits=((3.0, "bound"),)), point)
    assert options.speed == ((0.0, 1.0),)
    assert options.gaits == ()
    assert options.terrain == "slope:5"
    assert (options.gait, options.overrides) == ("pronk", {PITCH: 3.0})
    with pytest.raises(ParameterError, match="did you mean friction"):
        options_at(RunOptions(), {"fricton": 0.5})
    with pytest.raises(ParameterError, match="planner"):
        options_at(RunOptions(), {"planer.rate": 0.5})


def test_a_grid_is_checked_as_a_whole_before_anything_runs():
    with pytest.raises(ParameterError, match=rf"at {PITCH}=-5, speed=0\.5: .*allowed: 0 to"):
        Grid(RunOptions(), [Axis(PITCH, (1, -5)), Axis("speed", (0.5,))]).check()
    with pytest.raises(ParameterError, match=r"at speed=3\.0: .*speed_limit"):
        Grid(RunOptions(), [Axis("speed", (0.5, 3.0))]).check()
    with pytest.raises(ParameterError, match="nothing is varied"):
        Grid(RunOptions(), []).check()
    with pytest.raises(ParameterError, match="lock-step"):
        Grid(RunOptions(lockstep=False), [Axis("speed", (0.5,))]).check()


def test_seeds_without_anything_random_are_refused():
    with pytest.raises(ParameterError, match="--noise"):
        Grid(RunOptions(state="true"), [Axis("speed", (0.5,))], seeds=2).check()
    Grid(RunOptions(), [Axis("speed", (0.5,))], seeds=2).check()
    Grid(RunOptions(state="true", overrides=NOISY), [Axis("speed", (0.5,))], seeds=2).check()
    Grid(with_noise(RunOptions()), [Axis("speed", (0.5,))], seeds=2).check()


def test_every_point_is_run_with_every_seed():
    study = Grid(RunOptions(seed=4), [Axis("speed", (0.5, 1.0)), Axis("friction", (0.4,))], seeds=2)
    runs = study.cases()
    assert [run.group for run in runs] == ["speed=0.5 friction=0.4"] * 2 + ["speed=1.0 friction=0.4"] * 2
    assert [run.options.seed for run in runs] == [4, 5, 4, 5]
    assert {run.options.friction for run in runs} == {0.4}
    assert len({run.name for run in runs}) == 4


def test_a_study_has_a_folder_of_its_own_name():
    study = Grid(RunOptions(), [Axis("speed", (0.5, 1.0))])
    assert folder_name(study) == folder_name(Grid(RunOptions(), [Axis("speed", (0.5, 1.0))]))
    assert folder_name(study) != folder_name(Grid(RunOptions(seed=1), [Axis("speed", (0.5, 1.0))]))


def test_metrics_are_the_numbers_of_a_summary():
    assert {"mean_speed", "fell", "solve_ms.p99", "fall_time_s"} <= set(METRICS)
    assert not {"job", "options", "pushes", "solve_ms"} & set(METRICS)
    with pytest.raises(ParameterError, match=r"did you mean mean_speed.* allowed: fell, "):
        check_metrics(["mean_sped"])
    with pytest.raises(ParameterError, match="twice"):
        check_metrics(["fell", "fell"])


def point(values, *figures):
    return Group("point", [Case("point", str(k), values=values) for k in range(len(figures))], figures)


FALLEN = {"fall": "2.00 s: tilt", "fell": True, "mean_speed": 1.0, "fall_time_s": 2.0}


def test_runs_that_fell_count_as_falls_and_not_as_figures():
    failed = {"fall": "failed: no memory", "error": "no memory"}
    own = point({}, {"fall": "", "mean_speed": 1.0}, {"fall": "", "mean_speed": 2.0}, FALLEN, failed)
    assert own.falls == 2
    assert own.spread("mean_speed").mean == 1.5
    assert (own.spread("mean_speed").low, own.spread("mean_speed").high) == (1.0, 2.0)
    assert own.spread("fell").mean == 0.5
    assert own.spread("fall_time_s").mean == 2.0
    assert own.spread("yaw_drift").runs == 0


class Inline:
    """An engine in this process; `CUT` ends it after so many results."""

    cut = None

    def __init__(self, size):
        self.size = size

    def results(self, work, items):
        for index, item in enumerate(items):
            if index == self.cut:
                raise KeyboardInterrupt
            yield index, work(item)


@pytest.fixture
def performed(monkeypatch):
    """The runs that were done, by a made-up loop in which the robot falls at 1.5 m/s with an odd seed."""
    done = []

    def perform(run):
        done.append(run.name)
        speed = run.options.speed[0][1]
        fell = speed == 1.5 and run.options.seed % 2 == 1
        return {
            "fall": "tilt" * fell,
            "fell": fell,
            "mean_speed": 0.9 * speed,
            "solve_ms.median": 3.0 + run.options.seed,
        }

    monkeypatch.setattr(grid, "run_case", perform)
    monkeypatch.setattr(grid, "LocalProcesses", Inline)
    return done


WORDS = f"sweep --set speed=0.5:1.5:3 --set {PITCH}=20,40 --seeds 2 --noise --metric mean_speed --metric fell".split()


def test_a_study_is_run_saved_and_drawn(performed, tmp_path, capsys):
    out = tmp_path / "study"
    assert main([*WORDS, "--out", str(out)]) == 0
    assert len(performed) == 12
    assert "1 of 2" in capsys.readouterr().out
    with (out / "study.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 12
    assert [row["mean_speed"] for row in rows if row["speed"] == "1.0"] == ["0.9"] * 4
    record = json.loads((out / "study.json").read_text())
    assert [point["falls"] for point in record["points"]] == [0, 0, 0, 0, 1, 1]
    for name in ("mean_speed.png", "fell.png"):
        assert np.asarray(Image.open(out / name).convert("L")).std() > 10.0


def test_a_study_that_was_cut_off_goes_on(performed, tmp_path, monkeypatch, capsys):
    out = tmp_path / "study"
    monkeypatch.setattr(Inline, "cut", 5)
    assert main([*WORDS, "--out", str(out)]) == 130
    monkeypatch.setattr(Inline, "cut", None)
    assert main([*WORDS, "--out", str(out)]) == 0
    assert "5 done" in capsys.readouterr().out
    assert len(performed) == len(set(performed)) == 12
    assert main([*WORDS, "--metric", "solve_ms.median", "--out", str(out)]) == 0, "other figures need no other runs"
    assert len(performed) == 12


def test_the_folder_of_another_study_is_left_alone(performed, tmp_path, capsys):
    out = tmp_path / "study"
    assert main([*WORDS, "--out", str(out)]) == 0
    before = (out / "study.csv").read_bytes()
    assert main([*WORDS, "--out", str(out), "--friction", "0.5"]) == 1
    assert "options.friction is 0.8" in capsys.readouterr().err
    assert (out / "study.csv").read_bytes() == before


def test_a_study_that_is_refused_leaves_no_folder(performed, tmp_path, capsys):
    assert main([*WORDS, "--metric", "speeed", "--out", str(tmp_path / "study")]) == 2
    assert "mean_speed" in capsys.readouterr().err
    assert main(["sweep", "--set", "friction=1:0:3"]) == 2
    assert not performed
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("axes", [[Axis("variant", ("ilqr", "ddp"))], [Axis("speed", (0.5, 1.0)), Axis("a", (1,))]])
def test_one_axis_is_drawn_as_a_line(axes, tmp_path):
    study = Grid(RunOptions(), axes, seeds=2)
    found = [point(values, {"fall": "", "mean_speed": 1.0}, {"fall": "tilt"}) for values in study.points]
    assert draw(study, found, "mean_speed", tmp_path / "x.png", "of a test")
    assert (tmp_path / "x.png").exists()


def test_many_axes_are_drawn_as_long_as_their_maps_fit(tmp_path):
    axes = [Axis("speed", (0.5, 1.0)), Axis("friction", (0.4, 0.5)), Axis("gait", ("bound", "pronk"))]
    study = Grid(RunOptions(), axes)
    found = [point(values, FALLEN) for values in study.points]
    assert draw(study, found, "mean_speed", tmp_path / "x.png", "where all fell")
    wide = Grid(RunOptions(), [*axes, Axis("seed", tuple(range(7)))])
    assert not draw(wide, [], "mean_speed", tmp_path / "y.png", "")


def test_work_needs_the_journal_to_be_whole(performed, tmp_path):
    (tmp_path / "journal.jsonl").write_text("{}\n")
    study = Grid(RunOptions(), [Axis("speed", (0.5,))])
    with pytest.raises(BenchmarkError):
        run_grid(study, tmp_path, Console())


def test_all_options_of_a_run_are_there():
    jobs = next(action for action in build_parser()._actions if isinstance(action.choices, dict)).choices
    own = {option for option in jobs["sim"]._option_string_actions if option.startswith("--")}
    assert own - set(jobs["sweep"]._option_string_actions) == {"--no-video"}
