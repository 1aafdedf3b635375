"""What the terms of a solved problem are computed from, for records."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SolvedNodes:
    """A solution along a horizon of N nodes and the end, of which S nodes are time steps.

    Attributes:
        errors: (N+1, 2n) of the states against their reference. state_weights: (N+1, 2n).
        lengths: (N+1,) of each node's cost: its duration, and 1 at a switch and at the end.
        h: (S,) durations of the time steps [s].
        us: (S, n_u) torques [N m]. torque_weights: (S, n_u). torque_limits: (n_u,) [N m].
        forces: (S, n_f, n_a) contact forces [N]. force_errors: against their reference. force_weights: the same shape.
        down: (S, n_f) which foot is on the ground.
        height_errors: (S, n_f) heights of the feet against their reference [m]. height_weights: (S, n_f).
        touchdown_errors: (N+1, n_f) heights above the ground where a foot lands, else 0 [m].
        multipliers: (N+1, n_f) with which it was solved.
        parameters: of the problem, as :mod:`contact_ddp_ros.mpc.layout` has them.
        sigma, delta, epsilon: settings of the penalties.
    """

    errors: Array
    state_weights: Array
    lengths: Array
    h: Array
    us: Array
    torque_weights: Array
    torque_limits: Array
    forces: Array
    force_errors: Array
    force_weights: Array
    down: NDArray[np.bool_]
    height_errors: Array
    height_weights: Array
    touchdown_errors: Array
    multipliers: Array
    parameters: Array
    sigma: float
    delta: float
    epsilon: float


def barrier(z: Array, delta: float) -> Array:
    """The relaxed barrier of z ≥ 0, entry by entry; see :mod:`contact_ddp_ros.solver.penalties`."""
    relaxed = 0.5 * (((z - 2.0 * delta) / delta) ** 2 - 1.0) - np.log(delta)
    return np.where(z > delta, -np.log(np.maximum(z, delta)), relaxed)
