"""Rows of the worlds: which runs they have, and when they hold."""

import math
import re
from dataclasses import replace

import pytest

from benchmarks.loop.cases import changed, push_of
from benchmarks.loop.world import WorldOutcome, draw, held, run, table
from benchmarks.loop.world_rows import QUICK, Extent, Figure, Row, rows
from contact_ddp_ros.runs.robot_scaling import planner_config, robot_of
from contact_ddp_ros.runs.run_checks import check_run

SMALL = Extent(duration=6.0, seeds=2, phases=2, mixtures=3)


def test_every_run_is_allowed_and_has_a_name_of_its_own() -> None:
    items = [item for row in rows(0, SMALL, {}) for item in row.runs]
    assert len({item.name for item in items}) == len(items)
    for item in items:
        check_run(item.options)
        assert planner_config(item.options, robot_of(item.options)).ground.height == 0.0, "nothing is told"


def test_an_engine_without_height_fields_has_no_hills() -> None:
    hills = [row.name for row in rows(0, SMALL, {}) if any("rough" in item.options.terrain for item in row.runs)]
    assert hills == ["smooth hills of 10 cm"]
    for engine, shown in (("dart", []), ("bullet", hills)):
        found = rows(0, SMALL, {"simulator.engine": engine})
        assert [row.name for row in found if row.name in hills] == shown


def test_chance_follows_from_the_seed() -> None:
    first, same, other = (rows(seed, SMALL, {}) for seed in (3, 3, 4))
    assert first == same != other


def test_a_row_holds_where_nothing_falls_and_its_figure_is_kept() -> None:
    row = Row("slope", rows(0, QUICK, {})[0].runs, Figure("speed", 0.05))
    good = WorldOutcome("slope", speed=0.04, side=0.0, line=0.0, roll=0.0, lateral=0.0)
    assert held(row, [good])
    assert not held(row, [replace(good, speed=0.06)])
    assert not held(row, [good, replace(good, fall="2.00 s: tilt")])
    assert not held(row, [replace(good, speed=math.nan)]), "what was not measured is not met"
    assert held(replace(row, figure=None), [replace(good, speed=0.06)])


def test_a_fall_is_told_with_its_reason(tmp_path) -> None:
    row = rows(0, QUICK, {})[0]
    item = row.runs[0]
    short = replace(item, options=changed(item.options, duration=2.5, pushes=(push_of(90.0, (0.0, 1.0), 1.6),)))
    outcome = run(short)
    assert re.match(r"1\.[6-9]\d s: \w+: ", outcome.fall), outcome.fall
    assert "1" in str(table([(row, [outcome])]).columns[1]._cells)
    draw([(row, [outcome])], tmp_path / "world.png")
    assert (tmp_path / "world.png").stat().st_size > 5_000


def run_fields() -> set[str]:
    return set(WorldOutcome.__dataclass_fields__)


@pytest.mark.parametrize("row", [row for row in rows(0, QUICK, {}) if row.figure is not None], ids=lambda row: row.name)
def test_every_figure_is_one_that_is_measured(row: Row) -> None:
    assert row.figure is not None and row.figure.name in run_fields()
