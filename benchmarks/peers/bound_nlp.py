r"""The bounding problem as a sparse nonlinear programme in CasADi: direct multiple shooting with exact derivatives.

Same nodes, costs, discretisation and numbers as our solver's, read from the arrays that it reads; two statements of
the limits (:mod:`benchmarks.peers.nlp_nodes`):

* "penalised": relaxed barriers and augmented Lagrangian in the cost: the very problem of one of our solves;
* "constrained": torque limits as bounds of the variables, friction cones as inequalities, the height at touchdown as an
  equality: the problem that :mod:`contact_ddp_ros.ocp.continuation` solves by tightening penalties.

The functions of one node are mapped over all nodes of its kind, and their results permuted into the matrices of the
whole horizon. So nothing but a node is ever differentiated or compiled, whatever the length of the horizon.

A node of :mod:`benchmarks.peers.nlp_nodes` without ν: the dynamics solved for it, x⁺ = F(x, u).

A structured solver wants states and controls only. With r(z, ν) = A(z) ν + b(z) = 0 of the node's dynamics, z = (x, u),

    ν = −A⁻¹ b,    ν_z = −A⁻¹ r_z,    ξ = −A⁻ᵀ ∂L/∂ν

and the Hessian of the Lagrangian L(z, ν(z)) is [I ν_zᵀ] ∇²(L + ξᵀ r) [I; ν_z], which is the contraction that our own
solver makes: F is nowhere differentiated through the solution of the linear system.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi as cs
import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.nlp_nodes import LEVELS, Node, NodeKind, NodeModel, node_functions
from benchmarks.solver.case import Case
from contact_ddp_ros.base.errors import SolverError
from contact_ddp_ros.dynamics.mechanism import prepare
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


Array = NDArray[np.float64]
Indices = NDArray[np.int64]

STATEMENTS = ("penalised", "constrained")
"""As in the module's text."""


@dataclass(frozen=True)
class _Group:
    """Nodes of one kind: their functions over all of them at once, and where their variables and rows are.

    Attributes:
        functions: by level, mapped over the nodes. sparsity: of one node's Jacobian and Hessian.
        nodes: (m,) indices. variables: (m, n_w) indices. rows: (m, n_g) indices.
    """

    functions: Mapping[str, cs.Function]
    sparsity: Mapping[str, cs.Sparsity]
    nodes: Indices
    variables: Indices
    rows: Indices


