"""The installed executables: each runs what it is called after, and a signal during the import ends it at once."""

import importlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from contact_ddp_ros.ros import programs

ROOT = Path(__file__).parents[2]
SLOW = """
import threading
print("importing", flush=True)
threading.Event().wait()
"""


def installed() -> dict[str, str]:
    """Function behind every executable that is installed where ROS looks for it."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "scripts").iterdir()}
    found = {name: re.findall(r"^sys\.exit\((\w+)\(\)\)$", text, re.MULTILINE) for name, text in texts.items()}
    return {name: functions[0] for name, functions in found.items()}


def test_every_node_is_installed_under_its_own_name(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    monkeypatch.setattr(programs, "run", lambda module: ran.append(module) or 0)
    for name, function in installed().items():
        assert name == function
        assert os.access(ROOT / "scripts" / name, os.X_OK)
        assert getattr(programs, function)() == 0
    nodes = {path.stem for path in (ROOT / "contact_ddp_ros" / "ros").glob("*_node.py")} - {
        "plant_node",
        "bridge_node",
    }  # what others derive from
    emulators = {f"contact_ddp_ros.plants.{room}.emulator" for room in ("lcm", "unitree")}
    others = {*emulators, "contact_ddp_ros.ros.bringup"}
    assert set(ran) == {f"contact_ddp_ros.ros.{node}" for node in nodes} | others
    assert all(callable(importlib.import_module(module).main) for module in ran)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_the_import_ends_it_without_a_word(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    places = [str(tmp_path), str(ROOT)]
    code = f"import sys; sys.path[:0] = {places!r}; from contact_ddp_ros.ros.programs import run; run('slow')"
    started = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert started.stdout is not None
    assert started.stdout.readline() == "importing\n"
    started.send_signal(number)
    output, errors = started.communicate(timeout=60.0)
    assert (started.returncode, output) == (0, "")
    (line,) = errors.splitlines()
    assert line.endswith("[slow]: loading")


def test_the_exit_code_is_that_of_the_program_and_nothing_it_printed_is_lost(tmp_path: Path) -> None:
    """And libraries of linear algebra get one thread."""
    told = "import os\ndef main():\n    print('no', os.environ['OMP_NUM_THREADS'], end='')\n    return 70\n"
    (tmp_path / "refusing.py").write_text(told)
    places = [str(tmp_path), str(ROOT)]
    code = f"import sys; sys.path[:0] = {places!r}; from contact_ddp_ros.ros.programs import run; run('refusing')"
    bare = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=bare)
    assert (ended.returncode, ended.stdout) == (70, "no 1")


def test_an_import_that_takes_long_is_told_at_once_and_again(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("import time\ntime.sleep(1.0)\ndef main():\n    return 0\n")
    places = [str(tmp_path), str(ROOT)]
    code = (
        f"import sys; sys.path[:0] = {places!r}; from contact_ddp_ros.ros import programs; programs._TELL_EVERY = 0.1"
    )
    command = [sys.executable, "-c", f"{code}; programs.run('slow')"]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    first, *later = ended.stderr.splitlines()
    assert first.endswith("[slow]: loading")
    assert later and all("now contact_ddp_ros" in line and "takes minutes" in line for line in later)
