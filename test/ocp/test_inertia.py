"""The interior point with exact curvature and a filter: Newton's step, indefinite costs, mixed equalities."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from contact_ddp_ros import (
    DdpSolver,
    Guess,
    InteriorPointOptions,
    InteriorPointSolver,
    SolverError,
    SolverOptions,
    casadi_problem,
    check_derivatives,
    solve_constrained,
)
from contact_ddp_ros.ocp.interior_solution import interior_options
from contact_ddp_ros.ocp.solution import Termination
from test.ocp.test_interior_point import COST, END, FOLLOWING, FORCE, LIMITS, H, U, X, still

INERTIA = InteriorPointOptions(strategy="inertia")


def solver(limit=500, **options):
    return InteriorPointSolver(interior_options(SolverOptions(max_iterations=limit, **options)), INERTIA)


def linear_quadratic(n_nodes, seed):
    """(problem, dense Hessian, gradient, constraints' matrix and side) of z = (u_0, x_1, u_1, …, x_N), one equality."""
    rng = np.random.default_rng(seed)
    n_x, n_u = 3, 2
    a, b = rng.normal(size=(n_x, n_x)), rng.normal(size=(n_x, n_u))
    g, offset = rng.normal(size=n_x + n_u), rng.normal()
    root = rng.normal(size=(n_x + n_u, n_x + n_u))
    q, linear = root @ root.T, rng.normal(size=n_x + n_u)
    x, u = ca.SX.sym("x", n_x), ca.SX.sym("u", n_u)
    z = ca.vertcat(x, u)
    problem = casadi_problem(
        dynamics=ca.mtimes(a, x) + ca.mtimes(b, u),
        running_cost=0.5 * ca.bilin(ca.DM(q), z, z) + ca.dot(linear, z),
        terminal_cost=0.5 * ca.sumsqr(x),
        equalities=ca.dot(g, z) - offset,
        n_nodes=n_nodes,
        x=x,
        u=u,
    )
    return problem, (a, b, g, offset, q, linear)


def dense_optimum(data, x0, n_nodes):
    """(us, multipliers) by one dense saddle-point system."""
    a, b, g, offset, q, linear = data
    n_x, n_u = b.shape
    n_z = n_x + n_u
    size, rows = n_nodes * n_z + n_x, []
    hessian, gradient = np.zeros((size, size)), np.zeros(size)
    for k in range(n_nodes):
        at = slice(k * n_z, (k + 1) * n_z)
        hessian[at, at], gradient[at] = q, linear
    hessian[-n_x:, -n_x:] = np.eye(n_x)
    side = []
    for i in range(n_x):
        row = np.zeros(size)
        row[i] = 1.0
        rows.append(row)
        side.append(x0[i])
    first_mixed = []
    for k in range(n_nodes):
        row = np.zeros(size)
        row[k * n_z : (k + 1) * n_z] = g
        first_mixed.append(len(rows))
        rows.append(row)
        side.append(offset)
        for i in range(n_x):
            row = np.zeros(size)
            row[k * n_z : (k + 1) * n_z] = np.concatenate([a[i], b[i]])
            row[(k + 1) * n_z + i] = -1.0
            rows.append(row)
            side.append(0.0)
    c = np.array(rows)
    saddle = np.block([[hessian, c.T], [c, np.zeros((len(c), len(c)))]])
    found = np.linalg.solve(saddle, np.concatenate([-gradient, side]))
    us = np.array([found[k * n_z + n_x : (k + 1) * n_z] for k in range(n_nodes)])
    return us, found[size:][first_mixed]


@pytest.mark.parametrize("seed", range(4))
def test_a_linear_quadratic_problem_takes_one_step_of_newton(seed):
    problem, data = linear_quadratic(5, seed)
    assert check_derivatives(problem).ok
    x0 = np.array([1.0, -0.5, 0.3])
    found = solver().solve(problem, x0, Guess.open_loop(x0, np.zeros((5, 2))))
    us, multipliers = dense_optimum(data, x0, 5)
    assert found.solution.termination is Termination.CONVERGED
    assert len(found.solution.iterations) == 1 and found.solution.iterations[0].step == 1.0
    assert found.solution.us == pytest.approx(us, abs=1e-8)
    assert found.multipliers.equalities[:-1, 0] == pytest.approx(multipliers, abs=1e-7)


def test_gaps_are_closed_and_limits_on_the_state_kept():
    """A swing-up from a straight line of states ends where the strategy "blend" does, at the lower of its optima."""
    problem = casadi_problem(
        FOLLOWING, COST, 50.0 * ca.sumsqr(END), n_nodes=100, x=X, u=U, u_min=-FORCE, u_max=FORCE, inequalities=LIMITS,
        barrier_weight=H,
    )  # fmt: skip
    x0 = np.array([0.1, 0.0])
    guess = replace(still(problem, x0), xs=np.linspace(x0, [np.pi, 0.0], 101))
    found = solver(shooting="multiple").solve(problem, x0, guess)
    assert found.solution.termination is Termination.CONVERGED, found.solution.message
    assert found.feasible and found.solution.gap == 0.0 and found.solution.inequality_violation == 0.0
    options = interior_options(SolverOptions(max_iterations=500, shooting="multiple"))
    blend = InteriorPointSolver(options).solve(problem, x0, guess)
    assert found.solution.cost == pytest.approx(blend.solution.cost, rel=1e-5)


def test_an_equality_of_the_end_is_kept():
    problem = casadi_problem(FOLLOWING, COST, 0.0, n_nodes=5, x=X, u=U, terminal_equality=END)
    x0 = np.array([0.1, 0.0])
    found = solver().solve(problem, x0, still(problem, x0))
    other = InteriorPointSolver().solve(problem, x0, still(problem, x0))
    assert found.feasible and found.solution.equality_violation < 1e-8
    assert found.cost == pytest.approx(other.cost, rel=1e-6)
    assert found.multipliers.equalities[-1] == pytest.approx(other.multipliers.equalities[-1], rel=1e-4)


def test_equalities_of_other_nodes_without_control_are_refused():
    problem = casadi_problem(FOLLOWING, COST, 0.0, n_nodes=5, x=X, u=U, terminal_equality=END)
    with pytest.raises(SolverError, match=r"terminal_equality\[0\] is neither"):
        solver().solve(replace(problem, n_terminal=0), np.zeros(2), still(problem, np.zeros(2)))
    with pytest.raises(SolverError, match="n_terminal is 9, n_mixed 0"):
        replace(problem, n_terminal=9)


def stuck(n_nodes=40):
    """A block is pushed by λ ≥ 0 through contact: λ s = 0 with the distance s, as a price that is bilinear."""
    x, u = ca.SX.sym("x", 2), ca.SX.sym("u", 4)  # position, hand; hand's rate, λ, s, λ s
    h = 0.1
    return casadi_problem(
        dynamics=ca.vertcat(x[0] + h * u[1], x[1] + h * u[0]),
        running_cost=0.01 * h * u[0] ** 2 + u[3],
        terminal_cost=50.0 * (x[0] - 1.0) ** 2 + 5.0 * x[1] ** 2,
        equalities=ca.vertcat(x[0] + 0.2 - x[1] - u[2], u[1] * u[2] - u[3]),
        n_nodes=n_nodes,
        x=x,
        u=u,
        u_min=[-2.0, 0.0, 0.0, 0.0],
        u_max=[2.0, 1.0, np.inf, np.inf],
    )


def test_complementarity_is_solved_with_a_quadratic_end():
    """The problem's own curvature is indefinite at first: δ is needed, and gone at the end."""
    problem = stuck()
    assert check_derivatives(problem).ok
    x0 = np.zeros(2)
    found = solver().solve(problem, x0, Guess.open_loop(x0, np.full((40, 4), 0.01)))
    solution = found.solution
    assert solution.termination is Termination.CONVERGED and solution.equality_violation < 1e-7
    assert max(one.rho for one in solution.iterations) > 0.0
    assert solution.iterations[-1].rho == 0.0 and solution.iterations[-1].step == 1.0
    assert solution.xs[-1, 0] > 0.5, "the block is pushed"
    assert np.abs(solution.us[:, 1] * solution.us[:, 2]).max() < 1e-5, "only where the hand touches it"
    assert solution.us[:, :3] == pytest.approx(np.clip(solution.us[:, :3], [-2.0, 0.0, 0.0], [2.0, 1.0, np.inf]))


def test_mixed_equalities_are_for_every_solver():
    """By multipliers and penalty where they are not eliminated."""
    problem, data = linear_quadratic(5, 0)
    x0 = np.array([1.0, -0.5, 0.3])
    us, _ = dense_optimum(data, x0, 5)
    outcome = solve_constrained(
        DdpSolver(SolverOptions(max_iterations=200)), problem, x0, Guess.open_loop(x0, 0.0 * us)
    )
    assert outcome.feasible
    assert outcome.solution.us == pytest.approx(us, abs=1e-4)


def test_what_cannot_be_met_is_named():
    problem = casadi_problem(
        FOLLOWING, COST, 0.0, n_nodes=10, x=X, u=U, u_min=-1.0, u_max=1.0, equalities=U - 3.0, barrier_weight=H
    )
    x0 = np.array([0.1, 0.0])
    found = solver().solve(problem, x0, still(problem, x0))
    assert found.solution.termination is not Termination.CONVERGED
    assert "equalities[0] of node" in found.solution.message


def test_a_warm_start_at_a_held_barrier_ends_at_once():
    problem, x0 = stuck(), np.zeros(2)
    first = solver().solve(problem, x0, Guess.open_loop(x0, np.full((40, 4), 0.01)))
    guess = Guess(first.solution.xs, first.solution.us, first.solution.gains)
    again = solver().solve(problem, x0, guess, warm=first.multipliers, mu=first.mu)
    assert again.solution.termination is Termination.CONVERGED
    assert len(again.solution.iterations) <= 5


def test_more_mixed_equalities_than_equalities_are_refused():
    problem, _ = linear_quadratic(5, 0)
    with pytest.raises(SolverError, match="n_mixed is 2 of 1"):
        replace(problem, n_mixed=2)
