"""Pushes and instants as parameters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.plants.pushes import (
    Push,
    PushSchedule,
    format_instants,
    format_pushes,
    parse_instants,
    parse_pushes,
)

MOMENTS = st.sampled_from([(0.0, 0.0, 0.0), (1.5, -1e-7, 0.0)])
PUSHES = st.builds(Push, st.floats(0.0, 60.0), st.just((0.1, -40.0, 1e-7)), st.floats(0.001, 2.0), MOMENTS)


@given(st.lists(PUSHES, max_size=3))
def test_pushes_survive_as_a_parameter(pushes: list[Push]) -> None:
    assert parse_pushes(format_pushes(pushes)) == pushes
    schedule = PushSchedule(parse_pushes(format_pushes(pushes)))
    given_out = [push for time in range(62) for push in schedule.due(float(time))]
    assert given_out == sorted(pushes, key=lambda push: push.time)


@pytest.mark.parametrize("text", ["1,2,3", "a,b,c,d,e", "1,nan,0,0,0.1", "1,0,0,0,-1"])
def test_pushes_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(ParameterError):
        parse_pushes(text)


def test_instants_survive_as_a_parameter_and_are_sorted() -> None:
    assert parse_instants(format_instants([3.0, 1e-7, 2])) == [1e-7, 2.0, 3.0]
    assert parse_instants("") == []
    for text in ("now", "-1", "nan"):
        with pytest.raises(ParameterError):
            parse_instants(text)
