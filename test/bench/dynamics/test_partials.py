"""What `bench partials` times are partials of one and the same dynamics, and what it counts grows as it says."""

import numpy as np
import pytest

from benchmarks.dynamics import partial_costs, partials
from benchmarks.dynamics.partial_costs import FIRST, LENGTH, PIN, SECOND, TENSOR, KnotPartials, Model, pendubot
from benchmarks.timing import exponent

N = 3
COUNTED = (2, 4, 6)


@pytest.fixture(scope="module")
def knot() -> KnotPartials:
    return KnotPartials(pendubot(N), (PIN,), tensor=True)


def central(function, at, step=1e-6):
    columns = [(function(at + step * e) - function(at - step * e)) / (2.0 * step) for e in np.eye(at.size)]
    return np.stack(columns, axis=-1)


def gradient(knot: KnotPartials, z: np.ndarray, function):
    """function(ν, ν_z) at z = (x, u) instead of the knot's own."""
    x, u = knot.x.copy(), knot.u.copy()
    knot.x[:], knot.u[:] = z[: x.size], z[x.size :]
    try:
        return function(*knot.first_order())
    finally:
        knot.x[:], knot.u[:] = x, u


def test_the_pendubot_hangs_pinned_and_underactuated() -> None:
    tree = pendubot(N)
    assert tree.n == N
    assert tree.actuated == tuple(range(N - 1))
    assert tree.contact(PIN).position @ tree.contact(PIN).position == pytest.approx(LENGTH**2)


def test_first_order_is_the_derivative_of_the_motion(knot) -> None:
    z = np.concatenate([knot.x, knot.u])
    expected = central(lambda at: gradient(knot, at, lambda nu, nu_z: nu), z)
    _, nu_z = knot.first_order()
    np.testing.assert_allclose(nu_z, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())


def test_second_order_is_the_derivative_of_the_first_both_ways(knot) -> None:
    n_x = knot.x.size
    z = np.concatenate([knot.x, knot.u])
    expected = central(lambda at: gradient(knot, at, lambda nu, nu_z: knot.gamma @ nu_z), z)
    scale = np.abs(expected).max()
    assert scale > 1.0
    np.testing.assert_allclose(expected[n_x:, n_x:], 0.0, atol=1e-6 * scale)
    for level in (SECOND, TENSOR):
        hxx, hux = knot.second_order(level)
        np.testing.assert_allclose(hxx, expected[:n_x, :n_x], atol=1e-6 * scale)
        np.testing.assert_allclose(hux, expected[n_x:, :n_x], atol=1e-6 * scale)


def test_both_ways_agree_and_are_symmetric(knot) -> None:
    (hxx, hux), (txx, tux) = knot.second_order(SECOND), knot.second_order(TENSOR)
    scale = np.abs(txx).max()
    np.testing.assert_allclose(hxx, txx, atol=1e-10 * scale)
    np.testing.assert_allclose(hux, tux, atol=1e-10 * scale)
    for hessian in (hxx, txx):
        np.testing.assert_allclose(hessian, hessian.T, atol=1e-12 * scale)


@pytest.fixture(scope="module")
def counts() -> dict[int, dict[str, int]]:
    counted = {n: partial_costs.count(Model("", pendubot(n), (PIN,), True)) for n in COUNTED}
    return counted | {n: partial_costs.count(Model("", pendubot(n), (PIN,), False)) for n in (8, 16, 32)}


def test_operations_grow_an_order_slower_than_the_tensors(counts) -> None:
    def slope(level: str) -> float:
        return exponent(COUNTED, [counts[n][level] for n in COUNTED])

    assert slope(TENSOR) > slope(SECOND) + 0.85


def test_operations_grow_quadratically_and_stay_beside_the_first_order(counts) -> None:
    for n in (4, 8, 16):
        assert counts[2 * n][SECOND] < 4.0 * counts[n][SECOND]
    for n, counted in counts.items():
        assert counted[SECOND] < 1.2 * counted[FIRST], n


def test_operations_do_not_grow_unnoticed(counts) -> None:
    """Regression of sparsity and sharing."""
    assert counts[8][FIRST] < 2000
    assert counts[8][SECOND] < 2000
    assert counts[32][SECOND] < 26000


def test_the_whole_benchmark_runs(tmp_path, monkeypatch, capsys) -> None:
    small = partials.Effort((2, 3, 4), (2, 3, 4), (), rounds=2, repeats=1)
    monkeypatch.setattr(partials, "QUICK", small)
    assert partials.BENCHMARK.main(["--quick", "--only", "scaling", "--out", str(tmp_path)]) == 0
    assert {one.name for one in tmp_path.iterdir()} == {"benchmark.json", "partials.png"}
    assert "slope of time, second, mRNEAc" in capsys.readouterr().out
