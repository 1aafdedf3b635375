"""The planar tree for pinocchio: both bases are the same robot."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from benchmarks.peers.pinocchio_tree import ROOT_JOINT, natural_state, pinocchio_model
from contact_ddp_ros.base.errors import ModelError
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.models.planar import reduce_to_plane

TREE = reduce_to_plane(load_robot())
STATE = np.array([0.4, 0.3, 0.2, -0.7, 1.5, -0.9, 1.4, 0.6, -0.3, 1.1, 2.0, -1.0, 0.5, -2.0])


def test_chain_has_the_coordinates_of_the_tree() -> None:
    model = pinocchio_model(TREE, "chain")
    assert (model.nq, model.nv) == (TREE.n, TREE.n)
    assert list(model.names)[1:] == [joint.name for joint in TREE.joints]
    assert not any("Unaligned" in joint.shortname() for joint in model.joints)


def test_bases_agree_on_feet_and_energy() -> None:
    n = TREE.n
    chain, planar = pinocchio_model(TREE, "chain"), pinocchio_model(TREE, "natural")
    assert planar.existJointName(ROOT_JOINT)
    q, v = STATE[:n], STATE[n:]
    x = natural_state(TREE, STATE)
    results = []
    for model, position, velocity in ((chain, q, v), (planar, x[: n + 1], x[n + 1 :])):
        data = model.createData()
        pin.forwardKinematics(model, data, position, velocity)
        pin.updateFramePlacements(model, data)
        feet = []
        for point in TREE.contacts:
            frame = model.getFrameId(point.name)
            feet += [data.oMf[frame].translation.copy()]
            feet += [pin.getFrameVelocity(model, data, frame, pin.LOCAL_WORLD_ALIGNED).linear.copy()]
        energy = (
            pin.computeKineticEnergy(model, data, position, velocity),
            pin.computePotentialEnergy(model, data, position),
        )
        results.append((np.array(feet), np.array(energy)))
    np.testing.assert_allclose(results[0][0], results[1][0], atol=1e-12)
    np.testing.assert_allclose(results[0][1], results[1][1], rtol=1e-12)


def test_another_base_is_refused() -> None:
    joints = (replace(TREE.joints[0], name="base_y"), *TREE.joints[1:])
    with pytest.raises(ModelError, match="base"):
        pinocchio_model(replace(TREE, joints=joints))
