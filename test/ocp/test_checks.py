"""Whatever does not fit compiled code is refused by name before it runs: no traceback of Numba's, no crash."""

from dataclasses import replace

import numba as nb
import numpy as np
import pytest

from contact_ddp_ros.base.errors import SolverError
from contact_ddp_ros.ocp.continuation import solve_constrained
from contact_ddp_ros.ocp.ddp import DdpSolver
from contact_ddp_ros.ocp.protocol import SECOND
from contact_ddp_ros.ocp.solution import Guess
from test.ocp.pendulum import pendulum

X0 = np.array([0.2, 0.0])
PROBLEM = pendulum()
N = PROBLEM.n_nodes
STILL = Guess.open_loop(X0, np.zeros((N, 1)))


def python_step(data, k, x, u, x_next, aux, residual):
    return 0.0


@nb.njit
def untyped(data, k, x, u, x_next, aux, residual):
    residual[:] = 0.0
    if k < 1:
        x_next[:] = x + u[0]
    return x[0] ** 2 + u[0] ** 2


@nb.njit
def integer(data, k, x, u, x_next, aux, residual):
    residual[:] = 0.0
    x_next[:] = x
    return k


@nb.njit
def broken(data, k, x, u, x_next, aux, residual):
    return x.no_such_attribute


@nb.njit(SECOND)
def of_second(data, k, x, u, aux, vx, hxx, hux, huu):
    hxx[:] = 0.0


def solve(problem=PROBLEM, x0=X0, guess=None, **arguments):
    return DdpSolver().solve(problem, x0, STILL if guess is None else guess, **arguments)


@pytest.mark.parametrize("name", ["step", "first", "second"])
@pytest.mark.parametrize("function", [python_step, lambda *_: 0.0, None, "step", nb.njit])
def test_functions_that_are_not_compiled_are_refused(name, function):
    with pytest.raises(SolverError, match=rf"{name} is .*must be decorated with @numba.njit\({name.upper()}\)"):
        replace(PROBLEM, **{name: function})


@pytest.mark.parametrize("function", [of_second, broken])
def test_compiled_functions_of_another_signature_are_refused(function):
    with pytest.raises(SolverError, match=f"{function.__name__} does not fit the solver's signature"):
        solve(replace(PROBLEM, step=function))


def test_a_function_without_signature_is_compiled_for_the_solver():
    problem = replace(PROBLEM, step=untyped)
    assert np.isfinite(solve(problem, max_iterations=0).cost)


def test_an_integer_cost_is_a_number_all_the_same():
    """Numba casts what it compiles for the solver; nothing reads the bits of an integer as a float."""
    assert solve(replace(PROBLEM, step=integer), max_iterations=0).cost == N * (N + 1) / 2


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("has_control", np.ones(N), "an array of float64.*needed: .*array of bool with 1 axis"),
        ("has_control", [True] * N, "of type list"),
        ("integers", np.zeros(1, dtype=np.int32), "an array of int32"),
        ("node_integers", np.zeros(N + 1, dtype=np.int64), r"shape \(61,\).*with 2 axes"),
        ("node_integers", np.zeros((N + 1, 2), dtype=np.int64, order="F"), "not C-contiguous"),
        ("parameters", np.zeros(7, dtype=np.float32), "an array of float32"),
        ("parameters", np.zeros(14)[::2], "not C-contiguous"),
        ("parameters", np.broadcast_to(1.0, 7), "read-only"),
        ("parameters", np.zeros(7).astype(">f8"), "an array of >f8"),
        ("node_parameters", np.zeros((2, N + 1)).T, "not C-contiguous"),
        ("n_x", 2.0, "a whole number, at least 1"),
        ("n_u", 0, "n_u is 0"),
        ("n_e", -1, "n_e is -1"),
        ("n_aux", True, "n_aux is True"),
    ],
)
def test_data_of_another_type_or_memory_order_are_refused(name, value, text):
    with pytest.raises(SolverError, match=rf"{name} is .*{text}|{text}"):
        replace(PROBLEM, **{name: value})


