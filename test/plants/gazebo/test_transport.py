"""Whose bindings are taken, and what is said where there are none."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from contact_ddp_ros.base.errors import GazeboError, ParameterError
from contact_ddp_ros.plants.gazebo.bindings import EMULATOR
from contact_ddp_ros.plants.gazebo.transport import RELEASES, SEARCH_PATH, load_bindings

KINDS = {
    "double": "Double",
    "model": "Model",
    "odometry": "Odometry",
    "imu": "IMU",
    "world_control": "WorldControl",
    "boolean": "Boolean",
    "entity_wrench": "EntityWrench",
}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path in which releases can be installed; no other Gazebo is found."""

    def forget() -> None:
        for name in [name for name in sys.modules if name == "gz" or name.startswith("gz.")]:
            del sys.modules[name]

    forget()
    kept = [entry for entry in sys.path if not Path(entry, "gz").exists()]
    monkeypatch.setattr(sys, "path", [str(tmp_path), *kept])
    monkeypatch.setattr("contact_ddp_ros.plants.gazebo.transport._SYSTEM_FOLDERS", ())
    monkeypatch.delenv(SEARCH_PATH, raising=False)
    yield tmp_path
    forget()


def install(site: Path, transport: str, messages: str) -> None:
    """What the Debian packages of a release put there, as far as it is imported."""
    for package in (transport, messages):
        (site / "gz" / package).mkdir(parents=True)
        (site / "gz" / package / "__init__.py").touch()
    (site / "gz" / transport / "__init__.py").write_text(f"class Node:\n    release = {transport!r}\n")
    for module, kind in KINDS.items():
        (site / "gz" / messages / f"{module}_pb2.py").write_text(f"class {kind}:\n    release = {messages!r}\n")


def test_without_bindings_the_packages_are_named(site: Path) -> None:
    with pytest.raises(GazeboError) as caught:
        load_bindings()
    for word in ("python3-gz-transport13", "python3-gz-msgs10", "gz-transport14", "gz-msgs11", "PYTHONPATH", *RELEASES):
        assert word in str(caught.value)
    with pytest.raises(GazeboError) as caught:
        load_bindings("harmonic")
    assert "jetty" not in str(caught.value)


@pytest.mark.parametrize(
    ("release", "transport", "messages"),
    [("harmonic", "transport13", "msgs10"), ("ionic", "transport14", "msgs11"), ("jetty", "transport", "msgs")],
)
def test_each_release_is_found_by_its_names(site: Path, release: str, transport: str, messages: str) -> None:
    install(site, transport, messages)
    for bindings in (load_bindings(), load_bindings(release)):
        assert bindings.name == release
        assert bindings.node().release == transport
        assert {getattr(bindings.messages, kind).release for kind in KINDS.values()} == {messages}


def test_the_newest_counts_unless_one_is_named(site: Path) -> None:
    install(site, "transport13", "msgs10")
    install(site, "transport14", "msgs11")
    assert load_bindings().name == "ionic"
    assert load_bindings("harmonic").name == "harmonic"


def test_half_an_installation_is_none(site: Path) -> None:
    install(site, "transport13", "msgs10")
    (site / "gz" / "msgs10" / "double_pb2.py").write_text("import google_protobuf_is_not_here")
    with pytest.raises(GazeboError, match="google_protobuf_is_not_here"):
        load_bindings()


def test_an_unknown_release_is_refused() -> None:
    with pytest.raises(ParameterError, match=f"harmonic.*{EMULATOR}"):
        load_bindings("fortress")


@pytest.mark.parametrize("by_variable", [True, False])
def test_the_systems_bindings_are_found_and_nothing_else_of_its_packages(
    by_variable: bool, site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a virtual environment the system's numpy must not hide the environment's."""
    system = tmp_path / "dist-packages"
    install(system, "transport13", "msgs10")
    (system / "numpy_of_the_system.py").touch()
    if by_variable:
        monkeypatch.setenv(SEARCH_PATH, f"{tmp_path / 'nowhere'}:{system}")
    else:
        monkeypatch.setattr("contact_ddp_ros.plants.gazebo.transport._SYSTEM_FOLDERS", (str(system),))
    bindings = load_bindings()
    assert (bindings.name, bindings.messages.EntityWrench.release) == ("harmonic", "msgs10")
    assert str(system) not in sys.path
    with pytest.raises(ImportError):
        importlib.import_module("numpy_of_the_system")
