"""Contact problems of the whole body at any attitude: changes of chart, invariance, order of convergence.

The kernels are those of the packaged whole-body motions: the barrel roll's in one chart and the back flip's in the
other, so that nothing is compiled for these tests alone.
"""

import math
from functools import cache

import numpy as np
import pytest

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.dynamics.kernels import LEVELS, build_kernels
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.contact_problem import ContactLaw, ContactProblem, NodeCosts
from contact_ddp_ros.mpc.euler_switch_nodes import joined
from contact_ddp_ros.mpc.grounds import FootGrounds
from contact_ddp_ros.ocp.ddp import DdpSolver
from contact_ddp_ros.ocp.derivatives import check_derivatives
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.ocp.protocol import Problem
from contact_ddp_ros.ocp.solution import Guess, Solution
from contact_ddp_ros.robot.attitude import ANGLES, Chart, changed, in_chart
from contact_ddp_ros.robot.gaits.grid import KnotGrid, knot_grid
from contact_ddp_ros.robot.gaits.schedule import Mode, ModeSchedule
from contact_ddp_ros.robot.ground import LocalGround
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.models.model import HorizontalFrame
from contact_ddp_ros.robot.models.whole_body import BASE, YAW, WholeBodyModel
from contact_ddp_ros.robot.motion import MotionModes, load_motion

ROBOT = load_robot()
TREE, N, N_U = ROBOT.tree, ROBOT.tree.n, ROBOT.n_joints
AXES = (0, 1, 2)
FIRST, OTHER = Chart.YAW_PITCH_ROLL, Chart.YAW_ROLL_PITCH
RIGHT, HIND = ("fr_foot", "hr_foot"), ("hr_foot", "hl_foot")
STEP = 0.01
MODES = {
    "right": (RIGHT, 0.05, FIRST, "fr_and_hr_stance"),
    "rise": ((), 0.04, FIRST, "flight"),
    "turned": ((), 0.05, OTHER, "flight"),
    "landed": (HIND, 0.06, OTHER, "hr_and_hl_stance"),
}
"""Contacts, duration [s], chart, and name of the mode among the kernels of a packaged motion in that chart."""
SCHEDULE = ModeSchedule(tuple(Mode(name, contacts, duration) for name, (contacts, duration, _, _) in MODES.items()))
GRID = knot_grid(SCHEDULE, 0, 19, STEP)
LAW = ContactLaw(
    grounds=FootGrounds.shared(LocalGround(), 4),
    baumgarte_rate=5.0,
    friction=0.6,
    force_scale=90.0,
    torque_limits=ROBOT.effort_limits,
)


@cache
def contact() -> ContactProblem:
    """Through both charts."""
    built = {}
    for chart, motion in ((FIRST, "barrel_roll"), (OTHER, "backflip_whole_body")):
        modes = MotionModes.of(load_motion(motion), WholeBodyModel.legs_of).modes
        named = {mode.name: mode.contacts for mode in modes}
        built[chart] = build_kernels(in_chart(TREE, chart), named, AXES, levels=LEVELS)
    kernels = joined(built, {name: (chart, kernel) for name, (_, _, chart, kernel) in MODES.items()})
    charts = {name: chart for name, (_, _, chart, _) in MODES.items()}
    return ContactProblem(TREE, AXES, SCHEDULE, "semi_implicit_euler", "ddp", kernels, charts=charts)


def pitching(grid: KnotGrid) -> np.ndarray:
    """(N+1, 36) a robot that pitches from -40 to -140 degrees, a little out of its plane, in its modes' charts."""
    charts = [chart for _, _, chart, _ in MODES.values()]
    xs = np.zeros((grid.n_nodes + 1, 2 * N))
    xs[:, 0], xs[:, 2] = 0.3 * grid.times, 0.35
    xs[:, BASE:N] = ROBOT.standing
    pitch = -0.7 - 9.0 * grid.times
    xs[:, 3], xs[:, 4], xs[:, 5] = 0.3, 0.1, pitch
    xs[:, N + 5] = -9.0
    for x, mode in zip(xs, grid.modes, strict=True):
        x[:] = changed(x, OTHER, charts[mode])
    return xs


def problem_of(contact: ContactProblem, states: np.ndarray, grid: KnotGrid = GRID) -> Problem:
    rows = grid.n_nodes + 1
    weights = np.full(2 * N, 0.5)
    weights[[0, 1]] = 2.0
    weights[[N, N + 1, N + 2]] = 0.3
    costs = NodeCosts(
        states=states,
        state_weights=np.tile(weights, (rows, 1)),
        torque_weights=np.full((rows, N_U), 0.02),
        forces=np.zeros((rows, 12)),
        force_weights=np.full((rows, 12), 1e-4),
        heights=np.zeros((rows, 4)),
        height_weights=np.zeros((rows, 4)),
    )
    return contact.assemble(grid, LAW, {**vars(costs), **LAW.numbers()})


@pytest.fixture(scope="module")
def problem() -> Problem:
    return problem_of(contact(), pitching(GRID))


def test_the_chart_changes_once_and_the_sweep_then_takes_whole_products(problem: Problem) -> None:
    kinds = problem.node_integers[:, at.NODE_KIND]
    assert [int(kind) for kind in kinds if kind != at.STEP] == [
        at.LIFT_OFF,
        at.CHART_CHANGE,
        at.TOUCHDOWN,
        at.TERMINAL,
    ]
    assert problem.position_steps is None


