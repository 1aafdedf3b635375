"""Problems from CasADi against problems written by hand, known optima, and their own constraints."""

from dataclasses import replace

import casadi as cs
import numpy as np
import pytest

from contact_ddp_ros.base.compiled import cache
from contact_ddp_ros.ocp.casadi_problem import LeastSquares, casadi_problem
from contact_ddp_ros.ocp.continuation import Continuation, solve_constrained
from contact_ddp_ros.ocp.ddp import DdpSolver
from contact_ddp_ros.ocp.derivatives import check_derivatives
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.ocp.solution import Guess, Termination
from test.library.systems import X0, everything, pendulum_terms, swing_up
from test.ocp.pendulum import pendulum
from test.ocp.test_ddp import riccati_cost

NO_BARRIER = [1.0, 0.1, 0.0]


def solve(problem, us=None, variant="ddp", **arguments):
    guess = Guess.open_loop(X0, np.zeros((problem.n_nodes, problem.n_u)) if us is None else us)
    return DdpSolver(SolverOptions(variant=variant, max_iterations=300)).solve(problem, X0, guess, **arguments)


@pytest.mark.parametrize("variant", ["ddp", "ilqr"])
def test_it_is_the_problem_written_by_hand(variant):
    by_hand = solve(pendulum(), variant=variant)
    found = solve(swing_up(), variant=variant)
    assert by_hand.termination is found.termination is Termination.CONVERGED
    assert len(found.iterations) == len(by_hand.iterations)
    assert [one.cost for one in found.iterations] == pytest.approx([one.cost for one in by_hand.iterations], rel=1e-9)
    assert found.us == pytest.approx(by_hand.us, abs=1e-7)


def test_lqr_is_solved_in_one_step():
    rng = np.random.default_rng(1)
    a, b = np.eye(3) + 0.1 * rng.standard_normal((3, 3)), rng.standard_normal((3, 2))
    x, u = cs.SX.sym("x", 3), cs.SX.sym("u", 2)
    end = LeastSquares(np.sqrt(5.0) * x)
    problem = casadi_problem(
        cs.mtimes(a, x) + cs.mtimes(b, u), 0.5 * cs.sumsqr(x) + 0.15 * cs.sumsqr(u), end, n_nodes=20, x=x, u=u
    )
    x0 = rng.standard_normal(3)
    solution = DdpSolver().solve(problem, x0, Guess.open_loop(x0, rng.standard_normal((20, 2))))
    expected = riccati_cost(a, b, np.eye(3), 0.3 * np.eye(2), 5.0 * np.eye(3), 20, x0)
    assert solution.iterations[0].step == 1.0
    assert solution.cost == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("penalty", [None, [7.0, 0.3, 0.2], NO_BARRIER])
def test_all_derivatives_are_right(penalty):
    report = check_derivatives(everything(), penalty=penalty, seed=2)
    assert report.ok, str(report)
    assert {one.block for one in report.errors} == {"fx", "fu", "lx", "lu", "Hxx", "Hux", "Huu"}


def test_least_squares_leave_a_positive_semidefinite_hessian_to_gauss_newton():
    """And the scalar of the same value does not: both are right, but only one of them is iLQR's."""
    x, u = cs.SX.sym("x", 2), cs.SX.sym("u")
    residual = cs.vertcat(x[0] ** 2 - 3.0, 0.1 * x[1] - 5.0 * cs.cos(x[1]), u)
    costs = {"squares": LeastSquares(residual), "scalar": 0.5 * cs.sumsqr(residual)}
    values, least = {}, {}
    for name, cost in costs.items():
        problem = casadi_problem(x + cs.vertcat(u, u), cost, 0.0, n_nodes=1, x=x, u=u)
        values[name], hessian = cost_and_hessian(problem, np.array([0.1, 0.2]), np.zeros(1))
        least[name] = np.linalg.eigvalsh(hessian).min()
        assert check_derivatives(problem).ok
    assert values["squares"] == pytest.approx(values["scalar"])
    assert least["squares"] >= 0.0 > least["scalar"]


def cost_and_hessian(problem, x, u):
    """ℓ at the first node, and the Hessian by x that Gauss-Newton has of it."""
    own = (problem.integers, problem.node_integers, problem.parameters, problem.node_parameters)
    data = (*own, np.zeros((problem.n_nodes + 1, 1)), np.array(problem.penalty))
    aux, n_x, n_u = np.zeros(problem.n_aux), problem.n_x, problem.n_u
    cost = problem.step(data, 0, x, u, np.zeros(n_x), aux, np.zeros(1))
    shapes = ((n_x, n_x), (n_x, n_u), (n_x,), (n_u,), (n_x, n_x), (n_u, n_x), (n_u, n_u))
    views = tuple(np.zeros(shape) for shape in shapes)
    problem.first(data, 0, x, u, aux, views)
    return cost, views[4]


def test_bounds_hold_where_without_them_they_would_not():
    free = solve(swing_up())
    assert np.abs(free.us).max() > 2.5, "an idle bound would prove nothing"
    problem = swing_up(u_min=-2.0, u_max=1.5, barrier_weight=0.01)
    outcome = solve_constrained(
        DdpSolver(SolverOptions(max_iterations=300)), problem, X0, Guess.open_loop(X0, np.zeros((60, 1)))
    )
    us = outcome.solution.us
    assert outcome.feasible and outcome.solution.inequality_violation <= 1e-6
    assert us.min() >= -2.0 - 2e-6 and us.max() <= 1.5 + 2e-6
    assert us.max() > 1.4, "the bound is not used"
    assert outcome.solution.cost > free.cost


