"""References that follow from the gait, for any model: contact forces, heights of swinging feet, pitch oscillation."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.mpc.config import CLEARANCE_MOST, GaitConfig, PlannerConfig, ReferenceConfig
from contact_ddp_ros.robot.gaits.gait import load_gait
from contact_ddp_ros.robot.gaits.grid import KnotGrid
from contact_ddp_ros.robot.gaits.schedule import ModeSchedule
from contact_ddp_ros.robot.gaits.sequence import FootPhases, FootTiming, GaitSequence
from contact_ddp_ros.robot.ground import LocalGround
from contact_ddp_ros.robot.models.choice import AnyModel
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.robot.tree import RigidBodyTree

Array = NDArray[np.float64]

Nodes = NDArray[np.bool_]
"""(N,) which nodes of a grid."""

RATE_STEP = 1e-4
"""Step of the central difference that gives a reference's velocities [s]."""

_FOLDED, _LONG = 0.42, 0.86
"""Lowest and highest hip over a foot on the ground, as shares of the straight leg."""

_CROUCHED = 0.38
"""Lowest hip where no leg swings, which takes a leg that folds further."""

_EVEN_CLEARANCE = 0.05
"""Up to which a swing's height is symmetric in time; higher ones rise earlier and stay up until the middle [m]."""
_EARLIER = 0.4
"""Exponent taken off the power 1 of a swing's progress for the highest: it is up after 0.31 of its time."""


@dataclass(frozen=True)
class TrunkCommand:
    """Trunk command from the first instant of a horizon on: velocities, turn rate, tilt.

    Attributes:
        forward: velocity along the heading [m/s].
        lateral: velocity to the left of it [m/s]; a planar model has none.
        turn: rate of the heading [rad/s]; as above.
        x, y: where the trunk is at first [m]; on level ground only plots depend on it.
        heading: at first [rad].
        lean: roll to the right beyond the ground's: commanded, and what makes up for a constant moment [rad].
        pitch: nose down beyond the ground's and the gait's [rad].
        forward_excess, lateral_excess: how much faster than commanded the trunk is to move at first [m/s].
        settling: time constant with which the excess dies away [s]; 0: at once.
    """

    forward: float
    lateral: float = 0.0
    turn: float = 0.0
    x: float = 0.0
    y: float = 0.0
    heading: float = 0.0
    lean: float = 0.0
    pitch: float = 0.0
    forward_excess: float = 0.0
    lateral_excess: float = 0.0
    settling: float = 0.0

    @property
    def speed(self) -> float:
        """Commanded speed over the ground [m/s]."""
        return math.hypot(self.forward, self.lateral)

    def velocities(self, elapsed: Array) -> tuple[Array, Array]:
        """(N,) velocities along the heading and to the left of it, at times from the first instant [s, m/s]."""
        rest = np.exp(-np.maximum(elapsed, 0.0) / self.settling) if self.settling > 0.0 else np.zeros_like(elapsed)
        return self.forward + rest * self.forward_excess, self.lateral + rest * self.lateral_excess


def gait_schedule(model: AnyModel, config: GaitConfig, epoch: float = 0.0) -> ModeSchedule:
    """The modes of a model in the gait of that name.

    Raises:
        ParameterError: there is no such gait, the model cannot move legs apart that it does, or it does not fit the
            grid.
    """
    gait = load_gait(config.name).stretched(config.stretch, config.step)
    return gait.merged(model.legs_of, model.name).schedule(config.step, epoch)


def gait_sequence(model: AnyModel, config: GaitConfig) -> GaitSequence:
    """The configured gait for ever; ParameterError as :func:`gait_schedule`."""
    return GaitSequence(((config.name, gait_schedule(model, config)),), config.step)


class Hip(NamedTuple):
    """Hip geometry that the stances of a leg follow from [m]."""

    ahead: float
    """Distance of the hip ahead of the trunk's origin."""
    aside: float
    """Distance of the hip to the left of the trunk's origin."""
    offset: float
    """Distance of the leg's plane from the axis of its abduction, outwards."""
    above: float
    """Height of the hip over the centre of a foot on the ground, beyond that of the trunk's origin over the ground."""
    length: float
    """Length from the hip to the centre of the foot where the leg is straight."""


