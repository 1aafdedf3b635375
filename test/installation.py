"""An installed package as colcon leaves it behind, made from this checkout in a moment."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = "contact_ddp_ros"


def executables() -> list[str]:
    """The programs that setup.py installs for the launch file: nodes, and what prepares them."""
    return sorted(path.name for path in (ROOT / "scripts").iterdir())


def install(prefix: Path) -> None:
    """Package, share folder and executables below `prefix`."""
    programs, share = prefix / "lib" / PACKAGE, prefix / "share" / PACKAGE
    for folder in (programs, share):
        folder.mkdir(parents=True)
    register(prefix, PACKAGE)
    for name in ("config", "urdf", "launch"):
        (share / name).symlink_to(ROOT / name)
    for name in executables():
        program = programs / name
        text = (ROOT / "scripts" / name).read_text(encoding="utf-8")
        program.write_text(text.replace("#!/usr/bin/env python3", f"#!{sys.executable}"), encoding="utf-8")
        program.chmod(0o755)


def register(prefix: Path, package: str) -> None:
    """Let ament's index know a package by name."""
    index = prefix / "share" / "ament_index" / "resource_index" / "packages"
    index.mkdir(parents=True, exist_ok=True)
    (index / package).touch()
