"""Cost terms of one's own: right to second order wherever they reach, recorded by name, refused with the reason."""

import re
from dataclasses import replace
from pathlib import Path

import casadi as cs
import numpy as np
import pytest

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.mpc.cost_terms import TERMS, check_cost_term
from contact_ddp_ros.mpc.custom_term import CostTerm, load_terms
from contact_ddp_ros.mpc.custom_terms import OwnTerms
from contact_ddp_ros.mpc.planner import Planner
from contact_ddp_ros.mpc.problem_builder import ProblemBuilder
from contact_ddp_ros.mpc.reference import TrunkCommand
from contact_ddp_ros.robot.gaits.grid import knot_grid
from contact_ddp_ros.robot.models.planar import AXES
from test.mpc.support import MODEL, TREE, config_with, start_state

FILE = """
import numpy as np
from contact_ddp_ros import CostTerm

class Level(CostTerm):
    name = "level"
    def residual(self, knot):
        return 20.0 * knot.coordinate("base_pitch")

class Clumsy(CostTerm):
    name = "clumsy"
    def __init__(self, weight):
        self.weight = weight
    def residual(self, knot):
        return knot.q

NUMBER = 3
"""


class Entangled(CostTerm):
    """Everything that a term may depend on, curved, with numbers of its own."""

    name = "entangled"
    parameters = ("weight", "down")

    def residual(self, knot):
        force, foot = knot.forces["front_foot"], knot.feet["back_foot"]
        own = knot.parameters
        return cs.vertcat(
            own["weight"] * cs.sin(knot.coordinate("base_pitch")) * knot.rate("front_hip"),
            2e-4 * force[0] * force[1] + foot[1] * own["down"],
            1e-3 * knot.u[1] * foot[0] * knot.forces["back_foot"][1],
        )

    def values(self, horizon):
        return np.column_stack([1.0 + horizon.times, 3.0 * horizon.stance[:, 0]])


class Plain(CostTerm):
    name = "plain"

    def residual(self, knot):
        return 0.3 * knot.v


@pytest.mark.parametrize(
    ("variant", "integrator"),
    [
        ("ddp", "semi_implicit_euler"),
        ("ddp", "forward_euler"),
        ("ddp", "implicit_midpoint"),
        ("ddp_tensor", "semi_implicit_euler"),
        ("ddp_tensor", "forward_euler"),
    ],
)
def test_derivatives_are_exact_also_through_contact_forces(variant, integrator):
    report = check_cost_term(Entangled(), config_with(variant=variant, gait__integrator=integrator), model=MODEL)
    assert report.ok, str(report)


def test_the_curvature_of_a_term_is_not_nothing():
    terms = OwnTerms(TREE, AXES, (Entangled(),))
    assert terms.kernels is not None
    rng = np.random.default_rng(0)
    sizes = [(block.rows, block.columns) for block in terms.kernels.kernel("terms_second").arguments]
    (curvature,) = terms.kernels.python("terms_second")(*[rng.normal(size=size) for size in sizes])
    assert np.abs(curvature).max() > 1e-3
    assert curvature == pytest.approx(curvature.T)


def test_gauss_newton_is_positive_and_the_value_half_its_square():
    terms = OwnTerms(TREE, AXES, (Entangled(), Plain()))
    rng = np.random.default_rng(1)
    sizes = [(block.rows, block.columns) for block in terms.kernels.kernel("terms").arguments]
    point = [rng.normal(size=size) for size in sizes]
    value, *_ = terms.kernels.python("terms")(*point)
    gradient, hessian = terms.kernels.python("terms_first")(*point)
    assert value[0] >= 0.5 * 0.3**2 * (point[0][TREE.n :] ** 2).sum()
    assert np.linalg.eigvalsh(hessian).min() > -1e-12
    assert np.isfinite(gradient).all()


