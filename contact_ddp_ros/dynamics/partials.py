"""Systems and their first and contracted second partial derivatives, as CasADi functions in joint coordinates.

Everything derives from the scalar s = xi' r (see `contact`) by reverse-mode differentiation: r = s_xi,
K = s_xi_nu, r_q = s_xi_q, and the contracted second-order partials are the Hessian blocks of s. Derivatives are taken
by the absolute coordinates, in which a run of parallel joints is nearly decoupled, and mapped to joints by constants.

All outputs are dense and column-major. n = degrees of freedom, n_c = contacts x axes, m = n + n_c.

See eqs. (3) and (6) of docs/mathematics.md.

Contracted second-order partials the conventional way: the baseline `ddp_tensor` that mRNEAc is measured against.

The solution nu = K^-1 ([tau; 0] - b) is formed symbolically and differentiated twice by automatic differentiation. Of
the tensor only the blocks qq, qv, vv and q tau are formed, the others vanish; the contraction with gamma comes last.
The cost grows with n^3 where that of `partials.second` grows with n^2.
"""

import casadi as cs
import numpy as np

from contact_ddp_ros.dynamics import mrneac
from contact_ddp_ros.dynamics.contact import ScalarSystem, Symbols, n_parameters
from contact_ddp_ros.dynamics.mechanism import Foot, Mechanism
from contact_ddp_ros.dynamics.motion import Geometry
from contact_ddp_ros.dynamics.mrneac import Axes
from contact_ddp_ros.dynamics.spatial import cross, symbolic

SECOND = ("s_qq", "s_vq", "s_vv", "s_qnu")
"""Results of the second order."""


def system(name: str, of: ScalarSystem) -> cs.Function:
    """(q, v, p) -> K (m, m), b (m,)."""
    mechanism, n = of.mechanism, of.mechanism.n
    x, joint = of.symbols(), of.symbols()
    kkt, bias = _at_joints(of, x, joint, list(linear_system(of, x)))
    kkt = pull_back_columns(mechanism, pull_back_rows(mechanism, kkt))
    kkt[:n, :n] += cs.diag(of.mass_offset(joint.p))
    bias = pull_back_rows(mechanism, bias)
    bias[:n] += of.rate_offset(joint.p) * joint.v
    return _dense(name, joint, ["q", "v", "p"], {"K": mirrored(kkt), "b": bias})


def linear_system(of: ScalarSystem, x: Symbols) -> tuple[cs.SX, cs.SX]:
    """K (m, m) and b (m,) in absolute coordinates throughout, without armature and damping."""
    residual = cs.gradient(of.scalar(x), x.xi)
    bias = cs.substitute(residual, x.nu, cs.SX(cs.DM.zeros(x.nu.numel())))
    return cs.jacobian(residual, x.nu), bias


def first(name: str, of: ScalarSystem) -> cs.Function:
    """(q, v, nu, p) -> r_q (m, n), r_v (m, n), at fixed nu."""
    n, x = of.mechanism.n, of.symbols()
    residual = cs.gradient(of.scalar(x), x.xi)
    joint = of.symbols()
    r_q, r_v = _at_joints(of, x, joint, [cs.jacobian(residual, x.q), cs.jacobian(residual, x.v)])
    r_q = pull_back_columns(of.mechanism, pull_back_rows(of.mechanism, r_q))
    r_v = pull_back_columns(of.mechanism, pull_back_rows(of.mechanism, r_v))
    r_v[:n, :] += cs.diag(of.rate_offset(joint.p))
    return _dense(name, joint, ["q", "v", "nu", "p"], {"r_q": r_q, "r_v": r_v})


