import json

import numpy as np
import pytest

from contact_ddp_ros.apps.cli import main
from contact_ddp_ros.base.choices import SHOOTINGS
from contact_ddp_ros.mpc.offline import OfflineOptimiser
from contact_ddp_ros.ocp.solution import Guess


def test_an_optimisation_converges_and_leaves_its_figures_with_each_shooting(tmp_path, capsys):
    summaries = {}
    for shooting in SHOOTINGS:
        folder = tmp_path / shooting
        assert main(["optimize", "--shooting", shooting, "--speed", "0.5", "--out", str(folder)]) == 0
        summary = summaries[shooting] = json.loads((folder / "summary.json").read_text())
        assert ("all constraints hold" in capsys.readouterr().out) == summary["feasible"]
        assert summary["shooting"] == shooting
        assert summary["gap_max"] == 0.0
    single, multiple = (summaries[shooting] for shooting in SHOOTINGS)
    folder = tmp_path / SHOOTINGS[0]
    wanted = {"summary.json", "trajectory.npz", "convergence.png", "trajectory.png"}
    assert {path.name for path in folder.iterdir()} == wanted
    with np.load(folder / "trajectory.npz") as trajectory:
        assert set(trajectory.files) == {"coordinates", "times", "states", "controls", "gains", "modes", "forces"}
        n_nodes = len(trajectory["controls"])
        assert trajectory["states"].shape == (n_nodes + 1, 2 * len(trajectory["coordinates"]))
        assert trajectory["gains"].shape == (*trajectory["controls"].shape, trajectory["states"].shape[1])
    assert single["status"] == "CONVERGED"
    assert single["touchdown_error_max_m"] < 1e-6
    assert single["friction_violation_max_n"] < 1.0
    for one in single["passes"]:
        assert all(iteration["actual"] > -1e-12 for iteration in one["iterations"]), "the merit rises"
    assert single["iterations"] == sum(len(one["iterations"]) for one in single["passes"])
    assert multiple["cost"] == pytest.approx(single["cost"], rel=1e-3)
    first = [summary["passes"][0]["iterations"][0]["cost"] for summary in (single, multiple)]
    assert first[0] != first[1], "the option must not be idle"


def test_an_optimisation_that_diverges_is_one_line_and_leaves_no_folder(tmp_path, capsys, monkeypatch):
    def guess(self, speed):
        problem, reference = self.problem(speed)
        return Guess.open_loop(reference[0], np.full((problem.n_nodes, problem.n_u), 1e9))

    monkeypatch.setattr(OfflineOptimiser, "guess", guess)
    words = ["optimize", "--set", "planner.gait.integrator=implicit_midpoint", "--out", str(tmp_path / "new")]
    assert main(words) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "diverged" in error
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("setting", ["planner.no_such_thing=1", "planner.weight.height=-1"])
def test_a_bad_parameter_is_one_line_and_leaves_no_folder(setting, tmp_path, capsys):
    assert main(["optimize", "--set", setting, "--out", str(tmp_path / "new")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "new").exists()
