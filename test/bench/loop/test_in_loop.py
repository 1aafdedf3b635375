"""The planner that is listened to behaves as the planner."""

from types import SimpleNamespace

from benchmarks.loop.in_loop import OverheardPlanner, measure, time_ratio


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


def test_loops_of_several_variants_take_turns_and_tell_of_simultaneous_solves() -> None:
    runs = measure(2.5, ("ddp", "ilqr"))
    full, gauss = runs["ddp"], runs["ilqr"]
    assert full.solves == gauss.solves > 10, "bounding alike, they plan at the same instants"
    assert full.full_curvature > 0.5
    assert gauss.full_curvature == 0.0
    assert time_ratio(full, gauss).samples == full.solves
