"""The interior point ends at the optimum that IPOPT finds, feasible, and says what stands in its way."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from contact_ddp_ros import InteriorPointSolver, SolverOptions, casadi_problem, check_derivatives
from contact_ddp_ros.base.errors import SolverError
from contact_ddp_ros.ocp.interior_solution import DualVariables, interior_options
from contact_ddp_ros.ocp.multipliers import inequality
from contact_ddp_ros.ocp.node_function import node_function
from contact_ddp_ros.ocp.protocol import STEP
from contact_ddp_ros.ocp.rollout import STATE_BOUND, rollout
from contact_ddp_ros.ocp.slacks import advance, as_slopes, begin, logarithms, measure, share_left, trial
from contact_ddp_ros.ocp.solution import Guess, Termination
from test.ocp.sweep import Sweep

H, FORCE, WALL = 0.05, 4.0, 5.0

X, U = ca.SX.sym("x", 2), ca.SX.sym("u")
RATE = X[1] + H * (U - 9.81 * ca.sin(X[0]))
FOLLOWING = ca.vertcat(X[0] + H * RATE, RATE)
COST = 0.5 * H * (U**2 + 0.1 * X[1] ** 2)
END = X - ca.DM([np.pi, 0.0])
LIMITS = ca.vertcat(1.0 - X[1] / WALL, 1.0 + X[1] / WALL)
"""On the rate: of the state alone, and active at many nodes."""
OTHER = 14.3110349
"""Cost of the second way up: IPOPT ends there, too, from some starts."""


@pytest.fixture(scope="module")
def swing_up():
    """A pendulum that must stand upright at the end, with bounded torque and rate."""
    return casadi_problem(
        FOLLOWING, COST, 0.0, n_nodes=100, x=X, u=U, u_min=-FORCE, u_max=FORCE, inequalities=LIMITS,
        terminal_equality=END, barrier_weight=H,
    )  # fmt: skip


def still(problem, x0):
    return Guess.open_loop(x0, np.zeros((problem.n_nodes, problem.n_u)))


def by_ipopt(n_nodes, x0, guess):
    """(cost, controls) of the same programme, by multiple shooting."""
    opti = ca.Opti()
    xs, us = opti.variable(2, n_nodes + 1), opti.variable(1, n_nodes)
    step, cost = ca.Function("f", [X, U], [FOLLOWING]), ca.Function("l", [X, U], [COST])
    limits = ca.Function("h", [X], [LIMITS])
    opti.subject_to(xs[:, 0] == x0)
    opti.minimize(sum(cost(xs[:, k], us[k]) for k in range(n_nodes)))
    for k in range(n_nodes):
        opti.subject_to(xs[:, k + 1] == step(xs[:, k], us[k]))
        opti.subject_to(limits(xs[:, k]) >= 0)
    opti.subject_to(opti.bounded(-FORCE, us, FORCE))
    opti.subject_to(xs[:, n_nodes] == ca.DM([np.pi, 0.0]))
    opti.set_initial(xs, guess.xs.T)
    opti.set_initial(us, guess.us.T)
    opti.solver("ipopt", {"print_time": False}, {"print_level": 0, "tol": 1e-10})
    found = opti.solve()
    return float(found.value(opti.f)), np.array(found.value(us)).reshape(-1, 1)


def test_it_ends_at_ipopts_optimum_within_every_limit(swing_up):
    x0 = np.array([0.1, 0.0])
    found = InteriorPointSolver().solve(swing_up, x0, still(swing_up, x0))
    solution = found.solution
    assert solution.termination is Termination.CONVERGED
    assert found.feasible and solution.inequality_violation == 0.0 and solution.equality_violation < 1e-8
    assert np.abs(solution.us).max() == pytest.approx(FORCE, abs=1e-5), "the torque's limit is active"
    assert np.abs(solution.xs[:, 1]).max() == pytest.approx(WALL, abs=1e-5), "the rate's limit is active"
    cost, us = by_ipopt(swing_up.n_nodes, x0, Guess(solution.xs, solution.us, solution.gains))
    assert solution.cost == pytest.approx(cost, rel=1e-6)
    assert solution.us == pytest.approx(us, abs=1e-2)


@pytest.mark.parametrize("seed", [0, 2, 3, 5, 8])
def test_from_violated_starts_it_ends_feasible(swing_up, seed):
    """Of torques of three times the limit."""
    x0 = np.array([0.1, 0.0])
    us = np.random.default_rng(seed).normal(0.0, (1.0, 3.0)[seed % 2] * FORCE, (swing_up.n_nodes, 1))
    found = InteriorPointSolver().solve(swing_up, x0, Guess.open_loop(x0, us))
    assert found.solution.termination is Termination.CONVERGED and found.feasible
    cost, _ = by_ipopt(swing_up.n_nodes, x0, Guess(found.solution.xs, found.solution.us, found.solution.gains))
    assert found.solution.cost == pytest.approx(cost, rel=1e-6)


@pytest.mark.parametrize("options", [{"variant": "ilqr"}, {"shooting": "multiple"}])
def test_without_curvature_and_from_states_that_do_not_join(swing_up, options):
    x0 = np.array([0.1, 0.0])
    best = InteriorPointSolver().solve(swing_up, x0, still(swing_up, x0)).solution.cost
    line = np.linspace(x0, [np.pi, 0.0], swing_up.n_nodes + 1)
    guess = still(swing_up, x0)
    guess = replace(guess, xs=line) if "shooting" in options else guess
    solver = InteriorPointSolver(interior_options(SolverOptions(max_iterations=500, **options)))
    found = solver.solve(swing_up, x0, guess)
    assert found.feasible
    assert found.solution.cost == pytest.approx(best, rel=1e-5) or found.solution.cost == pytest.approx(OTHER, rel=1e-5)


def test_multipliers_are_those_of_the_kkt_conditions(swing_up):
    """y s = μ, and Qu = 0 with the limits' forces."""
    x0 = np.array([0.1, 0.0])
    found = InteriorPointSolver().solve(swing_up, x0, still(swing_up, x0))
    multipliers = found.multipliers.inequalities
    assert (found.slacks > 0.0).all() and (multipliers > 0.0).all()
    assert found.slacks * multipliers == pytest.approx(found.mu, rel=1e-2)
    assert found.slacks == pytest.approx(found.solution.inequalities[:-1], abs=1e-12)
    assert found.solution.iterations[-1].gradient < 0.1
    active = np.abs(found.solution.us[:, 0]) > FORCE * (1.0 - 1e-6)
    assert active.any()
    assert np.abs(found.solution.gains[active]).max() < 1e-2, "a torque at its limit is not fed back"


