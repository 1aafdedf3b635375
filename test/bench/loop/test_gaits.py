"""The benchmark of the gaits: its runs, when one follows, and what is made of them."""

from dataclasses import replace

import pytest
from rich.console import Console

from benchmarks.loop.gaits import BENCHMARK, COMMANDS, REPORT, command_of, moving_gaits, run
from contact_ddp_ros.robot.gaits.gait import packaged_gaits
from contact_ddp_ros.runs.options import SENSOR_ERRORS, RunOptions
from test.bench.studies import cases_of, group


def test_every_gait_is_tried_under_every_command_with_every_seed() -> None:
    cases = cases_of(BENCHMARK, "--only", "bound", "--only", "pronk", "--seeds", "2")
    assert len(cases) == 2 * len(COMMANDS) * 2
    assert {case.options.seed for case in cases} == {0, 1}
    for case in cases:
        assert case.options.parameters("planner")["gait.name"] == case.values["gait"]
        assert case.options.overrides.items() >= SENSOR_ERRORS.items()
        assert case.group == f"{case.values['gait']} {command_of(case.options)}"


def test_a_stand_is_no_gait_that_follows_a_command() -> None:
    assert {"bound", "pronk", "trot"} <= set(moving_gaits()) == set(packaged_gaits()) - {"stand"}


@pytest.mark.parametrize(("left", "turn", "words"), [(0.0, 0.0, "0.3 m/s"), (0.3, -1.0, "0.3 m/s, 0.3 left, -1 rad/s")])
def test_commands_are_told_apart(left, turn, words) -> None:
    assert command_of(RunOptions(speed=((0.0, 0.3),), left=left, turn=turn)) == words


def test_a_bound_follows_its_speed_and_a_robot_that_cannot_does_not() -> None:
    (case,) = cases_of(BENCHMARK, "--quick", "--only", "bound")
    good = run(replace(case, options=replace(case.options, duration=4.0)))
    assert good["fall"] == "" and good["follows"] and good["solve_p99"] >= good["solve_median"] > 0.0
    assert good["forward"] == pytest.approx(0.5, abs=0.02)
    slippery = run(replace(case, options=replace(case.options, friction=0.05, duration=2.5)))
    assert slippery["fall"] and not slippery["follows"] and "forward" not in slippery


def test_the_table_has_means_of_those_that_did_not_fall_and_why_all_fell(tmp_path) -> None:
    good = {"forward": 0.5, "left": 0.0, "turn": 0.0, "follows": True, "solve_median": 3.0, "solve_p99": 4.0}
    fallen = {"fall": "2.00 s: tilt", "follows": False}
    groups = [
        group("trot 0.5 m/s", good, {**good, "forward": 0.7, "follows": False}, fallen, values={"gait": "trot"}),
        group("pace 0.5 m/s", fallen, values={"gait": "pace"}),
    ]
    found = REPORT(groups, None)
    assert found.exit_code == 1
    with (console := Console(width=160)).capture() as shown:
        console.print(found.tables[0])
    for words in ("0.600", "3.0, p99 4.0", "2.00 s: tilt"):
        assert words in shown.get()
    found.drawings["gaits.png"](tmp_path / "gaits.png")
    assert (tmp_path / "gaits.png").stat().st_size > 5_000
