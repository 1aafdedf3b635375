"""Bunch and Kaufman's factorisation: inertia and solutions, against NumPy's, with every kind of pivot."""

import numpy as np
import pytest

from contact_ddp_ros.ocp.linear_algebra import factorise, solve


def factored(a):
    factors, n = a.copy(), len(a)
    pivots, sizes = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    return factorise(factors, pivots, sizes), factors, pivots, sizes


@pytest.mark.parametrize("kind", ["dense", "saddle", "zero diagonal", "badly scaled"])
@pytest.mark.parametrize("n", [1, 2, 3, 8, 21])
def test_inertia_and_solution(kind, n):
    rng, twos = np.random.default_rng(n), 0
    for _ in range(40):
        a = rng.normal(size=(n, n))
        a += a.T
        if kind == "saddle":
            a[(2 * n + 2) // 3 :, (2 * n + 2) // 3 :] = 0.0
        elif kind == "zero diagonal" and n > 1:
            np.fill_diagonal(a, 0.0)
        elif kind == "badly scaled":
            scale = 10.0 ** rng.uniform(-4, 4, n)
            a *= np.outer(scale, scale)
        negative, factors, pivots, sizes = factored(a)
        scaled = a / np.sqrt(np.outer(np.abs(a).max(axis=1), np.abs(a).max(axis=1)))
        assert negative == (np.linalg.eigvalsh(scaled) < 0.0).sum(), "Sylvester: scaling keeps the inertia"
        b = rng.normal(size=(n, 3))
        x = b.copy()
        solve(factors, pivots, sizes, x)
        error = np.abs(a @ x - b) / (np.abs(a) @ np.abs(x) + np.abs(b))
        assert error.max() < 1e-11
        twos += (sizes == 2).sum()
    assert twos > 0 or n == 1 or kind == "badly scaled"


def test_only_the_lower_triangle_is_read():
    a = np.array([[1.0, np.nan], [2.0, -3.0]])
    negative, *_ = factored(a)
    assert negative == 1


@pytest.mark.parametrize("a", [np.zeros((2, 2)), np.diag([1.0, 0.0]), np.full((2, 2), np.nan)])
def test_what_is_singular_is_told(a):
    assert factored(a)[0] == -1
