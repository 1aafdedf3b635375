"""Trajectories with gaps: linear problems in one step, DDP's rate, the merit, and what single shooting cannot do."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from contact_ddp_ros.base.errors import SolverError
from contact_ddp_ros.ocp import defects as gaps
from contact_ddp_ros.ocp.continuation import Continuation, solve_constrained
from contact_ddp_ros.ocp.ddp import DdpSolver
from contact_ddp_ros.ocp.node_function import node_function
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.ocp.protocol import STEP
from contact_ddp_ros.ocp.rollout import STATE_BOUND
from contact_ddp_ros.ocp.solution import Guess, Termination
from test.ocp.hybrid_lq import Stage, hopper, hybrid_lq, kkt_optimum
from test.ocp.pendulum import pendulum
from test.ocp.sweep import Sweep, data_of
from test.ocp.test_properties import EXAMPLES, SIZES, random_stages

MULTIPLE = SolverOptions(shooting="multiple")
X0 = np.array([0.2, 0.0])


def apart(x0, us, xs):
    """A guess of states and controls that do not belong together."""
    return Guess(xs, us, np.zeros((len(us), us.shape[1], len(x0))))


def swing_up(problem, seed=0, noise=0.0):
    """States on a line from X0 to the upright pendulum, and no controls."""
    rng = np.random.default_rng(seed)
    share = np.linspace(0.0, 1.0, problem.n_nodes + 1)[:, None]
    xs = (1.0 - share) * X0 + share * np.array([np.pi, 0.0])
    xs[1:] += noise * rng.standard_normal(xs[1:].shape)
    return apart(X0, np.zeros((problem.n_nodes, 1)), xs)


def gaps_of(problem, xs, us):
    """(cost, (N, n_x) gaps) of a trajectory, by the solver's own evaluation."""
    n = problem.n_nodes
    found = np.empty((n, problem.n_x))
    cost = gaps.evaluate(
        node_function(problem.step, STEP),
        data_of(problem),
        STATE_BOUND,
        np.ascontiguousarray(xs),
        np.ascontiguousarray(us),
        np.zeros((n + 1, problem.n_aux)),
        np.zeros((n + 1, problem.n_residuals)),
        found,
    )
    return cost, found


@EXAMPLES
@given(**SIZES)
def test_a_quadratic_problem_is_solved_in_one_full_step_from_states_that_do_not_join(seed, n_x, n_u, n_nodes):
    stages, terminal, x0, us = random_stages(seed, n_x, n_u, n_nodes)
    optimum = kkt_optimum(stages, terminal, x0)
    xs = 3.0 * np.random.default_rng(seed).standard_normal((n_nodes + 1, n_x))
    solution = DdpSolver(MULTIPLE).solve(hybrid_lq(stages, terminal), x0, apart(x0, us, xs))
    first = solution.iterations[0]
    assert first.step == 1.0
    assert first.gap == 0.0
    assert first.cost == pytest.approx(optimum.cost, rel=1e-8)
    assert first.actual == pytest.approx(first.expected, rel=1e-6, abs=1e-9 * (1.0 + solution.initial_cost))
    assert solution.xs == pytest.approx(optimum.xs, rel=1e-5, abs=1e-5)
    assert solution.termination is Termination.CONVERGED


def test_a_guess_is_evaluated_as_it_is():
    problem = pendulum()
    guess = swing_up(problem, noise=0.1)
    solution = DdpSolver(MULTIPLE).solve(problem, X0, guess, max_iterations=0)
    assert (solution.xs == guess.xs).all() and (solution.us == guess.us).all()
    cost, found = gaps_of(problem, guess.xs, guess.us)
    assert solution.cost == solution.initial_cost == cost
    assert solution.gap == np.abs(found).max() > 0.05


def test_the_first_state_is_the_given_one_whatever_the_guess_says():
    stages, terminal, _, x0 = hopper(constrained=False)
    problem = hybrid_lq(stages, terminal)
    guess = apart(x0, np.ones((problem.n_nodes, 1)), np.full((problem.n_nodes + 1, 2), 5.0))
    solution = DdpSolver(MULTIPLE).solve(problem, x0, guess)
    assert (solution.xs[0] == x0).all()
    assert solution.us == pytest.approx(kkt_optimum(stages, terminal, x0).us, abs=1e-8)
    assert (solution.us[~problem.has_control] == 0.0).all()


def test_resets_and_the_touchdown_constraint_end_at_the_kkt_point():
    stages, terminal, touchdown, x0 = hopper(constrained=True)
    problem, optimum = hybrid_lq(stages, terminal), kkt_optimum(stages, terminal, x0)
    xs = np.random.default_rng(3).standard_normal((problem.n_nodes + 1, 2))
    outcome = solve_constrained(DdpSolver(MULTIPLE), problem, x0, apart(x0, np.zeros((problem.n_nodes, 1)), xs))
    assert outcome.feasible
    assert outcome.passes[0].solution.iterations[0].gap == 0.0
    assert all(one.gap == 0.0 for later in outcome.passes[1:] for one in later.solution.iterations)
    assert outcome.multipliers[touchdown, 0] == pytest.approx(optimum.multipliers[touchdown], rel=1e-2)
    assert outcome.solution.us == pytest.approx(optimum.us, abs=1e-2)


