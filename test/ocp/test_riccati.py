"""The sweep in C against the one by Numba: same steps, gains and value functions, on random quadratic problems."""

from dataclasses import replace
from pathlib import Path

import numba as nb
import numpy as np
import pytest

from contact_ddp_ros.base.compiled import compiler
from contact_ddp_ros.ocp import backward, riccati
from contact_ddp_ros.ocp.protocol import SECOND, Problem
from test.ocp.hybrid_lq import Stage, hybrid_lq, identity_reset
from test.ocp.sweep import Sweep

NODES = 6


@nb.njit(SECOND)
def _constant_curvature(data, k, x, u, aux, vx, hxx, hux, huu):
    """Symmetric by x and by u, indefinite, and dependent on V'x."""
    size = 0.3 / x.size
    for i in range(x.size):
        for j in range(x.size):
            hxx[i, j] = size * (np.sin(1.0 + k + i * j) + 0.01 * (vx[i] + vx[j]))
    for a in range(u.size):
        for j in range(x.size):
            hux[a, j] = size * np.cos(k + a - 2.0 * j)
        for b in range(u.size):
            huu[a, b] = size * np.sin(float(a * b))


def _stage(rng: np.random.Generator, n_x: int, n_u: int, position_step: float | None) -> Stage:
    a, b = 0.3 * rng.normal(size=(n_x, n_x)), rng.normal(size=(n_x, n_u))
    if position_step is not None:
        half = n_x // 2
        a[:half], b[:half] = position_step * a[half:], position_step * b[half:]
        a[:half, :half] += np.eye(half)
    root, small = rng.normal(size=(n_x, n_x)), rng.normal(size=(n_u, n_u))
    return Stage(
        A=a,
        B=b,
        c=rng.normal(size=n_x),
        Q=np.eye(n_x) + root @ root.T / n_x,
        x_ref=rng.normal(size=n_x),
        R=2.0 * np.eye(n_u) + small @ small.T / n_u,
    )


def _problem(n_x: int, n_u: int, halved: bool) -> Problem:
    rng = np.random.default_rng(n_x + n_u)
    steps = 0.01 * (1.0 + np.arange(NODES))
    steps[3] = 0.0
    stages = [_stage(rng, n_x, n_u, float(step) if halved else None) for step in steps]
    stages[3] = identity_reset(stages[3])
    problem = hybrid_lq(stages, _stage(rng, n_x, n_u, None))
    return replace(problem, second=_constant_curvature, position_steps=steps if halved else None)


def _swept(problem: Problem, by, theta: float, rho: float, gap: float, monkeypatch: pytest.MonkeyPatch):
    """(outcome, ks, gains, Vx, Vxx) by a function that makes a sweep for given sizes."""
    rng = np.random.default_rng(7)
    us = rng.normal(size=(NODES, problem.n_u))
    us[~problem.has_control] = 0.0
    sweep = Sweep(problem, rng.normal(size=problem.n_x), us)
    if gap:
        sweep.move(2, np.full(problem.n_x, gap))
    monkeypatch.setattr("test.ocp.sweep.backward_of", by)
    outcome = sweep.backward(theta, rho)
    return outcome, sweep.ks, sweep.gains, sweep.vx, sweep.vxx


@pytest.mark.parametrize(
    ("n_x", "n_u", "halved"), [(14, 4, True), (14, 4, False), (13, 5, False), (36, 12, True), (36, 12, False)]
)
@pytest.mark.parametrize(("theta", "rho", "gap"), [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.6, 0.3, 0.1)])
def test_it_agrees_with_the_sweep_by_numba(
    n_x: int, n_u: int, halved: bool, theta: float, rho: float, gap: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = _problem(n_x, n_u, halved)
    in_c = _swept(problem, riccati.sweep_of, theta, rho, gap, monkeypatch)
    by_numba = _swept(problem, lambda *_: backward._compiled(0, 0, halved), theta, rho, gap, monkeypatch)
    assert in_c[0][0] == by_numba[0][0] == -1
    np.testing.assert_allclose(in_c[0], by_numba[0], rtol=1e-12)
    for ours, theirs in zip(in_c[1:], by_numba[1:], strict=True):
        for k in range(len(ours)):
            np.testing.assert_allclose(ours[k], theirs[k], rtol=0.0, atol=1e-12 * max(1.0, np.abs(theirs[k]).max()))
    assert not in_c[1][3].any() and not in_c[2][3].any(), "no step at a reset"
    np.testing.assert_array_equal(in_c[4], in_c[4].transpose(0, 2, 1))


def test_an_indefinite_control_hessian_is_met_at_the_same_node(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = _problem(14, 4, True)
    by_numba = _swept(problem, lambda *_: backward._compiled(0, 0, True), 1.0, -1e3, 0.0, monkeypatch)
    in_c = _swept(problem, riccati.sweep_of, 1.0, -1e3, 0.0, monkeypatch)
    assert in_c[0] == by_numba[0]
    assert in_c[0][0] >= 0


def test_without_a_compiler_numba_does_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CONTACT_DDP_CACHE", str(tmp_path))
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(compiler.CompilerError):
        compiler.find_compiler()
    riccati._library.cache_clear()
    try:
        assert riccati.sweep_of(14, 4, True) is None
        assert backward.backward_of(14, 4, True) is backward._compiled(14, 4, True)
    finally:
        riccati._library.cache_clear()
