"""A paced planner spends what it is given, on average, whatever its iterations cost."""

from types import SimpleNamespace

import pytest

from benchmarks.loop.budget import Budget, PacedPlanner, StageCosts
from contact_ddp_ros.mpc.config import PlannerConfig

COSTS = StageCosts(partials=0.2, curved_sweep=0.65, flat_sweep=0.4, rollout=0.15)


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
def test_without_backtracking_ddp_has_its_iterations(count):
    planner, pace, _ = paced("ddp", count)
    assert set(planner.given) == {count}
    assert pace.spent_share == pytest.approx(1.0)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_ilqr_has_what_fits_on_average(count):
    planner, pace, _ = paced("ilqr", count)
    assert pace.spent_share == pytest.approx(1.0, abs=0.01)
    assert sum(planner.given) / len(planner.given) == pytest.approx(count / COSTS.iteration("ilqr"), abs=0.01)
    assert max(planner.given) - min(planner.given) <= 1


@pytest.mark.parametrize("variant", ["ddp", "ilqr"])
def test_repeated_sweeps_are_paid_for(variant):
    _, pace, results = paced(variant, 1, sweeps=4.5)
    assert pace.spent_share == pytest.approx(1.0, abs=0.02)
    idle = [result for result in results if result.policy is None]
    assert idle and idle[0].status == "BUSY"
    assert not idle[0].iterations


def test_what_a_standing_robot_plans_is_free():
    planner = FakePlanner("ddp")
    pace = PacedPlanner(planner, Budget(1, COSTS))
    assert pace.plan(None, 0.0, hold=True).policy == "standing"
    assert (planner.held, planner.given, pace.spent) == (1, [], 0.0)
    assert pace.epoch == "its own"


def test_time_is_not_saved_up():
    """After a stretch of solves that end early there is one iteration more, not many."""
    planner, pace, _ = paced("ddp", 2, sweeps=0.0, periods=50)
    planner.sweeps = 1.0
    pace.plan(None, 0.5)
    assert planner.given[-1] <= 3
