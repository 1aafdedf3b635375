"""The cost by term adds up to the cost that was minimised, and each weight moves its own term only."""

import numpy as np
import pytest

from contact_ddp_ros.base.choices import PENALTIES
from contact_ddp_ros.mpc.cost_terms import TERMS
from test.mpc.support import follow, planner_with, start_state


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "implicit_midpoint"])
def test_terms_add_up_to_the_cost(integrator: str) -> None:
    planner = planner_with(gait__integrator=integrator)
    for result in follow(planner, start_state(planner), np.arange(0.0, 0.4, 0.013), 0.5):
        terms = result.cost_terms()
        assert terms.shape == (len(TERMS),)
        assert terms.sum() == pytest.approx(result.cost, rel=1e-9)
        assert (terms[: TERMS.index("torque_barrier")] >= 0.0).all()


@pytest.mark.parametrize(
    ("weight", "term"),
    [
        ("weight__force", "contact_force"),
        ("weight__foot_height", "foot_height"),
        ("constraint__barrier_weight", "friction_barrier"),
        ("constraint__barrier_weight", "torque_barrier"),
    ],
)
def test_a_term_without_its_weight_is_zero(weight: str, term: str) -> None:
    planner = planner_with(**{weight: 0.0, "constraint__method": PENALTIES})
    result = follow(planner, start_state(planner), np.array([0.0]), 0.5)[0]
    terms = dict(zip(TERMS, result.cost_terms(), strict=True))
    assert terms[term] == pytest.approx(0.0, abs=1e-12)
    assert sum(terms.values()) == pytest.approx(result.cost, rel=1e-9)
