"""Absolute against relative joint angles: the size of the dynamics' graph and the sparsity of its Hessian.

For trajectory optimisation by collocation Knemeyer, Shield and Patel ("Minor Change, Major Gains") found absolute
angles to give smaller equations of motion and sparser Hessians. Here the same is counted for s = mRNEAc, whose Hessian
is what DDP takes of the dynamics:

* absolute: s and its derivatives in angles from the vertical;
* relative: the same s after substituting q_absolute = T q, differentiated by the joint angles q;
* mapped: joint angles outside, absolute ones inside; derivatives are taken by absolute angles and mapped by T, which is
  constant. It is what `dynamics.partials` does.
"""

from dataclasses import dataclass, replace

import casadi as cs

from contact_ddp_ros.dynamics import partials
from contact_ddp_ros.dynamics.contact import ScalarSystem, Symbols, contact_system
from contact_ddp_ros.dynamics.mechanism import prepare
from contact_ddp_ros.robot.models.planar import AXES
from contact_ddp_ros.robot.tree import RigidBodyTree

FORMULATIONS = ABSOLUTE, RELATIVE, MAPPED = "absolute", "relative", "mapped"

_NOT_ARITHMETIC = {cs.OP_INPUT, cs.OP_OUTPUT, cs.OP_CONST, cs.OP_PARAMETER, cs.OP_ASSIGN}


@dataclass(frozen=True)
class Size:
    """Of one formulation.

    Attributes:
        residual: operations of the equations of motion r(q, v, ν); mapped and relative are one and the same graph.
        hessian: operations of the blocks qq, qv, vv and qν of the Hessian of s.
        nonzeros: structural nonzeros of these blocks.
        entries: of these blocks, zero or not.
    """

    residual: int
    hessian: int
    nonzeros: int
    entries: int


def operations(function: cs.Function) -> int:
    """Arithmetic operations of a function of scalar expressions, which no noise of a machine touches."""
    return sum(function.instruction_id(i) not in _NOT_ARITHMETIC for i in range(function.n_instructions()))


def sizes(tree: RigidBodyTree, contacts: tuple[str, ...]) -> dict[str, Size]:
    """Size of every formulation of a model's contact dynamics."""
    of = contact_system(prepare(tree), contacts, AXES)
    x = of.symbols()
    counted = {ABSOLUTE: _size(of.scalar(x), x), RELATIVE: _size(of.scalar(at_relative(of, x)), x)}
    # What the map leaves has the structure of a Hessian by relative angles.
    mapped = replace(counted[RELATIVE], hessian=operations(partials.second("second", of)))
    return {**counted, MAPPED: mapped}


def at_relative(of: ScalarSystem, x: Symbols) -> Symbols:
    """The arguments of s, absolute, as functions of the relative symbols x."""
    n, absolute = of.mechanism.n, of.mechanism.absolute
    nu, xi = (cs.vertcat(absolute(one[:n]), one[n:]) for one in (x.nu, x.xi))
    return Symbols(absolute(x.q), absolute(x.v), nu, xi, x.p)


def _size(s: cs.SX, x: Symbols) -> Size:
    """Of s, by the coordinates that it is a function of."""
    n = x.q.numel()
    hessian, _ = cs.hessian(s, cs.vertcat(x.q, x.v, x.nu))
    blocks = [hessian[:n, :n], hessian[:n, n : 2 * n], hessian[n : 2 * n, n : 2 * n], hessian[:n, 2 * n :]]
    # Of a symmetric block one triangle is computed, all of it counts as nonzero.
    computed = [cs.tril(blocks[0]), blocks[1], cs.tril(blocks[2]), blocks[3]]
    return Size(
        residual=operations(cs.Function("residual", x.inputs(), cs.cse([cs.gradient(s, x.xi)]))),
        hessian=operations(cs.Function("hessian", x.inputs(), cs.cse(computed))),
        nonzeros=sum(block.nnz() for block in blocks),
        entries=sum(block.numel() for block in blocks),
    )