class BoundNlp:
    """The programme of one :class:`Case`; cases that differ from it in numbers only are parameters of the same one.

    Attributes:
        variables, rows: per node, the slice of its w in the variables and of its g in the constraints.
        lower, upper: bounds of the constraints.
        oracle: (w, p) -> cost, constraints.
        derivatives: of the oracle, by the names that CasADi's interface to IPOPT has for them.
    """

    def __init__(
        self, case: Case, statement: str = "penalised", *, compiled: bool = True, eliminated: bool = False
    ) -> None:
        """With `eliminated`, ν is no variable: each node's dynamics are solved for it.

        Raises:
            SolverError: the statement is unknown, or the dynamics cannot be solved for ν.
            CompilerError: there is no working C compiler.
        """
        if statement not in STATEMENTS:
            raise SolverError(f"no statement {statement!r} of the problem; there are {', '.join(STATEMENTS)}")
        problem = case.problem
        self._problem, self.statement = problem, statement
        self._model = NodeModel(
            mechanism=prepare(case.tree),
            axes=case.axes,
            actuated=tuple(case.tree.actuated),
            scheme=int(problem.integers[at.SCHEME]),
            constrained=statement == "constrained",
        )
        kinds = _kinds(case)
        of = EliminatedNode if eliminated else Node
        nodes = {kind: of(self._model, kind) for kind in dict.fromkeys(kinds)}
        functions = node_functions(case.tree, self._model, nodes, compiled=compiled, tag=of.__name__)
        self._motions = [nodes[kind].n_motion for kind in kinds]
        self.variables = _slices([nodes[kind].w.numel() for kind in kinds])
        self.rows = _slices([nodes[kind].g.numel() for kind in kinds])
        self._groups = [self._group(kind, kinds, functions[kind]) for kind in nodes]
        self.lower = np.concatenate([nodes[kind].lower for kind in kinds])
        self.upper = np.concatenate([nodes[kind].upper for kind in kinds])
        self.oracle, self.derivatives = self._assemble()

    @property
    def n_variables(self) -> int:
        """Of the programme, the fixed first state among them."""
        return self.variables[-1].stop

    @property
    def n_x(self) -> int:
        """Of a state."""
        return int(self._problem.n_x)

    def pack(self, xs: Array, us: Array, aux: Array) -> Array:
        """Variables of a trajectory of ours: states (N+1, n_x), controls (N, n_u) and the nodes' aux, ν first."""
        w = []
        for k, n_motion in enumerate(self._motions):
            step = self._problem.node_integers[k, at.NODE_KIND] == at.STEP
            w += [xs[k], us[k] if step else np.zeros(0), aux[k, :n_motion]]
        return np.concatenate(w)

    def unpack(self, w: Array) -> tuple[Array, Array]:
        """States (N+1, n_x) and controls (N, n_u) of variables."""
        n_x, n_u = self._problem.n_x, self._problem.n_u
        xs = np.array([w[own][:n_x] for own in self.variables])
        us = np.zeros((self._problem.n_nodes, n_u))
        for k in np.flatnonzero(self._problem.has_control):
            us[k] = w[self.variables[k]][n_x : n_x + n_u]
        return xs, us

    def parameters(self, case: Case) -> Array:
        """What the programme reads of a case: rows, multipliers (zero), model parameters, penalty; node by node."""
        problem = case.problem
        n = problem.n_nodes + 1
        shared = np.concatenate([np.zeros(problem.n_e), problem.parameters, case.penalty])
        return np.hstack([problem.node_parameters, np.tile(shared, (n, 1))]).ravel()

    def evaluate(self, case: Case, w: Array) -> tuple[float, Array]:
        """Cost and constraint rows at variables."""
        cost, g = self.oracle(w, self.parameters(case))
        return float(cost), np.asarray(g).ravel()

    def violation(self, g: Array) -> float:
        """Largest violation of the constraint rows."""
        return float(np.maximum(self.lower - g, g - self.upper).max(initial=0.0))

    def bounds(self, case: Case) -> tuple[Array, Array]:
        """Of the variables: the first state is given; torques are limited where limits are constraints."""
        upper = np.full(self.n_variables, np.inf)
        n_x, n_u = self._problem.n_x, self._problem.n_u
        if self._model.constrained:
            limits = self._model.layout.parameters["torque_limits"]
            for k in np.flatnonzero(self._problem.has_control):
                first = self.variables[k].start + n_x
                upper[first : first + n_u] = case.problem.parameters[limits]
        lower = -upper
        lower[:n_x] = upper[:n_x] = case.x0
        return lower, upper

    def _group(self, kind: NodeKind, kinds: Sequence[NodeKind], functions: Mapping[str, cs.Function]) -> _Group:
        nodes = np.array([k for k, one in enumerate(kinds) if one == kind])
        return _Group(
            functions={level: function.map(len(nodes)) for level, function in functions.items()},
            sparsity={level: function.sparsity_out(0) for level, function in functions.items()},
            nodes=nodes,
            variables=np.array([np.arange(self.variables[k].start, self.variables[k].stop) for k in nodes]),
            rows=np.array([np.arange(self.rows[k].start, self.rows[k].stop) for k in nodes], dtype=np.int64),
        )

    def _junctions(self) -> tuple[Indices, Indices]:
        """Rows of g that hold a node's next state, and the variables that are the next node's state."""
        along = np.arange(self._problem.n_x)
        reached = np.concatenate([self.rows[k].start + along for k in range(self._problem.n_nodes)])
        following = np.concatenate([own.start + along for own in self.variables[1:]])
        return reached, following

    def _assemble(self) -> tuple[cs.Function, dict[str, cs.Function]]:
        """(w, p) -> cost, g, and the derivatives as IPOPT's interface names them."""
        n_p = sum(self._model.parameter_sizes)
        n_w, n_g = self.n_variables, self.rows[-1].stop
        w, p = cs.MX.sym("x", n_w), cs.MX.sym("p", n_p * len(self.variables))
        lam_f, lam_g = cs.MX.sym("lam_f"), cs.MX.sym("lam_g", n_g)
        jacobian, hessian = _Triplets((n_g, n_w)), _Triplets((n_w, n_w))
        gradient, rows = _Triplets((n_w, 1)), _Triplets((n_g, 1))
        cost = cs.MX(0)
        for group in self._groups:
            own = [_gather(w, group.variables), _gather(p, n_p * group.nodes[:, None] + np.arange(n_p))]
            cost += cs.sum2(group.functions["cost"](*own))
            gradient.add(group.variables, 0 * group.variables, group.functions["gradient"](*own))
            if group.rows.size:
                rows.add(group.rows, 0 * group.rows, group.functions["constraints"](*own))
                row, column = (np.array(one, dtype=np.int64) for one in group.sparsity["jacobian"].get_triplet())
                jacobian.add(group.rows[:, row], group.variables[:, column], group.functions["jacobian"](*own))
            row, column = (np.array(one, dtype=np.int64) for one in group.sparsity["hessian"].get_triplet())
            factors = [cs.repmat(lam_f, 1, len(group.nodes)), _gather(lam_g, group.rows)]
            values = group.functions["hessian"](*own, *factors)
            hessian.add(group.variables[:, row], group.variables[:, column], values)
        reached, following = self._junctions()
        jacobian.add(reached, following, cs.MX(cs.DM.zeros(reached.size) - 1.0))
        next_states = _Triplets((n_g, 1))
        next_states.add(reached, 0 * reached, w[following.tolist()])
        g = cs.densify(rows.matrix() - next_states.matrix())
        oracle = cs.Function("oracle", [w, p], [cost, g], ["x", "p"], ["f", "g"])
        unused_f, unused_g = cs.MX(1, 1), cs.MX(n_g, 1)
        derivatives = {
            "grad_f": cs.Function(
                "nlp_grad_f", [w, p], [unused_f, cs.densify(gradient.matrix())], ["x", "p"], ["f", "grad_f_x"]
            ),
            "jac_g": cs.Function("nlp_jac_g", [w, p], [unused_g, jacobian.matrix()], ["x", "p"], ["g", "jac_g_x"]),
            "hess_lag": cs.Function(
                "nlp_hess_l",
                [w, p, lam_f, lam_g],
                [hessian.matrix()],
                ["x", "p", "lam_f", "lam_g"],
                ["triu_hess_gamma_x_x"],
            ),
        }
        return oracle, derivatives


