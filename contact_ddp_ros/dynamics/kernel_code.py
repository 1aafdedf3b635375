"""The kernels of a model as CasADi functions and as C.

A robot with limbs alike, and as many as a vector has lanes, gets C that does all limbs at once (`lanes`); any other
one, and all other kernels, C of the CasADi functions themselves.
"""

import functools
from collections.abc import Callable, Mapping
from functools import partial

import casadi as cs
import numpy as np

from contact_ddp_ros.base.compiled.casadi_functions import Build, Code, Functions, c_source, code_of, describe
from contact_ddp_ros.base.compiled.kernel_set import Kernel
from contact_ddp_ros.base.errors import ModelError
from contact_ddp_ros.dynamics import partials
from contact_ddp_ros.dynamics.contact import ScalarSystem, contact_system, level_parameters
from contact_ddp_ros.dynamics.contact_point import Axes
from contact_ddp_ros.dynamics.impact import impact_system
from contact_ddp_ros.dynamics.mechanism import Mechanism, prepare
from contact_ddp_ros.dynamics.simd_kernels import Lanes
from contact_ddp_ros.dynamics.tensor import contact_tensor, impact_tensor
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
