"""Problems in other units, without a solution, or without a minimum: IPOPT's optimum, or the right reason."""

import casadi as ca
import numpy as np
import pytest

from contact_ddp_ros.base.errors import SolverError
from contact_ddp_ros.ocp.casadi_problem import casadi_problem
from contact_ddp_ros.ocp.continuation import solve_constrained
from contact_ddp_ros.ocp.ddp import DdpSolver
from contact_ddp_ros.ocp.interior_point import InteriorPointSolver
from contact_ddp_ros.ocp.interior_solution import InteriorPointOptions
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.ocp.solution import Guess, Termination

X, U = ca.SX.sym("x", 2), ca.SX.sym("u")
H, N = 0.05, 60


def pendulum(state=1.0, control=1.0, cost=1.0):
    """The swing-up of docs/library.md with x, u and cost multiplied by these numbers, and its start."""
    x, u = X / state, U / control
    rate = x[1] + H * (u - 9.81 * ca.sin(x[0]))
    problem = casadi_problem(
        dynamics=state * ca.vertcat(x[0] + H * rate, rate),
        running_cost=cost * 0.5 * H * u**2,
        terminal_cost=cost * 50.0 * ca.sumsqr(x - ca.DM([np.pi, 0.0])),
        n_nodes=N,
        x=X,
        u=U,
        u_min=-4.0 * control,
        u_max=4.0 * control,
        barrier_weight=H * cost,
    )
    return problem, state * np.array([0.1, 0.0])


def integrator(n_nodes=20, **options):
    """A mass that a force moves for 2 s."""
    following = ca.vertcat(X[0] + 0.1 * X[1] + 0.005 * U, X[1] + 0.1 * U)
    given = {"running_cost": 0.05 * U**2, "terminal_cost": 0.0, "u_min": -1.0, "u_max": 1.0, **options}
    return casadi_problem(following, n_nodes=n_nodes, x=X, u=U, **given)


def still(problem, x0, value=0.0):
    return Guess.open_loop(x0, np.full((problem.n_nodes, problem.n_u), value))


def ends(problem, x0, names=("blend", "inertia", "penalties"), value=0.0):
    """(solution, feasible) by each solver."""
    guess, found = still(problem, x0, value), []
    for name in names:
        if name == "penalties":
            outcome = solve_constrained(DdpSolver(), problem, x0, guess)
        else:
            outcome = InteriorPointSolver(interior=InteriorPointOptions(strategy=name)).solve(problem, x0, guess)
        found.append((outcome.solution, outcome.feasible))
    return found


@pytest.fixture(scope="module")
def optimum():
    """Cost of the pendulum's optimum by IPOPT from standing still, and from what the outer loop of penalties finds."""
    problem, x0 = pendulum()
    opti = ca.Opti()
    xs, us = opti.variable(2, N + 1), opti.variable(1, N)
    opti.subject_to(xs[:, 0] == x0)
    for k in range(N):
        rate = xs[1, k] + H * (us[k] - 9.81 * ca.sin(xs[0, k]))
        opti.subject_to(xs[:, k + 1] == ca.vertcat(xs[0, k] + H * rate, rate))
    opti.subject_to(opti.bounded(-4.0, us, 4.0))
    opti.minimize(0.5 * H * ca.sumsqr(us) + 50.0 * ca.sumsqr(xs[:, N] - ca.DM([np.pi, 0.0])))
    opti.solver("ipopt", {"print_time": False}, {"print_level": 0, "tol": 1e-10})
    loop = solve_constrained(DdpSolver(), problem, x0, still(problem, x0))
    costs = []
    for states, controls in ((np.tile(x0, (N + 1, 1)), np.zeros((N, 1))), (loop.solution.xs, loop.solution.us)):
        opti.set_initial(xs, states.T)
        opti.set_initial(us, controls.T)
        costs.append(float(opti.solve().value(opti.f)))
    return (*costs, loop)


