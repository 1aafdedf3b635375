"""Random runs with hard and with relaxed limits: what is run, what is counted."""

import json
from dataclasses import asdict, replace

import pytest
from rich.console import Console

from benchmarks.loop import limit_runs, limits
from benchmarks.loop.harness import loop_with
from benchmarks.loop.limit_runs import Compared, Outside, Settled, Side, WatchedPlanner, run, runs
from benchmarks.loop.limits import ANY, LOOP, SETTLED, TOUCHDOWN, draw, metrics, run_table, table, tallies
from contact_ddp_ros.base.choices import CONSTRAINTS, INTERIOR_POINT, PENALTIES
from contact_ddp_ros.runs.run_checks import check_run

SAMPLED = Settled(carried=5, plans=4, landings=[1, 0])
WITHIN = Side(plans=100, converged=1, further=2, landings=[90, 1], settled=SAMPLED, time=2e-3)


def limits_of(amount: float) -> dict[str, list[float]]:
    return {"friction": [amount, 0.0], "normal force": [1e-5, 3.0]}


def outside(converged: bool = False, amount: float = 0.1) -> Outside:
    return Outside(1.0, converged, limits_of(amount), {}, True)


def found() -> list[Compared]:
    unsound = replace(SAMPLED, outside=[limits_of(1e-3)])
    return [
        Compared({INTERIOR_POINT: replace(WITHIN, outside=[outside()]), PENALTIES: replace(WITHIN, fall="1 s")}, 1.1),
        Compared(
            {INTERIOR_POINT: WITHIN, PENALTIES: replace(WITHIN, outside=[outside(True, 1e-3)], settled=unsound)}, 1
        ),
    ]


def test_every_run_is_allowed_and_follows_from_the_seed() -> None:
    cases = runs(20, 5, {})
    assert len({case.name for case in cases}) == 20
    for case in cases:
        check_run(case.options)
        assert case.options.pushes[0].end < case.options.duration - 1.0
    assert cases == runs(20, 5, {}) != runs(20, 6, {})
    assert cases[:3] == runs(3, 5, {}), "a larger number adds runs"


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
    bad = [*good, Compared({INTERIOR_POINT: replace(WITHIN, outside=[outside(True)]), PENALTIES: WITHIN}, 1.0)]
    assert not metrics(bad, tallies(bad))[0].met


def test_a_journal_gives_back_what_was_kept() -> None:
    for one in found():
        assert Compared.read(**json.loads(json.dumps(asdict(one)))) == one


def test_it_is_shown_and_drawn(tmp_path) -> None:
    rows = tallies(found())
    with (console := Console(width=160)).capture() as shown:
        console.print(table(rows))
        console.print(run_table(found()))
    assert "1 (0.500 %" in shown.get()
    assert "1: 1 inside" in shown.get() and "10: 8 converged" in shown.get()
    draw(rows, tmp_path / "limits.png")
    assert (tmp_path / "limits.png").stat().st_size > 10_000


def test_both_methods_bound_in_the_same_run() -> None:
    case = runs(1, 0, {})[0]
    one = Compared.read(**run(replace(case, options=replace(case.options, duration=0.9, pushes=()))))
    assert set(one.sides) == set(CONSTRAINTS)
    for side in one.sides.values():
        assert not side.fall
        assert side.plans > 30
        assert side.settled.carried == side.plans // limit_runs.EVERY
        assert side.landings[0] <= side.plans
    assert not one.sides[INTERIOR_POINT].settled.outside
    assert one.ratio > 0.0


def test_a_plan_outside_is_carried_on() -> None:
    """With little torque relaxed limits are exceeded, and iterations do not change that."""
    little = {"planner.constraint.torque_share": 0.3, "planner.constraint.method": PENALTIES}
    case = runs(1, 0, little)[0]
    loop, planner = loop_with(replace(case.options, pushes=()), WatchedPlanner)
    while loop.simulator.time < 0.7:
        assert not limit_runs._tick(loop)
    assert planner.outside
    assert all(any("torque" in kind for kind in one.limits) for one in planner.outside)
    assert sum(bool(one.carried) for one in planner.outside) > 0.5 * len(planner.outside)
    assert loop.planner is planner and planner.planner.config.iterations == 2, "the copy alone was changed"
    assert planner.side("").outside == planner.outside


def test_its_options_are_those_of_a_long_benchmark() -> None:
    assert limits.BENCHMARK.resumable
    with pytest.raises(SystemExit):
        limits.BENCHMARK._parser().parse_args(["--runs", "0"])
