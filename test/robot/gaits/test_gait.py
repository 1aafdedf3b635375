"""Gaits from files: modes and their times follow from phases, and files that are none are refused with the reason."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.robot.gaits.gait import Gait, Stance, load_gait, packaged_gaits
from contact_ddp_ros.robot.joints import LEG_NAMES

STEP = 0.004
PLANE = {"front_foot": ("fr", "fl"), "back_foot": ("hr", "hl")}


def in_plane(name: str) -> Gait:
    return load_gait(name).merged(PLANE, "planar")


def test_the_bound_is_back_flight_front_flight() -> None:
    schedule = in_plane("bound").schedule(STEP, epoch=1.0)
    assert [mode.name for mode in schedule.modes] == ["back_stance", "front_flight", "front_stance", "back_flight"]
    assert [mode.contacts for mode in schedule.modes] == [("back_foot",), (), ("front_foot",), ()]
    assert [mode.duration for mode in schedule.modes] == [0.08, 0.1, 0.08, 0.1]
    assert schedule.epoch == 1.0


def test_the_pronk_stands_on_all_feet_and_leaves_them_together() -> None:
    schedule = in_plane("pronk").schedule(STEP)
    assert [(mode.name, len(mode.contacts)) for mode in schedule.modes] == [("stance", 2), ("flight", 0)]
    assert schedule.period == pytest.approx(0.36)


@pytest.mark.parametrize("name", ["trot", "pace"])
def test_gaits_that_move_left_and_right_apart_load_and_are_not_for_the_plane(name: str) -> None:
    gait = load_gait(name)
    modes = gait.schedule(STEP).modes
    assert [len(mode.contacts) for mode in modes] == [2, 2]
    with pytest.raises(ParameterError, match="the planar model moves fr and fl alike"):
        gait.merged(PLANE, "planar")


def test_every_packaged_gait_fits_the_default_grid() -> None:
    assert set(packaged_gaits()) >= {"bound", "pronk", "trot", "pace"}
    for name in packaged_gaits():
        assert load_gait(name).schedule(STEP).period == pytest.approx(load_gait(name).period)


def test_a_stance_through_several_modes_is_one_stance() -> None:
    """Four feet one after the other, each down for three quarters of the period: a walk."""
    stances = {leg: Stance(k / 4, k / 4 + 0.75) for k, leg in enumerate(LEG_NAMES)}
    schedule = Gait("walk", 0.8, stances).schedule(STEP)
    assert [len(mode.contacts) for mode in schedule.modes] == [3] * 4
    assert len({mode.name for mode in schedule.modes}) == 4
    for k, leg in enumerate(LEG_NAMES):
        assert schedule.stance(leg) == (pytest.approx(0.2 * k), pytest.approx(0.6))


def test_a_foot_that_never_lifts_off() -> None:
    schedule = Gait("stand", 0.4, {"a": Stance(0.0, 1.0), "b": Stance(0.0, 1.0)}).schedule(STEP)
    assert [(mode.name, mode.contacts, mode.duration) for mode in schedule.modes] == [("stance", ("a", "b"), 0.4)]
    assert schedule.stance("a") == (0.0, 0.4)


@given(st.lists(st.tuples(st.integers(0, 19), st.integers(1, 19)), min_size=1, max_size=4))
def test_a_foot_is_on_the_ground_in_its_stance_and_at_no_other_time(stances: list[tuple[int, int]]) -> None:
    named = {f"foot {k}": Stance(at / 20, (at + length) / 20) for k, (at, length) in enumerate(stances)}
    schedule = Gait("some", 20 * STEP, named).schedule(STEP)
    assert len({mode.name for mode in schedule.modes}) == len(schedule.modes)
    first = min({at % 20 for at, length in stances} | {(at + length) % 20 for at, length in stances})
    for k, (at, length) in enumerate(stances):
        for step in range(20):
            mode = schedule.modes[schedule.phase((step - first + 0.5) * STEP).mode]
            assert (f"foot {k}" in mode.contacts) is ((step - at) % 20 < length)
        start, duration = schedule.stance(f"foot {k}")
        assert duration == pytest.approx(length * STEP)
        assert start % (20 * STEP) == pytest.approx((at - first) % 20 * STEP)


@pytest.mark.parametrize(
    ("gait", "step", "words"),
    [
        (Gait("odd", 0.36, {"a": Stance(0.0, 0.5)}), 0.007, "0.36 s, which is no whole number of steps of 0.007 s"),
        (Gait("short", 0.36, {"a": Stance(0.0, 0.001)}), STEP, "the stance of a is shorter than a step"),
        (Gait("hasty", 0.36, {"a": Stance(0.0, 0.999)}), STEP, "the swing of a is shorter than a step"),
    ],
)
def test_a_gait_that_does_not_fit_the_grid_is_refused(gait: Gait, step: float, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        gait.schedule(step)


FINE = {"period": 0.4, "stances": {leg: [0.0, 0.5] for leg in LEG_NAMES}}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ([1, 2], "it holds list; needed: period, stances"),
        ({"period": 0.4}, "it holds .'period'.; needed"),
        (FINE | {"speed": 1.0}, "'speed'"),
        (FINE | {"period": -0.4}, "the period is -0.4; allowed: a positive number"),
        (FINE | {"period": "long"}, "the period is 'long'"),
        (FINE | {"stances": {"fr": [0.0, 0.5]}}, "it has stances of .'fr'.; needed: fr, fl, hr, hl"),
        (FINE | {"stances": FINE["stances"] | {"hl": [0.0]}}, "hl is on the ground over .0.0."),
        (FINE | {"stances": FINE["stances"] | {"hl": [0.2, 1.5]}}, "two different numbers from 0 to 1"),
        (FINE | {"stances": FINE["stances"] | {"hl": [0.2, 0.2]}}, "two different numbers"),
        (FINE | {"stances": FINE["stances"] | {"hl": [0.2, True]}}, "two different numbers"),
    ],
)
def test_a_file_that_is_no_gait_is_refused_with_the_reason(tmp_path: Path, content: object, words: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump(content))
    with pytest.raises(ParameterError, match=words) as told:
        load_gait(str(file))
    assert str(file) in str(told.value)


def test_a_lift_off_before_its_touchdown_is_in_the_next_period(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump(FINE | {"stances": {leg: [0.8, 0.2] for leg in LEG_NAMES}}))
    stance = load_gait(str(file)).stances["fr"]
    assert (stance.touchdown, stance.lift_off) == (0.8, pytest.approx(1.2))


def test_a_stretched_gait_keeps_its_phases_on_whole_steps() -> None:
    gait = load_gait("bound")
    assert gait.stretched(1.0, 0.004) is gait
    longer = gait.stretched(1.03, 0.004)
    assert longer.period == pytest.approx(0.372)
    assert longer.stances == gait.stances
    assert (
        longer.merged({"back": ("hr", "hl"), "front": ("fr", "fl")}, "planar").schedule(0.004).period == longer.period
    )


def test_a_misspelt_gait_is_answered_with_those_there_are() -> None:
    with pytest.raises(
        ParameterError,
        match=r"no gait is called 'pronc'; did you mean pronk\? Allowed: bound, bound_long_stance, fly_trot",
    ):
        load_gait("pronc")
