"""Intervals and tests against published or counted values."""

import math

import numpy as np
import pytest
from scipy import stats

from contact_ddp_ros.runs.study.statistics import Paired, grouped, median_interval, paired, share, wilson


@pytest.mark.parametrize("trials", [1, 10, 25])
def test_wilson_is_scipys(trials):
    for successes in range(trials + 1):
        expected = stats.binomtest(successes, trials).proportion_ci(method="wilson")
        found = wilson(successes, trials)
        assert (found.lower, found.upper) == pytest.approx((expected.low, expected.high), abs=1e-6)
        assert 0.0 <= found.lower <= found.share <= found.upper <= 1.0


def test_nothing_is_known_without_trials():
    nothing = wilson(0, 0)
    assert (nothing.lower, nothing.upper) == (0.0, 1.0)
    assert math.isnan(nothing.share)


def test_pairs_are_counted_by_who_was_better():
    assert paired([True, True, False, False], [True, False, True, True]) == Paired(1, 2, 1)
    assert paired([1.0, 2.0], [0.5, 2.5]) == Paired(1, 1, 0)
    with pytest.raises(ValueError):
        paired([1.0], [1.0, 2.0])


@pytest.mark.parametrize("pair", [(5, 0), (0, 6), (7, 3), (4, 4), (0, 0), (1, 12)])
def test_the_sign_test_is_binomial(pair):
    first, second = pair
    expected = stats.binomtest(first, first + second).pvalue if first + second else 1.0
    assert Paired(first, second, 3).p_value == pytest.approx(expected)


def test_a_share_counts_what_is_true_and_says_its_interval():
    half = share([True, 0, 1, ""])
    assert half == wilson(2, 4)
    assert half.percent == f"{100 * half.lower:.0f} to {100 * half.upper:.0f} %"
    assert share(()) == wilson(0, 0)


def test_groups_and_their_items_keep_their_order():
    assert list(grouped("bAaB", str.lower).items()) == [("b", ["b", "B"]), ("a", ["A", "a"])]


def test_the_interval_of_a_median_holds_it_and_shrinks_with_the_number_of_values() -> None:
    few, many = np.arange(12.0), np.arange(1200.0) / 100.0
    low, high = median_interval(few)
    assert 0.0 <= low < np.median(few) < high <= 11.0
    assert np.subtract(*median_interval(many)[::-1]) < 0.5 * (high - low)
    assert median_interval([3.0, 3.0]) == (3.0, 3.0)
