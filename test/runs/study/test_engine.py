"""Work is done elsewhere and comes back with its index; what can go wrong on the way is said."""

import math
import os

import pytest

from contact_ddp_ros.base.errors import BenchmarkError
from contact_ddp_ros.runs.study.batch import LocalProcesses


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
