"""Turns, spreads and ratios, with a clock of the test's own."""

import numpy as np
import pytest

from benchmarks.timing import Spread, Times, interleave


def test_candidates_take_turns_in_rotating_order() -> None:
    calls: list[str] = []

    def candidate(name: str):
        def run() -> dict[str, float]:
            calls.append(name)
            return {"whole": 1.0}

        return run

    interleave({name: candidate(name) for name in "abc"}, rounds=2, repeats=2)
    turns = ["".join(calls[i : i + 6]) for i in range(0, len(calls), 6)]
    assert len(turns) == 3, "two rounds and one to warm up"
    assert {"".join(sorted(turn)) for turn in turns} == {"aabbcc"}
    assert len(set(turns)) == 3, "each round begins with another candidate"


def test_the_best_call_of_a_turn_counts_and_the_first_turn_does_not() -> None:
    seconds = iter([9.0, 9.0, 3.0, 2.0, 5.0, 4.0])
    times = interleave({"a": lambda: {"whole": next(seconds)}}, rounds=2, repeats=2)
    np.testing.assert_array_equal(times.parts["a"]["whole"], [2.0, 4.0])


def test_a_ratio_is_formed_round_by_round() -> None:
    times = Times({"a": {"whole": np.array([2.0, 20.0, 2.0])}, "b": {"whole": np.array([1.0, 10.0, 0.5])}})
    ratio = times.ratio(("a", "whole"), ("b", "whole"))
    assert ratio.median == 2.0, "the slow round met both alike"
    assert ratio.of_minima == 4.0
    assert ratio.samples == 3


def test_a_spread_has_quartiles() -> None:
    spread = Spread.of(np.arange(5.0))
    assert (spread.minimum, spread.lower, spread.median, spread.upper) == (0.0, 1.0, 2.0, 3.0)


def test_progress_ends_at_one() -> None:
    shares: list[float] = []
    interleave({"a": lambda: {"whole": 1.0}}, rounds=4, repeats=1, progress=shares.append)
    assert shares[-1] == pytest.approx(1.0)
    assert shares == sorted(shares)
