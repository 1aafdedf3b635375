"""The check of derivatives: passes what is right, and finds every kind of mistake."""

from dataclasses import replace

import numba as nb
import numpy as np
import pytest

from contact_ddp_ros.base.errors import SolverError
from contact_ddp_ros.mpc.offline import OfflineOptimiser
from contact_ddp_ros.ocp.ddp import DdpSolver
from contact_ddp_ros.ocp.derivatives import BLOCKS, check_derivatives
from contact_ddp_ros.ocp.protocol import FIRST, SECOND, STEP, Problem
from test.mpc.support import MODEL, config_with
from test.ocp.hybrid_lq import hopper, hybrid_lq
from test.ocp.pendulum import pendulum

FAULT = 3
"""Index into the integers of the block that is written wrongly."""


@nb.njit(STEP)
def _step(data, k, x, u, x_next, aux, residual):
    residual[:] = 0.0
    if k == 4:
        return x[0] ** 2 + x[1] ** 4
    x_next[0] = x[0] + 0.1 * x[1] * u[0]
    x_next[1] = x[1] + 1e-3 * np.sin(u[0] * x[0])
    return 1e-2 * np.exp(0.1 * u[0] * x[1]) + 0.5 * x[0] ** 2


@nb.njit(FIRST)
def _first(data, k, x, u, aux, d):
    fx, fu, lx, lu, lxx, lux, luu = d
    fault = data[0][FAULT]
    if k == 4:
        lx[0], lx[1] = 2.0 * x[0], 4.0 * x[1] ** 3
        lxx[:] = 0.0
        lxx[0, 0], lxx[1, 1] = 2.0, 12.0 * x[1] ** 2
        return
    cosine, scale = 1e-3 * np.cos(u[0] * x[0]), 1e-2 * np.exp(0.1 * u[0] * x[1])
    fx[0, 0], fx[0, 1] = 1.0, 0.1 * u[0]
    fx[1, 0], fx[1, 1] = cosine * u[0], 1.0
    fu[0, 0], fu[1, 0] = 0.1 * x[1], cosine * x[0]
    lx[0], lx[1] = x[0], 0.1 * u[0] * scale
    lu[0] = 0.1 * x[1] * scale
    lxx[0, 0], lxx[0, 1], lxx[1, 0], lxx[1, 1] = 1.0, 0.0, 0.0, 0.01 * u[0] ** 2 * scale
    lux[0, 0], lux[0, 1] = 0.0, 0.1 * scale + 0.01 * u[0] * x[1] * scale
    luu[0, 0] = 0.01 * x[1] ** 2 * scale
    if fault == 0:
        fx[1, 0] = 0.0
    elif fault == 1:
        fu[1, 0] *= 1.0001
    elif fault == 2:
        lx[1] = -lx[1]
    elif fault == 3:
        lu[0] += 1e-5
    elif fault == 4:
        lxx[0, 1] += 1e-3
    elif fault == 7:
        fx[0, 1] = np.nan


@nb.njit(SECOND)
def _second(data, k, x, u, aux, vx, hxx, hux, huu):
    fault = data[0][FAULT]
    hxx[:], hux[:], huu[:] = 0.0, 0.0, 0.0
    if k == 4:
        return
    sine, cosine = 1e-3 * np.sin(u[0] * x[0]), 1e-3 * np.cos(u[0] * x[0])
    hxx[0, 0] = -vx[1] * sine * u[0] ** 2
    hux[0, 0] = vx[1] * (cosine - sine * u[0] * x[0])
    hux[0, 1] = 0.1 * vx[0]
    huu[0, 0] = -vx[1] * sine * x[0] ** 2
    if fault == 5:
        hux[0, 0] = vx[1] * cosine
    elif fault == 6:
        huu[0, 0] = 0.0


def planted(fault: int) -> Problem:
    return Problem(
        n_x=2,
        n_u=1,
        n_e=0,
        n_aux=0,
        has_control=np.ones(4, dtype=bool),
        integers=np.array([0, 0, 0, fault], dtype=np.int64),
        node_integers=np.zeros((5, 1), dtype=np.int64),
        parameters=np.zeros(1),
        node_parameters=np.zeros((5, 1)),
        step=_step,
        first=_first,
        second=_second,
    )


def test_what_is_right_passes() -> None:
    report = check_derivatives(planted(-1))
    assert report.ok and not report.wrong
    assert [one.block for one in report.errors] == list(BLOCKS)
    assert max(one.error for one in report.errors) < 1e-6
    assert str(report).startswith("derivatives: right (5 nodes")


