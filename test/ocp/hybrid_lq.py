"""Linear-quadratic problems over modes and resets, and their optimum from one dense KKT system.

    minimise   Σ_k ½‖x_k − x_ref,k‖²_Q,k + ½‖u_k‖²_R,k + ½‖x_N − x_ref,N‖²_Q,N
    subject to x_{k+1} = A_k x_k + B_k u_k + c_k,   C_k x_k = d_k at some nodes,   |u| ≤ u_max

The equality enters as the augmented Lagrangian, the limit as the relaxed barrier of the solver's penalties.
"""

from dataclasses import dataclass, replace

import numba as nb
import numpy as np

from contact_ddp_ros.ocp.multipliers import augmented_lagrangian, relaxed_barrier
from contact_ddp_ros.ocp.protocol import FIRST, SECOND, STEP, VECTOR, Problem

_OFFSETS = nb.types.UniTuple(nb.int64, 9)


@nb.njit(_OFFSETS(nb.int64, nb.int64), cache=True)
def _offsets(n_x, n_u):
    """Of (A, B, c, Q, x_ref, R, C, (d, whether there is a constraint)) in a node's row, and the row's size."""
    b = n_x * n_x
    c = b + n_x * n_u
    q = c + n_x
    x_ref = q + n_x * n_x
    r = x_ref + n_x
    constraint = r + n_u * n_u
    d = constraint + n_x
    return 0, b, c, q, x_ref, r, constraint, d, d + 2


@nb.njit(nb.float64(VECTOR, VECTOR, nb.int64, nb.int64), cache=True)
def _residual(row, x, constraint, d):
    return row[constraint:d] @ x - row[d] if row[d + 1] > 0.0 else 0.0


@nb.njit(STEP, cache=True)
def _step(data, k, x, u, x_next, aux, residual):
    _, _, parameters, node_parameters, multipliers, penalty = data
    n_x, n_u = x.size, u.size
    _, b, c, q, x_ref, r, constraint, d, _ = _offsets(n_x, n_u)
    row = node_parameters[k]
    error = x - row[x_ref:r]
    cost = 0.5 * error @ (row[q:x_ref].reshape(n_x, n_x) @ error)
    residual[0] = _residual(row, x, constraint, d)
    residual[1] = 0.0
    if row[d + 1] > 0.0:
        value, _, _ = augmented_lagrangian(residual[0], multipliers[k, 0], penalty[0])
        cost += value
    if k == node_parameters.shape[0] - 1:
        return cost
    cost += 0.5 * u @ (row[r:constraint].reshape(n_u, n_u) @ u)
    for a in range(n_u):
        ratio = u[a] / parameters[0]
        residual[1] = max(residual[1], abs(ratio) - 1.0)
        if penalty[2] > 0.0:
            lower, _, _ = relaxed_barrier(1.0 + ratio, penalty[1])
            upper, _, _ = relaxed_barrier(1.0 - ratio, penalty[1])
            cost += penalty[2] * (lower + upper)
    x_next[:] = row[:b].reshape(n_x, n_x) @ x + row[b:c].reshape(n_x, n_u) @ u + row[c:q]
    return cost


@nb.njit(FIRST, cache=True)
def _first(data, k, x, u, aux, derivatives):
    _, _, parameters, node_parameters, multipliers, penalty = data
    fx, fu, lx, lu, lxx, lux, luu = derivatives
    n_x, n_u = x.size, u.size
    _, b, c, q, x_ref, r, constraint, d, _ = _offsets(n_x, n_u)
    row = node_parameters[k]
    lxx[:, :] = row[q:x_ref].reshape(n_x, n_x)
    lx[:] = lxx @ (x - row[x_ref:r])
    lux[:, :] = 0.0
    if row[d + 1] > 0.0:
        value = _residual(row, x, constraint, d)
        _, slope, bend = augmented_lagrangian(value, multipliers[k, 0], penalty[0])
        for i in range(n_x):
            lx[i] += slope * row[constraint + i]
            for j in range(n_x):
                lxx[i, j] += bend * row[constraint + i] * row[constraint + j]
    if k == node_parameters.shape[0] - 1:
        return
    fx[:, :] = row[:b].reshape(n_x, n_x)
    fu[:, :] = row[b:c].reshape(n_x, n_u)
    luu[:, :] = row[r:constraint].reshape(n_u, n_u)
    lu[:] = luu @ u
    if penalty[2] > 0.0:
        for a in range(n_u):
            limit = parameters[0]
            _, lower, lower_bend = relaxed_barrier(1.0 + u[a] / limit, penalty[1])
            _, upper, upper_bend = relaxed_barrier(1.0 - u[a] / limit, penalty[1])
            lu[a] += penalty[2] * (lower - upper) / limit
            luu[a, a] += penalty[2] * (lower_bend + upper_bend) / limit**2


@nb.njit(SECOND, cache=True)
def _second(data, k, x, u, aux, vx, hxx, hux, huu):
    hxx[:, :] = 0.0
    hux[:, :] = 0.0
    huu[:, :] = 0.0


@dataclass(frozen=True, eq=False)
class Stage:
    """One node; a reset has no control. constraint: (C (n_x,), d), or None."""

    A: np.ndarray
    B: np.ndarray
    c: np.ndarray
    Q: np.ndarray
    x_ref: np.ndarray
    R: np.ndarray
    has_control: bool = True
    constraint: tuple[np.ndarray, float] | None = None

    def row(self):
        c_row, d = self.constraint or (np.zeros(len(self.c)), 0.0)
        blocks = (self.A, self.B, self.c, self.Q, self.x_ref, self.R, c_row)
        return np.concatenate([*(np.ravel(block) for block in blocks), [d, float(self.constraint is not None)]])


