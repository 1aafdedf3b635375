"""The comparison of both shootings on one short case each, and what counts as success."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.solver import shooting
from benchmarks.solver.iteration import Stages
from benchmarks.solver.shooting import GUESSES, PAPER, Attempt, Effort, measure, metrics, successes
from benchmarks.timing import Spread
from contact_ddp_ros.base.choices import SHOOTINGS
from contact_ddp_ros.ocp.solution import Guess

SHORT = Effort(cycles=(1, 3), speeds=(0.5,), seeds=(0,), paper_cycles=(1,), paper_seeds=(0,), rounds=1)
TIME = Spread.of(np.ones(3))


@pytest.fixture(scope="module")
def attempts():
    return measure(SHORT)


def test_every_guess_is_tried_by_both(attempts):
    tried = {(one.guess, one.cycles, one.shooting) for one in attempts}
    expected = {(guess, cycles, s) for guess in GUESSES for cycles in SHORT.cycles for s in SHOOTINGS}
    assert tried == expected | {(PAPER, 1, s) for s in SHOOTINGS}
    assert len(attempts) == len(tried)


def test_multiple_shooting_succeeds_where_single_shooting_does_not(attempts):
    good = successes(attempts)
    assert all(good[one] and one.gap == 0.0 for one in attempts if one.shooting == "multiple")
    long = [one for one in attempts if (one.guess, one.cycles, one.shooting) == ("line", 3, "single")]
    assert len(long) == 1 and not good[long[0]]


def attempt(**values):
    plain = Attempt("line", 2, "0.5 m/s", "multiple", "CONVERGED", True, 10, 1.0, 0.0)
    return replace(plain, **values)


def test_a_worse_optimum_is_no_success_and_another_problem_does_not_count():
    best, close, worse = attempt(), attempt(guess="heuristic", cost=1.009), attempt(shooting="single", cost=1.02)
    other, stopped = attempt(case="1 m/s", cost=5.0), attempt(guess="disturbed", termination="ITERATIONS", cost=0.5)
    infeasible = attempt(guess="disturbed", feasible=False, cost=0.1)
    found = successes([best, close, worse, other, stopped, infeasible])
    assert [found[one] for one in (best, close, worse, other, stopped, infeasible)] == [True, True, False, True] + [
        False
    ] * 2


def test_a_disturbed_guess_keeps_its_first_state_and_the_trunks_position(attempts):
    guess = Guess(np.ones((4, 14)), np.zeros((3, 4)), np.zeros((3, 4, 14)))
    moved = shooting.disturbed(guess, 0)
    assert (moved.xs[0] == 1.0).all() and (moved.xs[:, :2] == 1.0).all()
    assert (moved.xs[1:, 2:7] != 1.0).all() and (moved.us != 0.0).all()


def test_figures_hold_every_claim(attempts):
    rows = metrics(attempts, TIME)
    names = [one.name for one in rows]
    assert any(name.startswith("line, longer") for name in names)
    assert next(one for one in rows if one.name.startswith("largest gap")).met
    assert all(np.isfinite(one.number) for one in rows)


def test_an_iteration_with_gaps_is_another_than_without():
    case = shooting.mpc_cases().optimum
    gaps = np.full((case.problem.n_nodes, case.problem.n_x), 1e-3)
    feedforward = []
    for stages in (Stages(case, 1.0), Stages(case, 1.0, gaps)):
        stages.partials()
        stages.sweep()
        stages.rollout()
        feedforward.append(stages.ks.copy())
    assert np.abs(feedforward[1] - feedforward[0]).max() > 1e-3


def test_it_is_drawn(attempts, tmp_path):
    shooting.draw(attempts, tmp_path / "shooting.png")
    assert (tmp_path / "shooting.png").stat().st_size > 1000