@pytest.mark.parametrize(
    ("fault", "block", "entry"),
    [
        (0, "fx", (1, 0)),
        (1, "fu", (1, 0)),
        (2, "lx", (1,)),
        (3, "lu", (0,)),
        (4, "Hxx", (0, 1)),
        (5, "Hux", (0, 0)),
        (6, "Huu", (0, 0)),
    ],
)
def test_a_planted_mistake_is_found_where_it_is(fault: int, block: str, entry: tuple[int, ...]) -> None:
    """Small ones, too: of 1e-4 of a derivative of 1e-3, beside others of 1."""
    report = check_derivatives(planted(fault))
    assert not report.ok
    wrong = {one.block: one for one in report.wrong}
    assert wrong[block].entry == entry and wrong[block].node < 4
    first_order = set(wrong) & {"fx", "fu", "lx", "lu"}
    assert first_order == ({block} & {"fx", "fu", "lx", "lu"})
    assert "WRONG" in str(report) and f"{block} " in str(report) and "<-- wrong" in str(report)


def test_what_is_not_written_is_found() -> None:
    (found,) = (one for one in check_derivatives(planted(7)).wrong if one.block == "fx")
    assert found.error == np.inf and np.isnan(found.written) and found.entry == (0, 1)


def test_only_the_nodes_asked_for_are_looked_at() -> None:
    assert check_derivatives(planted(0), nodes=[4]).ok
    assert check_derivatives(planted(0), nodes=[4]).n_nodes == 1
    assert not check_derivatives(planted(0), nodes=[2]).ok


def test_problems_of_other_kinds_pass() -> None:
    stages, terminal, _, _ = hopper(constrained=True)
    for problem in (pendulum(), hybrid_lq(stages, terminal)):
        report = check_derivatives(problem)
        assert report.ok, str(report)


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "implicit_midpoint"])
def test_the_bound_passes_along_a_trajectory(integrator: str) -> None:
    """Stance, flight, touchdown with its height, and lift-off, with all barriers."""
    offline = OfflineOptimiser(MODEL, config_with(gait__integrator=integrator))
    problem, xs = offline.problem(0.5)
    penalty = [1e3, 0.1, 0.05]
    solution = DdpSolver().solve(problem, xs[0], offline.guess(0.5), penalty=penalty, max_iterations=3)
    nodes = [0, 1, *(k + j for k in np.flatnonzero(~problem.has_control) for j in (-1, 0, 1)), problem.n_nodes]
    report = check_derivatives(problem, solution.xs, solution.us, nodes=nodes, penalty=penalty)
    assert report.ok, str(report)


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"xs": np.zeros((4, 2))}, r"xs has shape \(4, 2\); needed: \(5, 2\)"),
        ({"us": np.full((4, 1), np.inf)}, r"us holds a number that is not finite"),
        ({"nodes": ["last"]}, r"nodes are \['last'\]"),
        ({"nodes": []}, r"nodes are \[\]"),
        ({"problem": "pendulum"}, "the problem is of type str; needed: a Problem"),
        ({"nodes": [5]}, r"nodes are \[5\]; allowed: some of 0 to 4"),
        ({"penalty": [1.0]}, r"penalty has shape \(1,\); needed: \(3,\)"),
        ({"scale": 1e200}, "step gives a number that is not finite at node"),
    ],
)
def test_arguments_that_do_not_fit_are_named(changed, text) -> None:
    with pytest.raises(SolverError, match=text):
        check_derivatives(**{"problem": planted(-1), **changed})


def test_no_plain_function_comes_so_far() -> None:
    with pytest.raises(SolverError, match=r"first is the Python function .*@numba.njit\(FIRST\)"):
        replace(planted(-1), first=lambda *_: None)


@pytest.mark.parametrize("node", [2, 4])
def test_positions_that_do_not_follow_from_velocities_are_named(node: int) -> None:
    optimiser = OfflineOptimiser(MODEL, config_with())
    problem, _ = optimiser.problem(0.5)
    steps = problem.position_steps.copy()
    assert check_derivatives(problem, scale=0.1, nodes=[node]).ok
    steps[node] *= 1.01
    with pytest.raises(SolverError, match=f"position_steps has 0.00404 at node {node}, but state"):
        check_derivatives(replace(problem, position_steps=steps), scale=0.1, nodes=[node])
