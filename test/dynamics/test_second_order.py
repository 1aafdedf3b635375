"""Contracted second-order partials against numerical derivatives of the first and against the tensor baseline."""

from collections.abc import Callable

import casadi as cs
import numpy as np
import pytest
from numpy.typing import NDArray

from contact_ddp_ros.dynamics import partials
from contact_ddp_ros.dynamics.contact import ScalarSystem
from contact_ddp_ros.dynamics.partials import contact_tensor, impact_tensor

from .support import Case, chain, close, derivative, evaluate, make_case, parameters

Array = NDArray[np.float64]

CASES = [
    ("random", 0),
    *[("aligned", seed) for seed in range(2)],
    *[("cardinal", seed) for seed in range(2)],
    ("planar", 0),
    ("whole", 0),
]
SYSTEMS: dict[str, Callable[[Case], ScalarSystem]] = {
    "contact": lambda case: case.contact,
    "impact": lambda case: case.impact,
}


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize(("kind", "seed"), CASES)
def test_second_order_matches_derivatives_of_the_first(kind: str, seed: int, system: str) -> None:
    case = make_case(kind, seed)
    of, n, m = SYSTEMS[system](case), case.n, case.n + case.n_c
    q, v, nu, xi = case.draw(n), case.draw(n), case.draw(m), case.draw(m)
    s_qq, s_vq, s_vv, s_qnu = evaluate(partials.second("second", of), q, v, nu, xi, case.p)
    first, linear = partials.first("first", of), partials.system("system", of)

    def s_q(q: Array, v: Array) -> Array:
        return xi @ evaluate(first, q, v, nu, case.p)[0].reshape(m, n)

    def s_v(q: Array, v: Array) -> Array:
        return xi @ evaluate(first, q, v, nu, case.p)[1].reshape(m, n)

    assert np.array_equal(s_qq, s_qq.T)
    assert np.array_equal(s_vv, s_vv.T)
    assert close(s_qq, derivative(lambda at: s_q(at, v), q))
    assert close(s_vq.T, derivative(lambda at: s_q(q, at), v))
    assert close(s_vv, derivative(lambda at: s_v(q, at), v))
    s_nu = derivative(lambda at: evaluate(linear, at, v, case.p)[0].reshape(m, m).T @ xi, q)
    assert close(s_qnu, s_nu.T)


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("kind", ["random", "cardinal", "planar", "whole"])
def test_second_order_after_the_first_is_the_same_with_fewer_operations(kind: str, system: str) -> None:
    case = make_case(kind, 1)
    of, n, m = SYSTEMS[system](case), case.n, case.n + case.n_c
    q, v, nu, xi = case.draw(n), case.draw(n), case.draw(m), case.draw(m)
    whole_first, whole_second = partials.first("first", of), partials.second("second", of)
    first, second = partials.expansion("first", "second", of)
    *blocks, shared = evaluate(first, q, v, nu, case.p)
    blocks += evaluate(second, xi, shared)
    expected = [*evaluate(whole_first, q, v, nu, case.p), *evaluate(whole_second, q, v, nu, xi, case.p)]
    for found, value in zip(blocks, expected, strict=True):
        assert close(found, value, 1e-12)
    together = first.n_instructions() + second.n_instructions()
    assert together < whole_first.n_instructions() + whole_second.n_instructions()


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("kind", ["random", "cardinal", "planar", "whole"])
def test_no_term_couples_velocity_and_solution(kind: str, system: str) -> None:
    """s_vnu and s_nunu are structurally zero; so is s_vv at an impact."""
    case = make_case(kind, 0)
    of = SYSTEMS[system](case)
    x = case.contact.symbols()
    s = of.scalar(x)
    by_nu = cs.gradient(s, x.nu)
    assert cs.jacobian(by_nu, cs.vertcat(x.v, x.nu)).nnz() == 0
    assert (cs.jacobian(cs.gradient(s, x.v), x.v).nnz() == 0) == (system == "impact")


