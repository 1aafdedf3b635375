"""Factors and solutions of contact KKT systems of every size around the unrolled loops."""

import numpy as np
import pytest

from contact_ddp_ros.mpc.linear_system import (
    factorise,
    solve_matrix,
    solve_symmetric_vector,
    solve_transposed_vector,
    solve_vector,
)


@pytest.mark.parametrize("n_c", [0, 2])
@pytest.mark.parametrize("n", range(2, 11))
def test_a_factorised_system_solves_vectors_and_matrices(n: int, n_c: int) -> None:
    rng = np.random.default_rng([n, n_c])
    root, jacobian = rng.normal(size=(n, n)), rng.normal(size=(n_c, n))
    kkt = np.block([[root @ root.T + np.eye(n), -jacobian.T], [-jacobian, np.zeros((n_c, n_c))]])
    right = rng.normal(size=(n + n_c, 5))
    factors, by_columns, by_vector, by_symmetry = kkt.copy(), right.copy(), right[:, 0].copy(), right[:, 0].copy()
    factorise(factors)
    solve_matrix(factors, by_columns)
    solve_vector(factors, by_vector)
    solve_symmetric_vector(factors, by_symmetry)
    np.testing.assert_allclose(kkt @ by_columns, right, atol=1e-9)
    np.testing.assert_allclose(by_vector, by_columns[:, 0], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(by_symmetry, by_columns[:, 0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n", range(2, 11))
def test_a_system_that_is_not_symmetric_is_solved_and_its_transpose(n: int) -> None:
    rng = np.random.default_rng(n)
    matrix, right = np.eye(n) + 0.1 * rng.normal(size=(n, n)), rng.normal(size=(n, 3))
    factors, columns, vector, transposed = matrix.copy(), right.copy(), right[:, 0].copy(), right[:, 0].copy()
    factorise(factors)
    solve_matrix(factors, columns)
    solve_vector(factors, vector)
    solve_transposed_vector(factors, transposed)
    np.testing.assert_allclose(columns, np.linalg.solve(matrix, right), rtol=1e-9)
    np.testing.assert_allclose(vector, columns[:, 0], rtol=1e-9)
    np.testing.assert_allclose(transposed, np.linalg.solve(matrix.T, right[:, 0]), rtol=1e-9)
