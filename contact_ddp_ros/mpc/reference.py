"""The posture that a bound's costs pull towards, as a function of the gait's phase.

Trunk: constant height, pitch a cosine that is nose up when the back feet land and nose down when the front feet land.
Legs: in stance the foot moves back under the hip at the commanded speed, symmetric about a point `stance_inset` inwards
of the hip; in swing it returns along a smooth curve. Joint angles follow from inverse kinematics of the two-link legs.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.errors import ModelError
from contact_ddp_ros.hybrid.grid import KnotGrid
from contact_ddp_ros.hybrid.schedule import Mode, ModeSchedule
from contact_ddp_ros.mpc.config import GaitConfig, ReferenceConfig
from contact_ddp_ros.robot.tree import RigidBodyTree

Array = NDArray[np.float64]

_RATE_STEP = 1e-4
"""Step of the central difference that gives the reference's velocities [s]."""

_REACH_MARGIN = 0.995
"""A leg is never referred to longer than this share of its full length."""


def bounding_schedule(gait: GaitConfig, epoch: float = 0.0) -> ModeSchedule:
    """Back stance, flight, front stance, flight."""
    return ModeSchedule(
        (
            Mode("back_stance", ("back_foot",), gait.back_stance),
            Mode("front_flight", (), gait.flight),
            Mode("front_stance", ("front_foot",), gait.front_stance),
            Mode("back_flight", (), gait.flight),
        ),
        epoch,
    )


@dataclass(frozen=True)
class PlanarLeg:
    """A two-link leg of the planar tree: its joints, its hip in the trunk and the lengths of its links [m]."""

    foot: str
    hip: int
    knee: int
    hip_x: float
    hip_z: float
    thigh: float
    shank: float

    @classmethod
    def of_tree(cls, tree: RigidBodyTree, foot: str) -> "PlanarLeg":
        """The leg that ends at a contact point.

        Raises:
            ModelError: it is not a hip and a knee below the trunk, one under the other.
        """
        point = tree.contact(foot)
        knee = tree.joints[point.body]
        hip = tree.joints[knee.parent]
        lengths = (-float(knee.translation[2]), -float(point.position[2]))
        if not (min(lengths) > 0.0 and abs(knee.translation[0]) + abs(point.position[0]) < 1e-9):
            raise ModelError(f"the leg of {foot!r} is no chain of two straight links along -z")
        return cls(foot, knee.parent, point.body, float(hip.translation[0]), float(hip.translation[2]), *lengths)

    def inverse(self, x: Array, z: Array) -> tuple[Array, Array]:
        """Hip and knee angles (about −y, knee positive) that put the foot at (x, z) from the hip in the trunk's axes.

        Points out of reach are pulled in along their direction.
        """
        reach = _REACH_MARGIN * (self.thigh + self.shank)
        distance = np.clip(np.hypot(x, z), abs(self.thigh - self.shank) + 1e-3, reach)
        cosine = (distance**2 - self.thigh**2 - self.shank**2) / (2.0 * self.thigh * self.shank)
        knee = np.arccos(np.clip(cosine, -1.0, 1.0))
        hip = np.arctan2(x, -z) - np.arctan2(self.shank * np.sin(knee), self.thigh + self.shank * np.cos(knee))
        return hip, knee

    def points(self, q: Array) -> Array:
        """(3, 2) world positions (x, z) of the hip, the knee and the foot's centre at planar coordinates q [m]."""
        pitch = q[2]
        hip = q[:2] + np.array(
            [
                np.cos(pitch) * self.hip_x + np.sin(pitch) * self.hip_z,
                np.cos(pitch) * self.hip_z - np.sin(pitch) * self.hip_x,
            ]
        )
        thigh = q[self.hip] - pitch  # angles about −y add, pitch about +y subtracts
        shank = thigh + q[self.knee]
        knee = hip + self.thigh * np.array([np.sin(thigh), -np.cos(thigh)])
        return np.array([hip, knee, knee + self.shank * np.array([np.sin(shank), -np.cos(shank)])])


