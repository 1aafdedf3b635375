"""Symmetric indefinite systems: Bunch and Kaufman's factorisation P A Pᵀ = L D Lᵀ with its inertia.

D has blocks of one and two rows. By Sylvester's law the numbers of positive and negative eigenvalues of A and D agree,
so a factorisation tells whether a saddle-point matrix [H, Cᵀ; C, 0] is that of a minimum: as many negative ones as rows
of C, none zero (Gould 1985).

Source: Golub and Van Loan (2013), Section 4.4.
"""

import math

import numba as nb

from contact_ddp_ros.ocp.protocol import INTEGERS, MATRIX

_ALPHA = (1.0 + math.sqrt(17.0)) / 8.0
"""Bounds the growth of the entries least."""

_OPTIONS = {"cache": True, "nogil": True, "error_model": "numpy"}


@nb.njit(nb.int64(MATRIX, nb.int64, INTEGERS), **_OPTIONS)
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


@nb.njit(nb.int64(MATRIX, INTEGERS, INTEGERS), **_OPTIONS)
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


@nb.njit(nb.void(MATRIX, nb.int64, nb.int64), **_OPTIONS)
def _swap(b, i, j):
    if i != j:
        for c in range(b.shape[1]):
            b[i, c], b[j, c] = b[j, c], b[i, c]


@nb.njit(nb.void(MATRIX, nb.int64, nb.int64, nb.float64), **_OPTIONS)
def _add_row(b, to, row, factor):
    if factor != 0.0:
        for c in range(b.shape[1]):
            b[to, c] += factor * b[row, c]


@nb.njit(nb.void(MATRIX, INTEGERS, INTEGERS, MATRIX), **_OPTIONS)
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
