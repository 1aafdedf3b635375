"""The posture that the costs of a planar gait pull towards, as a function of its phase.

Trunk: constant height, pitch a cosine that is nose up when the back feet land and nose down when the front feet land,
and nothing where both land together (see `_pitch_wave`).
Legs: in stance the foot moves back under the hip at the commanded speed, symmetric about a point `stance_inset` inwards
of the hip; in swing it returns along a smooth curve. Joint angles follow from inverse kinematics of the two-link legs.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.errors import ModelError
from contact_ddp_ros.gaits.foot_timing import FootTiming
from contact_ddp_ros.gaits.gait import load_gait
from contact_ddp_ros.gaits.grid import KnotGrid
from contact_ddp_ros.gaits.schedule import ModeSchedule
from contact_ddp_ros.gaits.sequence import GaitSequence
from contact_ddp_ros.models.planar import LEGS_OF
from contact_ddp_ros.mpc.config import GaitConfig, ReferenceConfig
from contact_ddp_ros.robot.tree import RigidBodyTree

Array = NDArray[np.float64]

_RATE_STEP = 1e-4
"""Step of the central difference that gives the reference's velocities [s]."""

_REACH_MARGIN = 0.995
"""A leg is never referred to longer than this share of its full length."""


def planar_schedule(config: GaitConfig, epoch: float = 0.0) -> ModeSchedule:
    """The modes of the planar model in the gait of that name.

    Raises:
        ParameterError: there is no such gait, it moves left and right legs apart, or does not fit the grid.
    """
    gait = load_gait(config.name).stretched(config.stretch, config.step)
    return gait.merged(LEGS_OF, "planar").schedule(config.step, epoch)


def gait_sequence(config: GaitConfig) -> GaitSequence:
    """The configured gait for ever; ParameterError as :func:`planar_schedule`."""
    return GaitSequence(((config.name, planar_schedule(config)),), config.step)


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


