"""`solve`: strange problems, other units, certificates, and hand-written problems without scaling."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from contact_ddp_ros import Guess, SolverError, Termination, casadi_problem, solve
from test.ocp.hybrid_lq import Stage, hybrid_lq
from test.ocp.pendulum import pendulum as hand_written

H = 0.05
X, U = ca.SX.sym("x", 2), ca.SX.sym("u")
GOAL = X - ca.DM([1.0, 0.0])


def mass(n_nodes=40, **given):
    """A mass on a line that a force moves."""
    step = ca.vertcat(X[0] + H * X[1], X[1] + H * U)
    terms = {"dynamics": step, "running_cost": H * U**2, "terminal_cost": 0.0, "n_nodes": n_nodes, **given}
    return casadi_problem(x=X, u=U, **terms)


def swing_up(state=1.0, control=1.0, cost=1.0, constraint=1.0):
    """A bounded pendulum with a limit on its rate, in units of these sizes."""
    angle, rate, torque = X[0] / state, X[1] / state, U / control
    following = rate + H * (torque - 9.81 * ca.sin(angle))
    return casadi_problem(
        dynamics=state * ca.vertcat(angle + H * following, following),
        running_cost=cost * 0.5 * H * torque**2,
        terminal_cost=0.0,
        n_nodes=60,
        x=X,
        u=U,
        u_min=-5.0 * control,
        u_max=5.0 * control,
        inequalities=constraint * (6.0 - rate),
        terminal_equality=constraint * ca.vertcat(angle - np.pi, rate),
    )


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("what", ["state", "control", "cost", "constraint"])
def test_the_optimum_does_not_depend_on_units(what, sign):
    scale = 10.0 ** (6 * sign)
    found = solve(swing_up(**{what: scale}), np.zeros(2))
    assert found.status is Termination.CONVERGED and found.feasible, found
    assert found.cost / (scale if what == "cost" else 1.0) == pytest.approx(18.51316225, rel=1e-6), "IPOPT's optimum"


FINE = {"dynamics": ca.vertcat(X[0] + 0.02 * X[1], X[1] + 0.02 * U), "n_nodes": 200}
COARSE = {"dynamics": ca.vertcat(X[0] + 0.1 * X[1], X[1] + 0.1 * U), "n_nodes": 20}
SUM = {"dynamics": ca.vertcat(X[0] + U, X[1]), "n_nodes": 10}
DAMPED = {"running_cost": ca.sumsqr(X) + 0.01 * U**2, **FINE}
STRANGE = {
    "one node": ({"n_nodes": 1, "terminal_cost": ca.sumsqr(X - 1.0)}, [0.0, 0.0], 1.952381),
    "5000 nodes": ({"n_nodes": 5000, "terminal_equality": GOAL, "u_min": -1.0, "u_max": 1.0}, [0.0, 0.0], 7.6800e-7),
    "fixed control": ({"terminal_cost": ca.sumsqr(X - 1.0), "u_min": 0.3, "u_max": 0.3}, [0.0, 0.0], 0.512225),
    "a goal twice": ({"terminal_equality": ca.vertcat(GOAL, X[0] + X[1] - 1.0)}, [0.0, 0.0], 1.500938),
    "a limit twice": ({"inequalities": ca.vertcat(U - 1.0, 2.0 * U - 2.0)}, [0.0, 0.0], 2.0),
    "an equality twice": ({"equalities": ca.vertcat(U - X[0] - 1.0, 2.0 * (U - X[0] - 1.0))}, [0.0, 0.0], 7.00097),
    "an equality of the state": ({"equalities": X[1] - 0.5 - 0.1 * X[0]}, [0.0, 0.5], 0.0059295),
    "no cost": ({"running_cost": 0.0 * U}, [0.0, 0.0], 0.0),
    "NaN where the first trajectory goes": ({"running_cost": H * (U**2 - ca.log(X[0]))}, [1.0, -1.0], 1.995730),
    "a slope without end at the bound": (
        {"running_cost": H * (ca.sqrt(U) + ca.sumsqr(X - 1.0)), "u_min": 0.0, "u_max": 4.0}, [0.0, 0.0], 1.190530,
    ),
    "a start on a limit of the state": (
        {"running_cost": 0.1 * (ca.sumsqr(X) + 0.1 * U**2), "terminal_cost": ca.sumsqr(X), "inequalities": X[1] + 0.3,
            "u_min": -2.0, "u_max": 2.0, **COARSE}, [1.0, -0.3], 1.451192,
    ),
    "limits that no control changes for two nodes": (
        {"running_cost": H * ca.sumsqr(X), "inequalities": X[0], "u_min": -1.0, "u_max": 1.0}, [0.0, 0.0], 0.0,
    ),
    "a curved limit": ({"inequalities": 1.0 - U**2, **DAMPED}, [2.0, 0.0], 303.66657),
    "a curved limit of the state": (
        {"inequalities": 0.25 - X[1] ** 2, "u_min": -3.0, "u_max": 3.0, **DAMPED}, [2.0, 0.0], 329.9458,
    ),
    "a logarithm of a control with one bound": (
        {"dynamics": ca.vertcat(X[0] + 0.1 * U, X[1]), "running_cost": X[0] ** 2 + U - ca.log(U), "u_min": 0.0,
            "n_nodes": 5}, [1.0, 0.0], 11.6964,
    ),
    "a stiff van der Pol oscillator": (
        {"dynamics": X + 0.02 * ca.vertcat(X[1], 100.0 * (1.0 - X[0] ** 2) * X[1] - X[0] + U), "n_nodes": 100,
            "running_cost": 0.1 * (ca.sumsqr(X) + 0.1 * U**2), "terminal_cost": ca.sumsqr(X)}, [2.0, 0.0], 43.7064,
    ),
    "a deep minimum": ({"running_cost": 1e-3 * U**4 - 1e5 * U**2, **SUM}, [0.0, 0.0], -2.5e13),
    "a far goal": ({"running_cost": U**2, "terminal_equality": X[0] - 1e7, **SUM}, [0.0, 0.0], 1e13),
    "linear": ({"running_cost": H * U, "u_min": -1.0, "u_max": 1.0}, [0.0, 0.0], -2.0),
}  # fmt: skip
"""Terms, start and the optimum by IPOPT or by hand."""


@pytest.mark.parametrize("name", STRANGE)
def test_strange_problems_are_solved(name):
    terms, start, optimum = STRANGE[name]
    found = solve(mass(**terms), start)
    assert found.status is Termination.CONVERGED and found.feasible, found
    assert found.cost == pytest.approx(optimum, rel=2e-4, abs=1e-9)


def test_limits_even_in_the_control_have_their_multipliers():
    """At controls of 0 their slope is 0, and yet they depend on them."""
    found = solve(mass(running_cost=H * (U - 3.0) ** 2, inequalities=1.0 - U**2), np.zeros(2))
    assert found.us == pytest.approx(np.ones((40, 1)), abs=1e-6)
    assert found.multipliers.inequalities[:, 2] == pytest.approx(np.full(40, 2.0 * H), rel=1e-4)


def test_a_large_fixed_control_does_not_count_as_cost():
    x, u = ca.SX.sym("x"), ca.SX.sym("u", 2)
    problem = casadi_problem(
        x + H * u[0], H * (x**2 + u[0] ** 2), 0.0, n_nodes=40, x=x, u=u, u_min=[-9, 1e6], u_max=[9, 1e6]
    )
    found = solve(problem, [1.0])
    alone = solve(casadi_problem(x + H * u[0], H * (x**2 + u[0] ** 2), 0.0, n_nodes=40, x=x, u=u[0]), [1.0])
    assert found.feasible and found.cost == pytest.approx(alone.cost, rel=1e-7)


def test_a_loose_tolerance_ends_sooner():
    loose, tight = solve(swing_up(), np.zeros(2), tolerance=1e-3), solve(swing_up(), np.zeros(2))
    assert loose.feasible and len(loose.solution.iterations) < len(tight.solution.iterations)


def test_a_maximum_is_left():
    """The first controls are stationary for a cost that they maximise."""
    problem = mass(running_cost=H * (U**4 - U**2))
    found = solve(problem, np.zeros(2))
    assert found.is_minimum and abs(found.us) == pytest.approx(np.full((40, 1), np.sqrt(0.5)), abs=1e-4)
    assert solve(mass(running_cost=-H * U**2), np.zeros(2)).status is Termination.UNBOUNDED


def test_an_unstable_plant_is_solved():
    """A state that no control keeps grows by e⁴⁰ over the horizon; multiple shooting from the initial state."""
    grow = ca.vertcat(X[0] + 0.1 * (2.0 * X[0] + U), X[1] + 0.1 * (U - X[1]))
    problem = casadi_problem(grow, 0.1 * (ca.sumsqr(X) + U**2), 0.0, n_nodes=200, x=X, u=U)
    found = solve(problem, np.array([1.0, 0.0]), np.ones((200, 1)))
    assert found.status is Termination.CONVERGED and found.feasible, found
    assert abs(found.xs[-1]).max() < 1e-3


@pytest.mark.parametrize(
    ("terms", "culprits"),
    [
        (
            {"terminal_equality": X - ca.DM([10.0, 0.0]), "u_min": -2.0, "u_max": 2.0},
            {"terminal_equality[0]", "terminal_equality[1]"},
        ),
        ({"equalities": ca.vertcat(U - 1.0, U - 2.0)}, {"equalities[0]", "equalities[1]"}),
        ({"inequalities": ca.vertcat(U - 2.0, 1.0 - U)}, {"inequalities[0]", "inequalities[1]"}),
        ({"terminal_equality": X[1] - 40.02 * H, "u_min": -1.0, "u_max": 1.0}, {"terminal_equality[0]"}),
    ],
    ids=["out of reach", "two values", "an empty range", "slightly out of reach"],
)
@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_infeasible_problems_come_with_a_certificate(terms, culprits, scale):
    """Weights of the constraints whose combined slope by the controls vanishes: none can be met without the others."""
    terms = {name: scale * term if "qual" in name else term for name, term in terms.items()}
    problem = mass(**terms)
    found = solve(problem, np.zeros(2))
    assert found.status is Termination.INFEASIBLE and not found.feasible
    certificate = found.certificate
    worst, names = certificate.violated[0][2], {name for name, _, _ in certificate.violated}
    assert culprits <= names <= culprits | {"u_min[0]", "u_max[0]"}
    assert str(certificate).startswith("least violation nearby: ") and certificate.violated[0][0] in str(certificate)
    if "equalities" in terms and "terminal_equality" not in terms:
        y = certificate.multipliers.equalities[:-1]
        assert y.sum(axis=1) == pytest.approx(np.zeros(40), abs=1e-6 * abs(y).max())
        assert worst == pytest.approx(0.5 * scale, rel=1e-3), "in the middle"


def test_multipliers_and_slacks_of_bounds_are_in_the_users_units():
    """Multipliers are the cost's slope, with and without the other bound."""
    for upper in (np.inf, 99.0):
        problem = casadi_problem(X[:1] + U, (U + 2.0) ** 2, 0.0, n_nodes=1, x=X[:1], u=U, u_min=-1.0, u_max=upper)
        found = solve(problem, [0.0])
        assert found.multipliers.inequalities[0] == pytest.approx([2.0, 0.0], abs=1e-6), "the cost's slope"
        assert found.slacks[0, 1] == pytest.approx(1.0 + upper)


