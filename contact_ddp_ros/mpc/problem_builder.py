"""The optimal control problem of the receding horizon, with references and weights from tunable parameters."""

import math

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.dynamics.kernels import KernelSet, build_kernels
from contact_ddp_ros.gaits.grid import KnotGrid
from contact_ddp_ros.gaits.sequence import GaitSequence
from contact_ddp_ros.models.planar import AXES
from contact_ddp_ros.mpc.config import GaitConfig, PlannerConfig
from contact_ddp_ros.mpc.contact_problem import ContactLaw, ContactProblem, NodeCosts, Penalty, kernel_levels
from contact_ddp_ros.mpc.own_terms import OwnTerms, configured_terms
from contact_ddp_ros.mpc.reference import PlanarReference, planar_schedule
from contact_ddp_ros.mpc.user_term import Horizon
from contact_ddp_ros.robot.ground import GroundLine
from contact_ddp_ros.robot.tree import RigidBodyTree
from contact_ddp_ros.solver.protocol import Problem

Array = NDArray[np.float64]


def upright_friction(friction: float, slope: float) -> float:
    """The coefficient of the widest cone about the vertical that lies within the cone about a slope's normal.

    No less than a tenth of the friction: where the ground is too steep, forces still need a direction.
    """
    return max(math.tan(math.atan(friction) - abs(math.atan(slope))), 0.1 * friction)


class ProblemBuilder(ContactProblem):
    """Builds contact problems of one planar tree along a sequence of gaits, with costs by configuration."""

    def __init__(
        self,
        tree: RigidBodyTree,
        config: PlannerConfig,
        kernels: KernelSet | None = None,
        sequence: GaitSequence | None = None,
        terms: OwnTerms | None = None,
    ) -> None:
        """Without a `sequence` it is the configured gait for ever; what is not given is loaded or compiled.

        Raises:
            ParameterError: the gait is not for the planar model or the grid, or a user's term cannot be used.
        """
        self.config = config
        self.reference = PlanarReference(tree, config.gait, sequence)
        self.sequence = self.reference.sequence
        kernels = kernels or _kernels(tree, self.sequence, config.variant)
        terms = terms or OwnTerms(tree, AXES, configured_terms(config))
        super().__init__(tree, self.sequence, config.gait.integrator, config.variant, kernels, terms)

    def along(self, sequence: GaitSequence) -> "ProblemBuilder":
        """The same along another sequence of the gaits that are known."""
        return ProblemBuilder(self.tree, self.config, self.kernels, sequence, self.terms)

    def knowing(self, gait: GaitConfig) -> tuple["ProblemBuilder", int]:
        """The same with one more gait, whose kernels are loaded or compiled now, and that gait's index.

        Raises:
            ParameterError: the gait is not for the planar model or the grid.
        """
        schedule = planar_schedule(gait)
        sequence = self.sequence.knowing(gait.name, schedule)
        index = sequence.gaits.index((gait.name, schedule))
        if sequence is self.sequence:
            return self, index
        PlanarReference(self.tree, gait)  # which refuses what it cannot follow
        return ProblemBuilder(self.tree, self.config, None, sequence, self.terms), index

    def build(
        self, grid: KnotGrid, config: PlannerConfig, speed: float, x0: float = 0.0, ground: GroundLine | None = None
    ) -> tuple[Problem, Array]:
        """The problem along a grid for a commanded speed [m/s], and its (N+1, 2n) reference states.

        x0: where the trunk's reference starts [m]; on level ground only plots depend on it, no cost does.
        ground: in the model's plane; by default level at the configured height.
        """
        ground = ground or GroundLine(config.ground.height)
        costs = self._costs(grid, config, speed, x0, ground)
        constraint = config.constraint
        law = ContactLaw(
            ground_height=ground.height,
            ground_slope=ground.slope,
            baumgarte_rate=constraint.baumgarte_rate,
            friction=upright_friction(config.ground.friction, ground.slope),
            force_scale=self.reference.mean_force,
            torque_limits=constraint.torque_share * self.effort_limits,
        )
        numbers = None
        if self.terms.terms:
            times, stance = grid.times - self.reference.sequence.epoch, self.stance_table()[grid.modes]
            numbers = self.terms.numbers(Horizon(times, stance, costs.states, config, speed))
        return self.assemble(grid, costs, law, numbers), costs.states

    @staticmethod
    def penalty(config: PlannerConfig) -> Array:
        """(3,) settings of the solver's penalties."""
        constraint = config.constraint
        return Penalty(constraint.touchdown_penalty, constraint.barrier_width, constraint.barrier_weight).array()

    def _costs(self, grid: KnotGrid, config: PlannerConfig, speed: float, x0: float, ground: GroundLine) -> NodeCosts:
        _, n_u, n_f, n_a = self.sizes
        weight = config.weight
        n_rows = grid.n_nodes + 1
        times = grid.times - self.reference.sequence.epoch
        scale = np.ones(n_rows)
        scale[:-1][grid.switches] = weight.switch
        scale[-1] = weight.terminal
        down = self.stance_table()[grid.modes]
        forces = np.zeros((n_rows, n_f * n_a))
        forces[:, n_a - 1 :: n_a] = self.reference.mean_forces(times)[:, None]
        heights, swinging = self.reference.foot_heights(times, config.reference)
        return NodeCosts(
            states=self.reference.states(times, config.reference, ground.height, speed, x0, ground.slope),
            state_weights=scale[:, None] * self._state_weights(config),
            torque_weights=np.where(np.repeat(down, n_u // n_f, axis=1), weight.torque, weight.swing_torque),
            forces=forces,
            force_weights=np.full((n_rows, n_f * n_a), weight.force),
            heights=heights + ground.height,
            height_weights=np.where(swinging & ~down, weight.foot_height, 0.0),
        )

    def _state_weights(self, config: PlannerConfig) -> Array:
        weight, n = config.weight, self.tree.n
        weights = np.zeros(2 * n)
        joints = list(self.tree.actuated)
        weights[1], weights[2] = weight.height, weight.pitch
        weights[n : n + 3] = weight.forward_velocity, weight.vertical_velocity, weight.pitch_rate
        weights[joints] = weight.joints
        weights[[n + joint for joint in joints]] = weight.joint_rates
        return weights


def _kernels(tree: RigidBodyTree, sequence: GaitSequence, variant: str) -> KernelSet:
    """Of all known gaits: a library for each, so that one more gait compiles its own only."""
    levels, names = kernel_levels(variant), iter(sequence.modes)
    merged = None
    for _, schedule in sequence.gaits:
        own = build_kernels(tree, {mode.name: mode.contacts for mode in schedule.modes}, AXES, levels=levels).renamed(
            {mode.name: next(names).name for mode in schedule.modes}
        )
        merged = own if merged is None else merged.merged(own)
    assert merged is not None
    return merged