def second(name: str, of: ScalarSystem) -> cs.Function:
    """(q, v, nu, xi, p) -> s_qq (n, n), s_vq (n, n; rows v), s_vv (n, n), s_qnu (n, m)."""
    mechanism, x = of.mechanism, of.symbols()
    n = mechanism.n
    # One Hessian by all variables shares more than its four blocks taken one by one.
    hessian, _ = cs.hessian(of.scalar(x), cs.vertcat(x.q, x.v, x.nu))
    by_q = hessian[:n, :]
    blocks = [by_q[:, :n], by_q[:, n : 2 * n], hessian[n : 2 * n, n : 2 * n], by_q[:, 2 * n :]]
    joint = of.symbols()
    mapped = [pull_back_columns(mechanism, mechanism.pull_back(block)) for block in _at_joints(of, x, joint, blocks)]
    s_qq, s_qv, s_vv, s_qnu = mapped
    outputs = dict(zip(SECOND, (mirrored(s_qq), s_qv.T, mirrored(s_vv), s_qnu), strict=True))
    return _dense(name, joint, ["q", "v", "nu", "xi", "p"], outputs)


def expansion(first_name: str, second_name: str, of: ScalarSystem) -> tuple[cs.Function, cs.Function]:
    """`first` and `second` as two functions of which the second one continues where the first one ended.

    (q, v, nu, p) -> r_q, r_v, shared (n_s,)
    (xi, shared)  -> s_qq, s_vq, s_vv, s_qnu at the q, v, nu and p of `shared`

    `shared` holds whatever the second order needs that does not depend on xi; most of it the first order needs, too.
    """
    joint = of.symbols()
    at = [joint.q, joint.v, joint.nu]
    blocks = second("second", of).call([*at, joint.xi, joint.p])
    flat = cs.vertcat(*[cs.vec(one) for one in blocks])
    point = cs.vertcat(*at, joint.p)
    flat, symbols, values = cs.extract_parametric(flat, point)
    known = {point[i].element_hash() for i in range(point.numel())}
    # What is multiplied by xi as it is counts as no expression, and stays in `flat`.
    bare = [one for one in cs.symvar(flat) if one.element_hash() in known]
    shared = cs.vertcat(cs.SX(0, 1), *symbols, *bare)
    split = cs.vertsplit(flat, np.cumsum([0, *(one.numel() for one in blocks)]).tolist())
    blocks = [cs.reshape(part, *block.shape) for part, block in zip(split, blocks, strict=True)]
    left = [*first("first", of).call([*at, joint.p]), cs.vertcat(cs.SX(0, 1), *values, *bare)]
    return (
        _dense(first_name, joint, ["q", "v", "nu", "p"], dict(zip(("r_q", "r_v", "shared"), left, strict=True))),
        _function(second_name, {"xi": joint.xi, "shared": shared}, dict(zip(SECOND, blocks, strict=True))),
    )


def feet(name: str, mechanism: Mechanism, axes: Axes) -> cs.Function:
    """(q, p) -> positions (n_f n_axes,) of the lowest points of all feet in the world [m]; Jacobian by q."""
    q, absolute = cs.SX.sym("q", mechanism.n), cs.SX.sym("absolute", mechanism.n)
    p = cs.SX.sym("p", n_parameters(len(mechanism.feet)))
    positions = _positions(mechanism, absolute, axes)
    jacobian = cs.jacobian(positions, absolute)
    at_joints = cs.Function("feet", [absolute], [positions, jacobian])
    positions, jacobian = at_joints.call([mechanism.absolute(q)])
    jacobian = pull_back_columns(mechanism, jacobian)
    outputs = [cs.densify(one) for one in cs.cse([positions, jacobian])]
    return cs.Function(name, [q, p], outputs, ["q", "p"], ["positions", "jacobian"])


