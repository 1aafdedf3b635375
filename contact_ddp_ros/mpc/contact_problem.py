"""Assembles contact problems: kernels, node kinds and the numbers of the terms in the layout of `contact_nodes`.

What depends on the robot and the schedule only (kernels, integer tables) is built once; costs and limits enter the
float arrays of each problem, so a change of theirs never compiles anything. Where the terms' numbers come from is not
known here.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from contact_ddp_ros.base.compiled.kernel_set import KernelSet
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.dynamics.contact import ALPHA
from contact_ddp_ros.dynamics.kernels import LEVELS, TENSOR_LEVELS, build_kernels
from contact_ddp_ros.mpc import contact_nodes
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.custom_terms import OwnTerms
from contact_ddp_ros.mpc.euler_switch_nodes import chart_kernels
from contact_ddp_ros.mpc.grounds import GroundModel, planes_in
from contact_ddp_ros.mpc.layout import Sizes, aux_offsets
from contact_ddp_ros.mpc.optional_kernels import kernel_table, n_aux
from contact_ddp_ros.mpc.single_rigid_body import SingleRigidBodyModel
from contact_ddp_ros.mpc.term_sums import TermLayout
from contact_ddp_ros.mpc.terms import TERMS
from contact_ddp_ros.mpc.terms.friction_cone import COEFFICIENT
from contact_ddp_ros.mpc.terms.term import Argument
from contact_ddp_ros.ocp.protocol import Problem
from contact_ddp_ros.robot.attitude import Chart
from contact_ddp_ros.robot.gaits.grid import KnotGrid
from contact_ddp_ros.robot.gaits.schedule import ModeSchedule
from contact_ddp_ros.robot.gaits.sequence import GaitSequence
from contact_ddp_ros.robot.ground import NO_PAYLOAD, Payload, cone_excess
from contact_ddp_ros.robot.tree import RigidBodyTree

Array = NDArray[np.float64]

_STABLE = 0.5
"""Largest product of a time step and Baumgarte's rate: from 0.83 on the stabilisation itself is unstable."""

_SCHEMES = {
    "forward_euler": at.FORWARD_EULER,
    "semi_implicit_euler": at.SEMI_IMPLICIT_EULER,
    "implicit_midpoint": at.IMPLICIT_MIDPOINT,
}


@dataclass(frozen=True)
class Penalty:
    """Settings of the solver's penalties: AL penalty σ, barrier width δ and weight ε."""

    sigma: float
    delta: float
    epsilon: float

    def array(self) -> Array:
        """(3,) as the node functions read it."""
        return np.array([self.sigma, self.delta, self.epsilon])


@dataclass(frozen=True)
class NodeCosts:
    """References and weights of the quadratic costs of a problem without a planner, a row per node and one for the end.

    `vars` of it are the numbers of the terms by name. At a time step costs are integrated over its length; at a switch
    and at the end only those of the state count.

    Attributes:
        states, state_weights: (N+1, 2n).
        torque_weights: (N+1, n_u) of the torques themselves.
        forces, force_weights: (N+1, n_f n_a), foot by foot; those of feet in the air do not count.
        heights, height_weights: (N+1, n_f) of the feet's lowest points above their grounds [m].
    """

    states: Array
    state_weights: Array
    torque_weights: Array
    forces: Array
    force_weights: Array
    heights: Array
    height_weights: Array


@dataclass(frozen=True, kw_only=True)
class ContactLaw(GroundModel):
    """The ground and what the constraints allow at every node of a problem without a planner.

    Attributes:
        friction: coefficient. pyramid: the inscribed one instead of the cone in space.
        force_scale: by which the barriers of forces are normalised [N].
        torque_limits: (n_u,) [N m].
    """

    friction: float
    force_scale: float
    torque_limits: Array
    pyramid: bool = False

    def numbers(self) -> dict[str, ArrayLike]:
        """The numbers of the limits' terms by name."""
        friction = np.array([self.friction, self.force_scale, float(self.pyramid)])
        return {"torque_limits": self.torque_limits, "friction": friction, "impulse_scale": self.force_scale}


def kernel_levels(variant: str) -> tuple[str, ...]:
    """The kernels that a variant of the solver needs."""
    return LEVELS + TENSOR_LEVELS if variant == "ddp_tensor" else LEVELS