def test_a_term_acts_and_is_recorded_under_its_name(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(FILE)
    plain, level = (Planner(MODEL, config_with(first_iterations=40, cost_terms=text)) for text in ("", f"{file}:Level"))
    results = []
    for planner in (plain, level):
        planner.reset(0.0)
        results.append(planner.plan_coordinates(start_state(planner), 0.0, TrunkCommand(0.5)))
    without, with_it = (np.abs(result.policy.states[:, 2]).max() for result in results)
    assert with_it < 0.7 * without
    parts = results[1].cost_terms()
    assert len(parts) == len(TERMS) + 1 and len(results[0].cost_terms()) == len(TERMS)
    assert parts.sum() == pytest.approx(results[1].cost, rel=1e-9)
    states, times = results[1].policy.states, results[1].policy.times
    assert parts[-1] == pytest.approx(0.5 * 400.0 * (np.diff(times) * states[:-1, 2] ** 2).sum(), rel=1e-6)


def test_without_terms_nothing_is_compiled_and_no_number_is_kept():
    none = OwnTerms(TREE, AXES, ())
    assert none.kernels is None and none.n_parameters == 0
    assert load_terms("", CostTerm) == load_terms(" , ", CostTerm) == ()


def test_terms_may_be_classes_of_modules_and_files(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(FILE)
    found = load_terms(f"{file}:Level, test.mpc.test_cost_term:Plain", CostTerm)
    assert [term.name for term in found] == ["level", "plain"]


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("Level", "module:Class or file.py:Class"),
        ("no_such_module:Level", "No module named 'no_such_module'"),
        ("FILE:Levle", "has no attribute 'Levle'"),
        ("FILE:NUMBER", "needed: a class derived from CostTerm"),
        ("FILE:Clumsy", "missing 1 required positional argument: 'weight'"),
        ("/no/such/file.py:Level", "FileNotFoundError"),
    ],
)
def test_what_is_no_term_is_refused_with_the_reason(tmp_path, word, reason):
    file = tmp_path / "mine.py"
    file.write_text(FILE)
    with pytest.raises(ParameterError, match=reason):
        load_terms(word.replace("FILE", str(file)), CostTerm)


class Strange(CostTerm):
    name = "strange"

    def residual(self, knot):
        return knot.q[0] * cs.SX.sym("mass")


class Misspelt(CostTerm):
    name = "misspelt"

    def residual(self, knot):
        return knot.coordinate("pitch")


class Footloose(CostTerm):
    name = "footloose"

    def residual(self, knot):
        return knot.forces["fr_foot"]


class Wordy(CostTerm):
    name = "wordy"

    def residual(self, knot):
        return "pitch"


@pytest.mark.parametrize(
    ("term", "reason"),
    [
        (Strange(), "depends on mass, which a node does not have"),
        (Footloose(), "no foot of the model is called 'fr_foot'; there are front_foot, back_foot"),
        (Misspelt(), "no coordinate is called 'pitch'; there are base_x, base_z, base_pitch"),
        (Wordy(), "'wordy': its residual is no CasADi SX"),
    ],
)
def test_residuals_that_cannot_be_are_refused(term, reason):
    with pytest.raises(ParameterError, match=reason):
        OwnTerms(TREE, AXES, (term,))


@pytest.mark.parametrize("given", [None, "", 3])
def test_a_term_without_a_name_is_refused_in_words(given):
    class Nameless(CostTerm):
        def residual(self, knot):
            return knot.q[0]

    if given is not None:
        Nameless.name = given
    with pytest.raises(ParameterError, match=f"cost term Nameless has the name {given!r}; needed: a text"):
        OwnTerms(TREE, AXES, (Nameless(),))


def test_two_terms_of_one_name_are_refused():
    with pytest.raises(ParameterError, match="plain, plain; each needs a name of its own"):
        OwnTerms(TREE, AXES, (Plain(), Plain()))


class Short(CostTerm):
    name = "short"
    parameters = ("a",)

    def residual(self, knot):
        return knot.parameters["a"] * knot.q

    def values(self, horizon):
        return np.ones(3)


class Silent(Short):
    name = "silent"
    values = CostTerm.values


@pytest.mark.parametrize(
    ("term", "error", "reason"),
    [
        (Short(), ParameterError, r"values of shape \(3,\); needed: \(95, 1\)"),
        (Silent(), NotImplementedError, "no method `values`"),
    ],
)
def test_numbers_that_do_not_fit_are_refused(term, error, reason):
    config = config_with()
    problem = ProblemBuilder(MODEL, config, terms=OwnTerms(TREE, AXES, (term,)))
    with pytest.raises(error, match=reason):
        problem.build(knot_grid(problem.sequence, 0, 90, config.gait.step), config, TrunkCommand(0.5))


def test_terms_are_fixed_while_a_planner_exists():
    planner = Planner(MODEL, config_with())
    with pytest.raises(ParameterError, match="cost terms are fixed"):
        planner.configure(replace(planner.config, cost_terms="test.mpc.test_cost_term:Plain"))


def test_the_code_of_the_page_runs():
    names = {"np": np}
    page = (Path(__file__).parents[2] / "docs" / "cost_terms.md").read_text(encoding="utf-8")
    for block in re.findall(r"^```python\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL):
        exec(compile(block, "cost_terms.md", "exec"), names)
    for name in ("MechanicalPower", "Crouch"):
        assert check_cost_term(names[name]()).ok
