"""Records, tables and figures of the benchmarks."""

import io
import json

import numpy as np
import pytest
from rich.console import Console

from benchmarks.output import RECORD_FILE, Metric, print_metrics, save_record, table_of
from benchmarks.ros.startup import STEPS, StartupTimes
from benchmarks.solver import solver
from benchmarks.solver.iteration import ITERATION, STAGES, ColdSolve
from benchmarks.timing import Spread


def test_targets_are_upper_bounds() -> None:
    assert Metric("f", 1.4, 1.5).met is True
    assert Metric("f", Spread.of(np.array([1.0, 2.0, 3.0])), 1.5).met is False
    assert Metric("f", 1.0).met is None


def test_a_target_may_be_a_lower_bound() -> None:
    assert Metric("order", 2.1, 1.8, at_least=True).met is True
    assert Metric("order", 1.1, 1.8, at_least=True).met is False


def test_a_record_says_when_where_and_with_what(tmp_path) -> None:
    results = {"more": 3, "spreads": (Spread.of([1.0]),)}
    save_record(tmp_path, "solver", {"quick": True}, results, [Metric("f", 1.0, 2.0)])
    record = json.loads((tmp_path / RECORD_FILE).read_text())
    assert {"benchmark", "date", "machine", "versions", "settings", "figures", "more"} <= record.keys()
    assert record["figures"][0]["met"] is True
    assert record["spreads"][0]["samples"] == 1
    assert "numpy" in record["versions"]


def test_a_table_names_missed_targets() -> None:
    terminal = Console(width=120, record=True, file=io.StringIO())
    print_metrics(terminal, "t", [Metric("good", 1.0, 2.0), Metric("bad", 3.0, 2.0), Metric("free", 3.0)])
    lines = terminal.export_text().splitlines()
    assert any("good" in line and "met" in line for line in lines)
    assert any("bad" in line and "missed" in line for line in lines)
    assert any("free" in line and "met" not in line and "missed" not in line for line in lines)


def test_a_table_has_a_column_for_each_function_of_a_row() -> None:
    rows = [("slow [x]", 2.0), ("fast", 0.5)]
    columns = {"name": lambda row: row[0], "twice": lambda row: 2.0 * row[1], "": lambda row: "held"}
    table = table_of("Runs", rows, columns)
    assert [column.header for column in table.columns] == list(columns)
    assert [column.justify for column in table.columns] == ["left", "right", "left"]
    assert list(table.columns[1].cells) == ["4.0", "1.0"]
    assert {column.justify for column in table_of("Words", rows, columns, text=True).columns} == {"left"}


def test_figures_are_drawn(tmp_path) -> None:
    spread = Spread.of(np.array([0.9, 1.0, 1.1]))
    stages = dict.fromkeys((*STAGES, ITERATION), spread)
    start = StartupTimes(dict.fromkeys(STEPS, 0.1), dict.fromkeys(STEPS, 0.1))
    results = {
        "iteration": {"relative_to_ddp_iteration": {"ddp": stages, "ilqr": stages, "lean": stages}},
        "convergence": [ColdSolve(0.5, v, 2, (9.0, 2.0, 1.0), 2, 2, 0.1, "CONVERGED", 1.0) for v in ("ddp", "ilqr")],
        "startup": {"warm": [start], "cold": None},
    }
    for name, given in (("all", results), ("none", {})):
        solver.draw(given, tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").stat().st_size > 1000


def test_unknown_parts_are_refused() -> None:
    with pytest.raises(SystemExit):
        solver.BENCHMARK.main(["--only", "nothing"])
