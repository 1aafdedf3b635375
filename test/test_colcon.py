"""The package in a colcon workspace: its requirements are understood there, and `colcon test` runs the quick tests."""

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from installation import PACKAGE, ROOT

colcon = pytest.importorskip("colcon_core.package_augmentation.python", reason="pinned in requirements-test.txt")

WITH_TIME = "test_schedule"
"""What is run here of the quick tests: a module of them."""


def setup_options() -> dict[str, object]:
    """The arguments of setup() in setup.py."""
    given: dict[str, object] = {}
    code = (ROOT / "setup.py").read_text(encoding="utf-8").replace("from setuptools import find_packages, setup", "")
    exec(code, {"__file__": str(ROOT / "setup.py"), "setup": given.update, "find_packages": lambda **_: []})
    return given


REQUIREMENTS = ()


def run(workspace: Path, *words: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTEST_ADDOPTS")}
    command = [sys.executable, "-m", "colcon", "--log-base", "log", *words]
    done = subprocess.run(command, cwd=workspace, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_a_workspace_is_built_and_tested(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / PACKAGE).symlink_to(ROOT)
    select = ["--packages-select", PACKAGE]
    run(tmp_path, "build", *select)
    run(tmp_path, "test", *select, "--pytest-args", " -k", WITH_TIME)
    summary = run(tmp_path, "test-result", "--all")
    report = ElementTree.parse(tmp_path / "build" / PACKAGE / "pytest.xml").getroot().find("testsuite")
    assert report is not None
    assert int(report.attrib["tests"]) > 10, summary
    assert report.attrib["failures"] == report.attrib["errors"] == "0", summary
