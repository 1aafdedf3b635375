"""Third-party packages stay in their rooms, and modules import each other in no circle.

Which room may import which is a contract of import-linter in pyproject.toml ; here it is run.
"""

import ast
import logging
import sys
from collections.abc import Container, Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "contact_ddp_ros"
ROOMS = {
    "casadi": {"base", "dynamics", "mpc", "ocp"},
    "numba": {"base", "control", "mpc", "ocp", "robot"},
    "mujoco": {"base", "plants"},
    "pinocchio": {"robot", "control", "plants"},
    "dartpy": {"plants"},
    "pybullet": {"plants"},
    "gz": {"plants"},
    "lcm": {"plants"},
    "cyclonedds": {"plants"},
    "dask": {"runs"},
    "distributed": {"runs"},
    "foxglove": {"runs"},
    "rerun": {"runs"},
    "matplotlib": {"apps", "runs"},
    "imageio": {"plants", "runs"},
    "rich": {"apps", "runs"},
    "viser": {"apps", "runs"},
    "trimesh": {"apps", "runs"},
    "nicegui": {"apps"},
    "plotly": {"apps"},
    "llvmlite": {"base"},
    "rosbags": {"ros", "runs"},
    "xacro": {"robot"},
}
ANYWHERE = {"numpy", "scipy", "yaml", "contact_ddp_ros", *sys.stdlib_module_names}
IN_ROS = {"rclpy", "std_srvs", "ament_index_python", "builtin_interfaces"}


def modules_of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import; name the module in full"
            yield node.module or ""


def test_imports_keep_the_contracts(capfd: pytest.CaptureFixture) -> None:
    loggers = [one for one in logging.root.manager.loggerDict.values() if isinstance(one, logging.Logger)]
    silent = {one for one in loggers if one.disabled}
    assert lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True) == 0, capfd.readouterr().out
    for one in {*loggers} - silent:
        one.disabled = False  # the linter's own logging silences all others


@pytest.mark.parametrize("room", sorted(path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()))
def test_third_party_packages_stay_in_their_rooms(room: str) -> None:
    strange = set()
    for path in (PACKAGE / room).rglob("*.py"):
        for module in modules_of(path):
            top = module.split(".")[0]
            ros = room == "ros" and (top in IN_ROS or top.endswith(("_msgs", "_interfaces")))
            if top not in ANYWHERE and room not in ROOMS.get(top, ()) and not ros:
                strange.add(f"{path.relative_to(ROOT)}: {module}")
    assert not strange, "\n".join(sorted(strange))


def needed(path: Path, modules: Container[str]) -> set[str]:
    """Modules that a file imports, at its top or inside a function, which would only hide a circle."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                named = f"{node.module}.{alias.name}"
                found.add(named if named in modules else node.module)
    return {one for one in found if one in modules}


def test_modules_import_each_other_in_no_circle() -> None:
    modules = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in PACKAGE.rglob("*.py")}
    modules = {name.removesuffix(".__init__"): path for name, path in modules.items()}
    del modules[PACKAGE.name]  # whose version everybody may know, and which offers what is in all of them
    needs = {name: needed(path, modules) for name, path in modules.items()}
    assert sum(map(len, needs.values())) > len(modules)
    TopologicalSorter(needs).prepare()  # CycleError names the circle
