"""Direct calls of the solver's loops on a control tape, without the solver around them."""

import numpy as np

from contact_ddp_ros.ocp import defects as gaps
from contact_ddp_ros.ocp import rollout as sweeps
from contact_ddp_ros.ocp.backward import backward_of
from contact_ddp_ros.ocp.node_function import node_function
from contact_ddp_ros.ocp.protocol import FIRST, SECOND, STEP, node_data

NO_SLACKS = np.zeros((0, 1))


def data_of(problem, multipliers=None, penalty=(1.0, 0.1, 0.0)):
    """The tuple that a problem's functions read."""
    return node_data(problem, multipliers, penalty)


class Sweep:
    """A control tape rolled out from x0 and expanded, ready for backward sweeps."""

    def __init__(self, problem, x0, us, **data):
        n, n_x, n_u = problem.n_nodes, problem.n_x, problem.n_u
        self.problem, self.data = problem, data_of(problem, **data)
        self.xs, self.us = np.zeros((n + 1, n_x)), np.zeros((n, n_u))
        self.aux, self.residuals = np.zeros((n + 1, problem.n_aux)), np.zeros((n + 1, problem.n_residuals))
        self.gaps = np.zeros((0, n_x))
        self.ks, self.gains = np.zeros((n, n_u)), np.zeros((n, n_u, n_x))
        self.vx, self.vxx = np.zeros((n + 1, n_x)), np.zeros((n + 1, n_x, n_x))
        self.xs[0] = x0
        self.cost = self._rollout(np.zeros((n + 1, n_x)), us, self.xs, self.us)
        self.expansion = (
            np.zeros((n + 1, n_x, n_x)),
            np.zeros((n + 1, n_x, n_u)),
            np.zeros((n + 1, n_x)),
            np.zeros((n + 1, n_u)),
            np.zeros((n + 1, n_x, n_x)),
            np.zeros((n + 1, n_u, n_x)),
            np.zeros((n + 1, n_u, n_u)),
        )
        self._expand()

    def move(self, node, change):
        """Move the state of a node after the first, which opens gaps there and on its other side."""
        self.xs[node] += change
        self.gaps = np.zeros((len(self.us), self.xs.shape[1]))
        step = node_function(self.problem.step, STEP)
        self.cost = gaps.evaluate(
            step, self.data, sweeps.STATE_BOUND, self.xs, self.us, self.aux, self.residuals, self.gaps
        )
        self._expand()

    def step(self, alpha):
        """(cost, xs, us) of a step along the last sweep."""
        xs, us = self.xs.copy(), self.us.copy()
        aux, residuals = self.aux.copy(), self.residuals.copy()
        cost, _ = sweeps.rollout(
            node_function(self.problem.step, STEP),
            self.data,
            self.problem.has_control,
            *(self.xs, self.us, self.ks, self.gains, alpha, self.gaps, NO_SLACKS, -np.inf, 0, sweeps.STATE_BOUND),
            *(xs, us, aux, residuals),
        )
        return cost, xs, us

    def _expand(self):
        first = node_function(self.problem.first, FIRST)
        sweeps.expand(first, self.data, self.xs, self.us, self.aux, self.expansion)

    def backward(self, theta, rho):
        """(failed node or −1, linear, quadratic, largest |Qu|) of a sweep."""
        nominal = (self.xs, self.us, self.aux, self.expansion)
        return backward_of(self.problem.n_x, self.problem.n_u, self.problem.halves.size > 0)(
            node_function(self.problem.second, SECOND),
            self.data,
            self.problem.has_control,
            self.problem.halves,
            *nominal,
            self.gaps,
            theta,
            rho,
            self.ks,
            self.gains,
            self.vx,
            self.vxx,
        )

    def _rollout(self, xs, us, new_xs, new_us):
        return sweeps.rollout(
            node_function(self.problem.step, STEP),
            self.data,
            self.problem.has_control,
            xs,
            us,
            self.ks,
            self.gains,
            0.0,
            self.gaps,
            NO_SLACKS,
            -np.inf,
            0,
            sweeps.STATE_BOUND,
            new_xs,
            new_us,
            self.aux,
            self.residuals,
        )[0]


def cost_of(problem, x0, us, **data):
    """Cost of a control tape from x0, open loop."""
    problem_data = data_of(problem, **data)
    n, n_x, n_u = problem.n_nodes, problem.n_x, problem.n_u
    xs = np.zeros((n + 1, n_x))
    xs[0] = x0
    return sweeps.rollout(
        node_function(problem.step, STEP),
        problem_data,
        problem.has_control,
        np.zeros((n + 1, n_x)),
        np.ascontiguousarray(us),
        np.zeros((n, n_u)),
        np.zeros((n, n_u, n_x)),
        0.0,
        np.zeros((0, n_x)),
        NO_SLACKS,
        -np.inf,
        0,
        sweeps.STATE_BOUND,
        xs,
        np.zeros((n, n_u)),
        np.zeros((n + 1, problem.n_aux)),
        np.zeros((n + 1, problem.n_residuals)),
    )[0]
