"""The push map: what is searched, and what is made of it."""

import argparse
import dataclasses
import math

import numpy as np
import pytest
from rich.console import Console

from contact_ddp_ros.bench.loop import pushes
from contact_ddp_ros.bench.loop.pushes import CellSearch, PushMap, draw, ladder_of, period_of, run, searches, table
from contact_ddp_ros.errors import ParameterError


def found() -> PushMap:
    held = np.array([[12.0, 10.0, 9.0], [24.0, 20.0, 11.0]])
    return PushMap("bound", np.array([0.0, math.pi]), np.array([0.0, 1.0, 2.0]) / 3.0, held, (10.0, 24.0))


def test_every_direction_is_pushed_at_every_phase() -> None:
    cells = searches(4, 3, (10.0,), {})
    both = [*cells, *searches(4, 3, (10.0,), {"planner.gait.name": "pronk"})]
    assert len({cell.name for cell in both}) == len(both) == 24
    assert [cell.direction for cell in cells[::3]] == pytest.approx([0.0, 0.5 * math.pi, math.pi, 1.5 * math.pi])
    assert {cell.phase for cell in cells} == {0.0, 1.0 / 3.0, 2.0 / 3.0}


def test_a_push_begins_at_its_phase_and_fells_where_it_is_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pushes, "AFTER", 1.0)
    steady = pushes._steady("{}")
    assert pushes._mode(steady) == pushes.FIRST_MODE and steady.controller.fault is None
    before = steady.simulator.time
    backward = CellSearch(math.pi, 0.25, (2.0, 60.0, 4.0))
    assert run(backward) == {"held": 2.0, "lost": 60.0}, "what is survived above a fall does not count"
    assert steady.simulator.time == before, "the steady loop is not touched"
    assert run(CellSearch(math.pi, 0.25, (60.0,))) == {"held": 0.0, "lost": 60.0}
    assert run(CellSearch(math.pi, 0.25, (1.0, 2.0))) == {"held": 2.0, "lost": None}


def test_a_robot_that_does_not_bound_is_not_pushed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pushes, "SETTLED", 0.5)
    pushes._steady.cache_clear()
    try:
        with pytest.raises(pushes.BenchmarkError, match="does not move"):
            pushes._steady("{}")
    finally:
        pushes._steady.cache_clear()


def test_the_table_says_how_many_phases_survive_the_target() -> None:
    with (console := Console(width=120)).capture() as shown:
        console.print(table([found(), dataclasses.replace(found(), gait="trot")]))
    assert "2 of 3" in shown.get() and "3 of 3" in shown.get() and "180°" in shown.get()
    assert shown.get().count("5 of 6") == 2, "all directions of each gait"
    assert "trot" in shown.get() and "≥ 24.0" in shown.get()


def test_a_phase_is_a_share_of_the_gaits_own_cycle() -> None:
    assert period_of({}) == pytest.approx(0.36)
    assert period_of({"planner.gait.name": "trot"}) == pytest.approx(0.4)
    with pytest.raises(ParameterError, match="trot"):
        period_of({"planner.model": "planar", "planner.gait.name": "trot"})


def test_a_ladder_rises() -> None:
    assert ladder_of("12,16.5") == (12.0, 16.5)
    for wrong in ("", "12,x", "12,12", "-1,2", "1,inf", "1,nan"):
        with pytest.raises(argparse.ArgumentTypeError, match="rising impulses"):
            ladder_of(wrong)


def test_it_is_drawn(tmp_path) -> None:
    draw(found(), tmp_path / "pushes.png")
    assert (tmp_path / "pushes.png").stat().st_size > 10_000
