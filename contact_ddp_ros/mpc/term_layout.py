"""Where the numbers and constraints of the packaged terms lie, as their list and what each of them declares have it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.layout import Sizes
from contact_ddp_ros.mpc.terms import TERMS
from contact_ddp_ros.mpc.terms.term import Argument, Block, PackagedTerm


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
    """How many entries, or feet, the term is a sum over."""
    of_kind = {Argument.STATE: 2 * sizes.n, Argument.TORQUE: sizes.n_u}
    return of_kind.get(term.argument, sizes.n_f)


def _slices(
    blocks_of_terms: Iterable[tuple[Block, ...]], sizes: Sizes, begin: int
) -> tuple[dict[str, slice], list[int], int]:
    """Of the blocks by name, one after the other; where each term's begin; the end."""
    slices, begins = {}, []
    for blocks in blocks_of_terms:
        begins.append(begin)
        for block in blocks:
            slices[block.name] = slice(begin, begin + block.size(sizes))
            begin += block.size(sizes)
    return slices, begins, begin
