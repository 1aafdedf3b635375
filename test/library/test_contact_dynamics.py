"""Contact dynamics of a URDF against pinocchio's equations of motion, and partials against finite differences."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from arm import arm
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ModelError, ParameterError
from contact_ddp_ros.dynamics import partials
from contact_ddp_ros.dynamics.contact import level_parameters
from contact_ddp_ros.dynamics.kernels import build_kernels
from contact_ddp_ros.dynamics.mechanism import prepare
from contact_ddp_ros.mpc.contact_dynamics import ContactDynamics
from contact_ddp_ros.robot.ground import Ground
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.models.planar import reduce_to_plane
from contact_ddp_ros.robot.tree import ContactPoint, Joint, RigidBodyTree
from test.dynamics.support import derivative

Array = NDArray[np.float64]

Q, V = np.array([0.3, 0.1, -0.5]), np.array([0.4, -0.2, 0.9])


DAMPING = 0.3
"""Viscous friction of the arm's last joint, which pinocchio does not act on [N m s/rad]."""


def loaded(folder: Path, contacts: tuple[str, ...] = (), axes: tuple[int, ...] = (2,)):
    path = folder / "arm.urdf"
    path.write_text(arm(DAMPING), encoding="utf-8")
    return ContactDynamics.from_urdf(path, contacts, axes)


def test_motion_and_forces_satisfy_pinocchios_equations(tmp_path: Path) -> None:
    dynamics = loaded(tmp_path, ("tip",), (0, 2))
    tau = np.array([2.0, -3.0])
    motion = dynamics.motion(Q, V, tau)
    model = pin.buildModelFromXML(arm())
    data, q = model.createData(), np.array([np.cos(Q[0]), np.sin(Q[0]), *Q[1:]])
    required = pin.rnea(model, data, q, V, motion.accelerations)
    # the armature, an attribute that pinocchio does not read
    required[2] += 0.01 * motion.accelerations[2] + DAMPING * V[2]
    tip = model.getFrameId("tip")
    pin.forwardKinematics(model, data, q, V, motion.accelerations)
    jacobian = pin.computeFrameJacobian(model, data, q, tip, pin.LOCAL_WORLD_ALIGNED)[[0, 2]]
    assert required == pytest.approx(np.append(tau, 0.0) + jacobian.T @ motion.forces[0], abs=1e-10)
    acceleration = pin.getFrameClassicalAcceleration(model, data, tip, pin.LOCAL_WORLD_ALIGNED).linear
    assert acceleration[[0, 2]] == pytest.approx([0.0, 0.0], abs=1e-10)
    assert np.abs(motion.forces).min() > 0.1


def test_without_contacts_it_falls_freely(tmp_path: Path) -> None:
    dynamics = loaded(tmp_path)
    motion = dynamics.motion(Q, V, np.zeros(2))
    model = pin.buildModelFromXML(arm())
    model.armature[2] = 0.01
    friction = np.array([0.0, 0.0, -DAMPING * V[2]])
    expected = pin.aba(model, model.createData(), np.array([np.cos(Q[0]), np.sin(Q[0]), *Q[1:]]), V, friction)
    assert motion.accelerations == pytest.approx(expected, abs=1e-10)
    assert motion.forces.shape == (0, 1)


@pytest.mark.parametrize(("contacts", "axes"), [((), (2,)), (("tip",), (2,)), (("tip",), (0, 2))])
def test_partials_are_those_of_finite_differences(tmp_path: Path, contacts, axes) -> None:
    check(loaded(tmp_path, contacts, axes), Q, V)


def test_partials_of_the_planar_robot_in_stance() -> None:
    """The same numbers as the planner's, whose kernels these are."""
    tree = reduce_to_plane(load_robot())
    dynamics = ContactDynamics(tree, ("back_foot",), (0, 2), baumgarte_rate=3.0)
    rng = np.random.default_rng(5)
    check(dynamics, rng.uniform(-0.6, 0.6, tree.n), rng.normal(size=tree.n))


def check(dynamics: ContactDynamics, q: Array, v: Array) -> None:
    rng = np.random.default_rng(6)
    tau, gamma = rng.normal(size=dynamics.n_u), rng.normal(size=dynamics.n + dynamics.n_c)
    first, second = dynamics.first_order(q, v, tau), dynamics.second_order(q, v, tau, gamma)
    motion = dynamics.motion(q, v, tau)
    assert np.array_equal(first.nu, np.append(motion.accelerations, motion.forces))

    def at(q: Array = q, v: Array = v, tau: Array = tau):
        return dynamics.first_order(q, v, tau)

    for found, expected in (
        (first.by_q, derivative(lambda z: at(q=z).nu, q)),
        (first.by_v, derivative(lambda z: at(v=z).nu, v)),
        (first.by_tau, derivative(lambda z: at(tau=z).nu, tau)),
        (second.qq, derivative(lambda z: gamma @ at(q=z).by_q, q)),
        (second.vq, derivative(lambda z: gamma @ at(q=z).by_v, q)),
        (second.vv, derivative(lambda z: gamma @ at(v=z).by_v, v)),
        (second.tau_q, derivative(lambda z: gamma @ at(q=z).by_tau, q)),
    ):
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-6 * (1.0 + np.abs(expected).max()))
    assert np.abs(second.qq).max() > 0.1


