"""What holds for every problem: exact models, gains as derivatives, repeatability, indifference to what is idle."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contact_ddp_ros.ocp.ddp import DdpSolver
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.ocp.solution import Guess, Termination
from test.ocp.hybrid_lq import Stage, hopper, hybrid_lq, identity_reset, kkt_optimum
from test.ocp.pendulum import pendulum

EXAMPLES = settings(max_examples=25, deadline=None)


def random_stages(seed, n_x, n_u, n_nodes):
    """Random affine dynamics and convex quadratic costs, random linear resets among them."""
    rng = np.random.default_rng(seed)

    def positive(n):
        root = rng.standard_normal((n, n))
        return root @ root.T / n + 0.1 * np.eye(n)

    def stage(has_control):
        return Stage(
            A=np.eye(n_x) + 0.2 * rng.standard_normal((n_x, n_x)),
            B=rng.standard_normal((n_x, n_u)) if has_control else np.zeros((n_x, n_u)),
            c=0.1 * rng.standard_normal(n_x),
            Q=positive(n_x),
            x_ref=rng.standard_normal(n_x),
            R=positive(n_u) if has_control else np.zeros((n_u, n_u)),
            has_control=has_control,
        )

    stages = [stage(rng.random() > 0.25) for _ in range(n_nodes)]
    return stages, stage(True), rng.standard_normal(n_x), rng.standard_normal((n_nodes, n_u))


SIZES = {
    "seed": st.integers(0, 2**31),
    "n_x": st.integers(1, 6),
    "n_u": st.integers(1, 3),
    "n_nodes": st.integers(1, 20),
}


@EXAMPLES
@given(**SIZES)
def test_a_quadratic_problem_gives_what_the_model_promises(seed, n_x, n_u, n_nodes):
    stages, terminal, x0, us = random_stages(seed, n_x, n_u, n_nodes)
    optimum = kkt_optimum(stages, terminal, x0)
    solution = DdpSolver(SolverOptions()).solve(hybrid_lq(stages, terminal), x0, Guess.open_loop(x0, us))
    first = solution.iterations[0]
    assert first.step == 1.0
    assert first.actual == pytest.approx(first.expected, rel=1e-6, abs=1e-9 * (1.0 + solution.initial_cost))
    assert first.cost == pytest.approx(optimum.cost, rel=1e-8)
    assert solution.xs == pytest.approx(optimum.xs, rel=1e-5, abs=1e-5)
    assert solution.termination is Termination.CONVERGED


@EXAMPLES
@given(**SIZES, where=st.integers(0, 20))
def test_a_reset_that_changes_nothing_changes_nothing(seed, n_x, n_u, n_nodes, where):
    stages, terminal, x0, us = random_stages(seed, n_x, n_u, n_nodes)
    where = min(where, n_nodes)
    longer = [*stages[:where], identity_reset(terminal), *stages[where:]]
    longer_us = np.insert(us, where, 1.0, axis=0)
    plain = DdpSolver(SolverOptions()).solve(hybrid_lq(stages, terminal), x0, Guess.open_loop(x0, us))
    padded = DdpSolver(SolverOptions()).solve(hybrid_lq(longer, terminal), x0, Guess.open_loop(x0, longer_us))
    assert len(plain.iterations) == len(padded.iterations)
    assert padded.cost == pytest.approx(plain.cost, rel=1e-12)
    assert np.delete(padded.us, where, axis=0) == pytest.approx(plain.us, rel=1e-9, abs=1e-9)
    assert np.delete(padded.gains, where, axis=0) == pytest.approx(plain.gains, rel=1e-9, abs=1e-9)
    assert padded.xs[where] == pytest.approx(padded.xs[where + 1], rel=1e-15)


def swung_up(x0, variant="ddp", guess=None):
    problem = pendulum()
    guess = guess or Guess.open_loop(x0, np.zeros((problem.n_nodes, problem.n_u)))
    options = SolverOptions(variant=variant, tolerance=1e-14, max_iterations=300)
    return DdpSolver(options).solve(problem, x0, guess)


X0 = np.array([0.2, 0.1])


@pytest.fixture(scope="module")
def neighbours():
    """The optimum at X0, and pairs of optima beside it along each state."""
    best = swung_up(X0)
    warm = Guess(best.xs, best.us, best.gains)
    pairs = [[swung_up(X0 + sign * 1e-4 * axis, guess=warm) for sign in (1.0, -1.0)] for axis in np.eye(2)]
    return best, pairs


def test_gains_are_the_derivative_of_the_optimal_control(neighbours):
    best, pairs = neighbours
    slope = np.stack([(plus.us[0] - minus.us[0]) / 2e-4 for plus, minus in pairs], axis=-1)
    assert best.gains[0] == pytest.approx(slope, rel=1e-4)
    gauss_newton = swung_up(X0, "ilqr")
    assert gauss_newton.us[0] == pytest.approx(best.us[0], abs=1e-4)
    assert gauss_newton.gains[0] != pytest.approx(slope, rel=1e-2), "iLQR's are not, or the comparison shows nothing"


def test_the_policy_follows_the_optimum_along_the_horizon(neighbours):
    """u_k + K_k (x − x̄_k) at a neighbour's states is the neighbour's control, up to second order."""
    best, pairs = neighbours
    plus = pairs[0][0]
    deviation = (plus.xs - best.xs)[:-1]
    predicted = best.us + np.einsum("kij,kj->ki", best.gains, deviation)
    change = np.abs(plus.us - best.us).max()
    assert change > 1e-5
    assert np.abs(predicted - plus.us).max() < 1e-2 * change


def test_value_function_is_the_optimal_cost_as_a_function_of_the_state(neighbours):
    best, pairs = neighbours
    slope = [(plus.cost - minus.cost) / 2e-4 for plus, minus in pairs]
    bend = np.stack([(plus.Vx[0] - minus.Vx[0]) / 2e-4 for plus, minus in pairs], axis=-1)
    assert best.Vx[0] == pytest.approx(slope, rel=1e-5)
    assert best.Vxx[0] == pytest.approx(bend, rel=1e-4)
    assert (best.Vxx == best.Vxx.transpose(0, 2, 1)).all()


def bits(solution):
    arrays = (solution.xs, solution.us, solution.gains, solution.aux, solution.residuals, solution.Vx, solution.Vxx)
    return b"".join(array.tobytes() for array in arrays), solution.cost, solution.hessian_blend, solution.termination


def test_a_solve_repeats_bit_for_bit_whatever_the_solver_did_before():
    problem, other = pendulum(), pendulum(gravity=3.0)
    rng = np.random.default_rng(0)
    guess = Guess.open_loop(X0, rng.standard_normal((problem.n_nodes, 1)))
    solver = DdpSolver(SolverOptions())
    first = solver.solve(problem, X0, guess)
    kept = bits(first)
    solver.solve(other, -X0, Guess.open_loop(-X0, 5.0 * rng.standard_normal((problem.n_nodes, 1))))
    assert bits(first) == kept, "a solution must not share memory with the solver"
    assert bits(solver.solve(problem, X0, guess)) == kept
    assert bits(DdpSolver(SolverOptions()).solve(problem, X0, guess)) == kept


def test_a_solver_serves_problems_of_several_sizes():
    solver = DdpSolver(SolverOptions())
    for n_nodes in (60, 20, 60):
        problem = pendulum(n_nodes)
        solution = solver.solve(problem, X0, Guess.open_loop(X0, np.zeros((n_nodes, 1))))
        assert solution.xs.shape == (n_nodes + 1, 2)
        assert solution.termination is Termination.CONVERGED


def test_a_guess_is_not_written_to():
    stages, terminal, _, x0 = hopper(constrained=False)
    guess = Guess.open_loop(x0, np.full((len(stages), 1), 9.0))
    before = [array.copy() for array in (guess.xs, guess.us, guess.gains)]
    DdpSolver(SolverOptions()).solve(hybrid_lq(stages, terminal), x0, guess)
    for array, kept in zip((guess.xs, guess.us, guess.gains), before, strict=True):
        assert (array == kept).all()


def test_a_solution_as_guess_is_converged_at_once(neighbours):
    best, _ = neighbours
    again = DdpSolver(SolverOptions()).solve(pendulum(), X0, Guess(best.xs, best.us, best.gains))
    assert again.initial_cost == best.cost
    assert len(again.iterations) == 1
    assert again.us == pytest.approx(best.us, abs=1e-6)


def test_a_guess_is_closed_by_its_gains():
    """From a disturbed state the warm start's rollout follows its feedback, not its control tape alone."""
    best = swung_up(X0)
    disturbed = X0 + np.array([0.3, -0.2])
    closed = DdpSolver().solve(pendulum(), disturbed, Guess(best.xs, best.us, best.gains), max_iterations=0)
    opened = DdpSolver().solve(pendulum(), disturbed, Guess.open_loop(disturbed, best.us), max_iterations=0)
    assert closed.cost < 0.5 * opened.cost


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**31), scale=st.floats(0.1, 20.0))
def test_the_cost_never_rises_beyond_rounding_and_the_record_adds_up(seed, scale):
    rng = np.random.default_rng(seed)
    problem = pendulum()
    x0 = rng.standard_normal(2)
    guess = Guess.open_loop(x0, scale * rng.standard_normal((problem.n_nodes, 1)))
    solution = DdpSolver(SolverOptions(max_iterations=200)).solve(problem, x0, guess)
    assert solution.termination is Termination.CONVERGED
    cost = solution.initial_cost
    for one in solution.iterations:
        assert one.cost <= cost + 2e-14 * abs(cost)
        assert one.actual == pytest.approx(cost - one.cost)
        assert one.expected >= 0.0
        assert 0.0 <= one.hessian_blend <= 1.0
        cost = one.cost
    assert cost == solution.cost
    assert sum(one.rollouts for one in solution.iterations) >= len(solution.iterations)
