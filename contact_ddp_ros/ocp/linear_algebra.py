"""Small dense kernels for Numba code: no allocation, row-major, innermost loops over contiguous memory.

Products take four inner terms at a time, which leaves a quarter of the traffic to the result. "contract" lets the
compiler fuse multiplications and additions; unlike full fast-math it keeps infinities and NaNs as they are.

Symmetric indefinite systems: Bunch and Kaufman's factorisation P A Pᵀ = L D Lᵀ with its inertia.

D has blocks of one and two rows. By Sylvester's law the numbers of positive and negative eigenvalues of A and D agree,
so a factorisation tells whether a saddle-point matrix [H, Cᵀ; C, 0] is that of a minimum: as many negative ones as rows
of C, none zero (Gould 1985).

Source: Golub and Van Loan (2013), Section 4.4.
"""

import math

import numba as nb

from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.ocp.protocol import INTEGERS, MATRIX, VECTOR

INLINE = {"inline": "always", "error_model": "numpy"}
"""Options of small functions: part of their callers, and without Python's exceptions for a division by zero."""


@njit(nb.void(MATRIX), **INLINE)
def clear(a):
    """Set every entry to zero; a plain loop is several times faster than Numba's slice assignment."""
    rows, columns = a.shape
    for i in range(rows):
        for j in range(columns):
            a[i, j] = 0.0


@njit(nb.void(MATRIX, MATRIX), **INLINE)
def symmetrise(a, out):
    """Write ½ (a + aᵀ) into out, of the leading block of a that has the size of out."""
    n = out.shape[0]
    for i in range(n):
        out[i, i] = a[i, i]
        for j in range(i):
            mean = 0.5 * (a[i, j] + a[j, i])
            out[i, j] = mean
            out[j, i] = mean


@njit(nb.void(MATRIX, nb.float64, MATRIX), **INLINE)
def add_scaled(a, factor, out):
    """Add factor · a to out."""
    rows, columns = a.shape
    for i in range(rows):
        for j in range(columns):
            out[i, j] += factor * a[i, j]


@njit(nb.void(MATRIX, MATRIX, MATRIX, nb.int64), **INLINE, fastmath={"contract"})
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


@njit(nb.void(MATRIX, MATRIX, MATRIX), **INLINE, fastmath={"contract"})
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


@njit(nb.void(MATRIX, MATRIX, MATRIX), **INLINE, fastmath={"contract"})
def add_transpose_product(a, b, out):
    """Add aᵀ @ b, of as many columns of a as b has, to the leading block of out; for sizes that the compiler knows."""
    inner, columns = b.shape
    for i in range(columns):
        for j in range(columns):
            value = out[i, j]
            for p in range(inner):
                value += a[p, i] * b[p, j]
            out[i, j] = value


@njit(nb.void(MATRIX, MATRIX, nb.int64, nb.int64, MATRIX), **INLINE, fastmath={"contract"})
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


@njit(nb.void(MATRIX, MATRIX, MATRIX), **INLINE, fastmath={"contract"})
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


@njit(nb.void(MATRIX, VECTOR, VECTOR), **INLINE)
def add_transpose_apply(a, x, out):
    """Add aᵀ x to out."""
    rows, columns = a.shape
    for i in range(rows):
        factor = x[i]
        for j in range(columns):
            out[j] += a[i, j] * factor


@njit(nb.boolean(MATRIX, MATRIX), **INLINE)
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


@njit(nb.void(MATRIX, MATRIX), **INLINE)
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


@njit(nb.float64(VECTOR, MATRIX, VECTOR, VECTOR), **INLINE)
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


_ALPHA = (1.0 + math.sqrt(17.0)) / 8.0
"""Bounds the growth of the entries least."""

_OPTIONS = {"nogil": True, "error_model": "numpy"}


