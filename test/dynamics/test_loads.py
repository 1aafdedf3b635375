"""A payload and rotors among the parameters weigh as those that are part of the tree."""

from dataclasses import replace

import numpy as np
import pytest

from contact_ddp_ros.dynamics import partials
from contact_ddp_ros.dynamics.contact import PAYLOAD, ROTOR, contact_system, impact_system
from contact_ddp_ros.dynamics.mechanism import prepare
from contact_ddp_ros.robot.tree import RigidBodyTree

from .support import close, evaluate, make_case

ROTORS = 0.03
MASS, PLACE = 1.7, np.array([0.11, -0.06, 0.08])


def loaded(tree: RigidBodyTree, mass: float, place: np.ndarray) -> RigidBodyTree:
    """The tree with a point mass on the first body that has one, and larger rotors."""
    index = next(i for i, joint in enumerate(tree.joints) if joint.mass > 0.0)
    body = tree.joints[index]
    total = body.mass + mass
    com = (body.mass * body.com + mass * place) / total
    inertia = body.inertia.copy()
    for part, arm in ((body.mass, body.com - com), (mass, place - com)):
        inertia += part * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    joints = (*tree.joints[:index], replace(body, mass=total, com=com, inertia=inertia), *tree.joints[index + 1 :])
    driven = [
        replace(one, armature=one.armature + ROTORS) if i in tree.actuated else one for i, one in enumerate(joints)
    ]
    return replace(tree, joints=tuple(driven))


@pytest.mark.parametrize("of", [contact_system, impact_system])
@pytest.mark.parametrize("kind", ["random", "aligned", "cardinal", "planar", "whole"])
def test_they_are_those_of_a_tree_that_has_them(kind: str, of) -> None:
    case = make_case(kind, 3)
    place = PLACE * [1.0, 0.0, 1.0] if kind == "planar" else PLACE
    heavy = of(prepare(loaded(case.tree, MASS, place)), case.contacts, case.axes)
    light = of(prepare(case.tree), case.contacts, case.axes)
    p = case.p.copy()
    p[PAYLOAD:ROTOR], p[ROTOR] = (MASS, *place), ROTORS
    n, n_s = case.n, case.n + light.n_c
    q, v, nu, xi = case.draw(n), case.draw(n), case.draw(n_s), case.draw(n_s)
    for make, arguments in (
        (partials.system, (q, v)),
        (partials.first, (q, v, nu)),
        (partials.second, (q, v, nu, xi)),
    ):
        given = evaluate(make("f", light), *arguments, p)
        for one, other in zip(given, evaluate(make("f", heavy), *arguments, case.p), strict=True):
            assert close(one, other)
    kkt, plain = (evaluate(partials.system("f", light), q, v, one)[0] for one in (p, case.p))
    assert not close(kkt, plain)
