"""Slopes of series whose slope is known, and intervals that hold it as often as they say."""

import math

import numpy as np
import pytest
from scipy import stats

from benchmarks.timing import FEWEST_SAMPLES, Trend, exponent, power_law, trend

TIMES = np.arange(200.0)


def test_white_noise_gives_the_textbook_interval():
    values = 3.0 + 0.5 * TIMES + np.random.default_rng(0).normal(size=TIMES.size)
    found, textbook = trend(TIMES, values), stats.linregress(TIMES, values)
    assert found.slope == pytest.approx(textbook.slope)
    half = stats.t.ppf(0.975, TIMES.size - 2) * textbook.stderr
    assert found.upper - found.slope == pytest.approx(half, rel=0.25)


def test_intervals_hold_the_slope_where_neighbours_resemble_each_other():
    rng, held, naive = np.random.default_rng(1), 0, 0
    for _ in range(200):
        noise = np.zeros(TIMES.size)
        for i, shock in enumerate(rng.normal(size=TIMES.size - 1)):
            noise[i + 1] = 0.8 * noise[i] + shock
        values = 0.02 * TIMES + noise
        found, textbook = trend(TIMES, values), stats.linregress(TIMES, values)
        held += found.lower <= 0.02 <= found.upper
        naive += abs(textbook.slope - 0.02) <= 1.96 * textbook.stderr
    assert held >= 170
    assert naive < 150, "otherwise this test would not tell"


def test_a_constant_has_no_slope_for_sure():
    assert trend(TIMES, np.full(TIMES.size, 7.0)) == Trend(0.0, 0.0, 0.0)


def test_few_samples_say_nothing_for_sure():
    times = np.arange(float(FEWEST_SAMPLES - 1))
    found = trend(times, 2.0 * times)
    assert found.slope == pytest.approx(2.0)
    assert found.verdict(1.0) is None
    assert math.isnan(trend(times[:1], times[:1]).slope)


@pytest.mark.parametrize("samples", [11, 40, 200])
def test_one_jump_is_no_sure_trend(samples: int):
    times = TIMES[:samples]
    assert trend(times, np.where(times < samples // 2, 0.0, 1.0)).verdict(1e-3) is None


@pytest.mark.parametrize(("interval", "verdict"), [((0.5, 0.9), True), ((1.1, 2.0), False), ((0.5, 1.5), None)])
def test_verdicts_need_the_whole_interval(interval, verdict):
    assert Trend(sum(interval) / 2.0, *interval).verdict(1.0) is verdict


def test_a_power_law_is_found_again() -> None:
    n = (2, 4, 8, 16)
    law = power_law(n, [3.0 * one**2.28 for one in n])
    assert law.exponent == pytest.approx(2.28)
    assert law.lower == pytest.approx(law.upper)
    noisy = power_law(n, [1.0, 5.0, 14.0, 70.0])
    assert noisy.lower < 2.0 < noisy.upper
    with pytest.raises(ValueError, match="3 or more points"):
        power_law((2, 4), (1.0, 2.0))
    assert exponent(n[:2], [1.0, 4.0]) == pytest.approx(2.0)