def test_small_constraints_count_as_large_ones():
    """A violation of 1e-7 is all of a constraint in units of 1e7."""
    found = solve(mass(equalities=1e-7 * ca.vertcat(U - 1.0, U + 1.0)), np.zeros(2))
    assert found.status is Termination.INFEASIBLE and not found.feasible


def test_a_warm_start_goes_on():
    problem = swing_up()
    first = solve(problem, np.zeros(2))
    again = solve(problem, np.array([1e-3, 0.0]), warm=first)
    assert again.feasible and len(again.solution.iterations) <= len(first.solution.iterations) // 2
    assert again.cost == pytest.approx(first.cost, rel=1e-2)


def test_gains_are_those_of_the_solution():
    """Even where the first trajectory is it."""
    problem = mass(running_cost=H * (U**2 + ca.sumsqr(X)))
    found = solve(problem, np.zeros(2))
    assert found.solution.iterations == ()
    a, b, value = np.array([[1.0, H], [0.0, 1.0]]), np.array([[0.0], [H]]), np.zeros((2, 2))
    for k in reversed(range(40)):
        bend = 2.0 * H + b.T @ value @ b
        gain = -np.linalg.solve(bend, b.T @ value @ a)
        assert found.gains[k] == pytest.approx(gain, abs=1e-9)
        value = 2.0 * H * np.eye(2) + a.T @ value @ (a + b @ gain)


