"""A motion optimised offline: full second-order DDP through impacts, with hard constraints, into one policy.

In two passes. The first leaves out what is wanted of the landing's posture, which from the coarse first guess leads to
poor local optima (a back flip that lands on folded legs costs four times as much); the second begins where it ended.
"""

import time as clock
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import SolverError
from contact_ddp_ros.mpc.motions.problem import MotionConfig, MotionProblem
from contact_ddp_ros.mpc.motions.spatial_problem import motion_problem
from contact_ddp_ros.ocp.interior_point import InteriorPointSolver
from contact_ddp_ros.ocp.interior_solution import InteriorSolution, interior_options
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.ocp.solution import Guess, Termination
from contact_ddp_ros.robot.ground import Ground
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.motion import MotionSpec
from contact_ddp_ros.robot.policy import Policy

Array = NDArray[np.float64]

ITERATIONS = 300
"""Largest number of iterations of one optimisation."""


_END_TOLERANCE = 0.1
"""Tolerance of the planned end about the wanted one, in any coordinate [m, rad]."""


@dataclass(frozen=True)
class MotionPlan:
    """An optimised motion.

    Attributes:
        task: that was asked for.
        policy: from time 0 at the beginning of the motion, with the gains of the last sweep.
        first, found: solutions with multipliers of the two passes. solve_time: wall-clock time of the optimisation [s].
        problem: that was solved.
    """

    task: MotionSpec
    policy: Policy
    first: InteriorSolution = field(repr=False)
    found: InteriorSolution = field(repr=False)
    solve_time: float
    problem: MotionProblem = field(repr=False)

    @property
    def iterations(self) -> int:
        """Iterations of both passes."""
        return sum(len(one.solution.iterations) for one in (self.first, self.found))

    @property
    def is_optimum(self) -> bool:
        """True if the second pass has converged; otherwise all limits hold, but the cost might fall further."""
        return self.found.solution.termination is Termination.CONVERGED

    @property
    def torque_share(self) -> float:
        """Largest planned torque over what the motors have at the joint's planned speed, of any joint."""
        policy, curve, model = self.policy, self.problem.curve, self.problem.model
        joints = np.array(model.tree.actuated) + model.tree.n
        speeds, torques = policy.states[:-1, joints], policy.controls
        left = np.clip((curve.idle - np.abs(speeds)) / (curve.idle - curve.full), 0.0, 1.0)
        limits = model.torque_limits * np.where(torques * speeds > 0.0, left, 1.0)
        return float((np.abs(torques) / np.maximum(limits, 1e-9)).max())


def optimise_motion(
    task: MotionSpec,
    robot: Robot,
    config: MotionConfig | None = None,
    *,
    variant: str = "ddp",
    max_iterations: int = ITERATIONS,
) -> MotionPlan:
    """Find how the robot does a motion, from its start to the standing pose at the other end.

    Args:
        task: what to do.
        robot: which; for the planar model its left and right must be mirror images.
        config: limits and weights.
        variant: of the solver, "ddp" with the exact second order or "ilqr" without.
        max_iterations: of the solver.

    Raises:
        ParameterError: the motion moves legs apart that its model moves alike, or starts beyond a limit.
        SolverError: no motion within all limits was found; the text says which limit is violated by how much.
    """
    problem = motion_problem(task, robot, config)
    options = SolverOptions(variant=variant, shooting="multiple", max_iterations=max_iterations)
    solver = InteriorPointSolver(interior_options(options))
    started = clock.perf_counter()
    first = solver.solve(problem.problem(touchdown=False), problem.start, problem.guess())
    guess = Guess(first.solution.xs, first.solution.us, first.solution.gains)
    found = solver.solve(problem.problem(), problem.start, guess)
    elapsed = clock.perf_counter() - started
    if not found.feasible:
        raise SolverError(
            f"no {task.name} within the limits was found in {len(found.solution.iterations)} iterations: "
            f"{found.solution.message}; largest violation {found.solution.inequality_violation:.3g} of a limit, "
            f"{found.solution.equality_violation:.3g} m at touchdown, {found.solution.gap:.3g} in the dynamics"
        )
    n = problem.model.tree.n
    away = float(np.abs(found.solution.xs[-1, :n] - problem.reference[-1, :n]).max())
    if away > _END_TOLERANCE:
        raise SolverError(
            f"no {task.name} within the limits was found: the nearest one ends {away:.2f} m or rad from where it "
            "should; try a longer flight, a shorter way or a larger share of the torque"
        )
    return MotionPlan(task, _policy(problem, found, robot), first, found, elapsed, problem)


def _policy(problem: MotionProblem, found: InteriorSolution, robot: Robot) -> Policy:
    solution, grid = found.solution, problem.grid
    return Policy(
        times=grid.times,
        states=solution.xs,
        controls=solution.us,
        gains=solution.gains,
        modes=grid.modes[:-1],
        forces=problem.contact.forces(grid, solution.aux),
        model_hash=robot.model_hash,
        ground=Ground(friction=problem.config.friction),
        chart=problem.model.chart,
    )
