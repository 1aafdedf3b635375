"""What is not public in rclpy is used in one place, which says so where a version lacks it."""

from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest
from rclpy.lifecycle import LifecycleNodeMixin
from ros_graph import NodeMaker

from contact_ddp_ros.base.errors import NodeError
from contact_ddp_ros.ros import frames_node, rclpy_internals
from contact_ddp_ros.ros.runtime import REFUSED

FOLDER = Path(rclpy_internals.__file__).parent
VERSION = metadata.version("rclpy")


def test_the_installed_rclpy_has_all_and_is_a_known_one() -> None:
    rclpy_internals.check()
    assert VERSION.startswith(tuple(f"{known}." for known in rclpy_internals.KNOWN)), "add it where the tests pass"


def test_what_is_missing_is_named_with_the_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(LifecycleNodeMixin, "_LifecycleNodeMixin__change_state")
    with pytest.raises(NodeError, match=rf"rclpy {VERSION} has no rclpy.lifecycle.*__change_state; .*rclpy 7\.1\.x"):
        rclpy_internals.check()


def test_a_node_refuses_in_one_line(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("rclpy.impl.implementation_singleton.rclpy_implementation", SimpleNamespace())
    assert frames_node.main([]) == REFUSED
    (line,) = capfd.readouterr().err.splitlines()
    assert "rclpy_implementation.WaitSet.wait" in line and f"rclpy {VERSION}" in line


def test_parameters_that_rclpy_keeps_elsewhere_are_not_passed_over(
    make_node: NodeMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = make_node("bare")
    monkeypatch.delattr(node, "_parameter_overrides")
    with pytest.raises(NodeError, match=r"has no Node\._parameter_overrides"):
        rclpy_internals.given_parameters(node)


@pytest.mark.parametrize(
    "private", ["rclpy_implementation", "_parameter_overrides", "_state_machine", "__change_state", "take_message"]
)
def test_nobody_else_uses_it(private: str) -> None:
    users = [file.name for file in FOLDER.glob("*.py") if private in file.read_text(encoding="utf-8")]
    assert users == ["rclpy_internals.py"]
