r"""The node functions of the contact problem: where compiled dynamics meets the solver. Any n, any set of feet.

Implements `step`, `first` and `second` of :mod:`contact_ddp_ros.ocp.protocol` for x = (q, v), u = τ:

* time step: K(q) ν + b(q, v) = [Sᵀu; 0] with ν = (v̇, λ), then forward Euler (q + h v, v + h v̇) or semi-implicit
  Euler (v⁺ = v + h v̇, q + h v⁺); or the same system at the middle of the step (:mod:`contact_ddp_ros.mpc.midpoint`);
* touchdown: the same with ν = (v⁺, Λ) and the impact's residual; q does not move;
* lift-off: identity; change of the attitude's chart: :mod:`contact_ddp_ros.mpc.euler_switch_nodes`;
* time step of the horizon's tail: the robot as one rigid body (:mod:`contact_ddp_ros.mpc.single_rigid_body_nodes`).

First order, with z ∈ {q, v, u} and the residual's partials r_z:  ν_z = −K⁻¹ r_z,  ν_u = K⁻¹ [Sᵀ; 0].

Second order, contracted with γ = ((∂x⁺/∂v̇)ᵀ V'x, ℓ_λ) through ξ = −K⁻¹γ and the Hessian of s = mRNEAc(…, ξ):

    γᵀν_zy = s_zy + s_zν ν_y + (s_yν ν_z)ᵀ,  in which only s_qq, s_qv, s_vv and s_qν are not structurally zero.

The cost of a time step of length h is

    ℓ = h [ ½‖x − x_ref‖²_Q + ½‖u‖²_R + ½‖λ − λ_ref‖²_S + ½‖height − height_ref‖²_P
            + ε Σ B_δ(1 ± u/u_max) + ε Σ_contacts ( B_δ(λ_n/F) + Σ_t B_δ((friction λ_n ± λ_t)/F) ) ]

with ψ in the place of ε B_δ for a solver that owns slacks and multipliers of these inequalities,

and where the user has terms of their own, h times those (:mod:`contact_ddp_ros.mpc.custom_terms`);
that of a switch and of the end ½‖x − x_ref‖²_Q plus, at a touchdown, the augmented Lagrangian of the feet's heights
and, over the time h that the impulses Λ of the feet that land are given, ε h Σ B_δ(Λ_n/(F h)).
Each term is a file of :mod:`contact_ddp_ros.mpc.terms`, and their list gives the sums of
:mod:`contact_ddp_ros.mpc.term_sums`; `contact_forces`, `landing_forces` and `foot_heights` carry those on forces,
impulses and heights to (x, u).

See eqs. (1) to (11) of docs/mathematics.md.
"""

import numba as nb
import numpy as np

from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.contact_curvature import motion_curvature
from contact_ddp_ros.mpc.contact_forces import add_force_terms, force_cost, force_limits
from contact_ddp_ros.mpc.contact_motion import locate_feet, mode_block, motion_partials, solve_motion
from contact_ddp_ros.mpc.euler_switch_nodes import change_chart, change_curvature, change_partials
from contact_ddp_ros.mpc.foot_heights import add_height_cost, add_height_curvature, height_cost, height_slopes
from contact_ddp_ros.mpc.landing_forces import add_landing_cost, landing_cost, landing_slopes
from contact_ddp_ros.mpc.layout import aux_offsets, position_share, sizes_of
from contact_ddp_ros.mpc.optional_kernels import (
    add_own_cost_at,
    add_own_curvature_at,
    add_own_force_slopes_at,
    body_first_at,
    body_second_at,
    body_step_at,
    curvature_by_tensor_at,
    midpoint_curvature_at,
    midpoint_partials_at,
    own_cost_at,
    solve_midpoint_at,
)
from contact_ddp_ros.mpc.term_sums import EntrySums
from contact_ddp_ros.mpc.terms.term import COMPILED, Argument
from contact_ddp_ros.ocp.linear_algebra import clear
from contact_ddp_ros.ocp.numba_views import borrow, part, table
from contact_ddp_ros.ocp.protocol import DATA, FIRST, MATRIX, SECOND, STEP, VECTOR

