"""Gazebo's own Python bindings, whichever release is installed.

    release     transport           messages        Debian packages
    Harmonic    gz.transport13      gz.msgs10       python3-gz-transport13, python3-gz-msgs10
    Ionic       gz.transport14      gz.msgs11       python3-gz-transport14, python3-gz-msgs11
    Jetty       gz.transport        gz.msgs         python3-gz-transport, python3-gz-msgs

Releases do not hear each other; where several are installed the newest counts unless one is named.

The packages are the system's, and the interpreter may be that of a virtual environment. So where `gz` is not on its
path, the folders of GZ_PYTHON_PATH and then those of the system are looked through; of a folder that has it only `gz`
is taken, and protobuf where the environment has none, not all the rest that would hide the environment's own packages.

Two traps. A blocking `request` holds the interpreter's lock: in a process that also subscribes it can stand still
until its time-out, so requests are made from a process of their own
(:mod:`contact_ddp_ros.plants.gazebo.world_control`). And callbacks come in a thread of the transport, which prints an
exception and goes on.
"""

import importlib
import importlib.util
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from contact_ddp_ros.base.errors import GazeboError, ParameterError
from contact_ddp_ros.plants.gazebo.bindings import EMULATOR, Bindings, Messages

SEARCH_PATH: Final = "GZ_PYTHON_PATH"
"""Environment variable with folders that hold Gazebo's package `gz`, separated as in PATH."""

_SYSTEM_FOLDERS = ("/usr/lib/python3/dist-packages", "/usr/local/lib/python3/dist-packages")
"""Folders of Python packages on Debian and Ubuntu."""


@dataclass(frozen=True)
class _Release:
    name: str
    transport: str
    messages: str
    packages: str


_RELEASES = (
    _Release("jetty", "gz.transport", "gz.msgs", "python3-gz-transport python3-gz-msgs"),
    _Release("ionic", "gz.transport14", "gz.msgs11", "python3-gz-transport14 python3-gz-msgs11"),
    _Release("harmonic", "gz.transport13", "gz.msgs10", "python3-gz-transport13 python3-gz-msgs10"),
)
"""Newest first."""

RELEASES: Final = tuple(release.name for release in _RELEASES)


def load_bindings(name: str = "") -> Bindings:
    """The bindings of a release of :data:`RELEASES`, of the emulator, or of the newest release that is installed.

    Raises:
        ParameterError: there is no release of that name.
        GazeboError: nothing that fits is installed; the text names the packages.
    """
    if name == EMULATOR:
        from contact_ddp_ros.plants.gazebo.emulator.transport import emulator_bindings

        return emulator_bindings()
    if name and name not in RELEASES:
        raise ParameterError(f"Gazebo release {name!r}; allowed: {', '.join((*RELEASES, EMULATOR))} or none")
    failures = []
    _find_system_packages()
    for release in _RELEASES:
        if name in ("", release.name):
            try:
                return _load(release)
            except ImportError as error:
                failures.append(f"{release.name}: {error} (apt packages {release.packages})")
    raise GazeboError(
        "no Python bindings of Gazebo's transport: "
        + "; ".join(failures)
        + f". Install those of your release. They are looked for on this interpreter's path ({sys.executable}; "
        f"PYTHONPATH), in {SEARCH_PATH} ({os.environ.get(SEARCH_PATH) or 'not set'}) and in "
        f"{', '.join(_SYSTEM_FOLDERS)}; they fit the Python that they were built for"
    )


def _find_system_packages() -> None:
    """Make `gz`, and `google.protobuf` with it, importable from where the system has it."""
    folders = [*filter(None, os.environ.get(SEARCH_PATH, "").split(os.pathsep)), *_SYSTEM_FOLDERS]
    found = [folder for folder in folders if Path(folder, "gz").is_dir()]
    for folder in found:
        _extend("gz", folder)
        if not _importable("google.protobuf"):
            _extend("google", folder)


def _extend(package: str, folder: str) -> None:
    """Let a namespace package have its parts in `folder`, too."""
    try:
        module = importlib.import_module(package)
    except ImportError:
        module = sys.modules[package] = ModuleType(package)
        module.__path__ = []
    place = str(Path(folder, package))
    if place not in module.__path__:
        module.__path__ = [*module.__path__, place]


def _importable(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ImportError:
        return False


def _load(release: _Release) -> Bindings:
    transport = importlib.import_module(release.transport)

    def message(module: str, kind: str) -> Any:
        return getattr(importlib.import_module(f"{release.messages}.{module}_pb2"), kind)

    messages = Messages(
        Double=message("double", "Double"),
        Model=message("model", "Model"),
        Odometry=message("odometry", "Odometry"),
        IMU=message("imu", "IMU"),
        WorldControl=message("world_control", "WorldControl"),
        Boolean=message("boolean", "Boolean"),
        EntityWrench=message("entity_wrench", "EntityWrench"),
    )
    return Bindings(release.name, transport.Node, messages)
