"""LU factorisation without pivoting of the contact KKT matrix, in place, for Numba code.

K = [[H, −Jᵀ], [−J, 0]]: H is positive definite, and eliminated first; what is left, −J H⁻¹ Jᵀ, is negative definite
where the contacts are independent, that is, where J has full row rank. No pivot vanishes then, so none is looked for.

Where they are not (feet in one place, legs stretched out, a joint that cannot move a row), the pivot of a row that
depends on those before it vanishes. Such a row is left out: it carries no force, and what it holds follows from the
others where it agrees with them. This is the solution of the system without that row, so accelerations, forces and
their derivatives stay finite and belong together; the inverse pivot 0 that stands for it serves every solution. Rows
are dependent whose pivot is within DEPENDENT of the largest entry on the diagonal of J H⁻¹ Jᵀ. Contacts that are
dependent at every configuration are refused before (:mod:`contact_ddp_ros.dynamics.kernels`).

The n joints are eliminated from the last to the first, the contacts after them. Joints come after those that carry
them, so branches are done before the trunk and stay apart: H's zeros between two legs stay zeros (Featherstone, Rigid
Body Dynamics Algorithms, 2008, sec. 6.5), and what they would be multiplied with is left out.
"""

import numba as nb

from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.ocp.protocol import MATRIX, VECTOR

DEPENDENT = 1e-10
"""Pivot of a dependent row over the largest entry on the diagonal of J H⁻¹ Jᵀ; as in contact_algebra.c."""

_INLINE = {"inline": "always", "error_model": "numpy"}


@njit(nb.void(MATRIX, nb.int64, nb.int64, nb.float64, nb.int64), **_INLINE, fastmath={"contract"})
def _eliminate(a, i, j, inverse, n):
    """Take row j, a joint, out of row i."""
    factor = a[i, j]
    if factor == 0.0:
        return
    factor *= inverse
    row, pivot = a[i], a[j]
    row[j] = factor
    for p in range(j):
        row[p] -= factor * pivot[p]
    for p in range(n, a.shape[0]):
        row[p] -= factor * pivot[p]


@njit(nb.void(MATRIX, nb.int64), **_INLINE, fastmath={"contract"})
def factorise(a, n):
    """Overwrite a by its factors, the inverted pivots on the diagonal; the first n rows are the joints'."""
    size = a.shape[0]
    for j in range(n - 1, -1, -1):
        inverse = 1.0 / a[j, j]
        a[j, j] = inverse
        for i in range(j):
            _eliminate(a, i, j, inverse, n)
        for i in range(n, size):
            _eliminate(a, i, j, inverse, n)
    least = 0.0
    for j in range(n, size):
        least = max(least, DEPENDENT * abs(a[j, j]))
    for j in range(n, size):
        inverse = 0.0 if abs(a[j, j]) <= least else 1.0 / a[j, j]
        a[j, j] = inverse
        pivot = a[j]
        for i in range(j + 1, size):
            row = a[i]
            factor = row[j] * inverse
            row[j] = factor
            for p in range(j + 1, size):
                row[p] -= factor * pivot[p]


@njit(nb.void(MATRIX, VECTOR, nb.int64), **_INLINE)
def solve_vector(lu, b, n):
    """Overwrite b by the solution of the factorised system."""
    size = lu.shape[0]
    for i in range(n - 1, -1, -1):
        for p in range(i + 1, n):
            b[i] -= lu[i, p] * b[p]
    for i in range(n, size):
        for p in range(i):
            b[i] -= lu[i, p] * b[p]
    for i in range(size - 1, n - 1, -1):
        for p in range(i + 1, size):
            b[i] -= lu[i, p] * b[p]
        b[i] *= lu[i, i]
    for i in range(n):
        for p in range(i):
            b[i] -= lu[i, p] * b[p]
        for p in range(n, size):
            b[i] -= lu[i, p] * b[p]
        b[i] *= lu[i, i]


@njit(nb.void(MATRIX, VECTOR, nb.int64), **_INLINE)
def solve_symmetric_vector(lu, b, n):
    """Overwrite b by the solution of the factorised system, which must be symmetric.

    Rows are subtracted rather than scalar products formed, whose terms would wait for each other: with U = D Lᵀ the
    rows of U serve forward substitution, and those of L the backward one.
    """
    size = lu.shape[0]
    for j in range(n - 1, -1, -1):
        row = lu[j]
        scaled = b[j] * row[j]
        for i in range(j):
            b[i] -= row[i] * scaled
        for i in range(n, size):
            b[i] -= row[i] * scaled
        b[j] = scaled
    for j in range(n, size):
        row = lu[j]
        scaled = b[j] * row[j]
        for i in range(j + 1, size):
            b[i] -= row[i] * scaled
        b[j] = scaled
    for j in range(size - 1, n - 1, -1):
        row, known = lu[j], b[j]
        for i in range(j):
            b[i] -= row[i] * known
    for j in range(n):
        row, known = lu[j], b[j]
        for i in range(j + 1, n):
            b[i] -= row[i] * known


@njit(nb.void(MATRIX, VECTOR, nb.int64), **_INLINE)
def solve_transposed_vector(lu, b, n):
    """Overwrite b by the solution of the transpose of the factorised system."""
    size = lu.shape[0]
    for i in range(n - 1, -1, -1):
        for p in range(i + 1, n):
            b[i] -= lu[p, i] * b[p]
        b[i] *= lu[i, i]
    for i in range(n, size):
        for p in range(i):
            b[i] -= lu[p, i] * b[p]
        b[i] *= lu[i, i]
    for i in range(size - 1, n - 1, -1):
        for p in range(i + 1, size):
            b[i] -= lu[p, i] * b[p]
    for i in range(n):
        for p in range(i):
            b[i] -= lu[p, i] * b[p]
        for p in range(n, size):
            b[i] -= lu[p, i] * b[p]


@njit(nb.void(VECTOR, nb.int64, nb.int64, MATRIX, VECTOR), **_INLINE, fastmath={"contract"})
def _subtract_rows(factors, first, last, b, row):
    """Subtract factors[p] · b[p] for p from `first` up to `last` from a row, four at a time but for zeros."""
    columns = row.size
    for p in range(first, last - 3, 4):
        f0, f1, f2, f3 = factors[p], factors[p + 1], factors[p + 2], factors[p + 3]
        if f0 == 0.0 and f1 == 0.0 and f2 == 0.0 and f3 == 0.0:
            continue
        b0, b1, b2, b3 = b[p], b[p + 1], b[p + 2], b[p + 3]
        for j in range(columns):
            row[j] -= f0 * b0[j] + f1 * b1[j] + f2 * b2[j] + f3 * b3[j]
    for p in range(last - (last - first) % 4, last):
        factor, other = factors[p], b[p]
        if factor != 0.0:
            for j in range(columns):
                row[j] -= factor * other[j]


@njit(nb.void(MATRIX, MATRIX, nb.int64), error_model="numpy", fastmath={"contract"})
def solve_matrix(lu, b, n):
    """Overwrite every column of b by the solution of the factorised system."""
    size, columns = b.shape
    for step in range(size):
        i = n - 1 - step if step < n else step
        _subtract_rows(lu[i], i + 1 if i < n else 0, n if i < n else i, b, b[i])
    for step in range(size):
        i = size - 1 - step if step < size - n else step - (size - n)
        row = b[i]
        if i < n:
            _subtract_rows(lu[i], 0, i, b, row)
        _subtract_rows(lu[i], max(i + 1, n), size, b, row)
        inverse = lu[i, i]
        for j in range(columns):
            row[j] *= inverse