def identity_reset(stage: Stage) -> Stage:
    """A node that changes nothing and costs nothing, of the sizes of another."""
    zeros = {name: np.zeros_like(getattr(stage, name)) for name in ("B", "c", "Q", "x_ref", "R")}
    return replace(stage, A=np.eye(len(stage.c)), has_control=False, constraint=None, **zeros)


def hybrid_lq(stages, terminal: Stage, u_max: float = np.inf) -> Problem:
    """The problem of these nodes; of `terminal` only the state's cost and the constraint count."""
    n_x, n_u = terminal.B.shape
    return Problem(
        n_x=n_x,
        n_u=n_u,
        n_e=1,
        n_aux=1,
        has_control=np.array([stage.has_control for stage in stages]),
        integers=np.zeros(1, dtype=np.int64),
        node_integers=np.zeros((len(stages) + 1, 1), dtype=np.int64),
        parameters=np.array([u_max]),
        node_parameters=np.stack([stage.row() for stage in (*stages, terminal)]),
        step=_step,
        first=_first,
        second=_second,
    )


@dataclass(frozen=True)
class Optimum:
    """xs (N+1, n_x), us (N, n_u), cost, and the multiplier of each constrained node."""

    xs: np.ndarray
    us: np.ndarray
    cost: float
    multipliers: dict[int, float]


def kkt_optimum(stages, terminal: Stage, x0) -> Optimum:
    """The optimum without control limits, from the stationarity conditions in one dense linear system.

    Unknowns are w = (x_0 … x_N, u_0 … u_{N−1}) and the multipliers y of G w = g: H w − f + Gᵀ y = 0.
    """
    n_x, n_u = terminal.B.shape
    n = len(stages)
    n_w = (n + 1) * n_x + n * n_u
    hessian, linear = np.zeros((n_w, n_w)), np.zeros(n_w)

    def x_at(k):
        return slice(k * n_x, (k + 1) * n_x)

    def u_at(k):
        return slice((n + 1) * n_x + k * n_u, (n + 1) * n_x + (k + 1) * n_u)

    rows, right = [], []

    def require(size, blocks, value):
        row = np.zeros((size, n_w))
        for where, block in blocks:
            row[:, where] = block
        rows.append(row)
        right.append(np.atleast_1d(value))
        return sum(len(one) for one in right) - size

    constrained = {}
    require(n_x, [(x_at(0), np.eye(n_x))], x0)
    for k, stage in enumerate((*stages, terminal)):
        hessian[x_at(k), x_at(k)] = stage.Q
        linear[x_at(k)] = stage.Q @ stage.x_ref
        if stage.constraint is not None:
            constrained[k] = require(1, [(x_at(k), stage.constraint[0])], stage.constraint[1])
        if k == n:
            break
        b = stage.B if stage.has_control else 0.0 * stage.B
        require(n_x, [(x_at(k + 1), np.eye(n_x)), (x_at(k), -stage.A), (u_at(k), -b)], stage.c)
        hessian[u_at(k), u_at(k)] = stage.R if stage.has_control else np.eye(n_u)
    g, value = np.concatenate(rows), np.concatenate(right)
    kkt = np.block([[hessian, g.T], [g, np.zeros((len(g), len(g)))]])
    solution = np.linalg.solve(kkt, np.concatenate([linear, value]))
    w, y = solution[:n_w], solution[n_w:]
    xs = w[: (n + 1) * n_x].reshape(n + 1, n_x)
    us = w[(n + 1) * n_x :].reshape(n, n_u)
    errors = [x - stage.x_ref for x, stage in zip(xs, (*stages, terminal), strict=True)]
    cost = sum(0.5 * e @ stage.Q @ e for e, stage in zip(errors, (*stages, terminal), strict=True))
    cost += sum(0.5 * u @ stage.R @ u for u, stage in zip(us, stages, strict=True))
    return Optimum(xs, us, cost, {k: float(y[row]) for k, row in constrained.items()})


GRAVITY = 9.81
HOP_STEP = 0.02
TOUCHDOWN_HEIGHT = 0.3
RESTITUTION = 0.4


def hopper(constrained: bool):
    """A vertical hopper: thrust in stance, take-off, flight, touchdown that takes most of the speed, thrust again.

    x = (height, velocity), u = thrust per mass. Returns the stages, the terminal stage, the node of the touchdown and
    x0; the height at touchdown is an equality where `constrained`.
    """
    a = np.array([[1.0, HOP_STEP], [0.0, 1.0]])
    push = np.array([[0.5 * HOP_STEP**2], [HOP_STEP]])
    fall = -GRAVITY * push[:, 0]
    weight = HOP_STEP * np.diag([20.0, 1.0])
    effort = HOP_STEP * np.array([[0.05]])
    stance = Stage(a, push, fall, weight, np.array([0.35, 0.5]), effort)
    flight = replace(stance, B=np.zeros((2, 1)), x_ref=np.array([0.4, 0.0]))
    take_off = identity_reset(stance)
    touchdown = replace(
        identity_reset(stance),
        A=np.diag([1.0, -RESTITUTION]),
        constraint=(np.array([1.0, 0.0]), TOUCHDOWN_HEIGHT) if constrained else None,
    )
    stages = [stance] * 12 + [take_off] + [flight] * 15 + [touchdown] + [stance] * 12
    terminal = replace(stance, Q=np.diag([50.0, 5.0]), x_ref=np.array([0.35, 1.0]))
    return stages, terminal, stages.index(touchdown), np.array([0.28, 0.0])
