"""Dense products against NumPy, with inner dimensions of every remainder."""

import numpy as np
import pytest

from contact_ddp_ros.ocp.linear_algebra import (
    add_congruence,
    add_transpose_multiply,
    add_transpose_product,
    multiply,
    write_product,
)


@pytest.mark.parametrize("inner", range(1, 10))
def test_products(inner: int) -> None:
    rng = np.random.default_rng(inner)
    a, b = rng.normal(size=(3, inner)), rng.normal(size=(inner, 7))
    out = np.full((3, 7), 9.0)
    multiply(a, b, out, 2)
    np.testing.assert_allclose(out[:2], (a @ b)[:2])
    assert (out[2] == 9.0).all(), "only the rows asked for"
    add_transpose_multiply(np.ascontiguousarray(a.T), b, out)
    np.testing.assert_allclose(out, np.vstack([2.0 * (a @ b)[:2], 9.0 + (a @ b)[2:]]))


@pytest.mark.parametrize("inner", range(1, 10))
@pytest.mark.parametrize("first", [0, 2])
def test_congruence_leaves_out_the_upper_right_block(inner: int, first: int) -> None:
    rng = np.random.default_rng(inner)
    f, root = rng.normal(size=(inner, 6)), rng.normal(size=(inner, inner))
    vf = np.vstack([np.full((first, 6), np.nan), (root + root.T) @ f])
    leading, out = 4, np.ones((6, 6))
    add_congruence(f, vf, first, leading, out)
    expected = 1.0 + f.T @ vf[first:]
    np.testing.assert_allclose(out[:, :leading], expected[:, :leading])
    np.testing.assert_allclose(out[leading:], expected[leading:])
    assert (out[:leading, leading:] == 1.0).all()


def test_products_of_sizes_that_the_compiler_may_know() -> None:
    rng = np.random.default_rng(1)
    a, b, out = rng.normal(size=(3, 5)), rng.normal(size=(5, 4)), np.empty((3, 4))
    write_product(a, b, out)
    np.testing.assert_allclose(out, a @ b)
    wide, square = rng.normal(size=(5, 6)), np.ones((7, 7))
    add_transpose_product(wide, b, square)
    np.testing.assert_allclose(square[:4, :4], 1.0 + wide[:, :4].T @ b)
    assert (square[4:] == 1.0).all() and (square[:, 4:] == 1.0).all()
