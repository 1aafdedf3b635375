"""The partials of one knot as the planner computes them, level by level, for any model.

* first: K and b, the factor of K, ν = K⁻¹([Sᵀu; 0] − b); then r_q and r_v, ν_z = −K⁻¹ r_z for z = q, v and
  ν_u = K⁻¹ [Sᵀ; 0]. It is all that iLQR takes of the dynamics.
* expansion: the part of it after ν, which is what an iteration pays between its rollouts: they leave K's factor behind.
* second: ξ = −K⁻¹γ, the Hessian blocks of s = mRNEAc(…, ξ), and γᵀν_zy = s_zy + s_zν ν_y + (s_yν ν_z)ᵀ, dense products
  included, written out as the Hessian of (x, u). It is all that DDP takes beyond iLQR.
* tensor: the same Hessian from ν = K⁻¹Ψ differentiated twice and contracted with γ afterwards.

These are the planner's own compiled functions (`mpc.contact_motion`, `mpc.contact_curvature`), called as its node
functions call them.
"""

from collections.abc import Mapping
from time import thread_time

import numba as nb
import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Candidate
from contact_ddp_ros.dynamics.contact import level_parameters
from contact_ddp_ros.dynamics.kernels import KernelSet, build_kernels
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.contact_curvature import motion_curvature
from contact_ddp_ros.mpc.contact_motion import mode_block, motion_partials, solve_motion
from contact_ddp_ros.mpc.kernel_table import kernel_table, n_aux
from contact_ddp_ros.mpc.layout import Sizes, aux_offsets, model_row
from contact_ddp_ros.mpc.tensor_curvature import motion_curvature_by_tensor
from contact_ddp_ros.ocp.numba_views import borrow, part
from contact_ddp_ros.ocp.protocol import INTEGERS, MATRIX, VECTOR
from contact_ddp_ros.robot.models.planar import AXES
from contact_ddp_ros.robot.tree import RigidBodyTree

Array = NDArray[np.float64]

FIRST, EXPANSION, SECOND, TENSOR = "first", "expansion", "second", "tensor"

MODE = "mode"
"""Of the kernels' names: there is one mode."""

_LEVELS = ("system", "first", "second")
_SEED = 7
_ANGLE = 0.6
"""Half-width of the random joint angles [rad]: far from the singular straight chain."""

_TURN = 1e-3
"""Time of the calls of one turn [s], roughly: long beside the clock's resolution."""

_FIRST, _EXPANSION, _SECOND, _TENSOR = range(4)
_NUMBERS = {FIRST: _FIRST, EXPANSION: _EXPANSION, SECOND: _SECOND, TENSOR: _TENSOR}
"""Of the levels, for compiled code."""

_ARGUMENTS = (nb.int64, INTEGERS, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, MATRIX, MATRIX, nb.int64)


@nb.njit(nb.void(INTEGERS, VECTOR, VECTOR), cache=True, inline="always", error_model="numpy")
def _place(integers, gamma, aux):
    """Leave γ where the curvature expects it."""
    xi = aux_offsets(integers[at.N], integers[at.N_U], integers[at.N_FEET], integers[at.N_AXES]).xi
    target = part(aux, xi, gamma.size)
    for i in range(gamma.size):
        target[i] = gamma[i]


@nb.njit(nb.void(*_ARGUMENTS), cache=True, nogil=True, error_model="numpy")
def _run(level, integers, x, u, gamma, row, aux, hxx, hux, calls):
    """One level, some times in a row."""
    integers, x, u, gamma, row, aux = borrow((integers, x, u, gamma, row, aux))
    for _ in range(calls):
        block = mode_block(integers, 0)
        if level == _FIRST:
            solve_motion(integers, block, False, x, u, row, aux)
        if level <= _EXPANSION:
            motion_partials(integers, block, False, x, row, aux)
            continue
        _place(integers, gamma, aux)
        if level == _SECOND:
            motion_curvature(integers, block, False, x, row, aux, hxx, hux)
        else:
            motion_curvature_by_tensor(integers, block, False, x, u, row, aux, hxx, hux)


class KnotPartials:
    """One knot of a model with some of its contact points on the ground, at a random state.

    Attributes:
        kernels: compiled for the one mode.
        x: (2n,). u: (n_u,). gamma: (n_s,).
    """

    def __init__(self, tree: RigidBodyTree, contacts: tuple[str, ...], tensor: bool = False) -> None:
        levels = (*_LEVELS, TENSOR) if tensor else _LEVELS
        modes = {MODE: contacts}
        self.kernels: KernelSet = build_kernels(tree, modes, AXES, levels=levels, fallback=False)
        self._integers = kernel_table(tree, self.kernels, modes, len(AXES), at.FORWARD_EULER, levels)
        n, n_u = tree.n, len(tree.actuated)
        self.sizes = Sizes(n, n_u, len(tree.contacts), len(AXES))
        rng = np.random.default_rng([_SEED, n])
        self.x = np.concatenate([rng.uniform(-_ANGLE, _ANGLE, n), rng.normal(size=n)])
        self.u = rng.normal(size=n_u)
        self.gamma = rng.normal(size=n + len(contacts) * len(AXES))
        self._row = model_row(level_parameters(len(tree.contacts)))
        self._aux = np.zeros(n_aux(self.sizes, self.kernels))
        self._hessian = np.zeros((2 * n, 2 * n)), np.zeros((n_u, 2 * n))

    def run(self, level: str, calls: int = 1) -> None:
        """One level, some times in a row; the levels before it must have run for this state."""
        given = (self._integers, self.x, self.u, self.gamma, self._row, self._aux, *self._hessian)
        _run(_NUMBERS[level], *given, calls)

    def first_order(self) -> tuple[Array, Array]:
        """(n_s,) ν and (n_s, 2n + n_u) ν_z."""
        self.run(FIRST)
        n, n_u, _, _ = self.sizes
        n_s, n_z, start = self.gamma.size, 2 * n + n_u, int(aux_offsets(*self.sizes).derivatives)
        return self._aux[:n_s].copy(), self._aux[start : start + n_s * n_z].reshape(n_s, n_z).copy()

    def second_order(self, level: str) -> tuple[Array, Array]:
        """γᵀν_xx (2n, 2n) and γᵀν_ux (n_u, 2n), by mRNEAc (`SECOND`) or by tensors (`TENSOR`)."""
        self.run(FIRST)
        self.run(level)
        return self._hessian[0].copy(), self._hessian[1].copy()

    def candidate(self, level: str) -> Candidate:
        """Processor time of one call of a level [s]."""
        self.run(FIRST)
        self.run(level)
        started = thread_time()
        self.run(level, 10)
        calls = max(1, round(10 * _TURN / max(thread_time() - started, 1e-9)))

        def timed() -> Mapping[str, float]:
            started = thread_time()
            self.run(level, calls)
            return {level: (thread_time() - started) / calls}

        return timed
