"""The benchmark of quadrupeds of others: its runs, and what is made of them."""

from pathlib import Path

import pytest
import quadruped

from benchmarks.loop import robots
from benchmarks.loop.robots import BENCHMARK, files, holds, run
from contact_ddp_ros.runs.study.study import groups_of
from test.bench.studies import cases_of


def test_the_packages_have_the_robots() -> None:
    assert len(files()) >= 18, "example-robot-data and pybullet are installed for the tests"


def test_a_robot_is_run_at_its_own_speed_and_a_refused_one_tells_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(robots, "_DURATION", 4.5)
    good, bad = tmp_path / "good.urdf", tmp_path / "bad.urdf"
    good.write_text(quadruped.urdf(), encoding="utf-8")
    bad.write_text(quadruped.urdf().replace('"Rf1" type="revolute"', '"Rf1" type="fixed"'), encoding="utf-8")
    *walks, refused = cases_of(BENCHMARK, str(good), str(bad))
    assert [case.values["what"] for case in walks] == ["trot", "bound", "turn", "push"]
    scale = (quadruped.THIGH + quadruped.SHANK) / 0.404
    assert walks[0].options.speed[0][1] == pytest.approx(0.5 * scale**0.5)
    (push,) = walks[3].options.pushes
    assert push.force[1] * push.duration == pytest.approx(0.25 * 11.4)
    figures = [run(walks[0]), run(refused)]
    assert figures[0]["holds"] and figures[0]["speed_share"] == pytest.approx(1.0, abs=0.05)
    assert not figures[1]["holds"] and "needed: four legs" in figures[1]["fall"]
    groups = groups_of([walks[0], refused], figures)
    assert [holds(group) for group in groups] == [True, False]