class PlanarReference:
    """References of states, foot heights and forces along a grid, for a speed."""

    def __init__(self, tree: RigidBodyTree, gait: GaitConfig, sequence: GaitSequence | None = None) -> None:
        """Raises ParameterError as :func:`planar_schedule`, and where a foot stands more than once in a cycle.

        Without a `sequence` it is the configured gait for ever.
        """
        self.tree = tree
        self.sequence = sequence or gait_sequence(gait)
        self.legs = tuple(PlanarLeg.of_tree(tree, point.name) for point in tree.contacts)
        schedules = [self.sequence.schedule(k) for k in range(len(self.sequence.sections))]
        self._timing = FootTiming(self.sequence, [leg.foot for leg in self.legs])
        self._begins = self.sequence.step * np.array([section.first_step for section in self.sequence.sections])
        waves = [self._pitch_wave(schedule) for schedule in schedules]
        self._pitch_share, self._nose_up = np.array(waves).T
        self._periods = np.array([schedule.period for schedule in schedules])
        weight = -tree.mass * float(tree.gravity[2])
        stance_times = [sum(schedule.stance(leg.foot)[1] for leg in self.legs) for schedule in schedules]
        self._mean_forces = weight * self._periods / np.array(stance_times)

    @property
    def mean_force(self) -> float:
        """Normal force that carries the weight over a cycle of the first gait, were it constant in stance [N]."""
        return float(self._mean_forces[0])

    def mean_forces(self, times: Array) -> Array:
        """(N,) the same of the gait at times from the epoch [s]."""
        return self._mean_forces[self._timing.sections(times)]

    def states(
        self, times: Array, config: ReferenceConfig, ground: float, speed: float, x0: float = 0.0, slope: float = 0.0
    ) -> Array:
        """(N, 2n) references at times from the epoch [s]; x0 is the trunk's x at the first one [m].

        `ground` is its height at x = 0 [m], `slope` its rise over run.
        """
        n, rows = self.tree.n, len(times)
        sections = self._timing.sections(times)
        instants = np.concatenate([times, times + _RATE_STEP, times - _RATE_STEP])
        positions = self._positions(instants, np.tile(sections, 3), config, speed, slope)
        at, later, earlier = positions.reshape(3, rows, n)
        xs = np.empty((rows, 2 * n))
        xs[:, :n] = at
        xs[:, n:] = (later - earlier) / (2.0 * _RATE_STEP)
        xs[:, 0] = x0 + speed * (times - times[0])
        xs[:, 1] = ground + slope * xs[:, 0] + config.height
        xs[:, n], xs[:, n + 1] = speed, slope * speed
        return xs

    def foot_heights(self, times: Array, config: ReferenceConfig) -> tuple[Array, NDArray[np.bool_]]:
        """(N, n_f) clearance above the ground [m], and whether the foot is in the air."""
        phases = [self._timing.phases(times, f) for f in range(len(self.legs))]
        swinging = np.stack([one.swinging for one in phases], axis=1)
        progress = np.stack([one.progress for one in phases], axis=1)
        return np.where(swinging, config.clearance * np.sin(math.pi * progress) ** 2, 0.0), swinging

    def weight_carrying_torques(self, grid: KnotGrid, xs: Array) -> Array:
        """(N, n_u) torques with which the feet that are down carry the weight, at postures xs (N+1, 2n)."""
        us = np.zeros((grid.n_nodes, 2 * len(self.legs)))
        contacts = [mode.contacts for mode in self.sequence.modes]
        forces = self.mean_forces(grid.times[:-1])
        first = min(leg.hip for leg in self.legs)
        for leg in self.legs:
            down = np.array([leg.foot in contacts[m] for m in grid.modes[:-1]]) & ~grid.switches
            pitch, hip = xs[:-1, 2], xs[:-1, leg.hip]
            knee = xs[:-1, leg.knee]
            # x of the foot from hip and knee in the world: angles about −y add, pitch about +y subtracts
            knee_arm = leg.shank * np.sin(hip + knee - pitch)
            hip_arm = leg.thigh * np.sin(hip - pitch) + knee_arm
            us[:, leg.hip - first] = np.where(down, -hip_arm * forces, 0.0)
            us[:, leg.knee - first] = np.where(down, -knee_arm * forces, 0.0)
        return us

    def _pitch_wave(self, schedule: ModeSchedule) -> tuple[float, float]:
        """Amplitude of the pitch, as a share of the parameter, and an instant at which the nose is highest [s].

        With phases a, b of the middle of front and back stance,

            (cos(p - a) - cos(p - b)) / 2 = sin((a - b) / 2) sin(p - (a + b) / 2)

        which is a full wave where front and back take turns, as in a bound, and none where they land together.
        """
        back, front = sorted(self.legs, key=lambda leg: leg.hip_x)
        stances = [schedule.stance(leg.foot) for leg in (back, front)]
        middles = [start + 0.5 * duration for start, duration in stances]
        gap = (middles[1] - middles[0]) % schedule.period
        share = math.sin(math.pi * gap / schedule.period)
        return share, middles[0] + 0.5 * (gap - 0.5 * schedule.period)

    def _positions(
        self, times: Array, sections: NDArray[np.int64], config: ReferenceConfig, speed: float, slope: float
    ) -> Array:
        """Pitch and joint angles, for a trunk that is parallel to the ground on average; x and z are zero."""
        q = np.zeros((len(times), self.tree.n))
        phase = 2.0 * math.pi * (times - self._begins[sections] - self._nose_up[sections]) / self._periods[sections]
        wave = -self._pitch_share[sections] * config.pitch_amplitude * np.cos(phase)
        pitch = q[:, 2] = wave - math.atan(slope)
        for f, leg in enumerate(self.legs):
            foot = self._timing.phases(times, f, sections)
            progress = foot.progress
            ease = progress - np.sin(2.0 * math.pi * progress) / (2.0 * math.pi)
            begin, end = 0.5 * speed * foot.before, 0.5 * speed * foot.after
            forward = 0.5 * (begin + end) * (2.0 * ease - 1.0) + 0.5 * (end - begin)
            inset = -math.copysign(config.stance_inset, leg.hip_x)
            x = inset + np.where(foot.swinging, forward, begin * (1.0 - 2.0 * progress))
            lift = np.where(foot.swinging, config.swing_retraction * np.sin(math.pi * progress) ** 2, 0.0)
            hip_height = config.height - leg.hip_x * (np.sin(pitch) + slope * np.cos(pitch))
            radius = self.tree.contact(leg.foot).radius
            z = -(hip_height - radius - lift) + slope * x
            # world offsets from the hip, turned into the trunk's axes (pitch about +y)
            in_trunk_x = np.cos(pitch) * x - np.sin(pitch) * z
            in_trunk_z = np.sin(pitch) * x + np.cos(pitch) * z
            q[:, leg.hip], q[:, leg.knee] = leg.inverse(in_trunk_x, in_trunk_z)
        return q
