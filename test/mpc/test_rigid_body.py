"""The tail of a horizon: one rigid body with the robot's mass, its mechanics, its derivatives, and plans with it."""

import dataclasses
from functools import cache

import numpy as np
import pinocchio as pin
import pytest
from oracle import pinocchio_model

from contact_ddp_ros.base.config import replace
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.config import PlannerConfig, for_model
from contact_ddp_ros.mpc.horizon import horizon_grid
from contact_ddp_ros.mpc.planner import Planner
from contact_ddp_ros.mpc.reference import TrunkCommand
from contact_ddp_ros.mpc.single_rigid_body import base_of, lumped
from contact_ddp_ros.ocp.derivatives import check_derivatives
from contact_ddp_ros.ocp.protocol import node_data
from contact_ddp_ros.robot.ground import Payload
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.models.choice import model_of
from contact_ddp_ros.robot.rotation import quaternion_to_matrix, rpy_to_quaternion

ROBOT = load_robot()
MODELS = ("planar", "whole_body")
TAIL = {
    "gait.horizon_cycles": 2.0,
    "horizon.near": 0.25,
    "horizon.far_step": 0.05,
    "horizon.far_model": "rigid_body",
}


@cache
def built(name):
    """A planner with a tail, the grid of its first horizon and the problem on it."""
    config = replace(for_model(PlannerConfig(), name), TAIL)
    planner = Planner(model_of(name, ROBOT), config)
    grid = horizon_grid(planner.builder.sequence, 2.0, 0.033, config.horizon)
    problem, xs = planner.builder.build(grid, config, TrunkCommand(0.5))
    return planner, grid, problem, xs


def stepped(problem, data, k, x, u):
    """x⁺ and aux of a node."""
    x_next, aux = np.zeros(problem.n_x), np.zeros(problem.n_aux)
    problem.step(data, k, np.array(x), np.array(u), x_next, aux, np.zeros(problem.n_residuals))
    return x_next, aux


@pytest.mark.parametrize("name", MODELS)
def test_the_body_has_the_robots_mass_centre_and_inertia(name):
    tree = model_of(name, ROBOT).tree
    n_base = base_of(tree)
    q = np.zeros(tree.n)
    q[n_base:] = np.random.default_rng(3).uniform(-1.0, 1.0, tree.n - n_base)
    model = pinocchio_model(tree)
    data = model.createData()
    pin.ccrba(model, data, q, np.zeros(tree.n))
    body = lumped(tree, q)
    assert body.mass == pytest.approx(data.Ig.mass)
    assert body.com == pytest.approx(pin.centerOfMass(model, data, q), abs=1e-12)
    assert body.inertia == pytest.approx(data.Ig.inertia, abs=1e-12)


def test_a_body_with_a_payload_is_that_of_a_robot_that_weighs_more():
    tree, carried = model_of("whole_body", ROBOT).tree, Payload(2.0, 0.1, -0.05, 0.08)
    body, trunk = lumped(tree, np.zeros(tree.n)), base_of(tree) - 1
    joint = tree.joints[trunk]
    own = pin.Inertia(joint.mass, joint.com, joint.inertia) + pin.Inertia(2.0, carried.array()[1:], np.zeros((3, 3)))
    heavy = dataclasses.replace(joint, mass=own.mass, com=own.lever, inertia=own.inertia)
    joints = (*tree.joints[:trunk], heavy, *tree.joints[trunk + 1 :])
    expected = lumped(dataclasses.replace(tree, joints=joints), np.zeros(tree.n))
    assert body.carrying(carried).array() == pytest.approx(expected.array(), abs=1e-12)