def test_a_warm_start_needs_few_iterations(swing_up):
    x0, solver = np.array([0.1, 0.0]), InteriorPointSolver()
    first = solver.solve(swing_up, x0, still(swing_up, x0))
    guess = Guess(first.solution.xs, first.solution.us, first.solution.gains)
    for offset in (0.0, 1e-3, 3e-2):
        moved = x0 + offset
        warm = solver.solve(swing_up, moved, guess, warm=first.multipliers)
        assert warm.solution.termination is Termination.CONVERGED and warm.feasible
        cost, _ = by_ipopt(swing_up.n_nodes, moved, guess)
        assert warm.solution.cost == pytest.approx(cost, rel=1e-6)
        assert len(warm.solution.iterations) < 0.3 * len(first.solution.iterations)
    with pytest.raises(SolverError, match="warm has multipliers of shape"):
        solver.solve(
            swing_up, x0, guess, warm=DualVariables(first.multipliers.equalities[1:], first.multipliers.inequalities)
        )


def test_what_cannot_be_met_is_named():
    impossible = ca.vertcat(U - 1.0, -1.0 - U)
    problem = casadi_problem(
        FOLLOWING, COST, 0.5 * ca.sumsqr(END), n_nodes=10, x=X, u=U, inequalities=impossible, barrier_weight=H
    )
    x0 = np.array([0.1, 0.0])
    found = InteriorPointSolver().solve(problem, x0, still(problem, x0))
    assert not found.feasible
    assert found.solution.termination is not Termination.CONVERGED
    assert "inequalities[" in found.solution.message and "of node" in found.solution.message


