"""The keeping and waiting between messages."""

from hypothesis import given
from hypothesis import strategies as st

from contact_ddp_ros.nodes.exchange import Answers, Pairing, PlanTicks


@given(st.permutations([("joints", 0), ("odometry", 0), ("joints", 10), ("odometry", 10)]))
def test_pairs_have_one_stamp(order: list[tuple[str, int]]) -> None:
    pairing = Pairing(0)
    for kind, stamp in order:
        pair = getattr(pairing, kind)(stamp, (kind, stamp))
        if pair is not None:
            assert pair == (("joints", pair[0][1]), ("odometry", pair[0][1]))


def test_a_pair_is_complete_when_both_have_come() -> None:
    pairing = Pairing(2)
    assert pairing.odometry(100, "o") is None
    assert pairing.joints(103, "too late") is None
    assert pairing.odometry(104, "o2") == ("too late", "o2")
    assert pairing.joints(104, "j") is None


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


@given(st.integers(0, 20))
def test_plans_are_asked_for_once_a_period_and_due_once(delay: int) -> None:
    ticks = PlanTicks(delay)
    asked = [stamp for stamp in range(0, 100, 2) if ticks.ask(stamp, 8)]
    assert asked == list(range(0, 100, 8))
    seen = [(request.stamp, now) for now in range(200) for request in ticks.due(now)]
    assert seen == [(stamp, stamp + delay) for stamp in asked]


def test_plans_are_asked_for_again_when_the_clock_steps_back() -> None:
    ticks = PlanTicks(0)
    assert ticks.ask(1000, 8)
    assert ticks.ask(0, 8)


def test_rounded_stamps_do_not_delay_a_plan() -> None:
    ticks, period = PlanTicks(0), 10_000_000
    stamps = [i * 2_000_000 - (i >= 50) for i in range(100)]
    asked = [i for i, stamp in enumerate(stamps) if ticks.ask(stamp, period)]
    assert asked == list(range(0, 100, 5))
