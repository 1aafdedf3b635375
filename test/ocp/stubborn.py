"""Problems that lie about their derivatives, to see the solver give up in good order."""

from dataclasses import replace

import numba as nb

from contact_ddp_ros.ocp.protocol import FIRST, Problem
from test.ocp.pendulum import _first

CLIFF_NODE = 10
CLIFF_ANGLE = 0.3
"""Where :func:`cliff` has no way on [rad]."""


@nb.njit(FIRST, cache=True)
def _uphill(data, k, x, u, aux, d):
    """The pendulum's partials with the cost's slopes turned round."""
    _first(data, k, x, u, aux, d)
    for i in range(x.size):
        d[2][i] = -d[2][i]
    for i in range(u.size):
        d[3][i] = -d[3][i]


@nb.njit(FIRST, cache=True)
def _cliff(data, k, x, u, aux, d):
    """The pendulum's partials, but for an early control cost that turns hopelessly concave beyond an angle."""
    _first(data, k, x, u, aux, d)
    if k == CLIFF_NODE and abs(x[0]) > CLIFF_ANGLE:
        d[6][0, 0] = -1e12


def ascending(problem: Problem) -> Problem:
    """A pendulum whose gradient points the wrong way."""
    return replace(problem, first=_uphill)


def cliff(problem: Problem) -> Problem:
    """A pendulum that cannot be swept once it is beyond CLIFF_ANGLE at CLIFF_NODE."""
    return replace(problem, first=_cliff)