@pytest.mark.parametrize("strategy", ["blend", "inertia"])
@pytest.mark.parametrize(
    "units", [{}, {"state": 1e6}, {"state": 1e-6}, {"control": 1e-6}, {"cost": 1e6}, {"cost": 1e-6}], ids=str
)
def test_the_optimum_does_not_depend_on_units(optimum, units, strategy):
    problem, x0 = pendulum(**units)
    ((solution, feasible),) = ends(problem, x0, (strategy,))
    assert solution.termination is Termination.CONVERGED and feasible, solution.message
    assert solution.cost / units.get("cost", 1.0) == pytest.approx(optimum[0], rel=1e-4)
    assert ("multiply the cost" in solution.message) is (units == {"cost": 1e-6})


def test_the_outer_loop_ends_at_a_local_optimum_above_and_says_what_its_barriers_hold_back(optimum):
    best, near, loop = optimum
    assert loop.solution.termination is Termination.CONVERGED and loop.feasible
    assert near > 1.1 * best, "IPOPT stays where the loop ends: another optimum, and no error"
    assert near < loop.cost <= near + loop.slackness
    assert loop.slackness < 1e-3 * near


def test_a_small_cost_is_minimised_all_the_same():
    """A tolerance relative to 1 + |cost| ended it after an iteration."""
    problem, x0 = pendulum(cost=1e-12)
    plain, start = pendulum()
    free = [0.0, 0.1, 0.0]
    found = DdpSolver().solve(problem, x0, still(problem, x0), penalty=free)
    assert found.cost / 1e-12 == pytest.approx(DdpSolver().solve(plain, start, still(plain, start), penalty=free).cost)


def test_trajectories_that_are_cut_are_counted():
    problem, x0 = pendulum(state=1e7)
    found = InteriorPointSolver().solve(problem, 0.0 * x0, still(problem, 0.0 * x0, 0.1)).solution
    assert found.termination is not Termination.CONVERGED
    assert "trajectories were cut where |x| reached 1e+06" in found.message


HARD = {
    "end out of reach": ({"terminal_equality": X - ca.DM([5.0, 0.0])}, [0.0, 0.0], "terminal_equality[0] of node 20"),
    "ends at two places": (
        {"terminal_equality": ca.vertcat(X[0] - 0.3, X[0] - 0.4)}, [0.0, 0.0], "terminal_equality[",
    ),
    "two ways at once": ({"inequalities": ca.vertcat(X[1] - 1.0, -1.0 - X[1])}, [0.0, 0.0], "inequalities["),
    "start beyond a wall": ({"inequalities": 1.0 - X[0]}, [2.0, 0.0], "inequalities[0] of node 0"),
    "no time to stop": ({"inequalities": 1.0 + X[0]}, [-0.5, -3.0], "inequalities[0] of node 19"),
    "force beyond its bound": ({"inequalities": U - 2.0}, [0.0, 0.0], "inequalities[0]"),
    "another force than allowed": ({"equalities": U - 3.0}, [0.0, 0.0], "equalities[0]"),
}  # fmt: skip


@pytest.mark.parametrize("name", HARD)
def test_what_cannot_be_met_is_called_infeasible_by_the_constraint_and_within_the_bounds(name):
    constraint, start, culprit = HARD[name]
    problem = integrator(terminal_cost=ca.sumsqr(X), **constraint)
    names = ("blend", "penalties") if "terminal_equality" in constraint else ("blend", "inertia", "penalties")
    for solution, feasible in ends(problem, np.array(start), names):
        assert solution.termination is Termination.INFEASIBLE and not feasible, solution.message
        assert f"the most violated constraint is {culprit}" in solution.message
        assert np.abs(solution.us).max() <= 1.0


