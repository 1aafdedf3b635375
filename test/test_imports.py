"""Who may know whom: every import of the package is parsed and held against the plan of the house."""

import ast
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = "contact_ddp_ros"

# A room is a folder, or a module beside the folders; one that is not listed may be imported by, and import, anything
# in PLAIN only. Rooms in PLAIN hold data and checks and know nothing of what is above them.
PLAIN = {
    "errors",
    "config",
    "options",
    "files",
    "provenance",
    "numba_cache",
    "environment",
    "lifetime",
    "safe_ranges",
    "suggestions",
}
ALLOWED = {
    "robot": set(),
    "hybrid": set(),
    "policy": {"hybrid", "robot"},
    "dynamics": {"robot"},
    "solver": {"hybrid"},
    "mpc": {"solver", "dynamics", "hybrid", "policy", "robot"},
    "control": {"policy", "robot"},
    "sim": {"robot"},
    "recording": {"policy", "robot"},
    "report": {"recording", "robot", "sim"},
    "links": {"policy", "robot"},
    "closed_loop": {"links", "mpc", "control", "sim", "policy", "hybrid", "robot", "recording"},
    "lcm_link": {"control", "robot", "sim"},  # the bridge is the last link of the control chain
    "gazebo": {"robot", "sim"},
    "replay": {"mpc", "policy", "robot", "hybrid"},
    "nodes": {
        "lcm_link",
        "replay",
        "gazebo",
        "closed_loop",
        "mpc",
        "control",
        "sim",
        "policy",
        "hybrid",
        "robot",
        "recording",
    }
    | {"report"},
    "bench": {
        "closed_loop",
        "gazebo",
        "links",
        "mpc",
        "control",
        "sim",
        "policy",
        "hybrid",
        "robot",
        "recording",
        "solver",
        "dynamics",
    }
    | {"report", "nodes"},
    "cli": {"closed_loop", "mpc", "control", "sim", "policy", "hybrid", "robot", "recording"}
    | {"report", "bench", "nodes", "lcm_link", "gazebo", "replay"},
}
LAZY_ONLY = {("cli", "nodes"), ("cli", "bench"), ("bench", "nodes")}
"""The command line starts the nodes and the benchmarks, but runs where neither ROS nor the peers are installed."""

ROS = {"rclpy", "rcl_interfaces", "rosgraph_msgs", "std_srvs", "builtin_interfaces", "launch", "launch_ros"}
THIRD_PARTY = {
    "casadi": {"dynamics", "mpc", "bench"},
    "mujoco": {"sim"},
    "pinocchio": {"robot", "bench"},
    "crocoddyl": {"bench"},
    "dask": {"bench"},
    "distributed": {"bench"},
    "lcm": {"lcm_link"},
    "gz": {"gazebo"},
    "rosbags": {"nodes"},
    "dartpy": {"gazebo"},
    "ament_index_python": {"nodes"},
    "numba": {"numba_cache", "robot", "policy", "solver", "dynamics", "mpc", "control", "bench"},
    "llvmlite": {"dynamics"},
    "rich": {"cli", "report", "bench"},
    "matplotlib": {"report", "cli", "bench"},
    "imageio": {"report", "sim"},
}
ANYWHERE = {"numpy", "scipy", "yaml"}


@dataclass(frozen=True)
class Import:
    room: str
    module: str
    where: str
    lazy: bool


def _room(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def _imports(path: Path) -> list[Import]:
    parts = path.relative_to(ROOT).with_suffix("").parts
    room = parts[1] if len(parts) > 1 else ""
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    in_functions = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
    }
    found = []
    for node in ast.walk(tree):
        where = f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{where}: relative import; name the module in full"
            base = node.module or ""
            modules = [f"{base}.{alias.name}" for alias in node.names] if base == PACKAGE else [base]
        else:
            continue
        found += [Import(room, module, where, id(node) in in_functions) for module in modules]
    return found


def _all_imports() -> list[Import]:
    return [entry for path in sorted((ROOT / PACKAGE).rglob("*.py")) for entry in _imports(path)]


IMPORTS = _all_imports()


def test_rooms_know_only_whom_they_may() -> None:
    wrong = []
    for entry in IMPORTS:
        if entry.module.split(".")[0] != PACKAGE:
            continue
        target = _room(entry.module)
        if target in PLAIN or target in ("", "__version__", entry.room):
            continue
        allowed = ALLOWED.get(entry.room, set())
        if target not in allowed:
            wrong.append(f"{entry.where}: {entry.room} imports {target}; allowed: {sorted(allowed | PLAIN)}")
        elif (entry.room, target) in LAZY_ONLY and not entry.lazy:
            wrong.append(f"{entry.where}: {entry.room} may import {target} only inside a function")
    assert not wrong, "\n".join(wrong)


def test_ros_stays_in_nodes() -> None:
    wrong = [
        f"{entry.where}: {entry.module}"
        for entry in IMPORTS
        if entry.room != "nodes" and (entry.module.split(".")[0] in ROS or entry.module.split(".")[0].endswith("_msgs"))
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("package", sorted(THIRD_PARTY))
def test_third_party_packages_stay_in_their_rooms(package: str) -> None:
    wrong = [
        f"{entry.where}: {entry.module} outside {sorted(THIRD_PARTY[package])}"
        for entry in IMPORTS
        if entry.module.split(".")[0] == package and entry.room not in THIRD_PARTY[package]
    ]
    assert not wrong, "\n".join(wrong)


def test_no_other_third_party_package_is_used() -> None:
    known = {PACKAGE, *THIRD_PARTY, *ANYWHERE, *ROS, *sys.stdlib_module_names}
    strange = {
        f"{entry.where}: {entry.module}"
        for entry in IMPORTS
        if (top := entry.module.split(".")[0]) not in known and not top.endswith("_msgs")
    }
    assert not strange, "\n".join(sorted(strange))


def test_plain_modules_know_nobody_above_them() -> None:
    wrong = [
        f"{entry.where}: {entry.module}"
        for entry in IMPORTS
        if entry.room in PLAIN
        and entry.module.startswith(PACKAGE)
        and _room(entry.module) not in PLAIN | {"", "__version__"}
    ]
    assert not wrong, "\n".join(wrong)


def test_a_forbidden_import_is_found() -> None:
    assert any(entry.room == "recording" and _room(entry.module) == "robot" for entry in IMPORTS)
