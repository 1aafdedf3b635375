"""The package in a colcon workspace: its requirements are understood there, and `colcon test` runs the quick tests."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest
import setuptools
from conftest import is_colcon
from installation import PACKAGE, ROOT

python = pytest.importorskip("colcon_core.package_augmentation.python", reason="pinned in requirements-test.txt")

ARGS, TESTPATHS = pytest.Config.ArgsSource.ARGS, pytest.Config.ArgsSource.TESTPATHS


def requirements() -> list[str]:
    """Requirements of setup.py, with those of all extras."""
    given: dict[str, Any] = {}
    original, setuptools.setup = setuptools.setup, given.update
    try:
        code = compile((ROOT / "setup.py").read_text(encoding="utf-8"), "setup.py", "exec")
        exec(code, {"__file__": str(ROOT / "setup.py")})
    finally:
        setuptools.setup = original
    return [*given["install_requires"], *(one for extra in given["extras_require"].values() for one in extra)]


@pytest.mark.parametrize("requirement", requirements())
def test_colcon_understands_a_requirement(requirement: str) -> None:
    """Range of versions: from the pinned one up to the next major one, or that one alone."""
    found = python.create_dependency_descriptor(requirement)
    assert requirement.startswith(found.name)
    if "version_eq" not in found.metadata:
        low, high = found.metadata["version_gte"], found.metadata["version_lt"]
        assert int(high) == int(low.split(".")[0]) + 1


def test_colcon_selects_the_quick_tests_unless_paths_are_given() -> None:
    def selected(prefix: str | None, source: object) -> bool:
        return is_colcon(SimpleNamespace(getoption=lambda _: prefix, args_source=source))

    assert selected(PACKAGE, TESTPATHS)
    assert not selected(PACKAGE, ARGS)
    assert not selected(None, TESTPATHS)


def run(workspace: Path, *words: str) -> str:
    hidden = ("PYTHONPATH", "PYTEST_ADDOPTS", "AMENT_PREFIX_PATH", "COLCON_PREFIX_PATH")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    command = [sys.executable, "-m", "colcon", "--log-base", "log", *words]
    done = subprocess.run(command, cwd=workspace, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_a_workspace_is_built_and_tested(tmp_path: Path) -> None:
    """A module of the quick tests stands for all, whose kernels a new place has to compile."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / PACKAGE).symlink_to(ROOT)
    select = ["--packages-select", PACKAGE]
    run(tmp_path, "build", *select)
    first, *_ = (tmp_path / "install" / PACKAGE / "bin" / "contact-ddp").read_text(encoding="utf-8").splitlines()
    assert first == "#!/usr/bin/env python3", "the Python of an active environment"
    run(tmp_path, "test", *select, "--pytest-args", "test/robot/gaits/test_schedule.py")
    summary = run(tmp_path, "test-result", "--all")
    suite = ElementTree.parse(tmp_path / "build" / PACKAGE / "pytest.xml").getroot().find("testsuite")
    assert suite is not None
    assert int(suite.attrib["tests"]) > 10 and suite.attrib["name"] == "pytest", summary
    assert suite.attrib["failures"] == suite.attrib["errors"] == "0", summary
