"""The posture that the costs of a planar gait pull towards, as a function of its phase.

Trunk: constant height, pitch a cosine that is nose up when the back feet land and nose down when the front feet land,
and nothing where both land together (see :meth:`GaitReference.pitch_wave`).
Legs: in stance the foot moves back under the hip at the commanded speed, symmetric about a point `stance_inset` inwards
of the hip; in swing it returns along a smooth curve. Joint angles follow from inverse kinematics of the two-link legs.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ModelError
from contact_ddp_ros.mpc.config import GaitConfig, PlannerConfig, ReferenceConfig
from contact_ddp_ros.mpc.reference import RATE_STEP, GaitReference, Hip, Nodes, TrunkCommand, gait_schedule, sway
from contact_ddp_ros.robot.gaits.grid import KnotGrid
from contact_ddp_ros.robot.gaits.schedule import ModeSchedule
from contact_ddp_ros.robot.gaits.sequence import GaitSequence
from contact_ddp_ros.robot.ground import LocalGround
from contact_ddp_ros.robot.models.planar import PlanarModel
from contact_ddp_ros.robot.tree import RigidBodyTree

Array = NDArray[np.float64]

_REACH_MARGIN = 0.995
"""A leg is never referred to longer than this share of its full length."""


def planar_schedule(config: GaitConfig, epoch: float = 0.0) -> ModeSchedule:
    """The modes of the planar model in the gait of that name.

    Raises:
        ParameterError: there is no such gait, it moves left and right legs apart, or does not fit the grid.
    """
    return gait_schedule(PlanarModel, config, epoch)


@dataclass(frozen=True)
class PlanarLeg:
    """A two-link leg of the planar tree: its joints, its hip in the trunk and the lengths of its links [m].

    `bend` is 1 where the knee bends backwards, its axis along -y, and -1 where it bends forwards.
    """

    foot: str
    hip: int
    knee: int
    hip_x: float
    hip_z: float
    thigh: float
    shank: float
    bend: float = 1.0

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
        at = float(hip.translation[0]), float(hip.translation[2])
        return cls(foot, knee.parent, point.body, *at, *lengths, -float(np.sign(knee.axis[1])))

    def inverse(self, x: Array, z: Array) -> tuple[Array, Array]:
        """Hip and knee angles (knee positive) that put the foot at (x, z) from the hip in the trunk's axes.

        Points out of reach are pulled in along their direction.
        """
        return two_link_angles(self.bend * x, z, self.thigh, self.shank)

    def points(self, q: Array) -> Array:
        """(3, 2) world positions (x, z) of the hip, the knee and the foot's centre at planar coordinates q [m]."""
        pitch = q[2]
        hip = q[:2] + np.array(
            [
                np.cos(pitch) * self.hip_x + np.sin(pitch) * self.hip_z,
                np.cos(pitch) * self.hip_z - np.sin(pitch) * self.hip_x,
            ]
        )
        thigh = self.bend * q[self.hip] - pitch  # angles about −y add, pitch about +y subtracts
        shank = thigh + self.bend * q[self.knee]
        knee = hip + self.thigh * np.array([np.sin(thigh), -np.cos(thigh)])
        return np.array([hip, knee, knee + self.shank * np.array([np.sin(shank), -np.cos(shank)])])


def hip_of(tree: RigidBodyTree, leg: PlanarLeg, ahead: float, aside: float, up: float, offset: float = 0.0) -> Hip:
    """Hip of a leg, so far ahead, to the left of and above the trunk's origin, `offset` outside its abduction [m]."""
    return Hip(ahead, aside, offset, up - tree.contact(leg.foot).radius, leg.thigh + leg.shank)


def two_link_angles(x: Array, z: Array, thigh: Any, shank: Any) -> tuple[Array, Array]:
    """Joint angles as by :meth:`PlanarLeg.inverse`, for links of one length each, or arrays of them [m]."""
    reach = _REACH_MARGIN * (thigh + shank)
    distance = np.clip(np.hypot(x, z), abs(thigh - shank) + 1e-3, reach)
    cosine = (distance**2 - thigh**2 - shank**2) / (2.0 * thigh * shank)
    knee = np.arccos(np.clip(cosine, -1.0, 1.0))
    hip = np.arctan2(x, -z) - np.arctan2(shank * np.sin(knee), thigh + shank * np.cos(knee))
    return hip, knee


