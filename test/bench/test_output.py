"""Records, tables and figures of the benchmarks."""

import io
import json

import numpy as np
import pytest
from rich.console import Console

from contact_ddp_ros.bench import robustness_figure, solver, solver_figure
from contact_ddp_ros.bench.iteration import ITERATION, STAGES
from contact_ddp_ros.bench.outcome import Outcome, Straightness
from contact_ddp_ros.bench.output import RECORD_FILE, Figure, print_figures, save_record
from contact_ddp_ros.bench.startup import STEPS
from contact_ddp_ros.bench.timing import Spread


def test_targets_are_upper_bounds() -> None:
    assert Figure("f", 1.4, 1.5).met is True
    assert Figure("f", Spread.of(np.array([1.0, 2.0, 3.0])), 1.5).met is False
    assert Figure("f", 1.0).met is None


def test_a_target_may_be_a_lower_bound() -> None:
    assert Figure("order", 2.1, 1.8, at_least=True).met is True
    assert Figure("order", 1.1, 1.8, at_least=True).met is False


def test_a_record_says_when_where_and_with_what(tmp_path) -> None:
    save_record(tmp_path, "solver", {"quick": True}, {"more": 3}, [Figure("f", 1.0, 2.0)])
    record = json.loads((tmp_path / RECORD_FILE).read_text())
    assert {"benchmark", "date", "machine", "versions", "settings", "figures", "more"} <= record.keys()
    assert record["figures"][0]["met"] is True
    assert "numpy" in record["versions"]


def test_a_table_names_missed_targets() -> None:
    terminal = Console(width=120, record=True, file=io.StringIO())
    print_figures(terminal, "t", [Figure("good", 1.0, 2.0), Figure("bad", 3.0, 2.0), Figure("free", 3.0)])
    lines = terminal.export_text().splitlines()
    assert any("good" in line and "met" in line for line in lines)
    assert any("bad" in line and "missed" in line for line in lines)
    assert any("free" in line and "met" not in line and "missed" not in line for line in lines)


def test_figures_are_drawn(tmp_path) -> None:
    spread = Spread.of(np.array([0.9, 1.0, 1.1])).as_json()
    stages = dict.fromkeys((*STAGES, ITERATION), spread)
    start = {which: dict.fromkeys(STEPS, 0.1) for which in ("elapsed", "processor")}
    results = {
        "iteration": {"relative_to_ddp_iteration": {"ddp": stages, "ilqr": stages, "lean": stages}},
        "convergence": [{"speed": 0.5, "variant": v, "costs": (9.0, 2.0, 1.0)} for v in ("ddp", "ilqr")],
        "startup": {"warm": [start], "cold": None},
    }
    for name, given in (("all", results), ("none", {})):
        solver_figure.draw(given, tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").stat().st_size > 1000
    pushed = Outcome("pushes", "push left, phase 0/1", fell=False, straightness=Straightness(0.0, 0.0, 0.0))
    for name, outcomes in (("some", [pushed, Outcome("mass", "trunk", fell=True)]), ("empty", [])):
        robustness_figure.draw(outcomes, tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").stat().st_size > 1000


def test_unknown_parts_are_refused() -> None:
    with pytest.raises(SystemExit):
        solver.main(["--only", "nothing"])
