"""Contact dynamics, first order included, against pinocchio and numerical derivatives."""

import casadi as cs
import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray
from oracle import pinocchio_model

from contact_ddp_ros.base.errors import ModelError
from contact_ddp_ros.dynamics import partials
from contact_ddp_ros.dynamics.contact import (
    ALPHA,
    GROUND_SIZE,
    GROUNDS,
    UP,
    contact_system,
    level_parameters,
)
from contact_ddp_ros.dynamics.mechanism import prepare
from contact_ddp_ros.robot.tree import Joint, RigidBodyTree

from .support import SPATIAL, Case, close, derivative, evaluate, make_case, residual

Array = NDArray[np.float64]

CASES = [
    *[("random", seed) for seed in range(2)],
    *[("aligned", seed) for seed in range(4)],
    *[("cardinal", seed) for seed in range(4)],
    ("planar", 0),
    ("whole", 0),
]


class Oracle:
    """Pinocchio at one state: quantities of the contact points, as spheres that roll."""

    def __init__(self, case: Case, q: Array, v: Array, a: Array) -> None:
        self.case, self.model = case, pinocchio_model(case.tree)
        self.data = self.model.createData()
        pin.forwardKinematics(self.model, self.data, q, v, a)
        pin.computeJointJacobians(self.model, self.data, q)
        pin.updateFramePlacements(self.model, self.data)

    def frames(self) -> list[tuple[int, Array]]:
        """Of each contact its frame and the lever from centre to lowest point."""
        return [
            (self.model.getFrameId(name), np.array([0.0, 0.0, -self.case.tree.contact(name).radius]))
            for name in self.case.contacts
        ]

    def jacobian(self) -> Array:
        rows = []
        for frame, lever in self.frames():
            full = pin.getFrameJacobian(self.model, self.data, frame, pin.LOCAL_WORLD_ALIGNED)
            rows.append((full[:3] - pin.skew(lever) @ full[3:])[list(self.case.axes)])
        return np.vstack(rows) if rows else np.zeros((0, self.case.n))

    def acceleration(self) -> Array:
        rows = []
        for frame, lever in self.frames():
            found = pin.getFrameClassicalAcceleration(self.model, self.data, frame, pin.LOCAL_WORLD_ALIGNED)
            rows.append((found.linear + np.cross(found.angular, lever))[list(self.case.axes)])
        return np.concatenate(rows) if rows else np.zeros(0)

    def heights(self) -> Array:
        """phi of every foot above its own ground, along up, row by row."""
        axes, p = list(self.case.axes), self.case.p
        order = [point.name for point in self.case.tree.contacts]
        planes = p[GROUNDS:].reshape(len(order), GROUND_SIZE)
        phi = []
        for name, (frame, lever) in zip(self.case.contacts, self.frames(), strict=True):
            lowest, (d, *m) = (self.data.oMf[frame].translation + lever)[axes], planes[order.index(name)]
            phi.append((np.array(m)[axes] @ lowest - d) * p[UP : UP + 3][axes])
        return np.concatenate(phi)


@pytest.mark.parametrize(("kind", "seed"), CASES)
def test_residual_matches_pinocchio(kind: str, seed: int) -> None:
    case = make_case(kind, seed)
    q, v, a, lam = case.draw(case.n), case.draw(case.n), case.draw(case.n), case.draw(case.n_c)
    oracle = Oracle(case, q, v, a)
    alpha = case.p[ALPHA]
    jacobian = oracle.jacobian()
    torque = pin.rnea(oracle.model, oracle.model.createData(), q, v, a) + case.damping * v - jacobian.T @ lam
    constraint = oracle.acceleration() + 2 * alpha * jacobian @ v + alpha**2 * oracle.heights()
    found = residual(case.contact)(q, v, np.concatenate([a, lam]), case.p)
    assert close(found, np.concatenate([torque, -constraint]))


@pytest.mark.parametrize(("kind", "seed"), CASES)
def test_kkt_matrix_is_made_of_inertia_and_jacobian(kind: str, seed: int) -> None:
    case = make_case(kind, seed)
    q, v = case.draw(case.n), case.draw(case.n)
    kkt, _ = evaluate(partials.system("system", case.contact), q, v, case.p)
    oracle = Oracle(case, q, v, v)
    mass = pin.crba(oracle.model, oracle.model.createData(), q)
    mass = np.triu(mass) + np.triu(mass, 1).T
    jacobian = oracle.jacobian()
    assert np.array_equal(kkt, kkt.T)
    assert close(kkt, np.block([[mass, -jacobian.T], [-jacobian, np.zeros((case.n_c, case.n_c))]]))


@pytest.mark.parametrize(("kind", "seed"), [("chain", 0), ("chain", 1), ("planar", 0), ("whole", 0)])
def test_solution_matches_constrained_forward_dynamics(kind: str, seed: int) -> None:
    case = make_case(kind, seed, radius=0.0, n_contacts=1)
    q, v, tau = case.draw(case.n), case.draw(case.n), case.draw(case.n)
    kkt, bias = evaluate(partials.system("system", case.contact), q, v, level_parameters(len(case.tree.contacts)))
    nu = np.linalg.solve(kkt, np.concatenate([tau, np.zeros(case.n_c)]) - bias)
    oracle = Oracle(case, q, v, np.zeros(case.n))
    data = oracle.model.createData()
    pin.computeAllTerms(oracle.model, data, q, v)
    expected = pin.forwardDynamics(
        oracle.model, data, q, v, tau - case.damping * v, oracle.jacobian(), oracle.acceleration()
    )
    assert close(nu, np.concatenate([expected, data.lambda_c]))


