"""Scenarios, judgement and totals, on recordings made by hand: no physics."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.loop.cases import CYCLE, RECOVERY
from benchmarks.loop.outcome import Outcome, Straightness, straightness
from benchmarks.loop.robustness import BENCHMARK, GROUPS, QUICK, Extent, Settings, runs, totals

ALL = runs(Settings(), Extent())


def test_names_are_unique() -> None:
    assert len({scenario.name for scenario in ALL}) == len(ALL)


def test_pushes_cover_one_cycle_each_way() -> None:
    pushes = runs(Settings(), Extent(), ["pushes"])
    assert len(pushes) == 4 * 24
    starts = sorted({scenario.options.pushes[0].time for scenario in pushes})
    assert len(starts) == 24
    assert starts[-1] - starts[0] == pytest.approx(CYCLE * 23 / 24)
    impulses = {tuple(round(f * s.options.pushes[0].duration, 9) for f in s.options.pushes[0].force) for s in pushes}
    assert impulses == {(4.0, 0.0, 0.0), (-4.0, 0.0, 0.0), (0.0, 4.0, 0.0), (0.0, -4.0, 0.0)}


def test_a_pushed_run_lasts_until_it_can_be_judged() -> None:
    for scenario in runs(Settings(), QUICK, ["pushes"]):
        (push,) = scenario.options.pushes
        assert scenario.options.duration >= push.end + RECOVERY + CYCLE


def test_settings_reach_every_run() -> None:
    settings = Settings("ilqr", 7, {"planner.iterations": 2})
    for scenario in runs(settings, QUICK):
        options = scenario.options
        assert options.variant == "ilqr"
        assert options.overrides["planner.iterations"] == 2
        assert options.seed == 7 or scenario.group == "noise"
    assert {scenario.group for scenario in runs(settings, QUICK)} == set(GROUPS)


def test_noise_differs_by_its_seed_only() -> None:
    noisy = runs(Settings(seed=4), QUICK, ["noise"])
    assert [run.options.seed for run in noisy] == [4, 5, 6]
    assert all(run.options.parameters("simulator")["noise.orientation"] > 0.0 for run in noisy)


@pytest.mark.parametrize(
    "values, expected",
    [((0.0, 0.0, 0.0), True), ((0.2, 0.0, 0.0), False), ((0.0, -0.1, 0.0), False), ((0.0, 0.0, -0.2), False)],
)
def test_bands(values, expected) -> None:
    assert Straightness(*values).straight is expected


def test_what_is_not_finite_is_not_straight() -> None:
    assert not Straightness(math.nan, 0.0, 0.0).straight


def test_an_outcome_survives_only_without_any_failure() -> None:
    held = Outcome("g", "n", fell=False)
    assert held.survived
    assert held.straight is None
    assert not replace(held, fell=True).survived
    assert not replace(held, failed="no kernels").survived
    assert not replace(held, stood=False).survived
    assert replace(held, fell=True, straightness=Straightness(0.0, 0.0, 0.0)).straight is False


def test_totals_count_per_direction() -> None:
    straight, crooked = Straightness(0.0, 0.0, 0.0), Straightness(0.3, 0.0, 0.0)
    outcomes = [
        Outcome("pushes", "push left, phase 0/2", fell=False, straightness=straight),
        Outcome("pushes", "push left, phase 1/2", fell=False, straightness=crooked),
        Outcome("pushes", "push right, phase 0/2", fell=True, straightness=straight),
        Outcome("mass", "trunk mass × 1.1", fell=False),
    ]
    assert totals(outcomes) == {
        "push left": {"runs": 2, "survived": 2, "straight": 1},
        "push right": {"runs": 1, "survived": 0, "straight": 0},
        "mass": {"runs": 1, "survived": 1, "straight": None},
    }


def test_a_recording_that_ended_early_is_not_straight() -> None:
    scenario = runs(Settings(), QUICK, ["pushes"])[0]

    recording = SimpleNamespace(ticks={"time": np.arange(0.0, 1.0, 0.1)})
    assert not straightness(recording, scenario.options.pushes[0]).straight


@pytest.mark.parametrize("words", [["--jobs", "0"], ["--only", "nothing"]])
def test_bad_options_are_refused_before_anything_is_made(words, tmp_path, capsys) -> None:
    with pytest.raises(SystemExit):
        BENCHMARK.main([*words, "--out", str(tmp_path / "new")])
    assert words[0] in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
