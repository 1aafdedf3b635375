"""The keeping and waiting between messages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contact_ddp_ros.ros.exchange import Answers, PlanTicks, Synchroniser

WALL = 1_800_000_000_123_456_789
BEGINS = pytest.mark.parametrize("begin", [0, WALL])
"""Stamps of a simulation begin at zero; those of the wall clock are beyond what a double tells apart."""


@BEGINS
@given(order=st.permutations([(kind, step) for kind in (0, 1) for step in range(4)]))
def test_every_newest_pair_is_found_in_any_order(begin: int, order: list[tuple[int, int]]) -> None:
    synchroniser: Synchroniser[tuple[int, int]] = Synchroniser(0)
    seen: dict[int, set[int]] = {}
    newest = begin - 1
    for kind, step in order:
        stamp = begin + step
        pair = synchroniser.put(kind, stamp, (kind, stamp))
        seen.setdefault(stamp, set()).add(kind)
        complete = seen[stamp] == {0, 1} and stamp > newest
        assert (pair is not None) == complete
        if pair is not None:
            assert pair == (stamp, (0, stamp), (1, stamp))
            newest = stamp
    assert newest == begin + 3


@BEGINS
def test_odometry_a_period_late_loses_no_pair(begin: int) -> None:
    synchroniser: Synchroniser[str] = Synchroniser(0)
    pairs = 0
    for k in range(1000):
        pairs += synchroniser.put(0, begin + 2_000_000 * k, "joints") is not None
        pairs += k > 0 and synchroniser.put(1, begin + 2_000_000 * (k - 1), "odometry") is not None
    assert pairs == 999


@BEGINS
def test_stamps_may_differ_by_the_tolerance(begin: int) -> None:
    synchroniser: Synchroniser[str] = Synchroniser(2)
    assert synchroniser.put(1, begin + 100, "o") is None
    assert synchroniser.put(0, begin + 103, "too late") is None
    assert synchroniser.put(1, begin + 104, "o2") == (begin + 103, "too late", "o2")
    assert synchroniser.put(0, begin + 104, "j") is None


def test_messages_that_never_pair_are_counted_and_forgotten() -> None:
    synchroniser: Synchroniser[str] = Synchroniser(0, depth=4)
    for stamp in range(0, 1000, 10):
        assert synchroniser.put(0, stamp, "joints") is None
        assert synchroniser.put(1, stamp + 5, "odometry") is None
    assert synchroniser.alone == 200
    assert synchroniser.put(1, 0, "long forgotten") is None
    assert synchroniser.put(0, 995, "joints") is not None
    assert synchroniser.alone == 0


def test_an_answer_is_found_by_its_question() -> None:
    answers: Answers[str] = Answers(capacity=2)
    assert answers.newest() is None
    for stamp in (1, 2, 3):
        answers.put(stamp, f"to {stamp}")
    assert answers.get(1) is None
    assert answers.get(2) == "to 2"
    assert answers.newest() == "to 3"
    answers.put(2, "better")
    assert answers.newest() == answers.get(2) == "better"


@BEGINS
@given(delay=st.integers(0, 20))
def test_plans_are_asked_for_once_a_period_and_due_once(begin: int, delay: int) -> None:
    ticks = PlanTicks(delay)
    asked = [stamp for stamp in range(begin, begin + 100, 2) if ticks.ask(stamp, 8)]
    assert asked == list(range(begin, begin + 100, 8))
    seen = [(request.stamp, now) for now in range(begin, begin + 200) for request in ticks.due(now)]
    assert seen == [(stamp, stamp + delay) for stamp in asked]


def test_plans_are_asked_for_again_when_the_clock_steps_back() -> None:
    ticks = PlanTicks(0)
    assert ticks.ask(1000, 8)
    assert ticks.ask(0, 8)


@BEGINS
def test_rounded_stamps_do_not_delay_a_plan(begin: int) -> None:
    ticks, period = PlanTicks(0), 10_000_000
    stamps = [begin + i * 2_000_000 - (i >= 50) for i in range(100)]
    asked = [i for i, stamp in enumerate(stamps) if ticks.ask(stamp, period)]
    assert asked == list(range(0, 100, 5))