def identity(case: Case, of: ScalarSystem, nu: Array, gamma: Array, q: Array, v: Array) -> dict[str, Array]:
    """gamma'nu_zy = s_zy + s_znu nu_y + (s_ynu nu_z)' with xi = -K^-1 gamma."""
    n, m = case.n, case.n + case.n_c
    kkt, _ = evaluate(partials.system("system", of), q, v, case.p)
    r_q, r_v = evaluate(partials.first("first", of), q, v, nu, case.p)
    xi = -np.linalg.solve(kkt, gamma)
    s_qq, s_vq, s_vv, s_qnu = evaluate(partials.second("second", of), q, v, nu, xi, case.p)
    nu_q, nu_v = -np.linalg.solve(kkt, r_q), -np.linalg.solve(kkt, r_v)
    nu_tau = np.linalg.solve(kkt, np.vstack([np.eye(n), np.zeros((m - n, n))]))
    return {
        "qq": s_qq + s_qnu @ nu_q + (s_qnu @ nu_q).T,
        "qv": s_vq.T + s_qnu @ nu_v,
        "vv": s_vv,
        "qtau": s_qnu @ nu_tau,
    }


@pytest.mark.parametrize(("kind", "seed"), [("planar", 0), ("chain", 0)])
def test_contact_identity_matches_the_tensor(kind: str, seed: int) -> None:
    case = make_case("planar", seed, n_contacts=1) if kind == "planar" else small_case(seed)
    n, m = case.n, case.n + case.n_c
    q, v, tau, gamma = case.draw(n), case.draw(n), case.draw(n), case.draw(m)
    kkt, bias = evaluate(partials.system("system", case.contact), q, v, case.p)
    nu = np.linalg.solve(kkt, np.concatenate([tau, np.zeros(m - n)]) - bias)
    found = identity(case, case.contact, nu, gamma, q, v)
    expected = evaluate(contact_tensor("tensor", case.contact), q, v, tau, gamma, case.p)
    for name, block in zip(("qq", "qv", "vv", "qtau"), expected, strict=True):
        assert close(found[name], block, 1e-8), name


@pytest.mark.parametrize(("kind", "seed"), [("planar", 0), ("chain", 2)])
def test_impact_identity_matches_the_tensor(kind: str, seed: int) -> None:
    case = make_case("planar", seed, n_contacts=1) if kind == "planar" else small_case(seed)
    n, m = case.n, case.n + case.n_c
    q, v, gamma = case.draw(n), case.draw(n), case.draw(m)
    kkt, bias = evaluate(partials.system("system", case.impact), q, v, case.p)
    found = identity(case, case.impact, np.linalg.solve(kkt, -bias), gamma, q, v)
    expected = evaluate(impact_tensor("tensor", case.impact), q, v, gamma, case.p)
    for name, block in zip(("qq", "qv", "vv"), expected, strict=True):
        assert close(found[name], block, 1e-8), name


def small_case(seed: int) -> Case:
    """A short random spatial chain with a rolling foot: general axes, small enough for the tensor."""
    rng = np.random.default_rng([seed, 99])
    return Case(chain(rng, 3, 1, 0.03), ("point_0",), (0, 2), rng, parameters(rng, 1))


def test_tensor_is_the_second_derivative_of_the_solution() -> None:
    case = make_case("planar", 3, n_contacts=1)
    n, m = case.n, case.n + case.n_c
    q, v, tau, gamma = case.draw(n), case.draw(n), case.draw(n), case.draw(m)
    of = case.contact
    system, first = partials.system("system", of), partials.first("first", of)

    def gradient(q: Array, v: Array) -> Array:
        kkt, bias = evaluate(system, q, v, case.p)
        nu = np.linalg.solve(kkt, np.concatenate([tau, np.zeros(m - n)]) - bias)
        r_q, _ = evaluate(first, q, v, nu, case.p)
        return -gamma @ np.linalg.solve(kkt, r_q)

    qq, qv, _, _ = evaluate(contact_tensor("tensor", of), q, v, tau, gamma, case.p)
    assert close(qq, derivative(lambda at: gradient(at, v), q), 1e-6)
    assert close(qv, derivative(lambda at: gradient(q, at), v), 1e-6)