class GaitReference(ABC):
    """References of states, foot heights and forces along a grid, for a motion."""

    def __init__(
        self,
        model: AnyModel,
        tree: RigidBodyTree,
        gait: GaitConfig,
        sequence: GaitSequence | None,
        hips: Sequence[Hip],
    ) -> None:
        """`hips` are in the order of the tree's contacts.

        Raises ParameterError as :func:`gait_schedule`, and where a foot stands more than once in a cycle. Without a
        `sequence` it is the configured gait for ever.
        """
        self.tree = tree
        self.feet = tuple(point.name for point in tree.contacts)
        self.sequence = sequence or gait_sequence(model, gait)
        schedules = [self.sequence.schedule(k) for k in range(len(self.sequence.sections))]
        self.timing = FootTiming(self.sequence, self.feet)
        self._begins = self.sequence.step * np.array([section.first_step for section in self.sequence.sections])
        self._pitch_share, self._nose_up = np.array([self._wave(schedule, hips) for schedule in schedules]).T
        self._periods = np.array([schedule.period for schedule in schedules])
        weight = -tree.mass * float(tree.gravity[2])
        stances = np.array([[schedule.stance(foot)[1] for foot in self.feet] for schedule in schedules])
        self._mean_forces = weight * self._periods / stances.sum(axis=1)
        self._hips, self._longest_stances = tuple(hips), np.max([self._stances(one) for one in schedules], axis=0)

    @property
    def mean_force(self) -> float:
        """Normal force that carries the weight over a cycle of the first gait, were it constant in stance [N]."""
        return float(self._mean_forces[0])

    def mean_forces(self, times: Array) -> Array:
        """(N,) the same of the gait at times from the epoch [s]."""
        return self._mean_forces[self.timing.sections(times)]

    def foot_speeds(self, config: ReferenceConfig, schedule: ModeSchedule | None = None) -> Array:
        """(n_f, 2) speeds over the ground, ahead and sideways, at which a stance ends with a straight leg [m/s].

        At speed v a stance of duration T takes the foot from v T/2 ahead of its hip to as far behind it; sideways from
        where it stands below its abduction. Of several gaits the slowest counts, of a `schedule` also. Faster, stances
        would pull the trunk down: it is the speed at which a walk falls. Zero where a foot never leaves the ground. A
        tilted trunk counts as high as its highest hip.
        """
        heights = [config.height + hip.above + self._lift(config) for hip in self._hips]
        reach = np.array([math.sqrt(max(hip.length**2 - z**2, 0.0)) for hip, z in zip(self._hips, heights)])
        offsets = np.array([hip.offset for hip in self._hips])
        sideways = np.where(reach > 0.0, np.hypot(reach, offsets) - np.abs(offsets - config.stance_inset), 0.0)
        longest = (
            self._longest_stances if schedule is None else np.maximum(self._longest_stances, self._stances(schedule))
        )
        return 2.0 * np.column_stack([reach, np.minimum(reach, sideways)]) / longest[:, None]

    def fastest(self, config: ReferenceConfig) -> float:
        """Speed of the trunk straight ahead at which a stance ends with a straight leg [m/s]."""
        return float(self.foot_speeds(config)[:, 0].min())

    def reachable(self, config: ReferenceConfig) -> ReferenceConfig:
        """Parameters with height, roll and pitch of the trunk such that every hip is where its leg can work.

        Tilts are scaled, then the height is moved, until no hip is lower than a folded leg or higher than a long one.
        """
        folded = _FOLDED if np.isfinite(self._longest_stances).any() else _CROUCHED
        lift, room = self._lift(config), 0.5 * (_LONG - folded) * min(hip.length for hip in self._hips)
        share = min(room / lift, 1.0) if lift > 0.0 else 1.0
        low = max(folded * hip.length - hip.above for hip in self._hips) + share * lift
        high = min(_LONG * hip.length - hip.above for hip in self._hips) - share * lift
        height = min(max(config.height, low), high)
        return replace(config, height=height, roll=share * config.roll, pitch=share * config.pitch)

    def _stances(self, schedule: ModeSchedule) -> Array:
        """(n_f,) durations of the stances, infinite where a foot never leaves the ground [s]."""
        found = np.array([schedule.stance(foot)[1] for foot in self.feet])
        return np.where(found >= schedule.period, np.inf, found)

    def _lift(self, config: ReferenceConfig) -> float:
        """Height by which the trunk's roll and pitch raise one hip, and lower another [m]."""
        return max(abs(config.pitch * hip.ahead) + abs(config.roll * hip.aside) for hip in self._hips)

    @property
    def hip_radii(self) -> Array:
        """(n_f,) distances of the hips from the vertical through the trunk's origin [m]."""
        return np.array([math.hypot(hip.ahead, hip.aside) for hip in self._hips])

    def overstay(self, state: RobotState, time: float) -> float:
        """Longest time by which a stance outlasts the reach of its leg at `time` from the epoch [s].

        It is 0 for a model that does not look so far, as the plane's.
        """
        return 0.0

    @abstractmethod
    def states(self, times: Array, config: ReferenceConfig, motion: TrunkCommand, ground: LocalGround) -> Array:
        """(N, 2n) references at times from the epoch [s], where the motion begins at the first."""

    @abstractmethod
    def state_weights(self, config: PlannerConfig) -> Array:
        """(2n,) weights of the running cost of the states."""

    @abstractmethod
    def weight_carrying_torques(self, grid: KnotGrid, xs: Array, wanted: Nodes | None = None) -> Array:
        """(N, n_u) torques with which the feet that are down carry the weight, at postures xs (N+1, 2n).

        Those of nodes that are not `wanted` may be zero; all are by default.
        """

    def foot_heights(self, times: Array, config: ReferenceConfig) -> tuple[Array, NDArray[np.bool_]]:
        """(N, n_f) clearance above the ground [m], and whether the foot is in the air."""
        phases = self.timing.all_phases(times)
        swinging, progress = phases.swinging.T, phases.progress.T
        share = (config.clearance - _EVEN_CLEARANCE) / (CLEARANCE_MOST - _EVEN_CLEARANCE)
        power = 1.0 - _EARLIER * min(max(share, 0.0), 1.0)
        progress = np.clip(progress, 0.0, 1.0)
        lifted = np.maximum(np.sin(math.pi * progress), np.sin(math.pi * progress**power))
        return np.where(swinging, config.clearance * lifted**2, 0.0), swinging

    def pitch_wave(self, times: Array, sections: NDArray[np.int64], config: ReferenceConfig) -> Array:
        """(N,) pitch about the ground's: nose up where the back feet land, nose down where the front feet do [rad]."""
        phase = 2.0 * math.pi * (times - self._begins[sections] - self._nose_up[sections]) / self._periods[sections]
        return -self._pitch_share[sections] * config.pitch_amplitude * np.cos(phase)

    def _wave(self, schedule: ModeSchedule, hips: Sequence[Hip]) -> tuple[float, float]:
        """Amplitude of the pitch, as a share of the parameter, and an instant at which the nose is highest [s].

        With phases a, b of the middle of front and back stance,

            (cos(p - a) - cos(p - b)) / 2 = sin((a - b) / 2) sin(p - (a + b) / 2)

        which is a full wave where front and back take turns, as in a bound, and none where they land together. Of
        several front feet the middle is that of their mean phasor, whose length is a factor: feet that take turns, as
        in a trot, lift no nose.
        """
        phasors = []
        for front in (False, True):
            feet = [foot for foot, hip in zip(self.feet, hips, strict=True) if (hip.ahead > 0.0) == front]
            phasors.append(self._middle(schedule, feet))
        (back, back_share), (front_middle, front_share) = phasors
        gap = (front_middle - back) % schedule.period
        share = math.sin(math.pi * gap / schedule.period) * back_share * front_share
        return share, back + 0.5 * (gap - 0.5 * schedule.period)

    @staticmethod
    def _middle(schedule: ModeSchedule, feet: Iterable[str]) -> tuple[float, float]:
        """Middle of the stances of some feet [s], and their likeness, 0 to 1."""
        middles = [start + 0.5 * duration for start, duration in (schedule.stance(foot) for foot in feet)]
        if len(set(middles)) == 1:
            return middles[0], 1.0
        mean = np.mean(np.exp(2j * math.pi * np.array(middles) / schedule.period))
        return float(np.angle(mean)) * schedule.period / (2.0 * math.pi), float(abs(mean))


def sway(foot: FootPhases, speed: float | Array) -> Array:
    """(..., N) places of feet against their hips along an axis in which these move at speeds, any shape [m/s, m]."""
    ease = foot.progress - np.sin(2.0 * math.pi * foot.progress) / (2.0 * math.pi)
    begin, end = 0.5 * speed * foot.before, 0.5 * speed * foot.after
    forward = 0.5 * (begin + end) * (2.0 * ease - 1.0) + 0.5 * (end - begin)
    return np.where(foot.swinging, forward, begin * (1.0 - 2.0 * foot.progress))
