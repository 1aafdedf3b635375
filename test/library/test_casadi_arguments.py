"""What the builder refuses, and what it says."""

import casadi as cs
import numpy as np
import pytest

from contact_ddp_ros.base.errors import SolverError
from contact_ddp_ros.ocp.casadi_problem import LeastSquares, casadi_problem
from test.library.systems import pendulum_terms

X, U, DYNAMICS, RUNNING, END = pendulum_terms()
P = cs.SX.sym("p", 3)
OTHER = cs.SX.sym("other")
M = cs.MX.sym("m", 2)


def build(**changed):
    given = {"dynamics": DYNAMICS, "running_cost": RUNNING, "terminal_cost": END, "n_nodes": 5, "x": X, "u": U}
    return casadi_problem(**{**given, **changed})


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"dynamics": lambda x, u: x}, r"dynamics is the Python function .*differentiates expressions.*SX symbols"),
        ({"running_cost": lambda x, u: u}, "running_cost is the Python function"),
        ({"dynamics": M}, "dynamics is an MX expression; write it with SX"),
        ({"dynamics": "x + u"}, "dynamics is of type str; needed: an SX expression"),
        ({"dynamics": X.T}, r"dynamics has shape \(1, 2\); needed: \(2, 1\)"),
        ({"running_cost": X}, r"running_cost has shape \(2, 1\); needed: \(1, 1\)"),
        ({"running_cost": RUNNING * OTHER}, r"running_cost depends on other; allowed: .* \(x, u\) and p"),
        ({"terminal_cost": END * U}, "terminal_cost depends on u; allowed: the given symbols x and p"),
        ({"terminal_cost": LeastSquares(U)}, "terminal_cost depends on u"),
        ({"inequalities": X.T}, "inequalities has shape .*a column"),
        ({"terminal_equality": X + U}, "terminal_equality depends on u"),
        ({"x": M}, r"x is MX of shape \(2, 1\); needed: a column of symbols"),
        ({"x": X + 1.0}, "x is SX .*needed: a column of symbols"),
        ({"x": None}, "x and u are not both given and dynamics is SX"),
        ({"n_nodes": 0}, "n_nodes is 0; needed: a whole number, at least 1"),
        ({"n_nodes": 5.0}, "n_nodes is 5.0"),
        ({"u_min": [-1.0, -1.0]}, "u_min is .*one for each of the 1 controls"),
        ({"u_max": np.nan}, "u_max is nan"),
        ({"u_max": -np.inf}, "no control can keep to it"),
        ({"u_min": 1.0, "u_max": 0.5}, "no lower bound may be above its upper one"),
        ({"u_min": "low"}, "u_min is 'low'"),
        ({"running_cost": RUNNING * np.nan}, "running_cost holds NaN"),
        ({"u_min": [[0.0], [1.0, 2.0]]}, "u_min is .*one for each of the 1 controls"),
        ({"barrier_weight": "much"}, "barrier_weight is 'much'; needed: a positive number"),
        ({"barrier_weight": 0.0}, "barrier_weight is 0.0; needed: a positive number"),
        ({"parameters": [1.0]}, "parameters are given, but there is no symbol p"),
        ({"p": P}, r"p has 3 entries; give their values as parameters, \(3,\) or \(6, 3\)"),
        ({"p": P, "parameters": [1.0, 2.0]}, r"parameters has shape \(2,\); needed: \(3,\)"),
        ({"p": P, "parameters": np.zeros((5, 3))}, r"parameters has shape \(5, 3\); needed: \(6, 3\)"),
        ({"p": P, "parameters": [1.0, np.nan, 2.0]}, r"parameters\[1\] is not"),
    ],
)
def test_what_does_not_fit_is_named(changed, text):
    with pytest.raises(SolverError, match=text):
        build(**changed)


def test_functions_of_other_arguments_are_named():
    f = cs.Function("f", [X, U], [DYNAMICS])
    two = cs.Function("two", [X, U], [RUNNING, RUNNING])
    with pytest.raises(SolverError, match="running_cost takes 2 arguments and gives 2 results"):
        casadi_problem(f, two, END, n_nodes=5)
    wide = cs.Function("wide", [cs.SX.sym("a", 1), cs.SX.sym("b", 1)], [cs.SX(1, 1)])
    end = cs.Function("end", [X], [END])
    with pytest.raises(SolverError, match=r"terminal_cost takes arguments of \[2\] entries; needed: \[1\]"):
        casadi_problem(wide, 0.0, end, n_nodes=5)
    with pytest.raises(SolverError, match="dynamics takes 1 arguments"):
        casadi_problem(cs.Function("f", [X], [X]), RUNNING, END, n_nodes=5)


@pytest.mark.parametrize("kind", ["integrator", "table"])
def test_a_function_that_is_no_scalars_is_named(kind):
    """CasADi would call it with work memory of its own, and differentiate it by other means."""
    state, m, u = cs.SX.sym("x", 2), cs.MX.sym("m", 2), cs.MX.sym("u")
    if kind == "integrator":
        following = cs.integrator("F", "cvodes", {"x": state, "ode": -state}, 0.0, 0.1)(x0=m)["xf"]
    else:
        table = cs.interpolant("table", "linear", [[0.0, 1.0, 2.0]], [0.0, 1.0, 4.0])
        following = cs.vertcat(table(m[0]), m[1] + u)
    f = cs.Function("f", [m, u], [following])
    with pytest.raises(SolverError, match="dynamics calls a function that cannot be expanded to scalars"):
        casadi_problem(f, RUNNING, END, n_nodes=5, x=X, u=U)
