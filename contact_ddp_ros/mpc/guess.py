"""First guess of a cold solve: a heuristic controller, handed over as an affine policy about the reference.

Feet on the ground carry the weight (Jᵀ of the mean stance force), joints follow the reference by PD. The solver's first
rollout closes the policy, so no other simulation is needed.
"""

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.gaits.grid import KnotGrid
from contact_ddp_ros.mpc.config import GuessConfig
from contact_ddp_ros.mpc.problem_builder import ProblemBuilder
from contact_ddp_ros.solver.solution import Guess

Array = NDArray[np.float64]


def heuristic_guess(
    builder: ProblemBuilder, grid: KnotGrid, xs: Array, config: GuessConfig, first: int = 0
) -> Guess:
    """The guess along a grid whose times count from the gait's epoch, about reference states xs (N+1, 2n).

    Controls of the nodes before the `first` may be zero: another guess knows better. Those of the tail are forces.
    """
    n = builder.tree.n
    us = builder.reference.weight_carrying_torques(grid, xs, first)
    gains = np.zeros((grid.n_nodes, us.shape[1], 2 * n))
    share = 0.5 * len(next(iter(builder.model.legs_of.values())))  # the gains are those of a pair
    for a, joint in enumerate(builder.tree.actuated):
        gains[:, a, joint] = -share * config.kp
        gains[:, a, n + joint] = -share * config.kd
    gains[grid.switches] = 0.0
    if grid.near is not None:
        us[grid.near :] = builder.weight_carrying_forces(grid)[grid.near :]
        gains[grid.near :] = 0.0
    return Guess(xs, us, gains)
