"""The trajectory optimisation of the benchmark, at a coarse step: feasible, and alike in every variant."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.solver import trajopt_figure
from benchmarks.solver.paper_optimisation import ITERATION, ITERATIONS, SOLVE, VariantComparison, plain_cost
from benchmarks.solver.trajopt import measure, metrics
from benchmarks.timing import Times

VARIANTS = ("ilqr", "ddp")
"""Tensors take long to compile; that they give the same partials and steps is tested with the node functions."""

COARSE = 0.005
"""Step of these tests [s]; it divides every mode."""


@pytest.fixture(scope="module")
def measured():
    comparison = VariantComparison(VARIANTS, cycles=1, step=COARSE)
    comparison.run(None)
    comparison.found.clear()
    return comparison, measure(comparison, (0, 3))


def test_every_start_ends_feasible_by_every_variant(measured):
    comparison, _ = measured
    assert len(comparison.found) == 2 * len(VARIANTS)
    for one in comparison.found:
        assert one.feasible, one
        assert one.touchdown < 1e-6 and one.inequality < 1e-6 and one.torque < 1.0 + 1e-6
        assert one.cone_excess < 1e-3
        assert one.iterations <= ITERATIONS
        assert len(one.violations) == one.iterations


def test_variants_find_the_same_optimum(measured):
    comparison, _ = measured
    for seed in (0, 3):
        costs = [one.cost for one in comparison.found if one.seed == seed]
        assert costs == pytest.approx([costs[0]] * len(VARIANTS), rel=1e-5)


def test_the_plain_cost_knows_no_penalty(measured):
    comparison, _ = measured
    bound = comparison.bounds["ddp"]
    solution = comparison.solve("ddp", bound.start(0)).solution
    plain = plain_cost(bound, solution)
    assert plain < solution.cost, "the barriers' share is positive here"
    assert plain == pytest.approx(solution.cost, rel=1e-2)


def test_figures_hold_every_claim(measured):
    comparison, times = measured
    rows = {one.name.strip(): one for one in metrics(times, comparison.found)}
    assert rows["DDP / iLQR, time of an iteration"].target == 1.5
    assert rows["height at touchdown, largest of all"].unit == "mm"
    assert sum("share that ends feasible" in name for name in rows) == len(VARIANTS)
    assert all(np.isfinite(one.number) for one in rows.values())
    assert isinstance(times, Times) and set(times.parts["ddp"]) == {SOLVE, ITERATION}


def test_an_infeasible_solve_is_counted(measured):
    comparison, _ = measured
    worse = [replace(o, feasible=False) if o.variant == "ddp" else o for o in comparison.found]
    row = next(one for one in metrics(measured[1], worse) if one.name == "ddp: share that ends feasible")
    assert row.number == 0.0 and row.met is False


def test_it_is_drawn(measured, tmp_path):
    comparison, times = measured
    trajopt_figure.draw_comparison(comparison, times, tmp_path / "trajopt.png")
    trajopt_figure.draw_motion(comparison, tmp_path / "trajopt_motion.png")
    assert {path.name for path in tmp_path.iterdir()} == {"trajopt.png", "trajopt_motion.png"}
