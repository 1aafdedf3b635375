r"""The optimal control problem of a motion.

    minimise   Σ_k h [ ½‖x − x_ref‖²_Q + ½‖u‖²_R + ½‖λ‖²_S ] + ½‖x_N − x_ref‖²_{Q_N}
    subject to the hybrid dynamics with the impact at touchdown; the height of each foot that lands;
               torques and torque-speed curve, unilateral forces, friction cone, joint ranges, clearances

as :mod:`contact_ddp_ros.mpc.contact_nodes` has it, over one motion that ends in a stand. The reference is a coarse
sketch (:mod:`contact_ddp_ros.mpc.motions.sketch`) with small weights: how the robot jumps is found by the optimisation,
only the end state counts much. Here is what all models share, and the plane;
:mod:`contact_ddp_ros.mpc.motions.spatial_problem` has the whole body.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.config import parameter
from contact_ddp_ros.control.motion_controller import start_coordinates, turning_index
from contact_ddp_ros.mpc.contact_problem import ContactLaw, ContactProblem, NodeCosts
from contact_ddp_ros.mpc.custom_term import Constraint
from contact_ddp_ros.mpc.custom_terms import OwnTerms
from contact_ddp_ros.mpc.grounds import FootGrounds
from contact_ddp_ros.mpc.horizon import Horizon
from contact_ddp_ros.mpc.motions.limits import Clearance, JointRange, TorqueSpeedLimit
from contact_ddp_ros.mpc.motions.sketch import sketch
from contact_ddp_ros.mpc.planar_reference import PlanarLeg
from contact_ddp_ros.ocp.protocol import Problem
from contact_ddp_ros.ocp.solution import Guess
from contact_ddp_ros.robot.gaits.grid import knot_grid
from contact_ddp_ros.robot.gaits.schedule import ModeSchedule
from contact_ddp_ros.robot.joint_pd import MotorConfig, TorqueSpeedCurve
from contact_ddp_ros.robot.models.model import Model
from contact_ddp_ros.robot.models.planar import PlanarModel
from contact_ddp_ros.robot.motion import MotionModes, MotionSpec

Array = NDArray[np.float64]


@dataclass(frozen=True)
class MotionConfig:
    """Limits and weights of a motion; weights per second, those of the end once."""

    baumgarte_rate: float = parameter(
        30.0, low=0.0, high=200.0, unit="1/s", description="stabilisation rate of the contacts"
    )
    friction: float = parameter(0.5, low=0.1, high=2.0, description="friction coefficient that forces may use")
    torque_share: float = parameter(0.85, low=0.1, high=1.0, description="share of the motors' torque that is planned")
    landing_share: float = parameter(
        0.35, low=0.1, high=1.0, description="the same after the touchdown of the longest flight"
    )
    joint_margin: float = parameter(0.1, low=0.0, high=1.0, unit="rad", description="kept from the joints' limits")
    knee_bend: float = parameter(0.5, low=-2.8, high=1.6, unit="rad", description="least angle of the knees")
    hip_margin: float = parameter(0.14, low=0.0, high=0.2, unit="m", description="least height of the hips' axes")
    drive_radius: float = parameter(
        0.048, low=0.0, high=0.2, unit="m", description="of the drives at the hips, on which a robot that lies rests"
    )
    knee_margin: float = parameter(0.03, low=0.0, high=0.2, unit="m", description="least height of the knees' axes")
    foot_clearance: float = parameter(0.03, low=0.0, high=0.2, unit="m", description="of the feet in mid-flight")
    tuck: float = parameter(0.7, low=0.0, high=1.0, description="how far legs fold in flight by the reference")
    height: float = parameter(20.0, low=0.0, description="weight of the trunk's height [1/m^2]")
    pitch: float = parameter(2.0, low=0.0, description="weight of the pitch [1/rad^2]")
    joints: float = parameter(1.0, low=0.0, description="weight of joint angles [1/rad^2]")
    rates: float = parameter(0.01, low=0.0, description="weight of joint rates [s^2/rad^2]")
    trunk_rates: float = parameter(0.1, low=0.0, description="weight of the trunk's velocities [s^2/m^2, s^2/rad^2]")
    touchdown_height: float = parameter(
        200.0, low=0.0, description="weight of the trunk's height before the impact [1/m^2], once"
    )
    touchdown_pitch: float = parameter(20.0, low=0.0, description="weight of the pitch before the impact, once")
    touchdown_rates: float = parameter(
        0.01, low=0.0, description="weight of joint rates before the impact [s^2/rad^2], once"
    )
    torque: float = parameter(2e-3, low=1e-9, description="weight of torques of a pair [1/(N m)^2]")
    flight_torque: float = parameter(0.02, low=1e-9, description="the same in flight")
    force: float = parameter(1e-5, low=0.0, description="weight of contact forces of a pair [1/N^2]")
    end: float = parameter(500.0, low=0.0, description="weight of the end's positions [1/m^2, 1/rad^2]")
    end_rates: float = parameter(20.0, low=0.0, description="weight of the end's velocities [s^2/m^2, s^2/rad^2]")


class MotionProblem(ABC):
    """One motion of one robot: grid, reference, problem and first guess.

    Attributes:
        legs: hip, knee and foot of each contact point.
        turning: index of the coordinate that counts the motion's turns, the last angle of the trunk.
        joints: (n_u,) a joint of the robot for each control.
        share: legs of a contact point over those of a pair, by which weights of a pair are multiplied.
    """

    joints: NDArray[np.int64]

    def __init__(
        self, model: Model, task: MotionSpec, config: MotionConfig | None = None, motor: MotorConfig | None = None
    ) -> None:
        """Compiles the kernels of contacts and limits where they are not in the cache.

        Raises:
            ParameterError: the motion moves legs apart that the model moves alike, or lands them on unlike heights.
        """
        self.model, self.task = model, task
        self.config = config or MotionConfig()
        self.rises = np.array(task.rises(model.legs_of))
        """(n_f,) how much higher each foot lands than it begins [m]."""
        tree = model.tree
        self.turning = turning_index(model)
        self.share = 0.5 * len(next(iter(model.legs_of.values())))
        self.legs = tuple(PlanarLeg.of_tree(tree, point.name) for point in tree.contacts)
        self.modes = MotionModes.of(task, model.legs_of)
        self.grid = knot_grid(self.modes, 0, len(self.modes.owners), task.step)
        self.start = start_coordinates(task, model)
        self.times = self.grid.times
        self.curve = TorqueSpeedCurve.of(model.robot.velocity_limits[self.joints], motor or MotorConfig())
        terms = OwnTerms(tree, model.axes, self._limits())
        schedule = ModeSchedule(self.modes.modes)
        self.contact = ContactProblem(tree, model.axes, schedule, "semi_implicit_euler", "ddp", None, terms)
        rise, tilt = float(self.rises.mean()), self._tilt()
        self.reference = sketch(task, model, self.times, rise=rise, tilt=tilt, tuck=self.config.tuck)

    def problem(self, touchdown: bool = True) -> Problem:
        """Problem in the layout of the compiled node functions; with the costs before the impact if `touchdown`."""
        law = ContactLaw(
            grounds=self._grounds(),
            baumgarte_rate=self.config.baumgarte_rate,
            friction=self.config.friction,
            force_scale=self.weight,
            torque_limits=self.model.torque_limits,
        )
        grid = self.grid
        stance = self.contact.stance_table()[grid.modes]
        own = self.contact.terms.numbers(Horizon(grid.times, stance, self.reference, None, 0.0))
        return self.contact.assemble(grid, law, {**vars(self._costs(touchdown)), **law.numbers()}, own)

    def _grounds(self) -> FootGrounds:
        """Level: those from which it begins, and from the touchdown on those on which the feet land."""
        landed = self.times >= self.task.flight[1] - 1e-9
        heights = np.where(landed[:, None], self.rises, 0.0)
        return FootGrounds(heights, np.zeros((*heights.shape, 2)))

    @property
    def weight(self) -> float:
        """Weight of the robot [N]."""
        tree = self.model.tree
        return -tree.mass * float(tree.gravity[2])

    def guess(self) -> Guess:
        """The reference's states, for multiple shooting, and torques that carry the weight at rest."""
        us = np.zeros((self.grid.n_nodes, len(self.model.torque_limits)))
        first = self.turning + 1
        down = self.contact.stance_table()[self.grid.modes[:-1]]
        feet = np.maximum(down.sum(axis=1), 1)
        upright = np.where(self.times[:-1] < self.task.flight[0], np.cos(self.start[self.turning]), 1.0)
        for f, leg in enumerate(self.legs):
            load = np.where(down[:, f] & ~self.grid.switches, upright * self.weight / feet, 0.0)
            angle = self.reference[:-1, leg.hip]
            knee_arm = leg.shank * np.sin(angle + self.reference[:-1, leg.knee])
            us[:, leg.hip - first] = -(leg.thigh * np.sin(angle) + knee_arm) * load
            us[:, leg.knee - first] = -knee_arm * load
        gains = np.zeros((*us.shape, len(self.start)))
        return Guess(self.reference.copy(), us, gains)

    @abstractmethod
    def _clearance(self) -> Constraint:
        """Clearance of the parts that must not touch the ground."""

    def _limits(self) -> Sequence[Constraint]:
        tree, config, task = self.model.tree, self.config, self.task
        curve = self.curve
        knees = [leg.knee for leg in self.legs]
        shares = np.where(self.times < task.flight[1], config.torque_share, config.landing_share)
        speed = TorqueSpeedLimit(tree, self.model.torque_limits, curve.full, curve.idle, shares)
        return JointRange(tree, config.joint_margin, knees, config.knee_bend), speed, self._clearance()

    def _foot_clearance(self) -> Array:
        """(N+1, n_f): a trapezium that leaves and meets the ground; nothing is asked of feet that stand.

        Over each foot's swing, from the first take-off to the last touchdown: before and after, feet may be anywhere.
        """
        rows, t = np.full((len(self.times), len(self.legs)), -1.0), self.times
        first, last = self.task.flights[0][0], self.task.flights[-1][1]
        for f, leg in enumerate(self.legs):
            for lifted, lands in self.task.swings(self.model.legs_of[leg.foot]):
                begin, end = max(lifted, first), min(lands, last)
                share = np.clip((t - begin) / max(end - begin, self.task.step), 0.0, 1.0)
                free = np.minimum(1.0, np.minimum(share, 1.0 - share) / 0.25)
                flying = (t > begin) & (t < end)
                rows[flying, f] = self.config.foot_clearance * free[flying] - 0.005
        return rows

    def _tilt(self) -> float:
        """Pitch of a stand on the heights on which the feet land [rad]."""
        hips = np.array([leg.hip_x for leg in self.legs])
        return -math.atan(float(np.polyfit(hips, self.rises, 1)[0]))

    def _costs(self, touchdown: bool) -> NodeCosts:
        config, grid, n = self.config, self.grid, self.model.tree.n
        _, n_u, n_f, n_a = self.contact.sizes
        rows = grid.n_nodes + 1
        joints = np.array(self.model.tree.actuated)
        running = np.zeros(2 * n)
        up, angles = self.model.height, slice(self.model.height + 1, self.turning + 1)
        running[up], running[angles] = config.height, config.pitch
        running[joints], running[n + joints] = self.share * config.joints, self.share * config.rates
        running[n : n + angles.stop] = config.trunk_rates
        weights = np.tile(running, (rows, 1))
        weights[:-1][grid.switches] = 0.0
        down = self.contact.stance_table()[grid.modes]
        stance = np.asarray(down.any(axis=1))
        lands = np.flatnonzero(grid.switches & ~stance[:-1] & stance[1:])
        if touchdown:
            weights[np.ix_(lands, n + joints)] = self.share * config.touchdown_rates
            weights[lands, up] = config.touchdown_height
            weights[lands, angles] = config.touchdown_pitch
        weights[-1] = np.repeat([config.end, config.end_rates], n)
        return NodeCosts(
            states=self.reference,
            state_weights=weights,
            torque_weights=np.tile(np.where(stance, config.torque, config.flight_torque)[:, None], (1, n_u))
            / self.share,
            forces=np.zeros((rows, n_f * n_a)),
            force_weights=np.full((rows, n_f * n_a), config.force / self.share),
            heights=np.zeros((rows, n_f)),
            height_weights=np.zeros((rows, n_f)),
        )


class PlanarMotionProblem(MotionProblem):
    """A motion in the sagittal plane."""

    def __init__(
        self, model: PlanarModel, task: MotionSpec, config: MotionConfig | None = None, motor: MotorConfig | None = None
    ) -> None:
        """Build the problem; arguments of :class:`MotionProblem`."""
        self.joints = model.pairs[:, 0]
        super().__init__(model, task, config, motor)

    def _clearance(self) -> Constraint:
        task, config = self.task, self.config
        return Clearance(
            self.legs,
            rise=task.rise,
            edge=task.edge,
            hip_margin=config.hip_margin,
            knee_margin=config.knee_margin,
            foot_clearance=self._foot_clearance(),
        )
