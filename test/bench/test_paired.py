"""Comparisons run by run, and intervals of medians, against counted values."""

import numpy as np
import pytest
from scipy import stats

from benchmarks.timing import Paired, median_interval, paired


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


def test_the_interval_of_a_median_holds_it_and_shrinks_with_the_number_of_values() -> None:
    few, many = np.arange(12.0), np.arange(1200.0) / 100.0
    low, high = median_interval(few)
    assert 0.0 <= low < np.median(few) < high <= 11.0
    assert np.subtract(*median_interval(many)[::-1]) < 0.5 * (high - low)
    assert median_interval([3.0, 3.0]) == (3.0, 3.0)