@pytest.mark.parametrize("theta", [0.0, 1.0])
def test_a_node_before_a_quadratic_value_is_expanded_exactly_wherever_the_next_state_lies(theta):
    """Contracting the curvature with V'x instead of V'x + V'xx d would depend on it."""
    problem = pendulum(n_nodes=1)
    joined = Sweep(problem, np.array([0.7, -0.4]), np.array([[0.3]]))
    assert joined.backward(theta, 0.0)[0] == -1
    expected = [array.copy() for array in (joined.ks, joined.gains, joined.vx[0], joined.vxx[0])]
    moved = Sweep(problem, np.array([0.7, -0.4]), np.array([[0.3]]))
    moved.move(1, np.array([1.5, -2.0]))
    assert moved.backward(theta, 0.0)[0] == -1
    assert np.abs(moved.vx[1] - joined.vx[1]).max() > 1.0
    for found, one in zip((moved.ks, moved.gains, moved.vx[0], moved.vxx[0]), expected, strict=True):
        assert found == pytest.approx(one, rel=1e-12)


def moved_pendulum(theta=0.0, rho=0.0):
    """A swept pendulum with gaps at three nodes."""
    problem = pendulum()
    sweep = Sweep(problem, X0, 0.5 * np.cos(np.arange(problem.n_nodes))[:, None])
    for node, gap in ((3, [0.1, -0.2]), (20, [-0.05, 0.3]), (60, [0.02, 0.1])):
        sweep.move(node, np.array(gap))
    failed, linear, quadratic, _ = sweep.backward(theta, rho)
    assert failed == -1
    return sweep, linear + quadratic


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.7, 1.0])
def test_a_step_leaves_one_minus_alpha_of_every_gap(alpha):
    sweep, _ = moved_pendulum()
    _, xs, us = sweep.step(alpha)
    _, left = gaps_of(sweep.problem, xs, us)
    assert left == pytest.approx((1.0 - alpha) * sweep.gaps, abs=1e-12)


@pytest.mark.parametrize("rho", [0.0, 3.0])
def test_the_slope_is_that_of_the_cost_along_the_steps(rho):
    sweep, _ = moved_pendulum(rho=rho)
    found = gaps.slope(sweep.problem.has_control, sweep.expansion, sweep.ks, sweep.gains, sweep.gaps)
    ahead, behind = (sweep.step(alpha)[0] for alpha in (1e-5, -1e-5))
    assert found == pytest.approx((ahead - behind) / 2e-5, rel=1e-5)


@pytest.mark.parametrize("rho", [0.0, 3.0])
def test_the_change_of_a_quadratic_cost_is_exact_for_every_step_and_regularisation(rho):
    stages, terminal, _, x0 = hopper(constrained=False)
    problem = hybrid_lq(stages, terminal)
    sweep = Sweep(problem, x0, np.full((problem.n_nodes, 1), 9.0))
    for node in range(1, problem.n_nodes + 1):
        sweep.move(node, 0.1 * np.array([np.cos(node), np.sin(node)]))
    _, linear, quadratic, _ = sweep.backward(0.0, rho)
    slope = gaps.slope(problem.has_control, sweep.expansion, sweep.ks, sweep.gains, sweep.gaps)
    bend = linear + quadratic - slope
    for alpha in (0.25, 0.5, 1.0):
        assert sweep.step(alpha)[0] - sweep.cost == pytest.approx(alpha * slope + alpha**2 * bend, rel=1e-9)


UNSTABLE = pendulum(n_nodes=120, damping=-1.0)
"""Its steps close gaps bit by bit."""


@pytest.mark.parametrize("variant", ["ddp", "ilqr"])
@pytest.mark.parametrize("noise", [0.0, 0.5, 2.0])
def test_gaps_shrink_by_the_steps_and_every_step_earns_its_share_of_the_merit(variant, noise):
    options = replace(MULTIPLE, variant=variant, max_iterations=200)
    guess = swing_up(UNSTABLE, noise=noise)
    solution = DdpSolver(options).solve(UNSTABLE, X0, guess)
    gap = np.abs(gaps_of(UNSTABLE, guess.xs, guess.us)[1]).max()
    for one in solution.iterations:
        assert one.gap == pytest.approx((1.0 - one.step) * gap, rel=1e-9)
        assert one.expected >= 0.0
        assert one.actual >= options.armijo * one.expected - 1e-12
        gap = one.gap
    assert solution.gap == 0.0
    assert solution.termination is Termination.CONVERGED
    assert solution.hessian_blend == (1.0 if variant == "ddp" else 0.0)


