"""Limits that a plan violates, by kind."""

import numpy as np
import pytest

from contact_ddp_ros.base.choices import PENALTIES
from test.mpc.support import TICK, Watched, follow, planner_with, start_state


def test_the_worst_of_each_kind_is_told_with_its_node():
    planner = planner_with(constraint__method=PENALTIES, constraint__torque_share=0.5)
    watched = Watched(planner)
    result = follow(planner, start_state(planner), np.arange(0.0, 0.2, TICK), 0.5)[-1]
    found = result.violations()
    assert max(one.amount for one in found.values()) == pytest.approx(result.inequality_violation, rel=1e-12)
    assert set(found) <= {"lower torque limit", "upper torque limit", "normal force", "friction"}
    limits = 0.5 * 2.0 * np.array([17.0, 26.0, 17.0, 26.0])
    torques = watched.solutions[-1].us / limits
    for kind, sign in (("lower torque limit", -1.0), ("upper torque limit", 1.0)):
        excess = float((sign * torques).max()) - 1.0
        if excess > 0.0:
            assert found[kind].amount == pytest.approx(excess, rel=1e-9)
            assert found[kind].node == np.argmax((sign * torques).max(axis=1))
        else:
            assert kind not in found
    assert {kind for kind in found if "torque" in kind}, "so little torque does not suffice"


def test_a_plan_within_all_limits_has_none():
    planner = planner_with()
    watched = Watched(planner)
    result = follow(planner, start_state(planner), np.arange(0.0, 5 * TICK, TICK), 0.5)[-1]
    assert watched.solutions[-1].inequality_violation <= 0.0
    assert not result.violations()
