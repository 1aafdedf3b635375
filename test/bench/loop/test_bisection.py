"""The search brackets the level at which the outcome changes."""

import pytest

from benchmarks.loop.bisection import search


@pytest.mark.parametrize("truth", [0.3, 3.99, 4.0, 4.01, 7.7, 15.4])
def test_the_limit_is_bracketed_to_the_resolution(truth):
    limit = search(lambda level: level <= truth, 0.0, 16.0, 6)
    assert limit.held <= truth < limit.lost
    assert limit.lost - limit.held == pytest.approx(16.0 / 2**6)
    assert len(limit.tried) == 7
    assert all(survived == (level <= truth) for level, survived in limit.tried)


def test_an_end_that_is_survived_is_the_answer():
    limit = search(lambda level: True, 0.0, 16.0, 4)
    assert (limit.held, limit.lost, limit.tried) == (16.0, None, ((16.0, True),))


def test_where_nothing_is_survived_the_lower_end_remains():
    limit = search(lambda level: False, 0.5, 4.5, 3)
    assert (limit.held, limit.lost) == (0.5, 1.0)


def test_what_is_not_monotonic_still_ends_at_a_change():
    limit = search(lambda level: level < 3.0 or 9.0 < level < 13.0, 0.0, 16.0, 7)
    assert limit.lost is not None
    outcomes = dict(limit.tried)
    assert outcomes[limit.held] and not outcomes[limit.lost]
