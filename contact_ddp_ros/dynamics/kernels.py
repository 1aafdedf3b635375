"""The compiled dynamics of a model: one shared library per model and set of modes, built once and cached.

The cache is keyed by everything that a kernel follows from: the tree, the modes, the sources of this room, the version
of CasADi, the processor and the compiler (:mod:`contact_ddp_ros.base.compiled.casadi_functions`). No expression graph
is built unless the library is missing.

The kernels of a model as CasADi functions and as C.

A robot with limbs alike, and as many as a vector has lanes, gets C that does all limbs at once (`lanes`); any other
one, and all other kernels, C of the CasADi functions themselves.
"""

import functools
import logging
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import casadi as cs
import numpy as np

from contact_ddp_ros.base.compiled import cache
from contact_ddp_ros.base.compiled.cache import BLOCKS
from contact_ddp_ros.base.compiled.casadi_functions import (
    Build,
    Code,
    Functions,
    c_source,
    code_of,
    describe,
    kernels_of_cache,
    origin,
)
from contact_ddp_ros.base.compiled.compiler import Progress
from contact_ddp_ros.base.compiled.kernel_set import Kernel, KernelSet
from contact_ddp_ros.base.errors import ModelError
from contact_ddp_ros.dynamics import partials
from contact_ddp_ros.dynamics.contact import ScalarSystem, contact_system, impact_system, level_parameters
from contact_ddp_ros.dynamics.mechanism import Mechanism, prepare
from contact_ddp_ros.dynamics.mrneac import Axes
from contact_ddp_ros.dynamics.partials import contact_tensor, impact_tensor
from contact_ddp_ros.dynamics.simd_kernels import Lanes
from contact_ddp_ros.robot.tree import RigidBodyTree

Modes = Mapping[str, tuple[str, ...]]
_Of = Callable[[Mechanism, tuple[str, ...], Axes], ScalarSystem]
_Make = Callable[[str, ScalarSystem], cs.Function]

_SYSTEMS: dict[str, tuple[_Of, _Make]] = {
    "": (contact_system, contact_tensor),
    "impact_": (impact_system, impact_tensor),
}
"""Systems of a time step and of an impact: prefix of their kernels' names, and how tensors are made of them."""

_SAMPLES = 3
"""Random configurations at which contacts are looked at: one alone may happen to be singular."""

_FEET = {"feet": partials.feet, "feet_second": partials.feet_second}

_MOTION = ("system", "first", "second")

TENSOR_LEVELS = tuple(f"{prefix}tensor" for prefix in _SYSTEMS)
"""Kernels of the slow baseline."""

LEVELS = (*_FEET, *(prefix + level for prefix in _SYSTEMS for level in _MOTION))
"""Kernels that the planner needs."""


def kernel_functions(tree: RigidBodyTree, modes: Modes, axes: Axes, levels: tuple[str, ...] = LEVELS) -> Functions:
    """The kernels of a model, none of them built yet; ModelError for contacts that are not independent."""
    mechanism = prepare(tree)
    _check_independence(mechanism, modes, axes)
    order = [point.name for point in tree.contacts]
    functions: dict[str, tuple[str, Build]] = {
        level: (level, partial(make, level, mechanism, axes)) for level, make in _FEET.items() if level in levels
    }
    for mode, contacts in modes.items():
        suffix = "".join(f"_{order.index(name)}" for name in contacts)
        for prefix, (of, tensor) in _SYSTEMS.items():
            for level, build in _motion(partial(of, mechanism, contacts, axes), tensor, prefix, suffix).items():
                if level in levels:
                    functions[f"{level}/{mode}"] = (level + suffix, build)
    return functions


