"""Assembles the bounding problem: kernels, node kinds, references and weights in the layout of `contact_nodes`.

What depends on the robot and the gait only (kernels, integer tables) is built once; what a user may tune enters the
float arrays of each problem, so a change never compiles anything.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.dynamics.kernels import KernelSet, build_kernels
from contact_ddp_ros.hybrid.grid import KnotGrid
from contact_ddp_ros.mpc import contact_nodes
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.config import PlannerConfig
from contact_ddp_ros.mpc.layout import aux_offsets, node_offsets
from contact_ddp_ros.mpc.reference import BoundingReference
from contact_ddp_ros.robot.tree import RigidBodyTree
from contact_ddp_ros.solver.protocol import Problem

Array = NDArray[np.float64]

PLANAR_AXES = (0, 2)
"""World axes of a planar contact: x and the normal z."""

_SCHEMES = {"forward_euler": at.FORWARD_EULER, "semi_implicit_euler": at.SEMI_IMPLICIT_EULER}


@dataclass(frozen=True)
class Penalty:
    """Settings of the solver's penalties: AL penalty σ, barrier width δ and weight ε."""

    sigma: float
    delta: float
    epsilon: float

    def array(self) -> Array:
        """(3,) as the node functions read it."""
        return np.array([self.sigma, self.delta, self.epsilon])


