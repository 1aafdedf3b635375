"""Parameters of a real node: declared from the dataclass, changed as a whole or not at all."""

import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from rclpy.parameter import Parameter
from ros_graph import NodeMaker

from contact_ddp_ros.base.config import parameter
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.ros.parameters import NodeParameters


@dataclass(frozen=True)
class Inner:
    gain: float = parameter(2.0, low=0.0, high=10.0, unit="1/s", description="a gain")
    pose: tuple[float, float, float] = parameter((0.0, -0.8, 1.6), low=-3.0, high=3.0)


@dataclass(frozen=True)
class Outer:
    count: int = parameter(3, low=1, high=9)
    step: float = parameter(0.1, low=0.0, high=1.0, structural=True)
    kind: str = parameter("a", choices=("a", "b"))
    on: bool = parameter(False)
    inner: Inner = field(default_factory=Inner)


def overrides(**values: object) -> list[Parameter]:
    return [Parameter(name.replace("__", "."), value=value) for name, value in values.items()]


def test_every_field_is_declared_with_type_range_and_text(make_node: NodeMaker) -> None:
    node = make_node("declared")
    NodeParameters(node, Outer())
    assert node.get_parameter("inner.gain").value == 2.0
    assert list(node.get_parameter("inner.pose").value) == [0.0, -0.8, 1.6]
    gain = node.describe_parameter("inner.gain")
    assert gain.description == "a gain [1/s]"
    assert (gain.floating_point_range[0].from_value, gain.floating_point_range[0].to_value) == (0.0, 10.0)
    count = node.describe_parameter("count")
    assert (count.integer_range[0].from_value, count.integer_range[0].to_value) == (1, 9)
    assert "a, b" in node.describe_parameter("kind").additional_constraints


def test_given_values_are_taken_and_whole_numbers_serve_as_floats(make_node: NodeMaker) -> None:
    node = make_node("given", parameter_overrides=overrides(inner__gain=3, inner__pose=[0, -1, 2], kind="b"))
    config = NodeParameters(node, Outer()).config
    assert config == Outer(kind="b", inner=Inner(3.0, (0.0, -1.0, 2.0)))
    assert node.get_parameter("inner.gain").type_ is Parameter.Type.DOUBLE


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("inner__gain", 11.0, "inner.gain"),
        ("inner__gain", float("nan"), "inner.gain"),
        ("inner__gain", "high", "inner.gain"),
        ("count", 0, "count"),
        ("kind", "c", "allowed: a, b"),
        ("inner__pose", [0.0, 1.0], "allowed: 3 numbers"),
        ("inner__gian", 1.0, "unknown parameter inner.gian"),
    ],
)
def test_a_wrong_value_at_the_start_is_named(make_node: NodeMaker, name: str, value: object, words: str) -> None:
    node = make_node("wrong", parameter_overrides=overrides(**{name: value}))
    with pytest.raises(ParameterError, match=words):
        NodeParameters(node, Outer())


def test_a_set_is_applied_once_as_a_whole(make_node: NodeMaker) -> None:
    applied: list[Outer] = []
    node = make_node("whole")
    parameters = NodeParameters(node, Outer(), applied.append)
    result = node.set_parameters_atomically(overrides(inner__gain=4, count=5, on=True))
    assert result.successful, result.reason
    assert applied == [Outer(count=5, on=True, inner=Inner(gain=4.0))]
    assert parameters.config == applied[0]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"count": 5, "inner__gain": 10.5}, "gain"),
        ({"count": 5, "inner__pose": [0.0, 0.0, 9.0]}, "inner.pose"),
        ({"count": 5, "kind": "c"}, "kind"),
        ({"count": 5, "step": 0.2}, "step cannot change now; restart"),
        ({"count": 5, "on": 1}, "on"),
    ],
)
def test_a_set_with_one_wrong_value_changes_nothing(
    make_node: NodeMaker, values: dict[str, object], words: str
) -> None:
    applied: list[Outer] = []
    node = make_node("refused")
    parameters = NodeParameters(node, Outer(), applied.append)
    result = node.set_parameters_atomically(overrides(**values))
    assert not result.successful
    assert words in result.reason
    assert applied == []
    assert parameters.config == Outer()
    assert node.get_parameter("count").value == 3


def test_what_takes_over_may_refuse(make_node: NodeMaker) -> None:
    def refuse(_config: Outer) -> None:
        raise ParameterError("not now")

    node = make_node("busy")
    parameters = NodeParameters(node, Outer(), refuse)
    result = node.set_parameters_atomically(overrides(count=5))
    assert (result.successful, result.reason) == (False, "not now")
    assert parameters.config == Outer()


def test_a_structural_value_may_be_set_to_what_it_is(make_node: NodeMaker) -> None:
    node = make_node("same")
    NodeParameters(node, Outer())
    assert node.set_parameters_atomically(overrides(step=0.1, count=4)).successful


def test_what_shapes_the_object_changes_only_while_it_may_be_built_anew(make_node: NodeMaker) -> None:
    applied: list[Outer] = []
    remedy = "deactivate the node first"
    node = make_node("shaped")
    parameters = NodeParameters(node, Outer(), applied.append, fixed=lambda: remedy)
    result = node.set_parameters_atomically(overrides(step=0.2, count=4))
    assert (result.successful, result.reason) == (False, "step cannot change now; deactivate the node first")
    remedy = ""
    assert node.set_parameters_atomically(overrides(step=0.2, count=4)).successful
    assert parameters.config == Outer(step=0.2, count=4)
    assert parameters.outdated == ["step"]
    assert node.set_parameters_atomically(overrides(count=5)).successful
    assert applied == [], "the object is of another shape and will be built anew"
    parameters.connect(applied.append)
    assert parameters.outdated == []
    assert node.set_parameters_atomically(overrides(count=6)).successful
    assert applied == [Outer(step=0.2, count=6)]


def test_a_value_that_is_not_allowed_is_told_with_its_name_its_range_and_its_file(
    make_node: NodeMaker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    weak, strong, other = (tmp_path / name for name in ("weak.yaml", "strong.yaml", "other.yaml"))
    weak.write_text("/**: {ros__parameters: {inner.gain: 20.0}}")
    strong.write_text("left: {wrong: {ros__parameters: {inner: {gain: 20.0}}}}")
    other.write_text("else: {ros__parameters: {inner: {gain: 20.0}}}")
    files = [word for file in (weak, strong, other) for word in ("--params-file", str(file))]
    monkeypatch.setattr(sys, "argv", ["node", "--ros-args", *files])
    node = make_node("wrong", namespace="left", parameter_overrides=overrides(inner__gain=20.0))
    with pytest.raises(ParameterError) as caught:
        NodeParameters(node, Outer())
    assert str(caught.value) == f"parameter inner.gain is 20.0; allowed: 0 to 10 1/s; set in {strong}"


@pytest.mark.parametrize("value", ["much", True, [1.0, 2.0]])
def test_a_value_of_a_wrong_type_is_told_with_its_name(make_node: NodeMaker, value: object) -> None:
    node = make_node("mistaken", parameter_overrides=overrides(inner__gain=value))
    with pytest.raises(ParameterError, match=r"inner\.gain"):
        NodeParameters(node, Outer())
