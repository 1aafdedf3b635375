"""Small dense kernels for Numba code: no allocation, row-major, innermost loops over contiguous memory.

Products take four inner terms at a time, which leaves a quarter of the traffic to the result. "contract" lets the
compiler fuse multiplications and additions; unlike full fast-math it keeps infinities and NaNs as they are.
"""

import math

import numba as nb

from contact_ddp_ros.ocp.protocol import MATRIX, VECTOR

INLINE = {"cache": True, "inline": "always", "error_model": "numpy"}
"""Options of small functions: part of their callers, and without Python's exceptions for a division by zero."""


@nb.njit(nb.void(MATRIX), **INLINE)
def clear(a):
    """Set every entry to zero; a plain loop is several times faster than Numba's slice assignment."""
    rows, columns = a.shape
    for i in range(rows):
        for j in range(columns):
            a[i, j] = 0.0


@nb.njit(nb.void(MATRIX, MATRIX), **INLINE)
def symmetrise(a, out):
    """Write ½ (a + aᵀ) into out, of the leading block of a that has the size of out."""
    n = out.shape[0]
    for i in range(n):
        out[i, i] = a[i, i]
        for j in range(i):
            mean = 0.5 * (a[i, j] + a[j, i])
            out[i, j] = mean
            out[j, i] = mean


@nb.njit(nb.void(MATRIX, nb.float64, MATRIX), **INLINE)
def add_scaled(a, factor, out):
    """Add factor · a to out."""
    rows, columns = a.shape
    for i in range(rows):
        for j in range(columns):
            out[i, j] += factor * a[i, j]


@nb.njit(nb.void(MATRIX, MATRIX, MATRIX, nb.int64), **INLINE, fastmath={"contract"})
def multiply(a, b, out, rows):
    """Write the first `rows` rows of a @ b into out."""
    inner, columns = b.shape
    for i in range(rows):
        row = out[i]
        for j in range(columns):
            row[j] = 0.0
        for p in range(0, inner - 3, 4):
            f0, f1, f2, f3 = a[i, p], a[i, p + 1], a[i, p + 2], a[i, p + 3]
            b0, b1, b2, b3 = b[p], b[p + 1], b[p + 2], b[p + 3]
            for j in range(columns):
                row[j] += f0 * b0[j] + f1 * b1[j] + f2 * b2[j] + f3 * b3[j]
        for p in range(inner - inner % 4, inner):
            factor, last = a[i, p], b[p]
            for j in range(columns):
                row[j] += factor * last[j]


@nb.njit(nb.void(MATRIX, MATRIX, MATRIX), **INLINE, fastmath={"contract"})
def write_product(a, b, out):
    """Write a @ b into out. For sizes that the compiler knows: it keeps parts of rows of the result in registers."""
    rows, columns = out.shape
    inner = b.shape[0]
    for i in range(rows):
        for j in range(columns):
            value = 0.0
            for p in range(inner):
                value += a[i, p] * b[p, j]
            out[i, j] = value


@nb.njit(nb.void(MATRIX, MATRIX, MATRIX), **INLINE, fastmath={"contract"})
def add_transpose_product(a, b, out):
    """Add aᵀ @ b, of as many columns of a as b has, to the leading block of out; for sizes that the compiler knows."""
    inner, columns = b.shape
    for i in range(columns):
        for j in range(columns):
            value = out[i, j]
            for p in range(inner):
                value += a[p, i] * b[p, j]
            out[i, j] = value


@nb.njit(nb.void(MATRIX, MATRIX, nb.int64, nb.int64, MATRIX), **INLINE, fastmath={"contract"})
def add_congruence(f, vf, first, leading, out):
    """Add fᵀ @ vf, which is symmetric, to out; of the first `leading` rows only the first `leading` columns.

    The rows of vf are those from `first` on. For sizes that the compiler knows, as :func:`write_product`.
    """
    inner, rows = f.shape
    for i in range(leading):
        for j in range(leading):
            value = out[i, j]
            for p in range(inner):
                value += f[p, i] * vf[first + p, j]
            out[i, j] = value
    for i in range(leading, rows):
        for j in range(rows):
            value = out[i, j]
            for p in range(inner):
                value += f[p, i] * vf[first + p, j]
            out[i, j] = value


@nb.njit(nb.void(MATRIX, MATRIX, MATRIX), **INLINE, fastmath={"contract"})
def add_transpose_multiply(a, b, out):
    """Add aᵀ @ b to out."""
    inner, rows = a.shape
    columns = b.shape[1]
    for p in range(0, inner - 3, 4):
        b0, b1, b2, b3 = b[p], b[p + 1], b[p + 2], b[p + 3]
        for i in range(rows):
            f0, f1, f2, f3, row = a[p, i], a[p + 1, i], a[p + 2, i], a[p + 3, i], out[i]
            for j in range(columns):
                row[j] += f0 * b0[j] + f1 * b1[j] + f2 * b2[j] + f3 * b3[j]
    for p in range(inner - inner % 4, inner):
        last = b[p]
        for i in range(rows):
            factor, row = a[p, i], out[i]
            for j in range(columns):
                row[j] += factor * last[j]


@nb.njit(nb.void(MATRIX, VECTOR, VECTOR), **INLINE)
def add_transpose_apply(a, x, out):
    """Add aᵀ x to out."""
    rows, columns = a.shape
    for i in range(rows):
        factor = x[i]
        for j in range(columns):
            out[j] += a[i, j] * factor


@nb.njit(nb.boolean(MATRIX, MATRIX), **INLINE)
def cholesky(a, lower):
    """Factor a = L Lᵀ; False (and an unfinished L) where a is not positive definite, or not a number."""
    n = a.shape[0]
    for j in range(n):
        pivot = a[j, j]
        for p in range(j):
            pivot -= lower[j, p] * lower[j, p]
        if not pivot > 0.0:
            return False
        diagonal = math.sqrt(pivot)
        lower[j, j] = diagonal
        for i in range(j + 1, n):
            value = a[i, j]
            for p in range(j):
                value -= lower[i, p] * lower[j, p]
            lower[i, j] = value / diagonal
    return True


@nb.njit(nb.void(MATRIX, MATRIX), **INLINE)
def cholesky_solve(lower, b):
    """Overwrite b by (L Lᵀ)⁻¹ b, all columns at once."""
    n, columns = b.shape
    for i in range(n):
        for p in range(i):
            factor = lower[i, p]
            for j in range(columns):
                b[i, j] -= factor * b[p, j]
        inverse = 1.0 / lower[i, i]
        for j in range(columns):
            b[i, j] *= inverse
    for i in range(n - 1, -1, -1):
        for p in range(i + 1, n):
            factor = lower[p, i]
            for j in range(columns):
                b[i, j] -= factor * b[p, j]
        inverse = 1.0 / lower[i, i]
        for j in range(columns):
            b[i, j] *= inverse


@nb.njit(nb.float64(VECTOR, MATRIX, VECTOR, VECTOR), **INLINE)
def shift_gradient(vx, vxx, gap, shifted):
    """Write Vx + Vxx d into `shifted`; return Vxᵀd + ½ dᵀVxx d."""
    change = 0.0
    for i in range(gap.size):
        bend = 0.0
        for j in range(gap.size):
            bend += vxx[i, j] * gap[j]
        shifted[i] = vx[i] + bend
        change += gap[i] * (vx[i] + 0.5 * bend)
    return change
