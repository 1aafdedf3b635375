"""The MPC's problem, frozen: what the solver benchmarks run on.

One full gait cycle at 0.5 m/s, of the planar bound (90 steps of 4 ms) or the whole body's trot (40 of 10 ms), with
three starting trajectories:

* cold: the planner's heuristic guess from a standing robot;
* optimum: where a solve from there ends, at which full second order is positive definite;
* warm: the optimum's policy from a state nearby, which is what a receding horizon starts every solve from.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.compiled.kernel_set import KernelSet
from contact_ddp_ros.base.config import replace as configured
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.config import RIGID_BODY, PlannerConfig, for_model
from contact_ddp_ros.mpc.horizon import horizon_grid
from contact_ddp_ros.mpc.planar_reference import planar_schedule
from contact_ddp_ros.mpc.planner import Planner
from contact_ddp_ros.mpc.reference import TrunkCommand, gait_schedule
from contact_ddp_ros.mpc.warm_start import heuristic_guess
from contact_ddp_ros.ocp.ddp import DdpSolver
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.ocp.protocol import Problem
from contact_ddp_ros.ocp.solution import Guess, Solution
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.models.choice import model_of
from contact_ddp_ros.robot.models.planar import PlanarModel
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel
from contact_ddp_ros.robot.tree import RigidBodyTree

Array = NDArray[np.float64]

SPEED = 0.5
"""Commanded speed of the timed problem [m/s]."""

VARIANTS = {"ddp": "DDP", "ilqr": "iLQR"}
"""The variants of the solver that are compared everywhere, and their names for people."""

GAITS = {PlanarModel.name: "bound", WholeBodyModel.name: "trot"}
"""What the timed problem of a model is."""

NEAR, FAR, N_FAR = 0.25, 0.5, 10
"""Of a horizon with a tail: how long its near part and its tail are [s], and the knots of the tail."""

_SEED = 20
_DISTURBANCE = 1e-3
"""Standard deviation of the warm start's offset from the nominal state [m, rad, m/s, rad/s]."""

UNSTATED = {"constraint.impulse_time": 0.0}
"""What peers do not state: limits of impulses."""

_SHARED = {"constraint.baumgarte_rate": 0.0, **UNSTATED}

_ITERATIONS = 100
"""Of the solve that the warm start comes from, at most."""


@dataclass(frozen=True)
class Case:
    """One problem and where a solve of it starts.

    Attributes:
        tree: of the model. problem: as the solver takes it. penalty: (3,) its σ, δ, ε.
        mode_contacts: per gait mode, the contact points on the ground.
        x0: (n_x,) state. guess: trajectory and gains.
    """

    tree: RigidBodyTree
    problem: Problem
    penalty: Array
    mode_contacts: tuple[tuple[str, ...], ...]
    x0: Array
    guess: Guess

    @property
    def problem_feet(self) -> tuple[str, ...]:
        """Contact points in the order of the problem's arrays."""
        return tuple(point.name for point in self.tree.contacts)

    @property
    def model(self) -> type[PlanarModel] | type[WholeBodyModel]:
        """Whose problem it is."""
        spatial = int(self.problem.integers[at.N_AXES]) == len(WholeBodyModel.axes)
        return WholeBodyModel if spatial else PlanarModel

    @property
    def axes(self) -> tuple[int, ...]:
        """World axes of a contact's force, the normal last."""
        return self.model.axes

    def contacts(self, mode: int) -> tuple[str, ...]:
        """Contact points on the ground in a mode."""
        return self.mode_contacts[mode]

    def penalised(self, sigma: float, epsilon: float) -> "Case":
        """With other weights of the penalties: σ of the touchdown heights, ε of the barriers; zero leaves them out."""
        penalty = self.penalty.copy()
        penalty[at.SIGMA], penalty[at.EPSILON] = sigma, epsilon
        return replace(self, penalty=penalty)

    def solve(self, solver: DdpSolver, max_iterations: int | None = None, theta: float = 1.0) -> Solution:
        """Solve from the guess; multipliers start at zero."""
        return solver.solve(
            self.problem, self.x0, self.guess, penalty=self.penalty, hessian_blend=theta, max_iterations=max_iterations
        )


@dataclass(frozen=True)
class Cases:
    """The same problem from three starts."""

    cold: Case
    optimum: Case
    warm: Case


def point_feet(robot: Robot) -> Robot:
    """The robot on point feet and with undamped joints, which is what every peer can model."""
    contacts = tuple(replace(point, radius=0.0) for point in robot.tree.contacts)
    joints = tuple(replace(joint, damping=0.0) for joint in robot.tree.joints)
    return replace(robot, tree=replace(robot.tree, contacts=contacts, joints=joints))


def mpc_cases(variant: str = "ddp", speed: float = SPEED, model: str = PlanarModel.name) -> Cases:
    """The MPC's own problem."""
    return _cases(load_robot(), configured(_of_model(model), {"variant": variant}), speed, model)


def _of_model(model: str) -> PlannerConfig:
    return configured(for_model(PlannerConfig(), model), {"gait.name": GAITS[model]})


def planner_kernels(variant: str) -> KernelSet:
    """The compiled kernels of the MPC's planar model; those of the tensors too where the variant needs them."""
    return Planner(
        PlanarModel(load_robot()), configured(_of_model(PlanarModel.name), {"variant": variant})
    ).builder.kernels


