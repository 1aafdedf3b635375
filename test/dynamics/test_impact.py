"""The impact and its derivatives against pinocchio and numerical derivatives."""

import numpy as np
import pinocchio as pin
import pytest
from oracle import pinocchio_model

from contact_ddp_ros.dynamics import partials
from contact_ddp_ros.dynamics.contact import RESTITUTION, level_parameters

from .support import close, derivative, evaluate, make_case, residual

CASES = [
    *[("random", seed) for seed in range(2)],
    *[("aligned", seed) for seed in range(3)],
    *[("cardinal", seed) for seed in range(3)],
    ("planar", 0),
    ("whole", 0),
]


@pytest.mark.parametrize("restitution", [0.0, 0.4])
@pytest.mark.parametrize("kind", ["chain", "planar", "whole"])
def test_velocity_after_matches_pinocchio(kind: str, restitution: float) -> None:
    case = make_case(kind, 1, radius=0.0, n_contacts=1)
    q, v = case.draw(case.n), case.draw(case.n)
    case.p[RESTITUTION] = restitution
    kkt, bias = evaluate(partials.system("system", case.impact), q, v, case.p)
    nu = np.linalg.solve(kkt, -bias)
    jacobian = -kkt[case.n :, : case.n]
    model = pinocchio_model(case.tree)
    data = model.createData()
    after = pin.impulseDynamics(model, data, q, v, jacobian, restitution)
    assert close(nu, np.concatenate([after, data.impulse_c]))


@pytest.mark.parametrize(("kind", "seed"), CASES)
def test_impact_shares_the_matrix_of_the_contact_dynamics(kind: str, seed: int) -> None:
    case = make_case(kind, seed)
    q, v = case.draw(case.n), case.draw(case.n)
    impact, bias = evaluate(partials.system("impact", case.impact), q, v, case.p)
    contact, _ = evaluate(partials.system("contact", case.contact), q, v, case.p)
    n, jacobian = case.n, -contact[case.n :, : case.n]
    assert close(impact, contact, 1e-13)
    assert close(bias, -np.concatenate([contact[:n, :n] @ v, case.p[RESTITUTION] * jacobian @ v]))


@pytest.mark.parametrize(("kind", "seed"), CASES)
def test_first_order_matches_numerical_derivatives(kind: str, seed: int) -> None:
    case = make_case(kind, seed)
    q, v, nu = case.draw(case.n), case.draw(case.n), case.draw(case.n + case.n_c)
    r_q, r_v = evaluate(partials.first("first", case.impact), q, v, nu, case.p)
    value = residual(case.impact)
    assert close(r_q, derivative(lambda at: value(at, v, nu, case.p), q))
    assert close(r_v, derivative(lambda at: value(q, at, nu, case.p), v))


def test_a_sphere_that_lands_keeps_rolling() -> None:
    """After an inelastic impact the lowest point of every landed foot is at rest."""
    case = make_case("planar", 2)
    q, v = case.draw(case.n), case.draw(case.n)
    kkt, bias = evaluate(partials.system("system", case.impact), q, v, level_parameters(len(case.tree.contacts)))
    after = np.linalg.solve(kkt, -bias)[: case.n]
    assert np.abs(kkt[case.n :, : case.n] @ after).max() < 1e-10
