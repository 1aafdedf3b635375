"""AugmentedLagrangian learn the dual's curvature from pass to pass."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contact_ddp_ros.ocp.multipliers import AugmentedLagrangian


class Dual:
    """Passes over a problem whose residual is linear in what holds the gradient: c = start − S (y + σ c)."""

    def __init__(self, seed, m):
        rng = np.random.default_rng(seed)
        root = rng.standard_normal((m, m))
        self.s = root @ root.T + 0.1 * np.eye(m)
        self.start = rng.standard_normal(m)
        self.optimum = np.linalg.solve(self.s, self.start)

    def residual(self, y, sigma):
        c = np.linalg.solve(np.eye(len(self.start)) + sigma * self.s, self.start - self.s @ y.ravel())
        return c.reshape(y.shape)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**31), m=st.integers(1, 3))
def test_a_few_passes_per_constraint_find_the_optimum_of_a_linear_dual(seed, m):
    """Broyden's update ends after twice as many steps as there are constraints, on their way down."""
    dual, duals, sigmas = Dual(seed, m), AugmentedLagrangian(np.zeros((m, 1))), np.geomspace(0.1, 1.0, 4 * m + 2)
    for sigma in sigmas:  # a penalty that grows in between changes nothing
        c = dual.residual(duals.y, sigma)
        if np.abs(c).max() < 1e-12:
            break
        duals.update(sigma, c)
    assert duals.y.ravel() == pytest.approx(dual.optimum, abs=1e-3 * np.abs(dual.optimum).max())


def test_the_first_update_is_the_usual_one():
    duals = AugmentedLagrangian(np.array([[1.0, 2.0]]))
    duals.update(10.0, np.array([[0.5, -0.1]]))
    assert duals.y == pytest.approx(np.array([[6.0, 1.0]]))


def test_one_constraint_is_extrapolated_by_the_secant():
    dual, duals = Dual(3, 1), AugmentedLagrangian(np.zeros((1, 1)))
    for _ in range(2):
        duals.update(0.1, dual.residual(duals.y, 0.1))
    assert dual.residual(duals.y, 0.1) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("reason", ["told", "residual rises"])
def test_what_no_longer_holds_is_forgotten(reason):
    dual, duals = Dual(5, 2), AugmentedLagrangian(np.zeros((2, 1)))
    for _ in range(3):
        c = dual.residual(duals.y, 0.1)
        duals.update(0.1, c)
    if reason == "told":
        duals.reset()
    y, larger = duals.y, 10.0 * np.abs(c).max() * np.ones((2, 1))
    duals.update(0.1, larger)
    assert duals.y == pytest.approx(y + 0.1 * larger)
