"""An iteration as the benchmark times it is the solver's own, and both ways to the second order give the same step."""

import numpy as np
import pytest

from benchmarks.solver.case import Case, mpc_cases, solver_of
from benchmarks.solver.iteration import ITERATION, SOLVE, STAGES, Stages, our_solve, ours
from contact_ddp_ros.base.errors import SolverError


@pytest.fixture(scope="module")
def cases():
    return mpc_cases()


def _iterate(case: Case, theta: float) -> Stages:
    stages = Stages(case, theta)
    stages.partials()
    stages.sweep()
    stages.rollout()
    return stages


def test_the_problem_is_one_cycle_of_ninety_steps(cases) -> None:
    problem = cases.cold.problem
    assert problem.has_control.sum() == 90
    assert (problem.n_x, problem.n_u) == (14, 4)


def test_the_timed_stages_are_the_solvers_iteration(cases) -> None:
    case = cases.optimum
    stages = _iterate(case, 1.0)
    solution = case.solve(solver_of("ddp"), 1)
    assert solution.iterations[0].hessian_blend == 1.0
    assert solution.iterations[0].sweeps == 1
    np.testing.assert_allclose(
        stages.gains[case.problem.has_control], solution.gains[case.problem.has_control], rtol=1e-9
    )
    np.testing.assert_allclose(stages.trial[0], solution.xs, atol=1e-9)


def test_the_optimum_is_one(cases) -> None:
    stages = _iterate(cases.optimum, 1.0)
    assert np.abs(stages.ks).max() < 1e-4


def test_tensors_give_the_same_step(cases) -> None:
    by_mrneac = _iterate(cases.optimum, 1.0)
    by_tensors = _iterate(mpc_cases("ddp_tensor").optimum, 1.0)
    np.testing.assert_allclose(by_tensors.gains, by_mrneac.gains, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(by_tensors.trial[0], by_mrneac.trial[0], atol=1e-6)


def test_an_indefinite_trajectory_is_refused(cases) -> None:
    stages = Stages(cases.cold, 1.0)
    stages.partials()
    with pytest.raises(SolverError, match="not positive definite"):
        stages.sweep()


def test_candidates_name_their_parts(cases) -> None:
    assert set(ours(cases.optimum, "ilqr")()) == {*STAGES, ITERATION}
    assert set(our_solve(cases.warm, "ddp")()) == {SOLVE}
