"""Contracted second-order partials the conventional way: the baseline `ddp_tensor` that mRNEAc is measured against.

The solution nu = K^-1 ([tau; 0] - b) is formed symbolically and differentiated twice by automatic differentiation. Of
the tensor only the blocks qq, qv, vv and q tau are formed, the others vanish; the contraction with gamma comes last.
The cost grows with n^3 where that of `partials.second` grows with n^2.
"""

import casadi as cs
import numpy as np

from contact_ddp_ros.dynamics.contact import ScalarSystem, Symbols
from contact_ddp_ros.dynamics.mechanism import Mechanism
from contact_ddp_ros.dynamics.partials import linear_system, mirrored, pull_back_columns


def contact_tensor(name: str, of: ScalarSystem) -> cs.Function:
    """(q, v, tau (n,), gamma (m,), p) -> gamma'nu_qq, gamma'nu_qv, gamma'nu_vv, gamma'nu_qtau, all (n, n)."""
    return _tensor(name, of, forced=True)


def impact_tensor(name: str, of: ScalarSystem) -> cs.Function:
    """(q, v, gamma (m,), p) -> gamma'nu_qq, gamma'nu_qv, gamma'nu_vv, all (n, n)."""
    return _tensor(name, of, forced=False)


def _tensor(name: str, of: ScalarSystem, forced: bool) -> cs.Function:
    """Tensor of the contact dynamics, driven by torques tau, or of the impact, which nothing drives."""
    n, n_c = of.mechanism.n, of.n_c
    x, tau, gamma = of.symbols(), cs.SX.sym("tau", n), cs.SX.sym("gamma", n + n_c)
    nu = _solution(of, x, cs.vertcat(tau, cs.SX(n_c, 1)) if forced else cs.SX(n + n_c, 1))
    by_q, by_v = cs.jacobian(nu, x.q), cs.jacobian(nu, x.v)
    pairs = {"qq": (by_q, x.q), "qv": (by_q, x.v), "vv": (by_v, x.v)} | ({"qtau": (by_q, tau)} if forced else {})
    contracted = [_contract(gamma, jacobian, by) for jacobian, by in pairs.values()]
    in_absolute = cs.Function("absolute", [x.q, x.v, tau, gamma, x.p], contracted)

    joint = of.symbols()
    absolute = of.mechanism.absolute
    # Forces, and gamma like them, map with the inverse transpose of what maps coordinates.
    dual = cs.SX(cs.DM(np.linalg.inv(of.mechanism.transform()).T))
    dual_gamma = cs.vertcat(cs.mtimes(dual, gamma[:n]), gamma[n:, :])
    values = in_absolute.call([absolute(joint.q), absolute(joint.v), cs.mtimes(dual, tau), dual_gamma, joint.p])
    outputs = {key: _at_joints(of.mechanism, dual, key, value) for key, value in zip(pairs, values, strict=True)}
    arguments = {"q": joint.q, "v": joint.v} | ({"tau": tau} if forced else {}) | {"gamma": gamma, "p": joint.p}
    expressions = [cs.densify(one) for one in cs.cse(list(outputs.values()))]
    return cs.Function(name, list(arguments.values()), expressions, list(arguments), list(outputs))


def _solution(of: ScalarSystem, x: Symbols, force: cs.SX) -> cs.SX:
    """(m,) nu = K^-1 (force - b), all absolute, armature and damping included."""
    n, inverse = of.mechanism.n, cs.SX(cs.sparsify(cs.DM(np.linalg.inv(of.mechanism.transform()))))
    kkt, bias = linear_system(of, x)
    kkt[:n, :n] += cs.mtimes([inverse.T, cs.diag(of.mass_offset(x.p)), inverse])
    bias[:n] += cs.mtimes([inverse.T, cs.diag(of.rate_offset(x.p)), inverse, x.v])
    d, unit_lower, order = cs.ldl(mirrored(kkt), False)
    return cs.densify(cs.ldl_solve(force - bias, d, unit_lower, order))


def _contract(gamma: cs.SX, jacobian: cs.SX, by: cs.SX) -> cs.SX:
    """The sum over i of gamma_i times the derivative of row i of a Jacobian."""
    total = cs.SX(jacobian.size2(), by.numel())
    for i in range(jacobian.size1()):
        total += gamma[i] * cs.jacobian(jacobian[i, :].T, by)
    return total


def _at_joints(mechanism: Mechanism, dual: cs.SX, pair: str, block: cs.SX) -> cs.SX:
    """A block from absolute to joint coordinates and torques."""
    rows = mechanism.pull_back(block)
    if pair == "qtau":
        return cs.mtimes(rows, dual)
    block = pull_back_columns(mechanism, rows)
    return block if pair == "qv" else mirrored(block)