def test_a_solve_that_stops_with_gaps_says_how_large_they_are():
    guess, solver = swing_up(UNSTABLE), DdpSolver(MULTIPLE)
    stopped = solver.solve(UNSTABLE, X0, guess, max_iterations=2)
    assert all(0.0 < one.step < 1.0 for one in stopped.iterations), "a full step leaves no gap"
    cost, found = gaps_of(UNSTABLE, stopped.xs, stopped.us)
    assert stopped.termination is Termination.ITERATIONS
    assert stopped.gap == pytest.approx(np.abs(found).max(), rel=1e-9)
    assert stopped.gap > 1e-3
    assert stopped.cost == pytest.approx(cost, rel=1e-12)


def test_what_has_gaps_is_not_called_feasible():
    guess, settings = swing_up(UNSTABLE), Continuation(first_pass_without_inequalities=False)
    outcomes = [solve_constrained(DdpSolver(MULTIPLE), UNSTABLE, X0, guess, settings, limit) for limit in (2, None)]
    assert [outcome.feasible for outcome in outcomes] == [False, True]


def test_the_optimum_is_single_shootings():
    problem = pendulum()
    single = DdpSolver().solve(problem, X0, Guess.open_loop(X0, np.zeros((problem.n_nodes, 1))))
    multiple = DdpSolver(MULTIPLE).solve(problem, X0, swing_up(problem))
    assert multiple.cost == pytest.approx(single.cost, rel=1e-9)
    assert multiple.us == pytest.approx(single.us, abs=1e-4)


def test_from_states_that_join_every_number_is_single_shootings():
    problem = pendulum()
    us = np.random.default_rng(1).standard_normal((problem.n_nodes, 1))
    single = DdpSolver().solve(problem, X0, Guess.open_loop(X0, us))
    xs = DdpSolver().solve(problem, X0, Guess.open_loop(X0, us), max_iterations=0).xs
    multiple = DdpSolver(MULTIPLE).solve(problem, X0, apart(X0, us, xs))
    assert (multiple.xs == single.xs).all() and (multiple.gains == single.gains).all()
    assert len(multiple.iterations) == len(single.iterations)
    assert single.gap == 0.0 and all(one.gap == 0.0 for one in single.iterations)


@pytest.mark.parametrize(("variant", "order"), [("ddp", 2.0), ("ilqr", 1.0)])
def test_the_error_after_one_iteration_is_a_power_of_the_error_before(variant, order):
    problem = pendulum()
    zero = Guess.open_loop(X0, np.zeros((problem.n_nodes, 1)))
    best = DdpSolver(SolverOptions(tolerance=1e-14)).solve(problem, X0, zero)
    solver = DdpSolver(replace(MULTIPLE, variant=variant, tolerance=0.0))
    sizes, after = np.geomspace(0.001, 0.01, 4), []
    nodes = np.arange(problem.n_nodes)[:, None]
    for size in sizes:
        xs = best.xs.copy()
        xs[1:] += size * np.cos(nodes + np.array([0.0, 1.0]))
        assert np.abs(gaps_of(problem, xs, best.us)[1]).max() > size
        solution = solver.solve(problem, X0, apart(X0, best.us + size * np.sin(nodes), xs), max_iterations=1)
        assert solution.iterations[0].step == 1.0
        after.append(np.abs(solution.us - best.us).max())
    slope = np.polyfit(np.log(sizes), np.log(after), 1)[0]
    assert slope == pytest.approx(order, abs=0.1)


@pytest.mark.parametrize("variant", ["ddp", "ilqr"])
def test_an_unstable_system_over_a_long_horizon(variant):
    """Errors grow by e^24 over the horizon: no rollout of the guess's controls stays in the box."""
    problem = pendulum(n_nodes=200, damping=-3.0, rate=0.1)
    guess = swing_up(problem)
    options = SolverOptions(variant=variant, max_iterations=200)
    single = DdpSolver(options).solve(problem, X0, guess)
    multiple = DdpSolver(replace(options, shooting="multiple")).solve(problem, X0, guess)
    assert single.termination is Termination.DIVERGED
    assert multiple.termination is Termination.CONVERGED
    assert multiple.gap == 0.0
    assert multiple.xs[-1] == pytest.approx([np.pi, 0.0], abs=0.1)


def test_diverged_where_a_node_of_the_guess_leaves_the_finite_numbers():
    problem = pendulum()
    guess = swing_up(problem)
    guess.xs[30] = 1e300
    solution = DdpSolver(MULTIPLE).solve(problem, X0, guess)
    assert solution.termination is Termination.DIVERGED
    assert solution.iterations == () and solution.gap == np.inf


def test_an_unknown_shooting_is_refused():
    with pytest.raises(SolverError, match=r"shooting 'double'.*single, multiple"):
        SolverOptions(shooting="double")


def test_stalled_with_gaps_where_no_regularisation_helps():
    stage = Stage(np.eye(1), np.zeros((1, 1)), np.zeros(1), np.eye(1), np.zeros(1), np.array([[-1e12]]))
    problem = hybrid_lq([stage] * 3, stage)
    guess = apart(np.ones(1), np.ones((3, 1)), np.arange(4.0)[:, None])
    stalled = DdpSolver(MULTIPLE).solve(problem, np.ones(1), guess)
    assert stalled.termination is Termination.STALLED
    assert stalled.gap > 0.0
