"""Checks of the arguments of compiled code: type, memory order, shape, finite numbers.

Compiled loops do not check their arguments. A wrong type raises an error of Numba's that names neither the array nor
the remedy; a wrong size reads or writes memory out of bounds.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ContactDdpError, SolverError

Array = NDArray[np.float64]


def describe(value: Any) -> str:
    """Type, shape and memory order of an argument, for an error message."""
    if not isinstance(value, np.ndarray):
        return f"of type {type(value).__name__}"
    order = "C-contiguous" if value.flags.c_contiguous else "not C-contiguous"
    access = "" if value.flags.writeable else ", read-only"
    return f"an array of {value.dtype}, shape {value.shape}, {order}{access}"


def check_memory(name: str, value: Any, dtype: Any, axes: int) -> None:
    """Check that compiled code can read an array without a copy.

    Raises:
        SolverError: it is not an array of this dtype and number of axes, or not C-contiguous and writable.
    """
    fits = isinstance(value, np.ndarray) and value.dtype == dtype and value.ndim == axes
    if not (fits and value.flags.c_contiguous and value.flags.writeable):
        wanted = f"np.array({name}, dtype=np.{np.dtype(dtype).name}, order='C')"
        raise SolverError(
            f"{name} is {describe(value)}; needed: a C-contiguous, writable array of {np.dtype(dtype)} with {axes} "
            f"{'axis' if axes == 1 else 'axes'}, as {wanted} makes one"
        )


def check_size(name: str, value: Any, least: int) -> None:
    """Check that a value is an integer of at least `least`; raises SolverError."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise SolverError(f"{name} is {value!r}; needed: a whole number, at least {least}")


def checked_array(
    name: str,
    value: Any,
    shape: tuple[int, ...],
    error: type[ContactDdpError] = SolverError,
    *,
    by_node: bool = False,
) -> Array:
    """The numbers as a float64, C-contiguous, writable array of a shape; copied only where they are not that already.

    Args:
        name: of the argument, for error messages.
        value: array-like of real numbers.
        shape: that it must have.
        error: class of the exception.
        by_node: whether the first axis runs over the nodes of the horizon; messages name the node then.

    Raises:
        SolverError: they are not real numbers, of another shape, or not finite; `error` instead, where it is given.
    """
    try:
        found = np.asarray(value)
    except ValueError as reason:
        raise error(f"{name} is no array: {reason}; needed: numbers of shape {shape}") from reason
    if found.dtype.kind not in "fiu":
        raise error(f"{name} is {describe(value)}; needed: real numbers of shape {shape}")
    if found.shape != shape:
        raise error(f"{name} has shape {found.shape}; needed: {shape}")
    check_finite(name, found, error, by_node=by_node)
    return np.require(found, np.float64, ["C", "W"])


def check_finite(
    name: str, array: NDArray[Any], error: type[ContactDdpError] = SolverError, *, by_node: bool = False
) -> None:
    """Check that all numbers are finite; raises `error` with the index of the first that is not."""
    finite = np.isfinite(array)
    if not finite.all():
        place = _first(name, ~finite, by_node)
        raise error(f"{name} holds a number that is not finite; every entry must be: {place} is not")


def check_no_nan(name: str, array: NDArray[Any], *, by_node: bool = False) -> None:
    """Check that no entry is NaN, infinity being allowed; raises SolverError with the index of the first that is."""
    unknown = np.isnan(array)
    if unknown.any():
        raise SolverError(f"{name} holds NaN; every entry must be a number: {_first(name, unknown, by_node)} is none")


def _first(name: str, bad: NDArray[np.bool_], by_node: bool) -> str:
    """The first bad entry in index notation, with its node."""
    where = [int(index) for index in np.argwhere(bad)[0]]
    entry = f"{name}[{', '.join(map(str, where))}]" if where else name
    return f"{entry} (node {where[0]})" if by_node and where else entry