class BoundingProblem:
    """Builds :class:`Problem` objects for one planar tree and one gait."""

    def __init__(self, tree: RigidBodyTree, config: PlannerConfig, kernels: KernelSet | None = None) -> None:
        self.tree = tree
        self.reference = BoundingReference(tree, config.gait)
        self.schedule = self.reference.schedule
        self.n_axes = len(PLANAR_AXES)
        self.feet = tuple(point.name for point in tree.contacts)
        tensor = config.variant == "ddp_tensor"
        self.kernels = kernels or build_kernels(
            tree, {mode.name: mode.contacts for mode in self.schedule.modes}, PLANAR_AXES, tensor=tensor
        )
        self.integers = self._integers(config, tensor)
        self.sizes = (tree.n, len(tree.actuated), len(self.feet), self.n_axes)
        self.effort_limits = np.array([tree.joints[i].effort_limit for i in tree.actuated])
        self.second = contact_nodes.second_tensor if tensor else contact_nodes.second

    def build(self, grid: KnotGrid, config: PlannerConfig, speed: float, x0: float = 0.0) -> tuple[Problem, Array]:
        """The problem along a grid for a commanded speed [m/s], and its (N+1, 2n) reference states.

        x0: where the trunk's reference starts [m]; only plots depend on it, no cost does.
        """
        n, n_u, n_f, n_a = self.sizes
        offsets = node_offsets(*self.sizes)
        x_weight, u_weight, force_reference, force_weight, height_reference, height_weight, lands, size = offsets
        weight, constraint = config.weight, config.constraint
        n_nodes = grid.n_nodes
        kinds = np.full(n_nodes + 1, at.STEP, dtype=np.int64)
        rows = np.zeros((n_nodes + 1, size))
        kinds[-1] = at.TERMINAL
        stance = self._stance_table()
        following = grid.modes[1:]
        landing = stance[following] & ~stance[grid.modes[:-1]] & grid.switches[:, None]
        kinds[:-1][grid.switches] = np.where(landing[grid.switches].any(axis=1), at.TOUCHDOWN, at.LIFT_OFF)

        phase_times = grid.times - self.schedule.epoch
        xs = self.reference.states(phase_times, config.reference, constraint.ground_height, speed, x0)
        rows[:-1, at.DURATION] = grid.durations
        rows[:, at.X_REFERENCE : at.X_REFERENCE + 2 * n] = xs
        scale = np.ones(n_nodes + 1)
        scale[:-1][grid.switches] = weight.switch
        scale[-1] = weight.terminal
        rows[:, x_weight : x_weight + 2 * n] = scale[:, None] * self._state_weights(config)
        down = stance[grid.modes]
        actuator_down = np.repeat(down, n_u // n_f, axis=1)
        rows[:, u_weight : u_weight + n_u] = np.where(actuator_down, weight.torque, weight.swing_torque)
        normal = slice(force_reference + n_a - 1, force_reference + n_f * n_a, n_a)
        rows[:, normal] = self.reference.mean_force
        rows[:, force_weight : force_weight + n_f * n_a] = weight.force
        heights, swinging = self.reference.foot_heights(phase_times, config.reference)
        rows[:, height_reference : height_reference + n_f] = heights + constraint.ground_height
        rows[:, height_weight : height_weight + n_f] = np.where(swinging & ~down, weight.foot_height, 0.0)
        rows[:-1, lands : lands + n_f] = landing

        parameters = np.concatenate(
            [
                [constraint.ground_height, constraint.baumgarte_rate, 0.0],
                [constraint.friction, self.reference.mean_force],
                constraint.torque_share * self.effort_limits,
            ]
        )
        problem = Problem(
            n_x=2 * n,
            n_u=n_u,
            n_e=n_f,
            n_aux=int(aux_offsets(*self.sizes)[-1]),
            has_control=~grid.switches,
            integers=self.integers,
            node_integers=np.column_stack([grid.modes, kinds]).astype(np.int64),
            parameters=parameters,
            node_parameters=rows,
            step=contact_nodes.step,
            first=contact_nodes.first,
            second=self.second,
        )
        return problem, xs

    def forces(self, grid: KnotGrid, aux: Array) -> Array:
        """(N, n_f n_a) contact forces of a solution's nodes [N], zero in the air and at switches."""
        n, _, _, n_a = self.sizes
        forces = np.zeros((grid.n_nodes, len(self.feet) * n_a))
        for index, mode in enumerate(self.schedule.modes):
            rows = (grid.modes[:-1] == index) & ~grid.switches
            for c, name in enumerate(mode.contacts):
                foot = self.feet.index(name)
                forces[rows, foot * n_a : (foot + 1) * n_a] = aux[:-1][rows, n + c * n_a : n + (c + 1) * n_a]
        return forces

    def _stance_table(self) -> NDArray[np.bool_]:
        """(n_modes, n_f): which foot is down in which mode."""
        return np.array([[foot in mode.contacts for foot in self.feet] for mode in self.schedule.modes])

    def _state_weights(self, config: PlannerConfig) -> Array:
        weight, n = config.weight, self.tree.n
        weights = np.zeros(2 * n)
        joints = list(self.tree.actuated)
        weights[1], weights[2] = weight.height, weight.pitch
        weights[n : n + 3] = weight.forward_velocity, weight.vertical_velocity, weight.pitch_rate
        weights[joints] = weight.joints
        weights[[n + joint for joint in joints]] = weight.joint_rates
        return weights

    def _integers(self, config: PlannerConfig, tensor: bool) -> NDArray[np.int64]:
        tree, kernels = self.tree, self.kernels
        n_u, n_f = len(tree.actuated), len(self.feet)
        header = np.zeros(at.HEADER + n_u, dtype=np.int64)
        header[at.N], header[at.N_U], header[at.N_FEET], header[at.N_AXES] = tree.n, n_u, n_f, self.n_axes
        header[at.SCHEME] = _SCHEMES[config.gait.integrator]
        header[at.FEET], header[at.FEET_SECOND] = kernels.address("feet"), kernels.address("feet_second")
        header[at.HEADER :] = tree.actuated
        blocks = [header]
        for mode in self.schedule.modes:
            block = np.zeros(at.MODE_HEADER + n_f, dtype=np.int64)
            block[at.CONTACTS] = len(mode.contacts)
            for slot, kernel in (
                (at.SYSTEM, "system"),
                (at.FIRST, "first"),
                (at.SECOND, "second"),
                (at.TENSOR, "tensor"),
                (at.IMPACT_SYSTEM, "impact_system"),
                (at.IMPACT_FIRST, "impact_first"),
                (at.IMPACT_SECOND, "impact_second"),
                (at.IMPACT_TENSOR, "impact_tensor"),
            ):
                if kernel.endswith("tensor") and not tensor:
                    continue
                name = f"{kernel}/{mode.name}"
                if kernel.startswith("impact") and not mode.contacts:
                    continue
                block[slot] = kernels.address(name)
            for slot, name in enumerate(mode.contacts):
                block[at.MODE_HEADER + slot] = self.feet.index(name)
            blocks.append(block)
        return np.concatenate(blocks)