def test_an_equality_out_of_reach_is_named(swing_up):
    x0 = np.array([0.1, 0.0])
    short = casadi_problem(
        FOLLOWING, COST, 0.0, n_nodes=5, x=X, u=U, u_min=-FORCE, u_max=FORCE, terminal_equality=END, barrier_weight=H
    )
    found = InteriorPointSolver().solve(short, x0, still(short, x0))
    assert not found.feasible
    assert "terminal_equality[" in found.solution.message and "node 5" in found.solution.message


def test_without_constraints_it_is_ddp():
    problem = casadi_problem(FOLLOWING, COST, 5.0 * ca.sumsqr(END), n_nodes=20, x=X, u=U)
    x0 = np.array([0.1, 0.0])
    found = InteriorPointSolver().solve(problem, x0, still(problem, x0))
    assert found.solution.termination is Termination.CONVERGED
    assert found.feasible


def test_the_derivatives_of_what_inequalities_add(swing_up):
    """ψ of random slacks and multipliers."""
    assert check_derivatives(swing_up, mu=0.3).ok


def test_slacks_and_their_sums():
    residuals = np.array([[0.0, 0.5, np.inf, 0.0], [0.2, -1.0, 2.0, 1.0], [0.3, np.inf, np.inf, 0.0]])
    multipliers, weights, penalty = np.zeros((3, 5)), np.array([2.0, 1.0]), np.array([10.0, 0.0, 0.0, 0.1])
    assert begin(residuals, multipliers, weights, 1, 2, 0.05) == 4.0
    assert multipliers[:2, 1::2].tolist() == [[0.5, np.inf], [0.5, 2.0]]
    assert multipliers[:2, 2::2].tolist() == [[2.0, 0.0], [2.0, 0.5]]
    expected = 1.5, 0.1 * 1.5 / 0.5, 4.0 * 1.5**2, 5.0 * (0.04 + 0.09), 0.3
    assert measure(residuals, multipliers, weights, penalty, 1, 2) == pytest.approx(expected)
    assert logarithms(multipliers, weights, 1, 2) == pytest.approx(2.0 * np.log(0.5) + np.log(0.5) + np.log(2.0))


def test_the_curvature_of_inequalities_is_contracted_with_their_multipliers():
    """Whatever z is, and not with what the step makes of them."""
    multipliers = np.array([[3.0, 0.2, 0.7, 1e-9, 2e4]])
    slopes = np.zeros_like(multipliers)
    as_slopes(multipliers, 1, 2, slopes)
    assert slopes[0, 0] == 3.0
    for z in (-1.0, 0.0, 0.3):
        found = [inequality(z, slopes[0], at, np.array([1e3, 0.1, 0.0, 1.0]))[1] for at in (1, 3)]
        assert found == pytest.approx([-0.7, -2e4])


def test_a_slack_stops_at_its_boundary():
    """Where the inequality goes on; and above a share of the violation."""
    nominal, weights, penalty = np.array([[0.5, 0.5, 0.0]]), np.array([2.0]), np.array([10.0, 0.0, 0.0, 0.1])
    multipliers, slacks = np.zeros((2, 4)), np.zeros((1, 2))
    begin(np.vstack([nominal, nominal]), multipliers, weights, 0, 2, 0.05)
    ahead = np.array([[-0.1, 0.2, 0.0], [0.0, 0.0, 0.0]])
    apart, psi, logarithm, _ = trial(ahead, nominal, multipliers, weights, penalty, 0, 2, 1.0, 0.99, slacks)
    assert slacks[0] == pytest.approx([0.3 * 0.1, 0.2])
    assert apart == pytest.approx(2.0 * 0.13)
    assert share_left(multipliers[0], ahead[0], nominal[0], 1.0) == pytest.approx(-0.1 / 0.5)
    assert logarithm == pytest.approx(2.0 * (np.log(0.03) + np.log(0.2)))
    assert psi == pytest.approx(2.0 * sum(0.5 * 4.0 * g * g - 0.1 / 0.5 * g for g in (-0.6, -0.3)))


