"""The notebook of the paper runs from end to end in the sizes of its tests, and is kept without its outputs."""

import re
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat", reason="pinned in requirements-test.txt")
nbclient = pytest.importorskip("nbclient", reason="pinned in requirements-test.txt")

NOTEBOOK = Path(__file__).parents[1] / "examples" / "paper.ipynb"


def test_the_notebook_is_kept_without_outputs() -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell for cell in code if cell.outputs or cell.execution_count is not None] == []
    assert "parameters" in code[0].metadata["tags"] and "PAPER_SMALL" in code[0].source


def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAPER_SMALL", "1")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    client = nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    printed = "".join(output.text for output in outputs if output.output_type == "stream" and output.name == "stdout")
    pictures = [output for output in outputs if "image/png" in output.get("data", {})]
    assert len(pictures) == 4
    assert re.search(r"second order by mRNEAc over first order: {2: [\d.]+, 3: [\d.]+}", printed)
    assert float(re.search(r"largest relative difference: (\S+)", printed)[1]) < 1e-9
    for variant in ("ilqr", "ddp"):
        assert f"{variant}: 1 of 1 starts end feasible" in printed
    assert float(re.search(r"DDP / iLQR: (\S+)", printed)[1]) > 0.0
