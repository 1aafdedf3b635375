"""Studies of benchmarks: done once, resumed with their own options, judged group by group."""

import json

import pytest
from rich.console import Console

from benchmarks import ROOMS, load, study
from benchmarks.benchmark import Benchmark, add_setting_option, count, option
from benchmarks.output import RECORD_FILE
from benchmarks.study import STANDING, VERDICT, Rows, Study, add_engine_options, mean, worst
from contact_ddp_ros.base.errors import BenchmarkError
from contact_ddp_ros.runs.scenario import check_run
from contact_ddp_ros.runs.study import batch
from contact_ddp_ros.runs.study.batch import JOURNAL_FILE
from contact_ddp_ros.runs.study.study import Case, Target
from test.bench.studies import cases_of, group
from test.runs.study.serial import Serial

STUDIES = [name for name in ROOMS["loop"] if isinstance(load(name).measure, Study)]


def cases(options):
    wanted = options.only or ["up", "down"]
    return [Case(way, f"{way} #{seed}", target=Target("speed", 1.5)) for way in wanted for seed in range(options.seeds)]


def measure(case):
    return {"fall": "tilt" if case.name == "down #1" else "", "speed": float("nan") if case.group == "down" else 1.0}


REPORT = Rows("Ways", {"way": lambda one: one.name, **STANDING, **VERDICT})
OPTIONS = (option("--only", action="append"), count("--seeds", 3, "of each"), add_engine_options, add_setting_option)
FAKE = Benchmark("fake", "Goes up and down.", "the same", Study(cases, measure, REPORT), OPTIONS, resumable=True)


@pytest.fixture
def serial(monkeypatch):
    found = Serial()
    monkeypatch.setattr(study, "chosen_engine", lambda options: found)
    return found


def record(folder):
    content = json.loads((folder / RECORD_FILE).read_text())
    return {name: content[name] for name in ("settings", "held", "runs")}


def interrupted(serial, folder, *words):
    serial.interrupt = 2
    with pytest.raises(KeyboardInterrupt):
        FAKE.main(["--out", str(folder), *words])
    serial.interrupt = None


def test_a_study_leaves_its_figures_and_its_verdicts(serial, tmp_path, capsys):
    assert FAKE.main(["--out", str(tmp_path / "new"), "--set", "planner.rate=50"]) == 1
    found = record(tmp_path / "new")
    assert found["held"] == {"up": True, "down": False}
    assert found["runs"]["down"]["down #1"] == {"fall": "tilt", "speed": None}
    assert found["settings"]["set"] == {"planner.rate": 50}
    assert "tilt" in capsys.readouterr().out


def test_a_resumed_run_leaves_what_an_uninterrupted_one_leaves(serial, tmp_path, capsys):
    FAKE.main(["--out", str(tmp_path / "whole"), "--seeds", "4", "--only", "down"])
    interrupted(serial, tmp_path / "cut", "--seeds", "4", "--only", "down")
    assert f"Go on with --resume {tmp_path / 'cut'}" in capsys.readouterr().out
    with (tmp_path / "cut" / JOURNAL_FILE).open("a") as torn:
        torn.write('{"name": "up')
    serial.backwards = True
    assert FAKE.main(["--resume", str(tmp_path / "cut")]) == 1
    assert record(tmp_path / "cut") == record(tmp_path / "whole")


def test_a_resumed_run_keeps_its_options(serial, tmp_path, monkeypatch):
    interrupted(serial, tmp_path / "cut", "--seeds", "4")
    for words in (["--seeds", "5"], ["--only", "up"], ["--set", "planner.iterations=3"], ["--quick"]):
        with pytest.raises(BenchmarkError, match=f"other settings: {words[0][2:]}"):
            FAKE.main(["--resume", str(tmp_path / "cut"), *words])
    assert FAKE.main(["--resume", str(tmp_path / "cut"), "--seeds", "4"]) == 1
    monkeypatch.setattr(batch, "__version__", "99.0")
    with pytest.raises(BenchmarkError, match="version is"):
        FAKE.main(["--resume", str(tmp_path / "cut")])


def test_a_group_holds_where_nothing_falls_and_its_figure_is_kept():
    target = Target("speed", 0.05, "m/s")
    assert group("slope", {"speed": 0.04}, {"speed": 0.05}, target=target).held()
    assert not group("slope", {"speed": 0.06}, target=target).held()
    assert not group("slope", {"speed": 0.04}, {"fall": "2.00 s: tilt"}, target=target).held()
    assert not group("slope", {"speed": None}, target=target).held(), "a figure that was not measured is not met"
    assert group("slope", {"speed": 0.06}).held()


def test_cells_leave_out_runs_that_fell():
    own = group(
        "stiff", {"speed": 0.5, "yaw": -0.2}, {"speed": 0.7, "yaw": 0.1}, {"fall": "2.00 s: tilt", "speed": 9.0}
    )
    assert mean("speed")(own) == "0.600 ± 0.100"
    assert (worst("speed", 1, 1e3)(own), worst("yaw")(own)) == ("700.0", "0.200")
    assert mean("slip")(own) == worst("slip")(own) == "–"
    with (console := Console(width=100)).capture() as shown:
        console.print(REPORT([own], None).tables[0])
    assert "2.00 s: tilt" in shown.get()


@pytest.mark.parametrize("name", STUDIES)
def test_cases_are_allowed_and_have_names_of_their_own(name):
    benchmark = load(name)
    quick, full = cases_of(benchmark, "--quick"), cases_of(benchmark)
    for found in (quick, full):
        assert len({case.name for case in found}) == len(found)
    assert len(quick) < len(full) and quick == cases_of(benchmark, "--quick"), "chance follows from the seed"
    for case in {case.group: case for case in quick}.values():
        check_run(case.options)


@pytest.mark.parametrize("name", [name for name in STUDIES if name not in ("reliability", "parameters", "pushes")])
def test_parameters_that_are_set_reach_every_run_and_count_more(name):
    words = ("planner.weight.pitch=41.0", "simulator.noise.joint_positions=0.0")
    for case in cases_of(load(name), "--quick", *(word for pair in words for word in ("--set", pair))):
        assert case.options.overrides["planner.weight.pitch"] == 41.0
        assert case.options.overrides["simulator.noise.joint_positions"] == 0.0