def test_multipliers_step_together_or_each_for_itself():
    """One that falls to its boundary holds the other back, or does not."""
    old, now = np.array([[0.5, 0.2, 0.0]]), np.array([[1.5, -0.1, 0.0]])
    penalty, weights = np.array([10.0, 0.0, 0.0, 0.1]), np.array([1.0])
    found = {}
    for common in (True, False):
        multipliers, slacks = np.zeros((2, 4)), np.zeros((1, 2))
        begin(np.vstack([old, old]), multipliers, weights, 0, 2, 0.05)
        multipliers[:, 1::2] *= penalty[3]
        trial(np.vstack([now, now]), old, multipliers, weights, penalty, 0, 2, 1.0, 0.99, slacks)
        advance(np.vstack([now, now]), np.vstack([old, old]), multipliers, penalty, 0, 2, 1.0, 0.99, slacks, common)
        found[common] = multipliers[0, 1::2].copy()
    first, second = 0.1 / 0.5, 0.1 / 0.2  # and their full steps: to -0.2 and to 0.75 + 0.5
    length = 0.99 * first / (first + 0.2)
    assert found[True] == pytest.approx([0.01 * first, second + length * (0.1 / 0.2 * 1.5)])
    assert found[False] == pytest.approx([0.01 * first, second + 0.1 / 0.2 * 1.5])


def test_a_rollout_beyond_the_boundary_ends_past_the_worst_node(swing_up):
    x0, n = np.array([0.1, 0.0]), swing_up.n_nodes
    us = np.zeros((n, 1))
    us[20], us[22:40] = 10.0 * FORCE, 2.0 * FORCE
    nominal = Sweep(swing_up, x0, np.zeros((n, 1)))
    begin(nominal.residuals, nominal.data[4], np.ones(n), swing_up.n_e, swing_up.n_i, 0.05)
    shares = []
    for past, last in ((0, n - 1), (1, 21), (2, 22), (30, 50)):
        given = (nominal.xs, us, nominal.ks, nominal.gains, 1.0, nominal.gaps, nominal.residuals.copy(), -0.01, past)
        given = *given, STATE_BOUND
        into = nominal.xs.copy(), us.copy(), nominal.aux.copy(), np.full_like(nominal.residuals, np.nan)
        step = node_function(swing_up.step, STEP)
        cost, share = rollout(step, nominal.data, swing_up.has_control, *given, *into)
        assert cost == np.inf
        shares.append(share)
        written = np.isfinite(into[3][:-1, -1])
        assert written[: last + 1].all() and not written[last + 1 :].any()
    assert shares == [shares[0]] * 4 and shares[0] < -5.0


def test_second_order_waits_until_the_optimum_is_near(swing_up):
    problem = casadi_problem(FOLLOWING, COST, 50.0 * ca.sumsqr(END), n_nodes=100, x=X, u=U)
    x0, options = np.array([0.1, 0.0]), interior_options(SolverOptions(max_iterations=500, second_order_below=1e-2))
    found = InteriorPointSolver(options).solve(problem, x0, still(problem, x0))
    assert found.solution.termination is Termination.CONVERGED
    blends = np.array([one.hessian_blend for one in found.solution.iterations])
    assert blends[0] == 0.0 and blends[np.flatnonzero(blends)[0]] == 0.25 and blends[-1] == 1.0
    warm = InteriorPointSolver(options).solve(problem, x0, guess_of(found), warm=found.multipliers)
    assert warm.solution.iterations[0].hessian_blend == 1.0, "one that is warm begins near"
    ilqr = InteriorPointSolver(replace(options, variant="ilqr")).solve(problem, x0, still(problem, x0))
    assert not any(one.hessian_blend for one in ilqr.solution.iterations)
    walls = InteriorPointSolver(options).solve(swing_up, x0, still(swing_up, x0)).solution.iterations
    left = next(k for k, one in enumerate(walls) if one.inequality > 0.0 and one.step == 1.0)
    assert not any(one.hessian_blend for one in walls[:left]) and walls[left + 1].hessian_blend > 0.0


def guess_of(found):
    return Guess(found.solution.xs, found.solution.us, found.solution.gains)