def _motion(of: Callable[[], ScalarSystem], tensor: _Make, prefix: str, suffix: str) -> dict[str, Build]:
    """Builders of one system's kernels, by level."""
    system, first, second, by_tensor = (prefix + level for level in (*_MOTION, "tensor"))
    expansion = functools.cache(lambda: partials.expansion(first + suffix, second + suffix, of()))
    return {
        system: lambda: partials.system(system + suffix, of()),
        first: lambda: expansion()[0],
        second: lambda: expansion()[1],
        by_tensor: lambda: tensor(by_tensor + suffix, of()),
    }


def _check_independence(mechanism: Mechanism, modes: Modes, axes: Axes) -> None:
    """Refuse contacts whose forces the motion does not determine, at whatever configuration.

    K is then singular: the same foot twice, or more rows than the joints can move.
    """
    jacobian = partials.feet("feet", mechanism, axes)
    samples = np.random.default_rng(0).uniform(-1.0, 1.0, (_SAMPLES, mechanism.n))
    jacobians = [np.array(jacobian(q, level_parameters(len(mechanism.feet)))[1]) for q in samples]
    order = [foot.name for foot in mechanism.feet]
    for mode, contacts in modes.items():
        rows = [order.index(name) * len(axes) + axis for name in contacts for axis in range(len(axes))]
        rank = max((int(np.linalg.matrix_rank(one[rows])) for one in jacobians if rows), default=0)
        if rank < len(rows):
            raise ModelError(
                f"contacts {', '.join(contacts)} of mode {mode!r} hold {rank} directions of motion with {len(rows)} "
                f"forces, which are not determined; name each contact once, and no more than the joints can move"
            )


def kernel_code(tree: RigidBodyTree, modes: Modes, axes: Axes, levels: tuple[str, ...] = LEVELS) -> Code:
    """C of the kernels of a model; ModelError for contacts that are not independent."""
    functions = kernel_functions(tree, modes, axes, levels)
    lanes = Lanes.of(prepare(tree), axes)
    sources, kernels = ({}, {}) if lanes is None else _code_in_lanes(lanes, functions, modes, levels) or ({}, {})
    other_sources, others = code_of({name: one for name, one in functions.items() if name not in kernels})
    return sources | other_sources, kernels | others


def _code_in_lanes(lanes: Lanes, functions: Functions, modes: Modes, levels: tuple[str, ...]) -> Code | None:
    """C of the kernels of all limbs at once; None where the limbs' graphs differ."""
    sources: dict[str, str] = {}
    kernels: dict[str, Kernel] = {}
    for prefix, (of, tensor) in _SYSTEMS.items():
        parts = [_motion(partial(of, *one), tensor, prefix, "") for one in lanes.parts()]
        for level in (prefix + one for one in _MOTION if prefix + one in levels):
            symbols = {mode: functions[f"{level}/{mode}"][0] for mode in modes}
            built = [part[level]() for part in parts]
            contacts = {symbol: modes[mode] for mode, symbol in symbols.items()}
            unit = lanes.unit([c_source(one) for one in built], describe(built[0]), contacts)
            if unit is None:
                return None
            sources[level], by_symbol = unit
            kernels |= {f"{level}/{mode}": by_symbol[symbol] for mode, symbol in symbols.items()}
    return sources, kernels


_LOG = logging.getLogger(__name__)

_SOURCES = tuple(source.read_bytes() for source in (*sorted(Path(__file__).parent.glob("*.[pc]*")), BLOCKS))
"""Sources of this room and the head of its C as imported: an edit while a process runs must not name its kernels."""


