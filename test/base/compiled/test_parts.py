"""Cutting straight-line C: what is computed stays, and what is no straight line is left alone."""

from pathlib import Path

import casadi as cs
import numpy as np
import pytest

from contact_ddp_ros.base.compiled.casadi_functions import c_source, describe
from contact_ddp_ros.base.compiled.compiler import compile_library, find_compiler
from contact_ddp_ros.base.compiled.kernel_set import KernelSet
from contact_ddp_ros.base.compiled.split_functions import LONGEST, in_parts


def tangled() -> cs.Function:
    """A function whose intermediate results are used soon, late, several times and by overwritten names."""
    x, y = cs.SX.sym("x", 5), cs.SX.sym("y", 3)
    values = [x[i] for i in range(5)] + [y[i] for i in range(3)]
    for k in range(20):
        values.append(cs.sin(values[-1]) * values[(7 * k) % len(values)] + cs.cos(values[3 * k % len(values)]) ** 2)
    results = [cs.vertcat(*values[8::3]), cs.densify(cs.gradient(values[-1], x))]
    return cs.Function("tangled", [x, y], results, ["x", "y"], ["a", "b"])


@pytest.mark.parametrize("longest", [3, 50, 150])
def test_parts_compute_what_the_whole_does(longest: int, tmp_path: Path) -> None:
    function = tangled()
    assert function.n_instructions() <= LONGEST
    text = in_parts(c_source(function), longest)
    assert text.count("noinline") == -(-function.n_instructions() // longest)
    library = tmp_path / "parts.so"
    compile_library(find_compiler(), {"tangled": text}, library)
    built = KernelSet.of_library(library, {"tangled": describe(function)})
    x, y = np.linspace(-1.0, 0.7, 5), np.array([0.3, -0.2, 0.9])
    for found, expected in zip(built.python("tangled")(x, y), function(x, y), strict=True):
        np.testing.assert_allclose(found, np.array(expected).reshape(found.shape), rtol=1e-12, atol=1e-12)


def test_what_is_short_stays_whole() -> None:
    text = c_source(tangled())
    assert "noinline" not in text and in_parts(text, LONGEST) == text


def test_loops_and_calls_stay_whole() -> None:
    matrix = cs.MX.sym("A", 12, 12)
    text = c_source(cs.Function("solve", [matrix], [cs.solve(matrix, cs.DM.ones(12, 1), "lsqr")]))
    assert in_parts(text, longest=1) == text