_states, _torques = EntrySums(Argument.STATE), EntrySums(Argument.TORQUE)
_state_terms, _torque_terms, _torque_limits = _states.derivatives, _torques.derivatives, _torques.limits


@njit(STEP, nogil=True, error_model="numpy")
def step(data, k, x, u, x_next, aux, residual):
    """One node forward; see the module's text for the cost."""
    data, x, u, x_next, aux, residual = borrow((data, x, u, x_next, aux, residual))
    integers, node_integers, parameters, node_parameters, multipliers, penalty = data
    n, n_u, n_f, n_a = sizes_of(integers)
    kind = node_integers[k, at.NODE_KIND]
    row, duals = node_parameters[k], multipliers[k]
    own = aux_offsets(n, n_u, n_f, n_a)
    h = row[at.DURATION]
    for f in range(residual.size):
        residual[f] = np.inf
    for f in range(integers[at.EQUALITIES]):
        residual[f] = 0.0
    residual[-1] = 0.0
    violation = 0.0
    cost = 0.0
    for i in range(2 * n):
        cost, _, _ = _state_terms(cost, integers, 1.0, i, x[i], 2 * n, row, parameters, duals, penalty)

    if kind == at.RIGID_BODY:
        body_step = body_step_at(integers[at.BODY_NODE_STEP])
        return h * (cost + body_step(data, k, x, u, x_next, aux, residual))
    if kind == at.STEP:
        block = mode_block(integers, node_integers[k, at.NODE_MODE])
        if integers[at.SCHEME] == at.IMPLICIT_MIDPOINT:
            solve_midpoint = solve_midpoint_at(integers[at.SOLVE_MIDPOINT])
            if not solve_midpoint(integers, block, h, x, u, row, aux):
                for i in range(2 * n):
                    x_next[i] = np.inf
                return np.inf
        else:
            solve_motion(integers, block, False, x, u, row, aux)
        for a in range(n_u):
            cost, _, _ = _torque_terms(cost, integers, 1.0, a, u[a], n_u, row, parameters, duals, penalty)
            violation = _torque_limits(violation, integers, a, u[a], n_u, parameters, residual)
        gradient = part(aux, own.scratch, n_f * n_a)
        cost += force_cost(integers, block, row, parameters, penalty, duals, aux, gradient)
        violation = max(violation, force_limits(integers, block, row, parameters, aux, residual))
        if integers[at.TERMS] != 0:
            own_cost = own_cost_at(integers[at.OWN_COST])
            value, excess = own_cost(integers, block, row, penalty, duals, x, u, aux, residual)
            cost += value
            violation = max(violation, excess)
        locate_feet(integers, block, x, row, aux)
        cost, excess = height_cost(data, k, cost, aux, residual)
        violation = max(violation, excess)
        if integers[at.SCHEME] == at.SEMI_IMPLICIT_EULER:
            for i in range(n):
                x_next[n + i] = x[n + i] + h * aux[i]
                x_next[i] = x[i] + h * x_next[n + i]
        elif integers[at.SCHEME] == at.IMPLICIT_MIDPOINT:
            middle = own.middle
            for i in range(n):
                x_next[n + i] = x[n + i] + h * aux[i]
                x_next[i] = x[i] + h * aux[middle + n + i]
        else:
            for i in range(n):
                x_next[i] = x[i] + h * x[n + i]
                x_next[n + i] = x[n + i] + h * aux[i]
        residual[-1] = violation
        return h * cost

    if kind == at.TOUCHDOWN:
        block = mode_block(integers, node_integers[k, at.NODE_MODE])
        locate_feet(integers, block, x, row, aux)
        cost, residual[-1] = height_cost(data, k, cost, aux, residual)
        block = mode_block(integers, node_integers[k + 1, at.NODE_MODE])
        solve_motion(integers, block, True, x, u, row, aux)
        for i in range(n):
            x_next[i] = x[i]
            x_next[n + i] = aux[i]
        landing, excess = landing_cost(data, k, aux, residual)
        cost += landing
        residual[-1] = max(residual[-1], excess)
    elif kind == at.LIFT_OFF:
        for i in range(2 * n):
            x_next[i] = x[i]
    elif kind == at.CHART_CHANGE:
        change_chart(data, k, x, x_next)
    return cost