@njit(nb.int64(MATRIX, nb.int64, INTEGERS), **_OPTIONS)
def _pivot(a, k, pivots):
    """Choose the block of column k and swap its rows to the front; its size, or 0 for a column of zeros or of NaN."""
    n = a.shape[0]
    diagonal, largest, row = abs(a[k, k]), 0.0, k
    for i in range(k + 1, n):
        if abs(a[i, k]) > largest:
            largest, row = abs(a[i, k]), i
    if not max(diagonal, largest) > 0.0 or not math.isfinite(diagonal + largest):
        return 0
    size, chosen = 1, k
    if diagonal < _ALPHA * largest:
        across = 0.0
        for j in range(k, row):
            across = max(across, abs(a[row, j]))
        for i in range(row + 1, n):
            across = max(across, abs(a[i, row]))
        if diagonal * across < _ALPHA * largest * largest:
            chosen = row
            if abs(a[row, row]) < _ALPHA * across:
                size = 2
    front = k + size - 1
    pivots[front] = chosen
    if chosen != front:
        for i in range(chosen + 1, n):
            a[i, front], a[i, chosen] = a[i, chosen], a[i, front]
        for i in range(front + 1, chosen):
            a[i, front], a[chosen, i] = a[chosen, i], a[i, front]
        a[front, front], a[chosen, chosen] = a[chosen, chosen], a[front, front]
        if size == 2:
            a[front, k], a[chosen, k] = a[chosen, k], a[front, k]
    return size


@njit(nb.int64(MATRIX, INTEGERS, INTEGERS), **_OPTIONS)
def factorise(a, pivots, sizes):
    """Factor a (n, n), of which the lower triangle is read, in place.

    `pivots` and `sizes` (n,) receive the interchanges and, at the first column of each block of D, its size. Returns
    the number of negative eigenvalues, −1 where a is singular or not a number.
    """
    n = a.shape[0]
    negative, k = 0, 0
    while k < n:
        size = _pivot(a, k, pivots)
        if size == 0:
            return -1
        sizes[k] = size
        if size == 1:
            if a[k, k] < 0.0:
                negative += 1
            inverse = 1.0 / a[k, k]
            for j in range(k + 1, n):
                factor = a[j, k] * inverse
                if factor != 0.0:
                    for i in range(j, n):
                        a[i, j] -= a[i, k] * factor
            for j in range(k + 1, n):
                a[j, k] *= inverse
        else:
            sizes[k + 1] = 0
            p, q, r = a[k, k], a[k + 1, k], a[k + 1, k + 1]
            determinant = p * r - q * q
            negative += 1 if determinant < 0.0 else (2 if p < 0.0 else 0)
            for j in range(k + 2, n):
                first = (r * a[j, k] - q * a[j, k + 1]) / determinant
                second = (p * a[j, k + 1] - q * a[j, k]) / determinant
                for i in range(j, n):
                    a[i, j] -= a[i, k] * first + a[i, k + 1] * second
                a[j, k], a[j, k + 1] = first, second
        k += size
    return negative


@njit(nb.void(MATRIX, nb.int64, nb.int64), **_OPTIONS)
def _swap(b, i, j):
    if i != j:
        for c in range(b.shape[1]):
            b[i, c], b[j, c] = b[j, c], b[i, c]


@njit(nb.void(MATRIX, nb.int64, nb.int64, nb.float64), **_OPTIONS)
def _add_row(b, to, row, factor):
    if factor != 0.0:
        for c in range(b.shape[1]):
            b[to, c] += factor * b[row, c]


@njit(nb.void(MATRIX, INTEGERS, INTEGERS, MATRIX), **_OPTIONS)
def solve(a, pivots, sizes, b):
    """Overwrite b (n, m) by A⁻¹ b, from the factors that :func:`factorise` left in a."""
    n, k = a.shape[0], 0
    while k < n:
        size = sizes[k]
        front = k + size - 1
        _swap(b, front, pivots[front])
        for i in range(k + size, n):
            for j in range(k, k + size):
                _add_row(b, i, j, -a[i, j])
        k += size
    k = 0
    while k < n:
        if sizes[k] == 1:
            for c in range(b.shape[1]):
                b[k, c] /= a[k, k]
        else:
            p, q, r = a[k, k], a[k + 1, k], a[k + 1, k + 1]
            determinant = p * r - q * q
            for c in range(b.shape[1]):
                upper, lower = b[k, c], b[k + 1, c]
                b[k, c] = (r * upper - q * lower) / determinant
                b[k + 1, c] = (p * lower - q * upper) / determinant
        k += sizes[k]
    k = n
    while k > 0:
        k -= 2 if k > 1 and sizes[k - 2] == 2 else 1
        size = sizes[k]
        for j in range(k, k + size):
            for i in range(k + size, n):
                _add_row(b, j, i, -a[i, j])
        front = k + size - 1
        _swap(b, front, pivots[front])
