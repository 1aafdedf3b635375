"""Rows of the worlds: which runs they have, and when they hold."""

import re
from dataclasses import replace

from benchmarks.loop.harness import changed, push_of
from benchmarks.loop.world import BENCHMARK, draw, run
from contact_ddp_ros.runs.scenario import scenario
from contact_ddp_ros.runs.study.study import groups_of
from test.bench.studies import cases_of

SMALL = ("--seeds", "2", "--mixtures", "3")


def test_nothing_of_the_world_is_told_to_the_planner() -> None:
    for case in cases_of(BENCHMARK, *SMALL):
        assert scenario(case.options).planner.ground.height == 0.0


def test_an_engine_without_height_fields_has_no_hills() -> None:
    def hills(*words: str) -> set[str]:
        return {
            case.group for case in cases_of(BENCHMARK, *SMALL, *words) if "rough" in case.options.in_effect("terrain")
        }

    assert hills() == hills("--set", "simulator.engine=bullet") == {"smooth hills of 10 cm"}
    assert not hills("--set", "simulator.engine=dart")


def test_chance_follows_from_the_seed_and_rows_are_chosen_by_their_words() -> None:
    assert cases_of(BENCHMARK, *SMALL, "--seed", "3") != cases_of(BENCHMARK, *SMALL, "--seed", "4")
    chosen = {case.group for case in cases_of(BENCHMARK, *SMALL, "--only", "kerb", "--only", "stones")}
    assert chosen == {"stepping stones of ±3 cm", "kerb of 4 cm between left and right"}


def test_every_target_is_of_a_figure_that_is_measured_and_a_fall_has_its_reason(tmp_path) -> None:
    case = cases_of(BENCHMARK, "--quick")[0]
    figures = run(replace(case, options=changed(case.options, duration=4.0)))
    targets = {case.target.figure for case in cases_of(BENCHMARK) if case.target is not None}
    assert targets < set(figures) and figures["fall"] == ""
    fallen = changed(case.options, duration=2.0, pushes=(push_of(90.0, (0.0, 1.0), 1.1),))
    assert re.match(r"1\.[1-4]\d s: \w+: ", run(replace(case, options=fallen))["fall"])
    draw(groups_of([case], [figures]), tmp_path / "world.png")
    assert (tmp_path / "world.png").stat().st_size > 5_000
