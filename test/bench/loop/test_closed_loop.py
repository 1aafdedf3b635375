"""The whole benchmark on made-up runs: what it leaves behind, and going on after an interruption."""

import json

import numpy as np
import pytest

from benchmarks import engine as engines
from benchmarks.loop import closed_loop as bench
from benchmarks.loop.budget import StageCosts
from benchmarks.loop.outcome import Outcome
from benchmarks.output import RECORD_FILE
from benchmarks.timing import Spread
from contact_ddp_ros.base.errors import BenchmarkError
from contact_ddp_ros.runs.study import journal
from contact_ddp_ros.runs.study.journal import JOURNAL_FILE
from test.bench.loop.test_comparison import result
from test.runs.study.serial import Serial


@pytest.fixture
def engine(monkeypatch):
    """The benchmark without clock and physics, on an engine that a test may interrupt."""
    serial = Serial()
    costs = StageCosts(0.2, 0.65, 0.4, 0.15)
    ratio = Spread.of(np.array([1.3, 1.4]))
    for module in (bench, engines):
        monkeypatch.setattr(module, "chosen_engine", lambda options: serial)
    monkeypatch.setattr(bench, "measure_costs", lambda *_, **__: (costs, {"iteration": ratio, "sweep": ratio}))
    monkeypatch.setattr(bench, "paced_run", lambda *_: (Outcome("", ""), 1.0))
    monkeypatch.setattr(bench, "perform", result)
    return serial


def run(folder, *words):
    assert bench.BENCHMARK.main(["--quick", "--out", str(folder), *words]) == 0
    return record(folder)


def record(folder):
    content = json.loads((folder / RECORD_FILE).read_text())
    return {name: content[name] for name in ("settings", "pushes", "speeds", "curves", "qualities")}


def interrupted(engine, folder, *words):
    engine.interrupt = 5
    with pytest.raises(KeyboardInterrupt):
        bench.BENCHMARK.main(["--quick", "--out", str(folder), *words])
    engine.interrupt = None


def test_it_leaves_record_journal_and_figure(engine, tmp_path, capsys):
    found = run(tmp_path / "new")
    assert found["settings"]["costs"]["curved_sweep"] == 0.65
    assert {curve["group"] for curve in found["curves"]} == {"iterations", "friction", "mass", "delay", "step"}
    assert (tmp_path / "new" / "closed_loop.png").exists()
    shown = capsys.readouterr().out
    assert "[m/s]" in shown and "DDP" in shown


def test_a_resumed_run_leaves_what_an_uninterrupted_one_leaves(engine, tmp_path):
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    expected = run(whole)
    interrupted(engine, cut)
    with (cut / JOURNAL_FILE).open("a") as torn:
        torn.write('{"name": "push le')
    engine.backwards = True
    assert bench.BENCHMARK.main(["--resume", str(cut)]) == 0
    assert record(cut) == expected


def test_a_resumed_run_keeps_its_settings(engine, tmp_path):
    folder = tmp_path / "cut"
    interrupted(engine, folder, "--seed", "3", "--only", "mass", "--only", "step", "--samples", "5")
    for words in (["--seed", "4"], ["--samples", "6"], ["--only", "mass"], ["--set", "planner.iterations=3"]):
        with pytest.raises(BenchmarkError, match=words[0]):
            bench.BENCHMARK.main(["--resume", str(folder), *words])
    assert bench.BENCHMARK.main(["--resume", str(folder), "--quick", "--seed", "3"]) == 0
    assert record(folder)["settings"]["samples"] == 5


def test_another_version_does_not_go_on(engine, tmp_path, monkeypatch):
    folder = tmp_path / "cut"
    interrupted(engine, folder)
    monkeypatch.setattr(journal, "__version__", "99.0")
    with pytest.raises(BenchmarkError, match=r"99\.0"):
        bench.BENCHMARK.main(["--resume", str(folder)])


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--seed", "-1"], "--seed"),
        (["--samples", "0"], "--samples"),
        (["--out", "a", "--resume", "b"], "not allowed with"),
    ],
)
def test_bad_options_are_refused(engine, words, error, capsys):
    with pytest.raises(SystemExit):
        bench.BENCHMARK.main(words)
    assert error in capsys.readouterr().err
