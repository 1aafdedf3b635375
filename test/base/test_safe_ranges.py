"""The file of safe ranges is read as it was written, and the one of the package fits the parameters there are."""

from pathlib import Path

import pytest

from contact_ddp_ros.base.config import check, specs
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.base.safe_ranges import FILE_NAME, SafeRange, read, shown, write
from contact_ddp_ros.control.config import ControllerConfig
from contact_ddp_ros.mpc.config import PlannerConfig

PACKAGED = Path(__file__).parents[2] / "config" / FILE_NAME
TUNABLE = {
    f"{section}.{name}": spec
    for section, config in (("planner", PlannerConfig()), ("controller", ControllerConfig()))
    for name, spec in specs(config).items()
    if not spec.structural and (spec.choices or not isinstance(spec.default, str))
}


def test_the_packaged_file_names_exactly_the_parameters_that_may_change_while_active() -> None:
    assert list(read(PACKAGED)) == list(TUNABLE), "make it anew: contact-ddp bench parameters, then copy it to config/"


def test_what_is_said_to_hold_is_allowed_and_holds_the_default() -> None:
    for name, one in read(PACKAGED).items():
        if one is None:
            continue
        spec = TUNABLE[name]
        for value in one.held:
            check(spec, value)
        if isinstance(spec.default, bool | str):
            assert spec.default in one.held, name
        else:
            low, default, high = (
                value if isinstance(value, tuple | list) else [value]
                for value in (one.held[0], spec.default, one.held[1])
            )
            assert all(a <= b <= c for a, b, c in zip(low, default, high, strict=True)), name


def test_a_file_is_read_as_it_was_written(tmp_path) -> None:
    ranges = {
        "number": SafeRange([1e-6, 2.0], {"high": "falls: tilt at 3"}),
        "several": SafeRange([[0.0, 1.0], [2.0, 3.0]], {}),
        "switch": SafeRange([True, False], {}),
        "missing": None,
    }
    write(tmp_path / "ranges.yaml", ranges, "each held for long.")
    assert read(tmp_path / "ranges.yaml") == ranges
    assert (tmp_path / "ranges.yaml").read_text().splitlines()[0].endswith("each held for long.")


@pytest.mark.parametrize("text", ["[1, 2]", "name: {held: [1]}", "name: 3", "{"])
def test_what_is_no_such_file_is_refused(tmp_path, text: str) -> None:
    (tmp_path / "ranges.yaml").write_text(text)
    with pytest.raises(ParameterError):
        read(tmp_path / "ranges.yaml")


def test_values_are_shown_for_people() -> None:
    assert [shown(value) for value in (True, 0.5, 3, "now", (0.0, 1.5))] == ["true", "0.5", "3", "now", "[0, 1.5]"]
