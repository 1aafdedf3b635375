r"""Curvature that is held for several iterations: the variant "quasi_newton".

Every `curvature_period` iterations S, all that Gauss-Newton leaves out of Q's Hessian, is computed for every node from
the costates of the nominal trajectory,

    λ_N = ℓx,      λ_k = ℓx + fxᵀ λ_{k+1},      S_k = λ_{k+1} · f_zz + the curvature of the maps inside ℓ,

and used by all sweeps until the next time. Gradients are those of the present trajectory, so the optimum is the same.
With S exact in the first of p iterations and chord steps in the others, the error is raised to the power p + 1 in p
iterations (Shamanskii 1967). Singh, Russell and Wensing (2023, arXiv:2307.12606) call the scheme a quasi-Newton method;
their S comes from tensors. A sweep that fails and is repeated with less of S computes nothing again.
"""

from typing import Any

import numba as nb
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.ocp.node_function import function_at, node_function
from contact_ddp_ros.ocp.numba_views import borrow
from contact_ddp_ros.ocp.protocol import DATA, MATRIX, SECOND, SECOND_TYPE, Problem
from contact_ddp_ros.ocp.rollout import EXPANSION
from contact_ddp_ros.ocp.workspace import Workspace

Array = NDArray[np.float64]

_second_at = function_at(SECOND_TYPE)


@njit(SECOND, error_model="numpy")
def _held(data, k, x, u, aux, vx, hxx, hux, huu):
    """`second` of a problem whose parameters per node are the curvature: (hxx, hux, huu) in a row."""
    row = data[3][k]
    at = 0
    for block in (hxx, hux, huu):
        rows, columns = block.shape
        for i in range(rows):
            for j in range(columns):
                block[i, j] = row[at]
                at += 1


@njit(nb.void(MATRIX, MATRIX, MATRIX, nb.types.Array(nb.float64, 1, "C")), inline="always")
def _keep(hxx, hux, huu, row):
    at = 0
    for block in (hxx, hux, huu):
        rows, columns = block.shape
        for i in range(rows):
            for j in range(columns):
                row[at] = block[i, j]
                at += 1


@njit(nb.void(nb.int64, DATA, MATRIX, MATRIX, MATRIX, EXPANSION, MATRIX), nogil=True, error_model="numpy")
def _record(second_address, data, xs, us, aux, expansion, table):
    """Write S of every node into a row of `table`, contracted with the costates."""
    second = _second_at(second_address)
    n_nodes, n_u = us.shape
    n_x = xs.shape[1]
    data, xs, us, aux, table = borrow(data), borrow(xs), borrow(us), borrow(aux), borrow(table)
    fxs, _, lxs, _, _, _, _ = borrow(expansion)
    hxx, hux, huu = np.zeros((n_x, n_x)), np.zeros((n_u, n_x)), np.zeros((n_u, n_u))
    costate, before = lxs[n_nodes].copy(), np.empty(n_x)
    second(data, n_nodes, xs[n_nodes], us[0], aux[n_nodes], costate, hxx, hux, huu)
    _keep(hxx, hux, huu, table[n_nodes])
    for k in range(n_nodes - 1, -1, -1):
        second(data, k, xs[k], us[k], aux[k], costate, hxx, hux, huu)
        _keep(hxx, hux, huu, table[k])
        for j in range(n_x):
            before[j] = lxs[k, j]
        for i in range(n_x):
            for j in range(n_x):
                before[j] += fxs[k, i, j] * costate[i]
        for j in range(n_x):
            costate[j] = before[j]


class HeldCurvature:
    """S of one solve; stands in for the problem's `second`, by an address and data of the same types.

    Attributes:
        address: of the compiled function that hands out S.
        data: what it reads, in the place of the problem's own.
    """

    def __init__(self, problem: Problem, data: tuple[Any, ...], period: int) -> None:
        n_x, n_u = problem.n_x, problem.n_u
        self._own, self._own_data, self._period = node_function(problem.second, SECOND), data, period
        self._table = np.zeros((problem.n_nodes + 1, n_x * n_x + n_u * n_x + n_u * n_u))
        self._age = 0
        self.address = node_function(_held, SECOND)
        self.data = (*data[:3], self._table, *data[4:])

    def follow(self, work: Workspace, needed: bool) -> None:
        """Compute S again where it is due and needed (θ > 0); to be called once per iteration, after the expansion."""
        if self._age == 0 and not needed:
            return
        if self._age == 0:
            _record(self._own, self._own_data, *work.nominal[:3], work.expansion, self._table)
        self._age = (self._age + 1) % self._period
