"""What one call of the planner gives."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.mpc.cost_breakdown import no_cost_terms
from contact_ddp_ros.mpc.violations import Excess, no_violations
from contact_ddp_ros.policy import Policy
from contact_ddp_ros.solver.solution import Iteration

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PlanResult:
    """What one call of the planner gave.

    Attributes:
        policy: None where the solve failed.
        status: name of the termination reason, or of the failure.
        message: the same for people.
        solve_time: wall-clock time of the call [s].
        iterations: one record per DDP iteration.
        cost: of the plan, penalties included.
        touchdown_error: largest height error of a landing foot in the plan [m].
        inequality_violation: largest violated constraint of the plan, relative to its scale; 0 where all hold.
        friction_violation: largest violation of the friction cone or the normal force in the plan [N].
        gait: that is to be followed, as the parameter names it.
        cold: whether there was no plan to start from, so that it took as long as it had to.
        cost_terms: when called, the cost by term as in :mod:`contact_ddp_ros.mpc.cost_breakdown`, and that of each term
            of the user's; for records.
        violations: when called, the limits that the plan violates, by kind (:mod:`contact_ddp_ros.mpc.violations`).
    """

    policy: Policy | None
    status: str
    message: str
    solve_time: float
    iterations: tuple[Iteration, ...]
    cost: float
    touchdown_error: float
    inequality_violation: float
    friction_violation: float
    gait: str = ""
    cold: bool = False
    cost_terms: Callable[[], Array] = no_cost_terms
    violations: Callable[[], Mapping[str, Excess]] = no_violations
