"""Near the optimum of the paper's bound, at a coarse step, DDP squares the error whatever is added to the problem."""

import numpy as np
import pytest

from benchmarks.solver import interior_order
from benchmarks.solver.convergence import Effort, draw, measure, metrics
from benchmarks.solver.near_optimum import Descent, order, outer_loop, rate, settings

COARSE = 0.005
"""Step of these tests [s]; it divides every mode."""

N_SETTINGS = 6


@pytest.fixture(scope="module")
def solved():
    return settings(COARSE)


@pytest.fixture(scope="module")
def measured(solved):
    return measure(solved, Effort(directions=2, far_directions=1))


def runs_of(runs, setting, variant, direction):
    return [run for run in runs if (run.setting, run.variant, run.direction) == (setting, variant, direction)]


@pytest.mark.parametrize("which", range(N_SETTINGS))
@pytest.mark.parametrize("direction", [0, 1])
def test_the_order_of_ddp_is_two_and_that_of_ilqr_one(solved, measured, which, direction):
    (near, _), setting = measured, solved[which].name
    ddp = runs_of(near, setting, "ddp", direction)
    assert order(ddp) == pytest.approx(2.0, abs=0.2)
    ilqr = runs_of(near, setting, "ilqr", direction)
    assert order(ilqr) == pytest.approx(1.0, abs=0.1)
    assert 0.001 < rate(ilqr) < 0.8


def test_the_optima_are_known_to_rounding(measured):
    near, _ = measured
    assert min(min(run.errors) for run in near if run.variant == "ddp") < 1e-12
    assert all(run.errors[-1] < run.errors[0] for run in near)


def test_the_problems_are_what_they_are_called(solved):
    alone, impacts, touchdown, *limits = solved
    assert len(solved) == N_SETTINGS
    assert not alone.bound.grid.switches.any() and impacts.bound.grid.switches.sum() == 4
    assert impacts.penalty[0] == 0.0 < touchdown.penalty[0]
    assert np.abs(touchdown.multipliers).max() > 1.0
    assert touchdown.optimum.equality_violation < 1e-3 < impacts.optimum.equality_violation
    assert all(one.penalty[2] > 0.0 for one in limits)
    assert limits[0].clearance > limits[1].clearance > limits[2].clearance > 0.0, "narrower barriers, smaller clearance"


def test_the_order_is_found_from_errors_that_have_it():
    constants = (3.0, 50.0, 0.1)
    for power in (1.0, 1.5, 2.0):
        runs = []
        for size in (1e-2, 1e-3):
            errors = [size]
            for constant in constants:
                errors.append(constant * errors[-1] ** power)
            runs.append(Descent("s", "ddp", 0, size, tuple(errors), True))
        assert order(runs) == pytest.approx(power)


def test_the_outer_loop_is_linear_until_it_learns_the_curvature(solved):
    bound = solved[-1].bound
    usual, learning = (outer_loop(bound, 1e5, learns) for learns in (False, True))
    shares = np.divide(usual.residuals[4:8], usual.residuals[3:7])
    assert shares == pytest.approx(np.full(4, shares[-1]), rel=0.2)
    assert learning.residuals[-1] < 1e-10 < usual.residuals[len(learning.residuals) - 1]


def test_figures_and_drawing(solved, measured, tmp_path):
    near, far = measured
    outer = [outer_loop(solved[-1].bound, 1e5, learns) for learns in (False, True)]
    rows = metrics(near, far, outer)
    assert sum("order of DDP" in row.name and row.met is True for row in rows) == N_SETTINGS
    draw(near, far, outer, tmp_path / "convergence.png")
    assert (tmp_path / "convergence.png").stat().st_size > 1000


@pytest.fixture(scope="module")
def hard():
    """(problem with active hard limits, its runs from 3e-6 and 3e-7)."""
    cases, runs = interior_order.measure([COARSE], barriers=(3e-6, 3e-7))
    return cases[0], runs


def test_the_order_of_the_interior_point_is_superlinear_close_to_active_limits(hard):
    case, runs = hard
    assert case.n_active > 20 and 0.0 < case.gap < 0.5
    assert case.optimum.feasible
    gap, *orders = interior_order.metrics([case], runs)
    assert gap.value == case.gap
    of = {text: [one for one in orders if text in one.name] for text in ("barrier", "crossover")}
    far, near = of["barrier"]
    assert far.value > 1.7 and near.value > 1.3
    far, near = of["crossover"]
    assert far.value >= far.target == near.target == interior_order.TARGET
    assert near.value > 1.4


def test_the_crossover_leaves_less_than_the_barrier(hard):
    _, runs = hard
    by = {(run.finish, run.mu): run.errors[1] for run in runs}
    assert all(by["crossover", mu] < 0.3 * by["barrier", mu] for finish, mu in by if finish == "barrier")


def test_starts_on_the_central_path_are_as_far_as_their_barrier(hard):
    _, runs = hard
    first = [run.errors[0] for run in runs if run.mu == run.group and run.finish == "barrier"]
    assert first[0] / first[1] == pytest.approx(10.0, rel=0.3)


def test_a_step_cut_at_the_boundary_leaves_less_than_a_hundredth(hard):
    _, runs = hard
    closest = [run for run in runs if run.group == 3e-7]
    assert all(run.errors[1] < 0.01 * run.errors[0] for run in closest)
