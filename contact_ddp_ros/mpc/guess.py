"""First guess of a cold solve: a heuristic controller, handed over as an affine policy about the reference.

Feet on the ground carry the weight (Jᵀ of the mean stance force), joints follow the reference by PD; in the tail of a
rigid body the forces themselves do, and bring it back to the reference. The solver's first
rollout closes the policy, so no other simulation is needed.
"""

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.mpc.config import GuessConfig
from contact_ddp_ros.mpc.problem_builder import ProblemBuilder
from contact_ddp_ros.ocp.solution import Guess
from contact_ddp_ros.robot.gaits.grid import KnotGrid

Array = NDArray[np.float64]


def heuristic_guess(
    builder: ProblemBuilder, grid: KnotGrid, xs: Array, config: GuessConfig, wanted: NDArray[np.bool_] | None = None
) -> Guess:
    """The guess along a grid whose times count from the gait's epoch, about reference states xs (N+1, 2n).

    Only the (N,) nodes that are `wanted`, all by default, need have their controls: another guess knows the rest.
    """
    n = builder.tree.n
    wanted = np.ones(grid.n_nodes, dtype=bool) if wanted is None else wanted
    us = builder.reference.weight_carrying_torques(grid, xs, wanted)
    gains = np.zeros((grid.n_nodes, us.shape[1], 2 * n))
    share = 0.5 * len(next(iter(builder.model.legs_of.values())))  # the gains are those of a pair
    for a, joint in enumerate(builder.tree.actuated):
        gains[:, a, joint] = -share * config.kp
        gains[:, a, n + joint] = -share * config.kd
    step = builder.config.gait.step
    if (grid.durations > step).any():  # which such gains would make unstable
        slower = np.minimum(step / np.maximum(grid.durations, step), 1.0)[:, None, None]
        gains[:, :, :n] *= slower**2
        gains[:, :, n:] *= slower
    gains[grid.switches] = 0.0
    if grid.near is not None:
        us[grid.near :], gains[grid.near :] = builder.balancing_forces(grid, xs, wanted)
    return Guess(xs, us, gains)
