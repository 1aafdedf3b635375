"""`./run` installs what a job needs and no more, and takes up again what was interrupted; pip is a stand-in here."""

import shutil
import subprocess
from pathlib import Path

import pytest

from test import conftest

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[1]
PIP = """#!/bin/sh
echo "$@" >> "$(dirname "$0")/log"
case "$*" in *"$(cat "$(dirname "$0")/broken" 2>/dev/null || echo none)"*) exit 1 ;; esac
"""
STUBS = (
    "venv_is_usable() { true; }; link_checkout() { true; }; choose_renderer() { echo none; }; "
    "find_browser() { echo none; }; compile_kernels() { true; }; ros_sourced=no\n"
)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Where a stand-in for pip notes what it is asked to install."""
    for file in ROOT.glob("requirements*.txt"):
        shutil.copy(file, tmp_path)
    text = (ROOT / "run").read_text(encoding="utf-8")
    functions, calls = text.split("\nclean_environment\ncase")
    assert "check_compiler" in calls
    (tmp_path / "run").write_text(f"{functions}\n{STUBS}", encoding="utf-8")
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(PIP)
    python.chmod(0o755)
    return tmp_path


def call(checkout: Path, command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["bash", "-c", f". ./run; {command}"], cwd=checkout, capture_output=True, text=True)


def installed(checkout: Path) -> list[set[str]]:
    """The requirements files of each call of pip since the last look."""
    log = checkout / ".venv" / "bin" / "log"
    lines = log.read_text().splitlines() if log.exists() else []
    log.unlink(missing_ok=True)
    calls = [line.split() for line in lines if "install" in line.split()]
    return [{Path(word).name for word in words if word.endswith(".txt")} for words in calls]


def test_lines_of_a_long_step_are_told_once_where_there_is_no_terminal(checkout: Path) -> None:
    lines = "Collecting a\nRequirement already satisfied: b\nCompiling\nCompiling\nDone\n"
    said = call(checkout, f"printf '{lines}' | show_progress packages").stderr
    assert said == "Collecting a\nCompiling\nDone\n"


@pytest.mark.parametrize(
    ("words", "groups"),
    [
        ("sim --duration 1", "base"),
        ("optimize", "base"),
        ("demo --bag B", "base ros"),
        ("replay B", "base ros"),
        ("gazebo", "base"),
        ("gazebo --emulator", "base engines"),
        ("gazebo-emulator world.sdf", "base engines"),
        ("bench list", "base"),
        ("bench solver --quick", "base ros engines bench"),
        ("test -x", "base ros engines bench robots unitree play docs export test"),
        ("test quick", "base ros engines bench robots unitree play docs export test"),
        ("demo --backend unitree --duration 4", "base ros robots unitree"),
        ("demo --backend=unitree", "base ros robots unitree"),
        ("docs", "base docs"),
        ("play --port 0", "base play"),
        ("export RUN --to mcap", "base export"),
        ("export RUN --to html", "base play"),
        ("play --ros", "base play ros"),
        ("play --robot go1", "base play robots"),
        ("sim --robot go1", "base robots"),
        ("sim --engine bullet", "base engines"),
        ("bench world --set simulator.engine=dart", "base ros engines bench"),
        ("demo --duration 3 --robot=go1", "base ros robots"),
    ],
)
def test_a_job_needs_its_groups(checkout: Path, words: str, groups: str) -> None:
    assert call(checkout, f"groups_of {words}").stdout.split() == groups.split()
    sourced = call(checkout, f"ros_sourced=yes; groups_of {words}").stdout.split()
    assert sourced == [group for group in groups.split() if group != "ros"]


@pytest.mark.parametrize("word", ["--help", "--version"])
def test_help_needs_no_more_than_python(tmp_path: Path, word: str) -> None:
    shutil.copy(ROOT / "run", tmp_path)
    (tmp_path / "contact_ddp_ros").symlink_to(ROOT / "contact_ddp_ros")
    done = subprocess.run([tmp_path / "run", word], capture_output=True, text=True, check=True)
    assert "contact-ddp" in done.stdout
    assert not (tmp_path / ".venv").exists()


def test_doctor_installs_nothing(checkout: Path) -> None:
    """In the environment that is there, also without a renderer; else in the Python that would make one."""
    assert call(checkout, "examine doctor").returncode == 0
    assert (checkout / ".venv/bin/log").read_text().splitlines() == ["-c ", "-m contact_ddp_ros.apps.cli doctor"]
    shutil.rmtree(checkout / ".venv")
    done = call(checkout, "find_python() { echo echo; }; PYTHONPATH=/ros examine doctor")
    assert done.stdout == "-m contact_ddp_ros.apps.cli doctor\n"
    assert not (checkout / ".venv").exists()


def test_groups_are_installed_once_when_first_needed(checkout: Path) -> None:
    first = call(checkout, "set_up sim")
    assert first.returncode == 0, first.stderr
    assert "into .venv: base" in first.stderr
    assert installed(checkout) == [{"requirements.txt"}]
    call(checkout, "set_up bench solver")
    others = {f"requirements-{group}.txt" for group in ("ros", "engines", "bench")}
    assert installed(checkout) == [{"requirements.txt", *others}]
    for job in ("sim", "demo", "replay"):
        assert call(checkout, f"set_up {job}").stderr == ""
    assert installed(checkout) == []


@pytest.mark.parametrize("name", ["NUMBA_CACHE_DIR", "MPLCONFIGDIR", "ROS_HOME", "MESA_SHADER_CACHE_DIR"])
def test_what_others_keep_in_the_home_folder_is_kept_in_the_checkout(checkout: Path, name: str) -> None:
    (checkout / ".venv" / ".contact_ddp").mkdir()
    (checkout / ".venv" / ".contact_ddp" / "renderer").write_text("none")
    found = call(checkout, f"unset {name}; export_environment; echo ${name}").stdout.strip()
    assert Path(found).is_relative_to(checkout / ".venv" / "cache")
    assert call(checkout, f"{name}=/mine; export_environment; echo ${name}").stdout.strip() == "/mine"


def test_an_interrupted_set_up_is_taken_up_again(checkout: Path) -> None:
    broken = checkout / ".venv" / "bin" / "broken"
    broken.write_text("requirements-bench.txt")
    failed = call(checkout, "set_up bench solver")
    assert failed.returncode == 1
    assert "could not install the packages of ros engines bench; check the network and run again" in failed.stderr
    assert len(installed(checkout)) == 2
    broken.unlink()
    assert call(checkout, "set_up bench solver").returncode == 0
    (again,) = installed(checkout)
    assert "requirements-bench.txt" in again and "requirements-play.txt" not in again


def test_changed_pins_are_installed_again(checkout: Path) -> None:
    call(checkout, "set_up demo")
    installed(checkout)
    with (checkout / "requirements-ros.txt").open("a") as file:
        file.write("another==1.0\n")
    call(checkout, "set_up sim")
    assert installed(checkout) == []
    call(checkout, "set_up demo")
    assert installed(checkout) == [{"requirements.txt", "requirements-ros.txt"}]


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        ("", ["ruff check .", "ruff format --check .", "mypy", "python -m pytest -n 2 --dist loadfile"]),
        (
            "test/robot/gaits -x",
            ["ruff check .", "ruff format --check .", "mypy", "python -m pytest test/robot/gaits -x"],
        ),
        ("quick", ["ruff check .", "ruff format --check .", "python -m pytest --quick"]),
        ("quick -k gait", ["ruff check .", "ruff format --check .", "python -m pytest --quick -k gait"]),
    ],
)
def test_the_tests_are_asked_for_as_wanted(checkout: Path, words: str, asked: list[str]) -> None:
    """Each tool is a function here that says how it was called; all are, also after one that fails."""
    tools = "; ".join(f"{tool}() {{ echo {tool} $@; false; }}" for tool in ("ruff", "mypy", "python"))
    done = call(checkout, f"{tools}; run_tests {words}")
    assert done.stdout.splitlines() == asked
    assert done.returncode == 1 and "failed: ruff check; ruff format;" in done.stderr


@pytest.mark.parametrize("name", ["SLOW", "QUICK"])
def test_places_of_the_quick_selection_are_there(name: str) -> None:
    places = getattr(conftest, name)
    assert [place for place in places if not (ROOT / "test" / place).exists()] == []
    assert list(places) == sorted(places)


def test_a_quick_test_that_starts_a_process_fails(pytester: pytest.Pytester) -> None:
    pytester.makeconftest((ROOT / "test" / "conftest.py").read_text(encoding="utf-8"))
    pytester.makepyprojecttoml("[tool.pytest.ini_options]\nmarkers = ['slow: takes long']")
    pytester.makepyfile(
        """
        import subprocess
        import pytest

        def test_starts_one():
            subprocess.run(["true"])

        @pytest.mark.slow
        def test_marked():
            assert False

        def test_quick():
            pass
        """
    )
    (pytester.path / "runs" / "report").mkdir(parents=True)
    (pytester.path / "runs" / "report" / "test_left_out.py").write_text("raise ImportError")
    result = pytester.runpytest_subprocess("--quick")
    result.assert_outcomes(passed=1, failed=1, deselected=1)
    result.stdout.fnmatch_lines(["*ProcessStartedError: true: its module belongs into SLOW*"])
