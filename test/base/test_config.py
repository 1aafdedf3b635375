"""Parameters declared as dataclass fields: checks, changes and files."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contact_ddp_ros.base.config import flatten, parameter, replace, specs, validate
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.base.parameter_file import load_yaml


@dataclass(frozen=True)
class Inner:
    gain: float = parameter(2.0, low=0.0, high=10.0, unit="1/s", description="a gain")
    pose: tuple[float, float, float] = parameter((0.0, -0.8, 1.6), low=-3.0, high=3.0)


@dataclass(frozen=True)
class Outer:
    count: int = parameter(3, low=1, high=9, structural=True)
    kind: str = parameter("a", choices=("a", "b"))
    on: bool = parameter(False)
    free: float = parameter(0.0)
    inner: Inner = field(default_factory=Inner)


def test_names_are_dotted_and_carry_what_the_field_says() -> None:
    table = specs(Outer())
    assert list(table) == ["count", "kind", "on", "free", "inner.gain", "inner.pose"]
    assert table["inner.gain"].unit == "1/s"
    assert table["inner.gain"].high == 10.0
    assert table["count"].structural
    assert not table["on"].structural


@given(st.floats(0.0, 10.0), st.integers(1, 9), st.booleans(), st.sampled_from("ab"))
def test_replace_changes_what_it_names_and_nothing_else(gain: float, count: int, on: bool, kind: str) -> None:
    changed = replace(Outer(), {"inner.gain": gain, "count": count, "on": on, "kind": kind})
    assert flatten(changed) == {**flatten(Outer()), "inner.gain": gain, "count": count, "on": on, "kind": kind}
    validate(changed)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("inner.gain", 10.1, "allowed: 0 to 10 1/s"),
        ("inner.gain", float("nan"), "allowed"),
        ("inner.gain", "2", "allowed: a number"),
        ("inner.gain", True, "allowed: a number"),
        ("free", float("inf"), "allowed"),
        ("free", float("nan"), "allowed"),
        ("count", 2.0, "allowed: a whole number"),
        ("count", True, "allowed: a whole number"),
        ("count", 0, "allowed: 1 to 9"),
        ("on", 1, "allowed: true or false"),
        ("kind", "c", "allowed: a, b"),
        ("inner.pose", [0.0, 1.0], "allowed: 3 numbers"),
        ("inner.pose", [0.0, 1.0, 4.0], "allowed: -3 to 3"),
        ("inner.pose", "abc", "allowed: 3 numbers"),
        ("inner", 1.0, "unknown parameter inner"),
        ("inner.gian", 1.0, "unknown parameter inner.gian"),
    ],
)
def test_what_is_not_allowed_is_named(name: str, value: object, reason: str) -> None:
    with pytest.raises(ParameterError, match=name) as caught:
        replace(Outer(), {name: value})
    assert reason in str(caught.value)


def test_whole_numbers_serve_as_floats() -> None:
    changed = replace(Outer(), {"inner.gain": 3, "inner.pose": [0, -1, 2]})
    assert changed.inner == Inner(3.0, (0.0, -1.0, 2.0))
    assert isinstance(changed.inner.gain, float)


def test_validate_finds_a_value_set_past_the_checks() -> None:
    with pytest.raises(ParameterError, match=r"inner\.gain"):
        validate(Outer(inner=Inner(gain=-1.0)))
    with pytest.raises(ParameterError, match=r"inner\.pose"):
        validate(Outer(inner=Inner(pose=(0.0, 0.0))))  # type: ignore[arg-type]


def test_nested_and_dotted_mappings_mean_the_same() -> None:
    assert replace(Outer(), {"inner": {"gain": 1.0}}) == replace(Outer(), {"inner.gain": 1.0})


def test_a_file_serves_node_and_command_line(tmp_path: Path) -> None:
    file = tmp_path / "parameters.yaml"
    file.write_text(
        "/**:\n  ros__parameters:\n    use_sim_time: true\n    free: 1.0\n"
        "mine:\n  ros__parameters:\n    free: 2.0\n    node: {lockstep: true}\n    inner: {gain: 4}\n"
        "other:\n  ros__parameters: {count: 5}\n"
    )
    values = load_yaml(file, "mine")
    assert values == {"free": 2.0, "inner.gain": 4}
    assert replace(Outer(), values).inner.gain == 4.0


@pytest.mark.parametrize("text", ["- 1\n", "mine: {a: 1}\n", "mine: [", "\x00"])
def test_a_file_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "parameters.yaml"
    file.write_text(text)
    with pytest.raises(ParameterError, match=r"parameters\.yaml"):
        load_yaml(file, "mine")


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="cannot read"):
        load_yaml(tmp_path / "none.yaml", "mine")
