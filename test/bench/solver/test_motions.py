"""The comparison of motions, on one motion as it is."""

import json
from functools import partial

import pytest

from benchmarks import load
from benchmarks.solver import motions
from benchmarks.solver.motions import solve, variants_of
from contact_ddp_ros.mpc.motions.optimizer import optimise_motion
from contact_ddp_ros.robot.motion import load_motion, packaged_motions


def test_variants_of_a_motion() -> None:
    jump = load_motion("jump")
    found = variants_of(jump, (-0.02, 0.0), (0.0, 0.1))
    flights = [one.flight[1] - one.flight[0] for one in found]
    assert flights == pytest.approx([0.32, 0.32, 0.34, 0.34])
    assert [one.displacement for one in found] == pytest.approx([0.6, 0.7, 0.6, 0.7])
    assert found[2] == jump


def test_a_motion_that_cannot_be_is_told(monkeypatch) -> None:
    few = partial(optimise_motion, max_iterations=3)
    monkeypatch.setattr(motions, "optimise_motion", few)
    failed = solve(load_motion("jump"), "ddp")
    assert failed.iterations == 0 and failed.cost != failed.cost and "within the limits" in failed.reason


def test_both_solvers_find_the_jump_and_it_lands(tmp_path, capsys) -> None:
    folder = tmp_path / "motions"
    own = tmp_path / "own.yaml"
    own.write_text(packaged_motions()["jump"].read_text(encoding="utf-8"), encoding="utf-8")
    words = ["--quick", "--motion", str(own), "--trials", "1", "--out", str(folder)]
    assert load("motions").main(words) == 0
    (file,) = folder.glob("*.json")
    record = json.loads(file.read_text(encoding="utf-8"))
    ddp, ilqr = record["solves"]
    assert {ddp["variant"], ilqr["variant"]} == {"ddp", "ilqr"}
    assert ddp["cost"] == pytest.approx(ilqr["cost"], rel=1e-4)
    assert [one["landed"] for one in record["landings"]] == [1, 1]
    told = capsys.readouterr().out
    assert "1 of 1" in told and told.count("own") >= 4
