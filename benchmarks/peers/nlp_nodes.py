r"""One node of the bounding problem for a nonlinear programme: cost, constraints and exact derivatives, by CasADi.

The node functions of :mod:`contact_ddp_ros.mpc.contact_nodes` eliminate the motion ν = (v̇, λ), or (v⁺, Λ) of an impact.
Here ν is a variable beside x and u, and the dynamics are constraints: sparser, and less nonlinear.

    w = (x, u, ν)          of a time step
        (x, ν)             of a touchdown
        (x)                of a lift-off and of the end

    cost(w)                as in contact_nodes; without its penalties where the constraints are stated as such
    g(w) = next(w)         (2n,) state after the node; whoever assembles the programme equates it to the next node's x
           r(q, v, ν) − Sᵀu   (n_s,) the residual of the dynamics, where the scheme wants it, or of the impact: zero
           heights         of the feet that land above the ground [m], zero; only where the constraints are stated
           friction λ_n ± λ_t   not negative; likewise. In space the second-order cone of level ground takes their
                           place. They imply a normal force that is not negative.

Every number that a user may change is a parameter: the node's row of the problem's arrays and what all nodes share.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Protocol

import casadi as cs
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.compiled import cache
from contact_ddp_ros.base.compiled.casadi_functions import c_source
from contact_ddp_ros.base.compiled.compiler import compile_library, find_compiler
from contact_ddp_ros.dynamics import partials
from contact_ddp_ros.dynamics.contact import ScalarSystem, Symbols, contact_system, impact_system
from contact_ddp_ros.dynamics.kernels import origin
from contact_ddp_ros.dynamics.mechanism import Mechanism
from contact_ddp_ros.dynamics.mrneac import Axes
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.layout import Sizes, position_share
from contact_ddp_ros.mpc.term_sums import TermLayout
from contact_ddp_ros.mpc.terms.friction_cone import COEFFICIENT, SCALE, TIP
from contact_ddp_ros.ocp.protocol import N_PENALTY
from contact_ddp_ros.robot.tree import RigidBodyTree

Array = NDArray[np.float64]

LEVELS = ("cost", "gradient", "constraints", "jacobian", "hessian")
"""What a node can tell; derivatives are by w, the Hessian is that of lam_f cost + lam_g' g and upper triangular."""


@dataclass(frozen=True)
class NodeKind:
    """What tells nodes of different functions apart.

    Attributes:
        kind: as in :mod:`contact_ddp_ros.mpc.layout`.
        contacts: on the ground during a time step, or after a touchdown.
        landing: of a touchdown, the feet that were in the air before.
    """

    kind: int
    contacts: tuple[str, ...] = ()
    landing: tuple[str, ...] = ()

    @property
    def symbol(self) -> str:
        """A C identifier."""
        return "_".join([f"node{self.kind}", *self.contacts, *(f"from_{foot}" for foot in self.landing)])


@dataclass(frozen=True)
class NodeModel:
    """What all nodes share.

    Attributes:
        mechanism: the prepared tree.
        axes: world axes of a contact, the normal last.
        actuated: indices of the joints with a motor.
        scheme: of integration, as in :mod:`contact_ddp_ros.mpc.layout`.
        constrained: whether height at touchdown and friction are constraints; penalties otherwise.
    """

    mechanism: Mechanism
    axes: Axes
    actuated: tuple[int, ...]
    scheme: int
    constrained: bool

    @property
    def sizes(self) -> Sizes:
        """(n, n_u, n_f, n_a)."""
        return Sizes(self.mechanism.n, len(self.actuated), len(self.mechanism.feet), len(self.axes))

    @property
    def layout(self) -> TermLayout:
        """Of the numbers of the terms."""
        return TermLayout.of(self.sizes)

    @property
    def parameter_sizes(self) -> tuple[int, int, int, int]:
        """A node's row, its multipliers, the model's parameters, (σ, δ, ε)."""
        layout = self.layout
        return layout.row_size, len(self.mechanism.feet), layout.n_parameters, N_PENALTY - 1