def mpc_cold(variant: str, speed: float, model: str = PlanarModel.name, turn: float = 0.0) -> Case:
    """The MPC's own problem, but for what peers do not state, from its cold guess only."""
    return cold_case(load_robot(), configured(_of_model(model), {"variant": variant, **UNSTATED}), speed, turn, model)


def shared_cases(variant: str = "ddp", speed: float = SPEED, model: str = PlanarModel.name) -> Cases:
    """The problem that peers can state too: point feet, no joint damping, no Baumgarte stabilisation."""
    return _cases(point_feet(load_robot()), configured(_of_model(model), {"variant": variant, **_SHARED}), speed, model)


def tailed_cases(speed: float = SPEED) -> tuple[Case, Case]:
    """At their optima: 25 knots of the whole body of 10 ms and 10 of a rigid body of 50 ms; 35 of the whole body alone.

    The first is the horizon of Cafe-MPC (Li and Wensing 2024). Both are such that peers can state the second.
    """
    config = configured(_of_model(WholeBodyModel.name), _SHARED)
    period = gait_schedule(WholeBodyModel, config.gait).period
    tail: dict[str, Any] = {
        "gait.horizon_cycles": (NEAR + FAR) / period,
        "horizon.near": NEAR,
        "horizon.far_step": FAR / N_FAR,
        "horizon.far_model": RIGID_BODY,
    }
    alone = {"gait.horizon_cycles": (NEAR + N_FAR * config.gait.step) / period}
    robot = point_feet(load_robot())
    body = WholeBodyModel.name
    tailed, whole = (_optimum(cold_case(robot, configured(config, one), speed, model=body)) for one in (tail, alone))
    return tailed, whole


def shared_cold(speed: float, model: str = PlanarModel.name, turn: float = 0.0) -> Case:
    """The problem that peers can state too from its cold guess only."""
    return cold_case(point_feet(load_robot()), configured(_of_model(model), _SHARED), speed, turn, model)


def long_case(n_steps: int, speed: float = SPEED) -> Case:
    """The problem that peers can state too over that many steps, from its optimum.

    The heuristic guess diverges over several cycles, and what is found from there is no bound. So the horizon grows by
    a cycle at a time, and the policy of its last cycle, moved forward, is the guess for the next.
    """
    planar = _of_model(PlanarModel.name)
    gait = planar.gait
    period = planar_schedule(gait).period
    lengths = np.arange(1, max(2, math.ceil(n_steps * gait.step / period) + 1)) * round(period / gait.step)
    found: list[Case] = []
    for length in [*lengths[lengths < n_steps], n_steps]:
        config = configured(planar, {"gait.horizon_cycles": length * gait.step / period, **_SHARED})
        case = cold_case(point_feet(load_robot()), config, speed)
        if found:
            cycle = found[0].problem.n_nodes
            case = replace(case, guess=_extended(found[-1].guess, cycle, case.problem.n_nodes))
        found.append(_optimum(case))
    return found[-1]


def _extended(guess: Guess, cycle: int, n_nodes: int) -> Guess:
    """A policy over more nodes, by a cycle at most: those of its last cycle follow once more, from where it ends."""
    again = slice(len(guess.us) - cycle, n_nodes - cycle)
    xs = guess.xs[again.start : again.stop + 1].copy()
    xs[:, 0] += guess.xs[-1, 0] - xs[0, 0]
    policy = zip((guess.xs[:-1], guess.us, guess.gains), (xs, guess.us[again], guess.gains[again]), strict=True)
    return Guess(*(np.concatenate(parts) for parts in policy))


def solver_of(variant: str) -> DdpSolver:
    """A solver that runs on until nothing is left to gain."""
    return DdpSolver(SolverOptions(variant=variant, tolerance=0.0, max_iterations=_ITERATIONS))


def cold_case(
    robot: Robot, config: PlannerConfig, speed: float, turn: float = 0.0, model: str = PlanarModel.name
) -> Case:
    """The problem of a configuration from its cold guess, for a robot that stands at first.

    `speed` [m/s] and, of the whole body, `turn` [rad/s] are commanded.
    """
    planned = model_of(model, robot)
    planner = Planner(planned, config)
    schedule = planner.builder.sequence
    grid = horizon_grid(schedule, config.gait.horizon_cycles, 0.0, config.horizon)
    x0 = planned.state(robot.standing_state())
    problem, reference = planner.builder.build(grid, config, TrunkCommand(speed, turn=turn, x=float(x0[0])))
    return Case(
        tree=planned.tree,
        problem=problem,
        penalty=planner.builder.penalty(config),
        mode_contacts=tuple(mode.contacts for mode in schedule.modes),
        x0=x0,
        guess=heuristic_guess(planner.builder, grid, reference, planner.config.first_guess),
    )


def _cases(robot: Robot, config: PlannerConfig, speed: float, model: str) -> Cases:
    cold = cold_case(robot, config, speed, model=model)
    optimum = _optimum(cold)
    offset = np.random.default_rng(_SEED).normal(scale=_DISTURBANCE, size=cold.x0.size)
    return Cases(cold, optimum, replace(optimum, x0=cold.x0 + offset))


def _optimum(case: Case) -> Case:
    """The case from where a solve of it ends, by full second order whatever its variant."""
    solution = case.solve(solver_of("ddp"))
    return replace(case, guess=Guess(solution.xs, solution.us, solution.gains))
