"""Searches find what holds, verdicts name what does not, and a parameter that is refused leaves no trace."""

import math
from dataclasses import replace

import pytest

from benchmarks import study
from benchmarks.loop import live_change, parameters
from benchmarks.loop.harness import bounding_loop
from benchmarks.loop.live_change import (
    BOUND_FIRST,
    apply,
    directions,
    judge,
    offer,
    run,
    search,
    spoilt,
    tunable,
    value_at,
)
from benchmarks.loop.parameters import as_range
from contact_ddp_ros.base.config import ParameterSpec, check
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.base.safe_ranges import SafeRange, read
from contact_ddp_ros.control.safety import ViolationKind
from contact_ddp_ros.runs.study.study import Case, Figures
from test.runs.study.serial import Serial

NUMBER = ParameterSpec("number", 1.0, low=-3.0, high=9.0)
DECADES = ParameterSpec("decades", 10.0, low=0.0, high=1e5)
WHOLE = ParameterSpec("whole", 2, low=1, high=10)
SEVERAL = ParameterSpec("several", (0.0, -1.0, 2.0), low=-4.0, high=4.0)
CHOICE = ParameterSpec("choice", "one", choices=("one", "two", "three"))
SWITCH = ParameterSpec("switch", True)


def test_values_lead_from_the_default_to_the_bound() -> None:
    assert [value_at(NUMBER, "high", share) for share in (0.0, 0.5, 1.0)] == [1.0, 5.0, 9.0]
    assert [value_at(DECADES, "high", share) for share in (0.0, 0.5, 1.0)] == [10.0, 1000.0, 1e5]
    assert value_at(DECADES, "low", 0.5) == 5.0
    assert value_at(WHOLE, "high", 0.5) == 6 and isinstance(value_at(WHOLE, "high", 1.0), int)
    assert value_at(SEVERAL, "low", 0.5) == (-2.0, -2.5, -1.0)


def test_three_digits_never_pass_the_bound() -> None:
    spec = ParameterSpec("fine", 1.0, low=0.0, high=1.0004)
    assert 1.0 <= value_at(spec, "high", 0.9) <= 1.0004


def test_every_way_off_the_default_is_tried() -> None:
    assert directions(NUMBER) == ["low", "high"]
    assert directions(ParameterSpec("n", 0.0, low=0.0, high=1.0)) == ["high"]
    assert directions(CHOICE) == ["two", "three"]
    assert directions(SWITCH) == ["false"]


def verdict(held: bool) -> str:
    return "" if held else "falls: tilt"


@pytest.mark.parametrize("truth", [1.2, 3.3, 8.9])
def test_the_last_value_that_holds_is_found(truth: float) -> None:
    found = search(NUMBER, "high", 4, lambda value: verdict(value <= truth))
    assert found["held"] <= truth < found["lost"]
    assert found["lost"] - found["held"] <= 0.51
    assert found["why"] == "falls: tilt"


def test_a_bound_that_holds_is_the_end_and_halfway_is_tried() -> None:
    found = search(NUMBER, "low", 4, lambda value: verdict(True))
    assert (found["held"], found["lost"], found["why"]) == (-3.0, None, "")
    assert [value for value, _ in found["tried"]] == [-3.0, -1.0]


def test_a_bound_that_holds_beyond_a_gap_does_not_count() -> None:
    found = search(NUMBER, "high", 4, lambda value: verdict(value <= 2.6 or value >= 6.0))
    assert found["held"] <= 2.6 < found["lost"] <= 5.0


def test_where_hardly_anything_holds_the_search_goes_on() -> None:
    found = search(NUMBER, "high", 3, lambda value: verdict(value <= 1.3))
    assert 1.0 < found["held"] <= 1.3 < found["lost"]


def test_no_value_is_judged_twice_and_the_default_never() -> None:
    judged = []
    search(WHOLE, "high", 4, lambda value: judged.append(value) or verdict(value <= 2))
    assert len(set(judged)) == len(judged)
    assert 2 not in judged


@pytest.mark.parametrize(("spec", "towards", "value"), [(CHOICE, "two", "two"), (SWITCH, "false", False)])
def test_what_is_no_number_holds_or_does_not(spec: ParameterSpec, towards: str, value: object) -> None:
    held = as_range(spec, {towards: search(spec, towards, 4, lambda one: verdict(one == value))})
    assert held.held == [spec.default, value] and not held.lost
    lost = as_range(spec, {towards: search(spec, towards, 4, lambda one: verdict(False))})
    assert lost.held == [spec.default] and "falls" in lost.lost[towards]


def test_verdicts_tell_limits_that_trip_from_falls() -> None:
    assert judge("controller.safety.roll", ViolationKind.TILT, "fault: tilt") == "damps: tilt"
    assert judge("planner.weight.pitch", ViolationKind.TILT, "fault: tilt") == "falls: tilt"
    assert judge("planner.weight.pitch", ViolationKind.POLICY_STALE, "fault: ...") == "damps: policy_stale"
    assert judge("controller.safety.roll", None, "trunk below 0.15 m") == "falls: trunk below 0.15 m"
    assert judge("controller.stand.kp", None, "", stood=False) == "does not stand"
    assert judge("controller.stand.kp", None, "") == ""


