"""The solver's own wheel: it needs nothing of the robot, and its programs run."""

import ast
import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import contact_ddp_ros

ROOT = Path(__file__).parents[1]
CORE = ROOT / "hybrid_ddp"
EXAMPLES = sorted((CORE / "examples").glob("*.py"))
PRINTED = {
    "cart_pole": "CONVERGED",
    "contact": "contact in the steps 3 to 29",
    "double_integrator": "cost 6.0024",
    "feedback": "with gains: [3.1",
    "infeasible": "terminal_equality[0] of node 40",
    "least_squares": "ilqr CONVERGED",
    "least_time": "time 2.0000 s",
    "obstacles": "distance to the shore 0.0000 m",
    "pendulum": "CONVERGED",
    "receding_horizon": "5.0 s: [-0.04",
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's files, built from a copy: building leaves nothing behind."""
    copy = tmp_path_factory.mktemp("core")
    for name in ("contact_ddp_ros", "hybrid_ddp"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
    shutil.copy(ROOT / "requirements.txt", copy)
    words = [sys.executable, "setup.py", "-q", "build_py", "--build-lib", str(copy / "lib")]
    done = subprocess.run(words, cwd=copy / "hybrid_ddp", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return copy / "lib" / "hybrid_ddp"


def test_the_wheel_imports_nothing_that_it_lacks(built):
    allowed = {"numpy", "scipy", "casadi", "numba", "llvmlite", "yaml"} | set(sys.stdlib_module_names)
    for path in built.rglob("*.py"):
        text = path.read_text()
        assert "contact_ddp_ros" not in text
        for node in ast.walk(ast.parse(text)):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else names
            for name in names:
                if name.startswith("hybrid_ddp"):
                    file = built.parent / name.replace(".", "/")
                    assert file.with_suffix(".py").is_file() or file.is_dir(), f"{path.name} imports {name}"
                else:
                    assert name.split(".")[0] in allowed, f"{path.name} imports {name}"
    for name in ("ocp/riccati.c", "base/compiled/blocks.h"):
        assert (built / name).is_file()


def test_it_offers_what_the_whole_package_offers_of_the_solver():
    names = re.search(r"__all__ = \[(.*?)\]", (CORE / "hybrid_ddp" / "__init__.py").read_text(), re.DOTALL)
    offered = set(re.findall(r'"(\w+)"', names[1]))
    assert offered <= set(contact_ddp_ros.__all__) and {"solve", "casadi_problem", "Certificate"} <= offered


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_programs_run(path, capsys, monkeypatch):
    """With the package in the place of the wheel, whose kernels are compiled already."""
    assert len(EXAMPLES) == 10 and len(path.read_text().splitlines()) < 30
    monkeypatch.setitem(sys.modules, "hybrid_ddp", contact_ddp_ros)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    assert PRINTED[path.stem] in capsys.readouterr().out
