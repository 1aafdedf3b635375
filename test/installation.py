"""An installed package as colcon leaves it behind, made from this checkout in a moment."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = "contact_ddp_ros"


def executables() -> list[str]:
    """The nodes that setup.py installs."""
    text = (ROOT / "setup.py").read_text(encoding="utf-8")
    return [
        name for name, function in re.findall(r'f"(\w+_node) = {PACKAGE}.programs:(\w+)"', text) if name == function
    ]


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
        program.write_text(
            f"#!{sys.executable}\nimport sys\nfrom {PACKAGE}.programs import {name}\nsys.exit({name}())\n"
        )
        program.chmod(0o755)


def register(prefix: Path, package: str) -> None:
    """Let ament's index know a package by name."""
    index = prefix / "share" / "ament_index" / "resource_index" / "packages"
    index.mkdir(parents=True, exist_ok=True)
    (index / package).touch()
