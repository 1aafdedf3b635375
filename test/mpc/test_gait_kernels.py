"""Gaits that another process compiles."""

import shutil
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.mpc import gait_kernels
from contact_ddp_ros.mpc.config import PlannerConfig, for_model
from contact_ddp_ros.mpc.gait_kernels import GaitCompiler
from contact_ddp_ros.robot.gaits.gait import packaged_gaits
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.models.choice import model_of

CONFIG = for_model(PlannerConfig(), "planar")
PATIENCE = 120.0

DOUBLE = """
import sys
for line in sys.stdin:
    name = line.strip()
    if name.endswith("crash.yaml"):
        sys.exit(1)
    print("" if name in ("pronk", "bound_long_stance") else f"no {name} today", flush=True)
"""


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch) -> GaitCompiler:
    """With a process that compiles nothing."""
    made = GaitCompiler("", model_of("planar", load_robot()), CONFIG)
    popen = gait_kernels.subprocess.Popen
    start = lambda _command, **options: popen([sys.executable, "-c", DOUBLE], **options)  # noqa: E731
    monkeypatch.setattr(gait_kernels.subprocess, "Popen", start)
    return made


def outcome(compiler: GaitCompiler, name: str) -> str:
    done, reasons = threading.Event(), []
    compiler.request(replace(CONFIG.gait, name=name), lambda reason: (reasons.append(reason), done.set()))
    assert done.wait(PATIENCE)
    return str(reasons[0])


def test_a_gait_is_ready_once_it_is_compiled(compiler: GaitCompiler) -> None:
    gait = replace(CONFIG.gait, name="pronk")
    assert compiler.is_ready(CONFIG.gait) and not compiler.is_ready(gait)
    assert outcome(compiler, "pronk") == ""
    assert compiler.is_ready(gait)


def test_what_cannot_be_compiled_is_told_and_the_next_one_is(compiler: GaitCompiler) -> None:
    """A gait that the model cannot follow, and one that the other process refuses."""
    with pytest.raises(ParameterError, match="no gait is called"):
        compiler.is_ready(replace(CONFIG.gait, name="limp"))
    assert "trot" in outcome(compiler, "trot")
    assert outcome(compiler, "stand") == "no stand today"
    assert outcome(compiler, "bound_long_stance") == ""


def test_the_end_of_the_process_is_told(compiler: GaitCompiler, tmp_path: Path) -> None:
    crash = tmp_path / "crash.yaml"
    shutil.copy(packaged_gaits()["pronk"], crash)
    assert outcome(compiler, str(crash)) == "the process that compiles has ended"
    assert outcome(compiler, "bound_long_stance") == "", "another one is started"


def test_the_process_really_compiles() -> None:
    compiler = GaitCompiler("", model_of("planar", load_robot()), CONFIG)
    assert outcome(compiler, "pronk") == ""
