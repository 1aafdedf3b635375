"""Robots, states and planners for the tests of the bounding MPC."""

from copy import deepcopy
from functools import cache

import numpy as np
import pinocchio as pin
from oracle import pinocchio_model

from contact_ddp_ros.base.choices import INTERIOR_POINT
from contact_ddp_ros.base.config import replace
from contact_ddp_ros.mpc.config import PlannerConfig, for_model
from contact_ddp_ros.mpc.planner import Planner
from contact_ddp_ros.mpc.reference import TrunkCommand
from contact_ddp_ros.robot.ground import LocalGround
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.models.planar import PlanarModel
from contact_ddp_ros.robot.rotation import quaternion_to_matrix, rpy_to_quaternion
from contact_ddp_ros.robot.state import RobotState

ROBOT = load_robot()
MODEL = PlanarModel(ROBOT)
TREE = MODEL.tree
N = TREE.n

STEP = 0.004
PERIOD = 0.36
SWITCHES = np.array([0.08, 0.18, 0.26, 0.36])
"""The default gait: its step, its period and when its modes end [s]."""

TICK = 0.012
"""Time between two plans in these tests, three steps [s]."""


def config_with(**values):
    """The plane's default configuration with some values changed; a double underscore is the dot of a nested name."""
    return replace(
        for_model(PlannerConfig(), MODEL.name), {name.replace("__", "."): value for name, value in values.items()}
    )


def planner_with(**values):
    """A planner whose gait begins at time 0."""
    planner = Planner(MODEL, config_with(**values))
    planner.reset(0.0)
    return planner


def posture(builder, config):
    """(2n,) planar state at rest in the reference posture at the gait's beginning, trunk level."""
    x = builder.reference.states(np.zeros(1), config.reference, TrunkCommand(0.0), LocalGround())[0]
    x[2] = 0.0
    x[N:] = 0.0
    return x


def start_state(planner):
    """That of a planner's problem."""
    return posture(planner.builder, planner.config)


def robot_state(x, time):
    """The three-dimensional state, straight ahead, of a planar state (2n,)."""
    q, v = x[:N], x[N:]
    orientation = rpy_to_quaternion(0.0, float(q[2]), 0.0)
    velocity = quaternion_to_matrix(orientation).T @ np.array([v[0], 0.0, v[1]])
    positions, velocities = MODEL.joint_state(x)
    return RobotState(
        time=time,
        position=np.array([q[0], 0.0, q[1]]),
        orientation=orientation,
        linear_velocity=velocity,
        angular_velocity=np.array([0.0, v[2], 0.0]),
        joint_positions=positions,
        joint_velocities=velocities,
    )


class Watched:
    """A planner whose solver's solutions are kept, in `solutions`."""

    def __init__(self, planner):
        self.planner = planner
        self.solutions = []
        self.problems = []
        solve = planner._solver.solve

        def watched(problem, *arguments, **options):
            self.problems.append(problem)
            solved = solve(problem, *arguments, **options)
            self.solutions.append(solved.solution)
            return solved

        planner._solver.solve = watched


def follow(planner, x, times, speed):
    """Plan at each time, the robot doing exactly what was planned; the results."""
    results = []
    for time in times:
        if results:
            x = results[-1].policy.sample(time).state
        results.append(planner.plan_coordinates(x, time, TrunkCommand(speed)))
    return results


@cache
def converged_plan(speed, method=INTERIOR_POINT):
    """(planner, result) of a bound at a speed after two cycles of following its own plans."""
    planner = planner_with(constraint__method=method)
    results = follow(planner, start_state(planner), np.arange(0.0, 0.72, 0.012), speed)
    return planner, results[-1]


def disturbed_planner(seed, size, method=INTERIOR_POINT):
    """A planner that follows a converged bound, an instant within it and a disturbed state there."""
    source, result = converged_plan(0.5, method)
    planner = planner_with(constraint__method=method)
    known, warm = source._warm, planner._warm
    warm.policy, warm.inequalities, warm.touchdowns = known.policy, known.inequalities, deepcopy(known.touchdowns)
    rng = np.random.default_rng(seed)
    time = result.policy.start + STEP * rng.integers(0, 20)
    spread = np.repeat([0.0, 0.03, 0.1, 0.2, 0.5, 2.0, 10.0], [1, 1, 1, 4, 2, 1, 4])
    return planner, time, result.policy.sample(time).state + size * spread * rng.standard_normal(2 * N)


_MODEL = pinocchio_model(TREE)
_DATA = _MODEL.createData()


def contact_velocity(foot, x):
    """(2,) world velocity (x, z) of the point where a rolling foot touches the ground, by pinocchio [m/s]."""
    pin.computeJointJacobians(_MODEL, _DATA, x[:N])
    pin.updateFramePlacements(_MODEL, _DATA)
    frame = pin.getFrameJacobian(_MODEL, _DATA, _MODEL.getFrameId(foot), pin.LOCAL_WORLD_ALIGNED)
    centre, turning = frame[:3] @ x[N:], frame[3:] @ x[N:]
    return (centre + np.cross(turning, [0.0, 0.0, -TREE.contact(foot).radius]))[[0, 2]]
