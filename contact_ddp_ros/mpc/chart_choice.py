"""In which chart of the attitude a planner works: the default one, but near its singularity."""

import numpy as np

from contact_ddp_ros.models.whole_body import WholeBodyModel
from contact_ddp_ros.mpc.problem_builder import ProblemBuilder
from contact_ddp_ros.policy import Policy
from contact_ddp_ros.robot.attitude import ANGLES, Chart, planning_chart
from contact_ddp_ros.robot.rotation import quaternion_to_matrix
from contact_ddp_ros.robot.state import RobotState

_REGULAR = np.cos(np.radians(85.0))
"""Least cosine of a knot's middle angle in the chart that a policy is taken to."""


class ChartChoice:
    """The builder for a state; those of both charts are kept once they were needed."""

    def __init__(self) -> None:
        self._others: dict[Chart, ProblemBuilder] = {}

    def builder(self, present: ProblemBuilder, state: RobotState) -> ProblemBuilder:
        """The problem builder in the chart for a finite state: the present one, or the same in the other chart."""
        model = present.model
        if not isinstance(model, WholeBodyModel):
            return present
        chart = planning_chart(quaternion_to_matrix(state.orientation), model.chart)
        if chart is model.chart:
            return present
        self._others[model.chart] = present
        known = self._others.get(chart)
        if known is None or known.sequence.gaits != present.sequence.gaits:
            known = present.in_chart(chart)
        return known if known.sequence == present.sequence else known.along(present.sequence)


def policy_in_chart(policy: Policy | None, chart: Chart) -> Policy | None:
    """A policy in a chart; none where a knot of it is near that chart's singularity."""
    if policy is None or policy.chart is chart:
        return policy
    for x in policy.states:
        if np.sqrt(1.0 - chart.sine(policy.chart.rotation(x[ANGLES])) ** 2) < _REGULAR:
            return None
    return policy.in_chart(chart)
