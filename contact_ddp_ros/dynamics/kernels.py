"""The compiled dynamics of a model: one shared library per model and set of modes, built once and cached.

The cache is keyed by everything that a kernel follows from: the tree, the modes, the sources of this room, the version
of CasADi, the processor and the compiler (:mod:`contact_ddp_ros.base.compiled.casadi_functions`). No expression graph
is built unless the library is missing.
"""

import logging
from pathlib import Path

from contact_ddp_ros.base.compiled import cache
from contact_ddp_ros.base.compiled.casadi_functions import kernels_of_cache, origin
from contact_ddp_ros.base.compiled.compiler import Progress
from contact_ddp_ros.base.compiled.kernel_set import KernelSet
from contact_ddp_ros.base.compiled.library import BLOCKS
from contact_ddp_ros.base.errors import ModelError
from contact_ddp_ros.dynamics.contact_point import Axes
from contact_ddp_ros.dynamics.kernel_code import LEVELS, TENSOR_LEVELS, Modes, kernel_code, kernel_functions
from contact_ddp_ros.robot.tree import RigidBodyTree

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
