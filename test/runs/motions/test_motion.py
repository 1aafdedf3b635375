"""Motions as data, and their modes."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.robot.gaits.grid import knot_grid
from contact_ddp_ros.robot.models.planar import LEGS_OF
from contact_ddp_ros.robot.motion import MotionModes, MotionPhase, MotionSpec, load_motion, packaged_motions

ALL, FRONT, HIND = ("fr", "fl", "hr", "hl"), ("fr", "fl"), ("hr", "hl")

FINE = """
displacement: 0.4
phases:
  - {feet: [fr, fl, hr, hl], duration: 0.2}
  - {feet: [], duration: 0.3}
  - {feet: [hr, hl], duration: 0.05}
  - {feet: [fr, fl, hr, hl], duration: 0.2}
"""


def test_the_packaged_ones_can_be_read() -> None:
    found = {name: load_motion(name) for name in packaged_motions()}
    assert set(found) >= {"jump", "jump_up", "backflip"}
    assert found["jump"].displacement == found["jump_up"].displacement == 0.6
    assert found["jump_up"].rise == 0.15
    assert found["backflip"].rotation == pytest.approx(-2.0 * np.pi)


def test_a_file_says_what_is_down_when(tmp_path: Path) -> None:
    file = tmp_path / "hop.yaml"
    file.write_text(FINE, encoding="utf-8")
    hop = load_motion(str(file))
    assert hop.name == "hop" and hop.flight == pytest.approx((0.2, 0.5)) and hop.duration == pytest.approx(0.75)
    modes = MotionModes.of(hop, LEGS_OF)
    assert [mode.contacts for mode in modes.modes] == [("front_foot", "back_foot"), (), ("back_foot",)] or [
        set(mode.contacts) for mode in modes.modes
    ] == [{"front_foot", "back_foot"}, set(), {"back_foot"}]
    grid = knot_grid(modes, 0, len(modes.owners), hop.step)
    assert grid.times[-1] == pytest.approx(hop.duration) and grid.switches.sum() == 3
    assert grid.modes[-1] == grid.modes[0] == 0, "the last stance is the first one's mode"
    assert list(grid.times[:-1][grid.switches]) == pytest.approx([0.2, 0.5, 0.55])


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("displacement: 0.4", "displacment: 0.4", "displacment"),
        ("displacement: 0.4", "displacement: far", "a number"),
        ("displacement: 0.4", "rotation: 1.0", "whole turns"),
        ("displacement: 0.4", "landing: 0.1", "a number for each of fr, fl, hr, hl"),
        ("displacement: 0.4", "landing: {rr: 0.1}", "a number for each of fr, fl, hr, hl"),
        ("displacement: 0.4", "landing: {fr: high}", "a number for each of fr, fl, hr, hl"),
        ("displacement: 0.4", "start: {fr: [0.0, 1.0]}", "abduction, hip, knee. for each of fr, fl, hr, hl"),
        ("displacement: 0.4", "start: lying", "abduction, hip, knee. for each of fr, fl, hr, hl"),
        ("duration: 0.3", "duration: 0.303", "whole number of steps"),
        ("duration: 0.3", "duration: -1", "positive number of seconds"),
        ("feet: [hr, hl]", "feet: []", "needed: one flight"),
        ("feet: [hr, hl]", "feet: [rr]", "allowed: a list of"),
        ("- {feet: [], duration: 0.3}", "- {feet: []}", "feet and duration"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    file = tmp_path / "wrong.yaml"
    assert old in FINE
    file.write_text(FINE.replace(old, new), encoding="utf-8")
    with pytest.raises(ParameterError, match=words):
        load_motion(str(file))


def test_swings_are_those_of_phases_with_none_of_some_legs() -> None:
    phases = [(ALL, 0.2), (HIND, 0.05), ((), 0.1), (HIND, 0.1), ((), 0.15), (FRONT, 0.1), (ALL, 0.2)]
    hops = MotionSpec("hops", tuple(MotionPhase(feet, duration) for feet, duration in phases))
    assert hops.flights == (pytest.approx((0.25, 0.35)), pytest.approx((0.45, 0.6)))
    assert hops.flight == hops.flights[1] and hops.longest == 4
    assert hops.swings(FRONT) == (pytest.approx((0.2, 0.6)),)
    assert hops.swings(HIND) == (pytest.approx((0.25, 0.35)), pytest.approx((0.45, 0.7)))
    even = replace(hops, phases=(*hops.phases[:4], MotionPhase((), 0.1), *hops.phases[5:]))
    assert even.longest == 2, "the first of two that last as long"


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ParameterError, match="backflip"):
        load_motion("backflp")


def test_legs_may_land_on_another_height(tmp_path: Path) -> None:
    file = tmp_path / "hop.yaml"
    file.write_text(FINE + "rise: 0.1\nlanding: {hr: 0, hl: 0}\n", encoding="utf-8")
    hop = load_motion(str(file))
    rises = dict(zip(LEGS_OF, hop.rises(LEGS_OF), strict=True))
    assert rises == {"front_foot": 0.1, "back_foot": 0.0}
    with pytest.raises(ParameterError, match="lands hr, hl alike"):
        replace(hop, landing={"hr": 0.05}).rises(LEGS_OF)


def test_the_plane_does_not_move_left_and_right_apart() -> None:
    jump = load_motion("jump")
    one_leg = replace(jump, phases=(jump.phases[0], MotionPhase(("hr",), 0.08), *jump.phases[2:]))
    with pytest.raises(ParameterError, match="alike"):
        MotionModes.of(one_leg, LEGS_OF)
