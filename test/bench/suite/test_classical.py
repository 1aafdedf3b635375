"""The classical problems: published optima, the same by IPOPT, and what is counted."""

from dataclasses import asdict

import casadi as ca
import numpy as np
import pytest

from benchmarks.suite import classical
from benchmarks.suite.classical import Entry, Outcome, contest
from benchmarks.suite.problems import instance, problems

PUBLISHED = {
    "double integrator, least energy": (6.0, 1e-3),  # 6 exactly in continuous time
    "Bryson-Denham": (4.0, 1e-3),
    "double integrator, least time": (2.0, 1e-3),
    "brachistochrone": (0.8244, 1e-3),
    "Goddard's rocket": (-1.01283, 1e-4),
    "robot arm": (9.14093, 1e-3),
    "catalyst mixing": (-0.048055, 1e-3),
    "linear tangent steering": (0.554577, 1e-3),
    "orbit raising": (-1.5252, 1e-3),
    "space shuttle's re-entry": (-0.59588, 1e-3),
    "container crane": (0.037522, 1e-2),
    "free-flying robot": (7.9101, 3e-2),
}
"""Optimal cost of the continuous problem (COPS 3, Betts, BOCOP, by hand), and the share that the grid may add."""


def test_there_are_at_least_sixty():
    assert len(problems()) >= 60
    assert all(one["source"] for one in problems().values())


@pytest.mark.parametrize("name", problems())
def test_every_text_makes_a_problem_that_is_finite_at_its_start(name):
    one, other = instance(name, 1), instance(name, 2)
    form = one.formulation
    assert not np.array_equal(one.start, other.start) and one.start.shape == (form.n_nodes, form.u.numel())
    assert ((one.u_min <= one.start) & (one.start <= one.u_max)).all()
    node = ca.Function("node", [form.x, form.u, form.p], [form.dynamics, form.running_cost, form.equalities])
    assert all(np.isfinite(np.asarray(found)).all() for found in node(one.x0, one.start[0], one.parameters[0]))


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_published_optimum_is_found(name):
    optimum, share = PUBLISHED[name]
    found = Outcome(**contest(Entry(name, 1)))
    assert found.solved[0] and found.confirmed, found.messages
    assert found.costs[0] == pytest.approx(optimum, rel=share)


def test_outcomes_are_counted():
    one = Outcome("a", 1, (True, True), (10, 5), (1.0, 2.0), (0.1, 0.2), True, ("", ""))
    other = Outcome("a", 2, (False, True), (10, 5), (1.0, 2.0), (0.1, 0.2), True, ("limit", ""))
    same = Outcome("b", 1, (True, True), (5, 5), (2.0, 2.00001), (0.1, 0.2), False, ("", ""))
    assert (one.optima, other.optima, same.optima) == ("lower", "", "same")
    figures = {metric.name: metric.number for metric in classical.metrics([one, other, same])}
    assert figures["share solved"] == pytest.approx(2 / 3)
    assert figures["solutions that IPOPT does not confirm"] == 1
    assert figures["iterations over IPOPT's"] == 1.5
    assert classical.table([one, other, same]).row_count == 2
    assert Outcome(**asdict(one)) == one
