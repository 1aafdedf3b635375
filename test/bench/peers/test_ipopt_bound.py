"""The programme for IPOPT is our problem number by number, and IPOPT finds the optimum that we find."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.peers.bound_nlp import STATEMENTS, BoundNlp
from benchmarks.peers.ipopt_bound import IpoptBound
from benchmarks.solver.case import UNSTATED, Case, cold_case, solver_of
from contact_ddp_ros.base.choices import PLANAR
from contact_ddp_ros.base.config import replace as configured
from contact_ddp_ros.base.errors import SolverError
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.config import PlannerConfig, for_model
from contact_ddp_ros.mpc.layout import Sizes
from contact_ddp_ros.mpc.term_sums import TermLayout
from contact_ddp_ros.ocp.continuation import Continuation, solve_constrained
from contact_ddp_ros.ocp.ddp import DdpSolver
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.robot.load import load_robot

PLANE = configured(for_model(PlannerConfig(), PLANAR), UNSTATED)
COARSE = {"gait.step": 0.01}
"""36 steps in a cycle."""

SPEED = 0.5


@pytest.fixture(scope="module")
def case() -> Case:
    return cold_case(load_robot(), configured(PLANE, COARSE), SPEED)


@pytest.fixture(scope="module")
def programmes(case) -> dict[str, BoundNlp]:
    return {statement: BoundNlp(case, statement, compiled=False) for statement in STATEMENTS}


def _start(case: Case, programme: BoundNlp) -> np.ndarray:
    start = case.solve(solver_of("ddp"), 0)
    return programme.pack(start.xs, start.us, start.aux)


@pytest.fixture(scope="module", params=["semi_implicit_euler", "forward_euler", "implicit_midpoint"])
def scheme(request) -> Case:
    """Without Baumgarte's stabilisation, with which the heuristic guess diverges in implicit steps as coarse."""
    values = {**COARSE, "gait.integrator": request.param, "constraint.baumgarte_rate": 0.0}
    return cold_case(load_robot(), configured(PLANE, values), SPEED)


def test_our_trajectories_obey_the_programme_and_cost_the_same(scheme) -> None:
    programme = BoundNlp(scheme, compiled=False)
    for iterations in (0, 3):
        ours = scheme.solve(solver_of("ddp"), iterations)
        cost, g = programme.evaluate(scheme, programme.pack(ours.xs, ours.us, ours.aux))
        assert programme.violation(g) < 1e-9
        assert cost == pytest.approx(ours.cost, rel=1e-12)


def test_every_kind_of_node_is_there(case) -> None:
    assert set(case.problem.node_integers[:, at.NODE_KIND]) == {at.STEP, at.LIFT_OFF, at.TOUCHDOWN, at.TERMINAL}


def test_a_wrong_force_violates_the_programme(case, programmes) -> None:
    programme = programmes["penalised"]
    w = _start(case, programme)
    w[programme.variables[0].stop - 1] += 1.0
    _, g = programme.evaluate(case, w)
    assert programme.violation(g) > 0.1


def test_packing_and_unpacking_are_inverse(case, programmes) -> None:
    ours = case.solve(solver_of("ddp"), 1)
    xs, us = programmes["penalised"].unpack(programmes["penalised"].pack(ours.xs, ours.us, ours.aux))
    np.testing.assert_array_equal(xs, ours.xs)
    np.testing.assert_array_equal(us[case.problem.has_control], ours.us[case.problem.has_control])


@pytest.fixture(params=STATEMENTS)
def perturbed(request, case, programmes) -> tuple[BoundNlp, np.ndarray, np.ndarray]:
    """A programme, its parameters, and variables off any trajectory, where barriers are on either side of δ."""
    programme = programmes[request.param]
    rng = np.random.default_rng(3)
    w = _start(case, programme)
    return programme, programme.parameters(case), w + rng.normal(scale=0.3, size=w.size)


def _directional(function, w: np.ndarray, direction: np.ndarray, step: float = 1e-6) -> np.ndarray:
    return (np.asarray(function(w + step * direction)) - np.asarray(function(w - step * direction))) / (2.0 * step)


