"""LU factorisation without pivoting of the contact KKT matrix, in place, for Numba code.

K = [[H, −Jᵀ], [−J, 0]] with H positive definite is quasi-definite: every order of elimination exists (Vanderbei 1995),
so no pivoting is needed as long as the contacts are independent.
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


@nb.njit(nb.void(MATRIX, MATRIX), cache=True, inline="always", error_model="numpy", fastmath={"contract"})
def solve_matrix(lu, b):
    """Overwrite every column of b by the solution of the factorised system."""
    n, columns = b.shape
    for i in range(n):
        row = b[i]
        for p in range(0, i - 1, 2):
            f0, f1, b0, b1 = lu[i, p], lu[i, p + 1], b[p], b[p + 1]
            for j in range(columns):
                row[j] -= f0 * b0[j] + f1 * b1[j]
        if i % 2:
            factor, above = lu[i, i - 1], b[i - 1]
            for j in range(columns):
                row[j] -= factor * above[j]
    for i in range(n - 1, -1, -1):
        row = b[i]
        for p in range(i + 1, n - 1, 2):
            f0, f1, b0, b1 = lu[i, p], lu[i, p + 1], b[p], b[p + 1]
            for j in range(columns):
                row[j] -= f0 * b0[j] + f1 * b1[j]
        if (n - 1 - i) % 2:
            factor, last = lu[i, n - 1], b[n - 1]
            for j in range(columns):
                row[j] -= factor * last[j]
        inverse = lu[i, i]
        for j in range(columns):
            row[j] *= inverse
