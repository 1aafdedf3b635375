"""Rows of the doctor: each fault has a remedy, whatever the machine has, and none is a traceback."""

import os
import socket
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from contact_ddp_ros.apps.cli import doctor, main
from contact_ddp_ros.apps.cli.doctor import interpreter, machine
from contact_ddp_ros.apps.cli.doctor.interpreter import MISSING, OK, WARNING, Row, ask
from contact_ddp_ros.base.requirements import BASE, allowed

ROOT = Path(__file__).parents[3]
STUBS = ("numpy", "numba", "casadi", "pinocchio", "mujoco", "rich", "yaml", "viser", "imageio_ffmpeg", "rclpy")


def test_a_machine_on_which_everything_is_broken(tmp_path):
    """Packages raise at their import, the compiler is none; the command line itself needs nothing."""
    for name in STUBS:
        (tmp_path / f"{name}.py").write_text(f"raise ImportError('{name} is broken')")
    variables = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}", "CC": "no_compiler", "PYTHONIOENCODING": "utf-8"}
    words = [sys.executable, "-m", "contact_ddp_ros.apps.cli", "doctor"]
    done = subprocess.run(words, env={**os.environ, **variables}, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    assert lines[-1] == "sim lacks: packages, C compiler"
    rows = {line[9:].split("  ")[0]: line + after for line, after in pairwise(lines) if not line.startswith(" ")}
    assert all(line.startswith(OK) or "  → " in line for line in rows.values()), done.stdout
    for name in ("numpy", "numba", "casadi", "pin", "mujoco", "rich", "PyYAML"):
        assert f"{name} cannot be imported: ImportError" in rows["packages"]
    assert "'no_compiler' names no program" in rows["C compiler"] and "apt-get install" in rows["C compiler"]
    assert all(rows[name].startswith(MISSING) for name in ("disk", "ROS 2", "video", "[play]"))


def test_every_row_of_this_machine_has_a_remedy_or_is_fine():
    for name, check in doctor.CHECKS.items():
        row = check()
        assert row.found and (row.state == OK or row.remedy), name


@pytest.mark.parametrize(("name", "state", "code"), [("packages", MISSING, 1), ("b", MISSING, 0), ("packages", OK, 0)])
def test_the_exit_status_says_whether_sim_can_run(monkeypatch, capsys, name, state, code):
    monkeypatch.setattr(doctor, "CHECKS", {"a": lambda: Row(OK, "fine"), name: lambda: Row(state, "bad", "mend it")})
    assert main(["doctor"]) == code
    out = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert out[:3] == [["ok", "a", "fine"], [state, name, "bad"], ["→", "mend", "it"]]


def test_a_terminal_gets_a_table_and_lines_where_rich_is_missing(monkeypatch, capsys):
    """An error of a check, too, is a row."""
    monkeypatch.setattr(doctor, "CHECKS", {"[play]": lambda: int("[red]no[/red]")})
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "found → what to do" in out and "[play]" in out and "'[red]no[/red]'" in out
    monkeypatch.setitem(sys.modules, "rich", None)
    assert main(["doctor"]) == 0
    assert "missing  [play]  cannot be checked: ValueError: " in capsys.readouterr().out


def test_a_compiler_that_fails_is_told_with_what_it_says(tmp_path, monkeypatch):
    compiler = tmp_path / "cc"
    compiler.write_text("#!/bin/sh\necho 'fatal error: math.h: No such file or directory' >&2; exit 1\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    row = machine.compiler()
    assert row.state == MISSING and "math.h: No such file" in row.found


def test_packages_are_told_that_are_absent_broken_or_of_another_version(monkeypatch):
    versions = {name: limits.strip("=><").split(",")[0] for name, limits in allowed(BASE).items()}
    monkeypatch.setattr(interpreter, "_errors", lambda: dict.fromkeys(versions, "") | {"pin": "OSError: no"})
    monkeypatch.setattr(interpreter, "_version", versions.get)
    row = interpreter.packages(BASE, "sim")
    assert row.found == "pin cannot be imported: OSError: no" and f"--no-deps pin=={versions['pin']}" in row.remedy
    monkeypatch.setattr(interpreter, "_errors", lambda: {"casadi": "ModuleNotFoundError"})
    versions |= {"numpy": "99.0", "casadi": None}
    row = interpreter.packages(BASE, "sim")
    assert row.found == f"not installed: casadi; numpy 99.0 is not {allowed(BASE)['numpy']}"
    monkeypatch.setattr(interpreter, "checkout", lambda: None)
    assert f"-m pip install 'numpy{allowed(BASE)['numpy']}' " in interpreter.packages(BASE, "sim").remedy
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setattr(interpreter, "PAGE_PORT", server.getsockname()[1])
        assert "is taken" in interpreter.page().found


def test_a_package_that_crashes_or_waits_is_told(tmp_path, monkeypatch):
    (tmp_path / "numba.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(interpreter, "allowed", lambda group: {} if group else {"PyYAML": "", "numba": ""})
    assert interpreter._errors.__wrapped__() == {"PyYAML": "", "numba": "ended by signal SIGSEGV"}
    monkeypatch.setattr(interpreter, "_PATIENCE", 0.01)
    assert ask("import time; time.sleep(9)", remedy="mend") == Row(MISSING, "no answer within 0.01 s", "mend")


def test_folders_that_cannot_be_written_are_told(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("CONTACT_DDP_CACHE", str(tmp_path / "file"))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "none"))
    row = machine.disk()
    assert row.state == WARNING and "first run compiles" in row.found
    assert "file/kernels writable" in row.remedy and "NUMBA_CACHE_DIR" not in row.remedy


def test_missing_rights_are_told_with_the_lines_that_give_them(monkeypatch):
    monkeypatch.setattr(machine, "ask", lambda *_, **__: Row(OK, "no real-time priority (see rtprio in limits.conf)"))
    monkeypatch.setenv("USER", "me")
    for user, word in ((1000, 'contact_ddp.conf: "me - rtprio 80"'), (0, "--ulimit rtprio=80")):
        monkeypatch.setattr(machine.os, "geteuid", lambda: user)  # noqa: B023
        row = machine.real_time()
        assert row.state == WARNING and word in row.remedy


def test_the_renderer_that_works_is_found(monkeypatch):
    answers = {"egl": Row(OK, "7"), "osmesa": Row(MISSING, "no driver")}
    monkeypatch.setattr(machine, "ask", lambda _, **variables: answers[variables["MUJOCO_GL"]])
    monkeypatch.setenv("MUJOCO_GL", "osmesa")
    found = "MUJOCO_GL=egl renders, ffmpeg 7"
    assert machine.video() == Row(WARNING, f"{found}; osmesa: no driver", "export MUJOCO_GL=egl")
    monkeypatch.setenv("MUJOCO_GL", "")
    assert machine.video() == Row(OK, found)
    answers["egl"] = answers["osmesa"]
    assert machine.video().state == MISSING


@pytest.mark.parametrize(
    ("variable", "value", "code", "state", "word"),
    [
        ("ROS_DISTRO", "jazzy", "print('rmw_x')", OK, ""),
        ("ROS_DOMAIN_ID", "300", "print('rmw_x')", WARNING, "ROS_DOMAIN_ID"),
        ("ROS_DISTRO", "jazzy", "import no_rclpy", MISSING, "Python of jazzy"),
        ("RMW_IMPLEMENTATION", "rmw_x", "raise SystemExit(102)", MISSING, "unset RMW_IMPLEMENTATION"),
        ("ROS_DISTRO", "", "import no_rclpy", MISSING, "source /opt/ros"),
    ],
)
def test_ros_is_told_with_its_middleware(monkeypatch, variable, value, code, state, word):
    for name in ("ROS_DISTRO", "ROS_DOMAIN_ID", "RMW_IMPLEMENTATION"):
        monkeypatch.setenv(name, value if name == variable else "")
    monkeypatch.setattr(machine, "_MIDDLEWARE", code)
    row = machine.ros()
    assert row.state == state and word in row.remedy
