"""Times and operation counts of the partials of one knot, level by level, of several models side by side.

The partials of one knot as the planner computes them, level by level, for any model.

* first: K and b, the factor of K, ν = K⁻¹([Sᵀu; 0] − b); then r_q and r_v, ν_z = −K⁻¹ r_z for z = q, v and
  ν_u = K⁻¹ [Sᵀ; 0]. It is all that iLQR takes of the dynamics.
* expansion: the part of it after ν, which is what an iteration pays between its rollouts: they leave K's factor behind.
* second: ξ = −K⁻¹γ, the Hessian blocks of s = mRNEAc(…, ξ), and γᵀν_zy = s_zy + s_zν ν_y + (s_yν ν_z)ᵀ, dense products
  included, written out as the Hessian of (x, u). It is all that DDP takes beyond iLQR.
* tensor: the same Hessian from ν = K⁻¹Ψ differentiated twice and contracted with γ afterwards.

These are the planner's own compiled functions (`mpc.contact_motion`, `mpc.contact_curvature`), called as its node
functions call them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import thread_time
from typing import Any

import casadi as cs
import numba as nb
import numpy as np
from numpy.typing import NDArray

from benchmarks.dynamics import kernel_times
from benchmarks.timing import Candidate, Progress, Spread, Times, interleave
from contact_ddp_ros.dynamics.contact import level_parameters
from contact_ddp_ros.dynamics.kernels import KernelSet, build_kernels, kernel_functions
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.contact_curvature import motion_curvature
from contact_ddp_ros.mpc.contact_motion import mode_block, motion_partials, solve_motion
from contact_ddp_ros.mpc.layout import Sizes, aux_offsets, model_row
from contact_ddp_ros.mpc.optional_kernels import kernel_table, n_aux
from contact_ddp_ros.mpc.tensor_curvature import motion_curvature_by_tensor
from contact_ddp_ros.ocp.numba_views import borrow, part
from contact_ddp_ros.ocp.protocol import INTEGERS, MATRIX, VECTOR
from contact_ddp_ros.robot.models.planar import AXES
from contact_ddp_ros.robot.tree import ContactPoint, Joint, RigidBodyTree

Array = NDArray[np.float64]

FIRST, EXPANSION, SECOND, TENSOR = "first", "expansion", "second", "tensor"

MODE = "mode"
"""Suffix of the kernels' names: there is one mode."""

_LEVELS = ("system", "first", "second")
_SEED = 7
_ANGLE = 0.6
"""Half-width of the random joint angles [rad]: far from the singular straight chain."""

_TURN = 1e-3
"""Time of the calls of one turn [s], roughly: long beside the clock's resolution."""

_FIRST, _EXPANSION, _SECOND, _TENSOR = range(4)
_NUMBERS = {FIRST: _FIRST, EXPANSION: _EXPANSION, SECOND: _SECOND, TENSOR: _TENSOR}
"""Numbers of the levels, for compiled code."""

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


NAMES = {FIRST: "first order", SECOND: "second, mRNEAc", TENSOR: "second, tensors"}

ALL, LARGE, COMMON = "all", "large", "common"
"""Ranges of n that exponents are fitted to: every n, the large ones, and those for which tensors exist."""

PAPER_SLOPES = {FIRST: 2.21, SECOND: 2.28, TENSOR: 3.13}
"""Exponents of time in n that the paper measured on the pendubot."""

PAPER_RATIO = 1.39
"""The paper's largest ratio of second-order partials by mRNEAc to first-order ones."""

KERNELS = {FIRST: ("system", "first"), SECOND: ("second",), TENSOR: ("tensor",)}
"""Compiled graphs behind each level; the rest of a level is dense algebra in loops."""

_NOT_ARITHMETIC = {cs.OP_INPUT, cs.OP_OUTPUT, cs.OP_CONST, cs.OP_PARAMETER, cs.OP_ASSIGN}

PIN = "pin"
"""Contact point at the tip of the pendubot's last link."""

LENGTH, MASS = 0.3, 1.0
"""Length and mass of one link of the pendubot [m, kg]."""

_TORQUE = 10.0
_THICKNESS = 0.02
"""Thickness of a rod, for its inertia about its own axis, which a planar motion does not feel [m]."""


