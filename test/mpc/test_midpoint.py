"""The implicit midpoint rule: what it solves, its order, its symmetry, its failures, and DDP and the planner on it.

Its first and second order are compared with finite differences beside those of the explicit schemes in
test_contact_nodes.
"""

from copy import copy
from dataclasses import replace
from functools import cache

import numpy as np
import pinocchio as pin
import pytest
from oracle import pinocchio_model

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.problem_builder import ProblemBuilder
from contact_ddp_ros.mpc.reference import TrunkCommand as Wanted
from contact_ddp_ros.ocp.ddp import DdpSolver
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.ocp.solution import Guess, Termination
from contact_ddp_ros.robot.gaits.grid import knot_grid
from contact_ddp_ros.runs.closed_loop import run
from contact_ddp_ros.runs.options import RunOptions
from test.mpc.support import MODEL, TICK, TREE, N, config_with, follow, planner_with, start_state
from test.mpc.test_contact_nodes import Node, node_of_kind

SCHEMES = ("forward_euler", "semi_implicit_euler", "implicit_midpoint")
IN_CONTACT, IN_THE_AIR = 0, 1
"""Modes: back stance and the flight after it."""

IDLE = replace(TREE, joints=tuple(replace(joint, damping=0.0) for joint in TREE.joints))
"""The robot without friction in its joints."""


@cache
def problem_of(integrator, idle=False):
    model = copy(MODEL)
    if idle:
        model.tree = IDLE
    config = config_with(gait__integrator=integrator)
    builder = ProblemBuilder(model, config)
    grid = knot_grid(builder.schedule, 0, 90, config.gait.step)
    return builder, *builder.build(grid, config, Wanted(0.7))


class Motion:
    """Steps of any length in one mode, by one scheme."""

    def __init__(self, integrator, mode, idle=False):
        self.builder, problem, self.reference = problem_of(integrator, idle)
        self.problem = replace(problem, node_parameters=problem.node_parameters.copy())
        self.node = Node(self.problem, node_of_kind(problem, at.STEP, mode))

    def start(self, seed=1):
        rng = np.random.default_rng(seed)
        x = self.reference[self.node.k].copy()
        x[N:] += 0.5 * rng.standard_normal(N)
        return x, 3.0 * rng.standard_normal(self.problem.n_u)

    def step(self, x, u, h):
        self.problem.node_parameters[self.node.k, at.DURATION] = h
        return self.node.step(x, u)[0]

    def run(self, x, u, duration, steps):
        for _ in range(steps):
            x = self.step(x, u, duration / steps)
        return x


def runge_kutta(motion, x, u, duration, steps):
    """The same by the classical fourth-order scheme, from accelerations that forward Euler reveals."""
    h = duration / steps

    def rate(x):
        return motion.step(x, u, 1.0) - x

    for _ in range(steps):
        k1 = rate(x)
        k2 = rate(x + 0.5 * h * k1)
        k3 = rate(x + 0.5 * h * k2)
        k4 = rate(x + h * k3)
        x = x + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return x


@pytest.mark.parametrize("mode", [IN_CONTACT, IN_THE_AIR])
@pytest.mark.parametrize(("integrator", "order"), zip(SCHEMES, (1.0, 1.0, 2.0), strict=True))
def test_the_order_of_accuracy(mode, integrator, order):
    motion, duration = Motion(integrator, mode), 0.04
    x, u = motion.start()
    exact = runge_kutta(Motion("forward_euler", mode), x, u, duration, 400)
    assert np.abs(exact - x).max() > 0.1
    counts = np.array([5, 10, 20, 40])
    errors = [np.abs(motion.run(x, u, duration, count) - exact).max() for count in counts]
    assert -np.polyfit(np.log(counts), np.log(errors), 1)[0] == pytest.approx(order, abs=0.15)


@pytest.mark.parametrize("mode", [IN_CONTACT, IN_THE_AIR])
def test_the_middle_satisfies_the_dynamics_and_the_contact(mode):
    motion, h = Motion("implicit_midpoint", mode), 0.01
    x, u = motion.start()
    after = motion.step(x, u, h)
    assert after[:N] - x[:N] == pytest.approx(0.5 * h * (x[N:] + after[N:]), rel=1e-12)
    middle, a = 0.5 * (x + after), (after[N:] - x[N:]) / h
    builder = motion.builder
    mass, bias = builder.kernels.python(f"system/{builder.schedule.modes[mode].name}")(
        middle[:N], middle[N:], motion.problem.node_parameters[0, builder.layout.model]
    )
    bias = bias.ravel()
    nu = np.concatenate([a, motion.node.aux[N : len(bias)]])
    torque = np.zeros(len(bias))
    torque[list(TREE.actuated)] = u
    assert mass @ nu + bias == pytest.approx(torque, abs=1e-7)
    assert len(bias) == (N + 2 if mode == IN_CONTACT else N)


