"""Iterations that fit before a deadline."""

import pytest

from contact_ddp_ros.mpc import warm_start as iteration_budget
from contact_ddp_ros.mpc.warm_start import IterationBudget


@pytest.fixture
def budget(monkeypatch):
    """One that saw 10 ms an iteration, at a clock of 100 s."""
    monkeypatch.setattr(iteration_budget, "perf_counter", lambda: 100.0)
    made = IterationBudget()
    for _ in range(60):
        made.record(0.04, 4)
    return made


@pytest.mark.parametrize(("deadline", "fits"), [(None, 9), (99.0, 1), (100.005, 1), (100.0351, 3), (101.0, 9)])
def test_as_many_as_end_in_time_one_at_least_and_no_more_than_asked_for(budget, deadline, fits):
    assert budget.iterations(deadline, 9) == fits


def test_all_where_no_solve_has_been_timed(monkeypatch):
    fresh = IterationBudget()
    fresh.record(1.0, 0)
    assert fresh.iterations(0.0, 9) == 9


def test_one_slow_solve_moves_the_mean_by_a_fifth(budget):
    budget.record(0.06, 1)
    assert budget.iterations(100.0601, 9) == 3
