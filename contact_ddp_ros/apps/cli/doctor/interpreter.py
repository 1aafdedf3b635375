"""The Python that runs the package: what it answers, its environment, its packages and what installs them."""

import json
import os
import platform
import signal
import socket
import subprocess
import sys
import textwrap
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import metadata
from pathlib import Path

from contact_ddp_ros import __version__
from contact_ddp_ros.apps.cli.parser import PAGE_PORT
from contact_ddp_ros.base.requirements import BASE, allowed, checkout, is_allowed
from contact_ddp_ros.base.versions import commit

OK, WARNING, MISSING = "ok", "warning", "missing"

PACKAGE = Path(__file__).resolve().parents[3]
"""Folder of this package."""

_PATIENCE = 60.0
"""Time that a package has to be imported [s]: a broken driver may wait for ever."""

shortened = partial(textwrap.shorten, width=500, placeholder=" …")
"""A text in one line, of which an end is left out where it is long."""

_MODULES = {"pin": "pinocchio", "PyYAML": "yaml", "imageio-ffmpeg": "imageio_ffmpeg"}
"""Modules whose names are not those of their distributions."""

_IMPORT_ALL = """
import importlib, json, sys
errors = []
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
        errors.append("")
    except BaseException as error:
        errors.append(f"{type(error).__name__}: {error}")
print("", json.dumps(errors), sep="\\n")  # some packages print, too
"""


@dataclass(frozen=True)
class Row:
    """Row of the table: a state, what was found, and what to do where the state is not `OK`."""

    state: str
    found: str
    remedy: str = ""


def ask(code: str, *arguments: str, remedy: str = "", **variables: str) -> Row:
    """Output, or error, of a Python of its own that runs some code: what crashes there ends that one alone."""
    command, around = [sys.executable, "-c", code, *arguments], {**os.environ, **variables}
    try:
        done = subprocess.run(command, env=around, capture_output=True, text=True, timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        return Row(MISSING, f"no answer within {_PATIENCE:g} s", remedy)
    if done.returncode == 0:
        return Row(OK, done.stdout.strip())
    if done.returncode < 0:
        return Row(MISSING, f"ended by signal {signal.Signals(-done.returncode).name}", remedy)
    said = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
    return Row(MISSING, shortened(said[-1]), remedy)


def python() -> Row:
    """Python, this package and the environment; in a checkout, that which `./run` makes."""
    root, listed = checkout(), _version(PACKAGE.name)
    found = f"{platform.python_version()}, {sys.executable}; {PACKAGE} {__version__} {commit()[:8]}".strip()
    if listed not in (None, __version__):
        remedy = f"unset PYTHONPATH, or {sys.executable} -m pip uninstall {PACKAGE.name}"
        return Row(WARNING, f"{found}; pip has installed {listed}", remedy)
    if root and not _in_environment():
        return Row(WARNING, f"{found}; no environment", f"./run sim makes {root / '.venv'}")
    return Row(OK, found)


def packages(group: str, job: str) -> Row:
    """Packages of a group, which `./run JOB` installs: there, in versions that are allowed, not broken."""
    wanted, errors = allowed(group), _errors()
    versions = {name: _version(name) for name in wanted}
    absent = [name for name, version in versions.items() if version is None and errors.get(name) != ""]
    broken = [name for name in wanted if name not in absent and errors.get(name)]
    strange = [name for name, version in versions.items() if version and not is_allowed(version, wanted[name])]
    found = [f"not installed: {', '.join(absent)}"] if absent else []
    found += [f"{name} cannot be imported: {errors[name]}" for name in broken]
    found += [f"{name} {versions[name]} is not {wanted[name]}" for name in strange]
    if absent or strange:
        return Row(MISSING if absent or broken else WARNING, "; ".join(found), to_install(group, job))
    if broken:
        again = " ".join(f"{name}=={versions[name]}" for name in broken)
        remedy = f"{sys.executable} -m pip install --force-reinstall --no-deps {again}"
        return Row(MISSING, "; ".join(found), remedy)
    return Row(OK, ", ".join(f"{name} {version or ''}".strip() for name, version in versions.items()))


def page() -> Row:
    """Packages of the live page, and its port."""
    with socket.socket() as visitor:
        taken = visitor.connect_ex(("127.0.0.1", PAGE_PORT)) == 0
    row = packages("play", "play")
    return replace(row, found=f"{row.found}; port {PAGE_PORT} is {'taken: play has the next one' if taken else 'free'}")


def to_install(group: str, job: str) -> str:
    """Remedy for missing packages of a group: `./run JOB` in a checkout, pip in an environment."""
    wanted = " ".join(f"'{name}{versions}'" for name, versions in allowed(group).items())
    by_pip = f"{sys.executable} -m pip install {wanted}"
    if not checkout():
        return by_pip
    return f"./run {job}, or {by_pip}" if _in_environment() else f"./run {job}"


def _in_environment() -> bool:
    """Membership of this Python in an environment with packages of its own, of venv or conda."""
    return sys.prefix != sys.base_prefix or (Path(sys.prefix) / "conda-meta").is_dir()


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


@cache
def _errors() -> dict[str, str]:
    """Why packages of the base and of the page cannot be imported, empty where they can, by distribution."""
    modules = {name: _MODULES.get(name, name) for name in (*allowed(BASE), *allowed("play"))}
    together = ask(_IMPORT_ALL, *modules.values(), MUJOCO_GL="disable")
    if together.state == OK:
        errors = json.loads(together.found.splitlines()[-1])
        return {name: shortened(error) for name, error in zip(modules, errors)}
    alone = {name: ask(f"import {module}", MUJOCO_GL="disable") for name, module in modules.items()}  # one crashes
    return {name: "" if row.state == OK else row.found for name, row in alone.items()}
