"""The push map: what is searched, and what is made of it."""

import argparse
import math

import numpy as np
import pytest
from rich.console import Console

from benchmarks.loop import pushes
from benchmarks.loop.pushes import (
    BENCHMARK,
    cell,
    draw,
    holds,
    ladder_of,
    motion,
    numbers_of,
    period_of,
    run,
    steady,
    table,
)
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.plants.mujoco import MujocoSimulator
from contact_ddp_ros.robot.rotation import quaternion_to_rpy
from contact_ddp_ros.runs.study.study import Group
from test.bench.studies import cases_of


def found(name: str = "bound, 0.5 m/s") -> Group:
    held = np.array([[12.0, 10.0, 9.0], [24.0, 20.0, 11.0]])
    cases = [cell(motion({}), math.pi * k, phase / 3.0, (10.0, 24.0)) for k in range(2) for phase in range(3)]
    return Group(name, cases, [{"fall": "", "held": one} for one in held.ravel()])


def test_every_direction_is_pushed_at_every_phase() -> None:
    words = ("--directions", "4", "--phases", "3", "--gait", "bound", "--gait", "pronk", "--speed", "0.5,1.5")
    cells = cases_of(BENCHMARK, *words, "--turn", "0,2")
    assert len(cells) == 8 * 12 and len({cell.group for cell in cells}) == 8
    directions = [cell.values["direction"] for cell in cells[:12:3]]
    assert directions == pytest.approx([0.0, 0.5 * math.pi, math.pi, 1.5 * math.pi])
    assert {cell.values["phase"] for cell in cells} == {0.0, 1.0 / 3.0, 2.0 / 3.0}


def test_a_push_begins_at_its_phase_and_fells_where_it_is_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pushes, "SETTLED", 1.2)
    monkeypatch.setattr(pushes, "AFTER", 0.6)
    loop = steady(motion({}))
    assert pushes._mode(loop) == pushes.FIRST_MODE and loop.controller.fault is None
    before = loop.plant.time

    def climbed(*ladder: float) -> tuple[float, float | None]:
        result = run(cell(motion({}), math.pi, 0.25, ladder))
        return result["held"], result["lost"]

    assert climbed(2.0, 60.0, 4.0) == (2.0, 60.0), "what is survived above a fall does not count"
    assert loop.plant.time == before, "the steady loop is not touched"
    assert climbed(60.0) == (0.0, 60.0)
    assert climbed(1.0) == (1.0, None)


def test_a_robot_that_does_not_bound_is_not_pushed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pushes, "SETTLED", 0.5)
    pushes._STEADY.clear()
    with pytest.raises(pushes.BenchmarkError, match="does not move"):
        steady(motion({}))


def test_the_table_says_how_many_phases_survive_the_target() -> None:
    with (console := Console(width=120)).capture() as shown:
        console.print(table([found(), found("trot, 0.5 m/s")], 10.0))
    assert "2 of 3" in shown.get() and "3 of 3" in shown.get() and "180°" in shown.get()
    assert shown.get().count("5 of 6") == 2, "all directions of each gait"
    assert "trot" in shown.get() and "≥ 24.0" in shown.get()


def test_a_phase_is_a_share_of_the_gaits_own_cycle() -> None:
    assert period_of(motion({})) == pytest.approx(0.36)
    assert period_of(motion({"planner.gait.name": "trot"})) == pytest.approx(0.4)
    with pytest.raises(ParameterError, match="trott"):
        period_of(motion({"planner.gait.name": "trott"}))


def test_a_ladder_rises() -> None:
    assert ladder_of("12,16.5") == (12.0, 16.5)
    for wrong in ("", "12,x", "12,12", "-1,2", "1,inf", "1,nan"):
        with pytest.raises(argparse.ArgumentTypeError, match="rising impulses"):
            ladder_of(wrong)


def test_speeds_and_turns_are_finite_numbers_each_once() -> None:
    assert numbers_of("0.5,1.5,-1,0.5") == (0.5, 1.5, -1.0)
    for wrong in ("", "1,x", "inf", "nan,1"):
        with pytest.raises(argparse.ArgumentTypeError, match="finite numbers"):
            numbers_of(wrong)


def test_a_direction_counts_from_the_heading_of_a_robot_that_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pushes, "AFTER", 0.0)
    pushed: list[np.ndarray] = []
    monkeypatch.setattr(MujocoSimulator, "push", lambda self, force, *_: pushed.append(force))
    turning = motion({}, speed=1.0, turn=1.0)
    state = steady(turning).plant.truth().state
    assert state.linear_velocity[0] == pytest.approx(1.0, abs=0.15)
    assert state.angular_velocity[2] == pytest.approx(1.0, abs=0.5)
    holds(turning, 0.5 * math.pi, 0.0, 2.0)
    yaw = float(quaternion_to_rpy(state.orientation)[2])
    assert abs(yaw) > 1.0
    assert pushed[0] == pytest.approx(20.0 * np.array([-math.sin(yaw), math.cos(yaw), 0.0]))


def test_it_is_drawn(tmp_path) -> None:
    for maps in ([found()], [found()] * 3):
        draw(maps, 2, tmp_path / "pushes.png")
        assert (tmp_path / "pushes.png").stat().st_size > 10_000
