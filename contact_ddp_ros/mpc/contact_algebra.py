"""Linear algebra of a node's contact dynamics in C, compiled for its sizes: factor of K, solutions, partials, products.

The code is contact_algebra.c. Small systems, and all of them where there is no C compiler, are left to Numba
(:mod:`contact_ddp_ros.mpc.linear_system`); results agree to rounding.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from contact_ddp_ros.base.compiled.library import Library, compiled_for

FUNCTIONS = ("factorise", "solve", "contact_partials", "impact_partials", "curvature")

_SOURCE = Path(__file__).with_name("contact_algebra.c")

_SMALLEST, _LARGEST = 6, 64
"""Least number of joints in C, whose compilation takes a second, once; most, for working space is on the stack."""


def algebra_of(n: int, n_u: int, n_c: int) -> Mapping[str, int]:
    """Addresses of the functions by name, for n joints, n_u controls and n_c contact rows; none where Numba does it."""
    library = _library(n, n_u, n_c) if _SMALLEST <= n <= _LARGEST else None
    return {} if library is None else library.addresses


@cache
def _library(n: int, n_u: int, n_c: int) -> Library | None:
    return compiled_for(_SOURCE, FUNCTIONS, {"NJ": n, "NU": n_u, "NC": n_c})
