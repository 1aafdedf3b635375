"""The bounding problem of the receding horizon: its references and weights, from parameters that a user may tune."""

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.dynamics.kernels import KernelSet
from contact_ddp_ros.hybrid.grid import KnotGrid
from contact_ddp_ros.mpc.config import PlannerConfig
from contact_ddp_ros.mpc.contact_problem import ContactLaw, ContactProblem, NodeCosts
from contact_ddp_ros.mpc.reference import BoundingReference
from contact_ddp_ros.robot.tree import RigidBodyTree
from contact_ddp_ros.solver.protocol import Problem

Array = NDArray[np.float64]


class BoundingProblem(ContactProblem):
    """Contact problems of one planar tree and one gait, with costs by configuration."""

    def __init__(self, tree: RigidBodyTree, config: PlannerConfig, kernels: KernelSet | None = None) -> None:
        self.reference = BoundingReference(tree, config.gait)
        super().__init__(tree, self.reference.schedule, config.gait.integrator, config.variant, kernels)

    def build(self, grid: KnotGrid, config: PlannerConfig, speed: float, x0: float = 0.0) -> tuple[Problem, Array]:
        """The problem along a grid for a commanded speed [m/s], and its (N+1, 2n) reference states.

        x0: where the trunk's reference starts [m]; only plots depend on it, no cost does.
        """
        costs = self._costs(grid, config, speed, x0)
        constraint = config.constraint
        law = ContactLaw(
            ground_height=config.ground.height,
            baumgarte_rate=constraint.baumgarte_rate,
            friction=config.ground.friction,
            force_scale=self.reference.mean_force,
            torque_limits=constraint.torque_share * self.effort_limits,
        )
        return self.assemble(grid, costs, law), costs.states

    def _costs(self, grid: KnotGrid, config: PlannerConfig, speed: float, x0: float) -> NodeCosts:
        _, n_u, n_f, n_a = self.sizes
        weight, ground = config.weight, config.ground.height
        n_rows = grid.n_nodes + 1
        phase_times = grid.times - self.schedule.epoch
        scale = np.ones(n_rows)
        scale[:-1][grid.switches] = weight.switch
        scale[-1] = weight.terminal
        down = self.stance_table()[grid.modes]
        forces = np.zeros((n_rows, n_f * n_a))
        forces[:, n_a - 1 :: n_a] = self.reference.mean_force
        heights, swinging = self.reference.foot_heights(phase_times, config.reference)
        return NodeCosts(
            states=self.reference.states(phase_times, config.reference, ground, speed, x0),
            state_weights=scale[:, None] * self._state_weights(config),
            torque_weights=np.where(np.repeat(down, n_u // n_f, axis=1), weight.torque, weight.swing_torque),
            forces=forces,
            force_weights=np.full((n_rows, n_f * n_a), weight.force),
            heights=heights + ground,
            height_weights=np.where(swinging & ~down, weight.foot_height, 0.0),
        )

    def _state_weights(self, config: PlannerConfig) -> Array:
        weight, n = config.weight, self.tree.n
        weights = np.zeros(2 * n)
        joints = list(self.tree.actuated)
        weights[1], weights[2] = weight.height, weight.pitch
        weights[n : n + 3] = weight.forward_velocity, weight.vertical_velocity, weight.pitch_rate
        weights[joints] = weight.joints
        weights[[n + joint for joint in joints]] = weight.joint_rates
        return weights
