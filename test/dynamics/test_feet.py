"""Positions of the feet and their derivatives."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from oracle import pinocchio_model

from contact_ddp_ros.dynamics import partials
from contact_ddp_ros.dynamics.mechanism import prepare

from .support import close, derivative, evaluate, make_case


@pytest.mark.parametrize("axes", [None, (2,)])
@pytest.mark.parametrize(
    ("kind", "seed"), [("random", 0), ("random", 1), ("aligned", 0), ("cardinal", 0), ("planar", 0), ("whole", 0)]
)
def test_feet_match_pinocchio_and_numerical_derivatives(kind: str, seed: int, axes: tuple[int, ...] | None) -> None:
    case = make_case(kind, seed, radius=0.02)
    case = replace(case, axes=axes or case.axes)
    mechanism = prepare(case.tree)
    feet = partials.feet("feet", mechanism, case.axes)
    second = partials.feet_second("feet_second", mechanism, case.axes)
    q = case.draw(case.n)
    positions, jacobian = evaluate(feet, q, case.p)
    model = pinocchio_model(case.tree)
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    expected = [
        (data.oMf[model.getFrameId(point.name)].translation - [0.0, 0.0, point.radius])[list(case.axes)]
        for point in case.tree.contacts
    ]
    assert close(positions, np.concatenate(expected))
    assert close(jacobian, derivative(lambda at: evaluate(feet, at, case.p)[0], q))
    weights = case.draw(positions.size)
    (hessian,) = evaluate(second, q, weights, jacobian.T)
    assert close(hessian, derivative(lambda at: weights @ evaluate(feet, at, case.p)[1], q))
