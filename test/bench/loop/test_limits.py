"""Random runs with hard and with relaxed limits: what is run, what is counted."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from benchmarks.loop import limits
from benchmarks.loop.harness import loop_with
from benchmarks.loop.limits import ANY, LOOP, SETTLED, TOUCHDOWN, WatchedPlanner, metrics, report, run, tallies
from contact_ddp_ros.base.choices import CONSTRAINTS, INTERIOR_POINT, PENALTIES
from contact_ddp_ros.runs.scenario import check_run
from contact_ddp_ros.runs.study.study import Case
from test.bench.studies import cases_of, group

SAMPLED = {"carried": 5, "plans": 4, "landings": [1, 0], "outside": []}
WITHIN = {"plans": 100, "converged": 1, "further": 2, "landings": [90, 1], "settled": SAMPLED, "time": 2e-3}
WITHIN |= {"fall": "", "outside": []}


def limits_of(amount: float) -> dict[str, list[float]]:
    return {"friction": [amount, 0.0], "normal force": [1e-5, 3.0]}


def outside(converged: bool = False, amount: float = 0.1) -> dict[str, Any]:
    return {"time": 1.0, "converged": converged, "limits": limits_of(amount), "carried": {}, "settled": True}


def both(hard: dict[str, Any], relaxed: dict[str, Any], ratio: float = 1.1) -> dict[str, Any]:
    sides = {INTERIOR_POINT: {**WITHIN, **hard}, PENALTIES: {**WITHIN, **relaxed}}
    return {"fall": "", "sides": sides, "ratio": ratio}


def found() -> list[dict[str, Any]]:
    unsound = {**SAMPLED, "outside": [limits_of(1e-3)]}
    return [
        both({"outside": [outside()]}, {"fall": "1 s"}),
        both({}, {"outside": [outside(True, 1e-3)], "settled": unsound}, 1.0),
    ]


def test_runs_follow_from_the_seed_and_a_larger_number_adds_some() -> None:
    def runs(number: int, seed: int) -> Sequence[Case]:
        return cases_of(limits.BENCHMARK, "--runs", str(number), "--seed", str(seed))

    cases = runs(20, 5)
    for case in cases:
        check_run(case.options)
        assert case.options.pushes[0].end < case.options.duration - 1.0
    assert cases[:3] == runs(3, 5) != runs(3, 6)


def test_plans_outside_are_counted_by_limit_kind_and_bound() -> None:
    rows = {(row.method, row.limit): row for row in tallies(found())}
    assert rows[INTERIOR_POINT, ANY].plans == {LOOP: 200, SETTLED: 8}
    assert rows[INTERIOR_POINT, ANY].beyond == {LOOP: [1, 1], SETTLED: [0, 0]}
    assert rows[INTERIOR_POINT, "normal force"].beyond == {LOOP: [1, 0], SETTLED: [0, 0]}
    assert rows[PENALTIES, "friction"].beyond == {LOOP: [1, 0], SETTLED: [2, 0]}, "one of the loop had converged"
    assert rows[PENALTIES, TOUCHDOWN].beyond == {LOOP: [180, 2], SETTLED: [2, 0]}
    assert rows[INTERIOR_POINT, ANY].part(LOOP, 0).share == pytest.approx(1 / 200)


def test_a_converged_plan_of_the_interior_point_outside_misses_the_target() -> None:
    good = found()
    assert metrics(good, tallies(good))[0].met
    bad = [*good, both({"outside": [outside(True)]}, {})]
    assert not metrics(bad, tallies(bad))[0].met
    assert [report([group("random", *own)], None).exit_code for own in (good, bad)] == [0, 1]


def test_it_is_shown_and_drawn(tmp_path) -> None:
    report_of = report([group("random", *found())], None)
    with (console := Console(width=160)).capture() as shown:
        for one in report_of.tables:
            console.print(one)
    assert "1 (0.500 %" in shown.get()
    assert "1: 1 inside" in shown.get() and "10: 8 converged" in shown.get()
    report_of.drawings["limits.png"](tmp_path / "limits.png")
    assert (tmp_path / "limits.png").stat().st_size > 10_000


def test_both_methods_bound_in_the_same_run() -> None:
    case = cases_of(limits.BENCHMARK, "--runs", "1")[0]
    one = run(replace(case, options=replace(case.options, duration=0.9, pushes=())))
    assert set(one["sides"]) == set(CONSTRAINTS) and one["ratio"] > 0.0
    for side in one["sides"].values():
        assert not side["fall"]
        assert side["plans"] > 30
        assert side["settled"]["carried"] == side["plans"] // limits.EVERY
        assert side["landings"][0] <= side["plans"]
    assert not one["sides"][INTERIOR_POINT]["settled"]["outside"]


def test_a_plan_outside_is_carried_on() -> None:
    """With little torque relaxed limits are exceeded, and iterations do not change that."""
    little = {"planner.constraint.torque_share": 0.3, "planner.constraint.method": PENALTIES}
    words = [word for name, value in little.items() for word in ("--set", f"{name}={value}")]
    case = cases_of(limits.BENCHMARK, "--runs", "1", *words)[0]
    loop, planner = loop_with(replace(case.options, pushes=()), WatchedPlanner)
    while loop.plant.time < 0.7:
        assert not limits._tick(loop)
    assert planner.outside
    assert all(any("torque" in kind for kind in one["limits"]) for one in planner.outside)
    assert sum(bool(one["carried"]) for one in planner.outside) > 0.5 * len(planner.outside)
    assert loop.planner is planner and planner.planner.config.iterations == 2, "the copy alone was changed"
    assert planner.side("")["outside"] == planner.outside
