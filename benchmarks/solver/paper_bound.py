"""The bounding problem on which the paper measured, as data: references, weights, start and heuristic first guess.

Nganga and Wensing, "Accelerating Hybrid Systems Differential Dynamic Programming", section 5.2, optimise a planar bound
of the Mini Cheetah, back stance first, forward Euler at 1 ms. The numbers, which the paper leaves out, are those of the
hybrid-systems DDP that it builds on, as published (ROAM-Lab-ND/HS-DDP-MATLAB, Examples/PlanarQuadruped/Bounding).

Their model and ours differ in conventions, which the tables below keep and :func:`posture` maps:

* joints: theirs turn about +y, ours about −y, so every hip and knee changes its sign (the knee bends the same way);
* heights: theirs count from the hips of straight legs on the ground, which is at −0.404 m; our ground is at 0;
* x, pitch (about +y, nose down positive) and the order of the coordinates agree.

It is confirmed by their own numbers: at the mapped mode-end postures the foot that lands or leaves is on the ground
within 0.04 mm, and their initial state moves the stance foot at less than 2 mm/s. The robot is ours, from the URDF
(8.9 kg, rotors' inertia included), on point feet and undamped joints as in the paper.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.solver.case import point_feet
from contact_ddp_ros.base.compiled.kernel_set import KernelSet
from contact_ddp_ros.mpc.config import GaitConfig
from contact_ddp_ros.mpc.contact_problem import ContactLaw, ContactProblem, NodeCosts
from contact_ddp_ros.mpc.grounds import FootGrounds
from contact_ddp_ros.mpc.planar_reference import PlanarLeg, planar_schedule
from contact_ddp_ros.ocp.protocol import Problem, node_data
from contact_ddp_ros.ocp.solution import Guess
from contact_ddp_ros.robot.gaits.grid import knot_grid
from contact_ddp_ros.robot.ground import LocalGround
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.models.planar import PLANAR_BASE_JOINTS, PlanarModel, reduce_to_plane

Array = NDArray[np.float64]

SPEED = 0.5
"""Commanded, and at the start [m/s]."""

STEP = 1e-3
"""Of forward Euler [s]."""

FRICTION, TORQUE_LIMIT = 0.6, 33.0
"""Coefficient; of both legs of a pair together [N m]."""

_GROUND = -0.404
"""Where the reference implementation has the ground [m]."""

_RUNNING_POSTURE = (0.0, -0.13, 0.0, 0.3 * np.pi, -0.7 * np.pi, 0.3 * np.pi, -0.7 * np.pi)

MODE_END_POSTURES = (
    (0.0, -0.1432, -np.pi / 25, 0.35 * np.pi, -0.65 * np.pi, 0.35 * np.pi, -0.6 * np.pi),
    (0.0, -0.1418, np.pi / 35, 0.2 * np.pi, -0.58 * np.pi, 0.25 * np.pi, -0.7 * np.pi),
    (0.0, -0.1325, -np.pi / 40, 0.33 * np.pi, -0.48 * np.pi, 0.33 * np.pi, -0.75 * np.pi),
    (0.0, -0.1490, -np.pi / 25, 0.35 * np.pi, -0.7 * np.pi, 0.25 * np.pi, -0.6 * np.pi),
)
"""(x, z, pitch, front hip, front knee, back hip, back knee) at the end of each mode, in the reference's coordinates."""

_MODE_END_CLIMBS = (1.0, -1.0, 1.0, -1.0)
"""Vertical velocity at the end of each mode [m/s]."""

_START_POSTURE = (0.0, -0.1093, -0.1542, 1.0957, -2.2033, 0.9742, -1.7098)
_START_RATES = (SPEED, 0.2756, 0.7333, 0.0446, 0.0009)
"""At the start of back stance, there at 0.9 m/s. The back leg's rates follow from its foot's being at rest."""

_RUNNING_WEIGHTS = 0.01 * np.array([0, 10, 5, 4, 4, 4, 4, 2, 1, 0.01, 6, 6, 6, 6])
_END_WEIGHTS = 100.0 * np.array([0, 20, 8, 3, 3, 3, 3, 3, 2, 0.01, 5, 5, 5, 5])
_END_WEIGHT_OF_STANCE_RATES = 100.0 * 0.01
_TORQUE_WEIGHT, _IDLE_FACTOR = 0.5, 5.0
"""Torques of a leg in the air count that many times more while the other leg is in stance."""

_FORCE_WEIGHTS = {"back_foot": 0.3, "front_foot": 0.15}
_FORCE = (0.0, 80.9521)
"""Reference of a stance foot's force [N]."""

