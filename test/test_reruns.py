"""Second tries of live tests are counted; see `MOST_RERUNS` of conftest.py."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent

_SOMETIMES = """
import pytest
tries = {}

@pytest.mark.parametrize("n", range(%d))
def test_at_the_second_try(n):
    tries[n] = tries.get(n, 0) + 1
    assert tries[n] > 1

@pytest.mark.parametrize("n", range(%d))
def test_at_once(n):
    pass
"""


def run(folder: Path, by_chance: int, at_once: int, workers: int) -> "subprocess.CompletedProcess[str]":
    (folder / "test" / "ros").mkdir(parents=True)
    (folder / "pyproject.toml").write_text("[tool.pytest.ini_options]\naddopts = '--import-mode=importlib'\n")
    shutil.copy(HERE / "conftest.py", folder / "test")
    (folder / "test" / "ros" / "test_live.py").write_text(_SOMETIMES % (by_chance, at_once))
    command = [sys.executable, "-m", "pytest", "-q", "-n", str(workers), "-p", "no:cacheprovider", "test"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize(("by_chance", "at_once", "workers", "code"), [(1, 0, 0, 0), (2, 200, 0, 0), (3, 200, 1, 1)])
def test_a_run_fails_where_more_than_one_in_a_hundred_needed_a_second_try(
    tmp_path: Path, by_chance: int, at_once: int, workers: int, code: int
) -> None:
    done = run(tmp_path, by_chance, at_once, workers)
    assert done.returncode == code, done.stdout
    assert f"{by_chance} rerun" in done.stdout
    assert ("needed a second try" in done.stdout) == bool(code)
