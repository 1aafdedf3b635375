"""Choice of the attitude's Euler convention (chart): the default one, another near its singularity."""

import logging
import threading
from concurrent.futures import Future

import numpy as np

from contact_ddp_ros.base.errors import ContactDdpError
from contact_ddp_ros.mpc.problem_builder import ProblemBuilder
from contact_ddp_ros.robot.attitude import ANGLES, Chart, planning_chart
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel
from contact_ddp_ros.robot.policy import Policy
from contact_ddp_ros.robot.rotation import quaternion_to_matrix
from contact_ddp_ros.robot.state import RobotState

_LOG = logging.getLogger(__name__)

_REGULAR = np.cos(np.radians(85.0))
"""Least cosine of a knot's middle angle in the chart that a policy is taken to."""


class ChartChoice:
    """The builder for a state; those of both charts are kept once they were needed."""

    def __init__(self) -> None:
        self._others: dict[Chart, ProblemBuilder] = {}
        self._coming: Future[ProblemBuilder] | None = None
        self._refused = False
        """True if there can be no other chart, as a user's term knows one only."""

    def builder(self, present: ProblemBuilder, state: RobotState, *, wait: bool) -> ProblemBuilder:
        """The problem builder in the chart for a finite state: the present one, or the same in the other chart.

        The kernels of the other chart are loaded, or compiled, where they are needed first. Who does not `wait` for
        that has the present builder until they are there; so has everyone where there can be no other one, which the
        log says once.
        """
        model = present.model
        if not isinstance(model, WholeBodyModel):
            return present
        chart = planning_chart(quaternion_to_matrix(state.orientation), model.chart)
        if chart is model.chart or self._refused:
            return present
        self._others[model.chart] = present
        known = self._others.get(chart)
        if known is None or known.sequence.gaits != present.sequence.gaits:
            known = self._made(present, chart, wait)
            if known is None:
                return present
        return known if known.sequence == present.sequence else known.along(present.sequence)

    def _made(self, present: ProblemBuilder, chart: Chart, wait: bool) -> ProblemBuilder | None:
        """The builder in a chart, by a thread of its own; None until that has ended where nobody waits."""
        if self._coming is None:
            self._coming = Future()
            threading.Thread(target=_make, args=(present, chart, self._coming), daemon=True).start()
        if not (wait or self._coming.done()):
            return None
        coming, self._coming = self._coming, None
        try:
            found = coming.result()
        except ContactDdpError as error:
            self._refused = True
            _LOG.warning("plans stay in the chart %s of the attitude: %s", present.model.chart.name.lower(), error)
            return None
        self._others[found.model.chart] = found
        return found if found.sequence.gaits == present.sequence.gaits else None


def _make(present: ProblemBuilder, chart: Chart, coming: "Future[ProblemBuilder]") -> None:
    try:
        coming.set_result(present.in_chart(chart))
    except Exception as error:  # noqa: BLE001 (raised where the result is asked for)
        coming.set_exception(error)


def policy_in_chart(policy: Policy | None, chart: Chart) -> Policy | None:
    """A policy in a chart; none where a knot of it is near that chart's singularity."""
    if policy is None or policy.chart is chart:
        return policy
    for x in policy.states:
        if np.sqrt(1.0 - chart.sine(policy.chart.rotation(x[ANGLES])) ** 2) < _REGULAR:
            return None
    return policy.in_chart(chart)