@pytest.mark.parametrize("mode", [IN_CONTACT, IN_THE_AIR])
@pytest.mark.parametrize("h", [0.002, 0.01])
def test_a_step_back_undoes_a_step(mode, h):
    motion = Motion("implicit_midpoint", mode)
    x, u = motion.start()
    assert motion.step(motion.step(x, u, h), u, -h) == pytest.approx(x, abs=1e-7)
    euler = Motion("semi_implicit_euler", mode)
    assert np.abs(euler.step(euler.step(x, u, h), u, -h) - x).max() > 1e-4


def energy_drift(integrator, steps, h):
    """Largest change of the energy [J] of a robot that falls and swings without friction or torque."""
    motion = Motion(integrator, IN_THE_AIR, idle=True)
    model = pinocchio_model(IDLE)
    data = model.createData()

    def energy(x):
        return pin.computeMechanicalEnergy(model, data, x[:N], x[N:])

    x, u = motion.start()[0], np.zeros(motion.problem.n_u)
    initial, worst = energy(x), 0.0
    for _ in range(steps):
        x = motion.step(x, u, h)
        worst = max(worst, abs(energy(x) - initial))
    return worst


def test_energy_does_not_drift_as_with_eulers_schemes():
    drift = {integrator: energy_drift(integrator, 250, 0.004) for integrator in SCHEMES}
    assert drift["implicit_midpoint"] < 0.02 * min(drift["forward_euler"], drift["semi_implicit_euler"])


@pytest.mark.parametrize("rate", [1e5, 1e200])
def test_a_step_that_has_no_solution_costs_infinity(rate):
    motion = Motion("implicit_midpoint", IN_CONTACT)
    x, u = motion.start()
    x[N:] = rate * np.cos(np.arange(N))
    x_next, cost = motion.node.step(x, u)
    assert cost == np.inf
    assert (x_next == np.inf).all()


def test_a_solve_from_such_a_guess_diverges_in_good_order():
    _, problem, reference = problem_of("implicit_midpoint")
    for shooting in ("single", "multiple"):
        guess = Guess.open_loop(reference[0], np.full((problem.n_nodes, problem.n_u), 1e9))
        xs = reference.copy()
        xs[10, N:] = 1e5
        solution = DdpSolver(SolverOptions(shooting=shooting)).solve(problem, reference[0], replace(guess, xs=xs))
        assert solution.termination is Termination.DIVERGED


def test_second_order_by_tensors_is_refused():
    with pytest.raises(ParameterError, match=r"implicit midpoint.*tensors"):
        ProblemBuilder(MODEL, config_with(gait__integrator="implicit_midpoint", variant="ddp_tensor"))


@pytest.fixture(scope="module")
def optimum():
    """(problem, penalty, optimum) of the planner's first solve."""
    _, problem, reference = problem_of("implicit_midpoint")
    constraint = config_with().constraint
    penalty = np.array([constraint.touchdown_penalty, constraint.barrier_width, constraint.barrier_weight])
    x0 = start_state(planner_with())
    guess = Guess(reference, np.zeros((problem.n_nodes, problem.n_u)), np.zeros((problem.n_nodes, 4, problem.n_x)))
    options = SolverOptions(shooting="multiple", tolerance=1e-14, max_iterations=200)
    best = DdpSolver(options).solve(problem, x0, guess, penalty=penalty)
    assert best.iterations[-1].expected < 1e-10
    return problem, penalty, best


@pytest.mark.parametrize(("variant", "order"), [("ddp", 2.0), ("ilqr", 1.0)])
def test_the_error_after_one_iteration_is_a_power_of_the_error_before(optimum, variant, order):
    problem, penalty, best = optimum
    solver = DdpSolver(SolverOptions(variant=variant, tolerance=0.0))
    disturbance = np.sin(np.arange(problem.n_nodes)[:, None] + np.arange(problem.n_u))
    sizes, after = np.geomspace(0.01, 0.1, 4), []
    for size in sizes:
        guess = Guess(best.xs, best.us + size * disturbance * problem.has_control[:, None], best.gains)
        solution = solver.solve(problem, best.xs[0], guess, penalty=penalty, max_iterations=1)
        after.append(np.abs(solution.us - best.us).max())
    assert np.polyfit(np.log(sizes), np.log(after), 1)[0] == pytest.approx(order, abs=0.25)


def test_it_plans_what_eulers_scheme_plans_but_for_its_error():
    middle, semi = (planner_with(gait__integrator=name) for name in ("implicit_midpoint", "semi_implicit_euler"))
    ours, theirs = (follow(one, start_state(one), np.arange(0.0, 0.2, TICK), 0.5)[-1] for one in (middle, semi))
    assert ours.touchdown_error < 1e-3
    assert ours.policy.states[:, 1] == pytest.approx(theirs.policy.states[:, 1], abs=0.01)
    assert (ours.policy.controls != theirs.policy.controls).any()


def test_the_robot_bounds_with_it():
    overrides = {"planner.gait.integrator": "implicit_midpoint", "controller.stand.ramp_time": 0.3}
    recording = run(RunOptions(duration=1.8, overrides=overrides))
    assert recording.fall is None
    assert recording.solves["ok"].all()
    assert recording.solves["touchdown_error"].max() < 1e-3
    bounding = recording.ticks["control_mode"] == 2
    assert bounding.sum() > 600
    assert recording.height[bounding].min() > 0.2
