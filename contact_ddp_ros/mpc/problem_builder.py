"""The optimal control problem of the receding horizon, with references and weights from tunable parameters."""

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.dynamics.contact import level_parameters
from contact_ddp_ros.dynamics.kernels import KernelSet, build_kernels
from contact_ddp_ros.mpc.config import RIGID_BODY, GaitConfig, PlannerConfig
from contact_ddp_ros.mpc.contact_problem import ContactProblem, Penalty, kernel_levels
from contact_ddp_ros.mpc.custom_term import Reference, configured_reference, followed_horizon
from contact_ddp_ros.mpc.custom_terms import OwnTerms, configured_terms
from contact_ddp_ros.mpc.grounds import FootGrounds, GroundModel
from contact_ddp_ros.mpc.horizon import GaitHorizon
from contact_ddp_ros.mpc.layout import model_row
from contact_ddp_ros.mpc.reference import TrunkCommand, gait_schedule, gait_sequence
from contact_ddp_ros.mpc.single_rigid_body import SingleRigidBodyModel, balancing_gains
from contact_ddp_ros.mpc.terms import TERMS
from contact_ddp_ros.mpc.whole_body_reference import reference_of
from contact_ddp_ros.ocp.protocol import Problem
from contact_ddp_ros.robot.attitude import Chart
from contact_ddp_ros.robot.gaits.grid import KnotGrid
from contact_ddp_ros.robot.gaits.sequence import GaitSequence
from contact_ddp_ros.robot.ground import FootHeights, LocalGround
from contact_ddp_ros.robot.models.model import Model
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel

Array = NDArray[np.float64]


