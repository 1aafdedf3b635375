"""The compiled dynamics of a model: one shared library per model and set of modes, built once and cached.

The cache is keyed by everything that a kernel follows from: the tree, the modes, the sources of this room, the version
of CasADi, the processor and the compiler. No expression graph is built unless the library is missing. Functions that a
user has written go the same way (:func:`compile_functions`), keyed by the C that CasADi makes of them.

Where there is no C compiler, a library that an earlier run left for this model and processor still serves; without
one, CasADi's own interpreter takes over with a warning (see `interpreter`).
"""

import importlib.metadata
import logging
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import casadi as cs

from contact_ddp_ros.compiled import cache
from contact_ddp_ros.compiled.compiler import Compiler, Progress, compile_library, find_compiler
from contact_ddp_ros.compiled.library import BLOCKS
from contact_ddp_ros.dynamics.contact_point import Axes
from contact_ddp_ros.dynamics.interpreter import interpret
from contact_ddp_ros.dynamics.kernel_code import (
    LEVELS,
    TENSOR_LEVELS,
    Code,
    Functions,
    Modes,
    c_source,
    code_of,
    described,
    kernel_code,
    kernel_functions,
)
from contact_ddp_ros.dynamics.kernel_set import Kernel, KernelSet
from contact_ddp_ros.errors import CompilerError, ModelError
from contact_ddp_ros.robot.tree import RigidBodyTree

_LOG = logging.getLogger(__name__)

_SOURCES = tuple(source.read_bytes() for source in (*sorted(Path(__file__).parent.glob("*.[pc]*")), BLOCKS))
"""Of this room, and of what its C begins with, as they were imported: what is written to them while a process runs must
not name its kernels."""


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
        lambda: kernel_code(tree, wanted, axes, levels),
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
    what = "the functions of a problem with {compiler}; this happens once"
    return _of_cache(content, what, lambda: ready, lambda: code_of(ready), fallback, progress)


def origin() -> tuple[bytes, ...]:
    """What kernels follow from beside the model: CasADi's version and the sources of this room."""
    return (importlib.metadata.version("casadi").encode(), *_SOURCES)


def _itself(function: cs.Function) -> cs.Function:
    return function


def _of_cache(
    content: str,
    what: str,
    functions: Callable[[], Functions],
    code: Callable[[], Code],
    fallback: bool,
    progress: Progress | None,
) -> KernelSet:
    """The kernels of a content, from the cache, compiled now, or interpreted; `what` says what is compiled."""
    try:
        compiler = find_compiler()
        entry = cache.entry(content, compiler.identity)
        found = _load(entry)
        if found is None:
            with cache.exclusive(content):
                found = _load(entry) or _build(entry, compiler, what, code(), progress or _LOG.info)
        return found
    except CompilerError as error:
        for left in map(_load, cache.entries(content)):
            if left is not None:
                return left
        if not fallback:
            raise
        _LOG.warning("%s\nUntil then CasADi interprets the dynamics, several times slower than compiled.", error)
        return _interpret(functions())


def _check(tree: RigidBodyTree, modes: Modes, axes: Axes, levels: tuple[str, ...]) -> None:
    if not set(levels) <= {*LEVELS, *TENSOR_LEVELS}:
        raise ModelError(f"kernel levels are {levels}; allowed are {LEVELS + TENSOR_LEVELS}")
    if tuple(axes)[-1:] != (2,) or not set(axes) <= {0, 1, 2}:
        raise ModelError(f"contact axes are {axes}; allowed are world axes 0 and 1 and, last, the normal 2")
    known = [point.name for point in tree.contacts]
    for mode, contacts in modes.items():
        if not set(contacts) <= set(known):
            raise ModelError(f"mode {mode!r} has contacts {contacts}; the model's contact points are {known}")


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


def _build(entry: cache.Entry, compiler: Compiler, what: str, code: Code, progress: Progress) -> KernelSet:
    """Compile the kernels into the cache entry and load them."""
    progress(f"compiling {what.format(compiler=compiler.command[0])}")
    sources, kernels = code
    compile_library(compiler, sources, entry.library, progress)
    entry.describe([kernel.as_dict(name) for name, kernel in kernels.items()])
    return KernelSet.of_library(entry.library, kernels)


def _interpret(functions: Functions) -> KernelSet:
    """The kernels without a compiler."""
    built = {symbol: build() for symbol, build in dict(functions.values()).items()}
    return interpret(built, described(functions, built))