class Node:
    """Symbols and expressions of one kind of node.

    Attributes:
        n_motion: length of ν.
        lower, upper: bounds of the rows of g after the next state.
    """

    def __init__(self, model: NodeModel, kind: NodeKind) -> None:
        n, n_u, _, _ = model.sizes
        self.model, self.kind = model, kind
        moving = kind.kind in (at.STEP, at.TOUCHDOWN)
        self.n_motion = n + len(kind.contacts) * len(model.axes) if moving else 0
        self._x = cs.SX.sym("x", 2 * n)
        self._u = cs.SX.sym("u", n_u if kind.kind == at.STEP else 0)
        self._nu = cs.SX.sym("nu", self.n_motion)
        self.w = cs.vertcat(self._x, self._u, self._nu)
        self.p = cs.SX.sym("p", sum(model.parameter_sizes))
        starts = np.cumsum([0, *model.parameter_sizes])
        row, multipliers, parameters, penalty = (self.p[a:b] for a, b in pairwise(starts))
        self._row, self._multipliers, self._parameters = row, multipliers, parameters
        self._sigma, self._delta, self._epsilon = penalty[0], penalty[1], penalty[2]
        self._heights = self._foot_heights()
        self.cost = self._cost()
        blocks = self._constraints()
        self.g = cs.vertcat(*[block for block, _ in blocks])
        self.lower = np.zeros(self.g.numel())
        self.upper = np.concatenate([np.zeros(0), *[np.full(block.numel(), bound) for block, bound in blocks]])

    def functions(self) -> dict[str, cs.Function]:
        """By level: (w, p) -> cost, gradient, g, Jacobian; (w, p, lam_f, lam_g) -> Hessian of the Lagrangian."""
        lam_f, lam_g = cs.SX.sym("lam_f"), cs.SX.sym("lam_g", self.g.numel())
        lagrangian = lam_f * self.cost + cs.dot(lam_g, self.g)
        outputs: dict[str, Callable[[], cs.SX]] = {
            "cost": lambda: self.cost,
            "gradient": lambda: cs.densify(cs.gradient(self.cost, self.w)),
            "constraints": lambda: cs.densify(self.g),
            "jacobian": lambda: cs.jacobian(self.g, self.w),
            "hessian": lambda: cs.triu(cs.hessian(lagrangian, self.w)[0]),
        }
        functions = {}
        for level in LEVELS:
            if level in ("constraints", "jacobian") and not self.g.numel():
                continue
            arguments = [self.w, self.p] + ([lam_f, lam_g] if level == "hessian" else [])
            functions[level] = cs.Function(f"{self.kind.symbol}_{level}", arguments, cs.cse([outputs[level]()]))
        return functions

    @cached_property
    def _layout(self) -> TermLayout:
        return self.model.layout

    def _numbers(self, name: str) -> cs.SX:
        """A block of the node's row."""
        return self._row[self._layout.rows[name]]

    def _friction(self, index: int) -> cs.SX:
        return self._parameters[self._layout.parameters["friction"]][index]

    def _cost(self) -> cs.SX:
        n, _, _, n_a = self.model.sizes
        kind = self.kind.kind
        cost = 0.5 * cs.dot(self._numbers("state_weights"), (self._x - self._numbers("states")) ** 2)
        if kind == at.TOUCHDOWN and not self.model.constrained:
            multipliers = cs.vertsplit(self._multipliers[self._feet(self.kind.landing)])
            for residual, multiplier in zip(self._landing_heights(), multipliers, strict=True):
                cost += (multiplier + 0.5 * self._sigma * residual) * residual
        if kind != at.STEP:
            return cost
        cost += 0.5 * cs.dot(self._numbers("torque_weights"), self._u**2)
        for c, foot in enumerate(self._feet(self.kind.contacts)):
            rows = slice(foot * n_a, (foot + 1) * n_a)
            error = self._nu[n + c * n_a : n + (c + 1) * n_a] - self._numbers("forces")[rows]
            cost += 0.5 * cs.dot(self._numbers("force_weights")[rows], error**2)
        cost += 0.5 * cs.dot(self._numbers("height_weights"), (self._heights - self._numbers("heights")) ** 2)
        if not self.model.constrained:
            cost += self._epsilon * sum(map(self._barrier, self._limits()))
        return self._row[at.DURATION] * cost

    def _limits(self) -> list[cs.SX]:
        """What must not be negative during a time step, each relative to its scale."""
        n, _, _, n_a = self.model.sizes
        ratio = self._u / self._parameters[self._layout.parameters["torque_limits"]]
        scale = self._friction(SCALE)
        normal = [self._nu[n + (c + 1) * n_a - 1] / scale for c in range(len(self.kind.contacts))]
        return [*cs.vertsplit(1.0 + ratio), *cs.vertsplit(1.0 - ratio), *normal, *(f / scale for f in self._cones())]

    def _cones(self) -> list[cs.SX]:
        """friction λ_n ± λ_t of every contact in the plane, friction λ_n − √(‖λ_t‖² + η²) in space [N]."""
        n, _, _, n_a = self.model.sizes
        sides = []
        for c in range(len(self.kind.contacts)):
            *tangential, normal = cs.vertsplit(self._nu[n + c * n_a : n + (c + 1) * n_a])
            reach = self._friction(COEFFICIENT) * normal
            if n_a == 3:
                sides.append(reach - cs.sqrt(cs.sumsqr(cs.vertcat(*tangential)) + (TIP * self._friction(SCALE)) ** 2))
            else:
                sides += [reach + sign * force for force in tangential for sign in (-1.0, 1.0)]
        return sides

    def _barrier(self, z: cs.SX) -> cs.SX:
        """Relaxed barrier of z ≥ 0 as a sum: the logarithm where z > δ, its quadratic extension elsewhere."""
        below = (cs.fmin(z, self._delta) - 2.0 * self._delta) / self._delta
        return -cs.log(cs.fmax(z, self._delta)) + 0.5 * (below**2 - 1.0)

    def _constraints(self) -> list[tuple[cs.SX, float]]:
        """Blocks of g with their upper bound; the lower one is zero."""
        n, _, _, _ = self.model.sizes
        x, nu, kind = self._x, self._nu, self.kind.kind
        if kind == at.TERMINAL:
            return []
        if kind == at.LIFT_OFF:
            return [(x, 0.0)]
        if kind == at.TOUCHDOWN:
            residual = _residual(self._system(), x[:n], x[n:], nu, self._row[self._layout.model])
            blocks = [(cs.vertcat(x[:n], nu[:n]), 0.0), (residual, 0.0)]
            return [*blocks, (cs.vertcat(*self._landing_heights()), 0.0)] if self.model.constrained else blocks
        h, share = self._row[at.DURATION], position_share(self.model.scheme)
        following = x + h * cs.vertcat(x[n:] + share * h * nu[:n], nu[:n])
        where = 0.5 * (x + following) if self.model.scheme == at.IMPLICIT_MIDPOINT else x
        residual = _residual(self._system(), where[:n], where[n:], nu, self._row[self._layout.model])
        for a, joint in enumerate(self.model.actuated):
            residual[joint] -= self._u[a]
        blocks = [(following, 0.0), (residual, 0.0)]
        return [*blocks, (cs.vertcat(*self._cones()), np.inf)] if self.model.constrained else blocks

    def _system(self) -> ScalarSystem:
        of = impact_system if self.kind.kind == at.TOUCHDOWN else contact_system
        return of(self.model.mechanism, self.kind.contacts, self.model.axes)

    def _landing_heights(self) -> list[cs.SX]:
        return [self._heights[foot] for foot in self._feet(self.kind.landing)]

    def _foot_heights(self) -> cs.SX:
        """(n_f,) heights of the feet's lowest points above their grounds, which are level [m]."""
        n, _, n_f, n_a = self.model.sizes
        p = self._row[self._layout.model]
        positions, _ = partials.feet("feet", self.model.mechanism, self.model.axes)(self._x[:n], p)
        return positions[n_a - 1 :: n_a] - self._row[at.GROUNDS :: at.GROUND_SIZE][:n_f]

    def _feet(self, names: tuple[str, ...]) -> list[int]:
        order = [foot.name for foot in self.model.mechanism.feet]
        return [order.index(name) for name in names]


