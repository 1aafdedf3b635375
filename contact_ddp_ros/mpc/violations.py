"""How far a solution is outside the limits of its problem, limit by limit and node by node."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from contact_ddp_ros.solver.protocol import Problem
from contact_ddp_ros.solver.solution import Solution


@dataclass(frozen=True)
class Excess:
    """The largest violation of one kind of limit, relative to its scale, and the node that has it."""

    amount: float
    node: int


def no_violations() -> Mapping[str, Excess]:
    """Of a plan whose limits nothing is known of."""
    return {}


def violations(problem: Problem, solution: Solution) -> dict[str, Excess]:
    """The inequalities that are violated, by kind: a constraint's name up to " of ", as in "friction of front"."""
    found: dict[str, Excess] = {}
    for index, column in enumerate(solution.inequalities.T):
        node = int(np.argmin(column))
        amount = -float(column[node])
        kind, _, _ = problem.constraint_name(problem.n_e + index).partition(" of ")
        if amount > 0.0 and (kind not in found or amount > found[kind].amount):
            found[kind] = Excess(amount, node)
    return found
