"""The packaged terms added up by what they are a function of, for Numba code.

The sums are composed from the list of terms when this module is imported, and compiled as part of the node functions
that call them, where the compiler inlines every term. They look the places of the terms up in `integers` and hand the
rest of their arguments to the terms, as :mod:`contact_ddp_ros.mpc.terms.term` has them.

Where the numbers and constraints of the packaged terms lie, as their list and what each of them declares have it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numba as nb
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.layout import Sizes
from contact_ddp_ros.mpc.terms import TERMS
from contact_ddp_ros.mpc.terms.term import PLACE, Argument, Block, PackagedTerm, Place
from contact_ddp_ros.ocp.protocol import INTEGERS


@dataclass(frozen=True)
class TermLayout:
    """Layout of the terms' numbers for problems of given sizes.

    Attributes:
        model: where a row has the dynamics' parameters. lands: where it says which feet land. footholds: where the feet
            of the horizon's tail are.
        rows: where each block of a node's own numbers lies in a row of node_parameters, by name.
        body: where the rigid body of the tail lies in the parameters.
        row_size: length of such a row; numbers of the user's terms follow.
        parameters: where each block that all nodes share lies in the parameters.
        n_parameters: length of the parameters.
        n_e: equality constraints of a node. n_i: inequalities; those of the user's constraints follow.
        places: (n_terms + 1, 4) a :class:`Place` for each term, and one for all of the user's together.
    """

    model: slice
    lands: slice
    footholds: slice
    body: slice
    rows: Mapping[str, slice]
    row_size: int
    parameters: Mapping[str, slice]
    n_parameters: int
    n_e: int
    n_i: int
    places: NDArray[np.int64]

    @classmethod
    def of(cls, sizes: Sizes) -> "TermLayout":
        """The layout for these sizes."""
        lands = slice(at.lands_of(sizes.n_f), at.lands_of(sizes.n_f) + sizes.n_f)
        footholds, body = slice(lands.stop, lands.stop + sizes.n_f * sizes.n_a), slice(0, at.N_BODY)
        rows, row_begins, row_size = _slices((term.rows for term in TERMS), sizes, footholds.stop)
        parameters, parameter_begins, n_parameters = _slices((term.parameters for term in TERMS), sizes, body.stop)
        counts = [len(term.constraints(sizes.n_a)) * n_entries(term, sizes) for term in TERMS]
        n_e = sum(count for term, count in zip(TERMS, counts, strict=True) if term.equality)
        equalities = inequalities = 0
        places = []
        for term, count, row, parameter in zip(TERMS, counts, row_begins, parameter_begins, strict=True):
            if term.equality:
                places.append((row, parameter, equalities, equalities))
                equalities += count
            else:
                places.append((row, parameter, n_e + inequalities, n_e + 2 * inequalities))
                inequalities += count
        places.append((row_size, n_parameters, n_e + inequalities, n_e + 2 * inequalities))
        table = np.array(places, dtype=np.int64)
        own = slice(at.MODEL, lands.start), lands, footholds, body
        return cls(*own, rows, row_size, parameters, n_parameters, n_e, inequalities, table)


def n_entries(term: PackagedTerm, sizes: Sizes) -> int:
    """Number of entries, or feet, that the term is a sum over."""
    of_kind = {Argument.STATE: 2 * sizes.n, Argument.TORQUE: sizes.n_u}
    return of_kind.get(term.argument, sizes.n_f)


def _slices(
    blocks_of_terms: Iterable[tuple[Block, ...]], sizes: Sizes, begin: int
) -> tuple[dict[str, slice], list[int], int]:
    """Slices of the blocks by name, one after the other; offset of each term; the end."""
    slices, begins = {}, []
    for blocks in blocks_of_terms:
        begins.append(begin)
        for block in blocks:
            slices[block.name] = slice(begin, begin + block.size(sizes))
            begin += block.size(sizes)
    return slices, begins, begin


Compiled = Callable[..., Any]
_Link = Callable[[Compiled, Compiled, int], Compiled]

_PLACE_SIZE = len(Place._fields)

_compiled: Callable[[Compiled], Compiled] = njit(error_model="numpy", forceinline=True)
"""Without a signature: compiled with its callers, and stored with them."""


@njit(PLACE(INTEGERS, nb.int64), inline="always")
def place_of(integers, index):
    """The place of a term, or after the last one that of the user's terms together."""
    begin = integers[at.PLACES] + _PLACE_SIZE * index
    return Place(integers[begin], integers[begin + 1], integers[begin + 2], integers[begin + 3])


