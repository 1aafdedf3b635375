r"""Inequality constraints of a user's own: a class with one expression that is to stay positive.

A constraint r(x, u, λ; p) ≥ 0 adds to every time step of length h the relaxed barriers h ε Σ_i B_δ(r_i), with the
planner's width δ and weight ε (`planner.constraint.barrier_width` and `.barrier_weight`), as its limits of torques and
contact forces do. So r should be relative to what is allowed: 1 far from the limit, 0 at it.

    class KneeLimit(Constraint):
        name = "knee_limit"

        def residual(self, knot):
            return 1.0 - knot.coordinate("front_knee") / 2.4

Given to a planner by `planner.constraints`; docs/cost_terms.md shows how, and how to check a constraint.
"""

from contact_ddp_ros.mpc.custom_term import UserTerm


class Constraint(UserTerm):
    """A constraint r ≥ 0 of every time step; r dimensionless, relative to what is allowed."""

    kind = "constraint"
