"""Relaxed barrier and augmented Lagrangian: derivatives, smoothness, and limits in the limit."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

from contact_ddp_ros.ocp.ddp import DdpSolver
from contact_ddp_ros.ocp.multipliers import augmented_lagrangian, relaxed_barrier
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.ocp.solution import Guess, Termination
from test.ocp.hybrid_lq import Stage, hybrid_lq
from test.ocp.sweep import Sweep, cost_of

DELTAS = st.floats(1e-3, 1.0)


@given(z=st.floats(-2.0, 5.0), delta=DELTAS)
def test_barrier_derivatives(z, delta):
    h = 1e-6 * max(delta, abs(z))
    value, slope, bend = relaxed_barrier(z, delta)
    (before, slope_before, _), (after, slope_after, _) = relaxed_barrier(z - h, delta), relaxed_barrier(z + h, delta)
    rounding = 1e-15 * (1.0 + abs(value)) / h
    assert slope == pytest.approx((after - before) / (2.0 * h), rel=1e-5, abs=1e-6 / delta + 10.0 * rounding)
    if abs(z - delta) > 2.0 * h:  # the second derivative has a kink there
        rounding = 1e-15 * (1.0 + abs(slope)) / h
        assert bend == pytest.approx((slope_after - slope_before) / (2.0 * h), rel=1e-4, abs=10.0 * rounding)


@given(delta=DELTAS)
def test_barrier_is_twice_continuously_differentiable_where_its_branches_meet(delta):
    logarithm = relaxed_barrier(math.nextafter(delta, math.inf), delta)
    quadratic = relaxed_barrier(delta, delta)
    assert quadratic == pytest.approx(logarithm, rel=1e-9, abs=1e-9)
    assert quadratic == pytest.approx((-math.log(delta), -1.0 / delta, 1.0 / delta**2), rel=1e-12)


@given(z=st.floats(-10.0, 10.0), delta=DELTAS)
def test_barrier_is_convex_finite_and_falls_into_the_feasible_set(z, delta):
    value, slope, bend = relaxed_barrier(z, delta)
    assert math.isfinite(value)
    assert bend > 0.0
    assert slope < 0.0


@given(z=st.floats(0.01, 10.0))
def test_barrier_is_the_logarithm_once_its_width_is_small(z):
    assert relaxed_barrier(z, 0.5 * z) == pytest.approx((-math.log(z), -1.0 / z, 1.0 / z**2), rel=1e-12)


@given(c=st.floats(-2.0, 2.0), multiplier=st.floats(-50.0, 50.0), sigma=st.floats(0.1, 1e4))
def test_augmented_lagrangian_derivatives(c, multiplier, sigma):
    value, slope, bend = augmented_lagrangian(c, multiplier, sigma)
    assert value == pytest.approx(multiplier * c + 0.5 * sigma * c * c, rel=1e-12, abs=1e-12)
    before, after = (augmented_lagrangian(c + h, multiplier, sigma) for h in (-1e-3, 1e-3))
    assert slope == pytest.approx((after[0] - before[0]) / 2e-3, rel=1e-6, abs=1e-6)
    assert bend == pytest.approx((after[1] - before[1]) / 2e-3, rel=1e-6, abs=1e-6)
    assert slope == pytest.approx(multiplier + sigma * c), "the slope at a solution is the updated multiplier"


def slider(u_max):
    """A block pushed over ten steps towards 1, with a limited push."""
    h = 0.1
    stage = Stage(
        A=np.array([[1.0, h], [0.0, 1.0]]),
        B=np.array([[0.5 * h * h], [h]]),
        c=np.zeros(2),
        Q=np.zeros((2, 2)),
        x_ref=np.array([1.0, 0.0]),
        R=np.array([[0.01]]),
    )
    terminal = replace(stage, Q=np.diag([10.0, 1.0]))
    return [stage] * 10, terminal, hybrid_lq([stage] * 10, terminal, u_max)


def bounded_optimum(stages, terminal, x0, u_max):
    """The same as bounded least squares in the controls alone."""
    n = len(stages)
    x, gain = x0, np.zeros((2, n))
    for k, stage in enumerate(stages):
        x, gain = stage.A @ x, stage.A @ gain
        gain[:, k] += stage.B[:, 0]
    root = np.linalg.cholesky(terminal.Q).T
    a = np.vstack([root @ gain, np.sqrt(stages[0].R[0, 0]) * np.eye(n)])
    b = np.concatenate([root @ (terminal.x_ref - x), np.zeros(n)])
    return lsq_linear(a, b, (-u_max, u_max), tol=1e-14, method="bvls").x


SETTINGS = [(1e-1, 1e-2), (1e-2, 1e-3), (1e-3, 1e-4), (1e-4, 1e-5)]
"""(δ, ε) of one outer pass after the other."""


def solved_with_limits(u_max):
    stages, terminal, problem = slider(u_max)
    x0 = np.zeros(2)
    best = bounded_optimum(stages, terminal, x0, u_max)
    guess, errors, violations = Guess.open_loop(x0, np.zeros((10, 1))), [], []
    for delta, epsilon in SETTINGS:
        penalty = np.array([1.0, delta, epsilon])
        solution = DdpSolver(SolverOptions()).solve(problem, x0, guess, penalty=penalty)
        assert solution.termination is Termination.CONVERGED
        guess = Guess(solution.xs, solution.us, solution.gains)
        errors.append(np.abs(solution.us[:, 0] - best).max())
        violations.append(solution.inequality_violation)
    return best, np.array(errors), np.array(violations)


def test_an_active_limit_is_approached_as_the_barrier_tightens():
    best, errors, violations = solved_with_limits(2.0)
    assert (np.abs(best) == 2.0).any() and (np.abs(best) < 1.9).any(), "some limits active, some not"
    assert (errors[1:] < 0.3 * errors[:-1]).all(), errors
    assert errors[-1] < 5e-3
    assert violations[-1] < 1e-3


def test_an_inactive_limit_leaves_the_optimum_alone():
    best, errors, violations = solved_with_limits(50.0)
    assert np.abs(best).max() < 25.0
    assert errors[-1] < 1e-5
    assert violations.max() == 0.0


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000))
def test_the_expansion_of_a_problem_with_barriers_and_multipliers_is_its_derivative(seed):
    """Largest |Qu| of a sweep whose gains a huge Levenberg term holds at zero, against differences of the cost."""
    rng = np.random.default_rng(seed)
    _, _, problem = slider(1.0)
    penalty, us, x0 = (3.0, 0.3, 0.2), rng.standard_normal((10, 1)), rng.standard_normal(2)
    sweep = Sweep(problem, x0, us, penalty=penalty)
    units = 1e-6 * np.eye(10)[:, :, None]
    costs = [[cost_of(problem, x0, us + sign * unit, penalty=penalty) for sign in (1.0, -1.0)] for unit in units]
    slopes = (np.array(costs) @ [1.0, -1.0]) / 2e-6
    _, _, _, gradient = sweep.backward(0.0, 1e9)
    assert gradient == pytest.approx(np.abs(slopes).max(), rel=1e-4, abs=1e-6)
