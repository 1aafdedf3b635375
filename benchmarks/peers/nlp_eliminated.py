r"""A node of :mod:`benchmarks.peers.nlp_nodes` without ν: the dynamics solved for it, x⁺ = F(x, u).

A structured solver wants states and controls only. With r(z, ν) = A(z) ν + b(z) = 0 of the node's dynamics, z = (x, u),

    ν = −A⁻¹ b,    ν_z = −A⁻¹ r_z,    ξ = −A⁻ᵀ ∂L/∂ν

and the Hessian of the Lagrangian L(z, ν(z)) is [I ν_zᵀ] ∇²(L + ξᵀ r) [I; ν_z], which is the contraction that our own
solver makes: F is nowhere differentiated through the solution of the linear system.
"""

import casadi as cs

from benchmarks.peers.nlp_nodes import LEVELS, Node, NodeKind, NodeModel
from contact_ddp_ros.base.errors import SolverError
from contact_ddp_ros.mpc import layout as at


class EliminatedNode:
    """Symbols and functions of one kind of node whose only variables are its state and its controls.

    Attributes:
        w: (x, u). n_motion: 0. g: next state, heights, cones.
        lower, upper: bounds of the rows of g.
    """

    def __init__(self, model: NodeModel, kind: NodeKind) -> None:
        """Raises SolverError for a scheme whose dynamics are not linear in ν."""
        if model.scheme == at.IMPLICIT_MIDPOINT:
            raise SolverError("the implicit midpoint rule is not linear in the accelerations; choose another scheme")
        self._node = Node(model, kind)
        n_x = 2 * model.mechanism.n
        self.kind, self.n_motion = kind, 0
        n_s, n_g = self._node.n_motion, self._node.g.numel()
        n_w = self._node.w.numel() - n_s
        self.w, self._nu = self._node.w[:n_w], self._node.w[n_w:]
        dynamics = [row for row in range(n_g) if n_x <= row < n_x + n_s]
        kept = [row for row in range(n_g) if row not in dynamics]
        self._residual = self._node.g[dynamics]
        self.g, self.lower, self.upper = self._node.g[kept], self._node.lower[kept], self._node.upper[kept]

    def functions(self) -> dict[str, cs.Function]:
        """Functions of the node, see :meth:`benchmarks.peers.nlp_nodes.Node.functions`."""
        z, nu, r, p = self.w, self._nu, self._residual, self._node.p
        lam_f, lam_g = cs.SX.sym("lam_f"), cs.SX.sym("lam_g", self.g.numel())
        lagrangian = lam_f * self._node.cost + cs.dot(lam_g, self.g)
        both, n_z = cs.vertcat(z, nu), z.numel()
        matrix, xi = cs.jacobian(r, nu), cs.SX.sym("xi", nu.numel())
        inverse = _inverse(matrix)
        motion = -inverse @ cs.substitute(r, nu, cs.SX.zeros(nu.numel()))
        slope = -inverse @ cs.jacobian(r, z)
        chain = cs.vertcat(cs.SX.eye(n_z), slope)
        adjoint = -inverse.T @ cs.gradient(lagrangian, nu)
        curvature = cs.substitute(cs.hessian(lagrangian + cs.dot(xi, r), both)[0], xi, adjoint)
        outputs = {
            "cost": self._node.cost,
            "gradient": cs.densify(chain.T @ cs.gradient(self._node.cost, both)),
            "constraints": cs.densify(self.g),
            "jacobian": cs.jacobian(self.g, both) @ chain,
            "hessian": cs.triu(chain.T @ curvature @ chain),
        }
        functions = {}
        for level in LEVELS:
            if level in ("constraints", "jacobian") and not self.g.numel():
                continue
            arguments = [z, p] + ([lam_f, lam_g] if level == "hessian" else [])
            found = cs.substitute(outputs[level], nu, motion) if nu.numel() else outputs[level]
            functions[level] = cs.Function(f"{self.kind.symbol}_{level}", arguments, cs.cse([found]))
        return functions


def _inverse(matrix: cs.SX) -> cs.SX:
    """The inverse by elimination without pivoting: mass matrix first, so that no pivot vanishes."""
    n = matrix.shape[0]
    rows = [cs.densify(cs.horzcat(matrix, cs.SX.eye(n)))[i, :] for i in range(n)]
    for i in range(n):
        rows[i] = rows[i] / rows[i][i]
        rows = [row if k == i else row - row[i] * rows[i] for k, row in enumerate(rows)]
    return cs.vertcat(*rows)[:, n:] if n else cs.SX(0, 0)
