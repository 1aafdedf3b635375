"""A paced planner spends what it is given, on average, whatever its iterations cost; searches find limits."""

from types import SimpleNamespace

import pytest

from benchmarks.loop.budget import (
    Budget,
    OverheardPlanner,
    PacedPlanner,
    StageCosts,
    measure_in_loop,
    search,
    time_ratio,
)
from contact_ddp_ros.mpc.config import PlannerConfig
from test.bench.studies import COSTS as PLAIN

COSTS = StageCosts(**PLAIN)


class FakePlanner:
    """Iterations take `sweeps` sweeps; the first rollout counts to the first iteration, as the solver's does."""

    epoch = "its own"

    def __init__(self, variant, sweeps=1.0):
        self.config = PlannerConfig(iterations=7, variant=variant)
        self.sweeps = sweeps
        self.given: list[int] = []
        self.held = 0

    def configure(self, config):
        self.config = config

    def plan(self, state, speed, *, hold, felt=None):
        if hold:
            self.held += 1
            return SimpleNamespace(iterations=(), policy="standing")
        count = self.config.iterations
        self.given.append(count)
        curved, flat = (0.0, self.sweeps) if self.config.variant == "ilqr" else (self.sweeps, 0.0)
        iterations = [
            SimpleNamespace(second_order_sweeps=curved, gauss_newton_sweeps=flat, rollouts=2 if k == 0 else 1)
            for k in range(count)
        ]
        return SimpleNamespace(iterations=tuple(iterations), policy="bounding")


def paced(variant, ddp_iterations, sweeps=1.0, periods=400):
    planner = FakePlanner(variant, sweeps)
    pace = PacedPlanner(planner, Budget(ddp_iterations, COSTS))
    results = [pace.plan(None, 0.5) for _ in range(periods)]
    return planner, pace, results


@pytest.mark.parametrize("count", [1, 2, 4])
def test_ddp_has_its_iterations_and_ilqr_what_fits_on_average(count):
    planner, pace, _ = paced("ddp", count)
    assert set(planner.given) == {count}
    assert pace.spent_share == pytest.approx(1.0)
    planner, pace, _ = paced("ilqr", count)
    assert pace.spent_share == pytest.approx(1.0, abs=0.01)
    assert sum(planner.given) / len(planner.given) == pytest.approx(count / COSTS.iteration("ilqr"), abs=0.01)
    assert max(planner.given) - min(planner.given) <= 1


@pytest.mark.parametrize("variant", ["ddp", "ilqr"])
def test_repeated_sweeps_are_paid_for(variant):
    _, pace, results = paced(variant, 1, sweeps=4.5)
    assert pace.spent_share == pytest.approx(1.0, abs=0.02)
    idle = [result for result in results if result.policy is None]
    assert idle and idle[0].status == "BUSY" and not idle[0].iterations


def test_time_is_not_saved_up_and_a_standing_robot_plans_for_nothing():
    planner, pace, _ = paced("ddp", 2, sweeps=0.0, periods=50)
    planner.sweeps = 1.0
    spent = pace.spent
    assert pace.plan(None, 0.0, hold=True).policy == "standing" and pace.spent == spent
    pace.plan(None, 0.5)
    assert planner.given[-1] <= 3
    assert (planner.held, pace.epoch) == (1, "its own")


def test_a_planner_that_is_listened_to_keeps_the_plans_of_the_bound():
    planner = OverheardPlanner(FakePlanner("ddp"))
    assert planner.plan(None, 0.5, hold=True).policy == "standing" and planner.results == []
    result = planner.plan(None, 0.5, hold=False)
    assert planner.results == [result] and len(planner.times) == 1


def test_loops_of_several_variants_take_turns_and_tell_of_simultaneous_solves() -> None:
    runs = measure_in_loop(2.5, ("ddp", "ilqr"))
    full, gauss = runs["ddp"], runs["ilqr"]
    assert full.solves == gauss.solves > 10, "bounding alike, they plan at the same instants"
    assert full.full_curvature > 0.5 > gauss.full_curvature == 0.0
    assert time_ratio(full, gauss).samples == full.solves


@pytest.mark.parametrize("truth", [0.3, 3.99, 4.0, 4.01, 7.7, 15.4])
def test_a_search_brackets_its_limit_to_the_resolution(truth):
    limit = search(lambda level: level <= truth, 0.0, 16.0, 6)
    assert limit.held <= truth < limit.lost
    assert limit.lost - limit.held == pytest.approx(16.0 / 2**6)
    assert all(survived == (level <= truth) for level, survived in limit.tried) and len(limit.tried) == 7


def test_a_search_ends_at_an_end_or_at_a_change():
    assert search(lambda level: True, 0.0, 16.0, 4).tried == ((16.0, True),)
    nothing = search(lambda level: False, 0.5, 4.5, 3)
    assert (nothing.held, nothing.lost) == (0.5, 1.0)
    limit = search(lambda level: level < 3.0 or 9.0 < level < 13.0, 0.0, 16.0, 7)
    outcomes = dict(limit.tried)
    assert outcomes[limit.held] and not outcomes[limit.lost]
