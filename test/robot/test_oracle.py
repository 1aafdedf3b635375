"""The oracle itself: the tree that pinocchio holds is the tree that was given."""

import numpy as np
import pinocchio as pin
import pytest
from oracle import pinocchio_model, random_tree


@pytest.mark.parametrize("seed", range(8))
def test_pinocchio_agrees_with_itself_on_random_trees(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, n=7, n_contacts=2)
    model = pinocchio_model(tree)
    data = model.createData()
    q, v, acceleration = rng.normal(size=(3, tree.n))
    torque = pin.rnea(model, data, q, v, acceleration)
    mass_matrix = pin.crba(model, data, q)
    mass_matrix = np.triu(mass_matrix) + np.triu(mass_matrix, 1).T
    bias = pin.rnea(model, data, q, v, np.zeros(tree.n))
    assert np.allclose(mass_matrix @ acceleration + bias, torque, rtol=1e-9, atol=1e-9)
    assert np.allclose(pin.aba(model, data, q, v, torque), acceleration, rtol=1e-8, atol=1e-8)
    assert pin.computeTotalMass(model) == pytest.approx(tree.mass)
    assert all(model.existFrame(point.name) for point in tree.contacts)


def test_first_joint_placement_and_axis() -> None:
    tree = random_tree(np.random.default_rng(3), n=1, n_contacts=1)
    joint, point = tree.joints[0], tree.contacts[0]
    model = pinocchio_model(tree)
    data = model.createData()
    pin.framesForwardKinematics(model, data, np.array([0.4]))
    frame = data.oMf[model.getFrameId(point.name)]
    if joint.kind == "revolute":
        moved = pin.AngleAxis(0.4, joint.axis).matrix() @ point.position
    else:
        moved = point.position + 0.4 * joint.axis
    assert np.allclose(frame.translation, joint.translation + joint.rotation @ moved)