@njit(FIRST, nogil=True, error_model="numpy")
def first(data, k, x, u, aux, d):
    """First-order partials of a node and the Gauss-Newton Hessian of its cost."""
    data, x, u, aux, d = borrow((data, x, u, aux, d))
    integers, node_integers, parameters, node_parameters, multipliers, penalty = data
    fx, fu, lx, lu, lxx, lux, luu = d
    n, n_u, n_f, n_a = sizes_of(integers)
    kind = node_integers[k, at.NODE_KIND]
    row, duals = node_parameters[k], multipliers[k]
    own = aux_offsets(n, n_u, n_f, n_a)
    n_x, n_z = 2 * n, 2 * n + n_u
    h = row[at.DURATION] if kind == at.STEP or kind == at.RIGID_BODY else 1.0
    if kind != at.STEP:
        clear(fx)
        clear(fu)
    clear(lxx)
    clear(lux)
    clear(luu)
    for i in range(n_x):
        _, lx[i], lxx[i, i] = _state_terms(0.0, integers, h, i, x[i], n_x, row, parameters, duals, penalty)
    for a in range(n_u):
        lu[a] = 0.0
    if kind == at.TERMINAL:
        return
    if kind == at.RIGID_BODY:
        body_first_at(integers[at.BODY_NODE_FIRST])(data, k, x, u, aux, fx, fu, lu, luu)
        return
    if kind == at.LIFT_OFF:
        for i in range(n_x):
            fx[i, i] = 1.0
        return
    if kind == at.CHART_CHANGE:
        change_partials(data, k, x, aux, fx)
        return

    if kind == at.TOUCHDOWN:
        block = mode_block(integers, node_integers[k + 1, at.NODE_MODE])
        motion_partials(integers, block, True, x, row, aux)
        nu_z = table(aux, own.derivatives, n, n_z)
        for i in range(n):
            fx[i, i] = 1.0
            for j in range(n_x):
                fx[n + i, j] = nu_z[i, j]
        add_landing_cost(data, k, aux, lx, lxx)
    else:
        block = mode_block(integers, node_integers[k, at.NODE_MODE])
        if integers[at.SCHEME] == at.IMPLICIT_MIDPOINT:
            midpoint_partials_at(integers[at.MIDPOINT_PARTIALS])(integers, block, h, row, aux)
        else:
            motion_partials(integers, block, False, x, row, aux)
        nu_z = table(aux, own.derivatives, n, n_z)
        share = h * position_share(integers[at.SCHEME])
        for i in range(n):
            for j in range(n_x):
                change = h * nu_z[i, j]
                fx[n + i, j] = change
                fx[i, j] = share * change
            for a in range(n_u):
                change = h * nu_z[i, n_x + a]
                fu[n + i, a] = change
                fu[i, a] = share * change
            fx[n + i, n + i] += 1.0
            fx[i, i] += 1.0
            fx[i, n + i] += h
        for a in range(n_u):
            _, slope, bend = _torque_terms(0.0, integers, 1.0, a, u[a], n_u, row, parameters, duals, penalty)
            lu[a] = h * slope
            luu[a, a] = h * bend
        add_force_terms(integers, block, h, row, parameters, penalty, duals, aux, lx, lu, lxx, lux, luu)
        if integers[at.TERMS] != 0:
            add_own_cost = add_own_cost_at(integers[at.ADD_OWN_COST])
            add_own_cost(integers, block, h, row, penalty, duals, x, u, aux, lx, lu, lxx, lux, luu)

    slopes = part(aux, own.scratch, n_f)
    bends = part(aux, own.scratch + n_f, n_f)
    height_slopes(data, k, aux, slopes, bends)
    add_height_cost(integers, row, aux, slopes, bends, lx, lxx)