def test_results_are_ones_own(tmp_path: Path) -> None:
    """A later call does not change what an earlier one gave."""
    dynamics = loaded(tmp_path, ("tip",))
    first = dynamics.first_order(Q, V, np.zeros(2))
    kept = [one.copy() for one in (first.nu, first.by_q, first.by_v, first.by_tau)]
    dynamics.second_order(Q + 0.3, V, np.ones(2), np.ones(4))
    for before, now in zip(kept, (first.nu, first.by_q, first.by_v, first.by_tau)):
        assert np.array_equal(before, now)


def test_what_does_not_fit_is_named(tmp_path: Path) -> None:
    dynamics = loaded(tmp_path, ("tip",))
    with pytest.raises(ParameterError, match=r"q has shape \(2,\); needed: \(3,\)"):
        dynamics.motion(Q[:2], V, np.zeros(2))
    with pytest.raises(ParameterError, match=r"v holds a number that is not finite.*v\[1\]"):
        dynamics.motion(Q, [0.0, np.nan, 0.0], np.zeros(2))
    with pytest.raises(ParameterError, match=r"gamma has shape \(3,\); needed: \(4,\)"):
        dynamics.second_order(Q, V, np.zeros(2), np.zeros(3))
    with pytest.raises(ModelError, match="hold 3 directions of motion with 6 forces"):
        ContactDynamics(dynamics.tree, ("tip", "tip"))
    with pytest.raises(ModelError, match="contact points are \\['tip'\\]"):
        ContactDynamics(dynamics.tree, ("foot",))


def test_a_singular_state_is_named() -> None:
    massless = RigidBodyTree("ghost", (Joint("hinge", "revolute", np.array([0.0, 1.0, 0.0]), -1, effort_limit=1.0),))
    with pytest.raises(ModelError, match="the dynamics of 'ghost' are singular"):
        ContactDynamics(massless).motion([0.1], [0.0], [1.0])


def straight_leg() -> RigidBodyTree:
    """Hip and knee that turn about y, on a base that stays; stretched out at zero, a foot at its end."""
    down, across = np.array([0.0, 0.0, -0.2]), np.array([0.0, 1.0, 0.0])
    body = {"mass": 0.5, "com": 0.5 * down, "inertia": 2e-3 * np.eye(3), "effort_limit": 10.0}
    hip = Joint("hip", "revolute", across, -1, **body)
    knee = Joint("knee", "revolute", across, 0, translation=down, **body)
    return RigidBodyTree("leg", (hip, knee), (ContactPoint("foot", 1, down),))


def test_a_stretched_leg_holds_what_it_can() -> None:
    """Its foot cannot move along the leg: that row is left out, and nothing is infinite."""
    dynamics, rate = ContactDynamics(straight_leg(), axes=(0, 2), baumgarte_rate=10.0, ground_height=-0.39), 10.0
    q, v, tau = [0.0, 0.0], [0.3, -0.2], [1.0, -2.0]
    straight = dynamics.motion(q, v, tau)
    assert straight.dependent == ("foot",)
    assert straight.forces[0, 1] == 0.0 and abs(straight.forces[0, 0]) > 0.1
    reach = np.array([-0.4, -0.2])
    assert reach @ straight.accelerations == pytest.approx(-2.0 * rate * reach @ v, abs=1e-9), "the other row holds"
    first, second = dynamics.first_order(q, v, tau), dynamics.second_order(q, v, tau, np.ones(4))
    blocks = (first.by_q, first.by_v, first.by_tau, second.qq, second.vq, second.vv, second.tau_q)
    assert all(np.isfinite(one).all() for one in blocks)
    assert dynamics.motion([0.1, -0.2], v, tau).dependent == ()


def test_feet_on_unlike_grounds() -> None:
    """Stabilisation moves each foot towards its own ground, as far as that lies from the other's."""
    tree, rate = reduce_to_plane(load_robot()), 20.0
    level = ContactDynamics(tree, axes=(0, 2), baumgarte_rate=rate, ground_height=0.05)
    own = Ground(height=-0.02, slope_x=0.3)
    unlike = ContactDynamics(tree, axes=(0, 2), baumgarte_rate=rate, ground_height=0.05, grounds={"front_foot": own})
    rng = np.random.default_rng(2)
    q, v, tau = rng.uniform(-0.4, 0.4, 7), rng.normal(size=7), rng.normal(size=4)
    difference = unlike.motion(q, v, tau).accelerations - level.motion(q, v, tau).accelerations
    feet = partials.feet("feet", prepare(tree), (0, 2))
    positions, jacobian = (np.array(one) for one in feet(q, level_parameters(2)))
    names = [point.name for point in tree.contacts]
    expected = np.zeros(2)
    front = names.index("front_foot")
    expected[front] = rate**2 * (own.height_at(positions[2 * front, 0], 0.0) - 0.05)
    assert jacobian[1::2] @ difference == pytest.approx(expected, abs=1e-9)
    check(unlike, q, v)
    with pytest.raises(ParameterError, match="a ground is given for 'hand'"):
        ContactDynamics(tree, axes=(0, 2), grounds={"hand": own})


def test_kernels_are_shared_with_whoever_needs_the_same(tmp_path: Path) -> None:
    dynamics = loaded(tmp_path, ("tip",))
    said: list[str] = []
    build_kernels(
        dynamics.tree, {"contact": ("tip",)}, (2,), levels=("system", "first", "second"), progress=said.append
    )
    assert not said
