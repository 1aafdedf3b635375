r"""The user's cost terms and constraints of one tree, compiled together with their exact derivatives.

With s = (x, u, λ), a term adds φ(r(s; p)) to the cost rate, φ = ½‖r‖² for a cost term and ε Σ_i B_δ(r_i) for a
constraint. Gauss-Newton takes r_sᵀ φ'' r_s, which is positive semi-definite, and full second order the rest,
Σ_i φ'_i ∂²r_i/∂s²; the chain rule through λ(x, u) is that of the packaged terms
(:mod:`contact_ddp_ros.mpc.contact_forces`).
"""

from collections.abc import Sequence

import casadi as cs
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.compiled.casadi_functions import compile_functions
from contact_ddp_ros.base.compiled.kernel_set import KernelSet
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.dynamics import partials
from contact_ddp_ros.dynamics.contact import level_parameters
from contact_ddp_ros.dynamics.mechanism import prepare
from contact_ddp_ros.mpc.config import PlannerConfig
from contact_ddp_ros.mpc.custom_term import ByFoot, Constraint, CostTerm, NodeSymbols, UserTerm, load_terms
from contact_ddp_ros.mpc.horizon import Horizon
from contact_ddp_ros.ocp.multipliers import DELTA, EPSILON, MU
from contact_ddp_ros.ocp.protocol import N_PENALTY
from contact_ddp_ros.robot.tree import RigidBodyTree

Array = NDArray[np.float64]

VALUE, FIRST, SECOND = "terms", "terms_first", "terms_second"
"""Names of the kernels: (x, u, λ, p, penalty, slacks and multipliers) → value, violation and inequalities; gradient,
Gauss-Newton Hessian; its rest."""


def configured_terms(config: PlannerConfig) -> tuple[UserTerm, ...]:
    """The cost terms, then the constraints that a configuration names; ParameterError where one cannot be loaded."""
    constraints = load_terms(config.constraints, Constraint)  # type: ignore[type-abstract]
    return (*load_terms(config.cost_terms, CostTerm), *constraints)  # type: ignore[type-abstract]


class OwnTerms:
    """Terms of one tree, compiled together; without any nothing is compiled."""

    def __init__(self, tree: RigidBodyTree, axes: tuple[int, ...], terms: Sequence[UserTerm]) -> None:
        """Raises ParameterError where a term has no name or no residual, or depends on what a node does not have."""
        self.terms = tuple(terms)
        for term in terms:
            name = getattr(term, "name", None)
            if not isinstance(name, str) or not name:
                raise ParameterError(
                    f"{term.kind} {type(term).__name__} has the name {name!r}; needed: a text by which records and "
                    'messages call it, as name = "level_trunk" in the class'
                )
        self.names = tuple(term.name for term in terms)
        if len(set(self.names)) < len(self.names):
            names = ", ".join(self.names)
            raise ParameterError(f"cost terms and constraints are called {names}; each needs a name of its own")
        self.n_parameters = sum(len(term.parameters) for term in terms)
        self.kernels: KernelSet | None = None
        self.inequality_names: tuple[str, ...] = ()
        self._values: tuple[cs.Function, ...] = ()
        if terms:
            self._compile(tree, axes)

    def numbers(self, horizon: Horizon) -> Array:
        """(N+1, n_parameters) of all terms.

        Raises:
            ParameterError: a term's numbers have another shape or are not finite.
        """
        blocks = [np.zeros((len(horizon.times), 0))]
        for term in self.terms:
            if term.parameters:
                block = np.asarray(term.values(horizon), dtype=np.float64)
                shape = (len(horizon.times), len(term.parameters))
                if block.shape != shape or not np.isfinite(block).all():
                    raise ParameterError(
                        f"{term.kind} {term.name!r} gives values of shape {block.shape}; needed: {shape}, all finite"
                    )
                blocks.append(block)
        return np.hstack(blocks)

    def costs(self, xs: Array, us: Array, forces: Array, numbers: Array, penalty: Array) -> Array:
        """(n_terms, N) cost rate of each term at N nodes; forces foot by foot, penalty (σ, δ, ε)."""
        penalties = np.tile(np.append(penalty, 0.0), (len(xs), 1))
        columns = [np.ascontiguousarray(one.T) for one in (xs, us, forces, numbers, penalties)]
        return np.array([np.array(value.map(len(xs))(*columns)).ravel() for value in self._values])

    def _compile(self, tree: RigidBodyTree, axes: tuple[int, ...]) -> None:
        mechanism, n = prepare(tree), tree.n
        x, u = cs.SX.sym("x", 2 * n), cs.SX.sym("u", len(tree.actuated))
        forces = cs.SX.sym("forces", len(tree.contacts) * len(axes))
        p, penalty = cs.SX.sym("p", self.n_parameters), cs.SX.sym("penalty", N_PENALTY)
        feet = [point.name for point in tree.contacts]
        places = partials.feet("feet", mechanism, axes)(x[:n], level_parameters(len(feet)))[0]
        arguments, begin, residuals = [x, u, forces, p, penalty], 0, []
        for term in self.terms:
            own = p[begin : begin + len(term.parameters)]
            begin += len(term.parameters)
            node = NodeSymbols(
                q=x[:n],
                v=x[n:],
                u=u,
                forces=ByFoot(zip(feet, cs.vertsplit(forces, len(axes)), strict=True)),
                feet=ByFoot(zip(feet, cs.vertsplit(places, len(axes)), strict=True)),
                parameters=dict(zip(term.parameters, cs.vertsplit(own), strict=True)),
                names=tuple(joint.name for joint in tree.joints),
            )
            residuals.append(_residual(term, node, arguments[:-1]))
        self.inequality_names = tuple(
            name
            for term, r in zip(self.terms, residuals, strict=True)
            for name in [f"constraint {term.name!r}"] * (r.numel() if isinstance(term, Constraint) else 0)
        )
        duals = cs.SX.sym("duals", 2, len(self.inequality_names))
        maps, of = [], 0
        for term, r in zip(self.terms, residuals, strict=True):
            maps.append(_Outer(term, r, penalty, duals[:, of:]))
            of += maps[-1].inequalities.numel()
        self._values = tuple(
            cs.Function("value", arguments, [cs.substitute(one.value, cs.vec(duals), np.ones(duals.numel()))])
            for one in maps
        )
        arguments.append(duals)
        s, r = cs.vertcat(x, u, forces), cs.vertcat(*residuals)
        slope, bend = (cs.vertcat(*[getattr(one, name) for one in maps]) for name in ("slope", "bend"))
        jacobian = cs.jacobian(r, s)
        held = cs.SX.sym("held", r.numel())
        curvature = cs.jacobian(cs.jtimes(r, s, held, True), s)
        limits = cs.vertcat(*[one.inequalities for one in maps])
        outputs = {
            VALUE: [cs.sum1(cs.vertcat(*[one.value for one in maps])), -cs.mmin(cs.vertcat(0.0, limits)), limits],
            FIRST: [cs.mtimes(jacobian.T, slope), cs.mtimes(jacobian.T, bend * jacobian)],
            SECOND: [cs.substitute(curvature, held, slope)],
        }
        functions = [
            cs.Function(name, arguments, [cs.densify(one) for one in cs.cse(found)]) for name, found in outputs.items()
        ]
        self.kernels = compile_functions(functions)


