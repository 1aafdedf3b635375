"""The comparison with Crocoddyl is fair: it is handed the same dynamics, partials and costs at any state."""

import numpy as np
import pytest

from benchmarks.solver.case import Case, shared_cases
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.ocp.protocol import node_data

pytest.importorskip("crocoddyl")

from benchmarks.peers.crocoddyl_bound import CrocoddylBound

TOLERANCE = 1e-8


class OurNode:
    """One node of our problem at a state: where it leads, its partials and its cost, without barriers."""

    def __init__(self, case: Case, k: int, x: np.ndarray, u: np.ndarray) -> None:
        problem = case.problem
        penalty = case.penalty.copy()
        penalty[at.EPSILON] = 0.0
        data = node_data(problem, penalty=penalty)
        n_x, n_u = problem.n_x, problem.n_u
        self.x_next, aux, residual = np.zeros(n_x), np.zeros(problem.n_aux), np.zeros(problem.n_residuals)
        self.cost = problem.step(data, k, x, u, self.x_next, aux, residual)
        self.nu = aux
        shapes = ((n_x, n_x), (n_x, n_u), (n_x,), (n_u,), (n_x, n_x), (n_u, n_x), (n_u, n_u))
        d = tuple(np.zeros(shape) for shape in shapes)
        problem.first(data, k, x, u, aux, d)
        self.Fx, self.Fu, self.Lx, self.Lu, self.Lxx, _, self.Luu = d


@pytest.fixture(scope="module", params=["planar", "whole_body"])
def case(request: pytest.FixtureRequest) -> Case:
    return shared_cases(model=request.param).cold


def _samples(case: Case, peer: CrocoddylBound):
    """Every node at a random state near the reference, ours and theirs; lift-offs have no node of theirs."""
    rng = np.random.default_rng(5)
    problem = case.problem
    for index, k in enumerate(peer.nodes):
        x = case.guess.xs[k] + rng.normal(scale=0.3, size=problem.n_x)
        u = rng.normal(scale=5.0, size=problem.n_u)
        model, data = peer.problem.runningModels[index], peer.problem.runningDatas[index]
        control = u if model.nu else np.zeros(0)
        model.calc(data, peer.point(x), control)
        model.calcDiff(data, peer.point(x), control)
        after_lift_off = k > 0 and problem.node_integers[k - 1, at.NODE_KIND] == at.LIFT_OFF
        yield k, OurNode(case, k, x, u), data, model.nu > 0, after_lift_off


def _assert_close(theirs: np.ndarray, ours: np.ndarray, what: str) -> None:
    scale = max(1.0, float(np.abs(ours).max(initial=0.0)))
    np.testing.assert_allclose(theirs, ours, rtol=0.0, atol=TOLERANCE * scale, err_msg=what)


def test_dynamics_and_partials_are_ours(case) -> None:
    peer = CrocoddylBound(case, "exact", barriers=False)
    kinds = set()
    for k, ours, theirs, controlled, _ in _samples(case, peer):
        mode, kind = case.problem.node_integers[k]
        kinds.add((int(mode), int(kind)))
        _assert_close(theirs.xnext, ours.x_next, f"next state at node {k}")
        _assert_close(theirs.Fx, ours.Fx, f"partials by the state at node {k}")
        if controlled:
            _assert_close(theirs.Fu, ours.Fu, f"partials by the control at node {k}")
    modes = len(case.mode_contacts)
    assert {mode for mode, kind in kinds if kind == at.STEP} == set(range(modes)), "in contact and free"
    assert sum(kind == at.TOUCHDOWN for _, kind in kinds) == 2, "and both impacts"


def test_costs_are_ours(case) -> None:
    peer = CrocoddylBound(case, "exact", barriers=False)
    for k, ours, theirs, controlled, after_lift_off in _samples(case, peer):
        if after_lift_off:
            continue  # it has the lift-off's cost too
        _assert_close(np.array(theirs.cost), np.array(ours.cost), f"cost at node {k}")
        _assert_close(theirs.Lx, ours.Lx, f"gradient by the state at node {k}")
        _assert_close(theirs.Lxx, ours.Lxx, f"Hessian by the state at node {k}")
        if controlled:
            _assert_close(theirs.Lu, ours.Lu, f"gradient by the control at node {k}")
            _assert_close(theirs.Luu, ours.Luu, f"Hessian by the control at node {k}")


def test_the_whole_trajectory_costs_the_same(case) -> None:
    peer = CrocoddylBound(case, "exact", barriers=False)
    penalty = case.penalty.copy()
    penalty[at.EPSILON] = 0.0
    problem = case.problem
    data = node_data(problem, penalty=penalty)
    xs, total, residual = [case.x0], 0.0, np.zeros(problem.n_residuals)
    for k in range(problem.n_nodes):
        x_next = np.zeros(problem.n_x)
        us = case.guess.us[k] * problem.has_control[k]
        total += problem.step(data, k, xs[-1], us, x_next, np.zeros(problem.n_aux), residual)
        xs.append(x_next)
    total += problem.step(
        data, problem.n_nodes, xs[-1], np.zeros(problem.n_u), x_next, np.zeros(problem.n_aux), residual
    )
    states, controls = peer.trajectory(np.array(xs), case.guess.us)
    assert peer.problem.calc(states, controls) == pytest.approx(total, rel=TOLERANCE)


def test_the_lean_formulation_has_the_same_accelerations(case) -> None:
    """Theirs are of velocities in the trunk's axes: they are held against those of ours, turned, by differences."""
    peer = CrocoddylBound(case, "lean", barriers=False)
    n = case.problem.n_x // 2
    rng = np.random.default_rng(6)
    for index, k in enumerate(peer.nodes):
        model, data = peer.problem.runningModels[index], peer.problem.runningDatas[index]
        x = case.guess.xs[k] + rng.normal(scale=0.3, size=2 * n)
        u = rng.normal(scale=5.0, size=case.problem.n_u)
        ours = OurNode(case, k, x, u)
        if not model.nu:
            model.calc(data, peer.point(x), np.zeros(0))
            _assert_close(data.xnext, peer.point(ours.x_next), f"state after the impact at node {k}")
            continue
        model.calc(data, peer.point(x), u)
        change = 1e-6 * np.concatenate([x[n:], ours.nu[:n]])
        expected = (peer.point(x + change) - peer.point(x - change))[n + 1 :] / 2e-6
        scale = float(np.abs(expected).max())
        np.testing.assert_allclose(data.differential.xout, expected, atol=1e-7 * scale, err_msg=f"node {k}")


def test_only_compiled_models_run(case) -> None:
    peer = CrocoddylBound(case, "lean")
    for model in [*peer.problem.runningModels, peer.problem.terminalModel]:
        assert type(model).__module__.startswith("crocoddyl"), f"{type(model)} would run Python inside an iteration"
    assert peer.problem.nthreads == 1
