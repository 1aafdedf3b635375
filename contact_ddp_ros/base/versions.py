"""Provenance of a figure: versions of the packages in use and the machine, as plain data for a record."""

import os
import platform
import subprocess
from functools import cache
from importlib import metadata
from pathlib import Path

from contact_ddp_ros import __version__

_DISTRIBUTIONS = {
    "numpy": ("numpy",),
    "casadi": ("casadi",),
    "numba": ("numba",),
    "mujoco": ("mujoco",),
    "pinocchio": ("pin",),
    "rclpy": ("ros-jazzy-rclpy", "ros-kilted-rclpy", "rclpy"),
}
"""Name in a record → distributions that may provide it, in order of preference."""


def versions() -> dict[str, str]:
    """Version by name of this package, Python and those of its dependencies that are installed."""
    found = {"contact_ddp_ros": __version__, "python": platform.python_version()}
    for name, distributions in _DISTRIBUTIONS.items():
        for distribution in distributions:
            try:
                found[name] = metadata.version(distribution)
                break
            except metadata.PackageNotFoundError:
                continue
    return found


@cache
def commit() -> str:
    """The commit of the checkout that this code is run from, with `+` where tracked files differ; empty elsewhere."""
    checkout = Path(__file__).resolve().parents[2]
    if not (checkout / ".git").exists():
        return ""
    words = ("git", "-C", str(checkout), "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty=+")
    try:
        return subprocess.run(words, capture_output=True, text=True, check=True, timeout=10.0).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""  # no git, or not our own checkout to it


def machine() -> dict[str, str | int]:
    """Operating system, architecture, processor and the number of cores this process may use."""
    return {
        "system": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
