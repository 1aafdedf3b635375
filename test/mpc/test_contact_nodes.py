"""Node functions of the contact problem: every derivative against finite differences of what it derives from."""

from itertools import product

import numpy as np
import pytest

from contact_ddp_ros.base.config import replace
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.config import PlannerConfig, for_model
from contact_ddp_ros.mpc.grounds import FootGrounds
from contact_ddp_ros.mpc.problem_builder import ProblemBuilder
from contact_ddp_ros.mpc.reference import TrunkCommand
from contact_ddp_ros.ocp.protocol import node_data
from contact_ddp_ros.robot.gaits.grid import knot_grid
from contact_ddp_ros.robot.ground import LocalGround
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.models.planar import PlanarModel

MODEL = PlanarModel(load_robot())
TREE = MODEL.tree
MULTIPLIER = 3.0


class Node:
    """One node of a horizon with everything its functions need."""

    def __init__(self, problem, k, penalty=(50.0, 0.05, 0.1)):
        self.problem, self.k = problem, k
        multipliers = np.full((problem.n_nodes + 1, problem.n_e), MULTIPLIER)
        self.data = node_data(problem, multipliers, penalty)
        self.aux = np.zeros(problem.n_aux)

    def step(self, x, u):
        x_next, residual = np.zeros(self.problem.n_x), np.zeros(self.problem.n_residuals)
        cost = self.problem.step(self.data, self.k, x, u, x_next, self.aux, residual)
        return x_next, cost

    def first(self, x, u):
        n_x, n_u = self.problem.n_x, self.problem.n_u
        d = (
            np.zeros((n_x, n_x)),
            np.zeros((n_x, n_u)),
            np.zeros(n_x),
            np.zeros(n_u),
            np.zeros((n_x, n_x)),
            np.zeros((n_u, n_x)),
            np.zeros((n_u, n_u)),
        )
        self.step(x, u)
        self.problem.first(self.data, self.k, x, u, self.aux, d)
        return d

    def second(self, x, u, vx):
        n_x, n_u = self.problem.n_x, self.problem.n_u
        hessian = (np.zeros((n_x, n_x)), np.zeros((n_u, n_x)), np.zeros((n_u, n_u)))
        self.first(x, u)
        self.problem.second(self.data, self.k, x, u, self.aux, vx, *hessian)
        return hessian


def problem_and_reference(integrator="semi_implicit_euler", variant="ddp"):
    config = replace(for_model(PlannerConfig(), MODEL.name), {"gait.integrator": integrator, "variant": variant})
    builder = ProblemBuilder(MODEL, config)
    grid = knot_grid(builder.schedule, 0, 90, config.gait.step)
    ground, front = LocalGround(0.02, 0.1), LocalGround(0.05, -0.15)
    feet = FootGrounds.named(builder.feet, ground, {"front_foot": front})
    return builder.build(grid, config, TrunkCommand(0.7), ground, feet)


def node_of_kind(problem, kind, mode):
    rows = np.flatnonzero(
        (problem.node_integers[:, at.NODE_KIND] == kind) & (problem.node_integers[:, at.NODE_MODE] == mode)
    )
    return int(rows[len(rows) // 2])


CASES = [(at.STEP, 0), (at.STEP, 1), (at.STEP, 2), (at.TOUCHDOWN, 1), (at.TOUCHDOWN, 3), (at.LIFT_OFF, 0)]


def sample(problem, xs, k, seed):
    rng = np.random.default_rng(seed)
    x = xs[k] + 0.05 * rng.standard_normal(problem.n_x)
    u = 5.0 * rng.standard_normal(problem.n_u)
    return x, u, 0.3 * rng.standard_normal(problem.n_x)


def central(function, z, step=1e-6):
    columns = []
    for i in range(len(z)):
        d = np.zeros(len(z))
        d[i] = step
        columns.append((function(z + d) - function(z - d)) / (2.0 * step))
    return np.stack(columns, axis=-1)


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "forward_euler", "implicit_midpoint"])
@pytest.mark.parametrize(("kind", "mode"), CASES)
def test_first_order_partials(kind, mode, integrator):
    problem, xs = problem_and_reference(integrator)
    node = Node(problem, node_of_kind(problem, kind, mode))
    x, u, _ = sample(problem, xs, node.k, 3)
    fx, fu, lx, lu, *_ = node.first(x, u)
    assert fx == pytest.approx(central(lambda z: node.step(z, u)[0], x), rel=1e-5, abs=1e-5)
    assert lx == pytest.approx(central(lambda z: node.step(z, u)[1], x), rel=1e-4, abs=1e-4)
    if kind == at.STEP:
        assert fu == pytest.approx(central(lambda z: node.step(x, z)[0], u), rel=1e-5, abs=1e-6)
        assert lu == pytest.approx(central(lambda z: node.step(x, z)[1], u), rel=1e-4, abs=1e-5)


@pytest.mark.parametrize(
    ("integrator", "variant"),
    [
        *product(["semi_implicit_euler", "forward_euler"], ["ddp", "ddp_tensor"]),
        ("implicit_midpoint", "ddp"),
    ],
)
@pytest.mark.parametrize(("kind", "mode"), CASES)
def test_second_order_is_the_hessian_of_cost_and_contracted_dynamics(kind, mode, integrator, variant):
    """Gauss-Newton Hessian + `second` = ∂²(ℓ + V'ₓ·f), as finite differences of the first order."""
    problem, xs = problem_and_reference(integrator, variant)
    node = Node(problem, node_of_kind(problem, kind, mode))
    x, u, vx = sample(problem, xs, node.k, 5)

    def gradient(z):
        fx, fu, lx, lu, *_ = node.first(z[: problem.n_x], z[problem.n_x :])
        return np.concatenate([lx + fx.T @ vx, lu + fu.T @ vx])

    n_x = problem.n_x
    expected = central(gradient, np.concatenate([x, u]))
    *_, lxx, lux, luu = node.first(x, u)
    hxx, hux, huu = node.second(x, u, vx)
    scale = np.abs(expected).max()
    assert lxx + hxx == pytest.approx(expected[:n_x, :n_x], rel=1e-4, abs=1e-6 * scale)
    assert lux + hux == pytest.approx(expected[n_x:, :n_x], rel=1e-4, abs=1e-6 * scale)
    assert luu + huu == pytest.approx(expected[n_x:, n_x:], rel=1e-4, abs=1e-6 * scale)
    if kind != at.LIFT_OFF:
        assert np.abs(hxx).max() > 1e-6, "no curvature at all would pass the comparison only by accident"


def test_variants_agree():
    problem, xs = problem_and_reference()
    tensor, _ = problem_and_reference(variant="ddp_tensor")
    for kind, mode in CASES:
        k = node_of_kind(problem, kind, mode)
        x, u, vx = sample(problem, xs, k, 7)
        ours = Node(problem, k).second(x, u, vx)
        theirs = Node(tensor, k).second(x, u, vx)
        for one, other in zip(ours, theirs, strict=True):
            assert one == pytest.approx(other, rel=1e-9, abs=1e-9)