@pytest.mark.parametrize("name", tunable())
def test_what_is_offered_to_be_refused_is_not_allowed(name: str) -> None:
    spec = tunable()[name]
    values = spoilt(spec)
    assert len(values) >= 5
    for value in values:
        with pytest.raises(ParameterError):
            check(spec, value)
    if isinstance(spec.default, float):
        assert check(spec, math.nextafter(values[0], math.inf)) == spec.low


def test_structural_parameters_are_left_out() -> None:
    names = set(tunable())
    assert {"planner.weight.height", "controller.move.exit_instant", "controller.drive.kp"} <= names
    assert not {"planner.variant", "planner.gait.step"} & names
    assert set(parameters.QUICK) <= names


def test_the_quick_parameters_are_of_every_kind() -> None:
    table = tunable()
    assert {type(table[name].default) for name in parameters.QUICK} == {type(spec.default) for spec in table.values()}


def test_what_belongs_together_changes_together() -> None:
    loop = bounding_loop(BOUND_FIRST)
    apply(loop, "planner.rate", 50.0)
    assert (loop.ticks_per_plan, loop.controller.config.safety.planner_period) == (10, 0.02)
    apply(loop, "controller.drive.kp", (1.0, 2.0, 3.0))
    assert (loop.controller.drive_gains.kp == [1.0, 2.0, 3.0] * 4).all()
    assert (loop.plant._gains.kp == loop.controller.drive_gains.kp).all()


def searched(name: str, towards: str, steps: int, seconds: float) -> Figures:
    values = {"parameter": name, "towards": towards, "steps": steps, "seconds": seconds}
    return parameters.measure(Case(name, f"{name} {towards}", values=values))


def test_a_run_holds_trips_and_is_refused() -> None:
    harmless = searched("planner.weight.pitch", "low", 0, 0.1)
    assert harmless["lost"] is None and harmless["tried"]
    assert run("controller.safety.velocity_factor", 0.1, 0.4) == "damps: joint_velocity"
    refused = searched("controller.stand.pose", "high", 0, 0.05)
    assert refused["why"].startswith("refused") and list(refused["held"]) == [0.0, -0.8, 1.6]


def test_refused_values_leave_no_trace() -> None:
    report = offer(("planner.weight.height", "controller.stand.ramp_time", "controller.move.feedback"))
    assert report["found"] == []
    assert report["offered"] > 20


def test_a_value_that_is_taken_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_change, "spoilt", lambda spec: [0.5 * spec.default])
    found = offer(("planner.weight.height", "controller.stand.ramp_time"))["found"]
    name = "planner.weight.height"
    assert found == [f"{name} took 400.0", f"{name} changed the configuration", f"{name} changed the command"]


def synthetic(case: Case) -> Figures:
    if case.group == "refusals":
        return {"fall": "", "offered": 3, "found": []}
    spec, towards = tunable()[case.values["parameter"]], case.values["towards"]
    return {"fall": "", **search(spec, towards, 4, lambda value: verdict(isinstance(value, float) and value < 1.0))}


def test_a_run_that_was_cut_off_goes_on_and_leaves_its_files(tmp_path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    folder = tmp_path / "out"
    names = ["planner.weight.height", "controller.safety.roll", "controller.move.exit_instant"]
    only = [word for name in names for word in ("--only", name)]
    benchmark = replace(parameters.BENCHMARK, measure=replace(parameters.BENCHMARK.measure, measure=synthetic))
    monkeypatch.setattr(study, "chosen_engine", lambda options: Serial(interrupt=3))
    with pytest.raises(KeyboardInterrupt):
        benchmark.main(["--out", str(folder), *only])
    assert sum(one is not None for one in read(folder / "safe_ranges.yaml").values()) < len(names)
    monkeypatch.setattr(study, "chosen_engine", lambda options: Serial())
    assert benchmark.main(["--resume", str(folder)]) == 0
    ranges = read(folder / "safe_ranges.yaml")
    assert list(ranges) == list(tunable())
    assert {name for name, one in ranges.items() if one is not None} == set(names)
    assert ranges["controller.safety.roll"].held[0] == 0.05
    assert {file.name for file in folder.iterdir()} >= {"benchmark.json", "parameters.png", "safe_ranges.yaml"}
    assert "refused without a trace" in capsys.readouterr().out


def test_a_pattern_without_a_match_is_refused(tmp_path) -> None:
    with pytest.raises(ParameterError, match="matches none"):
        parameters.BENCHMARK.main(["--only", "nothing.*", "--out", str(tmp_path / "out")])


def test_a_figure_is_made_of_every_kind_of_number(tmp_path) -> None:
    table = {f"planner.{spec.name}": spec for spec in (NUMBER, DECADES, WHOLE, SEVERAL, CHOICE)}
    ranges = {
        "planner.number": SafeRange([0.0, 5.0]),
        "planner.decades": SafeRange([0.0, 1e3]),
        "planner.several": SafeRange([[-1.0, -2.0, 0.0], [1.0, 0.0, 3.0]]),
        "planner.choice": SafeRange(["one"]),
        "planner.whole": None,
    }
    parameters.draw(table, ranges, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 1000