@pytest.mark.parametrize("name", ["parameters", "node_parameters"])
def test_parameters_that_are_no_numbers_are_refused(name):
    values = getattr(PROBLEM, name).copy()
    values.flat[0] = np.nan
    with pytest.raises(SolverError, match=rf"{name} holds NaN.*{name}\[0"):
        solve(replace(PROBLEM, **{name: values}))


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"x0": np.zeros(3)}, r"x0 has shape \(3,\); needed: \(2,\)"),
        ({"x0": [0.0, np.nan]}, r"x0 holds a number that is not finite.*x0\[1\]"),
        ({"x0": ["a", "b"]}, "x0 is of type list; needed: real numbers"),
        ({"x0": np.array([0.0, 1j])}, "x0 is an array of complex128"),
        ({"x0": None}, "x0 is of type NoneType; needed: real numbers"),
        ({"x0": [[0.0], [0.0, 1.0]]}, "x0 is no array"),
        ({"guess": np.zeros((N, 1))}, r"the guess is an array of float64, shape \(60, 1\).*needed: a Guess"),
        ({"guess": Guess.open_loop(X0, np.zeros((N, 2)))}, r"guess.us has shape \(60, 2\); needed: \(60, 1\)"),
        ({"guess": Guess.open_loop(X0, np.zeros((N - 1, 1)))}, r"guess.xs has shape \(60, 2\); needed: \(61, 2\)"),
        ({"guess": Guess.open_loop(X0, np.full((N, 1), np.inf))}, r"guess.us holds .*us\[0, 0\] \(node 0\) is not"),
        ({"guess": replace(STILL, gains=np.zeros((N, 2, 1)))}, r"guess.gains has shape \(60, 2, 1\); needed"),
        ({"guess": replace(STILL, gains=np.full((N, 1, 2), np.nan))}, r"guess.gains holds .*\(node 0\) is not"),
        ({"guess": replace(STILL, xs=np.full((N + 1, 2), np.inf))}, r"guess.xs holds .*\(node 0\) is not"),
        ({"multipliers": np.full((N + 1, 1), np.nan)}, "multipliers holds"),
        ({"penalty": [1.0, np.nan, 0.0]}, "penalty holds"),
        ({"multipliers": np.zeros(N + 1)}, r"multipliers has shape \(61,\); needed: \(61, 1\)"),
        ({"penalty": [1.0, 0.1]}, r"penalty has shape \(2,\); needed: \(3,\)"),
        ({"problem": "pendulum"}, "the problem is of type str; needed: a Problem"),
    ],
)
def test_arguments_of_a_solve_that_do_not_fit_are_named(arguments, text):
    with pytest.raises(SolverError, match=text):
        solve(**arguments)


def test_options_of_another_type_are_named():
    with pytest.raises(SolverError, match="options is of type dict; needed: a SolverOptions"):
        DdpSolver({"variant": "ilqr"})  # type: ignore[arg-type]


def test_a_control_tape_has_a_row_for_each_node():
    with pytest.raises(SolverError, match=r"x0 has shape \(2,\) and us \(60,\); needed: \(n_x,\) and \(N, n_u\)"):
        Guess.open_loop(X0, np.zeros(N))


def test_numbers_in_another_memory_are_taken_over():
    """Lists, integers, single precision, Fortran order and read-only arrays are converted, not refused."""
    us = np.linspace(-1.0, 1.0, N)[:, None]
    expected = solve(guess=Guess.open_loop(X0, us))
    read_only = us.copy()
    read_only.flags.writeable = False
    xs = np.asfortranarray(np.tile(X0, (N + 1, 1)))
    for given in (read_only, np.asfortranarray(us), np.repeat(us, 2, axis=0)[::2], us.tolist()):
        found = solve(x0=list(X0), guess=Guess(xs, given, np.zeros((N, 1, 2), dtype=int)))
        assert np.array_equal(found.us, expected.us)
    assert np.array_equal(read_only, us), "the guess is not written into"


def test_a_problem_brings_the_penalty_of_its_solves():
    problem = replace(PROBLEM, penalty=(5.0, 0.2, 0.3))
    assert np.array_equal(solve(problem).us, solve(PROBLEM).us), "the pendulum has no constraint"
    with pytest.raises(SolverError, match="penalty"):
        solve(replace(PROBLEM, penalty=(1.0, np.nan, 0.0)))
    assert solve_constrained(DdpSolver(), problem, X0, STILL).passes[0].penalty[0] == 1e3
