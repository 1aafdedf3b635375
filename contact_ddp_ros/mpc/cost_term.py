r"""Cost terms of a user's own: a class with one expression, which is compiled with its exact derivatives.

A term adds to every time step of length h the cost h ½‖r(x, u, λ; p)‖², with λ the contact forces, zero for feet in the
air, and p numbers of its own for each node.

    class LevelTrunk(CostTerm):
        name = "level_trunk"

        def residual(self, knot):
            return 3.0 * knot.coordinate("base_pitch")

Given to a planner by `planner.cost_terms`, it is found by "module:Class" or "file.py:Class". docs/cost_terms.md shows
how, and how to check a term.
"""

from contact_ddp_ros.mpc.custom_term import UserTerm


class CostTerm(UserTerm):
    """A term ½‖r‖² of the running cost; r in sqrt(cost/s)."""

    kind = "cost term"
