"""The optimal control problem of the receding horizon, with references and weights from tunable parameters."""

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.dynamics.kernels import KernelSet, build_kernels
from contact_ddp_ros.gaits.grid import KnotGrid
from contact_ddp_ros.gaits.sequence import GaitSequence
from contact_ddp_ros.models.model import Model
from contact_ddp_ros.models.planar import PlanarModel
from contact_ddp_ros.mpc.config import PYRAMID, GaitConfig, PlannerConfig
from contact_ddp_ros.mpc.contact_problem import ContactLaw, ContactProblem, NodeCosts, Penalty, kernel_levels
from contact_ddp_ros.mpc.own_terms import OwnTerms, configured_terms
from contact_ddp_ros.mpc.planar_reference import PlanarReference
from contact_ddp_ros.mpc.reference import GaitReference, Motion, gait_schedule
from contact_ddp_ros.mpc.user_term import Horizon
from contact_ddp_ros.mpc.whole_body_reference import WholeBodyReference
from contact_ddp_ros.robot.ground import LocalGround
from contact_ddp_ros.solver.protocol import Problem

Array = NDArray[np.float64]


def reference_of(model: Model, gait: GaitConfig, sequence: GaitSequence | None = None) -> GaitReference:
    """What a gait wants of a model; without a `sequence` the configured gait for ever.

    Raises:
        ParameterError: the gait is not for the model, or not for the grid.
    """
    kind = PlanarReference if model.name == PlanarModel.name else WholeBodyReference
    return kind(model.tree, gait, sequence)


class ProblemBuilder(ContactProblem):
    """Builds contact problems of one model along a sequence of gaits, with costs by configuration."""

    def __init__(
        self,
        model: Model,
        config: PlannerConfig,
        kernels: KernelSet | None = None,
        sequence: GaitSequence | None = None,
        terms: OwnTerms | None = None,
    ) -> None:
        """Without a `sequence` it is the configured gait for ever; what is not given is loaded or compiled.

        Raises:
            ParameterError: the gait is not for the model or the grid, or a user's term cannot be used.
        """
        self.model = model
        self.config = config
        self.reference = reference_of(model, config.gait, sequence)
        self.sequence = self.reference.sequence
        kernels = kernels or _kernels(model, self.sequence, config.variant)
        terms = terms or OwnTerms(model.tree, model.axes, configured_terms(config))
        integrator = config.gait.integrator
        super().__init__(model.tree, model.axes, self.sequence, integrator, config.variant, kernels, terms)
        legs = np.array([len(model.legs_of[foot]) for foot in self.feet])
        self._legs = legs
        """Of each contact point: weights are those of a pair."""

    def along(self, sequence: GaitSequence) -> "ProblemBuilder":
        """The same along another sequence of the gaits that are known."""
        return ProblemBuilder(self.model, self.config, self.kernels, sequence, self.terms)

    def knowing(self, gait: GaitConfig) -> tuple["ProblemBuilder", int]:
        """The same with one more gait, whose kernels are loaded or compiled now, and that gait's index.

        Raises:
            ParameterError: the gait is not for the model or the grid.
        """
        schedule = gait_schedule(self.model, gait)
        sequence = self.sequence.knowing(gait.name, schedule)
        index = sequence.gaits.index((gait.name, schedule))
        if sequence is self.sequence:
            return self, index
        reference_of(self.model, gait)  # which refuses what it cannot follow
        return ProblemBuilder(self.model, self.config, None, sequence, self.terms), index

    def build(
        self, grid: KnotGrid, config: PlannerConfig, motion: Motion, ground: LocalGround | None = None
    ) -> tuple[Problem, Array]:
        """The problem along a grid for a motion, and its (N+1, 2n) reference states.

        ground: in the model's axes; by default level at the configured height.
        """
        ground = ground or LocalGround(config.ground.height)
        costs = self._costs(grid, config, motion, ground)
        constraint = config.constraint
        law = ContactLaw(
            ground_height=ground.height,
            ground_slopes=(ground.slope, ground.aside),
            baumgarte_rate=constraint.baumgarte_rate,
            friction=config.ground.friction,
            pyramid=constraint.friction_cone == PYRAMID,
            force_scale=self.reference.mean_force,
            torque_limits=constraint.torque_share * self.effort_limits,
        )
        numbers = None
        if self.terms.terms:
            times, stance = grid.times - self.reference.sequence.epoch, self.stance_table()[grid.modes]
            numbers = self.terms.numbers(Horizon(times, stance, costs.states, config, motion.forward))
        return self.assemble(grid, costs, law, numbers), costs.states

    @staticmethod
    def penalty(config: PlannerConfig) -> Array:
        """(3,) settings of the solver's penalties."""
        constraint = config.constraint
        return Penalty(constraint.touchdown_penalty, constraint.barrier_width, constraint.barrier_weight).array()

    def _costs(self, grid: KnotGrid, config: PlannerConfig, motion: Motion, ground: LocalGround) -> NodeCosts:
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
        share = 0.5 * self._legs  # of a pair: half of its joints' motion, twice its torques and forces
        torques = np.where(down, weight.torque, weight.swing_torque) / share
        return NodeCosts(
            states=self.reference.states(times, config.reference, motion, ground),
            state_weights=scale[:, None] * self.reference.state_weights(config),
            torque_weights=np.repeat(torques, n_u // n_f, axis=1),
            forces=forces,
            force_weights=np.tile(np.repeat(weight.force / share, n_a), (n_rows, 1)),
            heights=heights + ground.height,
            height_weights=np.where(swinging & ~down, share * weight.foot_height, 0.0),
        )


def _kernels(model: Model, sequence: GaitSequence, variant: str) -> KernelSet:
    """Of all known gaits: a library for each, so that one more gait compiles its own only."""
    levels, names = kernel_levels(variant), iter(sequence.modes)
    merged = None
    for _, schedule in sequence.gaits:
        modes = {mode.name: mode.contacts for mode in schedule.modes}
        own = build_kernels(model.tree, modes, model.axes, levels=levels).renamed(
            {mode.name: next(names).name for mode in schedule.modes}
        )
        merged = own if merged is None else merged.merged(own)
    assert merged is not None
    return merged
