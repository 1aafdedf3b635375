"""The planner that is listened to behaves as the planner."""

from types import SimpleNamespace

from contact_ddp_ros.bench.loop.in_loop import OverheardPlanner


class FakePlanner:
    config = "its own"

    def plan(self, state, speed, *, hold, felt=None):
        return SimpleNamespace(asked=(state, speed, hold))


def test_results_pass_through_and_those_of_the_bound_are_kept() -> None:
    planner = OverheardPlanner(FakePlanner())
    assert planner.config == "its own"
    assert planner.plan("standing", 0.5, hold=True).asked == ("standing", 0.5, True)
    assert planner.results == []
    result = planner.plan("bounding", 0.5, hold=False)
    assert planner.results == [result]
    assert len(planner.times) == 1
