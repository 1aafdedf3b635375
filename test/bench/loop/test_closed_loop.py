"""Both variants meet the same conditions, chance comes from the seed, and results are told pair by pair."""

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from benchmarks.loop import closed_loop as bench
from benchmarks.loop.closed_loop import IMPULSES, QUICK, SPEEDS, SWEEPS, VARIED, Setup, draw, measure, paced_run
from benchmarks.loop.closed_loop_report import better, held, is_open, qualities, report, survived, verdict
from benchmarks.loop.harness import CYCLE, DIRECTIONS, RECOVERY
from benchmarks.timing import Paired
from contact_ddp_ros.runs.study.study import groups_of, wilson
from test.bench.studies import COSTS

SETUP = Setup(COSTS, seed=4, extent=QUICK)
FULL = replace(SETUP, extent=bench.FULL)
CASES = [case for build in SWEEPS.values() for case in build(SETUP)]


def trials(sweep, values, samples=2):
    return SWEEPS[sweep](replace(SETUP, extent={**QUICK, "samples": samples, sweep: values}))


def made_up(case):
    """DDP takes 1 N s more, is 0.5 m/s slower, and survives where iLQR falls in every first sample."""
    ddp = case.values["variant"] == "ddp"
    if case.values["sweep"] == "pushes":
        return {"fall": "", "held": 6.0 + ddp, "lost": None if ddp else 9.0, "tried": []}
    if case.values["sweep"] == "speeds":
        return {"fall": "", "held": 3.0 - 0.5 * ddp, "lost": 3.5, "tried": []}
    fall = "" if ddp or "sample 0" not in case.name else "2.00 s: fault: tilt: too far"
    figures = {"speed_error": 0.0, "roll_abs_max": 0.1 if ddp else 0.2, "pitch_abs_max": None}
    sign = "tilt" if fall else ""
    return {"fall": fall, "sign": sign, "spent": 1.0 if ddp else None, "touchdown_height_measured_max_m": 0.3} | figures


@pytest.fixture(scope="module")
def groups():
    return groups_of(CASES, [made_up(case) for case in CASES])


@pytest.mark.parametrize("sweep", SWEEPS)
def test_variants_meet_the_same_conditions_on_the_same_budget(sweep):
    def conditions(variant):
        own = [case for case in SWEEPS[sweep](SETUP) if case.values["variant"] == variant]
        return [(replace(case.options, variant="ddp"), {**case.values, "variant": ""}) for case in own]

    assert conditions("ddp") == conditions("ilqr") != []


@pytest.mark.parametrize("sweep", VARIED)
def test_a_sample_does_not_depend_on_how_many_there_are(sweep):
    many = {case.name: case.options for case in trials(sweep, QUICK[sweep], 5)}
    few = {case.name: case.options for case in trials(sweep, QUICK[sweep], 2)}
    assert few.items() <= many.items() and len(few) < len(many)


def test_draws_follow_the_seed_and_lie_within_their_ranges():
    assert draw(4, 1) == draw(4, 1) != draw(5, 1)
    samples = [draw(0, i) for i in range(200)]
    impulses = np.array([np.linalg.norm(one.push.force) * one.push.duration for one in samples])
    assert IMPULSES[0] <= impulses.min() < impulses.max() <= IMPULSES[1]
    assert all(SPEEDS[0] <= one.speed <= SPEEDS[1] for one in samples)
    directions = np.arctan2(*np.array([one.push.force[:2] for one in samples]).T)
    assert directions.min() < -2.5 and directions.max() > 2.5
    assert np.ptp([one.push.time for one in samples]) == pytest.approx(CYCLE, rel=0.05)
    assert len({one.noise_seed for one in samples}) == len(samples)


@pytest.mark.parametrize(
    ("sweep", "values", "field"),
    [("friction", (0.3, 0.9), "friction"), ("mass", (0.7, 1.3), "trunk_mass_scale"), ("delay", (0.0, 0.03), "delay")],
)
def test_a_value_reaches_the_run_which_lasts_until_the_robot_may_have_recovered(sweep, values, field):
    cases = trials(sweep, values)
    assert {case.values["label"] for case in cases} == set(values)
    for case in cases:
        (push,) = case.options.pushes
        assert getattr(case.options, "planner_delay" if field == "delay" else field) == case.values["label"]
        assert case.options.duration == pytest.approx(push.end + RECOVERY)


def test_a_step_lies_ahead_and_there_is_no_push():
    cases = trials("step", (-0.02, 0.03), samples=10)
    for case in cases:
        position, rise = map(float, case.options.terrain.removeprefix("step:").split(","))
        assert rise == case.values["label"]
        assert 0.25 < position < case.options.speed[0][1] * case.options.duration
        assert not case.options.pushes
    assert len({case.options.terrain.partition(",")[0] for case in cases}) == 10


def test_a_budget_below_one_iteration_a_period_lowers_the_rate():
    speeds = [(case, float(case.values["label"].split(", ")[1])) for case in SWEEPS["speeds"](FULL)]
    for case, per_second in [(c, c.values["label"]) for c in trials("iterations", (20.0, 100.0, 300.0))] + speeds:
        rate = case.options.parameters("planner").get("rate", 100.0)
        assert rate == min(per_second, 100.0)
        assert case.values["iterations"] * rate == pytest.approx(per_second)