class _Triplets:
    """A sparse matrix from entries by row and column, each given once."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self._shape = shape
        self._rows: list[Indices] = []
        self._columns: list[Indices] = []
        self._values: list[cs.MX] = []

    def add(self, rows: Indices, columns: Indices, values: cs.MX) -> None:
        """Entries (m, n) whose values are the non-zeros of a matrix of m columns, or block columns."""
        self._rows.append(rows.ravel())
        self._columns.append(columns.ravel())
        self._values.append(values.nz[:])

    def matrix(self) -> cs.MX:
        """With its values, permuted to the order of columns."""
        rows, columns = np.concatenate(self._rows), np.concatenate(self._columns)
        order = np.lexsort((rows, columns))
        sparsity = cs.Sparsity.triplet(*self._shape, rows[order].tolist(), columns[order].tolist())
        return cs.MX(sparsity, cs.vertcat(*self._values)[order.tolist()])


def _gather(vector: cs.MX, indices: Indices) -> cs.MX:
    """(n, m) matrix of a vector's entries, for indices (m, n)."""
    if not indices.size:
        return cs.MX(0, len(indices))
    return cs.reshape(vector[indices.ravel().tolist()], indices.shape[1], indices.shape[0])


def _slices(sizes: Sequence[int]) -> list[slice]:
    """Consecutive slices of these lengths."""
    ends = np.cumsum(sizes)
    return [slice(int(end - size), int(end)) for size, end in zip(sizes, ends, strict=True)]


def _kinds(case: Case) -> list[NodeKind]:
    """Of every node, the end included."""
    problem = case.problem
    kinds = []
    for k, (mode, kind) in enumerate(problem.node_integers):
        if kind == at.STEP:
            kinds.append(NodeKind(int(kind), case.contacts(mode)))
        elif kind == at.TOUCHDOWN:
            after = case.contacts(problem.node_integers[k + 1, at.NODE_MODE])
            landing = tuple(foot for foot in after if foot not in case.contacts(mode))
            kinds.append(NodeKind(int(kind), after, landing))
        else:
            kinds.append(NodeKind(int(kind)))
    return kinds
