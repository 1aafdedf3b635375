"""The benchmark of the gaits: its runs, when one follows, and what is made of them."""

from dataclasses import replace

import pytest

from benchmarks.loop.gaits import COMMANDS, GaitOutcome, command_of, draw, moving_gaits, run, runs, table
from benchmarks.output import console
from contact_ddp_ros.robot.gaits.gait import packaged_gaits
from contact_ddp_ros.runs.options import SENSOR_NOISE
from contact_ddp_ros.runs.run_checks import check_run

GOOD = GaitOutcome("trot", "0.5 m/s", "", 0.5, 0.0, 0.0, True, 3.0, 4.0)


def test_every_gait_is_tried_under_every_command_with_every_seed() -> None:
    items = runs(["bound", "pronk"], COMMANDS, 8.0, 2, **{"planner.weight.pitch": 61.0})
    assert len({item.name for item in items}) == len(items) == 2 * len(COMMANDS) * 2
    assert {item.options.seed for item in items} == {0, 1}
    for item in items:
        planner = item.options.parameters("planner")
        assert (planner["gait.name"], planner["weight.pitch"]) == (item.group, 61.0)
        assert item.options.overrides.items() >= SENSOR_NOISE.items()
        assert item.name.startswith(f"{item.group} {command_of(item.options)} #")
    check_run(items[0].options)


def test_a_stand_is_no_gait_that_follows_a_command() -> None:
    assert {"bound", "pronk", "trot"} <= set(moving_gaits()) == set(packaged_gaits()) - {"stand"}


@pytest.mark.parametrize(("left", "turn", "words"), [(0.0, 0.0, "0.3 m/s"), (0.3, -1.0, "0.3 m/s, 0.3 left, -1 rad/s")])
def test_commands_are_told_apart(left, turn, words) -> None:
    (item,) = runs(["bound"], [{"speed": ((0.0, 0.3),), "left": left, "turn": turn}], 8.0, 1)
    assert command_of(item.options) == words


def test_a_bound_follows_its_speed_and_a_robot_that_cannot_does_not() -> None:
    (item,) = runs(["bound"], COMMANDS[1:2], 6.0, 1)
    good = run(item)
    assert good.fall == "" and good.follows and good.solve_p99 >= good.solve_median > 0.0
    assert good.forward == pytest.approx(0.5, abs=0.02)
    slippery = run(replace(item, options=replace(item.options, friction=0.05, duration=3.0)))
    assert slippery.fall and not slippery.follows and slippery.forward is None


def test_the_table_has_means_of_those_that_did_not_fall_and_why_all_fell(tmp_path) -> None:
    fallen = GaitOutcome("pace", "0.5 m/s", "2.00 s: tilt")
    outcomes = [GOOD, replace(GOOD, forward=0.7, follows=False), replace(fallen, gait="trot"), fallen]
    terminal = console()
    with terminal.capture() as shown:
        terminal.print(table(outcomes))
    assert "0.600" in shown.get() and "3.0, p99 4.0" in shown.get()
    assert "2.00 s: tilt" in shown.get()
    draw(outcomes, tmp_path / "gaits.png")
    assert (tmp_path / "gaits.png").stat().st_size > 5_000
