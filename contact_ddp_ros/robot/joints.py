"""Names and order of the legs, joints and feet: the order of every (12,) and (4,) array of this package.

Positive abduction turns about +x, positive hip and knee about -y. With all joints at zero the legs hang straight down.
"""

from typing import Final, Literal

LEG_NAMES: Final = ("fr", "fl", "hr", "hl")
"""Front right, front left, hind right, hind left."""

LEG_JOINTS: Final = ("abad", "hip", "knee")
"""Joints of a leg, from the trunk to the foot."""

JOINT_NAMES: Final = tuple(f"{leg}_{joint}_joint" for leg in LEG_NAMES for joint in LEG_JOINTS)
"""The actuated joints, leg by leg: index = 3 leg + joint."""

FOOT_NAMES: Final = tuple(f"{leg}_foot" for leg in LEG_NAMES)
"""Links at the centres of the foot spheres."""

BASE_LINK: Final = "base_link"
"""The trunk: root link of the robot description, and the name of its frame."""

N_LEGS: Final = len(LEG_NAMES)
N_JOINTS: Final = len(JOINT_NAMES)


def joint_index(leg: str, joint: str) -> int:
    """Index of a joint in every joint array, e.g. `joint_index("hl", "knee")`; ValueError for unknown names."""
    return LEG_NAMES.index(leg) * len(LEG_JOINTS) + LEG_JOINTS.index(joint)


BASE_JOINTS: Final[tuple[tuple[str, Literal["revolute", "prismatic"], tuple[float, float, float]], ...]] = (
    ("base_x", "prismatic", (1.0, 0.0, 0.0)),
    ("base_y", "prismatic", (0.0, 1.0, 0.0)),
    ("base_z", "prismatic", (0.0, 0.0, 1.0)),
    ("base_yaw", "revolute", (0.0, 0.0, 1.0)),
    ("base_pitch", "revolute", (0.0, 1.0, 0.0)),
    ("base_roll", "revolute", (1.0, 0.0, 0.0)),
)
"""Name, kind and axis of the joints that make the floating base."""
