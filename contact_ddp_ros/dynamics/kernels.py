"""The compiled dynamics of a model: one shared library per model and set of modes, built once and cached.

The cache is keyed by everything that a kernel follows from: the tree, the modes, the sources of this room, the version
of CasADi, the processor and the compiler. No expression graph is built unless the library is missing. Functions that a
user has written go the same way (:func:`compile_functions`), keyed by the C that CasADi makes of them.

Where there is no C compiler, a library that an earlier run left for this model and processor still serves; without
one, CasADi's own interpreter takes over with a warning (see `interpreter`).
"""

import functools
import importlib.metadata
import logging
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

import casadi as cs
import numpy as np

from contact_ddp_ros.compiled import cache
from contact_ddp_ros.compiled.compiler import Compiler, Progress, compile_library, find_compiler
from contact_ddp_ros.compiled.parts import in_parts
from contact_ddp_ros.dynamics import partials
from contact_ddp_ros.dynamics.contact import ScalarSystem, contact_system, level_parameters
from contact_ddp_ros.dynamics.impact import impact_system
from contact_ddp_ros.dynamics.interpreter import interpret
from contact_ddp_ros.dynamics.kernel_set import Block, Kernel, KernelSet
from contact_ddp_ros.dynamics.mechanism import Mechanism, prepare
from contact_ddp_ros.dynamics.tensor import contact_tensor, impact_tensor
from contact_ddp_ros.errors import CompilerError, ModelError
from contact_ddp_ros.robot.tree import RigidBodyTree

_LOG = logging.getLogger(__name__)

Axes = tuple[int, ...]
Modes = Mapping[str, tuple[str, ...]]
Build = Callable[[], cs.Function]
_Functions = Mapping[str, tuple[str, Build]]
_Of = Callable[[Mechanism, tuple[str, ...], Axes], ScalarSystem]
_Make = Callable[[str, ScalarSystem], cs.Function]

_SYSTEMS: dict[str, tuple[_Of, _Make]] = {
    "": (contact_system, contact_tensor),
    "impact_": (impact_system, impact_tensor),
}
"""Of a time step and of an impact, what their kernels' names begin with, and how tensors are made of them."""

_SAMPLES = 3
"""Random configurations at which contacts are looked at: one alone may happen to be singular."""

_FEET = {"feet": partials.feet, "feet_second": partials.feet_second}

_MOTION = ("system", "first", "second")

TENSOR_LEVELS = tuple(f"{prefix}tensor" for prefix in _SYSTEMS)
"""Kernels of the slow baseline."""

LEVELS = (*_FEET, *(prefix + level for prefix in _SYSTEMS for level in _MOTION))
"""Kernels that the planner needs."""

_SOURCES = tuple(source.read_bytes() for source in sorted(Path(__file__).parent.glob("*.py")))
"""Of this room as they were imported: what is written to them while a process runs must not name its kernels."""


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
    content = cache.content_key(origin(), tree, wanted, tuple(axes), tuple(levels))
    return _of_cache(
        content,
        "the robot's dynamics with {compiler}; this happens once per model",
        lambda: kernel_functions(tree, wanted, axes, levels),
        fallback,
        progress,
    )


def compile_functions(
    functions: Iterable[cs.Function], *, fallback: bool = True, progress: Progress | None = None
) -> KernelSet:
    """Kernels of CasADi functions, under the functions' own names, from the cache or compiled now.

    Arguments and results are those of the functions, whose outputs must be dense: float64, matrices column-major.

    Args:
        functions: with names that are all different.
        fallback, progress: as in :func:`build_kernels`.

    Raises:
        CompilerError: there is no working C compiler, no library from an earlier run, and `fallback` is off.
    """
    built = {function.name(): function for function in functions}
    content = cache.content_key(origin(), {name: c_source(function) for name, function in built.items()})
    ready = {name: (name, partial(_itself, function)) for name, function in built.items()}
    return _of_cache(
        content, "the functions of a problem with {compiler}; this happens once", lambda: ready, fallback, progress
    )


def origin() -> tuple[bytes, ...]:
    """What kernels follow from beside the model: CasADi's version and the sources of this room."""
    return (importlib.metadata.version("casadi").encode(), *_SOURCES)


def _itself(function: cs.Function) -> cs.Function:
    return function


