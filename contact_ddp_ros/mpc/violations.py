"""How far a solution is outside the limits of its problem, limit by limit and node by node."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.ocp.protocol import Problem
from contact_ddp_ros.ocp.solution import Solution

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Excess:
    """The largest violation of one kind of limit, relative to its scale, the node that has it, and the limit's name."""

    amount: float
    node: int
    name: str = ""


def no_violations() -> Mapping[str, Excess]:
    """Of a plan whose limits nothing is known of."""
    return {}


def violations(problem: Problem, solution: Solution) -> dict[str, Excess]:
    """The inequalities that are violated, by kind: a constraint's name up to " of ", as in "friction of front"."""
    found: dict[str, Excess] = {}
    for index, column in enumerate(solution.inequalities.T):
        node = int(np.argmin(column))
        amount = -float(column[node])
        name = problem.constraint_name(problem.n_e + index)
        kind, _, _ = name.partition(" of ")
        if amount > 0.0 and (kind not in found or amount > found[kind].amount):
            found[kind] = Excess(amount, node, name)
    return found


def worst_violation(problem: Problem, solution: Solution, times: Array, tolerated: float) -> str:
    """The limit that a solution exceeds most, the amount and the place in words; `times` (N+1,) are the nodes' [s]."""
    found = violations(problem, solution).values()
    if not found:
        return f"a limit is violated by {solution.inequality_violation:.3g} times its scale; tolerated: {tolerated:g}"
    worst = max(found, key=lambda one: one.amount)
    ahead = 1e3 * (times[worst.node] - times[0])
    where = f"node {worst.node}, {ahead:.0f} ms ahead"
    return f"{worst.name} is exceeded by {worst.amount:.3g} times its scale at {where}; tolerated: {tolerated:g}"
