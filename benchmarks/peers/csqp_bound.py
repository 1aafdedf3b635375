"""The bounding problem with hard limits for CSQP (Jordana et al. 2023), on Crocoddyl's models of it.

The same models as for Crocoddyl's FDDP (:mod:`benchmarks.peers.crocoddyl_bound`, "exact"); torque limits and
friction cones are their inequalities, the height at touchdown an equality. CSQP's subproblems are quadratic, with
Gauss-Newton Hessians, and solved by ADMM on Riccati sweeps, all in its compiled C++.

A contact's cone has the rows of Crocoddyl's: two facets in the plane, which with the normal force are our rows. The
residual of a foot's place has three rows, of which two get bounds that do not act.
"""

from typing import Any

import crocoddyl
import mim_solvers  # after Crocoddyl, which loads the libraries that it needs
import numpy as np

from benchmarks.peers.crocoddyl_bound import CrocoddylBound, NodeRow
from benchmarks.solver.case import Case
from contact_ddp_ros.mpc.terms.friction_cone import COEFFICIENT

_FAR = 1e3
"""Bound of what is not limited [m]."""

_TOLERANCE, _QP_TOLERANCE, _QP_ITERATIONS = 1e-9, 1e-9, 2000
"""Of the SQP's KKT residual, of its subproblems', and iterations of these at most; with 500 it ends 4e-5 above the
optimum. Its line search is the one on a merit, since with the filter it cycles from most starts at 2 m/s. Steps of ADMM
and first guesses of subproblems were varied by hand, which gained nothing."""


class _Record(mim_solvers.CallbackAbstract):
    """Keeps the trajectory of every iteration."""

    def __init__(self) -> None:
        super().__init__()
        self.trajectories: list[tuple[Any, Any]] = []

    def __call__(self, solver: Any, _kind: str) -> None:
        self.trajectories.append(([np.array(x) for x in solver.xs], [np.array(u) for u in solver.us]))


class CsqpBound(CrocoddylBound):
    """CSQP on one case, whose limits are hard."""

    def __init__(self, case: Case) -> None:
        super().__init__(case.penalised(0.0, 0.0), "exact", barriers=False)

    def run(self, xs: Any, us: Any, max_iterations: int, record: bool = False) -> list[tuple[Any, Any]]:
        """Solve from vectors of Crocoddyl's; the trajectories of the iterations where they are recorded.

        The solver is a new one, since multipliers and steps of ADMM stay in it from one solve to the next.
        """
        solver = mim_solvers.SolverCSQP(self.problem)
        solver.termination_tolerance = _TOLERANCE
        solver.eps_abs = solver.eps_rel = _QP_TOLERANCE
        solver.max_qp_iters = _QP_ITERATIONS
        solver.use_filter_line_search = False
        kept = _Record()
        if record:
            solver.setCallbacks([kept])
        solver.solve(xs, us, max_iterations, True)
        return [*kept.trajectories, (solver.xs, solver.us)] if record else []

    def _dynamics(self, row: NodeRow, contacts: Any, costs: Any) -> Any:
        n_u = self.actuation.nu
        constraints = crocoddyl.ConstraintModelManager(self.state, n_u)
        limits = self._case.problem.parameters[self._layout.parameters["torque_limits"]]
        torque = crocoddyl.ResidualModelControl(self.state, n_u)
        constraints.addConstraint("torque", crocoddyl.ConstraintModelResidual(self.state, torque, -limits, limits))
        friction = self._case.problem.parameters[self._layout.parameters["friction"]]
        cone = crocoddyl.FrictionCone(np.eye(3), float(friction[COEFFICIENT]), 2, False)
        for foot in self._case.contacts(row.mode):
            residual = crocoddyl.ResidualModelContactFrictionCone(self.state, self.model.getFrameId(foot), cone, n_u)
            bounds = np.maximum(cone.lb, -_FAR), np.minimum(cone.ub, _FAR)
            constraints.addConstraint(foot, crocoddyl.ConstraintModelResidual(self.state, residual, *bounds))
        return crocoddyl.DifferentialActionModelContactFwdDynamics(
            self.state, self.actuation, contacts, costs, constraints, self._damping, True
        )

    def _landing(self, row: NodeRow, impulses: Any, costs: Any) -> Any:
        constraints = crocoddyl.ConstraintModelManager(self.state, 0)
        bound = np.array([_FAR, _FAR, 0.0])
        for foot, lands, ground in zip(self._case.problem_feet, row.lands, row.grounds, strict=True):
            if lands > 0.0:
                place = np.array([0.0, 0.0, float(ground)])
                residual = crocoddyl.ResidualModelFrameTranslation(self.state, self.model.getFrameId(foot), place, 0)
                constraints.addConstraint(foot, crocoddyl.ConstraintModelResidual(self.state, residual, -bound, bound))
        return crocoddyl.ActionModelImpulseFwdDynamics(
            self.state, impulses, costs, constraints, 0.0, self._damping, False
        )
