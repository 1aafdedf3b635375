"""The posture that the costs of a gait pull the whole body towards, as a function of its phase.

Trunk: at its height above the ground, parallel to it but for the wave of its pitch and what is commanded, its heading
turning as commanded.
Legs: in stance the foot moves under the hip against the trunk's velocity, that of its turning included; in
swing it returns along a smooth curve. Angles follow from inverse kinematics of legs of abduction, hip and knee.

Which packaged reference a model has.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.mpc.config import GaitConfig, PlannerConfig, ReferenceConfig
from contact_ddp_ros.mpc.planar_reference import PlanarLeg, PlanarReference, hip_of, two_link_angles
from contact_ddp_ros.mpc.reference import RATE_STEP, GaitReference, Nodes, TrunkCommand, sway
from contact_ddp_ros.robot.attitude import ANGLES, Chart, changed
from contact_ddp_ros.robot.gaits.grid import KnotGrid
from contact_ddp_ros.robot.gaits.sequence import GaitSequence
from contact_ddp_ros.robot.ground import LocalGround
from contact_ddp_ros.robot.legs import JOINTS_PER_LEG, LegGeometry
from contact_ddp_ros.robot.models.model import Model
from contact_ddp_ros.robot.models.planar import PlanarModel
from contact_ddp_ros.robot.models.whole_body import BASE, HEIGHT, PITCH, ROLL, YAW, WholeBodyModel
from contact_ddp_ros.robot.rotation import quaternion_to_matrix
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.robot.tree import RigidBodyTree

Array = NDArray[np.float64]

_UPRIGHT = 0.7
"""Upward part of the trunk's vertical axis below which it has been thrown: a tilt of 45 degrees."""

_REACH = 0.98
"""Share of a straight leg's length at which a stance should be over: a straight leg has no way to give."""


@dataclass(frozen=True)
class _Shape:
    """Lengths of the n_f legs in arrays [m]: (n_f, 3), or columns (n_f, 1) that broadcast against times.

    Attributes:
        origins: of the abductions in the trunk. hip: of the hips against them.
        under: where the feet hang with the legs straight down, in the trunk's axes.
        aside: of the leg's plane from the axis of its abduction. thigh, shank, radius: of links and feet.
        bend: 1 where the knee bends backwards, -1 where forwards.
    """

    origins: Array
    hip: Array
    under: Array
    aside: Array
    thigh: Array
    shank: Array
    radius: Array
    bend: Array

    @classmethod
    def of(cls, tree: RigidBodyTree, legs: LegGeometry, links: Sequence[PlanarLeg]) -> "_Shape":
        """Shape of a robot's legs."""
        origins, hip, knee = legs.translations.transpose(1, 0, 2)
        aside = hip[:, 1] + knee[:, 1] + legs.feet[:, 1]
        columns = (aside, [link.thigh for link in links], [link.shank for link in links])
        radius = [tree.contact(link.foot).radius for link in links]
        under = origins + np.column_stack([hip[:, 0], aside, hip[:, 2]])
        bend = [link.bend for link in links]
        return cls(origins, hip, under, *(np.reshape(one, (-1, 1)) for one in (*columns, radius, bend)))


