"""When the cold guess challenges the warm start, and which solution counts."""

import math
from dataclasses import dataclass

import pytest

from contact_ddp_ros.mpc.warm_start import LOST, ColdRestart, better, is_infeasible
from contact_ddp_ros.ocp.solution import Termination


def test_it_is_due_at_once_and_again_after_a_tenth_of_a_second():
    challenge = ColdRestart()
    due = [time for time in range(0, 400, 20) if challenge.is_due(1e-3 * time)]
    assert due == [0, 100, 200, 300]


def test_it_is_due_where_the_clock_went_back():
    challenge = ColdRestart()
    assert challenge.is_due(5.0) and challenge.is_due(4.99)


@dataclass
class Outcome:
    cost: float
    inequality_violation: float = 0.0
    termination: Termination = Termination.CONVERGED


DIVERGED = Outcome(0.0, termination=Termination.DIVERGED)


@pytest.mark.parametrize(
    ("warm", "cold", "counts"),
    [
        (Outcome(2.0), Outcome(1.0), "cold"),
        (Outcome(1.0), Outcome(2.0), "warm"),
        (Outcome(1.0), Outcome(1.0), "warm"),
        (Outcome(2.0), DIVERGED, "warm"),
        (DIVERGED, Outcome(2.0), "cold"),
        (Outcome(2.0, 0.9 * LOST), Outcome(1.0, 0.1 * LOST), "cold"),
        (Outcome(1.0, 2.0 * LOST), Outcome(2.0), "cold"),
        (Outcome(2.0), Outcome(1.0, 2.0 * LOST), "warm"),
        (Outcome(1.0, 3.0 * LOST), Outcome(2.0, 2.0 * LOST), "cold"),
        (Outcome(2.0, 2.0 * LOST), DIVERGED, "warm"),
        (Outcome(2.0, math.nan), Outcome(3.0, 2.0 * LOST), "cold"),
    ],
)
def test_the_cheaper_one_counts_or_where_one_is_lost_the_less_violated(warm, cold, counts):
    assert better(warm, cold) is {"warm": warm, "cold": cold}[counts]


@pytest.mark.parametrize(
    ("outcome", "lost"),
    [
        (Outcome(1.0, LOST), False),
        (Outcome(1.0, 1.01 * LOST), True),
        (Outcome(1.0, math.nan), True),
        (DIVERGED, True),
    ],
)
def test_a_solution_is_lost_where_it_diverged_or_grossly_breaks_a_limit(outcome, lost):
    assert is_infeasible(outcome) is lost
