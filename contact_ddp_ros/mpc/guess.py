"""First guess of a cold solve: a heuristic controller, handed over as an affine policy about the reference.

Feet on the ground carry the weight (Jᵀ of the mean stance force), joints follow the reference by PD. The solver's first
rollout closes the policy, so no other simulation is needed.
"""

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.hybrid.grid import KnotGrid
from contact_ddp_ros.mpc.problem import BoundingProblem
from contact_ddp_ros.solver.solution import Guess

Array = NDArray[np.float64]

JOINT_KP = (30.0, 30.0)
JOINT_KD = (1.0, 1.0)
"""PD of hip and knee, both legs of a pair together [N m/rad, N m s/rad]."""


def heuristic_guess(builder: BoundingProblem, grid: KnotGrid, xs: Array) -> Guess:
    """The guess along a grid whose times count from the gait's epoch, about reference states xs (N+1, 2n)."""
    n = builder.tree.n
    us = builder.reference.weight_carrying_torques(grid, xs)
    gains = np.zeros((grid.n_nodes, us.shape[1], 2 * n))
    for a, joint in enumerate(builder.tree.actuated):
        gains[:, a, joint] = -JOINT_KP[a % len(JOINT_KP)]
        gains[:, a, n + joint] = -JOINT_KD[a % len(JOINT_KD)]
    gains[grid.switches] = 0.0
    return Guess(xs, us, gains)