def feet_second(name: str, mechanism: Mechanism, axes: Axes) -> cs.Function:
    """(q, w, J') -> (n, n) sum of w_i times the Hessian by q of the i-th position of `feet`, whose Jacobian is J.

    A joint with axis a turns with it every column of J that belongs to it or to a joint after it, as far as the foot:
    dJ_j/dq_i = a_i x J_j.
    """
    q = cs.SX.sym("q", mechanism.n)
    geometry = Geometry(mechanism, mechanism.absolute(q))
    weights = cs.SX.sym("w", len(mechanism.feet) * len(axes))
    given = cs.SX.sym("J'", mechanism.n, weights.numel())
    hessian = cs.SX(mechanism.n, mechanism.n)
    for k, foot in enumerate(mechanism.feet):
        rows = slice(k * len(axes), (k + 1) * len(axes))
        jacobian = _in_space(geometry, foot, axes, given[:, rows].T, q)
        weight = mrneac.in_world(axes, weights[rows])
        joints = mechanism.path(foot.body)
        for along, i in enumerate(joints):
            link = mechanism.links[i]
            if link.prismatic:
                continue
            turned = cross(weight, link.sign * geometry.into_world(i, symbolic(link.axis)))
            for j in joints[along:]:
                hessian[j, i] += cs.dot(turned, jacobian[:, j])
    outputs = [cs.densify(one) for one in cs.cse([mirrored(hessian)])]
    return cs.Function(name, [q, weights, given], outputs, ["q", "w", "jacobian_t"], ["hessian"])


def _in_space(geometry: Geometry, foot: Foot, axes: Axes, given: cs.SX, q: cs.SX) -> cs.SX:
    """(3, n) Jacobian of a foot's position, of which the rows of the axes are given."""
    jacobian = cs.densify(cs.jacobian(geometry.position(foot), q))
    for k, axis in enumerate(axes):
        jacobian[axis, :] = given[k, :]
    return jacobian


def _positions(mechanism: Mechanism, absolute: cs.SX, axes: Axes) -> cs.SX:
    """Stacked lowest points of all feet in the world [m]."""
    geometry = Geometry(mechanism, absolute)
    return cs.vertcat(*[mrneac.position(geometry, foot, axes) for foot in mechanism.feet])


def _at_joints(of: ScalarSystem, x: Symbols, joint: Symbols, outputs: list[cs.SX]) -> list[cs.SX]:
    """Expressions of absolute symbols at the absolute coordinates of the joint symbols."""
    mechanism, n = of.mechanism, of.mechanism.n
    function = cs.Function("absolute", x.inputs(), outputs)
    return function.call(
        [
            mechanism.absolute(joint.q),
            mechanism.absolute(joint.v),
            cs.vertcat(mechanism.absolute(joint.nu[:n]), joint.nu[n:, :]),
            cs.vertcat(mechanism.absolute(joint.xi[:n]), joint.xi[n:, :]),
            joint.p,
        ]
    )


def pull_back_rows(mechanism: Mechanism, matrix: cs.SX) -> cs.SX:
    """The first n rows to joint coordinates; constraint rows stay."""
    n = mechanism.n
    return cs.vertcat(mechanism.pull_back(matrix[:n, :]), matrix[n:, :])


def pull_back_columns(mechanism: Mechanism, matrix: cs.SX) -> cs.SX:
    """The first n columns to joint coordinates; constraint columns stay."""
    return pull_back_rows(mechanism, matrix.T).T


def mirrored(symmetric: cs.SX) -> cs.SX:
    """A symmetric matrix from its lower triangle alone: the upper one would be computed a second time."""
    return cs.tril2symm(cs.tril(symmetric))


def _dense(name: str, joint: Symbols, inputs: list[str], outputs: dict[str, cs.SX]) -> cs.Function:
    return _function(name, {one: getattr(joint, one) for one in inputs}, outputs)


def _function(name: str, inputs: dict[str, cs.SX], outputs: dict[str, cs.SX]) -> cs.Function:
    """A function with shared subexpressions and dense outputs."""
    expressions = [cs.densify(one) for one in cs.cse(list(outputs.values()))]
    return cs.Function(name, list(inputs.values()), expressions, list(inputs), list(outputs))


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
    outputs = {
        key: _at_joints_of_pair(of.mechanism, dual, key, value) for key, value in zip(pairs, values, strict=True)
    }
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


def _at_joints_of_pair(mechanism: Mechanism, dual: cs.SX, pair: str, block: cs.SX) -> cs.SX:
    """A block from absolute to joint coordinates and torques."""
    rows = mechanism.pull_back(block)
    if pair == "qtau":
        return cs.mtimes(rows, dual)
    block = pull_back_columns(mechanism, rows)
    return block if pair == "qv" else mirrored(block)
