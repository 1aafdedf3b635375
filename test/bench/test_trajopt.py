"""The trajectory optimisation of the benchmark, at a coarse step: feasible, and alike in every variant."""

from dataclasses import replace

import numpy as np
import pytest

from contact_ddp_ros.bench import trajopt_figure
from contact_ddp_ros.bench.paper_optimisation import ITERATION, ITERATIONS, SOLVE, Comparison, plain_cost
from contact_ddp_ros.bench.timing import Times
from contact_ddp_ros.bench.trajopt import figures, measure

VARIANTS = ("ilqr", "ddp")
"""Tensors take long to compile; that they give the same partials and steps is tested with the node functions."""

COARSE = 0.005
"""Step of these tests [s]; it divides every mode."""


@pytest.fixture(scope="module")
def measured():
    comparison = Comparison(VARIANTS, cycles=1, step=COARSE)
    comparison.run(None)
    comparison.outcomes.clear()
    return comparison, measure(comparison, (0, 3))


def test_every_start_ends_feasible_by_every_variant(measured):
    comparison, _ = measured
    assert len(comparison.outcomes) == 2 * len(VARIANTS)
    for one in comparison.outcomes:
        assert one.feasible, one
        assert one.touchdown < 1e-6 and one.inequality < 1e-6 and one.torque < 1.0 + 1e-6
        assert one.cone_excess < 1e-3
        assert one.iterations <= ITERATIONS
        assert len(one.violations) == one.iterations


def test_variants_find_the_same_optimum(measured):
    comparison, _ = measured
    for seed in (0, 3):
        costs = [one.cost for one in comparison.outcomes if one.seed == seed]
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
    rows = {one.name.strip(): one for one in figures(times, comparison.outcomes)}
    assert rows["DDP / iLQR, time of an iteration"].target == 1.5
    assert rows["height at touchdown, largest of all"].unit == "mm"
    assert sum("share that ends feasible" in name for name in rows) == len(VARIANTS)
    assert all(np.isfinite(one.number) for one in rows.values())
    assert isinstance(times, Times) and set(times.parts["ddp"]) == {SOLVE, ITERATION}


def test_an_infeasible_solve_is_counted(measured):
    comparison, _ = measured
    worse = [replace(o, feasible=False) if o.variant == "ddp" else o for o in comparison.outcomes]
    row = next(one for one in figures(measured[1], worse) if one.name == "ddp: share that ends feasible")
    assert row.number == 0.0 and row.met is False


def test_it_is_drawn(measured, tmp_path):
    comparison, times = measured
    trajopt_figure.draw(comparison, times, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"trajopt.png", "trajopt_motion.png"}
