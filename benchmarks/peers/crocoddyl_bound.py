"""A gait's problem handed to Crocoddyl, number by number from the arrays that our own solver reads.

Everything that runs inside an iteration is Crocoddyl's compiled C++: `DifferentialActionModelContactFwdDynamics` with
`ActuationModelFloatingBase`, semi-implicit `IntegratedActionModelEuler`, `ActionModelImpulseFwdDynamics` at touchdown,
and its own residuals. Armature is part of the pinocchio model. Where the two could not be made equal, the choice that
costs Crocoddyl less was taken:

* feet are points and joints have no damping, on both sides (:func:`benchmarks.solver.case.point_feet`);
* no Baumgarte stabilisation, on both sides: Crocoddyl then skips its computation, ours does it with a zero;
* limits are quadratic barriers instead of relaxed logarithmic ones, of the same stiffness where they act;
* lift-off is no node of its own: its cost on the state goes into the node after it;
* the redundant constant of the augmented Lagrangian is left out: it moves the cost, not the optimum;
* two formulations, and ratios are reported against both:
  "exact" states our problem (barriers aside) number by number: a chain of single base joints, and `ContactModel3D`
  along the world's axes. In the plane its out-of-plane row is redundant, as that of Crocoddyl's impulses always is; a
  damping of 1e-12 makes the system solvable.
  "lean" is the least work that Crocoddyl can be given: pinocchio's planar or free-flying base joint, whose velocities
  are in the trunk's axes, and contacts (`ContactModel2D` in the plane) whose forces are in the foot's axes, so that
  weights and friction cone turn with the body (the cone therefore gets next to no weight: it is computed but does not
  act); without force tracking, which Crocoddyl does not offer in the plane.

`ActuationModelFloatingBase` asks its model only for sizes, so that of the natural base serves for the chain too.
"""

from dataclasses import dataclass
from typing import Any

import crocoddyl
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from benchmarks.peers.pinocchio_tree import natural_state, pinocchio_model
from benchmarks.solver.case import Case
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.grounds import planes_in
from contact_ddp_ros.mpc.layout import Sizes
from contact_ddp_ros.mpc.term_sums import TermLayout
from contact_ddp_ros.mpc.terms.friction_cone import COEFFICIENT, SCALE
from contact_ddp_ros.ocp.solution import Solution

Array = NDArray[np.float64]

FORMULATIONS = ("lean", "exact")
"""As in the module's text."""

_DAMPING = 1e-12
"""On J M⁻¹ Jᵀ where a row of it is zero, as the out-of-plane one of a three-dimensional contact of a planar robot."""

_LEAN_CONE = 1e-9
"""Share of its weight that a cone keeps which turns with the foot."""


@dataclass(frozen=True)
class NodeRow:
    """What our solver reads about one node, by name."""

    kind: int
    mode: int
    duration: float
    x_reference: Array
    x_weight: Array
    u_weight: Array
    force_reference: Array
    force_weight: Array
    height_reference: Array
    height_weight: Array
    lands: Array
    grounds: Array