class BoundingReference:
    """References of states, foot heights and forces along a grid, for a speed."""

    def __init__(self, tree: RigidBodyTree, gait: GaitConfig) -> None:
        self.tree = tree
        self.schedule = bounding_schedule(gait)
        self.legs = tuple(PlanarLeg.of_tree(tree, point.name) for point in tree.contacts)
        starts = np.concatenate([[0.0], np.cumsum([mode.duration for mode in self.schedule.modes])])
        self._stances = []
        for leg in self.legs:
            index = next(i for i, mode in enumerate(self.schedule.modes) if leg.foot in mode.contacts)
            self._stances.append((float(starts[index]), self.schedule.modes[index].duration))
        back = min(range(len(self.legs)), key=lambda f: self.legs[f].hip_x)
        self._middle_of_back_stance = self._stances[back][0] + 0.5 * self._stances[back][1]
        stance_time = sum(duration for _, duration in self._stances)
        weight = -tree.mass * float(tree.gravity[2])
        self.mean_force = weight * self.schedule.period / stance_time
        """Normal force that carries the weight over a cycle, were it constant in stance [N]."""

    def states(self, times: Array, config: ReferenceConfig, ground: float, speed: float, x0: float = 0.0) -> Array:
        """(N, 2n) references at times from the gait's epoch [s]; x0 is the trunk's x at the first one [m]."""
        n = self.tree.n
        xs = np.zeros((len(times), 2 * n))
        xs[:, :n] = self._positions(times, config, ground, speed)
        later = self._positions(times + _RATE_STEP, config, ground, speed)
        earlier = self._positions(times - _RATE_STEP, config, ground, speed)
        xs[:, n:] = (later - earlier) / (2.0 * _RATE_STEP)
        xs[:, 0] = x0 + speed * (times - times[0])
        xs[:, n] = speed
        return xs

    def foot_heights(self, times: Array, config: ReferenceConfig) -> tuple[Array, NDArray[np.bool_]]:
        """(N, n_f) clearance above the ground [m], and whether the foot is in the air."""
        heights = np.zeros((len(times), len(self.legs)))
        swinging = np.zeros((len(times), len(self.legs)), dtype=bool)
        for f in range(len(self.legs)):
            swing, progress = self._swing(times, f)
            heights[:, f] = np.where(swing, config.clearance * np.sin(math.pi * progress) ** 2, 0.0)
            swinging[:, f] = swing
        return heights, swinging

    def weight_carrying_torques(self, grid: KnotGrid, xs: Array) -> Array:
        """(N, n_u) torques with which the feet that are down carry the weight, at postures xs (N+1, 2n)."""
        us = np.zeros((grid.n_nodes, 2 * len(self.legs)))
        contacts = [mode.contacts for mode in self.schedule.modes]
        first = min(leg.hip for leg in self.legs)
        for leg in self.legs:
            down = np.array([leg.foot in contacts[m] for m in grid.modes[:-1]]) & ~grid.switches
            pitch, hip = xs[:-1, 2], xs[:-1, leg.hip]
            knee = xs[:-1, leg.knee]
            # x of the foot from hip and knee in the world: angles about −y add, pitch about +y subtracts
            knee_arm = leg.shank * np.sin(hip + knee - pitch)
            hip_arm = leg.thigh * np.sin(hip - pitch) + knee_arm
            us[:, leg.hip - first] = np.where(down, -hip_arm * self.mean_force, 0.0)
            us[:, leg.knee - first] = np.where(down, -knee_arm * self.mean_force, 0.0)
        return us

    def _swing(self, times: Array, foot: int) -> tuple[NDArray[np.bool_], Array]:
        """Whether a foot is in the air, and its progress through the swing, 0 to 1 (through stance otherwise)."""
        start, stance = self._stances[foot]
        period = self.schedule.period
        elapsed = np.mod(times - start + 1e-9, period)
        swing = elapsed >= stance
        progress = np.where(swing, (elapsed - stance) / (period - stance), elapsed / stance)
        return swing, progress

    def _positions(self, times: Array, config: ReferenceConfig, ground: float, speed: float) -> Array:
        q = np.zeros((len(times), self.tree.n))
        phase = 2.0 * math.pi * (times - self._middle_of_back_stance) / self.schedule.period
        pitch = -config.pitch_amplitude * np.cos(phase)
        q[:, 1] = ground + config.height
        q[:, 2] = pitch
        for f, leg in enumerate(self.legs):
            _, stance = self._stances[f]
            swing, progress = self._swing(times, f)
            ease = progress - np.sin(2.0 * math.pi * progress) / (2.0 * math.pi)
            half = 0.5 * speed * stance
            inset = -math.copysign(config.stance_inset, leg.hip_x)
            x = inset + np.where(swing, half * (2.0 * ease - 1.0), half * (1.0 - 2.0 * progress))
            lift = np.where(swing, config.swing_retraction * np.sin(math.pi * progress) ** 2, 0.0)
            hip_height = config.height - leg.hip_x * np.sin(pitch)
            radius = self.tree.contact(leg.foot).radius
            z = -(hip_height - radius - lift)
            # world offsets from the hip, turned into the trunk's axes (pitch about +y)
            in_trunk_x = np.cos(pitch) * x - np.sin(pitch) * z
            in_trunk_z = np.sin(pitch) * x + np.cos(pitch) * z
            q[:, leg.hip], q[:, leg.knee] = leg.inverse(in_trunk_x, in_trunk_z)
        return q
