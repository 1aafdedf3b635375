"""What pip and colcon install: contents of the distributions, entry points, dependencies; and it runs elsewhere."""

import json
import os
import re
import shutil
import signal
import site
import subprocess
import sys
import tarfile
import urllib.request
import venv
import zipfile
from email import message_from_string
from email.message import Message
from pathlib import Path
from xml.etree import ElementTree

import pytest
from numba.misc import coverage_support

from contact_ddp_ros import __version__
from contact_ddp_ros.base import files
from contact_ddp_ros.plants.lcm.transport import free_port

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
def archive(source: Path) -> Path:
    """The source distribution."""
    setup(source, "sdist")
    return next((source / "dist").glob("*.tar.gz"))


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        name = next(one for one in archive.namelist() if one.endswith(".dist-info/METADATA"))
        return message_from_string(archive.read(name).decode("utf-8"))


def test_a_wheel_holds_the_code_and_the_files_beside_it(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    modules = {str(path.relative_to(ROOT)) for path in (ROOT / PACKAGE).rglob("*.py")}
    assert modules <= set(names)
    assert f"{PACKAGE}/py.typed" in names
    data = {name.partition(".data/data/")[2] for name in names if ".data/data/" in name}
    assert {f"share/{PACKAGE}/{name}" for name in SHARED} <= data
    assert {f"lib/{PACKAGE}/{name}" for name in NODES} <= data
    assert not [name for name in names if name.startswith("test/")]


def test_only_contact_ddp_comes_onto_path(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        points = next(one for one in archive.namelist() if one.endswith("entry_points.txt"))
        text = archive.read(points).decode("utf-8")
        assert not [name for name in archive.namelist() if ".data/scripts/" in name]
    assert re.findall(r"^(\S+) = (\S+)$", text, re.MULTILINE) == [("contact-ddp", f"{PACKAGE}.apps.cli:main")]


def test_the_metadata_names_what_the_package_needs(wheel: Path) -> None:
    needed = metadata(wheel).get_all("Requires-Dist") or []
    base = {re.split(r"[<>~=;\s\[]", one)[0].lower() for one in needed if "extra ==" not in one}
    assert {"numpy", "scipy", "matplotlib", "mujoco", "pin", "casadi", "numba", "rich", "pyyaml", "imageio"} <= base
    assert not {"crocoddyl", "dask", "mypy", "pytest", "dartpy"} & base
    assert {"ros", "bench", "test", "engines", "robots", "unitree", "play", "docs", "export"} == set(
        metadata(wheel).get_all("Provides-Extra") or []
    )
    assert all(re.search(r"==\d+\.\d+|<\d+", one) for one in needed), "the next major release may break anything"


def test_files_are_found_in_any_folder_that_pip_installs_into(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "__file__", f"/target/{PACKAGE}/base/files.py")
    assert Path(f"/target/share/{PACKAGE}/urdf") in files.share_places("urdf")


@pytest.fixture(scope="module")
def clean(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment of its own into which pip has installed the wheel; what the wheel needs is borrowed."""
    environment = tmp_path_factory.mktemp("clean") / "venv"
    venv.create(environment, with_pip=False, symlinks=True)
    python = environment / "bin" / "python"
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    inside = Path(subprocess.run([python, "-c", where], capture_output=True, text=True, check=True).stdout.strip())
    borrowed = "".join(f"import site; site.addsitedir({folder!r})\n" for folder in site.getsitepackages())
    (inside / "borrowed.pth").write_text(borrowed, encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "-q", "--no-deps", "--no-index", str(wheel)], check=True)
    return environment / "bin"


def outside() -> dict[str, str]:
    """The environment's variables without those that would lead to the checkout."""
    hidden = ("PYTHONPATH", "AMENT_PREFIX_PATH", "VIRTUAL_ENV", "PYTHONHOME")
    return {name: value for name, value in os.environ.items() if name not in hidden}


def test_the_installed_command_simulates(clean: Path, tmp_path: Path) -> None:
    quick = ["--duration", "0.6", "--set", "controller.stand.ramp_time=0.2"]
    program = [clean / "contact-ddp", "sim", *quick, "--no-video", "--out", "run"]
    done = subprocess.run(program, cwd=tmp_path, env=outside(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    summary = json.loads((tmp_path / "run" / "summary.json").read_text(encoding="utf-8"))
    assert summary["fell"] is False and summary["solves"] > 0
    code = "import contact_ddp_ros.robot.urdf as urdf; print(urdf.__file__, urdf.default_urdf())"
    found = subprocess.run([clean / "python", "-c", code], cwd=tmp_path, env=outside(), capture_output=True, text=True)
    assert all(Path(path).is_relative_to(clean.parent) for path in found.stdout.split()), found.stdout + found.stderr


def test_the_installed_command_plays(clean: Path, tmp_path: Path) -> None:
    pytest.importorskip("viser", reason="pinned in requirements-play.txt")
    program = [clean / "contact-ddp", "play", "--port", str(free_port()), "--rate", "1"]
    with subprocess.Popen(
        program, cwd=tmp_path, env=outside(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as page:
        assert page.stdout is not None
        told = ""
        try:
            for line in page.stdout:
                told += line
                if (address := re.search(r"http://localhost:\d+", line)) is not None:
                    break
            assert address is not None, told
            with urllib.request.urlopen(address[0], timeout=60) as answer:
                assert answer.status == 200 and b"<html" in answer.read()
            page.send_signal(signal.SIGINT)
            told += page.stdout.read()
            assert page.wait(timeout=60) == 0, told
        finally:
            page.kill()


def test_both_distributions_pass_the_check_before_an_upload(wheel: Path, archive: Path) -> None:
    pytest.importorskip("twine", reason="pinned in requirements-test.txt")
    program = [sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(archive)]
    done = subprocess.run(program, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.count("PASSED") == 2, done.stdout + done.stderr


def test_the_readme_renders_as_an_index_shows_it(wheel: Path) -> None:
    markdown = pytest.importorskip("readme_renderer.markdown", reason="pinned in requirements-test.txt")
    assert metadata(wheel)["Description-Content-Type"] == "text/markdown"
    page = markdown.render(metadata(wheel).get_payload())
    assert "<h1" in page and "<pre" in page and page.count("<table>") == 3
    assert "<img" not in page and "](" not in page
    assert re.findall(r'href="(?!https://|#)[^"]*"', page) == [], "an index has no other files of the checkout"


def test_a_source_distribution_can_be_built_from(archive: Path, wheel: Path, tmp_path: Path) -> None:
    with tarfile.open(archive) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
        packed.extractall(tmp_path, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    unpacked = next(path for path in tmp_path.iterdir() if path.is_dir())
    setup(unpacked, "bdist_wheel")
    with zipfile.ZipFile(wheel) as ours, zipfile.ZipFile(next((unpacked / "dist").glob("*.whl"))) as theirs:
        assert {one.filename: one.CRC for one in ours.infolist()} == {
            one.filename: one.CRC for one in theirs.infolist()
        }
    wanted = {"setup.py", "pyproject.toml", "requirements.txt", "requirements-ros.txt", "package.xml", "LICENSE"}
    wanted |= {"CITATION.cff", "CONTRIBUTING.md", "mkdocs.yml", "examples/paper.ipynb"}
    wanted |= {f"examples/{path.name}" for path in (ROOT / "examples").glob("*.py")}
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


KEYS = {
    "casadi": "casadi-pip",
    "imageio": "python3-imageio",
    "matplotlib": "python3-matplotlib",
    "mujoco": "python3-mujoco-pip",
    "numba": "python3-numba",
    "numpy": "python3-numpy",
    "pin": "pinocchio",
    "PyYAML": "python3-yaml",
    "rich": "python3-rich",
    "rosbags": "python3-rosbags-pip",
    "scipy": "python3-scipy",
    "xacro": "xacro",
}
"""rosdep keys of what requirements.txt pins."""

WITHOUT_KEY = {"coverage", "imageio-ffmpeg", "lcm"}
"""Without a rosdep key, or with one whose package is too old."""


def test_numba_finds_a_coverage_that_it_can_read() -> None:
    """Without one of its own an environment takes the system's; beside Ubuntu 24.04's Numba cannot be imported."""
    assert coverage_support.coverage_available


def test_the_manifest_names_a_rosdep_key_for_all_that_has_one_and_whom_to_ask() -> None:
    manifest = ElementTree.parse(ROOT / "package.xml").getroot()
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    pinned = {line.partition("==")[0] for line in lines if "==" in line}
    assert pinned == set(KEYS) | WITHOUT_KEY
    assert set(KEYS.values()) <= {one.text for one in manifest.iter("exec_depend")}
    assert manifest.findtext("author") and str(manifest.findtext("url")).startswith("https://")
    skipped = re.search(r'--skip-keys "(.*)"', (ROOT / "docs" / "ros.md").read_text(encoding="utf-8"))
    assert skipped is not None and set(skipped[1].split()) < set(KEYS.values())


def test_bloom_reads_the_changelog_of_this_version() -> None:
    changelog = pytest.importorskip("catkin_pkg.changelog", reason="pinned in requirements-test.txt")
    releases = changelog.get_changelog_from_path(str(ROOT), PACKAGE).foreach_version()
    version, released, entries = next(iter(releases))
    assert version == __version__
    assert "CHANGELOG.md" in "".join(map(str, entries))
    day = released.date().isoformat()
    assert f"\n## {__version__} ({day})\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\ndate-released: {day}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