class CrocoddylBound:
    """A shooting problem and a solver for one :class:`Case`.

    Attributes:
        problem: the `crocoddyl.ShootingProblem`, on one thread.
        nodes: index of our node for each of its running models; our lift-offs have none.
    """

    def __init__(self, case: Case, formulation: str = "lean", *, barriers: bool = True) -> None:
        self._case, self._exact, self._barriers = case, formulation == "exact", barriers
        natural = pinocchio_model(case.tree, "natural")
        self.model = pinocchio_model(case.tree, "chain") if self._exact else natural
        self.state = crocoddyl.StateMultibody(self.model)
        self.actuation = crocoddyl.ActuationModelFloatingBase(crocoddyl.StateMultibody(natural))
        self._axes = case.axes
        self._damping = 0.0 if len(self._axes) == 3 else _DAMPING
        rows = [self._row(k) for k in range(case.problem.n_nodes + 1)]
        self.nodes = tuple(k for k, row in enumerate(rows[:-1]) if row.kind != at.LIFT_OFF)
        models = []
        for k in self.nodes:
            before = rows[k - 1] if k > 0 and rows[k - 1].kind == at.LIFT_OFF else None
            after = rows[k + 1].mode
            models.append(
                self._impulse(rows[k], after) if rows[k].kind == at.TOUCHDOWN else self._step(rows[k], before)
            )
        self.problem = crocoddyl.ShootingProblem(self.point(case.x0), models, self._terminal(rows[-1]))
        self.problem.nthreads = 1

    def point(self, x: Array) -> Array:
        """Our state (2n,) in Crocoddyl's coordinates."""
        return np.array(x) if self._exact else natural_state(self._case.tree, x)

    def trajectory(self, xs: Array, us: Array) -> tuple[Any, Any]:
        """Our states (N+1, n_x) and controls (N, n_u) as Crocoddyl's vectors of vectors."""
        keep = list(self.nodes)
        kinds = self._case.problem.node_integers[keep, at.NODE_KIND]
        controls = [us[k] if kind == at.STEP else np.zeros(0) for k, kind in zip(keep, kinds, strict=True)]
        states = crocoddyl.StdVec_VectorXs()
        for x in [*xs[keep], xs[-1]]:
            states.append(self.point(x))
        inputs = crocoddyl.StdVec_VectorXs()
        for u in controls:
            inputs.append(u)
        return states, inputs

    def ours(self, xs: Any, us: Any, first: Solution) -> tuple[Array, Array]:
        """(N+1, n_x) states and (N, n_u) controls at our nodes of a trajectory in the coordinates of "exact".

        A lift-off has the state of the node after it; controls are zero where a node has none.
        """
        found_xs, found_us = np.array(first.xs), np.zeros_like(first.us)
        found_xs[[*self.nodes, -1]] = np.array(xs)
        skipped = [k for k in range(len(found_xs) - 1) if k not in self.nodes]
        found_xs[skipped] = found_xs[[k + 1 for k in skipped]]
        for index, k in enumerate(self.nodes):
            if us[index].size:
                found_us[k] = us[index]
        return found_xs, found_us

    def solver(self) -> Any:
        """A new FDDP solver of the problem."""
        return crocoddyl.SolverFDDP(self.problem)

    def _row(self, k: int) -> NodeRow:
        problem = self._case.problem
        layout = self._layout
        row = problem.node_parameters[k]
        numbers = {name: row[place] for name, place in layout.rows.items()}
        by_foot = len(self._case.problem_feet), -1
        grounds = planes_in(row, len(self._case.problem_feet))[:, 0]  # level
        return NodeRow(
            kind=int(problem.node_integers[k, at.NODE_KIND]),
            mode=int(problem.node_integers[k, at.NODE_MODE]),
            duration=float(row[at.DURATION]),
            x_reference=numbers["states"],
            x_weight=numbers["state_weights"],
            u_weight=numbers["torque_weights"],
            force_reference=numbers["forces"].reshape(by_foot),
            force_weight=numbers["force_weights"].reshape(by_foot),
            height_reference=grounds + numbers["heights"],
            height_weight=numbers["height_weights"],
            lands=row[layout.lands],
            grounds=grounds,
        )

    @property
    def _layout(self) -> TermLayout:
        integers = self._case.problem.integers
        return TermLayout.of(Sizes(*(int(integers[i]) for i in (at.N, at.N_U, at.N_FEET, at.N_AXES))))

    def _costs(self, row: NodeRow, n_u: int, x_weight: Array | None = None) -> Any:
        """A sum of costs that begins with the one on the state."""
        costs = crocoddyl.CostModelSum(self.state, n_u)
        residual = crocoddyl.ResidualModelState(self.state, self.point(row.x_reference), n_u)
        self._add(costs, "state", row.x_weight if x_weight is None else x_weight, residual)
        return costs

    def _step(self, row: NodeRow, lift_off: NodeRow | None) -> Any:
        """A time step; with the cost on the state of a lift-off just before it, which sees the same state."""
        n_u = self.actuation.nu
        x_weight = row.x_weight if lift_off is None else row.x_weight + lift_off.x_weight / row.duration
        contacts = crocoddyl.ContactModelMultiple(self.state, n_u)
        costs = self._costs(row, n_u, x_weight)
        self._add(costs, "torque", row.u_weight, crocoddyl.ResidualModelControl(self.state, n_u))
        if self._barriers:
            limits = self._case.problem.parameters[self._layout.parameters["torque_limits"]]
            residual = crocoddyl.ResidualModelControl(self.state, n_u)
            self._add_barrier(costs, "limits", (-limits, limits), residual, 1.0 / limits[0] ** 2)
        for foot in self._case.contacts(row.mode):
            contacts.addContact(foot, self._contact(foot, n_u))
            self._add_force(costs, row, foot, n_u)
        self._add_heights(costs, row.height_weight, row.height_reference, n_u)
        return crocoddyl.IntegratedActionModelEuler(self._dynamics(row, contacts, costs), row.duration)

    def _dynamics(self, row: NodeRow, contacts: Any, costs: Any) -> Any:
        damping = self._damping if self._exact else 0.0
        return crocoddyl.DifferentialActionModelContactFwdDynamics(
            self.state, self.actuation, contacts, costs, damping, True
        )

    def _impulse(self, row: NodeRow, mode: int) -> Any:
        """A touchdown: the feet of the mode that begins land."""
        impulses = crocoddyl.ImpulseModelMultiple(self.state)
        for foot in self._case.contacts(mode):
            frame = self.model.getFrameId(foot)
            impulses.addImpulse(foot, crocoddyl.ImpulseModel3D(self.state, frame, pin.LOCAL_WORLD_ALIGNED))
        costs = self._costs(row, 0)
        sigma = float(self._case.penalty[at.SIGMA])
        self._add_heights(costs, sigma * row.lands, row.grounds, 0)
        return self._landing(row, impulses, costs)

    def _landing(self, row: NodeRow, impulses: Any, costs: Any) -> Any:
        return crocoddyl.ActionModelImpulseFwdDynamics(self.state, impulses, costs, 0.0, self._damping, False)

    def _terminal(self, row: NodeRow) -> Any:
        n_u = self.actuation.nu
        costs, contacts = self._costs(row, n_u), crocoddyl.ContactModelMultiple(self.state, n_u)
        continuous = crocoddyl.DifferentialActionModelContactFwdDynamics(
            self.state, self.actuation, contacts, costs, 0.0, False
        )
        return crocoddyl.IntegratedActionModelEuler(continuous, 0.0)

    def _contact(self, foot: str, n_u: int) -> Any:
        frame, no_gains = self.model.getFrameId(foot), np.zeros(2)
        if self._exact or len(self._axes) == 3:
            axes = pin.LOCAL_WORLD_ALIGNED if self._exact else pin.LOCAL
            return crocoddyl.ContactModel3D(self.state, frame, np.zeros(3), axes, n_u, no_gains)
        return crocoddyl.ContactModel2D(self.state, frame, np.zeros(2), n_u, no_gains)

    def _add_force(self, costs: Any, row: NodeRow, foot: str, n_u: int) -> None:
        """Force tracking, and friction cone with non-negative normal force, of a foot on the ground."""
        frame, index = self.model.getFrameId(foot), self._case.problem_feet.index(foot)
        if self._exact:
            force, weights = np.zeros(3), np.zeros(3)
            force[list(self._axes)], weights[list(self._axes)] = row.force_reference[index], row.force_weight[index]
            reference = pin.Force(force, np.zeros(3))
            residual = crocoddyl.ResidualModelContactForce(self.state, frame, reference, 3, n_u)
            self._add(costs, f"force of {foot}", weights, residual)
        if self._barriers:
            friction = self._case.problem.parameters[self._layout.parameters["friction"]]
            facets = 2 * (len(self._axes) - 1)
            cone = crocoddyl.FrictionCone(np.eye(3), float(friction[COEFFICIENT]), facets, False)
            residual = crocoddyl.ResidualModelContactFrictionCone(self.state, frame, cone, n_u)
            scale = (1.0 if self._exact else _LEAN_CONE) / float(friction[SCALE]) ** 2
            self._add_barrier(costs, f"cone of {foot}", (cone.lb, cone.ub), residual, scale)

    def _add_heights(self, costs: Any, weights: Array, references: Array, n_u: int) -> None:
        """Cost on the heights of the feet that have one."""
        for foot, weight, height in zip(self._case.problem_feet, weights, references, strict=True):
            if weight > 0.0:
                residual = crocoddyl.ResidualModelFrameTranslation(
                    self.state, self.model.getFrameId(foot), np.array([0.0, 0.0, height]), n_u
                )
                self._add(costs, f"height of {foot}", np.array([0.0, 0.0, weight]), residual)

    def _add(self, costs: Any, name: str, weights: Array, residual: Any) -> None:
        """½ ‖residual‖² with a weight per row."""
        activation = crocoddyl.ActivationModelWeightedQuad(np.asarray(weights, dtype=float))
        costs.addCost(name, crocoddyl.CostModelResidual(self.state, activation, residual), 1.0)

    def _add_barrier(self, costs: Any, name: str, bounds: tuple[Array, Array], residual: Any, scale: float) -> None:
        """½ of the squared excess over bounds, times ε/δ² · scale: the curvature of the relaxed barrier beyond them."""
        activation = crocoddyl.ActivationModelQuadraticBarrier(crocoddyl.ActivationBounds(*bounds))
        weight = float(self._case.penalty[at.EPSILON] / self._case.penalty[at.DELTA] ** 2) * scale
        costs.addCost(name, crocoddyl.CostModelResidual(self.state, activation, residual), weight)