def test_every_derivative_is_right(problem: Problem) -> None:
    rng = np.random.default_rng(0)
    xs = pitching(GRID) + 0.05 * rng.normal(size=(GRID.n_nodes + 1, 2 * N))
    us = rng.normal(size=(GRID.n_nodes, N_U))
    report = check_derivatives(problem, xs, us, penalty=(10.0, 0.1, 0.1))
    assert report.ok, str(report)


def solved(problem: Problem, x0: np.ndarray, size: float = 0.0, **options) -> Solution:
    us = size * np.random.default_rng(1).normal(size=(problem.n_nodes, N_U)) * problem.has_control[:, None]
    return DdpSolver(SolverOptions(**options)).solve(problem, x0, Guess.open_loop(x0, us), penalty=(0.0, 1.0, 0.0))


@pytest.fixture(scope="module")
def optimum(problem: Problem) -> Solution:
    x0 = pitching(GRID)[0]
    found = solved(problem, x0, tolerance=1e-13, max_iterations=100)
    solver = DdpSolver(SolverOptions(tolerance=0.0))
    for _ in range(3):
        guess = Guess(found.xs, found.us, found.gains)
        found = solver.solve(problem, x0, guess, penalty=(0.0, 1.0, 0.0), max_iterations=1)
    return found


def test_the_optimum_goes_through_the_singular_attitude_and_an_impact(problem: Problem, optimum: Solution) -> None:
    charts = [chart for _, _, chart, _ in MODES.values()]
    rotations = [charts[mode].rotation(x[ANGLES]) for x, mode in zip(optimum.xs, GRID.modes, strict=True)]
    sines = [FIRST.sine(rotation) for rotation in rotations]
    assert max(abs(sine) for sine in sines) > math.sin(math.radians(87.0))
    assert rotations[0][2, 2] > 0.5 and rotations[-1][2, 2] < -0.5, "from upright to upside down"
    change = int(np.flatnonzero(problem.node_integers[:, at.NODE_KIND] == at.CHART_CHANGE)[0])
    np.testing.assert_allclose(rotations[change], rotations[change + 1], atol=1e-12)
    lands = int(np.flatnonzero(problem.node_integers[:, at.NODE_KIND] == at.TOUCHDOWN)[0])
    assert np.abs(optimum.xs[lands + 1] - optimum.xs[lands])[N:].max() > 0.5


def test_ddp_converges_quadratically_through_chart_change_singular_attitude_and_impact(
    problem: Problem, optimum: Solution
) -> None:
    """The error after one iteration over that before, of disturbances of several sizes: order 2, and 1 by iLQR."""
    x0 = optimum.xs[0]
    noise = np.random.default_rng(3).normal(size=optimum.us.shape) * problem.has_control[:, None]
    orders = {}
    for variant in ("ddp", "ilqr"):
        solver, before, after = DdpSolver(SolverOptions(variant=variant, tolerance=0.0)), [], []
        for size in (0.02, 0.04, 0.08):
            start = Guess(optimum.xs, optimum.us + size * noise, optimum.gains)
            none = solver.solve(problem, x0, start, penalty=(0.0, 1.0, 0.0), max_iterations=0)
            one = solver.solve(problem, x0, start, penalty=(0.0, 1.0, 0.0), max_iterations=1)
            before.append(np.linalg.norm(none.us - optimum.us))
            after.append(np.linalg.norm(one.us - optimum.us))
        orders[variant] = np.polyfit(np.log(before), np.log(after), 1)[0]
    assert orders["ddp"] >= 1.8
    assert orders["ilqr"] < 1.3


@pytest.mark.parametrize("place", [(2.5, 3.0, -2.0), (-1.0, -4.0, 0.5)])
def test_iterates_do_not_depend_on_place_and_heading(problem: Problem, place: tuple[float, float, float]) -> None:
    """Of states, reference and start turned about the vertical and shifted, without the planner's frame."""
    turn, x, y = place
    frame = HorizontalFrame(x, y, turn, YAW)
    here, states = solved(problem, pitching(GRID)[0], 1.0, max_iterations=4), pitching(GRID)
    moved = frame.out_of(states)
    there = solved(problem_of(contact(), moved), moved[0], 1.0, max_iterations=4)
    assert len(here.iterations) == len(there.iterations) == 4
    for one, other in zip(here.iterations, there.iterations, strict=True):
        assert other.cost == pytest.approx(one.cost, rel=1e-9)
        assert other.step == one.step
    np.testing.assert_allclose(there.us, here.us, rtol=0.0, atol=1e-9 * np.abs(here.us).max())
    np.testing.assert_allclose(frame.into(there.xs), here.xs, rtol=0.0, atol=1e-8)
    forces = contact().forces(GRID, here.aux).reshape(-1, 3)
    turned = contact().forces(GRID, there.aux).reshape(-1, 3)
    cos, sin = math.cos(turn), math.sin(turn)
    back = np.array([[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]])
    np.testing.assert_allclose(turned @ back.T, forces, rtol=0.0, atol=1e-9 * np.abs(forces).max())


def test_a_chart_does_not_change_where_a_foot_lands() -> None:
    modes = (SCHEDULE.modes[1], SCHEDULE.modes[3])
    short = ModeSchedule(modes)
    built = contact()
    problem = ContactProblem(
        TREE,
        AXES,
        short,
        "semi_implicit_euler",
        "ddp",
        built.kernels,
        charts={"rise": FIRST, "landed": OTHER},
    )
    grid = knot_grid(short, 0, 8, STEP)
    with pytest.raises(ParameterError, match="where a foot lands"):
        problem_of(problem, np.zeros((grid.n_nodes + 1, 2 * N)), grid)
