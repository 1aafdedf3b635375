"""The options of a benchmark say where its jobs are done."""

import argparse
import operator
import os
import sys
from types import SimpleNamespace

import pytest

from benchmarks import study as engines
from benchmarks.benchmark import Run
from benchmarks.output import console
from benchmarks.study import DaskCluster, ThisProcess, add_engine_options, chosen_engine, do
from contact_ddp_ros.base import versions as provenance
from contact_ddp_ros.base.errors import BenchmarkError
from contact_ddp_ros.runs.study.batch import LocalProcesses
from test.runs.study.serial import Serial
from test.runs.study.test_jobs import JOBS, SQUARES, square


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


def test_a_benchmark_of_the_machine_does_one_thing_at_a_time(tmp_path):
    assert chosen_engine(argparse.Namespace()) == ThisProcess()
    assert do(square, JOBS, Run(argparse.Namespace(), tmp_path, console())) == SQUARES


def test_without_a_journal_results_are_as_they_come(tmp_path, monkeypatch):
    monkeypatch.setattr(engines, "chosen_engine", lambda options: Serial(backwards=True))
    assert do(square, JOBS, Run(argparse.Namespace(), tmp_path, console())) == SQUARES


def test_a_cluster_gives_the_same_results():
    distributed = pytest.importorskip("distributed")
    numbers = [3.0, 1.0, 2.0]
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tcp://", host="127.0.0.1", dashboard_address=":0"
    ) as cluster:
        found = dict(DaskCluster(cluster.scheduler_address).results(operator.neg, numbers))
    assert found == dict(LocalProcesses(1).results(operator.neg, numbers))


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(engines, "_ANSWER", 0.2)
    with pytest.raises(BenchmarkError, match=r"tcp://127\.0\.0\.1:9"):
        list(DaskCluster("tcp://127.0.0.1:9").results(operator.neg, [1.0]))


def test_without_dask_it_is_said_what_brings_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(BenchmarkError, match=r"requirements-bench\.txt"):
        list(DaskCluster("tcp://there:8786").results(operator.neg, [1.0]))


@pytest.mark.parametrize(
    ("workers", "words"),
    [({}, "no worker"), ({"tcp://a": {**provenance.versions(), "mujoco": "1.0"}}, "mujoco 1.0 instead of")],
)
def test_workers_that_would_give_other_results_are_refused(workers, words):
    with pytest.raises(BenchmarkError, match=words):
        engines.check_workers(SimpleNamespace(run=lambda function: workers))