def test_progress_can_be_watched_and_ended():
    seen = []
    found = solve(swing_up(), np.zeros(2), callback=lambda one: seen.append(one) or len(seen) == 3)
    assert len(seen) >= 3 and "ended early: by the callback" in found.solution.message
    lines = solve(swing_up(), np.zeros(2)).summary().splitlines()
    assert lines[0].split()[:2] == ["iteration", "objective"] and lines[1].split()[0] == "1"
    assert lines[-2].startswith("CONVERGED after") and "sweep" in lines[-1]


def test_problems_of_node_functions_are_solved_in_their_own_units():
    problem = hand_written()
    found = solve(problem, np.array([0.2, 0.1]))
    assert found.status is Termination.CONVERGED and found.feasible
    rng = np.random.default_rng(4)
    stages = [
        Stage(np.eye(2), rng.normal(size=(2, 1)), np.zeros(2), np.eye(2), np.zeros(2), np.eye(1)) for _ in range(4)
    ]
    reset = replace(hybrid_lq(stages, stages[-1]), has_control=np.array([True, False, True, True]))
    assert solve(reset, np.ones(2)).status is Termination.CONVERGED


def test_arguments_are_checked():
    problem = mass()
    for wrong in ({"guess": np.ones((39, 1))}, {"guess": np.full((40, 1), np.nan)}, {"x0": np.ones(3)}):
        with pytest.raises(SolverError, match=r"guess|x0|xs|us"):
            solve(**{"problem": problem, "x0": np.zeros(2), **wrong})
    other = solve(mass(terminal_equality=GOAL), np.zeros(2))
    for name, wrong in (
        ("warm", other), ("warm", 3), ("callback", 3), ("tolerance", 0), ("tolerance", np.nan), ("max_iterations", -1),
        ("max_iterations", 2.5),
    ):  # fmt: skip
        with pytest.raises(SolverError, match=name):
            solve(problem, np.zeros(2), **{name: wrong})
    with pytest.raises(SolverError, match="needed: a Problem"):
        solve("problem", np.zeros(2))
    assert solve(problem, np.zeros(2), Guess.open_loop(np.zeros(2), np.ones((40, 1)))).cost == pytest.approx(
        0.0, abs=1e-9
    )
