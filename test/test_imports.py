"""Who may know whom: every import of the package is parsed and held against the plan of the house."""

import ast
import sys
from collections.abc import Container
from dataclasses import dataclass
from graphlib import TopologicalSorter
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
    "priority",
    "safe_ranges",
    "suggestions",
}
ALLOWED = {
    "robot": set(),
    "gaits": {"robot"},
    "models": {"policy", "robot"},
    "urdf_check": {"gaits", "models", "robot"},
    "policy": {"gaits", "robot"},
    "compiled": set(),
    "dynamics": {"compiled", "robot"},
    "solver": {"compiled", "gaits"},
    "mpc": {"compiled", "estimation", "models", "solver", "dynamics", "gaits", "policy", "robot"},
    "estimation": {"robot"},
    "control": {"estimation", "models", "policy", "robot"},
    "terrain": {"robot"},
    "sim": {"terrain", "robot"},
    "recording": {"terrain", "policy", "robot"},
    "report": {"planned", "recording", "robot", "sim"},
    "links": {"policy", "robot"},
    "fitting": {"models", "mpc", "control", "sim", "robot"},
    "play": {
        "motions",
        "planned",
        "models",
        "fitting",
        "links",
        "closed_loop",
        "run_checks",
        "mpc",
        "control",
        "sim",
        "policy",
        "robot",
    }
    | {"recording", "terrain"},
    "engines": {"gazebo", "robot", "sim", "terrain"},
    "closed_loop": {
        "run_info",
        "engines",
        "models",
        "fitting",
        "links",
        "mpc",
        "control",
        "sim",
        "policy",
        "gaits",
        "robot",
        "recording",
    },
    "motions": {
        "closed_loop",
        "dynamics",
        "engines",
        "models",
        "terrain",
        "mpc",
        "control",
        "estimation",
        "sim",
        "solver",
        "policy",
        "gaits",
        "robot",
        "recording",
    },
    "run_info": {"fitting", "gaits", "models", "mpc", "recording", "robot"},
    "planned": {"models", "robot"},
    "export": {"planned", "recording", "report", "robot", "sim"},
    "batch": {"report"},
    "study": {"batch", "closed_loop", "run_checks", "report", "recording"},
    "run_checks": {"models", "fitting", "mpc", "robot"},
    "library": {
        "compiled",
        "models",
        "closed_loop",
        "run_checks",
        "mpc",
        "solver",
        "dynamics",
        "robot",
        "gaits",
        "recording",
    },
    "__init__": {"library", "models", "motions", "closed_loop", "mpc", "solver", "policy", "robot", "recording"},
    "lcm_link": {"control", "engines", "robot", "sim"},  # the bridge is the last link of the control chain
    "gazebo": {"terrain", "robot", "sim"},
    "replay": {"mpc", "policy", "robot", "gaits"},
    "nodes": {
        "engines",
        "motions",
        "models",
        "planned",
        "fitting",
        "lcm_link",
        "replay",
        "gazebo",
        "closed_loop",
        "run_info",
        "mpc",
        "control",
        "sim",
        "policy",
        "gaits",
        "robot",
        "recording",
        "play",
    }
    | {"report"},
    "bench": {
        "motions",
        "batch",
        "engines",
        "fitting",
        "library",
        "models",
        "closed_loop",
        "gazebo",
        "links",
        "mpc",
        "control",
        "sim",
        "policy",
        "gaits",
        "robot",
        "recording",
        "solver",
        "dynamics",
        "compiled",
    }
    | {"report", "nodes"},
    "cli": {
        "engines",
        "models",
        "motions",
        "terrain",
        "closed_loop",
        "run_checks",
        "fitting",
        "mpc",
        "control",
        "sim",
        "policy",
        "gaits",
        "robot",
        "recording",
    }
    | {"report", "bench", "nodes", "lcm_link", "gazebo", "replay", "play", "study", "export", "urdf_check"},
}
LAZY_ONLY = {("cli", "nodes"), ("cli", "bench"), ("bench", "nodes")}
"""The command line starts the nodes and the benchmarks, but runs where neither ROS nor the peers are installed."""

ROS = {"rclpy", "rcl_interfaces", "rosgraph_msgs", "std_srvs", "builtin_interfaces", "launch", "launch_ros"}
THIRD_PARTY = {
    "casadi": {"dynamics", "mpc", "motions", "bench", "library"},
    "mujoco": {"sim", "terrain"},
    "pinocchio": {"robot", "estimation", "urdf_check", "bench", "engines"},
    "pybullet": {"engines"},
    "crocoddyl": {"bench"},
    "mim_solvers": {"bench"},
    "dask": {"batch"},
    "distributed": {"batch"},
    "lcm": {"lcm_link"},
    "gz": {"gazebo"},
    "rosbags": {"nodes"},
    "dartpy": {"gazebo"},
    "ament_index_python": {"nodes"},
    "numba": {
        "numba_cache",
        "compiled",
        "robot",
        "models",
        "policy",
        "solver",
        "dynamics",
        "mpc",
        "control",
        "estimation",
        "bench",
        "library",
    },
    "llvmlite": {"compiled"},
    "foxglove": {"export"},
    "rerun": {"export"},
    "viser": {"play"},
    "trimesh": {"play"},
    "rich": {"cli", "report", "batch", "bench", "study"},
    "matplotlib": {"report", "cli", "bench", "study"},
    "imageio": {"report", "sim"},
    "psutil": {"bench"},
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


def _modules_needed(path: Path, modules: Container[str]) -> set[str]:
    """Those of some modules that a file imports, at its top or inside a function, which would only hide a circle."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                named = f"{node.module}.{alias.name}"
                found.add(named if named in modules else node.module)
    return {one for one in found if one in modules}


def test_modules_import_each_other_in_no_circle() -> None:
    paths = (ROOT / PACKAGE).rglob("*.py")
    modules = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in paths}
    del modules[PACKAGE]  # whose version everybody may know, and which offers what is in all of them
    needs = {name: _modules_needed(path, modules) for name, path in modules.items()}
    assert sum(map(len, needs.values())) > len(modules)
    TopologicalSorter(needs).prepare()  # CycleError names the circle


def test_a_forbidden_import_is_found() -> None:
    assert any(entry.room == "recording" and _room(entry.module) == "robot" for entry in IMPORTS)
