"""The public face: what it offers is there, loaded when asked for, and known to type checkers."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import contact_ddp_ros

ROOT = Path(__file__).parents[2]
SOURCE = (ROOT / "contact_ddp_ros" / "__init__.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", contact_ddp_ros.__all__)
def test_every_public_name_is_there_and_documented(name: str) -> None:
    found = getattr(contact_ddp_ros, name)
    assert found.__doc__
    assert name in dir(contact_ddp_ros)


def test_a_name_is_looked_up_once() -> None:
    assert contact_ddp_ros.Guess is contact_ddp_ros.Guess
    assert "Guess" in vars(contact_ddp_ros)


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Gues'"):
        _ = contact_ddp_ros.Gues  # type: ignore[attr-defined]


def test_type_checkers_see_the_same_names() -> None:
    (block,) = (
        node for node in ast.parse(SOURCE).body if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
    )
    seen = {}
    for node in block.body:
        assert isinstance(node, ast.ImportFrom)
        seen |= {alias.asname or alias.name: (node.module, alias.name) for alias in node.names}
    assert sorted(seen) == sorted(contact_ddp_ros.__all__)
    for name, (module, original) in seen.items():
        __import__(module or "")
        assert getattr(sys.modules[module or ""], original) is getattr(contact_ddp_ros, name)


def test_importing_the_package_imports_nothing_else() -> None:
    code = (
        "import sys; before = set(sys.modules); import contact_ddp_ros; dir(contact_ddp_ros)\n"
        "new = {name.split('.')[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names)\n"
        "sys.exit(0 if new == {'contact_ddp_ros'} else str(new))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_solver_alone_needs_neither_casadi_nor_the_simulator() -> None:
    code = (
        "import sys; from contact_ddp_ros import DdpSolver, Problem, check_derivatives\n"
        "sys.exit(str({'casadi', 'mujoco', 'pinocchio'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stderr.strip() == "set()"


def test_the_version_can_be_read_without_importing() -> None:
    """As setup.py does."""
    found: dict = {}
    exec(SOURCE, found)
    assert found["__version__"] == contact_ddp_ros.__version__
