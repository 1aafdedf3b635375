"""When the cold guess challenges the warm start, and which solution counts."""

from dataclasses import dataclass

import pytest

from contact_ddp_ros.mpc.challenge import Challenge, cheaper
from contact_ddp_ros.solver.solution import Termination


def test_it_is_due_at_once_and_again_after_a_tenth_of_a_second():
    challenge = Challenge()
    due = [time for time in range(0, 400, 20) if challenge.is_due(1e-3 * time)]
    assert due == [0, 100, 200, 300]


def test_it_is_due_where_the_clock_went_back():
    challenge = Challenge()
    assert challenge.is_due(5.0) and challenge.is_due(4.99)


@dataclass
class Outcome:
    cost: float
    termination: Termination = Termination.CONVERGED


@pytest.mark.parametrize(
    ("warm", "cold", "counts"),
    [
        (Outcome(2.0), Outcome(1.0), "cold"),
        (Outcome(1.0), Outcome(2.0), "warm"),
        (Outcome(1.0), Outcome(1.0), "warm"),
        (Outcome(2.0), Outcome(1.0, Termination.DIVERGED), "warm"),
        (Outcome(1.0, Termination.DIVERGED), Outcome(2.0), "cold"),
    ],
)
def test_the_cheaper_one_that_did_not_diverge_counts(warm, cold, counts):
    assert cheaper(warm, cold) is {"warm": warm, "cold": cold}[counts]