def test_derivatives_are_those_of_the_programme(perturbed) -> None:
    programme, p, w = perturbed
    rng = np.random.default_rng(4)
    direction = rng.normal(size=w.size)
    gradient = np.asarray(programme.derivatives["grad_f"](w, p)[1]).ravel()
    cost = _directional(lambda at_: float(programme.oracle(at_, p)[0]), w, direction)
    assert gradient @ direction == pytest.approx(float(cost), rel=1e-6)
    jacobian = programme.derivatives["jac_g"](w, p)[1]
    rows = _directional(lambda at_: np.asarray(programme.oracle(at_, p)[1]).ravel(), w, direction)
    np.testing.assert_allclose(np.asarray(jacobian @ direction).ravel(), rows, rtol=1e-5, atol=1e-4)


def test_the_hessian_is_that_of_the_lagrangian(perturbed) -> None:
    programme, p, w = perturbed
    rng = np.random.default_rng(5)
    direction, lam_g = rng.normal(size=w.size), rng.normal(size=programme.lower.size)
    lam_f = 1.7

    def gradient(at_: np.ndarray) -> np.ndarray:
        by_cost = np.asarray(programme.derivatives["grad_f"](at_, p)[1]).ravel()
        jacobian = programme.derivatives["jac_g"](at_, p)[1]
        return lam_f * by_cost + np.asarray(jacobian.T @ lam_g).ravel()

    upper = programme.derivatives["hess_lag"](w, p, lam_f, lam_g).full()
    assert not np.tril(upper, -1).any()
    whole = upper + np.triu(upper, 1).T
    changes = _directional(gradient, w, direction)
    np.testing.assert_allclose(whole @ direction, changes, rtol=1e-5, atol=1e-5 * np.abs(changes).max())


def test_the_penalised_optimum_is_ours(scheme) -> None:
    programme = BoundNlp(scheme, compiled=False)
    found = IpoptBound(programme).solve(scheme, _start(scheme, programme))
    ours = scheme.solve(solver_of("ddp"))
    assert found.solved
    assert found.violations[-1] < 1e-9
    assert found.cost == pytest.approx(ours.cost, rel=1e-9)
    np.testing.assert_allclose(found.xs, ours.xs, atol=1e-5)
    np.testing.assert_allclose(found.us, ours.us, atol=1e-4)


def test_the_constrained_optimum_is_that_of_the_tightened_penalties(case, programmes) -> None:
    programme = programmes["constrained"]
    found = IpoptBound(programme).solve(case, _start(case, programme))
    tight = Continuation(epsilon_min=1e-5, delta_min=1e-7, max_passes=40)
    outcome = solve_constrained(DdpSolver(SolverOptions()), case.problem, case.x0, case.guess, tight)
    ours = outcome.solution
    cost, g = programme.evaluate(case, programme.pack(ours.xs, ours.us, ours.aux))
    assert found.solved
    assert outcome.feasible
    assert programme.violation(g) < 1e-6
    assert cost == pytest.approx(found.cost, rel=1e-5)
    np.testing.assert_allclose(found.xs, ours.xs, atol=5e-3)


def test_limits_bind_at_the_constrained_optimum(case, programmes) -> None:
    """Otherwise the agreement of the two would say nothing about constraints."""
    free = IpoptBound(programmes["penalised"]).solve(case.penalised(0.0, 0.0), _start(case, programmes["penalised"]))
    bound = IpoptBound(programmes["constrained"]).solve(case, _start(case, programmes["constrained"]))
    sizes = Sizes(*(int(case.problem.integers[i]) for i in (at.N, at.N_U, at.N_FEET, at.N_AXES)))
    limits = case.problem.parameters[TermLayout.of(sizes).parameters["torque_limits"]]
    assert np.abs(free.us / limits).max() > 1.05
    assert 0.999 < np.abs(bound.us / limits).max() <= 1.0
    assert bound.cost > 1.01 * free.cost


def test_another_case_of_the_same_grid_is_another_parameter(case, programmes) -> None:
    faster = cold_case(load_robot(), configured(PLANE, COARSE), 1.0)
    programme = programmes["penalised"]
    found = IpoptBound(programme).solve(faster, _start(faster, programme))
    assert found.cost == pytest.approx(faster.solve(solver_of("ddp")).cost, rel=1e-9)
    shifted = replace(case, x0=case.x0 + 0.01)
    assert IpoptBound(programme).solve(shifted, _start(shifted, programme)).xs[0] == pytest.approx(shifted.x0)


def test_an_unknown_statement_is_refused(case) -> None:
    with pytest.raises(SolverError, match="relaxed"):
        BoundNlp(case, "relaxed", compiled=False)
