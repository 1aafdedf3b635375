"""Intervals and tests against published or counted values."""

import math

import pytest
from scipy import stats

from contact_ddp_ros.runs.study.study import grouped, share, wilson


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


def test_a_share_counts_what_is_true_and_says_its_interval():
    half = share([True, 0, 1, ""])
    assert half == wilson(2, 4)
    assert half.percent == f"{100 * half.lower:.0f} to {100 * half.upper:.0f} %"
    assert share(()) == wilson(0, 0)


def test_groups_and_their_items_keep_their_order():
    assert list(grouped("bAaB", str.lower).items()) == [("b", ["b", "B"]), ("a", ["A", "a"])]