@njit(nb.int64(DATA, nb.int64, VECTOR, VECTOR, VECTOR, VECTOR), **COMPILED)
def _contraction(data, k, x, u, vx, aux):
    """Leave γ of a node, V'x through the integration scheme and ℓ_λ, in aux; its mode's block, −1 without dynamics."""
    integers, node_integers, parameters, node_parameters, multipliers, penalty = data
    n, n_u, n_f, n_a = sizes_of(integers)
    kind = node_integers[k, at.NODE_KIND]
    if kind != at.STEP and kind != at.TOUCHDOWN:
        return -1
    row, duals = node_parameters[k], multipliers[k]
    own = aux_offsets(n, n_u, n_f, n_a)
    block = mode_block(integers, node_integers[k + 1 if kind == at.TOUCHDOWN else k, at.NODE_MODE])
    n_s = n + integers[block + at.CONTACTS] * n_a
    gamma = part(aux, own.xi, n_s)
    if kind == at.TOUCHDOWN:
        for i in range(n):
            gamma[i] = vx[n + i]
        landing_slopes(data, k, aux, gamma[n:])
        return block
    h = row[at.DURATION]
    share = h * h * position_share(integers[at.SCHEME])
    for i in range(n):
        gamma[i] = h * vx[n + i] + share * vx[i]
    force_cost(integers, block, row, parameters, penalty, duals, aux, gamma[n:])
    if integers[at.TERMS] != 0:
        add_own_force_slopes = add_own_force_slopes_at(integers[at.ADD_OWN_FORCE_SLOPES])
        add_own_force_slopes(integers, block, row, penalty, duals, x, u, aux, gamma[n:])
    for i in range(n, n_s):
        gamma[i] *= h
    return block


@njit(nb.void(DATA, nb.int64, nb.int64, VECTOR, VECTOR, VECTOR, MATRIX, MATRIX, MATRIX), **COMPILED)
def _add_cost_curvature(data, k, block, x, u, aux, hxx, hux, huu):
    """Add what Gauss-Newton leaves out of the cost's Hessian, but for that of λ(x, u), which is part of γ's."""
    add_height_curvature(data, k, x, aux, hxx)
    if data[1][k, at.NODE_KIND] == at.STEP and data[0][at.TERMS] != 0:
        row = data[3][k]
        add_own_curvature = add_own_curvature_at(data[0][at.ADD_OWN_CURVATURE])
        add_own_curvature(data[0], block, row[at.DURATION], row, data[5], data[4][k], x, u, aux, hxx, hux, huu)


@njit(nb.void(DATA, nb.int64, VECTOR, VECTOR, VECTOR, VECTOR, MATRIX, MATRIX), **COMPILED)
def _without_dynamics(data, k, x, u, aux, vx, hxx, hux):
    """`second` of a node without contact dynamics: lift-off and end have no curvature."""
    kind = data[1][k, at.NODE_KIND]
    if kind == at.RIGID_BODY:
        body_second_at(data[0][at.BODY_NODE_SECOND])(data, k, x, u, aux, vx, hxx, hux)
        return
    clear(hxx)
    clear(hux)
    if kind == at.CHART_CHANGE:
        change_curvature(data, k, x, vx, aux, hxx)


@njit(SECOND, nogil=True, error_model="numpy")
def second(data, k, x, u, aux, vx, hxx, hux, huu):
    """Contracted second-order partials of a node: dynamics by mRNEAc, or by tensors, and the feet's heights'."""
    data, x, u, aux, vx, hxx, hux, huu = borrow((data, x, u, aux, vx, hxx, hux, huu))
    clear(huu)
    block = _contraction(data, k, x, u, vx, aux)
    if block < 0:
        _without_dynamics(data, k, x, u, aux, vx, hxx, hux)
        return
    impact = data[1][k, at.NODE_KIND] == at.TOUCHDOWN
    if data[0][at.CURVATURE_BY_TENSOR] != 0:
        by_tensor = curvature_by_tensor_at(data[0][at.CURVATURE_BY_TENSOR])
        by_tensor(data[0], block, impact, x, u, data[3][k], aux, hxx, hux)
    elif data[0][at.SCHEME] == at.IMPLICIT_MIDPOINT and not impact:
        midpoint_curvature = midpoint_curvature_at(data[0][at.MIDPOINT_CURVATURE])
        midpoint_curvature(data[0], block, data[3][k, at.DURATION], data[3][k], aux, hxx, hux, huu)
    else:
        motion_curvature(data[0], block, impact, x, data[3][k], aux, hxx, hux)
    _add_cost_curvature(data, k, block, x, u, aux, hxx, hux, huu)