def _of_cache(
    content: str, what: str, functions: Callable[[], _Functions], fallback: bool, progress: Progress | None
) -> KernelSet:
    """The kernels of a content, from the cache, compiled now, or interpreted; `what` says what is compiled."""
    try:
        compiler = find_compiler()
        entry = cache.entry(content, compiler.identity)
        found = _load(entry)
        if found is None:
            with cache.exclusive(content):
                found = _load(entry) or _build(entry, compiler, what, functions(), progress or _LOG.info)
        return found
    except CompilerError as error:
        for left in map(_load, cache.entries(content)):
            if left is not None:
                return left
        if not fallback:
            raise
        _LOG.warning("%s\nUntil then CasADi interprets the dynamics, several times slower than compiled.", error)
        return _interpret(functions())


def kernel_functions(
    tree: RigidBodyTree, modes: Modes, axes: Axes, levels: tuple[str, ...] = LEVELS
) -> dict[str, tuple[str, Build]]:
    """Of every kernel its name -> (symbol, how to build its CasADi function of that symbol)."""
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
    """How the kernels of one system are built, by level."""
    system, first, second, by_tensor = (prefix + level for level in (*_MOTION, "tensor"))
    expansion = functools.cache(lambda: partials.expansion(first + suffix, second + suffix, of()))
    return {
        system: lambda: partials.system(system + suffix, of()),
        first: lambda: expansion()[0],
        second: lambda: expansion()[1],
        by_tensor: lambda: tensor(by_tensor + suffix, of()),
    }


def _check(tree: RigidBodyTree, modes: Modes, axes: Axes, levels: tuple[str, ...]) -> None:
    if not set(levels) <= {*LEVELS, *TENSOR_LEVELS}:
        raise ModelError(f"kernel levels are {levels}; allowed are {LEVELS + TENSOR_LEVELS}")
    if tuple(axes)[-1:] != (2,) or not set(axes) <= {0, 1, 2}:
        raise ModelError(f"contact axes are {axes}; allowed are world axes 0 and 1 and, last, the normal 2")
    known = [point.name for point in tree.contacts]
    for mode, contacts in modes.items():
        if not set(contacts) <= set(known):
            raise ModelError(f"mode {mode!r} has contacts {contacts}; the model's contact points are {known}")


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


def _load(entry: cache.Entry) -> KernelSet | None:
    """The kernels of a cache entry, or None where it does not exist or cannot be loaded."""
    stored = entry.description()
    if stored is None:
        return None
    try:
        return KernelSet.of_library(entry.library, {one["name"]: Kernel.from_dict(one) for one in stored})
    except CompilerError as error:
        _LOG.warning("%s; building it again", error)
        return None


def _build(entry: cache.Entry, compiler: Compiler, what: str, functions: _Functions, progress: Progress) -> KernelSet:
    """Compile the kernels into the cache entry and load them."""
    progress(f"compiling {what.format(compiler=compiler.command[0])}")
    built = {symbol: build() for symbol, build in dict(functions.values()).items()}
    compile_library(compiler, {symbol: c_source(one) for symbol, one in built.items()}, entry.library, progress)
    kernels = _described(functions, built)
    entry.describe([kernel.as_dict(name) for name, kernel in kernels.items()])
    return KernelSet.of_library(entry.library, kernels)


def _interpret(functions: _Functions) -> KernelSet:
    """The kernels without a compiler."""
    built = {symbol: build() for symbol, build in dict(functions.values()).items()}
    return interpret(built, _described(functions, built))


def _described(functions: _Functions, built: Mapping[str, cs.Function]) -> dict[str, Kernel]:
    """Descriptions by name."""
    by_symbol = {symbol: describe(function) for symbol, function in built.items()}
    return {name: by_symbol[symbol] for name, (symbol, _) in functions.items()}


def describe(function: cs.Function) -> Kernel:
    """Shapes and size of a CasADi function."""
    return Kernel(
        symbol=function.name(),
        arguments=tuple(Block(function.name_in(i), *function.size_in(i)) for i in range(function.n_in())),
        results=tuple(Block(function.name_out(i), *function.size_out(i)) for i in range(function.n_out())),
        n_instructions=int(function.n_instructions()),
    )


def c_source(function: cs.Function) -> str:
    """C of a CasADi function, in parts, without the test for null that CasADi puts before every load and store."""
    generator = cs.CodeGenerator(f"{function.name()}.c", {"casadi_int": "long long int"})
    generator.add(function)
    text = generator.dump()
    text = re.sub(r"arg\[(\d+)\]\? (arg\[\1\]\[\d+\]) : 0", r"\2", text)
    text = re.sub(r"if \(res\[(\d+)\]!=0\) (res\[\1\]\[\d+\]=)", r"\2", text)
    # A helper that every unit would export under one name.
    return in_parts(text.replace("casadi_real casadi_sq(", "static casadi_real casadi_sq("))
