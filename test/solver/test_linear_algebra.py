"""Dense products against NumPy, with inner dimensions of every remainder."""

import numpy as np
import pytest

from contact_ddp_ros.solver.linear_algebra import add_congruence, add_transpose_multiply, multiply


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
def test_congruence_leaves_out_the_upper_right_block(inner: int) -> None:
    rng = np.random.default_rng(inner)
    f, root = rng.normal(size=(inner, 6)), rng.normal(size=(inner, inner))
    vf = (root + root.T) @ f
    leading, out = 4, np.ones((6, 6))
    add_congruence(f, vf, leading, out)
    expected = 1.0 + f.T @ vf
    np.testing.assert_allclose(out[:, :leading], expected[:, :leading])
    np.testing.assert_allclose(out[leading:], expected[leading:])
    assert (out[:leading, leading:] == 1.0).all()
