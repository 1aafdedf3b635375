"""The options of a benchmark say where its jobs are done; journalled, their results come back as what they were."""

import argparse
import os
from dataclasses import dataclass

import pytest

from benchmarks import engine as engines
from benchmarks.benchmark import Run
from benchmarks.engine import add_engine_options, chosen_engine, do, journalled
from benchmarks.output import console
from contact_ddp_ros.runs.study.batch import DaskCluster, LocalProcesses
from test.runs.study.serial import Serial
from test.runs.study.test_jobs import JOBS, SQUARES, Square, square


def chosen(*words: str):
    parser = argparse.ArgumentParser()
    add_engine_options(parser)
    return chosen_engine(parser.parse_args(words))


def test_options_choose_the_engine(capsys):
    assert chosen("--jobs", "3") == LocalProcesses(3)
    assert chosen().size == len(os.sched_getaffinity(0))
    assert chosen("--scheduler", "tcp://there:8786") == DaskCluster("tcp://there:8786")
    with pytest.raises(SystemExit):
        chosen("--jobs", "0")
    assert "--jobs: 0 is too small; it must be at least 1" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        chosen("--jobs", "2", "--scheduler", "tcp://there:8786")


@dataclass(frozen=True)
class Outcome:
    square: int
    twice: float


def outcome(job: Square) -> Outcome:
    return Outcome(square(job), 2.0 * job.number)


def run_in(folder, resume: bool = False) -> Run:
    return Run(argparse.Namespace(resume=folder if resume else None), folder, console())


def test_a_run_that_was_cut_off_says_how_it_goes_on_and_does(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(engines, "chosen_engine", lambda options: Serial(interrupt=2))
    with pytest.raises(KeyboardInterrupt):
        journalled(outcome, JOBS, run_in(tmp_path), {"seed": 3}, Outcome)
    assert f"Go on with --resume {tmp_path}" in capsys.readouterr().out
    monkeypatch.setattr(engines, "chosen_engine", lambda options: Serial())
    found = journalled(outcome, JOBS, run_in(tmp_path, resume=True), {"seed": 3}, Outcome)
    assert found == [outcome(job) for job in JOBS]


def test_without_a_journal_results_are_as_they_come(tmp_path, monkeypatch):
    monkeypatch.setattr(engines, "chosen_engine", lambda options: Serial(backwards=True))
    assert do(square, JOBS, run_in(tmp_path)) == SQUARES
