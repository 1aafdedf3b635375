"""The contact dynamics' linear algebra in C: against NumPy on random systems, and against Numba's on the real bound."""

from dataclasses import replace

import numba as nb
import numpy as np
import pytest

from contact_ddp_ros.base.compiled.call import call_kernel
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.contact_geometry import FUNCTIONS, algebra_of
from contact_ddp_ros.mpc.contact_motion import mode_block
from contact_ddp_ros.mpc.linear_system import factorise, solve_matrix, solve_symmetric_vector
from contact_ddp_ros.mpc.problem_builder import ProblemBuilder
from contact_ddp_ros.mpc.reference import TrunkCommand
from contact_ddp_ros.robot.gaits.grid import knot_grid
from test.mpc.support import MODEL, config_with
from test.ocp.sweep import Sweep

_TABLE = nb.types.Array(nb.int64, 1, "C")

SIZES = [(18, 12, 4, 2, 3), (18, 12, 4, 4, 3), (7, 4, 2, 1, 2), (7, 4, 2, 0, 2), (11, 8, 4, 1, 3)]
"""Joints, controls, legs, feet on the ground, axes of each."""


@nb.njit(nb.int64(nb.int64, _TABLE, _TABLE))
def _call(address, arguments, results):
    return call_kernel(address, arguments, results, 0, 0)


def _run(address: int, arguments: list[np.ndarray], results: list[np.ndarray]) -> None:
    assert all(one.flags.c_contiguous for one in (*arguments, *results))
    tables = [np.array([one.ctypes.data for one in arrays], dtype=np.int64) for arrays in (arguments, results)]
    assert _call(address, *tables) == 0