class PlanarReference(GaitReference):
    """References of states, foot heights and forces along a grid, for a motion."""

    def __init__(self, tree: RigidBodyTree, gait: GaitConfig, sequence: GaitSequence | None = None) -> None:
        """Raises ParameterError as :func:`planar_schedule`, and where a foot stands more than once in a cycle.

        Without a `sequence` it is the configured gait for ever.
        """
        self.legs = tuple(PlanarLeg.of_tree(tree, point.name) for point in tree.contacts)
        super().__init__(
            PlanarModel, tree, gait, sequence, [hip_of(tree, leg, leg.hip_x, 0.0, leg.hip_z) for leg in self.legs]
        )

    def states(self, times: Array, config: ReferenceConfig, motion: TrunkCommand, ground: LocalGround) -> Array:
        """(N, 2n) references at times from the epoch [s]; the motion's x is the trunk's at the first one."""
        n, rows, speed, slope = self.tree.n, len(times), motion.forward, ground.slope
        pitch = motion.pitch - math.atan(slope)
        sections = self.timing.sections(times)
        instants = np.concatenate([times, times + RATE_STEP, times - RATE_STEP])
        positions = self._positions(instants, np.tile(sections, 3), config, speed, slope, pitch)
        at, later, earlier = positions.reshape(3, rows, n)
        xs = np.empty((rows, 2 * n))
        xs[:, :n] = at
        xs[:, n:] = (later - earlier) / (2.0 * RATE_STEP)
        xs[:, 0] = motion.x + speed * (times - times[0])
        xs[:, 1] = ground.height + slope * xs[:, 0] + config.height
        xs[:, n], xs[:, n + 1] = speed, slope * speed
        return xs

    def state_weights(self, config: PlannerConfig) -> Array:
        """(2n,) weights of the running cost of the states."""
        weight, n = config.weight, self.tree.n
        weights = np.zeros(2 * n)
        joints = list(self.tree.actuated)
        weights[1], weights[2] = weight.height, weight.pitch
        weights[n : n + 3] = weight.forward_velocity, weight.vertical_velocity, weight.pitch_rate
        weights[joints] = weight.joints
        weights[[n + joint for joint in joints]] = weight.joint_rates
        return weights

    def weight_carrying_torques(self, grid: KnotGrid, xs: Array, wanted: Nodes | None = None) -> Array:
        """(N, n_u) torques with which the feet that are down carry the weight, at postures xs (N+1, 2n)."""
        us = np.zeros((grid.n_nodes, 2 * len(self.legs)))
        contacts = [mode.contacts for mode in self.sequence.modes]
        forces = self.mean_forces(grid.times[:-1])
        first = min(leg.hip for leg in self.legs)
        for leg in self.legs:
            down = np.array([leg.foot in contacts[m] for m in grid.modes[:-1]]) & ~grid.switches
            pitch, hip = xs[:-1, 2], leg.bend * xs[:-1, leg.hip]
            knee = leg.bend * xs[:-1, leg.knee]
            # x of the foot from hip and knee in the world: angles about −y add, pitch about +y subtracts
            knee_arm = leg.shank * np.sin(hip + knee - pitch)
            hip_arm = leg.thigh * np.sin(hip - pitch) + knee_arm
            us[:, leg.hip - first] = np.where(down, -leg.bend * hip_arm * forces, 0.0)
            us[:, leg.knee - first] = np.where(down, -leg.bend * knee_arm * forces, 0.0)
        return us

    def _positions(
        self,
        times: Array,
        sections: NDArray[np.int64],
        config: ReferenceConfig,
        speed: float,
        slope: float,
        mean_pitch: float,
    ) -> Array:
        """Pitch and joint angles, for a trunk of a mean pitch; x and z are zero."""
        q = np.zeros((len(times), self.tree.n))
        pitch = q[:, 2] = self.pitch_wave(times, sections, config) + mean_pitch
        for f, leg in enumerate(self.legs):
            foot = self.timing.phases(times, f, sections)
            inset = -math.copysign(config.stance_inset, leg.hip_x)
            x = inset + sway(foot, speed)
            lift = np.where(foot.swinging, config.swing_retraction * np.sin(math.pi * foot.progress) ** 2, 0.0)
            hip_height = config.height - leg.hip_x * (np.sin(pitch) + slope * np.cos(pitch))
            radius = self.tree.contact(leg.foot).radius
            z = -(hip_height - radius - lift) + slope * x
            # world offsets from the hip, turned into the trunk's axes (pitch about +y)
            in_trunk_x = np.cos(pitch) * x - np.sin(pitch) * z
            in_trunk_z = np.sin(pitch) * x + np.cos(pitch) * z
            q[:, leg.hip], q[:, leg.knee] = leg.inverse(in_trunk_x, in_trunk_z)
        return q