def _residual(of: ScalarSystem, q: cs.SX, v: cs.SX, nu: cs.SX, p: cs.SX) -> cs.SX:
    """(n_s,) r(q, v, ν; p) in joint coordinates: the gradient of the system's scalar by its multipliers."""
    mechanism, n = of.mechanism, of.mechanism.n
    xi = cs.SX.sym("xi", nu.numel())
    absolute = Symbols(
        mechanism.absolute(q),
        mechanism.absolute(v),
        cs.vertcat(mechanism.absolute(nu[:n]), nu[n:]),
        cs.vertcat(mechanism.absolute(xi[:n]), xi[n:]),
        p,
    )
    offset = of.mass_offset(p) * nu[:n] + of.rate_offset(p) * v
    return cs.gradient(of.scalar(absolute) + cs.dot(xi[:n], offset), xi)


class HasFunctions(Protocol):
    """A node's functions by level."""

    def functions(self) -> dict[str, cs.Function]:
        """By level, as :meth:`Node.functions`."""


def node_functions(
    tree: RigidBodyTree, model: NodeModel, nodes: Mapping[NodeKind, HasFunctions], *, compiled: bool, tag: str
) -> dict[NodeKind, dict[str, cs.Function]]:
    """Per kind of node its functions by level: compiled and cached like our own kernels, or interpreted.

    `tag` tells nodes of one kind but of different functions apart.

    Raises:
        CompilerError: there is no working C compiler.
    """
    functions = {kind: node.functions() for kind, node in nodes.items()}
    if not compiled:
        return functions
    symbols = sorted(kind.symbol for kind in nodes)
    source = "".join(path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parent.glob("nlp_*.py")))
    content = cache.content_key(
        origin(), tree, symbols, model.axes, model.scheme, model.constrained, model.layout, tag, source
    )
    compiler = find_compiler()
    entry = cache.entry(content, compiler.identity)
    with cache.exclusive(content):
        if entry.description() is None:
            sources = {one.name(): c_source(one) for levels in functions.values() for one in levels.values()}
            compile_library(compiler, sources, entry.library)
            entry.describe([])
    return {
        kind: {level: cs.external(one.name(), str(entry.library)) for level, one in levels.items()}
        for kind, levels in functions.items()
    }