class System:
    """A random tree of legs on a trunk, of which some feet are on the ground; what belongs to two legs is zero."""

    def __init__(self, n: int, n_u: int, legs: int, feet: int, axes: int) -> None:
        rng = np.random.default_rng([n, feet])
        trunk = n - n_u
        self.n, self.n_u, self.n_c = n, n_u, feet * axes
        of_leg = np.repeat(np.arange(legs), n_u // legs)
        owner = np.concatenate([np.full(trunk, -1), of_leg, np.repeat(np.arange(feet), axes)])
        together = (owner[:, None] == owner) | (owner[:, None] < 0) | (owner < 0)
        root = rng.normal(size=(n, n))
        mass = np.where(together[:n, :n], root + root.T, 0.0) + 30.0 * np.eye(n)
        jacobian = np.where(together[n:, :n], rng.normal(size=(self.n_c, n)), 0.0)
        self.kkt = np.block([[mass, -jacobian.T], [-jacobian, np.zeros((self.n_c, self.n_c))]])
        self.s_nuq = np.where(together[:, :n], rng.normal(size=(n + self.n_c, n)), 0.0)
        self.actuated = np.arange(trunk, n)
        self.rng = rng
        self.functions = algebra_of(n, n_u, self.n_c)
        self.factor, self.nu = self.kkt.copy(), rng.normal(size=n + self.n_c)
        self.right = self.nu.copy()
        _run(self.functions["factorise"], [], [self.factor, self.nu])


@pytest.fixture(params=SIZES, ids=str)
def system(request: pytest.FixtureRequest) -> System:
    return System(*request.param)


def test_the_factor_solves(system: System) -> None:
    np.testing.assert_allclose(system.kkt @ system.nu, system.right, atol=1e-11)
    again = system.right.copy()
    _run(system.functions["solve"], [system.factor], [again])
    np.testing.assert_array_equal(again, system.nu)


@pytest.mark.parametrize("by_numba", [False, True])
@pytest.mark.parametrize("agreeing", [False, True])
@pytest.mark.parametrize("at", [3, 5])
def test_a_dependent_row_carries_no_force(at: int, agreeing: bool, by_numba: bool) -> None:
    """Of contacts of rank one less than their rows, whether that row demands what the others give or not."""
    system = System(18, 12, 4, 2, 3)
    n, n_s, row = system.n, system.n + system.n_c, system.n + at
    kkt, right = system.kkt.copy(), system.right.copy()
    mixture = system.rng.normal(size=at)
    kkt[row, :n] = mixture @ kkt[n:row, :n]
    kkt[:n, row] = kkt[row, :n]
    right[row] = mixture @ right[n:row] + (0.0 if agreeing else 1.0)
    others = np.delete(np.arange(n_s), row)
    columns = system.rng.normal(size=(2 * n, n_s))
    factor, nu, nu_z = kkt.copy(), right.copy(), np.zeros((n_s, 2 * n + system.n_u))
    if by_numba:
        factorise(factor, n)
        solve_symmetric_vector(factor, nu, n)
        nu_z[:, : 2 * n] = -columns.T
        solve_matrix(factor, nu_z, n)
    else:
        _run(system.functions["factorise"], [], [factor, nu])
        _run(system.functions["impact_partials"], [factor, columns, system.actuated], [nu_z])
    assert nu[row] == 0.0 and factor[row, row] == 0.0 and (nu_z[row] == 0.0).all()
    without = np.linalg.inv(kkt[np.ix_(others, others)])
    np.testing.assert_allclose(nu[others], without @ right[others], atol=1e-9)
    np.testing.assert_allclose(nu_z[others, : 2 * n], -without @ columns.T[others], atol=1e-9)
    assert (abs(kkt[row] @ nu - right[row]) < 1e-9) == agreeing


@pytest.mark.parametrize("impact", [False, True])
def test_partials(system: System, impact: bool) -> None:
    n, n_u, n_s = system.n, system.n_u, system.n + system.n_c
    columns = system.rng.normal(size=(2 * n, n_s))
    nu_z = np.full((n_s, 2 * n + n_u), np.nan)
    name = "impact_partials" if impact else "contact_partials"
    _run(system.functions[name], [system.factor, columns, system.actuated], [nu_z])
    selection = np.zeros((n_s, n_u))
    if not impact:
        selection[system.actuated, np.arange(n_u)] = 1.0
    np.testing.assert_allclose(system.kkt @ nu_z, np.hstack([-columns.T, selection]), atol=1e-11)


def test_curvature(system: System) -> None:
    n, n_u, rng = system.n, system.n_u, system.rng
    s_qq, s_vv, s_qv = (rng.normal(size=(n, n)) for _ in range(3))
    s_qq, s_vv = s_qq + s_qq.T, s_vv + s_vv.T
    nu_z = rng.normal(size=(n + system.n_c, 2 * n + n_u))
    hxx, hux = np.full((2 * n, 2 * n), np.nan), np.full((n_u, 2 * n), np.nan)
    _run(system.functions["curvature"], [s_qq, s_qv, s_vv, system.s_nuq, nu_z], [hxx, hux])
    through = system.s_nuq.T @ nu_z
    across = s_qv + through[:, n : 2 * n]
    expected = np.block([[s_qq + through[:, :n] + through[:, :n].T, across], [across.T, s_vv]])
    np.testing.assert_allclose(hxx, expected, atol=1e-12)
    np.testing.assert_allclose(hux, np.hstack([through[:, 2 * n :].T, np.zeros((n_u, n))]), atol=1e-12)


def test_small_systems_are_left_to_numba() -> None:
    assert algebra_of(3, 1, 2) == {}


@pytest.mark.parametrize("blend", [0.0, 1.0])
def test_the_bound_is_the_same_by_numba(blend: float) -> None:
    config = config_with()
    builder = ProblemBuilder(MODEL, config)
    grid = knot_grid(builder.schedule, 0, 90, config.gait.step)
    problem, xs = builder.build(grid, config, TrunkCommand(0.5))
    by_numba = problem.integers.copy()
    for mode in range(len(builder.schedule.modes)):
        block = mode_block(by_numba, mode)
        assert by_numba[block + at.FACTORISE] != 0
        by_numba[block + at.FACTORISE : block + at.FACTORISE + len(FUNCTIONS)] = 0
    found = []
    for integers in (problem.integers, by_numba):
        one = replace(problem, integers=integers)
        sweep = Sweep(one, xs[0], np.zeros((problem.n_nodes, problem.n_u)), penalty=builder.penalty(config))
        sweep.xs[:] = xs
        sweep.move(3, 0.0)
        assert sweep.backward(blend, 1e4)[0] == -1
        found.append((sweep.gains, sweep.vx, sweep.vxx))
    for ours, theirs in zip(*found, strict=True):
        for k in range(len(ours)):
            np.testing.assert_allclose(ours[k], theirs[k], rtol=0.0, atol=1e-10 * max(1e-9, np.abs(theirs[k]).max()))
