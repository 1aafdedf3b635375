"""Zero position and knee direction of a quadruped's legs, whatever its URDF calls zero.

Here a leg is straight when all of its joints are at zero: the hip's axis lies across the trunk, the knee's axis below
the hip's and the foot below the knee's, as seen from the side. Knees have positive angles the way they bend, which is
backwards where hip and knee turn about -y and forwards where they turn about +y. A URDF with another zero or another
sign differs by a map of its joints,

    q = signs (q_urdf - zeros)

and by nothing else, so bent zero poses, feet beside their shanks and knees that bend forwards need no other model.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ModelError
from contact_ddp_ros.robot.joints import LEG_JOINTS, LEG_NAMES

Array = NDArray[np.float64]

AXIS_TOLERANCE = 0.01
"""Angle by which an axis may be off its direction; drawings are rounded [rad]."""

_ROUNDING = 1e-9
"""An angle from zero below this is a number that was rounded [rad]."""

_USED = ((-0.3, 0.3), (-1.3, -0.1), (0.6, 2.2))
"""Angles that a walking leg needs, of abduction, hip and knee [rad]."""


@dataclass(frozen=True)
class JointMap:
    """Joints of a URDF and those of this package: q = signs (q_urdf - zeros), joint by joint in JOINT_NAMES' order.

    Attributes:
        names: (12,) of the URDF's joints.
        signs: (12,) 1 or -1.
        zeros: (12,) angles of the URDF with straight legs [rad].
        forward: by leg, whether its knee bends forwards.
        root: (3, 3) rotation and (3,) origin of the URDF's root link in the trunk's frame [m].
    """

    names: tuple[str, ...]
    signs: Array
    zeros: Array
    forward: Mapping[str, bool]
    root: tuple[Array, Array] = field(default_factory=lambda: (np.eye(3), np.zeros(3)))

    def configuration(self, model: pin.Model) -> Array:
        """(nq,) configuration of pinocchio's model of the URDF with straight legs."""
        q = pin.neutral(model)
        for name, zero in zip(self.names, self.zeros):
            q[model.idx_qs[model.getJointId(name)]] = zero
        return q


def straight_legs(
    model: pin.Model,
    legs: Mapping[str, Sequence[str]],
    feet: Mapping[str, Array],
    knees: Mapping[str, str] = MappingProxyType({}),
) -> JointMap:
    """The map of a URDF's joints.

    Args:
        model: pinocchio's fixed-base model, the trunk's x pointing forward and z up.
        legs: names of abduction, hip and knee of every leg.
        feet: (3,) centre of every foot in the shank's frame [m].
        knees: "forward" or "backward" by leg; for others the limits tell.

    Raises:
        ModelError: a leg is not abduction about x, hip and knee across it; the text says which joint is why.
    """
    names = [name for leg in LEG_NAMES for name in legs[leg]]
    found = {
        leg: _Leg(model, leg, [model.getJointId(name) for name in legs[leg]], feet[leg], knees.get(leg, ""))
        for leg in LEG_NAMES
    }
    signs = np.concatenate([one.signs for one in found.values()])
    zeros = np.concatenate([one.zeros for one in found.values()])
    return JointMap(tuple(names), signs, zeros, {leg: one.forward for leg, one in found.items()})


class _Leg:
    """Signs (3,), zeros (3,) and knee direction of one leg."""

    def __init__(self, model: pin.Model, leg: str, joints: Sequence[int], foot: Array, knee: str) -> None:
        self._model, self._leg, self._joints = model, leg, joints
        self.zeros = np.zeros(3)
        rotation = np.eye(3)
        carried = [np.asarray(model.jointPlacements[joint].translation) for joint in joints[1:]] + [foot]
        across = np.array([1.0, 0.0, 0.0])
        about = np.zeros(3)
        for index, joint in enumerate(joints):
            placed = rotation @ np.asarray(model.jointPlacements[joint].rotation)
            axis = joint_axis(model, joint)
            about[index] = self._direction(index, placed @ axis, across)
            if index == 0:
                following = np.asarray(model.jointPlacements[joints[1]].rotation) @ joint_axis(model, joints[1])
                y, z = (placed @ following)[1:]
                angle = -math.atan(z / y) if abs(y) > AXIS_TOLERANCE else -0.5 * math.pi * math.copysign(1.0, z)
                across = np.array([0.0, 1.0, 0.0])
            else:
                x, _, z = placed @ carried[index]
                if math.hypot(x, z) < 1e-3:
                    raise ModelError(
                        f"leg {leg}: {self._name(index)} carries the next joint or the foot on its axis; needed: "
                        f"a {('thigh', 'shank')[index - 1]} with a length"
                    )
                angle = math.atan2(x, -z)
            angle = 0.0 if abs(angle) < _ROUNDING else angle
            self.zeros[index] = about[index] * angle
            rotation = placed @ pin.exp3(axis * self.zeros[index])
        backwards = about * (1.0, -1.0, -1.0)
        forwards = about * (1.0, 1.0, 1.0)
        self.forward = knee == "forward" if knee else bool(self._reach(forwards) > self._reach(backwards))
        self.signs = forwards if self.forward else backwards
        for index in range(len(joints)):
            shares = self._shares(index, self.signs[index])
            self.zeros[index] += 2.0 * math.pi * max(shares, key=lambda turns: shares[turns])

    def _name(self, index: int) -> str:
        return f"joint {self._model.names[self._joints[index]]}, its {LEG_JOINTS[index]},"

    def _direction(self, index: int, axis: Array, wanted: Array) -> float:
        """1 where an axis points along x or y, -1 where against it."""
        along = float(axis @ wanted)
        if abs(abs(along) - 1.0) > 1.0 - math.cos(AXIS_TOLERANCE):
            letter = "x" if index == 0 else "y"
            raise ModelError(
                f"leg {self._leg}: {self._name(index)} turns about {(np.round(axis, 4) + 0.0).tolist()}; needed: "
                f"{letter} of the trunk (x forward, z up), the legs hanging straight down"
            )
        return math.copysign(1.0, along)

    def _shares(self, index: int, sign: float) -> dict[int, float]:
        """Share of the angles of a walking leg that limits allow, by the turns added to the zero of a joint."""
        at, (low, high) = self._model.idx_qs[self._joints[index]], _USED[index]
        limits = (self._model.lowerPositionLimit[at], self._model.upperPositionLimit[at])
        first, last = sorted(sign * (float(limit) - self.zeros[index]) for limit in limits)
        shifts = {turns: sign * 2.0 * math.pi * turns for turns in (0, 1, -1)}
        shared = {turns: min(last - by, high) - max(first - by, low) for turns, by in shifts.items()}
        return {turns: max(0.0, share) / (high - low) for turns, share in shared.items()}

    def _reach(self, signs: Array) -> float:
        """Share of the angles of a walking leg that limits allow, hip's and knee's added up."""
        return sum(max(self._shares(index, signs[index]).values()) for index in (1, 2))


def joint_axis(model: pin.Model, joint: int) -> Array:
    """(3,) axis of a revolute joint in its own frame."""
    moving = model.joints[joint]
    data = moving.createData()
    moving.calc(data, np.zeros(moving.nq))
    return np.asarray(data.S).reshape(6)[3:].copy()
