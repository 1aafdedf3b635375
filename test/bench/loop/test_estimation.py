"""The benchmark of gaits on the estimated state: its runs, and what is made of them."""

from dataclasses import replace

import pytest

from benchmarks.loop.estimation import BENCHMARK, GAITS, SENSOR_ERRORS, SPEEDS, run
from test.bench.studies import cases_of


def test_every_gait_goes_at_every_speed_with_every_seed_on_the_estimate() -> None:
    cases = cases_of(BENCHMARK, "--seeds", "2")
    assert len(cases) == 2 * len(GAITS) * len(SPEEDS)
    for case in cases:
        assert case.options.state == "estimated"
        assert case.options.overrides.items() >= SENSOR_ERRORS.items()
        assert case.group.startswith(str(case.options.overrides["planner.gait.name"]))


def test_a_trot_follows_and_a_robot_that_slips_away_does_not() -> None:
    (case,) = cases_of(BENCHMARK, "--quick", "--only", "trot")
    good = run(replace(case, options=replace(case.options, duration=4.0)))
    assert good["fall"] == "" and good["follows"]
    assert good["speed"] == pytest.approx(0.5, abs=0.02)
    assert 0.0 < good["velocity_error"] < 0.05
    assert good["drift"] < 0.1 * good["path"]
    slippery = run(replace(case, options=replace(case.options, friction=0.05, duration=2.5)))
    assert not slippery["follows"]
