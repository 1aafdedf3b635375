"""The n-link pendubot whose last link is pinned to the ground: the paper's model for how costs grow with n.

n equal uniform rods hang one from the other in the x-z plane; the tip of the last one is held by a revolute joint to
the ground, a contact of two rows without a radius. All joints but the last have a motor, as the two-link pendubot has
it.
"""

import numpy as np

from contact_ddp_ros.robot.tree import ContactPoint, Joint, RigidBodyTree

PIN = "pin"
"""The contact point at the tip of the last link."""

LENGTH, MASS = 0.3, 1.0
"""Of one link [m, kg]."""

_TORQUE = 10.0
_THICKNESS = 0.02
"""Of a rod, for its inertia about its own axis, which a planar motion does not feel [m]."""


def pendubot(n: int) -> RigidBodyTree:
    """The pendubot of n links, hanging from the origin at q = 0."""
    across, along = MASS * LENGTH**2 / 12.0, MASS * _THICKNESS**2 / 8.0
    joints = tuple(
        Joint(
            name=f"joint_{i}",
            kind="revolute",
            axis=np.array([0.0, 1.0, 0.0]),
            parent=i - 1,
            translation=np.array([0.0, 0.0, 0.0 if i == 0 else -LENGTH]),
            mass=MASS,
            com=np.array([0.0, 0.0, -LENGTH / 2.0]),
            inertia=np.diag([across, across, along]),
            effort_limit=_TORQUE if i < n - 1 else 0.0,
        )
        for i in range(n)
    )
    return RigidBodyTree(f"pendubot_{n}", joints, (ContactPoint(PIN, n - 1, np.array([0.0, 0.0, -LENGTH])),))