_RUNNING_SCALE = 2.0
"""Running costs are x'Qx there, ½ x'Qx here; the mode-end costs have the ½ in both."""

_START_SPREAD = (0.0, 0.0, 0.05, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.3, 0.5, 0.5, 0.0, 0.0)
"""Standard deviations of perturbed starts [m, rad, m/s, rad/s]; what follows from the stance foot has none."""

_SPRING_SPREAD, _GAIN_SPREAD, _TARGET_SPREAD = 0.2, 0.3, 0.2
"""Of the heuristic controller's stiffness and gains, relative, and of its joint targets [rad]; uniform, both ways."""


@dataclass(frozen=True)
class Heuristic:
    """The controller that makes the first trajectory: springs along the legs in stance, joint PD in flight.

    Attributes:
        stiffness: of a leg [N/m]. rest_length: [m]. scales: per foot, on its leg's force.
        kp, kd: (n_u,) of the PD [N m/rad, N m s/rad].
        target: (n_u,) joint angles of the PD, in our signs [rad].
    """

    stiffness: float = 2200.0
    rest_length: float = 0.2462
    scales: tuple[float, ...] = (2.2, 3.0)
    kp: tuple[float, ...] = (40.0, 5.0, 60.0, 50.0)
    kd: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0)
    target: tuple[float, ...] = (-np.pi / 4, 7 * np.pi / 12, -np.pi / 4, 7 * np.pi / 12)

    def perturbed(self, rng: np.random.Generator) -> "Heuristic":
        """Another controller nearby."""
        spring, kp, kd = rng.uniform(-1.0, 1.0, 3)
        return replace(
            self,
            stiffness=self.stiffness * (1.0 + _SPRING_SPREAD * spring),
            kp=tuple((1.0 + _GAIN_SPREAD * kp) * np.array(self.kp)),
            kd=tuple((1.0 + _GAIN_SPREAD * kd) * np.array(self.kd)),
            target=tuple(np.array(self.target) + _TARGET_SPREAD * rng.uniform(-1.0, 1.0, len(self.target))),
        )


@dataclass(frozen=True)
class Start:
    """Where a solve begins: a state (2n,) and a first trajectory from there."""

    x0: Array
    guess: Guess


def posture(coordinates: Any) -> Array:
    """(n,) our q of a posture in the reference implementation's coordinates."""
    q = np.array(coordinates, dtype=float)
    q[1] -= _GROUND
    q[len(PLANAR_BASE_JOINTS) :] *= -1.0
    return q


