"""Errors of the schemes at a few steps, and what the table makes of them."""

import numpy as np
import pytest

from benchmarks.solver.integrators import (
    DEFAULT,
    IMPLICIT,
    SCHEMES,
    STEP,
    Bound,
    alike,
    draw,
    grid_of,
    label,
    measure_errors,
    metrics,
)
from benchmarks.solver.iteration import ITERATION, STAGES
from benchmarks.timing import Times, exponent

STEPS = (0.005, 0.004, 0.002)


@pytest.fixture(scope="module")
def errors():
    return measure_errors(STEPS)


def times_of(steps):
    """Made up: an iteration takes one over its step, the implicit one twice that."""
    parts = {}
    for scheme in SCHEMES:
        for step in steps:
            time = np.full(3, (2.0 if scheme == IMPLICIT else 1.0) / step)
            parts[label(scheme, step)] = dict.fromkeys((ITERATION, *STAGES), time)
    return Times(parts)


def test_the_midpoint_is_of_second_order_and_the_others_are_not(errors):
    assert exponent(STEPS, errors[IMPLICIT]) == pytest.approx(2.0, abs=0.2)
    assert all(exponent(STEPS, errors[scheme]) < 1.5 for scheme in SCHEMES if scheme != IMPLICIT)
    assert all(errors[IMPLICIT][i] < errors[scheme][i] for scheme in SCHEMES[:2] for i in range(len(STEPS)))


def test_the_signal_does_not_depend_on_the_step():
    bound = Bound()
    fine, coarse = (bound.torques(grid_of(step)) for step in (0.002, 0.004))
    held = ~grid_of(0.004).switches
    pairs = 0.5 * (fine[~grid_of(0.002).switches][0::2] + fine[~grid_of(0.002).switches][1::2])
    assert pairs == pytest.approx(coarse[held], abs=0.1)
    assert np.abs(coarse).max() > 10.0


def test_equal_errors_are_compared():
    errors = {DEFAULT: (4.0, 2.0, 1.0), IMPLICIT: (1.9, 0.6, 0.2)}
    assert alike(STEPS, errors, STEP) == 0.005
    assert alike(STEPS, errors, 0.002) == 0.004
    assert alike(STEPS, {**errors, DEFAULT: (0.1, 0.1, 0.1)}, STEP) is None
    assert alike(STEPS, errors, 0.003) is None


def test_figures_hold_every_claim(errors):
    rows = {one.name.strip(): one for one in metrics(STEPS, errors, times_of(STEPS))}
    assert rows["implicit midpoint: order"].met
    assert rows["midpoint / semi-implicit Euler, one iteration"].number == pytest.approx(2.0)
    assert any("midpoint at" in name for name in rows)


def test_it_is_drawn(errors, tmp_path):
    draw(STEPS, errors, times_of(STEPS), tmp_path / "integrators.png")
    assert (tmp_path / "integrators.png").stat().st_size > 1000