def build_kernels(
    tree: RigidBodyTree,
    modes: Modes,
    axes: Axes = (0, 2),
    *,
    levels: tuple[str, ...] = LEVELS,
    fallback: bool = True,
    progress: Progress | None = None,
) -> KernelSet:
    """Kernels of a model for every contact mode, from the cache or compiled now.

    n = tree.n, n_c = contacts of the mode x axes, m = n + n_c, n_f = all contact points of the tree x axes. Arguments
    and results in this order, float64, matrices dense and column-major (Fortran order). Coordinates are those of the
    tree's joints in the tree's order; contact rows run over the contacts as the mode lists them and, within each, over
    `axes` in world directions. p holds Baumgarte's alpha [1/s], the coefficient of restitution, the direction up and
    the ground under each contact point of the tree (:mod:`contact_ddp_ros.dynamics.contact`).

    | name | arguments | results |
    |---|---|---|
    | system/MODE | q (n,), v (n,), p | K (m, m), b (m,):  K nu + b = [S' tau; 0] |
    | first/MODE | q, v, nu (m,), p | r_q (m, n), r_v (m, n), at fixed nu; shared (n_shared,) |
    | second/MODE | xi (m,), shared | s_qq (n, n), s_vq (n, n), s_vv (n, n), s_qnu (n, m) |
    | impact_system/MODE, impact_first/MODE, impact_second/MODE | the same | the same |
    | tensor/MODE | q, v, tau (n,), gamma (m,), p | gamma'nu_qq, _qv, _vv, _qtau; all (n, n) |
    | impact_tensor/MODE | q, v, gamma (m,), p | gamma'nu_qq, _qv, _vv; all (n, n) |
    | feet | q, p | positions (n_f,) of the lowest point of every foot in the world [m], Jacobian (n_f, n) |
    | feet_second | q, w (n_f,), transpose of that Jacobian | (n, n) sum of w_i times the Hessian of position i |

    nu = (vdot, lambda) in contact; at an impact nu = (v+, Lambda), v is the velocity before it and K nu + b = 0. The
    impact kernels of a mode are those of entering it: its contacts are on the ground after the impact. xi = (mu, pi)
    and s = xi' r at the q, v, nu and p with which `first` wrote `shared`. Blocks _zy have rows z and columns y; s_vnu
    is zero for both systems. The tensor kernels are the slow baseline; their tau is S' tau, zero where nothing is
    actuated.

    Args:
        tree: the model.
        modes: contact points on the ground by name of the mode; modes with equal contacts share kernels.
        axes: world axes along which contacts act, the normal (2) last.
        levels: which kernels to build, by the first word of their names; without the tensors unless asked for.
        fallback: let CasADi interpret what cannot be compiled, with a warning; raise otherwise.
        progress: receives a line of text for every step of a cold build; the log does where None.

    Raises:
        ModelError: a mode names an unknown contact point, a level is unknown, or the tree cannot be used.
        CompilerError: there is no working C compiler, no library from an earlier run, and `fallback` is off.
    """
    _check(tree, modes, axes, levels)
    wanted = {mode: tuple(contacts) for mode, contacts in modes.items()}
    content = cache.content_key(_origin(), tree, wanted, tuple(axes), tuple(levels))
    return kernels_of_cache(
        content,
        "the robot's dynamics with {compiler}; this happens once per model",
        lambda: kernel_functions(tree, wanted, axes, levels),
        lambda: kernel_code(tree, wanted, axes, levels),
        fallback,
        progress,
    )


def _check(tree: RigidBodyTree, modes: Modes, axes: Axes, levels: tuple[str, ...]) -> None:
    if not set(levels) <= {*LEVELS, *TENSOR_LEVELS}:
        raise ModelError(f"kernel levels are {levels}; allowed are {LEVELS + TENSOR_LEVELS}")
    if tuple(axes)[-1:] != (2,) or not set(axes) <= {0, 1, 2}:
        raise ModelError(f"contact axes are {axes}; allowed are world axes 0 and 1 and, last, the normal 2")
    known = [point.name for point in tree.contacts]
    for mode, contacts in modes.items():
        if not set(contacts) <= set(known):
            raise ModelError(f"mode {mode!r} has contacts {contacts}; the model's contact points are {known}")


def _origin() -> tuple[bytes, ...]:
    """Versions and sources that kernels follow from beside the model: CasADi's version and this room's sources."""
    return (*origin(), *_SOURCES)