class PaperBound:
    """The problem over whole gait cycles, for one variant of the solver."""

    def __init__(
        self, variant: str = "ddp", cycles: float = 1.0, step: float = STEP, kernels: KernelSet | None = None
    ) -> None:
        self.tree = reduce_to_plane(point_feet(load_robot()))
        self.legs = tuple(PlanarLeg.of_tree(self.tree, point.name) for point in self.tree.contacts)
        schedule = planar_schedule(GaitConfig())
        self.contact = ContactProblem(self.tree, PlanarModel.axes, schedule, "forward_euler", variant, kernels)
        self.grid = knot_grid(schedule, 0, round(cycles * schedule.period / step), step)
        self.law = ContactLaw(
            grounds=FootGrounds.shared(LocalGround(), len(self.contact.feet)),
            baumgarte_rate=0.0,
            friction=FRICTION,
            force_scale=-self.tree.mass * float(self.tree.gravity[2]),
            torque_limits=np.full(len(self.tree.actuated), TORQUE_LIMIT),
        )
        numbers = {**vars(self.costs()), **self.law.numbers()}
        self.problem: Problem = self.contact.assemble(self.grid, self.law, numbers)
        self._feet = self.contact.kernels.python("feet")

    def costs(self) -> NodeCosts:
        """References and weights of every node."""
        grid, (n, n_u, n_f, n_a) = self.grid, self.contact.sizes
        n_rows, base = grid.n_nodes + 1, len(PLANAR_BASE_JOINTS)
        states = np.zeros((n_rows, 2 * n))
        states[:, :n] = posture(_RUNNING_POSTURE)
        states[:, 0] = SPEED * grid.times
        states[:, n] = SPEED
        state_weights = np.tile(_RUNNING_SCALE * _RUNNING_WEIGHTS, (n_rows, 1))
        state_weights[-1] = 0.0  # the last mode ends in a node of its own
        stance = self.contact.stance_table()
        down = np.repeat(stance, n_u // n_f, axis=1)
        for mode in range(len(stance)):
            ends = np.flatnonzero(grid.switches & (grid.modes[:-1] == mode))
            states[ends, 1:n] = posture(MODE_END_POSTURES[mode])[1:]
            states[ends, n + 1] = _MODE_END_CLIMBS[mode]
            weights = _END_WEIGHTS.copy()
            weights[n + base :][down[mode]] = _END_WEIGHT_OF_STANCE_RATES
            state_weights[ends] = weights
        idle = stance.any(axis=1, keepdims=True) & ~down
        torque_weights = _RUNNING_SCALE * _TORQUE_WEIGHT * np.where(idle, _IDLE_FACTOR, 1.0)
        force_weights = _RUNNING_SCALE * np.array([_FORCE_WEIGHTS[foot] for foot in self.contact.feet])
        return NodeCosts(
            states=states,
            state_weights=state_weights,
            torque_weights=torque_weights[grid.modes],
            forces=np.tile(_FORCE, (n_rows, n_f)),
            force_weights=np.tile(np.repeat(force_weights, n_a), (n_rows, 1)),
            heights=np.zeros((n_rows, n_f)),
            height_weights=np.zeros((n_rows, n_f)),
        )

    def start(self, seed: int | None = None) -> Start:
        """The nominal start, or a perturbed one: another state and another heuristic controller."""
        if seed is None:
            return self._start(np.zeros(2 * self.tree.n), Heuristic())
        rng = np.random.default_rng(seed)
        offset = np.array(_START_SPREAD) * rng.standard_normal(len(_START_SPREAD))
        return self._start(offset, Heuristic().perturbed(rng))

    def feet(self, x: Array) -> tuple[Array, Array]:
        """Positions (n_f, n_a) of the feet [m] and their Jacobian (n_f, n_a, n)."""
        n, _, n_f, n_a = self.contact.sizes
        positions, jacobian = self._feet(x[:n], self.law.rows(1)[0])
        return positions.reshape(n_f, n_a), jacobian.reshape(n_f, n_a, n)

    def _start(self, offset: Array, heuristic: Heuristic) -> Start:
        x0 = self._initial_state(offset)
        return Start(x0, self._heuristic_trajectory(x0, heuristic))

    def _initial_state(self, offset: Array) -> Array:
        """(2n,) with the stance foot on the ground and at rest: height and that leg's rates follow from it."""
        n, base = self.tree.n, len(PLANAR_BASE_JOINTS)
        x = np.concatenate([posture(_START_POSTURE), np.zeros(n)])
        rates = np.array(_START_RATES)
        rates[base:] *= -1.0
        x[n : n + len(rates)] = rates
        x = x + offset
        foot = self.contact.feet.index(self.contact.schedule.modes[0].contacts[0])
        x[1] -= self.feet(x)[0][foot, -1] - float(self.law.grounds.heights[foot])
        jacobian = self.feet(x)[1][foot]
        leg = [self.legs[foot].hip, self.legs[foot].knee]
        free = np.delete(np.arange(n), leg)
        x[[n + joint for joint in leg]] = np.linalg.solve(jacobian[:, leg], -jacobian[:, free] @ x[n + free])
        return x

    def _heuristic_trajectory(self, x0: Array, heuristic: Heuristic) -> Guess:
        """What the heuristic controller does from x0, as an open-loop guess."""
        problem, grid = self.problem, self.grid
        data = node_data(problem, penalty=(1.0, 0.1, 0.0))
        xs, us = np.tile(x0, (grid.n_nodes + 1, 1)), np.zeros((grid.n_nodes, problem.n_u))
        aux, residual = np.zeros(problem.n_aux), np.zeros(problem.n_residuals)
        for k in range(grid.n_nodes):
            if problem.has_control[k]:
                us[k] = self._torques(grid.modes[k], xs[k], heuristic)
            problem.step(data, k, xs[k], us[k], xs[k + 1], aux, residual)
        return Guess(xs, us, np.zeros((grid.n_nodes, problem.n_u, problem.n_x)))

    def _torques(self, mode: int, x: Array, heuristic: Heuristic) -> Array:
        """(n_u,) of the heuristic controller."""
        joints, n = np.array(self.tree.actuated), self.tree.n
        contacts = self.contact.schedule.modes[mode].contacts
        if not contacts:
            return heuristic.kp * (np.array(heuristic.target) - x[joints]) - heuristic.kd * x[n + joints]
        torques = np.zeros(len(joints))
        for name in contacts:
            foot = self.contact.feet.index(name)
            hip, _, sole = self.legs[foot].points(x)
            length = float(np.linalg.norm(sole - hip))
            push = heuristic.scales[foot] * heuristic.stiffness * (heuristic.rest_length - length)
            torques += self.feet(x)[1][foot][:, joints].T @ (push * (sole - hip) / length)
        return torques
