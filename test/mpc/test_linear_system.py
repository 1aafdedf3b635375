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
    factorise(factors, n)
    solve_matrix(factors, by_columns, n)
    solve_vector(factors, by_vector, n)
    solve_symmetric_vector(factors, by_symmetry, n)
    np.testing.assert_allclose(kkt @ by_columns, right, atol=1e-9)
    np.testing.assert_allclose(by_vector, by_columns[:, 0], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(by_symmetry, by_columns[:, 0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("size", "n"), [(n + n_c, n) for n in range(2, 11) for n_c in (0, 3)])
def test_a_system_that_is_not_symmetric_is_solved_and_its_transpose(size: int, n: int) -> None:
    rng = np.random.default_rng(n)
    matrix, right = np.eye(size) + 0.1 * rng.normal(size=(size, size)), rng.normal(size=(size, 3))
    factors, columns, vector, transposed = matrix.copy(), right.copy(), right[:, 0].copy(), right[:, 0].copy()
    factorise(factors, n)
    solve_matrix(factors, columns, n)
    solve_vector(factors, vector, n)
    solve_transposed_vector(factors, transposed, n)
    np.testing.assert_allclose(columns, np.linalg.solve(matrix, right), rtol=1e-9)
    np.testing.assert_allclose(vector, columns[:, 0], rtol=1e-9)
    np.testing.assert_allclose(transposed, np.linalg.solve(matrix.T, right[:, 0]), rtol=1e-9)


def test_branches_stay_apart_until_the_trunk() -> None:
    """Four legs on a trunk and contacts of two of them: no entry between two legs is filled."""
    rng = np.random.default_rng(4)
    n, legs, contacts = 18, [range(6 + 3 * leg, 9 + 3 * leg) for leg in range(4)], [0, 2]
    root = rng.normal(size=(n, n))
    apart = np.ones((n, n), dtype=bool)
    for one in legs:
        for other in legs:
            if one is not other:
                apart[np.ix_(one, other)] = False
    mass = np.where(apart, root @ root.T, 0.0) + 40.0 * np.eye(n)
    jacobian = np.zeros((6, n))
    for row, leg in enumerate(contacts):
        jacobian[3 * row : 3 * row + 3, [*range(6), *legs[leg]]] = rng.normal(size=(3, 9))
    kkt = np.block([[mass, -jacobian.T], [-jacobian, np.zeros((6, 6))]])
    right = rng.normal(size=(24, 48))
    factors, found = kkt.copy(), right.copy()
    factorise(factors, n)
    solve_matrix(factors, found, n)
    np.testing.assert_allclose(kkt @ found, right, atol=1e-9)
    assert not factors[:n, :n][~apart].any()