class ProblemBuilder(ContactProblem):
    """Builds contact problems of one model along a sequence of gaits, with costs by configuration."""

    def __init__(
        self,
        model: Model,
        config: PlannerConfig,
        kernels: KernelSet | None = None,
        sequence: GaitSequence | None = None,
        terms: OwnTerms | None = None,
        own_reference: Reference | None = None,
        tail: SingleRigidBodyModel | None = None,
    ) -> None:
        """Without a `sequence` it is the configured gait for ever; what is not given is loaded or compiled.

        Raises:
            ParameterError: the gait is not for the model or the grid, or a user's term or reference cannot be used.
        """
        self.model = model
        self.config = config
        self.reference = reference_of(model, config.gait, sequence)
        self.sequence = self.reference.sequence
        self.own_reference = own_reference or configured_reference(config)
        kernels = kernels or _kernels(model, self.sequence, config.variant)
        terms = terms or OwnTerms(model.tree, model.axes, configured_terms(config))
        integrator = config.gait.integrator
        if tail is None and config.horizon.far_model == RIGID_BODY:
            tail = SingleRigidBodyModel.of(model.tree, model.axes, self._posture(config))
        super().__init__(model.tree, model.axes, self.sequence, integrator, config.variant, kernels, terms, tail)
        self._alike = max(map(len, model.legs_of.values()))
        """Drives of a joint: legs that a model moves alike are one."""
        self._pair_share = 0.5 * np.array([len(model.legs_of[foot]) for foot in self.feet])

    def along(self, sequence: GaitSequence) -> "ProblemBuilder":
        """Copy along another sequence of the gaits that are known."""
        return self._with(self.kernels, sequence)

    def knowing(self, gait: GaitConfig) -> tuple["ProblemBuilder", int]:
        """Copy with one more gait, whose kernels are loaded or compiled now, and that gait's index.

        Raises:
            ParameterError: the gait is not for the model or the grid.
        """
        self.check_gait(gait)
        schedule = gait_schedule(self.model, gait)
        sequence = self.sequence.knowing(gait.name, schedule)
        index = sequence.gaits.index((gait.name, schedule))
        return (self if sequence is self.sequence else self._with(None, sequence)), index

    def check_gait(self, gait: GaitConfig) -> None:
        """Refuse a gait with ParameterError where it is not for the model or the grid; compiles nothing."""
        reference_of(self.model, gait)

    def in_chart(self, chart: Chart) -> "ProblemBuilder":
        """Copy in another Euler convention, for a whole body; loads or compiles its kernels the first time.

        Raises:
            ParameterError: a user's term cannot be used in its coordinates.
        """
        if chart is self.model.chart:
            return self
        assert isinstance(self.model, WholeBodyModel)
        model = self.model.in_chart(chart)
        return ProblemBuilder(model, self.config, None, self.sequence, None, self.own_reference)

    def _posture(self, config: PlannerConfig) -> Array:
        """(n,) coordinates of the reference at rest, their mean over a cycle."""
        times = np.arange(0.0, self.sequence.period, config.gait.step)
        states = self.reference.states(times, config.reference, TrunkCommand(0.0), LocalGround(0.0))
        return np.asarray(states[:, : self.model.tree.n].mean(axis=0))

    def _with(self, kernels: KernelSet | None, sequence: GaitSequence) -> "ProblemBuilder":
        return ProblemBuilder(self.model, self.config, kernels, sequence, self.terms, self.own_reference, self.tail)

    def build(
        self,
        grid: KnotGrid,
        config: PlannerConfig,
        motion: TrunkCommand,
        ground: LocalGround | None = None,
        feet: FootHeights | FootGrounds | None = None,
    ) -> tuple[Problem, Array]:
        """The problem along a grid for a motion, and its (N+1, 2n) reference states.

        Args:
            grid: of the horizon.
            config: parameters.
            motion: of the trunk.
            ground: the plane that the trunk follows, in the model's axes; by default level at the configured height.
            feet: how far that of each foot lies above it, or planes of their own; by default it is under all feet.
        """
        ground = ground or LocalGround(config.ground.height)
        horizon = self.horizon(grid, config, motion, ground)
        grounds = self._grounds(horizon, feet)
        model = GroundModel(grounds=grounds, baumgarte_rate=config.constraint.baumgarte_rate)
        numbers = {block.name: block.value(horizon) for term in TERMS for block in (*term.rows, *term.parameters)}
        own = self.terms.numbers(horizon) if self.terms.terms else None
        loads = config.payload, config.drive_inertia * self._alike
        return self.assemble(grid, model, numbers, own, config.constraint.impulse_time, *loads), horizon.states

    def balancing_forces(self, grid: KnotGrid, xs: Array, wanted: NDArray[np.bool_]) -> tuple[Array, Array]:
        """Controls (n, n_u) and gains (n, n_u, 2n) of a tail's n nodes about the reference: the weight, and balance.

        The grid's times count from the gait's epoch. Nodes that are not `wanted` have the weight alone.
        """
        assert self.tail is not None and grid.near is not None
        n, n_u, n_f, n_a = self.sizes
        nodes = np.arange(grid.near, grid.n_nodes)
        us, gains = np.zeros((len(nodes), n_u)), np.zeros((len(nodes), n_u, 2 * n))
        stance = self.stance_table()[grid.modes[nodes]]
        us[:, n_a - 1 : n_f * n_a : n_a] = self.reference.mean_forces(grid.times[nodes])[:, None] * stance
        level = np.tile(model_row(level_parameters(n_f)), (len(nodes), 1))
        feet = self.tail.footholds(self.integers, grid.modes[nodes], level, xs[nodes])
        shifts, n_b = self.model.height + 1, n - n_u
        for k in np.flatnonzero(wanted[nodes] & stance.any(axis=1)):
            down = np.repeat(stance[k], n_a)
            place = np.zeros(3)
            place[list(self.model.axes)] = xs[nodes[k], :shifts]
            own = balancing_gains(self.tail, self.tree, self.model.axes, feet[k][down], place)
            rows = np.flatnonzero(down)
            gains[k, rows, :n_b], gains[k, rows, n : n + n_b] = own[:, :n_b], own[:, n_b:]
        return us, gains

    def _grounds(self, horizon: GaitHorizon, feet: FootHeights | FootGrounds | None) -> FootGrounds:
        if feet is None:
            return FootGrounds.shared(horizon.ground, len(self.feet))
        if isinstance(feet, FootGrounds):
            return feet
        stance = horizon.stance.copy()
        if horizon.switches[0]:  # a foot that lands now stands where it is
            stance[0] |= stance[1]
        phases = self.reference.timing.all_phases(horizon.times)
        return FootGrounds.of_heights(horizon.ground, feet, stance, phases.swinging.T, phases.progress.T)

    @staticmethod
    def penalty(config: PlannerConfig) -> Array:
        """(3,) settings of the solver's penalties."""
        constraint = config.constraint
        return Penalty(constraint.touchdown_penalty, constraint.barrier_width, constraint.barrier_weight).array()

    def horizon(self, grid: KnotGrid, config: PlannerConfig, motion: TrunkCommand, ground: LocalGround) -> GaitHorizon:
        """References and weights along a grid: the packaged ones, or what the user's class makes of them.

        Raises:
            ParameterError: the user's reference gives an array of another shape, or a number that is not finite.
        """
        _, _, n_f, n_a = self.sizes
        times = grid.times - self.reference.sequence.epoch
        forces = np.zeros((grid.n_nodes + 1, n_f * n_a))
        heavier = 1.0 + config.payload.mass / self.tree.mass
        forces[:, n_a - 1 :: n_a] = heavier * self.reference.mean_forces(times)[:, None]
        clearances, swinging = self.reference.foot_heights(times, config.reference)
        packaged = GaitHorizon(
            times=times,
            switches=grid.switches,
            stance=self.stance_table()[grid.modes],
            states=self.reference.states(times, config.reference, motion, ground),
            clearances=clearances,
            swinging=swinging,
            forces=forces,
            config=config,
            speed=motion.forward,
            motion=motion,
            ground=ground,
            coordinates=self.model.coordinates,
            state_weights=self.reference.state_weights(config),
            torque_limits=self.effort_limits,
            mean_force=self.reference.mean_force,
            pair_share=self._pair_share,
            near=grid.near,
        )
        return packaged if self.own_reference is None else followed_horizon(self.own_reference, packaged)


def compile_gait(model: Model, gait: GaitConfig, variant: str) -> None:
    """Compile the kernels of a gait into the cache, unless they are there.

    Raises:
        ParameterError: the gait is not for the model or the grid.
    """
    _kernels(model, gait_sequence(model, gait), variant)


def _kernels(model: Model, sequence: GaitSequence, variant: str) -> KernelSet:
    """Kernels of all known gaits: a library for each, so that one more gait compiles its own only."""
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
