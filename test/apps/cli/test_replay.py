"""`contact-ddp replay` on made-up recordings: exit codes, what is printed, what is left behind."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from contact_ddp_ros.apps.cli import main
from contact_ddp_ros.apps.cli import replay as job
from contact_ddp_ros.robot.ground import TerrainEstimate
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.policy import Policy
from contact_ddp_ros.ros import bag
from contact_ddp_ros.runs.replay import Comparison, RecordedSolve

SAME = Comparison(
    times=np.array([1.0, 1.01, 1.02]),
    torque=np.array([0.0, 2e-7, np.nan]),
    state=np.array([0.0, 3e-9, np.nan]),
    gain=np.array([0.0, 4e-9, np.nan]),
    recorded_time=np.array([0.002, 0.003, 0.002]),
    repeated_time=np.array([0.004, 0.005, 0.006]),
    recorded_ok=np.array([True, True, False]),
    repeated_ok=np.array([True, True, False]),
)


def solve(model_hash: int) -> RecordedSolve:
    times = np.array([1.0, 1.5])
    policy = Policy(times, *(np.zeros(s) for s in ((2, 14), (1, 4), (1, 4, 14))), np.zeros(1, int), np.zeros((1, 4)))
    state = load_robot().standing_state(1.0)
    return RecordedSolve(
        state,
        0.5,
        TerrainEstimate(),
        False,
        "bound",
        1.0,
        0.002,
        9,
        True,
        dataclasses.replace(policy, model_hash=model_hash),
    )


@pytest.fixture
def compared(monkeypatch):
    """Puts a comparison in place of the planner's work on a bag of which the states of two solves are missing."""

    def give(comparison: Comparison) -> None:
        monkeypatch.setattr(bag, "recorded_solves", lambda folder: ([solve(0)], 2))
        monkeypatch.setattr(job, "replay", lambda planner, solves, progress: comparison)

    return give


def test_policies_that_agree_are_a_table_a_record_and_a_figure(compared, tmp_path, capsys):
    compared(SAME)
    folder = tmp_path / "new"
    assert main(["replay", "a-bag", "--out", str(folder)]) == 0
    assert {path.name for path in folder.iterdir()} == {job.RESULT_FILE, job.FIGURE_FILE}
    record = json.loads((folder / job.RESULT_FILE).read_text())
    assert (record["bag"], record["agree"], record["solves_without_state"]) == ("a-bag", True, 2)
    assert record["torque"] == [0.0, 2e-7, None]
    out = " ".join(capsys.readouterr().out.split())
    assert "difference of a control 1e-07 2e-07 N m" in out
    assert "solve, repeated 5 6 ms" in out
    assert "3 solves, 0 with a policy on one side only, 2 left out" in out
    assert "agree within 1e-06 N m" in out
    assert f"Saved in {folder}" in out


@pytest.mark.parametrize(
    ("changes", "tolerance"),
    [
        ({}, "1e-8"),
        ({"torque": np.array([0.0, np.inf, np.nan])}, "1e-6"),
        ({"repeated_ok": np.array([True, False, False])}, "1e-6"),
        ({"torque": np.full(3, np.nan)}, "1e-6"),
    ],
    ids=["beyond the tolerance", "on another grid", "on one side only", "nothing to compare"],
)
def test_policies_that_differ_are_exit_code_one(compared, tmp_path, capsys, changes, tolerance):
    compared(dataclasses.replace(SAME, **changes))
    assert main(["replay", "a-bag", "--tolerance", tolerance, "--out", str(tmp_path / "new")]) == 1
    assert json.loads((tmp_path / "new" / job.RESULT_FILE).read_text())["agree"] is False
    assert "differ within" in " ".join(capsys.readouterr().out.split())


def missing(folder: Path) -> None:
    """No bag at all."""


def no_bag(folder: Path) -> None:
    folder.mkdir()
    (folder / "metadata.yaml").write_text("rosbag2_bagfile_information: {}\n")


@pytest.mark.parametrize(("make", "told"), [(missing, "there is no bag"), (no_bag, "cannot read the bag")])
def test_what_is_no_bag_is_one_line_and_leaves_no_folder(make, told, tmp_path, capsys):
    make(tmp_path / "bag")
    assert main(["replay", str(tmp_path / "bag"), "--out", str(tmp_path / "new")]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and told in error
    assert not (tmp_path / "new").exists()


def test_a_bag_of_another_robot_is_one_line_and_leaves_no_folder(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(bag, "recorded_solves", lambda folder: ([solve(model_hash=0xF00)], 0))
    assert main(["replay", "a-bag", "--out", str(tmp_path / "new")]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "of model f00" in error
    assert not (tmp_path / "new").exists()


def test_parameters_of_the_run_reach_the_planner(compared, tmp_path, monkeypatch):
    compared(SAME)
    planners = []
    monkeypatch.setattr(job, "Planner", lambda robot, config: planners.append(config))
    words = ["--variant", "ilqr", "--set", "planner.weight.pitch=60"]
    assert main(["replay", "a-bag", *words, "--out", str(tmp_path / "new")]) == 0
    assert (planners[0].variant, planners[0].weight.pitch) == ("ilqr", 60.0)