class _Outer:
    """φ(r) of a term, ½‖r‖², Σ ε B_δ(r) or Σ ψ(r): value, by entry of r its first and second derivative.

    `inequalities` is r of a constraint, and empty otherwise; see :func:`contact_ddp_ros.ocp.multipliers.inequality`.
    """

    def __init__(self, term: UserTerm, r: cs.SX, penalty: cs.SX, duals: cs.SX) -> None:
        self.value, self.slope, self.bend, self.inequalities = 0.5 * cs.sumsqr(r), r, cs.SX.ones(r.numel()), cs.SX(0, 1)
        if isinstance(term, Constraint):
            delta, epsilon, mu = penalty[DELTA], penalty[EPSILON], penalty[MU]
            inside, scaled = r > delta, (r - 2.0 * delta) / delta
            beyond = 0.5 * (scaled**2 - 1.0) - cs.log(delta)
            slack, multiplier = duals[0, : r.numel()].T, duals[1, : r.numel()].T
            held, bend, gap = mu > 0.0, multiplier / slack, r - slack
            barrier = epsilon * cs.if_else(inside, -cs.log(cs.fmax(r, delta)), beyond)
            self.value = cs.sum1(cs.if_else(held, (0.5 * bend * gap - mu / slack) * gap, barrier))
            relaxed = epsilon * cs.if_else(inside, -1.0 / r, scaled / delta)
            self.slope = cs.if_else(held, bend * gap - mu / slack, relaxed)
            self.bend = cs.if_else(held, bend, epsilon * cs.if_else(inside, 1.0 / r**2, 1.0 / delta**2))
            self.inequalities = r


def _residual(term: UserTerm, node: NodeSymbols, arguments: list[cs.SX]) -> cs.SX:
    try:
        r = cs.vec(cs.SX(term.residual(node)))
    except (NotImplementedError, RuntimeError, TypeError) as error:
        raise ParameterError(f"{term.kind} {term.name!r}: its residual is no CasADi SX: {error}") from error
    known = {symbol.__hash__() for one in arguments for symbol in cs.symvar(one)}
    strange = [str(symbol) for symbol in cs.symvar(r) if symbol.__hash__() not in known]
    if strange:
        raise ParameterError(f"{term.kind} {term.name!r} depends on {', '.join(strange)}, which a node does not have")
    return r
