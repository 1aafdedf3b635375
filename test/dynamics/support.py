"""Trees, states and numerical derivatives for the tests of this room."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import casadi as cs
import numpy as np
from numpy.typing import NDArray
from oracle import random_tree

from contact_ddp_ros.dynamics import partials
from contact_ddp_ros.dynamics.contact import (
    ALPHA,
    GROUND_SIZE,
    GROUNDS,
    RESTITUTION,
    UP,
    ScalarSystem,
    contact_system,
    impact_system,
    n_parameters,
)
from contact_ddp_ros.dynamics.mechanism import prepare
from contact_ddp_ros.dynamics.mrneac import Axes
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.models.planar import reduce_to_plane
from contact_ddp_ros.robot.tree import RigidBodyTree

Array = NDArray[np.float64]

SPATIAL: Axes = (0, 1, 2)
PLANAR: Axes = (0, 2)

# Eighth-order central differences: at this step truncation and rounding are both near 1e-12.
_STEP = 0.02
_STENCIL = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))


def aligned_tree(rng: np.random.Generator, n: int, n_contacts: int, radius: float) -> RigidBodyTree:
    """A random tree most of whose joints are parallel, or antiparallel, to their parents: runs of several kinds."""
    tree = random_tree(rng, n, n_contacts, radius)
    joints = list(tree.joints)
    for i, joint in enumerate(joints):
        if joint.parent >= 0 and rng.random() < 0.7:
            sign = rng.choice([-1.0, 1.0])
            joints[i] = replace(joint, axis=sign * joint.rotation.T @ joints[joint.parent].axis)
    return replace(tree, joints=tuple(joints))


def cardinal_tree(rng: np.random.Generator, n: int, n_contacts: int, radius: float) -> RigidBodyTree:
    """A random tree of unrotated joint frames and joints along coordinate axes, some of its bodies without mass."""
    tree = random_tree(rng, n, n_contacts, radius)
    joints = list(tree.joints)
    for i, joint in enumerate(joints):
        axis = np.zeros(3)
        axis[rng.integers(3)] = rng.choice([-1.0, 1.0])
        joints[i] = replace(joint, axis=axis, rotation=np.eye(3))
        if rng.random() < 0.2:
            joints[i] = replace(joints[i], mass=0.0, com=np.zeros(3), inertia=np.zeros((3, 3)))
    return replace(tree, joints=tuple(joints))


def chain(rng: np.random.Generator, n: int, n_contacts: int, radius: float) -> RigidBodyTree:
    """A random serial chain with its points on the last body: as many directions to move in as joints."""
    tree = random_tree(rng, n, n_contacts, radius)
    joints = tuple(replace(joint, parent=i - 1) for i, joint in enumerate(tree.joints))
    return replace(tree, joints=joints, contacts=tuple(replace(point, body=n - 1) for point in tree.contacts))


KINDS: dict[str, Callable[..., RigidBodyTree]] = {
    "random": random_tree,
    "aligned": aligned_tree,
    "cardinal": cardinal_tree,
    "chain": chain,
}


@dataclass(frozen=True)
class Case:
    """A model with points on the ground, and a random instant: p, q, v and further vectors drawn from `rng`."""

    tree: RigidBodyTree
    contacts: tuple[str, ...]
    axes: Axes
    rng: np.random.Generator
    p: Array

    @property
    def n(self) -> int:
        return self.tree.n

    @property
    def n_c(self) -> int:
        return len(self.contacts) * len(self.axes)

    @property
    def contact(self) -> ScalarSystem:
        return contact_system(prepare(self.tree), self.contacts, self.axes)

    @property
    def impact(self) -> ScalarSystem:
        return impact_system(prepare(self.tree), self.contacts, self.axes)

    def draw(self, size: int) -> Array:
        return self.rng.normal(size=size)

    @property
    def damping(self) -> Array:
        return np.array([joint.damping for joint in self.tree.joints])


def make_case(kind: str, seed: int, radius: float = 0.03, n_contacts: int = 2) -> Case:
    """One of the robots ("planar", "whole") or a random tree of a kind."""
    rng = np.random.default_rng([seed, len(kind)])
    if kind in ("planar", "whole"):
        robot = load_robot()
        tree = reduce_to_plane(robot) if kind == "planar" else robot.tree
        contacts = tuple(point.name for point in tree.contacts)[-n_contacts:]
        return Case(tree, contacts, PLANAR if kind == "planar" else SPATIAL, rng, parameters(rng, len(tree.contacts)))
    tree = KINDS[kind](rng, int(rng.integers(4, 7)), n_contacts, radius)
    return Case(tree, tuple(point.name for point in tree.contacts), SPATIAL, rng, parameters(rng, n_contacts))


def parameters(rng: np.random.Generator, n_feet: int) -> Array:
    """p with stabilisation, restitution and unlike grounds under all feet, about an `up` that is not the world's z."""
    p = np.zeros(n_parameters(n_feet))
    p[ALPHA], p[RESTITUTION] = 3.0 * rng.random(), rng.random()
    up = np.array([0.0, 0.0, 1.0]) + 0.2 * rng.normal(size=3)
    up /= np.linalg.norm(up)
    p[UP : UP + 3] = up
    for ground in p[GROUNDS:].reshape(n_feet, GROUND_SIZE):
        normal = up + 0.2 * rng.normal(size=3)
        ground[:] = [0.1 * rng.normal(), *(normal / (normal @ up))]
    return p


def evaluate(function: cs.Function, *arguments: Array) -> tuple[Array, ...]:
    """A CasADi function of arrays; vectors come back flat."""
    results = function.call([cs.DM(one) for one in arguments])
    arrays = [np.array(one) for one in results]
    return tuple(one.ravel() if one.shape[1] == 1 else one for one in arrays)


def residual(of: ScalarSystem) -> Callable[..., Array]:
    """r(q, v, nu, p) = K nu + b."""
    function = partials.system("system", of)

    def value(q: Array, v: Array, nu: Array, p: Array) -> Array:
        kkt, bias = evaluate(function, q, v, p)
        return kkt.reshape(nu.size, nu.size) @ nu + bias

    return value


def derivative(function: Callable[[Array], Array], at: Array) -> Array:
    """(..., at.size) numerical derivative of an array-valued function."""
    columns = []
    for unit in np.eye(at.size):
        column = 0.0
        for multiple, weight in _STENCIL:
            step = multiple * _STEP * unit
            column = column + weight * (function(at + step) - function(at - step)) / _STEP
        columns.append(column)
    return np.stack(columns, axis=-1)


def close(found: Array, expected: Array, tolerance: float = 1e-9) -> bool:
    """Whether two arrays agree relative to the largest entry."""
    assert found.shape == expected.shape, (found.shape, expected.shape)
    scale = 1.0 + np.abs(expected).max(initial=0.0)
    return bool(np.abs(found - expected).max(initial=0.0) <= tolerance * scale)
