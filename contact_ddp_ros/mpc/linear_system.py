"""LU factorisation without pivoting of the contact KKT matrix, in place, for Numba code.

K = [[H, −Jᵀ], [−J, 0]]: H is positive definite, and eliminated first; what is left, −J H⁻¹ Jᵀ, is negative definite
where the contacts are independent, that is, where J has full row rank. No pivot vanishes then, so none is looked for.
Contacts that are dependent at every configuration are refused before (:mod:`contact_ddp_ros.dynamics.kernels`); at a
singular one, a leg stretched out, pivots go to zero and forces to infinity, and the solver turns such a rollout down.
"""

import numba as nb

from contact_ddp_ros.solver.protocol import MATRIX, VECTOR


@nb.njit(nb.void(MATRIX), cache=True, inline="always", error_model="numpy")
def factorise(a):
    """Overwrite a by its factors: unit lower triangle below the diagonal, upper triangle with inverted diagonal."""
    n = a.shape[0]
    for j in range(n):
        inverse = 1.0 / a[j, j]
        a[j, j] = inverse
        for i in range(j + 1, n):
            factor = a[i, j] * inverse
            a[i, j] = factor
            for p in range(j + 1, n):
                a[i, p] -= factor * a[j, p]


@nb.njit(nb.void(MATRIX, VECTOR), cache=True, inline="always", error_model="numpy")
def solve_vector(lu, b):
    """Overwrite b by the solution of the factorised system."""
    n = lu.shape[0]
    for i in range(n):
        for p in range(i):
            b[i] -= lu[i, p] * b[p]
    for i in range(n - 1, -1, -1):
        for p in range(i + 1, n):
            b[i] -= lu[i, p] * b[p]
        b[i] *= lu[i, i]


@nb.njit(nb.void(MATRIX, VECTOR), cache=True, inline="always", error_model="numpy")
def solve_symmetric_vector(lu, b):
    """Overwrite b by the solution of the factorised system, which must be symmetric.

    Rows are subtracted rather than scalar products formed, whose terms would wait for each other: with U = D Lᵀ the
    rows of U serve forward substitution, and those of L the backward one.
    """
    n = lu.shape[0]
    for p in range(n):
        row = lu[p]
        scaled = b[p] * row[p]
        for i in range(p + 1, n):
            b[i] -= row[i] * scaled
        b[p] = scaled
    for p in range(n - 1, 0, -1):
        row, known = lu[p], b[p]
        for i in range(p):
            b[i] -= row[i] * known


@nb.njit(nb.void(MATRIX, VECTOR), cache=True, inline="always", error_model="numpy")
def solve_transposed_vector(lu, b):
    """Overwrite b by the solution of the transpose of the factorised system."""
    n = lu.shape[0]
    for i in range(n):
        for p in range(i):
            b[i] -= lu[p, i] * b[p]
        b[i] *= lu[i, i]
    for i in range(n - 1, -1, -1):
        for p in range(i + 1, n):
            b[i] -= lu[p, i] * b[p]


@nb.njit(nb.void(MATRIX, MATRIX), cache=True, inline="always", error_model="numpy", fastmath={"contract"})
def solve_matrix(lu, b):
    """Overwrite every column of b by the solution of the factorised system; four rows are subtracted at a time."""
    n, columns = b.shape
    for i in range(n):
        row = b[i]
        for p in range(0, i - 3, 4):
            f0, f1, f2, f3 = lu[i, p], lu[i, p + 1], lu[i, p + 2], lu[i, p + 3]
            b0, b1, b2, b3 = b[p], b[p + 1], b[p + 2], b[p + 3]
            for j in range(columns):
                row[j] -= f0 * b0[j] + f1 * b1[j] + f2 * b2[j] + f3 * b3[j]
        for p in range(i - i % 4, i):
            factor, above = lu[i, p], b[p]
            for j in range(columns):
                row[j] -= factor * above[j]
    for i in range(n - 1, -1, -1):
        row = b[i]
        for p in range(i + 1, n - 3, 4):
            f0, f1, f2, f3 = lu[i, p], lu[i, p + 1], lu[i, p + 2], lu[i, p + 3]
            b0, b1, b2, b3 = b[p], b[p + 1], b[p + 2], b[p + 3]
            for j in range(columns):
                row[j] -= f0 * b0[j] + f1 * b1[j] + f2 * b2[j] + f3 * b3[j]
        for p in range(n - (n - 1 - i) % 4, n):
            factor, below = lu[i, p], b[p]
            for j in range(columns):
                row[j] -= factor * below[j]
        inverse = lu[i, i]
        for j in range(columns):
            row[j] *= inverse