def test_searches_ask_for_pushes_and_speeds_either_way(monkeypatch):
    asked = []
    monkeypatch.setattr(bench, "paced_run", lambda options, values: (asked.append(options), ({"fall": "no"}, 1.0))[1])
    for case in SWEEPS["pushes"](FULL):
        bench._holds_push(case, 6.0)
        (push,) = asked.pop().pushes
        assert np.allclose(np.array(push.force[:2]) * push.duration, 6.0 * np.array(DIRECTIONS[case.values["label"]]))
    assert len({case.values["time"] for case in SWEEPS["pushes"](FULL)}) == 12
    for case in SWEEPS["speeds"](SETUP):
        bench._holds_speed(case, 2.0)
    assert Counter(options.speed[0][1] for options in asked) == {2.0: 2, -2.0: 2}


@pytest.mark.parametrize(
    ("sweep", "outcome", "low", "high"),
    [
        ("pushes", lambda options: {"fall": "x" * (options.pushes[0].force[1] * 0.1 > 7.3)}, 4.3, 7.3),
        ("speeds", lambda options: {"fall": "", "speed_error": 0.0 if options.speed[0][1] < 2.0 else 1.0}, 1.1, 2.0),
        ("speeds", lambda options: {"fall": "", "speed_error": None}, 0.5, 0.5),
    ],
)
def test_the_largest_level_that_is_held_is_found(monkeypatch, sweep, outcome, low, high):
    monkeypatch.setattr(bench, "paced_run", lambda options, values: (outcome(options), 1.0))
    case = next(case for case in SWEEPS[sweep](SETUP) if case.values["label"] in ("left", "forward, 20"))
    found = measure(case)
    assert low <= found["held"] <= high < found["lost"]


@pytest.mark.parametrize(
    ("fall", "sign"),
    [
        ("", ""),
        ("3.42 s: fault: tilt: pitch is 0.51 rad; allowed: ±0.50", "tilt"),
        ("3.42 s: trunk below 0.15 m", "trunk below 0.15 m"),
        ("failed: no kernels", "run failed"),
    ],
)
def test_falls_are_sorted_by_their_sign(monkeypatch, fall, sign):
    monkeypatch.setattr(bench, "paced_run", lambda *_: ({"fall": fall}, 1.0))
    assert measure(trials("mass", (1.3,))[0])["sign"] == sign


def test_a_run_ends_with_the_fall_and_repeats_itself():
    """A robot that is thrown over as soon as it bounds."""
    push = bench.push_of(90.0, DIRECTIONS["left"], 1.7)
    options, values = replace(SETUP.options(0), pushes=(push,), duration=4.0), {"iterations": 1.0, "costs": COSTS}
    (first, spent), (second, _) = (paced_run(options, values) for _ in range(2))
    assert first["fall"] and float(first["fall"].split(" s:")[0]) < 3.0
    assert str({**first, "solve_ms": 0}["pitch_abs_max"]) == str(second["pitch_abs_max"])
    assert first["fall"] == second["fall"] and spent == pytest.approx(1.0, abs=0.2)
    wrong = replace(options, overrides={"planner.no_such_name": 1.0})
    assert "no_such_name" in paced_run(wrong, values)[0]["fall"]


def test_results_are_compared_pair_by_pair(groups):
    by_name = {group.name: group for group in groups}
    left = by_name["push left"]
    assert held(left) == {"ddp": [7.0, 7.0], "ilqr": [6.0, 6.0]}
    assert is_open(left, "ddp") == [True, True] and is_open(left, "ilqr") == [False, False]
    assert better([left], lambda one: one["held"]) == Paired(2, 0, 0)
    assert held(by_name["speed forward at 20 iterations/s"]) == {"ddp": [2.5], "ilqr": [3.0]}
    budget = [group for group in groups if group.values["sweep"] == "iterations"]
    assert [survived([group], "ilqr") for group in budget] == [wilson(1, 2), wilson(1, 2)]
    assert better(budget) == Paired(2, 0, 2) and survived(budget, "ddp") == wilson(4, 4)


def test_figures_are_compared_where_both_survived(groups):
    own = [group for group in groups if group.values["sweep"] in VARIED]
    found = qualities(own)
    assert set(found) == {"roll_abs_max", "touchdown_height_measured_max_m"}
    ratio, who = found["roll_abs_max"]
    assert ratio.median == 0.5 and who == Paired(better(own).equal, 0, 0)


def test_a_verdict_needs_evidence():
    assert verdict(Paired(3, 0, 10)) == "no difference seen"
    assert verdict(Paired(9, 1, 0)) == "DDP better"
    assert verdict(Paired(1, 9, 0)) == "iLQR better"


@pytest.mark.parametrize("sweeps", [tuple(SWEEPS), ("mass",), ("pushes",), ("speeds",)])
def test_the_report_is_of_whatever_there_is(groups, sweeps, tmp_path):
    options = SimpleNamespace(ratios={"iteration": {"median": 1.3}})
    found = report([group for group in groups if group.values["sweep"] in sweeps], options)
    found.drawings["closed_loop.png"](tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
    with (console := Console(width=160)).capture() as shown:
        for table in found.tables:
            console.print(table)
    assert "DDP" in shown.get()
    assert found.exit_code == 0