def test_a_single_solve_keeps_to_bounds_softly_unless_told_otherwise():
    problem = swing_up(u_min=-2.0, u_max=2.0)
    soft, without = solve(problem), solve(problem, penalty=NO_BARRIER)
    excess, freely = (np.abs(one.us).max() - 2.0 for one in (soft, without))
    assert 0.0 < excess < 0.5 * freely
    assert without.us == pytest.approx(solve(swing_up()).us, abs=1e-6)
    assert without.inequality_violation == pytest.approx(np.abs(without.us).max() / 2.0 - 1.0)


@pytest.mark.parametrize(("given", "within"), [({"u_min": -1.0}, (-1.0, np.inf)), ({"u_max": 1.0}, (-np.inf, 1.0))])
def test_one_sided_bounds(given, within):
    problem = swing_up(**given)
    guess = Guess.open_loop(X0, np.zeros((60, 1)))
    outcome = solve_constrained(DdpSolver(SolverOptions(max_iterations=300)), problem, X0, guess)
    us = outcome.solution.us
    assert outcome.feasible
    assert us.min() >= within[0] - 1e-6 and us.max() <= within[1] + 1e-6
    assert max(abs(us.min()), abs(us.max())) > 1.2, "the other side is free"


def test_inequalities_hold():
    """The rate may not exceed 4 rad/s, which the free swing-up does."""
    x, u, dynamics, running, end = pendulum_terms()
    options = {"n_nodes": 60, "x": x, "u": u}
    assert np.abs(solve(casadi_problem(dynamics, running, end, **options)).xs[:-1, 1]).max() > 4.5
    problem = casadi_problem(
        dynamics, running, end, inequalities=cs.vertcat(4.0 - x[1], 4.0 + x[1]) / 4.0, barrier_weight=0.01, **options
    )
    guess = Guess.open_loop(X0, np.zeros((60, 1)))
    outcome = solve_constrained(DdpSolver(SolverOptions(max_iterations=300)), problem, X0, guess)
    assert outcome.feasible
    assert np.abs(outcome.solution.xs[:-1, 1]).max() <= 4.0 + 4e-6


def test_the_end_is_met_exactly():
    x, *_ = pendulum_terms()
    problem = swing_up()
    x, u, dynamics, running, end = pendulum_terms()
    target = cs.vertcat(x[0] - np.pi, x[1])
    problem = casadi_problem(dynamics, running, 0.1 * end, terminal_equality=target, n_nodes=60, x=x, u=u)
    guess = Guess.open_loop(X0, np.zeros((60, 1)))
    outcome = solve_constrained(DdpSolver(SolverOptions(max_iterations=300)), problem, X0, guess, Continuation())
    assert outcome.feasible
    assert outcome.solution.xs[-1] == pytest.approx([np.pi, 0.0], abs=1e-6)


def test_functions_are_as_good_as_expressions():
    x, u, dynamics, running, end = pendulum_terms()
    p = cs.MX.sym("p")
    mx, mu = cs.MX.sym("x", 2), cs.MX.sym("u")
    f = cs.Function("f", [x, u], [dynamics])
    of_matrices = cs.Function("f", [mx, mu, p], [f(mx, mu) + cs.vertcat(0.0 * p, 0.0)])
    problem = casadi_problem(
        of_matrices,
        cs.Function("l", [x, u], [running]),
        cs.Function("end", [x], [end]),
        n_nodes=60,
        parameters=[1.0],
    )
    assert solve(problem).cost == pytest.approx(solve(swing_up()).cost, rel=1e-12)


def test_parameters_are_inputs_and_may_differ_by_node():
    x, u, p = cs.SX.sym("x", 2), cs.SX.sym("u"), cs.SX.sym("p", 2)
    problem = casadi_problem(
        cs.vertcat(x[0] + 0.1 * x[1], x[1] + 0.1 * u), 0.5 * cs.sumsqr(u), 500.0 * cs.sumsqr(x - p),
        n_nodes=20, x=x, u=u, p=p, parameters=[1.0, 0.0],
    )  # fmt: skip
    assert solve(problem).xs[-1] == pytest.approx([1.0, 0.0], abs=0.02)
    moved = np.tile([1.0, 0.0], (21, 1))
    moved[-1] = [2.0, -1.0]
    assert solve(replace(problem, node_parameters=moved)).xs[-1] == pytest.approx([2.0, -1.0], abs=0.05)


def test_the_second_problem_alike_compiles_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("CONTACT_DDP_CACHE", str(tmp_path))
    said: list[str] = []
    first = swing_up(progress=said.append)
    assert said and first.owner.native
    count = len(said)
    assert swing_up(n_nodes=10, u_max=1.0, progress=said.append).n_nodes == 10
    assert len(said) == count
    assert len(list(cache.cache_folder().iterdir())) == 1


def test_without_a_compiler_casadi_interprets(tmp_path, monkeypatch):
    monkeypatch.setenv("CONTACT_DDP_CACHE", str(tmp_path))
    monkeypatch.setenv("CC", str(tmp_path / "no-such-compiler"))
    problem = everything()
    assert not problem.owner.native
    assert check_derivatives(problem, nodes=[0, problem.n_nodes]).ok
