import json

import pytest

from contact_ddp_ros.cli import main


def test_one_optimisation_converges_and_leaves_its_figures(tmp_path, capsys):
    folder = tmp_path / "new"
    assert main(["optimize", "--speed", "0.5", "--out", str(folder)]) == 0
    assert {path.name for path in folder.iterdir()} == {"summary.json", "convergence.png", "trajectory.png"}
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["status"] == "CONVERGED"
    assert summary["touchdown_error_max_m"] < 1e-6
    assert summary["friction_violation_max_n"] < 1.0
    for one in summary["passes"]:
        costs = [iteration["cost"] for iteration in one["iterations"]]
        assert costs == sorted(costs, reverse=True)
    assert summary["iterations"] == sum(len(one["iterations"]) for one in summary["passes"])
    assert ("all constraints hold" in capsys.readouterr().out) == summary["feasible"]


@pytest.mark.parametrize("setting", ["planner.no_such_thing=1", "planner.weight.height=-1"])
def test_a_bad_parameter_is_one_line_and_leaves_no_folder(setting, tmp_path, capsys):
    assert main(["optimize", "--set", setting, "--out", str(tmp_path / "new")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "new").exists()