def test_forces_change_momentum_as_newton_and_euler_say():
    planner, grid, problem, xs = built("whole_body")
    data, body = node_data(problem), planner.builder.tail.body
    rng, k, (n, _, n_f, _) = np.random.default_rng(5), grid.near, planner.builder.sizes
    while not planner.builder.stance_table()[grid.modes[k]].any():
        k += 1
    stance = np.repeat(planner.builder.stance_table()[grid.modes[k]], 3)
    x, u = xs[k] + 0.3 * rng.normal(size=2 * n), rng.normal(size=problem.n_u) * 40.0
    h, row = grid.durations[k], problem.node_parameters[k]
    rates = (stepped(problem, data, k, x, u)[0][n : n + 6] - x[n : n + 6]) / h

    def momentum(q, v):
        """(6,) of the body, about the world's origin, with its centre's place and axes from differences."""
        e = 1e-6

        def centre_and_axes(q):
            axes = quaternion_to_matrix(rpy_to_quaternion(q[5], q[4], q[3]))
            return q[:3] + axes @ body.com, axes

        (ahead, turned), (behind, turned_back), (place, axes) = map(centre_and_axes, (q + e * v, q - e * v, q))
        velocity, spin = (ahead - behind) / (2 * e), (turned - turned_back) / (2 * e) @ axes.T
        omega = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
        linear = body.mass * velocity
        return np.concatenate([linear, axes @ body.inertia @ axes.T @ omega + np.cross(place, linear)]), place

    q, v, e = x[:6], x[n : n + 6], 1e-4
    later, earlier = (momentum(q + s * v + 0.5 * s * s * rates, v + s * rates)[0] for s in (e, -e))
    forces = np.where(stance, u[: 3 * n_f], 0.0).reshape(-1, 3)
    feet, weight = row[planner.builder.layout.footholds].reshape(-1, 3), np.array([0.0, 0.0, -9.81 * body.mass])
    place = momentum(q, v)[1]
    moment = np.cross(feet, forces).sum(axis=0) + np.cross(place, weight)
    wanted = np.concatenate([forces.sum(axis=0) + weight, moment])
    assert (later - earlier) / (2 * e) == pytest.approx(wanted, rel=1e-4, abs=1e-3)


@pytest.mark.parametrize("name", MODELS)
def test_derivatives_are_those_of_differences(name):
    planner, grid, problem, xs = built(name)
    weight, _ = planner.builder.balancing_forces(grid, xs, np.zeros(grid.n_nodes, dtype=bool))
    rng, us = np.random.default_rng(1), np.zeros((grid.n_nodes, problem.n_u))
    us[grid.near :] = 0.7 * weight + rng.normal(size=weight.shape)
    xs = xs + 0.1 * rng.normal(size=xs.shape)
    nodes = range(grid.near, grid.n_nodes)
    assert len(set(grid.modes[nodes])) > 2
    report = check_derivatives(problem, xs, us, nodes=list(nodes), penalty=planner.builder.penalty(planner.config))
    assert report.ok, str(report)


@pytest.mark.parametrize("name", MODELS)
def test_the_tail_does_not_depend_on_the_joints(name):
    planner, grid, problem, xs = built(name)
    data, n, n_u = node_data(problem), planner.builder.tree.n, problem.n_u
    k = grid.near + 1
    assert problem.node_integers[k, at.NODE_KIND] == at.RIGID_BODY
    moved = xs[k].copy()
    moved[n - n_u : n] += 0.3
    moved[2 * n - n_u :] += 2.0
    one, other = (stepped(problem, data, k, x, np.full(n_u, 5.0))[0] for x in (xs[k], moved))
    trunk = np.r_[: n - n_u, n : 2 * n - n_u]
    assert (one[trunk] == other[trunk]).all() and not other[2 * n - n_u :].any()


@pytest.mark.parametrize("name", MODELS)
def test_plans_follow_each_other_and_only_the_whole_model_is_published(name):
    planner = Planner(model_of(name, ROBOT), replace(for_model(PlannerConfig(), name), TAIL))
    planner.reset(0.0)
    state = ROBOT.standing_state()
    result = planner.plan(state, 0.5, hold=True)
    assert result.status == "CONVERGED"
    x, time, costs = planner.model.state(state), state.time, []
    for _ in range(20):
        time += 0.01
        x = result.policy.sample(time).state
        result = planner.plan_coordinates(x, time, TrunkCommand(0.5))
        costs.append(result.cost)
        assert result.policy is not None
        assert result.policy.end - result.policy.start == pytest.approx(0.25, abs=2.0 * planner.config.gait.step)
    assert max(costs) < 20.0
    assert result.cost_terms().sum() == pytest.approx(result.cost)
