"""What pip and colcon install: contents of the distributions, entry points, dependencies; and it runs elsewhere."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_string
from email.message import Message
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = "contact_ddp_ros"
NODES = {path.name for path in (ROOT / "scripts").iterdir()}
SHARED = {
    f"{folder}/{path.relative_to(ROOT / folder)}"
    for folder in ("urdf", "config", "launch", "robot_side")
    for path in (ROOT / folder).rglob("*")
    if path.is_file() and "__pycache__" not in path.parts
}
"""Files that come beside the code."""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkout without what is not part of it: building leaves nothing behind in the real one."""
    copy = tmp_path_factory.mktemp("source") / "package"
    unwanted = shutil.ignore_patterns(
        ".*", "out", "build", "install", "log", "*.egg-info", "__pycache__", "test", "docs"
    )
    shutil.copytree(ROOT, copy, ignore=unwanted)
    return copy


def setup(source: Path, *words: str) -> None:
    done = subprocess.run([sys.executable, "setup.py", "-q", *words], cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def wheel(source: Path) -> Path:
    pytest.importorskip("wheel", reason="pinned in requirements-test.txt")
    setup(source, "bdist_wheel")
    return next((source / "dist").glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Installed by pip, without its dependencies, into a folder of its own."""
    folder = tmp_path_factory.mktemp("site")
    words = ["install", "-q", "--no-deps", "--no-index", "--disable-pip-version-check", "--target", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", *words, str(wheel)], check=True)
    return folder


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        name = next(one for one in archive.namelist() if one.endswith(".dist-info/METADATA"))
        return message_from_string(archive.read(name).decode("utf-8"))


def test_a_wheel_holds_the_code_and_the_files_beside_it(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    modules = {str(path.relative_to(ROOT)) for path in (ROOT / PACKAGE).rglob("*.py")}
    assert modules <= set(names)
    data = {name.partition(".data/data/")[2] for name in names if ".data/data/" in name}
    assert {f"share/{PACKAGE}/{name}" for name in SHARED} <= data
    assert {f"lib/{PACKAGE}/{name}" for name in NODES} <= data
    assert not [name for name in names if name.startswith("test/")]


def test_only_contact_ddp_comes_onto_path(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        points = next(one for one in archive.namelist() if one.endswith("entry_points.txt"))
        text = archive.read(points).decode("utf-8")
        assert not [name for name in archive.namelist() if ".data/scripts/" in name]
    assert re.findall(r"^(\S+) = (\S+)$", text, re.MULTILINE) == [("contact-ddp", f"{PACKAGE}.cli:main")]


def test_the_metadata_names_what_the_package_needs(wheel: Path) -> None:
    needed = metadata(wheel).get_all("Requires-Dist") or []
    base = {re.split(r"[~=;\s\[]", one)[0].lower() for one in needed if "extra ==" not in one}
    assert {"numpy", "scipy", "matplotlib", "mujoco", "pin", "casadi", "numba", "rich", "pyyaml", "imageio"} <= base
    assert not {"crocoddyl", "dask", "mypy", "pytest", "dartpy"} & base
    assert {"ros", "bench", "test", "gazebo"} == set(metadata(wheel).get_all("Provides-Extra") or [])
    assert all(re.search(r"[~=]=\d+\.\d+", one) for one in needed), "the next major release may break anything"


def test_it_runs_from_where_pip_put_it(installed: Path, tmp_path: Path) -> None:
    """In a folder from which the checkout cannot be seen: the robot's description is found beside the code."""
    variables = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "AMENT_PREFIX_PATH")}
    variables["PYTHONPATH"] = str(installed)
    code = (
        "import sys; from contact_ddp_ros.cli import main; from contact_ddp_ros.robot.urdf import default_urdf\n"
        "print(default_urdf()); sys.exit(main(['sdf', '--out', 'world.sdf']))"
    )
    program = [sys.executable, "-c", code]
    done = subprocess.run(program, cwd=tmp_path, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(installed / "share" / PACKAGE / "urdf" / "mini_cheetah.urdf")
    assert "<world " in (tmp_path / "world.sdf").read_text(encoding="utf-8")


def test_a_source_distribution_can_be_built_from(source: Path, tmp_path: Path) -> None:
    setup(source, "sdist", "--dist-dir", str(tmp_path))
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {"setup.py", "pyproject.toml", "requirements.txt", "requirements-ros.txt", "package.xml", "LICENSE"}
    assert wanted | SHARED | {f"scripts/{name}" for name in NODES} <= names


def test_in_a_workspace_nodes_are_where_ros_looks_and_the_command_is_on_path(source: Path, tmp_path: Path) -> None:
    """As colcon installs it, which adds PREFIX/bin to PATH."""
    setup(source, "install", "--root", str(tmp_path), "--prefix", "/ws", "--single-version-externally-managed")
    programs = tmp_path / "ws" / "lib" / PACKAGE
    assert {path.name for path in programs.iterdir()} == NODES
    assert all(os.access(path, os.X_OK) for path in programs.iterdir())
    assert [path.name for path in (tmp_path / "ws" / "bin").iterdir()] == ["contact-ddp"]
    share = tmp_path / "ws" / "share"
    assert (share / "ament_index" / "resource_index" / "packages" / PACKAGE).is_file()
    assert {str(path.relative_to(share / PACKAGE)) for path in (share / PACKAGE).rglob("*") if path.is_file()} >= SHARED