class EntrySums:
    """Sums of the terms of one entry of an argument.

    derivatives(cost, integers, …) → cost with the terms' added, slope and bend
    costs(costs, integers, …): add the value of each term to its entry of `costs`
    limits(violation, integers, …) → the larger of this violation and the terms'; writes their constraints
    """

    def __init__(self, argument: Argument) -> None:
        self.derivatives: Compiled = _chain(argument, "derivatives", _add_entry, _without_derivatives)
        self.costs: Compiled = _chain(argument, "derivatives", _note_entry, _nothing)
        self.limits: Compiled = _chain(argument, "limits", _widen, _unchanged)


class ForceSums:
    """Sums of the terms of the force of one foot.

    derivatives(cost, integers, …) → cost with the terms' added; adds to the gradient
    hessian(integers, …): add to the Hessian
    costs(costs, scale, integers, …): add the value of each term, times the scale, to its entry of `costs`
    limits(violation, integers, …): as those of entries
    """

    def __init__(self) -> None:
        self.derivatives: Compiled = _chain(Argument.FORCE, "derivatives", _add_force, _unchanged)
        self.hessian: Compiled = _chain(Argument.FORCE, "hessian", _add_hessian, _nothing)
        self.costs: Compiled = _chain(Argument.FORCE, "derivatives", _note_force, _nothing)
        self.limits: Compiled = _chain(Argument.FORCE, "limits", _widen, _unchanged)


def _chain(argument: Argument, part: str, link: _Link, start: Compiled) -> Compiled:
    """One function that calls that part of every term of an argument, in the order of the list."""
    functions = [(getattr(term, part), index) for index, term in enumerate(TERMS) if term.argument is argument]
    return reduce(lambda before, one: link(before, *one) if one[0] is not None else before, functions, start)


@_compiled
def _nothing(*arguments):
    pass


@_compiled
def _unchanged(value, *arguments):
    return value


@_compiled
def _without_derivatives(cost, *arguments):
    return cost, 0.0, 0.0


def _add_entry(before: Compiled, term: Compiled, index: int) -> Compiled:
    @_compiled
    def added(cost, integers, *arguments):
        cost, slope, bend = before(cost, integers, *arguments)
        value, own_slope, own_bend = term(place_of(integers, index), *arguments)
        return cost + value, slope + own_slope, bend + own_bend

    return added


def _note_entry(before: Compiled, term: Compiled, index: int) -> Compiled:
    @_compiled
    def noted(costs, integers, *arguments):
        before(costs, integers, *arguments)
        costs[index] += term(place_of(integers, index), *arguments)[0]

    return noted


def _widen(before: Compiled, term: Compiled, index: int) -> Compiled:
    @_compiled
    def widened(violation, integers, *arguments):
        return max(before(violation, integers, *arguments), term(place_of(integers, index), *arguments))

    return widened


def _add_force(before: Compiled, term: Compiled, index: int) -> Compiled:
    @_compiled
    def added(cost, integers, *arguments):
        return term(place_of(integers, index), before(cost, integers, *arguments), *arguments)

    return added


def _note_force(before: Compiled, term: Compiled, index: int) -> Compiled:
    @_compiled
    def noted(costs, scale, integers, *arguments):
        before(costs, scale, integers, *arguments)
        costs[index] += scale * term(place_of(integers, index), 0.0, *arguments)

    return noted


def _add_hessian(before: Compiled, term: Compiled, index: int) -> Compiled:
    @_compiled
    def added(integers, *arguments):
        before(integers, *arguments)
        term(place_of(integers, index), *arguments)

    return added
