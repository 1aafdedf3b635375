"""Constraints of one's own: relaxed barriers right to second order, reported where violated, beside cost terms."""

from dataclasses import replace

import casadi as cs
import numpy as np
import pytest

from contact_ddp_ros.base.choices import PENALTIES
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.mpc.cost_terms import TERMS, check_constraint
from contact_ddp_ros.mpc.custom_term import Constraint, CostTerm, load_terms
from contact_ddp_ros.mpc.custom_terms import OwnTerms, configured_terms
from contact_ddp_ros.mpc.reference import TrunkCommand
from contact_ddp_ros.ocp.multipliers import inequality, relaxed_barrier
from contact_ddp_ros.robot.models.planar import AXES
from test.mpc.support import MODEL, TREE, config_with, planner_with, start_state

HERE = "test.mpc.test_constraint"
DELTA, EPSILON = 0.05, 0.3


class Entangled(Constraint):
    """Everything that a constraint may depend on, curved, with a number of its own, at both branches of the barrier."""

    name = "entangled"
    parameters = ("limit",)

    def residual(self, knot):
        force, foot = knot.forces["front_foot"], knot.feet["back_foot"]
        return cs.vertcat(
            1.0 - (knot.coordinate("base_pitch") / knot.parameters["limit"]) ** 2,
            0.5 - cs.sin(knot.rate("front_hip")) * foot[1] - 1e-5 * force[0] * force[1],
            0.2 + 1e-2 * knot.u[1] * foot[0],
        )

    def values(self, horizon):
        return 0.05 + horizon.times[:, None]


class Level(Constraint):
    name = "level"

    def residual(self, knot):
        share = knot.coordinate("base_pitch") / 0.05
        return cs.vertcat(1.0 - share, 1.0 + share)


class Pitch(CostTerm):
    name = "pitch"

    def residual(self, knot):
        return 2.0 * knot.coordinate("base_pitch")


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "implicit_midpoint"])
def test_derivatives_are_exact_also_through_contact_forces(integrator):
    report = check_constraint(Entangled(), config_with(gait__integrator=integrator), model=MODEL)
    assert report.ok, str(report)


@pytest.mark.parametrize("pitch", [-0.06, -0.049, 0.0, 0.02, 0.0476, 0.0499, 0.3])
def test_value_slope_bend_and_violation_are_the_barriers(pitch):
    """On either side of the barrier's relaxation, beside a cost term."""
    terms = OwnTerms(TREE, AXES, (Pitch(), Level()))
    x = np.zeros(2 * TREE.n)
    x[2] = pitch
    penalty = np.array([1.0, DELTA, EPSILON])
    point = [x, np.zeros(4), np.zeros(4), np.zeros(0), np.append(penalty, 0.0), np.ones((2, 2))]
    value, violation, limits = terms.kernels.python("terms")(*point)
    gradient, hessian = terms.kernels.python("terms_first")(*point)
    (rest,) = terms.kernels.python("terms_second")(*point)
    sides = [relaxed_barrier(1.0 + sign * pitch / 0.05, DELTA) for sign in (-1.0, 1.0)]
    assert value.item() == pytest.approx(2.0 * pitch**2 + EPSILON * sum(side[0] for side in sides))
    slope = 4.0 * pitch + EPSILON * (sides[1][1] - sides[0][1]) / 0.05
    assert gradient[2].item() == pytest.approx(slope)
    assert hessian[2, 2] == pytest.approx(4.0 + EPSILON * sum(side[2] for side in sides) / 0.05**2)
    assert np.count_nonzero(hessian) == 1 and not rest.any()
    assert violation.item() == pytest.approx(max(abs(pitch) / 0.05 - 1.0, 0.0))
    assert limits.ravel() == pytest.approx([1.0 - pitch / 0.05, 1.0 + pitch / 0.05])
    assert terms.inequality_names == ("constraint 'level'", "constraint 'level'")
    by_name = terms.costs(x[None], np.zeros((1, 4)), np.zeros((1, 4)), np.zeros((1, 0)), penalty)
    assert by_name.sum() == pytest.approx(value.item()) and by_name[0].item() == pytest.approx(2.0 * pitch**2)


def test_with_a_barrier_parameter_it_is_the_interior_points():
    terms = OwnTerms(TREE, AXES, (Level(),))
    x = np.zeros(2 * TREE.n)
    x[2] = 0.02
    penalty, duals = np.array([1.0, DELTA, EPSILON, 0.3]), np.array([[0.5, 1.5], [2.0, 0.1]])
    point = [x, np.zeros(4), np.zeros(4), np.zeros(0), penalty, duals]
    value, _, limits = terms.kernels.python("terms")(*point)
    gradient, hessian = terms.kernels.python("terms_first")(*point)
    sides = [inequality(z, duals[:, i].copy(), 0, penalty) for i, z in enumerate(limits.ravel())]
    assert value.item() == pytest.approx(sum(side[0] for side in sides))
    assert gradient[2].item() == pytest.approx((sides[1][1] - sides[0][1]) / 0.05)
    assert hessian[2, 2] == pytest.approx(sum(side[2] for side in sides) / 0.05**2)


def test_a_constraint_acts_and_is_recorded_under_its_name():
    results = []
    for text in ("", f"{HERE}:Level"):
        planner = planner_with(first_iterations=60, constraints=text, constraint__method=PENALTIES)
        results.append(planner.plan_coordinates(start_state(planner), 0.0, TrunkCommand(0.5)))
    largest = [np.abs(result.policy.states[:, 2]).max() for result in results]
    assert largest[0] > 0.1 and largest[1] < 0.06
    parts = results[1].cost_terms()
    assert len(parts) == len(TERMS) + 1 and parts[-1] > 0.0
    assert parts.sum() == pytest.approx(results[1].cost, rel=1e-9)


def test_a_violated_constraint_shows_in_the_result():
    planner = planner_with(first_iterations=5, constraints=f"{HERE}:Level")
    x = start_state(planner)
    x[2] = 0.1
    assert planner.plan_coordinates(x, 0.0, TrunkCommand(0.5)).inequality_violation >= 1.0


def test_a_cost_term_is_no_constraint_and_the_other_way_round():
    with pytest.raises(ParameterError, match="needed: a class derived from Constraint"):
        load_terms(f"{HERE}:Pitch", Constraint)
    with pytest.raises(ParameterError, match=r"cost term .*needed: a class derived from CostTerm"):
        load_terms(f"{HERE}:Level", CostTerm)


def test_cost_terms_come_before_constraints():
    config = replace(config_with(), constraints=f"{HERE}:Level", cost_terms=f"{HERE}:Pitch")
    assert [term.name for term in configured_terms(config)] == ["pitch", "level"]
    planner = planner_with()
    with pytest.raises(ParameterError, match="constraints and cost terms are fixed"):
        planner.configure(config)
