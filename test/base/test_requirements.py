"""Pins become ranges up to the next major release, and versions are looked up in these."""

import pytest

from contact_ddp_ros.base import requirements
from contact_ddp_ros.base.requirements import BASE, allowed, is_allowed, ranges


def test_pins_become_ranges() -> None:
    pins = "# a comment\nnumpy==2.4.6; python_version >= '3.11'\ndask[distributed]==2026.8.0  # many\npin==4.0.0\n\n"
    assert ranges(pins) == ["numpy>=2.4,<3; python_version >= '3.11'", "dask[distributed]>=2026.8,<2027", "pin==4.0.0"]


@pytest.mark.parametrize(
    ("versions", "inside", "outside"),
    [
        ("<3,>=2.4", ("2.4.6", "2.10", "2.5rc1"), ("2.3.9", "3.0.0")),
        ("==4.0.0", ("4.0.0",), ("4.1.0",)),
        ("[distributed]>=2026.8,<2027", ("2026.8.0",), ("2025.1",)),
        (' python_version < "3.11" and extra == "test"', ("3.10.2",), ("3.11.0",)),
        ("", ("1.2",), ()),
    ],
)
def test_versions_are_looked_up(versions: str, inside: tuple[str, ...], outside: tuple[str, ...]) -> None:
    assert all(is_allowed(one, versions) for one in inside) and not any(is_allowed(one, versions) for one in outside)


def test_requirements_are_those_of_the_checkout_or_of_what_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert allowed(BASE)["pin"] == "==4.0.0" and allowed("bench")["dask"].startswith("[distributed]>=")
    listed = ["numpy (<3,>=2.4)", "viser<2; extra == 'play'", 'old<2; python_version < "3.0" and extra == "play"']
    monkeypatch.setattr(requirements, "checkout", lambda: None)
    monkeypatch.setattr(requirements.metadata, "requires", lambda _: listed)
    assert (allowed(BASE), allowed("play")) == ({"numpy": "<3,>=2.4"}, {"viser": "<2"})
