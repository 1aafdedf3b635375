"""The recipes of docs/recipes.md are run as they stand."""

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from contact_ddp_ros.robot.gaits.gait import load_gait
from contact_ddp_ros.robot.load import load_robot

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r'```\w+ title="([^"]+)"\n(.*?)```', PAGE, flags=re.DOTALL))


def written(folder: Path, name: str) -> Path:
    path = folder / name
    path.write_text(FILES[name], encoding="utf-8")
    return path


def imported(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # processes find what they are to do by its name
    spec.loader.exec_module(module)
    return module


def test_the_page_has_five_recipes() -> None:
    assert len(FILES) == len(re.findall(r"^## A ", PAGE, flags=re.MULTILINE)) == 5


@pytest.mark.slow
def test_a_plant(tmp_path: Path) -> None:
    recording = imported(written(tmp_path, "weak_plant.py"), "weak_plant").run()
    assert (recording.ticks["mode"] >= 0).any(), "it follows a policy"
    assert recording.fall is None


@pytest.mark.slow
def test_a_parameter(tmp_path: Path) -> None:
    """One line in a copy of the package: all that is generated from declarations knows it."""
    shutil.copytree(
        ROOT / "contact_ddp_ros", tmp_path / "contact_ddp_ros", ignore=shutil.ignore_patterns("__pycache__")
    )
    path = tmp_path / "contact_ddp_ros" / "mpc" / "config.py"
    text = path.read_text(encoding="utf-8")
    start = text.index("\n    ", text.index('"""\n', text.index("class ReferenceConfig")))
    line = FILES["mpc/config.py, class ReferenceConfig"].rstrip("\n")
    path.write_text(f"{text[:start]}\n{line}{text[start:]}", encoding="utf-8")
    program = (
        "import sys; sys.path.insert(0, '.')\n"
        "from contact_ddp_ros.base.config import replace, specs\n"
        "from contact_ddp_ros.mpc.config import PlannerConfig\n"
        "spec = specs(PlannerConfig())['reference.example']\n"
        "print(spec.low, spec.high, replace(PlannerConfig(), {'reference.example': 0.3}).reference.example)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "0.0 1.0 0.3\n", done.stderr


def test_a_gait(tmp_path: Path) -> None:
    gait = load_gait(str(written(tmp_path, "skip.yaml")))
    assert gait.period == 0.4


def test_a_robot(tmp_path: Path) -> None:
    pytest.importorskip("example_robot_data")
    assert load_robot(str(written(tmp_path, "my_go1.yaml"))).mass == pytest.approx(13.1, abs=0.1)


@pytest.mark.slow
def test_a_benchmark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import benchmarks

    path = written(tmp_path, "slippery.py")
    module = imported(path, "benchmarks.loop.slippery")
    monkeypatch.setitem(benchmarks.ROOMS["loop"], "slippery", "friction")
    monkeypatch.setitem(benchmarks.BENCHMARKS, "slippery", "friction")
    from contact_ddp_ros.apps.cli import main

    out = tmp_path / "out"
    assert main(["bench", "slippery", "--quick", "--jobs", "1", "--out", str(out)]) == 0
    assert module.BENCHMARK is benchmarks.load("slippery")
    assert (out / "benchmark.json").exists()