class ContactProblem:
    """Builds :class:`Problem` objects for one tree, the modes of one or more schedules, and one integration scheme."""

    def __init__(
        self,
        tree: RigidBodyTree,
        axes: tuple[int, ...],
        schedule: ModeSchedule | GaitSequence,
        integrator: str,
        variant: str,
        kernels: KernelSet | None = None,
        terms: OwnTerms | None = None,
        tail: SingleRigidBodyModel | None = None,
        charts: Mapping[str, Chart] | None = None,
    ) -> None:
        """Contacts act along the world's `axes`, the normal last. `tail` serves grids that have one.

        `charts` are those of the attitude, by mode, of a floating base whose tree has the order of BASE_JOINTS; without
        them all is in the tree's own coordinates. Kernels, where given, must be those of the charts.

        Raises ParameterError where second order is asked for by tensors and the integrator is implicit, or where there
        are charts and terms of the user, which know one only.
        """
        if variant == "ddp_tensor" and integrator == "implicit_midpoint":
            raise ParameterError("the implicit midpoint has no second order by tensors; use variant ddp or ilqr")
        if charts is not None and terms is not None and terms.terms:
            raise ParameterError("terms of one's own depend on coordinates of one chart; leave the charts out")
        self.terms = terms or OwnTerms(tree, axes, ())
        self.tree = tree
        self.schedule = schedule
        self.n_axes = len(axes)
        self.halved = integrator == "semi_implicit_euler"
        """True if positions follow from velocities, q⁺ = q + h v⁺."""
        self.feet = tuple(point.name for point in tree.contacts)
        modes = {mode.name: mode.contacts for mode in schedule.modes}
        levels = kernel_levels(variant)
        self._charts = None if charts is None else np.array([charts[mode.name] for mode in schedule.modes])
        """(n_modes,), None where there is one only."""
        if kernels is None and charts is not None:
            kernels = chart_kernels(tree, modes, charts, axes, levels)
        self.kernels = kernels or build_kernels(tree, modes, axes, levels=levels)
        self.integers = kernel_table(
            tree, self.kernels, modes, self.n_axes, _SCHEMES[integrator], levels, self.terms.kernels
        )
        self.sizes = Sizes(tree.n, len(tree.actuated), len(self.feet), self.n_axes)
        self.layout = TermLayout.of(self.sizes)
        self.tail = tail
        if tail is not None:
            tail.link(self.integers)
        self.integers[at.FOOTHOLDS], self.integers[at.INERTIA] = self.layout.footholds.start, self.layout.body.start
        self.effort_limits = np.array([tree.joints[i].effort_limit for i in tree.actuated])
        self._names = self._constraint_names()

    def assemble(
        self,
        grid: KnotGrid,
        ground: GroundModel,
        numbers: Mapping[str, ArrayLike],
        own: Array | None = None,
        impulse_time: float = 0.0,
        payload: Payload = NO_PAYLOAD,
        drive_inertia: float = 0.0,
    ) -> Problem:
        """The problem along a grid.

        Args:
            grid: of N nodes and the end.
            ground: under each foot.
            numbers: of the packaged terms, by name of the block: (N+1, size) with a row for each node, or what
                broadcasts to it, or (size,) where all nodes share them.
            own: (N+1, n) numbers of the user's terms.
            impulse_time: over which the impulses of feet that land count as forces, which must not pull [s]; they may
                where it is zero, and at a touchdown at the first node, which follows from the state.
            payload: of the trunk.
            drive_inertia: that each joint with a motor has beside its armature [kg m²].
        """
        n, n_u, _, _ = self.sizes
        layout = self.layout
        kinds = np.full(grid.n_nodes + 1, at.STEP, dtype=np.int64)
        kinds[-1] = at.TERMINAL
        stance = self.stance_table()
        landing = stance[grid.modes[1:]] & ~stance[grid.modes[:-1]] & grid.switches[:, None]
        if grid.near is not None:
            kinds[grid.near : -1] = at.RIGID_BODY
        kinds[:-1][grid.switches] = np.where(landing[grid.switches].any(axis=1), at.TOUCHDOWN, at.LIFT_OFF)
        changing = self._changes(grid, kinds)
        kinds[:-1][changing] = at.CHART_CHANGE
        halved = self.halved and not changing.any()

        durations = np.where(kinds[:-1] == at.TOUCHDOWN, impulse_time, grid.durations)
        if kinds[0] == at.TOUCHDOWN:
            durations[0] = 0.0
        rows = np.zeros((grid.n_nodes + 1, layout.row_size + self.terms.n_parameters))
        rows[:-1, at.DURATION] = durations
        rows[:, layout.model] = ground.rows(len(rows))
        rows[:, at.PAYLOAD : at.ROTOR] = payload.array()
        rows[:, at.ROTOR] = drive_inertia
        stable = _STABLE / np.maximum(grid.durations, 1e-9)
        rows[:-1, at.MODEL + ALPHA] = np.minimum(rows[:-1, at.MODEL + ALPHA], stable)
        rows[:-1, layout.lands] = landing
        for name, place in layout.rows.items():
            rows[:, place] = numbers[name]
        if own is not None:
            rows[:, layout.row_size :] = own
        parameters = np.zeros(layout.n_parameters)
        for name, place in layout.parameters.items():
            parameters[place] = numbers[name]
        if grid.near is not None:
            assert self.tail is not None
            parameters[layout.body] = self.tail.body.carrying(payload).array()
            states = rows[grid.near : -1, layout.rows["states"]].copy()
            given = grid.modes[grid.near : -1].copy(), rows[grid.near : -1].copy(), states
            rows[grid.near : -1, layout.footholds] = self.tail.footholds(self.integers, *given)
        return Problem(
            n_x=2 * n,
            n_u=n_u,
            n_e=layout.n_e,
            n_aux=n_aux(self.sizes, self.kernels),
            has_control=~grid.switches,
            integers=self.integers,
            node_integers=np.column_stack([grid.modes, kinds]).astype(np.int64),
            parameters=parameters,
            node_parameters=rows,
            step=contact_nodes.step,
            first=contact_nodes.first,
            second=contact_nodes.second,
            n_i=layout.n_i + len(self.terms.inequality_names),
            position_steps=np.where(grid.switches, 0.0, grid.durations) if halved else None,
            inequality_weights=durations,
            constraint_names=self._names,
            n_kept=aux_offsets(*self.sizes).factor,
        )

    def _changes(self, grid: KnotGrid, kinds: NDArray[np.int64]) -> NDArray[np.bool_]:
        """(N,) nodes where the chart changes.

        Raises:
            ParameterError: a foot lands there.
        """
        if self._charts is None:
            return np.zeros(grid.n_nodes, dtype=np.bool_)
        charts = self._charts[grid.modes]
        changing = np.asarray((charts[1:] != charts[:-1]) & grid.switches)
        if (kinds[:-1][changing] == at.TOUCHDOWN).any():
            raise ParameterError("the attitude's chart changes where a foot lands; change it in another switch")
        return changing

    def _constraint_names(self) -> tuple[str, ...]:
        """Names of a node's residuals in their order: equalities, inequalities, those of the user's constraints."""
        motors = [self.tree.joints[joint].name for joint in self.tree.actuated]
        names: dict[bool, list[str]] = {True: [], False: []}
        for term in TERMS:
            entries = motors if term.argument is Argument.TORQUE else self.feet
            kinds = term.constraints(self.n_axes)
            names[term.equality] += [kind.format(entry) for entry in entries for kind in kinds]
        return (*names[True], *names[False], *self.terms.inequality_names)

    def forces(self, grid: KnotGrid, aux: Array) -> Array:
        """(N, n_f n_a) contact forces of a solution's nodes [N], zero in the air and at switches."""
        n, _, _, n_a = self.sizes
        forces = np.zeros((grid.n_nodes, len(self.feet) * n_a))
        for index, mode in enumerate(self.schedule.modes):
            rows = (grid.modes[:-1] == index) & ~grid.switches
            for c, name in enumerate(mode.contacts):
                foot = self.feet.index(name)
                forces[rows, foot * n_a : (foot + 1) * n_a] = aux[:-1][rows, n + c * n_a : n + (c + 1) * n_a]
        return forces

    def friction_violation(self, forces: Array, problem: Problem) -> float:
        """Largest violation [N] of the normal forces' sign or of the friction cone by forces (N, n_f n_a)."""
        by_foot = forces.reshape(len(forces), len(self.feet), self.n_axes)
        slopes = -planes_in(problem.node_parameters[: len(forces)], len(self.feet))[..., 1 : self.n_axes]
        friction = problem.parameters[self.layout.parameters["friction"]][COEFFICIENT]
        return max(0.0, float(cone_excess(by_foot, float(friction), slopes).max()))

    def stance_table(self) -> NDArray[np.bool_]:
        """(n_modes, n_f): which foot is down in which mode."""
        return np.array([[foot in mode.contacts for foot in self.feet] for mode in self.schedule.modes])