def test_without_contacts_it_is_unconstrained_forward_dynamics() -> None:
    case = make_case("whole", 3, n_contacts=1)
    free = Case(case.tree, (), case.axes, case.rng, case.p)
    q, v, tau = free.draw(free.n), free.draw(free.n), free.draw(free.n)
    kkt, bias = evaluate(partials.system("system", free.contact), q, v, free.p)
    model = pinocchio_model(free.tree)
    expected = pin.aba(model, model.createData(), q, v, tau - free.damping * v)
    assert close(np.linalg.solve(kkt, tau - bias), expected)


@pytest.mark.parametrize(("kind", "seed"), CASES)
def test_the_scalar_of_mrneac_is_linear_in_the_multipliers(kind: str, seed: int) -> None:
    """s = xi' r, r being its gradient by xi."""
    case = make_case(kind, seed)
    x = case.contact.symbols()
    gradient = cs.gradient(case.contact.scalar(x), x.xi)
    function = cs.Function("both", x.inputs(), [gradient, case.contact.scalar(x)])
    arguments = [case.draw(one.numel()) for one in x.inputs()]
    residual, s = evaluate(function, *arguments)
    assert close(s, np.atleast_1d(residual @ arguments[3]), 1e-11)


@pytest.mark.parametrize(("kind", "seed"), CASES)
def test_first_order_matches_numerical_derivatives(kind: str, seed: int) -> None:
    case = make_case(kind, seed)
    q, v, nu = case.draw(case.n), case.draw(case.n), case.draw(case.n + case.n_c)
    r_q, r_v = evaluate(partials.first("first", case.contact), q, v, nu, case.p)
    value = residual(case.contact)
    assert close(r_q, derivative(lambda at: value(at, v, nu, case.p), q))
    assert close(r_v, derivative(lambda at: value(q, at, nu, case.p), v))


@pytest.mark.parametrize("kind", ["random", "aligned", "cardinal", "planar", "whole"])
def test_first_order_matches_pinocchio_derivatives(kind: str) -> None:
    case = make_case(kind, 5)
    free = Case(case.tree, (), case.axes, case.rng, case.p)
    q, v, a = free.draw(free.n), free.draw(free.n), free.draw(free.n)
    r_q, r_v = evaluate(partials.first("first", free.contact), q, v, a, free.p)
    model = pinocchio_model(free.tree)
    data = model.createData()  # owns what the derivatives are views of
    by_q, by_v, _ = pin.computeRNEADerivatives(model, data, q, v, a)
    assert close(r_q, by_q)
    assert close(r_v, by_v + np.diag(free.damping))


@pytest.mark.parametrize("kind", ["random", "planar", "whole"])
def test_constraint_is_the_second_derivative_of_rolling(kind: str) -> None:
    """A foot of radius r whose contact point keeps zero velocity rolls; a_c is the time derivative of J v."""
    case = make_case(kind, 7, radius=0.05)
    q, v, a = case.draw(case.n), 0.5 * case.draw(case.n), 0.5 * case.draw(case.n)
    system = partials.system("system", case.contact)
    undamped = level_parameters(len(case.tree.contacts))

    def contact_velocity(time: Array) -> Array:
        at = q + v * time + 0.5 * a * time**2
        kkt, _ = evaluate(system, at, v, undamped)
        return -kkt[case.n :, : case.n] @ (v + a * time)

    found = residual(case.contact)(q, v, np.concatenate([a, np.zeros(case.n_c)]), undamped)[case.n :]
    assert close(-found, derivative(contact_velocity, np.zeros(1))[:, 0])


def test_unknown_contact_is_named() -> None:
    case = make_case("planar", 0)
    with pytest.raises(ModelError, match="no contact point 'hand'"):
        prepare(case.tree).select(("hand",))


@pytest.mark.parametrize("joint", [0, 1])
def test_a_single_joint_is_a_tree_too(joint: int) -> None:
    """A pendulum and a weight on a slide: n = 1, with nothing on the ground."""
    kind, mass, gravity = ("revolute", "prismatic")[joint], 2.0, 9.81
    axis, com = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])[joint], np.array([0.0, 0.0, -0.5])
    tree = RigidBodyTree("one", (Joint("one", kind, axis, -1, mass=mass, com=com, inertia=0.1 * np.eye(3)),))
    of = contact_system(prepare(tree), (), SPATIAL)
    at, p = np.array([0.3]), level_parameters(0)
    kkt, bias = evaluate(partials.system("system", of), at, np.zeros(1), p)
    expected = (0.1 + mass * 0.25, mass * gravity * 0.5 * np.sin(0.3)) if joint == 0 else (mass, mass * gravity)
    assert (kkt.item(), bias.item()) == pytest.approx(expected)
    r_q, _ = evaluate(partials.first("first", of), at, np.zeros(1), np.zeros(1), p)
    assert r_q.item() == pytest.approx(mass * gravity * 0.5 * np.cos(0.3) if joint == 0 else 0.0)
    s_qq, *_ = evaluate(partials.second("second", of), at, np.zeros(1), np.zeros(1), np.ones(1), p)
    assert s_qq.item() == pytest.approx(-mass * gravity * 0.5 * np.sin(0.3) if joint == 0 else 0.0)
