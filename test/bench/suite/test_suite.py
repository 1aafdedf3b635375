"""The published problems: their derivatives, IPOPT's published optima, and a few instances by our solver."""

import numpy as np
import pytest

from benchmarks.suite import formulation, suite
from benchmarks.suite.contest import (
    EXACT,
    GAUSS_NEWTON,
    MAX_ITERATIONS,
    PROBLEMS,
    SOLVERS,
    TOLERANCE,
    Entry,
    Outcome,
    solution,
    solve,
)
from benchmarks.suite.formulation import N_SEEDS
from contact_ddp_ros import check_derivatives
from contact_ddp_ros.ocp.solution import Termination

PUBLISHED = {("acrobot with stops", 3): 1.92938, ("concar", 3): 2.24490824, ("concar_quad", 2): 2.02888198}
"""Cost at which IPOPT is published to end; seeds at which it ends there again here."""


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_seed_has_its_published_numbers(name):
    problem = PROBLEMS[name]
    first, last = problem.instance(1), problem.instance(N_SEEDS)
    assert np.isfinite(first.parameters).all() and not np.array_equal(first.parameters, last.parameters)
    assert ((first.u_min <= first.start) & (first.start <= first.u_max)).all()


@pytest.mark.parametrize("name", PROBLEMS)
def test_derivatives(name):
    instance = PROBLEMS[name].instance(2)
    assert check_derivatives(instance.problem()).ok


@pytest.mark.parametrize(("name", "seed"), PUBLISHED)
def test_the_problems_are_the_published_ones(name, seed):
    found = formulation.solve(
        PROBLEMS[name].instance(seed), exact=True, tolerance=TOLERANCE, max_iterations=MAX_ITERATIONS
    )
    assert found.solved
    assert found.cost == pytest.approx(PUBLISHED[name, seed], rel=1e-4)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("seed", [1, 42])
def test_it_is_solved_to_an_optimum_that_ipopt_confirms(name, seed):
    """IPOPT, begun at our solution, finds nothing better nearby."""
    instance = PROBLEMS[name].instance(seed)
    found = solution(instance, "ddp")
    assert found.termination is Termination.CONVERGED, found.message
    assert found.equality_violation < TOLERANCE and found.inequality_violation <= 0.0
    confirmed = formulation.solve(
        instance, exact=True, tolerance=TOLERANCE, max_iterations=MAX_ITERATIONS, near=(found.xs, found.us)
    )
    assert confirmed.solved
    assert confirmed.cost == pytest.approx(found.cost, rel=5e-3), "pushing's cost is flat about its optima"


def test_a_job_gives_plain_numbers():
    done = Outcome(**solve(Entry("concar_quad", EXACT, 1)))
    assert done.solved and done.iterations < MAX_ITERATIONS and done.message == ""
    assert done.cost == pytest.approx(1.9335, rel=1e-3)


def test_the_table_counts_what_was_solved():
    outcomes = [
        Outcome(name, solver, seed, solver == EXACT or seed == 1, 10 * seed, 1.0, 0.1, "limit")
        for name in PROBLEMS
        for solver in SOLVERS
        for seed in (1, 2)
    ]
    shares = {one.name: one.number for one in suite.metrics(outcomes)}
    assert shares[f"share solved: {EXACT}"] == 1.0 and shares[f"share solved: {GAUSS_NEWTON}"] == 0.5
    assert shares["optima within 1e-3 of IPOPT's"] == 1.0 and shares["optima lower than that"] == 0.0
    assert suite.table(outcomes).row_count == len(PROBLEMS) * len(SOLVERS)
