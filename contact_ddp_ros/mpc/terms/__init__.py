"""The packaged terms of a node's cost, one per file, and the list from which sum, layout and records follow.

To add one, write a file like the others and add it to TERMS: compiled value and derivatives of one argument, the
numbers that it reads with their values for a horizon, and the constraints that it stands for, if any.
"""

from contact_ddp_ros.mpc.terms.foot_height import FOOT_HEIGHT
from contact_ddp_ros.mpc.terms.force_tracking import FORCE_TRACKING
from contact_ddp_ros.mpc.terms.friction_cone import FRICTION_CONE
from contact_ddp_ros.mpc.terms.state_tracking import STATE_TRACKING
from contact_ddp_ros.mpc.terms.term import PackagedTerm
from contact_ddp_ros.mpc.terms.torque_limit import TORQUE_LIMIT
from contact_ddp_ros.mpc.terms.torque_tracking import TORQUE_TRACKING
from contact_ddp_ros.mpc.terms.touchdown import TOUCHDOWN
from contact_ddp_ros.mpc.terms.touchdown_impulse import TOUCHDOWN_IMPULSE

TERMS: tuple[PackagedTerm, ...] = (
    STATE_TRACKING,
    TORQUE_TRACKING,
    FORCE_TRACKING,
    FOOT_HEIGHT,
    TORQUE_LIMIT,
    FRICTION_CONE,
    TOUCHDOWN,
    TOUCHDOWN_IMPULSE,
)
"""Packaged terms in the order of recordings; those of one argument are added up in this order."""
