"""Contact and impact dynamics against pinocchio on random trees and states."""

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

from contact_ddp_ros.dynamics import partials
from contact_ddp_ros.dynamics.contact import contact_system
from contact_ddp_ros.dynamics.mechanism import prepare
from contact_ddp_ros.robot.tree import RigidBodyTree
from test.oracle import pinocchio_model, random_tree

Array = NDArray[np.float64]

SPATIAL = (0, 1, 2)
TOLERANCE = 1e-9


def close(found: Array, expected: Array) -> bool:
    """Relative to the largest entry."""
    return bool(np.abs(found - expected).max(initial=0.0) <= TOLERANCE * (1.0 + np.abs(expected).max(initial=0.0)))


def damping_of(tree: RigidBodyTree) -> Array:
    return np.array([joint.damping for joint in tree.joints])


@pytest.mark.parametrize("seed", range(12))
def test_mass_matrix_and_bias_match_pinocchio(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, int(rng.integers(1, 12)))
    system = partials.system("system", contact_system(prepare(tree), (), SPATIAL))
    model = pinocchio_model(tree)
    data = model.createData()
    q, v, a = rng.normal(size=(3, tree.n))
    mass, bias = (np.array(one) for one in system(q, v, np.zeros(3)))
    expected = pin.crba(model, data, q)
    assert close(mass, np.triu(expected) + np.triu(expected, 1).T)
    assert close(bias.ravel(), pin.nonLinearEffects(model, data, q, v) + damping_of(tree) * v)
    assert close(mass @ a + bias.ravel(), pin.rnea(model, data, q, v, a) + damping_of(tree) * v)