@dataclass(frozen=True)
class Model:
    """A tree with some contact points on the ground; with the tensors or, where they are too large, without."""

    name: str
    tree: RigidBodyTree
    contacts: tuple[str, ...]
    tensor: bool

    @property
    def levels(self) -> tuple[str, ...]:
        """First order, second order, and by tensors."""
        return (FIRST, SECOND, TENSOR) if self.tensor else (FIRST, SECOND)


def pendubot(n: int) -> RigidBodyTree:
    """The n-link pendubot whose last link is pinned to the ground, the paper's model for how costs grow with n.

    n equal uniform rods hang one from the other in the x-z plane, from the origin at q = 0; the tip of the last one is
    held by a revolute joint to the ground, a contact of two rows without a radius. All joints but the last have a
    motor, as in the two-link pendubot.
    """
    across, along = MASS * LENGTH**2 / 12.0, MASS * _THICKNESS**2 / 8.0
    joints = tuple(
        Joint(
            name=f"joint_{i}",
            kind="revolute",
            axis=np.array([0.0, 1.0, 0.0]),
            parent=i - 1,
            translation=np.array([0.0, 0.0, 0.0 if i == 0 else -LENGTH]),
            mass=MASS,
            com=np.array([0.0, 0.0, -LENGTH / 2.0]),
            inertia=np.diag([across, across, along]),
            effort_limit=_TORQUE if i < n - 1 else 0.0,
        )
        for i in range(n)
    )
    return RigidBodyTree(f"pendubot_{n}", joints, (ContactPoint(PIN, n - 1, np.array([0.0, 0.0, -LENGTH])),))


def operations(function: cs.Function) -> int:
    """Arithmetic operations of a function of scalar expressions, which no noise of a machine touches."""
    return sum(function.instruction_id(i) not in _NOT_ARITHMETIC for i in range(function.n_instructions()))


def count(model: Model) -> dict[str, int]:
    """Operations of the graphs behind each level."""
    wanted = tuple(kernel for level in model.levels for kernel in KERNELS[level])
    functions = kernel_functions(model.tree, {MODE: model.contacts}, AXES, wanted)
    return {
        level: sum(operations(functions[f"{kernel}/{MODE}"][1]()) for kernel in KERNELS[level])
        for level in model.levels
    }


@dataclass(frozen=True)
class Costs:
    """Times of all levels of all models, taken in turns."""

    times: Times

    def level(self, model: Model, level: str) -> Array:
        """(rounds,) seconds of a whole level."""
        return self.times.parts[f"{model.name}, {level}"][level]

    def kernels(self, model: Model, level: str) -> Array:
        """(rounds,) seconds of the compiled graphs behind a level."""
        parts = [self.times.parts[f"{model.name}, {one}/"][kernel_times.KERNEL] for one in KERNELS[level]]
        return np.sum(parts, axis=0)

    def ratio(self, model: Model, of: str, to: str) -> Spread:
        """Of one level's time to another's."""
        return Spread.of_ratio(self.level(model, of), self.level(model, to))

    def kernel_ratio(self, model: Model, of: str, to: str) -> Spread:
        """The same of their compiled graphs alone."""
        return Spread.of_ratio(self.kernels(model, of), self.kernels(model, to))

    def summary(self, model: Model) -> dict[str, Any]:
        """Spreads of everything about a model: times in seconds, and ratios."""
        later = model.levels[1:]
        return {
            "time": {one: Spread.of(self.level(model, one)) for one in (*model.levels, EXPANSION)},
            "kernels": {one: Spread.of(self.kernels(model, one)) for one in model.levels},
            "ratio": {f"{one} over {to}": self.ratio(model, one, to) for one in later for to in (FIRST, EXPANSION)},
            "kernel_ratio": {f"{one} over {FIRST}": self.kernel_ratio(model, one, FIRST) for one in later},
        }


def measure(
    models: Sequence[Model], rounds: int, repeats: int, compiling: Callable[[str], None], progress: Progress
) -> Costs:
    """Compile and time; `compiling` hears the name of each model before its turn."""
    candidates: dict[str, Candidate] = {}
    for model in models:
        compiling(model.name)
        knot = KnotPartials(model.tree, model.contacts, model.tensor)
        for level in (*model.levels, EXPANSION):
            candidates[f"{model.name}, {level}"] = knot.candidate(level)
        for kernel in (one for level in model.levels for one in KERNELS[level]):
            candidates[f"{model.name}, {kernel}/"] = kernel_times.candidate(knot.kernels, f"{kernel}/{MODE}")
    return Costs(interleave(candidates, rounds, repeats, progress))