class WholeBodyReference(GaitReference):
    """References of states, foot heights and forces along a grid, for a motion."""

    def __init__(
        self,
        tree: RigidBodyTree,
        gait: GaitConfig,
        sequence: GaitSequence | None = None,
        chart: Chart = Chart.YAW_PITCH_ROLL,
    ) -> None:
        """Raises ParameterError as :func:`gait_schedule`; ModelError where a leg is none of three such joints.

        Without a `sequence` it is the configured gait for ever. `chart` is that of the tree.
        """
        self._chart = chart
        self._legs = LegGeometry.from_tree(tree, tuple(point.name for point in tree.contacts))
        self._links = [PlanarLeg.of_tree(tree, point.name) for point in tree.contacts]
        self._shape = _Shape.of(tree, self._legs, self._links)
        places = self._legs.translations[:, :2].sum(axis=1).tolist()
        offsets = np.abs(self._shape.aside[:, 0]).tolist()
        legs = zip(self._links, places, offsets, strict=True)
        hips = [hip_of(tree, link, x, y, z, offset) for link, (x, y, z), offset in legs]
        super().__init__(WholeBodyModel, tree, gait, sequence, hips)

    def states(self, times: Array, config: ReferenceConfig, motion: TrunkCommand, ground: LocalGround) -> Array:
        """(N, 36) references at times from the epoch [s], where the motion begins at the first."""
        n, rows = self.tree.n, len(times)
        sections = self.timing.sections(times)
        instants = np.concatenate([times, times + RATE_STEP, times - RATE_STEP])
        headings = motion.heading + motion.turn * (instants - times[0])
        forward, lateral = motion.velocities(instants - times[0])
        positions = self._posture(instants, np.tile(sections, 3), headings, forward, lateral, config, motion, ground)
        at, later, earlier = positions.reshape(3, rows, n)
        xs = np.empty((rows, 2 * n))
        xs[:, :n] = at
        xs[:, n:] = (later - earlier) / (2.0 * RATE_STEP)
        cos, sin = np.cos(xs[:, YAW]), np.sin(xs[:, YAW])
        forward, lateral = forward[:rows], lateral[:rows]
        velocity = np.stack([forward * cos - lateral * sin, forward * sin + lateral * cos])
        steps = 0.5 * np.diff(times) * (velocity[:, 1:] + velocity[:, :-1])
        xs[:, 0] = motion.x + np.concatenate([[0.0], np.cumsum(steps[0])])
        xs[:, 1] = motion.y + np.concatenate([[0.0], np.cumsum(steps[1])])
        xs[:, HEIGHT] = ground.height + ground.slope * xs[:, 0] + ground.aside * xs[:, 1] + config.height
        xs[:, n], xs[:, n + 1] = velocity
        xs[:, n + HEIGHT] = ground.slope * velocity[0] + ground.aside * velocity[1]
        return changed(xs, Chart.YAW_PITCH_ROLL, self._chart, xs)

    def overstay(self, state: RobotState, time: float) -> float:
        """Longest time by which a stance outlasts the reach of its leg at `time` from the epoch [s].

        A foot that stays where it is while the trunk goes on as measured is at r + w t from the axis of its abduction;
        the leg is straight where that is as long as hip and links allow.
        """
        if quaternion_to_matrix(state.orientation)[2, 2] < _UPRIGHT:
            return 0.0  # thrown, it stands on no foot
        feet, _ = self._legs.points_and_jacobians(state.joint_positions, np.zeros(3))
        phases, shape = self.timing.all_phases(np.array([time])), self._shape
        left = ((1.0 - phases.progress) * phases.before)[:, 0]
        r = feet - shape.origins
        w = -state.linear_velocity - np.cross(state.angular_velocity, feet)
        reach = _REACH * np.hypot(shape.thigh + shape.shank, shape.aside)[:, 0]
        a, b, c = (w * w).sum(axis=1), (r * w).sum(axis=1), (r * r).sum(axis=1) - reach**2
        root = np.sqrt(np.maximum(b * b - a * c, 0.0))
        # the later root of |r + w t| = reach, in the form that neither cancels nor divides by zero
        until = np.where(b < 0.0, root - b, np.maximum(-c, 0.0)) / np.where(b < 0.0, a, np.maximum(root + b, 1e-9))
        steps = ~phases.swinging[:, 0] & np.isfinite(self._longest_stances)
        return float(np.maximum(left - until, 0.0)[steps].max(initial=0.0))

    def state_weights(self, config: PlannerConfig) -> Array:
        """(36,) weights of the running cost of the states; a pair's joint weighs as much as one of the plane."""
        weight, n = config.weight, self.tree.n
        weights = np.zeros(2 * n)
        weights[HEIGHT] = weight.height
        weights[ANGLES] = [getattr(weight, angle) for angle in self._chart.names]
        weights[n : n + 3] = weight.forward_velocity, weight.forward_velocity, weight.vertical_velocity
        weights[n:][ANGLES] = [getattr(weight, f"{angle}_rate") for angle in self._chart.names]
        weights[BASE:n] = 0.5 * weight.joints
        weights[n + BASE :] = 0.5 * weight.joint_rates
        return weights

    def weight_carrying_torques(self, grid: KnotGrid, xs: Array, wanted: Nodes | None = None) -> Array:
        """(N, 12) torques with which the feet that are down carry the weight, at postures xs (N+1, 36).

        Those of nodes that are not `wanted` are zero; all are by default.
        """
        us = np.zeros((grid.n_nodes, self.tree.n - BASE))
        contacts = [mode.contacts for mode in self.sequence.modes]
        forces = self.mean_forces(grid.times[:-1])
        for k in np.flatnonzero(~grid.switches if wanted is None else ~grid.switches & wanted):
            down = [f for f, foot in enumerate(self.feet) if foot in contacts[grid.modes[k]]]
            if not down:
                continue
            vertical = self._chart.up(xs[k, ANGLES])
            _, jacobians = self._legs.points_and_jacobians(xs[k, BASE : self.tree.n], -vertical)
            for f in down:
                joints = slice(JOINTS_PER_LEG * f, JOINTS_PER_LEG * (f + 1))
                us[k, joints] = -forces[k] * (jacobians[f].T @ vertical)
        return us

    def _posture(
        self,
        times: Array,
        sections: NDArray[np.int64],
        headings: Array,
        forward: Array,
        lateral: Array,
        config: ReferenceConfig,
        motion: TrunkCommand,
        ground: LocalGround,
    ) -> Array:
        """(N, 18) coordinates with the trunk's origin at zero."""
        q = np.zeros((len(times), self.tree.n))
        cos, sin = np.cos(headings), np.sin(headings)
        ahead, aside = cos * ground.slope + sin * ground.aside, cos * ground.aside - sin * ground.slope
        q[:, YAW] = headings
        pitch = q[:, PITCH] = self.pitch_wave(times, sections, config) - np.arctan(ahead) + motion.pitch
        roll = q[:, ROLL] = np.arctan(aside * np.cos(np.arctan(ahead))) + motion.lean
        turned, legs = _tilted(pitch, roll), self._shape
        feet = self.timing.all_phases(times, sections)
        lift = np.where(feet.swinging, config.swing_retraction * np.sin(math.pi * feet.progress) ** 2, 0.0)
        inset = -np.copysign(config.stance_inset, legs.under[:, :1])
        # (4, N, 3) in heading axes from the trunk's origin
        place = np.einsum("nij,fj->fni", turned, legs.under)
        place[..., 0] += inset + sway(feet, forward - motion.turn * legs.under[:, 1:2])
        place[..., 1] += sway(feet, lateral + motion.turn * legs.under[:, :1])
        place[..., 2] = legs.radius + lift - config.height + ahead * place[..., 0] + aside * place[..., 1]
        in_trunk = np.einsum("nij,fni->fnj", turned, place) - legs.origins[:, None]
        length = np.sqrt(np.maximum((in_trunk[..., 1:] ** 2).sum(axis=-1) - legs.aside**2, 1e-6))
        abduction = np.arctan2(in_trunk[..., 2], in_trunk[..., 1]) - np.arctan2(-length, legs.aside)
        first = BASE + JOINTS_PER_LEG * np.arange(len(self._links))
        q[:, first] = (np.mod(abduction + math.pi, 2.0 * math.pi) - math.pi).T
        hips, knees = two_link_angles(
            legs.bend * (in_trunk[..., 0] - legs.hip[:, :1]), -length - legs.hip[:, 2:], legs.thigh, legs.shank
        )
        q[:, first + 1], q[:, first + 2] = hips.T, knees.T
        return q


def _tilted(pitch: Array, roll: Array) -> Array:
    """(N, 3, 3) rotations R_y(pitch) R_x(roll)."""
    zero, (cp, sp), (cr, sr) = np.zeros_like(pitch), (np.cos(pitch), np.sin(pitch)), (np.cos(roll), np.sin(roll))
    return np.stack([cp, sp * sr, sp * cr, zero, cr, -sr, -sp, cp * sr, cp * cr], axis=1).reshape(-1, 3, 3)


def reference_of(model: Model, gait: GaitConfig, sequence: GaitSequence | None = None) -> GaitReference:
    """The packaged reference of a gait for a model; without a `sequence` the configured gait for ever.

    Raises:
        ParameterError: the gait is not for the model, or not for the grid.
    """
    if model.name == PlanarModel.name:
        return PlanarReference(model.tree, gait, sequence)
    return WholeBodyReference(model.tree, gait, sequence, model.chart)
