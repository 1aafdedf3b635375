"""Work is done elsewhere and comes back with its index; what can go wrong on the way is said."""

import math
import operator
import os
import sys
from types import SimpleNamespace

import pytest

from contact_ddp_ros.base import versions as provenance
from contact_ddp_ros.base.errors import BenchmarkError
from contact_ddp_ros.runs.study import batch as engines
from contact_ddp_ros.runs.study.batch import DaskCluster, LocalProcesses


def test_processes_give_every_result_with_its_index():
    numbers = [9.0, 4.0, 1.0]
    assert dict(LocalProcesses(2).results(math.sqrt, numbers)) == {0: 3.0, 1: 2.0, 2: 1.0}
    assert list(LocalProcesses(2).results(math.sqrt, [])) == []


def test_processes_have_one_thread_and_our_environment_stays(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    names = ["OMP_NUM_THREADS", "MKL_NUM_THREADS"]
    assert [value for _, value in sorted(LocalProcesses(1).results(os.getenv, names))] == ["1", "1"]
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "MKL_NUM_THREADS" not in os.environ


def test_a_process_that_dies_is_an_error_and_no_wait():
    with pytest.raises(BenchmarkError, match="died"):
        list(LocalProcesses(1).results(os._exit, [3]))


def test_an_error_of_the_work_arrives():
    with pytest.raises(ValueError):
        list(LocalProcesses(1).results(math.sqrt, [-1.0]))


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
