"""The bounding problem solved by IPOPT, with what a careful user would give it.

* The derivatives of the nodes are compiled with the flags of our own kernels, the Hessian is exact, nothing of an
  iteration runs in Python (:mod:`benchmarks.peers.bound_nlp`).
* The linear solver is MUMPS, the one of CasADi's wheels, without its scalings: that is a fifth faster here at the
  same iterations. Its ordering is approximate minimum fill: the one that MUMPS chooses by itself is as fast over a
  cycle but slower over four, the others are slower everywhere. Without pivoting it does not converge.
* It starts from our first trajectory, forces and accelerations included, so the dynamics hold there; the references
  as a start, where they do not, took as many iterations or more.
* Its multipliers start as it estimates them, its tolerance is far below any accuracy that is compared, and its bounds
  are not relaxed, because ours are not.

Two things are not ours: iterates need not obey the dynamics, and of the chain of stages the factorisation knows only
what the ordering finds.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from time import thread_time
from typing import Any

import casadi as cs
import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.bound_nlp import BoundNlp
from benchmarks.solver.case import Case

Array = NDArray[np.float64]

TOLERANCE = 1e-9
"""Of IPOPT's optimality error."""

_OPTIONS: Mapping[str, Any] = {
    "tol": TOLERANCE,
    "linear_solver": "mumps",
    "mumps_pivot_order": 2,
    "mumps_scaling": 0,
    "mumps_permuting_scaling": 0,
    "bound_relax_factor": 0.0,
    "print_level": 0,
    "sb": "yes",
}


@dataclass(frozen=True)
class IpoptRun:
    """What one call of IPOPT gave.

    Attributes:
        xs: (N+1, n_x) states. us: (N, n_u) controls, zero where a node has none.
        costs, violations: of the start and of every iterate: objective, largest violation of a constraint.
        solved: whether IPOPT reached its tolerance.
        status: in its words.
        processor_time: of the thread in the whole call [s].
        function_time: of it in cost, constraints and derivatives [s].
    """

    xs: Array
    us: Array
    costs: Array
    violations: Array
    solved: bool
    status: str
    processor_time: float
    function_time: float

    @property
    def cost(self) -> float:
        """Of the last iterate."""
        return float(self.costs[-1])

    @property
    def n_iterations(self) -> int:
        """Iterations taken."""
        return len(self.costs) - 1


class IpoptBound:
    """IPOPT on one programme; keeps a solver per set of options."""

    def __init__(self, programme: BoundNlp) -> None:
        self.programme = programme
        self._solvers: dict[tuple[tuple[str, Any], ...], cs.Function] = {}

    def solve(
        self, case: Case, start: Array, max_iterations: int = 1000, options: Mapping[str, Any] | None = None
    ) -> IpoptRun:
        """Run IPOPT from variables `start`; `options` of IPOPT override ours."""
        programme = self.programme
        solver = self._solver({**_OPTIONS, "max_iter": max_iterations, **(options or {})})
        lower, upper = programme.bounds(case)
        arguments = {"x0": start, "p": programme.parameters(case), "lbx": lower, "ubx": upper}
        arguments |= {"lbg": programme.lower, "ubg": programme.upper}
        started = thread_time()
        found = solver(**arguments)
        elapsed = thread_time() - started
        stats = solver.stats()
        xs, us = programme.unpack(np.asarray(found["x"]).ravel())
        return IpoptRun(
            xs=xs,
            us=us,
            costs=np.array(stats["iterations"]["obj"]),
            violations=np.array(stats["iterations"]["inf_pr"]),
            solved=stats["return_status"] == "Solve_Succeeded",
            status=stats["return_status"],
            processor_time=elapsed,
            function_time=sum(stats[key] for key in stats if key.startswith("t_proc_nlp_")),
        )

    def _solver(self, options: Mapping[str, Any]) -> cs.Function:
        key = tuple(sorted(options.items()))
        if key not in self._solvers:
            oracle, settings = self.programme.oracle, self._settings(options)
            self._solvers[key] = cs.nlpsol("bound", "ipopt", oracle, settings)
        return self._solvers[key]

    def _settings(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Of CasADi's interface: no derivative but the programme's own, and no text."""
        own = {"print_time": False, "record_time": True, "no_nlp_grad": True, "calc_lam_p": False}
        return {"ipopt": dict(options), "error_on_fail": False, **own, **self.programme.derivatives}
