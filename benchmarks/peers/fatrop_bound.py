"""The bounding problem solved by FATROP, the structured interior point in CasADi's wheels, with what suits it.

* States and controls only (:mod:`benchmarks.peers.bound_nlp`), stage by stage, so that its Riccati
  recursion sees the problem that ours sees.
* The derivatives of the nodes are compiled with the flags of our own kernels, the Hessian is exact, nothing of an
  iteration runs in Python. CasADi's interface takes no derivatives of one's own but finds them in its cache.
* It starts from our first trajectory, on which the dynamics hold.

It keeps no record of its iterates: the course of a solve is that of solves which end one iteration later each.

The bounding problem with hard limits for CSQP (Jordana et al. 2023), on Crocoddyl's models of it.

The same models as for Crocoddyl's FDDP (:mod:`benchmarks.peers.crocoddyl_bound`, "exact"); torque limits and
friction cones are their inequalities, the height at touchdown an equality. CSQP's subproblems are quadratic, with
Gauss-Newton Hessians, and solved by ADMM on Riccati sweeps, all in its compiled C++.

A contact's cone has the rows of Crocoddyl's: two facets in the plane, which with the normal force are our rows. The
residual of a foot's place has three rows, of which two get bounds that do not act.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as cs
import crocoddyl
import mim_solvers  # after Crocoddyl, which loads the libraries that it needs
import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.bound_nlp import BoundNlp
from benchmarks.peers.crocoddyl_bound import CrocoddylBound, NodeRow
from benchmarks.solver.case import Case
from contact_ddp_ros.mpc.terms.friction_cone import COEFFICIENT

Array = NDArray[np.float64]

_OPTIONS: Mapping[str, Any] = {"print_level": 0, "tolerance": 1e-9}


@dataclass(frozen=True)
class FatropRun:
    """Where one call of FATROP ends.

    Attributes:
        xs: (N+1, n_x) states. us: (N, n_u) controls, zero where a node has none.
        cost: of the objective. violation: largest of a constraint or bound.
        n_iterations: taken. solved: whether it reached its tolerance.
    """

    xs: Array
    us: Array
    cost: float
    violation: float
    n_iterations: int
    solved: bool


class FatropBound:
    """FATROP on one programme without ν; keeps a solver per limit of iterations."""

    def __init__(self, programme: BoundNlp, options: Mapping[str, Any] | None = None) -> None:
        """`options` of FATROP override ours."""
        self.programme = programme
        self._options = {**_OPTIONS, **(options or {})}
        self._settings = self._problem()
        self._solvers: dict[int, cs.Function] = {}

    def solve(self, case: Case, start: Array, max_iterations: int = 1000) -> FatropRun:
        """Run FATROP from variables `start`."""
        programme = self.programme
        solver = self._solver(max_iterations)
        lower, upper = programme.bounds(case)
        found = solver(
            x0=start, p=programme.parameters(case), lbx=lower, ubx=upper, lbg=programme.lower, ubg=programme.upper
        )
        stats = solver.stats()
        w = np.asarray(found["x"]).ravel()
        cost, g = programme.evaluate(case, w)
        violation = max(programme.violation(g), float(np.maximum(lower - w, w - upper).max()))
        xs, us = programme.unpack(w)
        return FatropRun(xs, us, cost, violation, int(stats["iter_count"]), bool(stats["success"]))

    def _solver(self, max_iterations: int) -> cs.Function:
        if max_iterations not in self._solvers:
            oracle, settings = self._settings
            own = {"fatrop": {**self._options, "max_iter": max_iterations}}
            self._solvers[max_iterations] = cs.nlpsol("bound", "fatrop", oracle, {**settings, **own})
        return self._solvers[max_iterations]

    def _problem(self) -> tuple[cs.Function, dict[str, Any]]:
        """The oracle with gaps x⁺ − F, the sign that the interface wants, and its options."""
        programme = self.programme
        n_w, n_g = programme.n_variables, programme.rows[-1].stop
        n_x = programme.n_x
        sign = np.ones(n_g)
        for own in programme.rows[:-1]:
            sign[own.start : own.start + n_x] = -1.0
        w, p = cs.MX.sym("x", n_w), cs.MX.sym("p", programme.oracle.numel_in(1))
        lam_f, lam_g = cs.MX.sym("lam_f"), cs.MX.sym("lam_g", n_g)
        cost, g = programme.oracle(w, p)
        derivatives = programme.derivatives
        gradient = derivatives["grad_f"](w, p)[1]
        jacobian = cs.mtimes(cs.diag(cs.DM(sign)), derivatives["jac_g"](w, p)[1])
        hessian = cs.triu2symm(derivatives["hess_lag"](w, p, lam_f, sign * lam_g))
        slope = lam_f * gradient + cs.mtimes(jacobian.T, lam_g)
        slope = cs.densify(slope)
        unused = cs.MX.zeros(p.numel())
        cache = {
            "nlp_grad": cs.Function("nlp_grad", [w, p, lam_f, lam_g], [cost, sign * g, slope, unused]),
            "nlp_grad_f": cs.Function("nlp_grad_f", [w, p], [gradient]),
            "nlp_jac_g": cs.Function("nlp_jac_g", [w, p], [sign * g, jacobian]),
            "nlp_hess_l": cs.Function("nlp_hess_l", [w, p, lam_f, lam_g], [slope, hessian]),
        }
        sizes = [own.stop - own.start for own in programme.variables]
        path = [own.stop - own.start - n_x for own in programme.rows[:-1]]
        settings = {
            "structure_detection": "manual",
            "N": len(sizes) - 1,
            "nx": [n_x] * len(sizes),
            "nu": [size - n_x for size in sizes],
            "ng": [*path, 0],
            "equality": (programme.lower == programme.upper).tolist(),
            "cache": cache,
            "print_time": False,
            "error_on_fail": False,
            "calc_lam_p": False,
        }
        oracle = cs.Function("oracle", [w, p], [cost, sign * g], ["x", "p"], ["f", "g"])
        return oracle, settings


_FAR = 1e3
"""Bound of what is not limited [m]."""

_TOLERANCE, _QP_TOLERANCE, _QP_ITERATIONS = 1e-9, 1e-9, 2000
"""Tolerances of the SQP's KKT residual and of its subproblems', and iterations of these at most.

With 500 iterations it ends 4e-5 above the optimum. Its line search is the one on a merit, since with the filter it
cycles from most starts at 2 m/s. Steps of ADMM and first guesses of subproblems were varied by hand, which gained
nothing."""


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