def test_what_can_be_met_is_not_called_infeasible():
    """With too few iterations to get there."""
    problem, x0 = integrator(terminal_equality=X - ca.DM([0.5, 0.0])), np.zeros(2)
    for limit in (1, 3):
        found = InteriorPointSolver().solve(problem, x0, still(problem, x0), max_iterations=limit).solution
        assert found.termination is Termination.ITERATIONS
    assert InteriorPointSolver().solve(problem, x0, still(problem, x0)).feasible


@pytest.mark.parametrize(
    "terms",
    [
        {"running_cost": 1.0 * U},
        {"terminal_cost": -(X[0] ** 2)},
        {"running_cost": 0.0 * U, "terminal_cost": -X[0], "inequalities": 1.0 + X[1]},
    ],
    ids=["linear", "concave end", "one-sided wall"],
)
def test_a_cost_without_a_minimum_is_called_unbounded(terms):
    problem = integrator(u_min=-np.inf, u_max=np.inf, **terms)
    for solution, _ in ends(problem, np.array([0.1, 0.0])):
        assert solution.termination is Termination.UNBOUNDED, solution.message
        assert solution.message.startswith("unbounded: the cost falls to -")


def test_limits_may_end_what_is_unbounded_without_them():
    """The outer loop's first pass has none."""
    problem = integrator(running_cost=1.0 * U)
    for solution, feasible in ends(problem, np.zeros(2)):
        assert feasible and solution.termination is not Termination.UNBOUNDED
        assert solution.us == pytest.approx(-np.ones((20, 1)), abs=1e-3)


def test_an_outer_loop_that_is_cut_short_is_not_called_converged():
    problem, x0 = pendulum()
    for limit in (20, 30):
        outcome = solve_constrained(DdpSolver(), problem, x0, still(problem, x0), max_iterations=limit)
        assert outcome.solution.termination is Termination.ITERATIONS


def test_equal_bounds_fix_a_control():
    x, u = ca.SX.sym("x", 2), ca.SX.sym("u", 2)
    terms = {"x": x, "n_nodes": 20, "terminal_cost": 50.0 * ca.sumsqr(x - 1.0)}

    def following(second):
        return ca.vertcat(x[0] + 0.1 * x[1] + 0.01 * second, x[1] + 0.1 * u[0] * second)

    fixed = casadi_problem(
        following(u[1]), running_cost=0.5 * ca.sumsqr(u), u=u, u_min=[-2.0, 0.3], u_max=[2.0, 0.3], **terms
    )
    one = ca.SX.sym("u")
    by_hand = casadi_problem(
        ca.substitute(following(0.3), u[0], one), running_cost=0.5 * (one**2 + 0.3**2), u=one, u_min=-2.0, u_max=2.0,
        **terms,
    )  # fmt: skip
    x0 = np.zeros(2)
    expected = InteriorPointSolver().solve(by_hand, x0, still(by_hand, x0)).solution
    for solution, feasible in ends(fixed, x0, value=0.7):
        assert feasible and (solution.us[:, 1] == 0.3).all()
        assert solution.us[:, 0] == pytest.approx(expected.us[:, 0], abs=1e-2)
    softly = DdpSolver(SolverOptions(max_iterations=200)).solve(fixed, x0, still(fixed, x0, 0.7))
    assert (softly.us[:, 1] == 0.3).all()


def test_bounds_that_cross_are_refused():
    with pytest.raises(SolverError, match="no lower bound may be above its upper one"):
        integrator(u_min=1.0, u_max=0.5)


def test_a_solution_prints_in_a_line():
    problem, x0 = pendulum()
    guess = still(problem, x0)
    interior, loop = InteriorPointSolver().solve(problem, x0, guess), solve_constrained(DdpSolver(), problem, x0, guess)
    for one in (interior, interior.solution, loop, loop.solution, DdpSolver().solve(problem, x0, guess)):
        assert str(one) == repr(one)
        assert "\n" not in repr(one) and len(repr(one)) < 250
        assert "CONVERGED after" in repr(one) and "cost" in repr(one) and "xs (61, 2), us (60, 1)" in repr(one)
