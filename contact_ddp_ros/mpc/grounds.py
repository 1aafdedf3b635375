"""The ground under each foot along a horizon, as the node functions have it in their rows.

A foot's ground is the plane z = height + slopesᵀ(x, y) about the place where it stands or lands: feet on a kerb, a box
or stepping stones have unlike ones at the same time, and a foot that climbs has unlike ones before and after its swing.

Cost of the feet's heights of one node for Numba code: clearance in the air, augmented Lagrangian at touchdown.

Cost of the impulses of feet that land for Numba code: the sum of the terms on them, and the chain rule to (q, v).

An impulse Λ counts as the force nᵀΛ/h along the normal n of its foot's ground, over the duration h of the touchdown's
node; where that is zero impulses cost nothing. Λ(q, v) is a result of the impact, so its cost enters as that of the
contact forces does. Everything is for touchdowns only, and needs ν = (v⁺, Λ) in aux.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numba as nb
import numpy as np
from numba import types
from numpy.typing import NDArray

from contact_ddp_ros.base.compiled.call import call_kernel
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.dynamics.contact import ALPHA, UP, n_parameters
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.contact_geometry import height_of, height_slope, in_space, normal_of
from contact_ddp_ros.mpc.contact_motion import mode_block
from contact_ddp_ros.mpc.layout import aux_offsets, lands_of, sizes_of
from contact_ddp_ros.mpc.term_sums import EntrySums
from contact_ddp_ros.mpc.terms.term import COMPILED, Argument
from contact_ddp_ros.ocp.numba_views import address, part, table
from contact_ddp_ros.ocp.protocol import DATA, INTEGERS, MATRIX, VECTOR
from contact_ddp_ros.robot.ground import FootHeights, LocalGround

Array = NDArray[np.float64]


@dataclass(frozen=True)
class FootGrounds:
    """Planes in the model's axes, for all nodes or for each; those of a sagittal model have no second slope.

    Attributes:
        heights: (n_f,) or (N+1, n_f) at the axes' origin [m].
        slopes: (n_f, 2) or (N+1, n_f, 2) rise over run along the first and the second horizontal axis.
    """

    heights: Array
    slopes: Array

    @classmethod
    def shared(cls, ground: LocalGround, n_f: int) -> "FootGrounds":
        """One plane under all of n_f feet."""
        return cls(np.full(n_f, ground.height), np.tile([ground.slope, ground.aside], (n_f, 1)))

    @classmethod
    def named(
        cls, feet: Sequence[str], ground: LocalGround, others: Mapping[str, LocalGround] | None = None
    ) -> "FootGrounds":
        """One plane under all `feet` but those that are among `others` by name.

        Raises:
            ParameterError: there is no such foot.
        """
        known = others or {}
        for name in known:
            if name not in feet:
                raise ParameterError(f"a ground is given for {name!r}; the feet are {', '.join(feet)}")
        planes = [known.get(name, ground) for name in feet]
        slopes = np.array([(one.slope, one.aside) for one in planes]).reshape(len(planes), 2)
        return cls(np.array([one.height for one in planes]), slopes)

    @classmethod
    def of_heights(
        cls,
        ground: LocalGround,
        heights: FootHeights,
        stance: NDArray[np.bool_],
        swinging: NDArray[np.bool_],
        progress: Array,
    ) -> "FootGrounds":
        """The plane raised under each foot: as it stands until it first leaves the ground, as it lands from then on.

        In the swing between, above which a foot's clearance counts, it goes over from the one to the other: to higher
        ground in the first half, to lower ground in the second, so that edges between are cleared.

        Args:
            ground: the plane.
            heights: above it, of the model's n_f feet.
            stance: (N+1, n_f) which foot is on the ground at each node; after a switch at the beginning, for that too.
            swinging, progress: (N+1, n_f) whether each foot swings by its phase, and how far it has come, 0 to 1.
        """
        standing, landing = np.array(heights.standing), np.array(heights.landing)
        first_stance = np.logical_and.accumulate(stance, axis=0)
        first_swing = ~stance & (np.cumsum(np.diff(stance, axis=0, prepend=stance[:1]), axis=0) <= stance[0])
        share = np.where(first_stance, 0.0, 1.0)
        half = np.clip(2.0 * progress - (landing < standing), 0.0, 1.0)
        share = np.where(first_swing & swinging, half * half * (3.0 - 2.0 * half), share)
        raised = standing + share * (landing - standing)
        slopes = np.broadcast_to([ground.slope, ground.aside], (*raised.shape, 2))
        return cls(ground.height + raised, slopes)

    @property
    def planes(self) -> Array:
        """(..., n_f, 4) d and m of m . x = d."""
        vertical = np.ones((*self.heights.shape, 1))
        return np.concatenate([self.heights[..., None], -self.slopes, vertical], axis=-1)

    def heights_at(self, points: Array) -> Array:
        """(..., n_f) of the grounds below points (..., n_f, 2) [m]."""
        return self.heights + (self.slopes * points).sum(axis=-1)


@dataclass(frozen=True, kw_only=True)
class GroundModel:
    """The ground as the contact dynamics have it.

    Attributes:
        grounds: under each foot.
        baumgarte_rate: of the contacts' stabilisation, 0 for none [1/s].
    """

    grounds: FootGrounds
    baumgarte_rate: float

    def rows(self, n_rows: int) -> Array:
        """(n_rows, n_p) parameters of the dynamics at each node."""
        n_f = self.grounds.heights.shape[-1]
        rows = np.zeros((n_rows, n_parameters(n_f)))
        rows[:, ALPHA], rows[:, UP + 2] = self.baumgarte_rate, 1.0
        rows[:, at.GROUNDS - at.MODEL :].reshape(n_rows, n_f, at.GROUND_SIZE)[:] = self.grounds.planes
        return rows


def planes_in(rows: Array, n_f: int) -> Array:
    """(..., n_f, 4) d and m of the feet's grounds in rows (..., size) of node_parameters."""
    block = rows[..., at.GROUNDS : at.GROUNDS + at.GROUND_SIZE * n_f]
    return block.reshape(*rows.shape[:-1], n_f, at.GROUND_SIZE)


_swings, _landings = EntrySums(Argument.FOOT_HEIGHT), EntrySums(Argument.LANDING_HEIGHT)
_swing, _swing_limits, _swing_costs = _swings.derivatives, _swings.limits, _swings.costs
_landing, _landing_limits, _landing_costs = _landings.derivatives, _landings.limits, _landings.costs


_PAIR = types.UniTuple(nb.float64, 2)


@nb.njit(_PAIR(DATA, nb.int64, nb.float64, VECTOR, VECTOR), **COMPILED)
def height_cost(data, k, cost, aux, residual):
    """The cost rate of a time step, or the cost of a touchdown, with that of heights added; the largest violation.

    Writes the constraints of heights into the node's residual; needs the feet's positions in aux.
    """
    integers, node_integers, parameters, node_parameters, multipliers, penalty = data
    n, n_u, n_f, n_a = sizes_of(integers)
    own = aux_offsets(n, n_u, n_f, n_a)
    row, duals = node_parameters[k], multipliers[k]
    violation = 0.0
    for f in range(n_f):
        height = height_of(row, f, n_a, aux, own.positions + f * n_a)
        if node_integers[k, at.NODE_KIND] == at.STEP:
            cost, _, _ = _swing(cost, integers, 1.0, f, height, n_f, row, parameters, duals, penalty)
            violation = _swing_limits(violation, integers, f, height, n_f, parameters, residual)
        elif row[lands_of(n_f) + f] > 0.0:
            cost, _, _ = _landing(cost, integers, 1.0, f, height, n_f, row, parameters, duals, penalty)
            violation = _landing_limits(violation, integers, f, height, n_f, parameters, residual)
    return cost, violation


@nb.njit(nb.void(DATA, nb.int64, VECTOR, VECTOR, VECTOR), **COMPILED)
def height_slopes(data, k, aux, slopes, bends):
    """First and second derivative of the node's cost with respect to the height of each foot."""
    integers, node_integers, parameters, node_parameters, multipliers, penalty = data
    n, n_u, n_f, n_a = sizes_of(integers)
    own = aux_offsets(n, n_u, n_f, n_a)
    row, duals = node_parameters[k], multipliers[k]
    for f in range(n_f):
        height = height_of(row, f, n_a, aux, own.positions + f * n_a)
        slopes[f] = 0.0
        bends[f] = 0.0
        if node_integers[k, at.NODE_KIND] == at.STEP:
            _, slopes[f], bends[f] = _swing(
                *(0.0, integers, row[at.DURATION], f, height, n_f, row, parameters, duals, penalty)
            )
        elif row[lands_of(n_f) + f] > 0.0:
            _, slopes[f], bends[f] = _landing(*(0.0, integers, 1.0, f, height, n_f, row, parameters, duals, penalty))


@nb.njit(nb.void(DATA, nb.int64, VECTOR, VECTOR), cache=True, error_model="numpy")
def note_height_costs(data, k, aux, costs):
    """Add the cost of each term on heights to its entry of `costs`; needs the feet's positions in aux."""
    integers, node_integers, parameters, node_parameters, multipliers, penalty = data
    n, n_u, n_f, n_a = sizes_of(integers)
    own = aux_offsets(n, n_u, n_f, n_a)
    row, duals = node_parameters[k], multipliers[k]
    for f in range(n_f):
        height = height_of(row, f, n_a, aux, own.positions + f * n_a)
        if node_integers[k, at.NODE_KIND] == at.STEP:
            h = row[at.DURATION]
            _swing_costs(costs, integers, h, f, height, n_f, row, parameters, duals, penalty)
        elif row[lands_of(n_f) + f] > 0.0:
            _landing_costs(costs, integers, 1.0, f, height, n_f, row, parameters, duals, penalty)


@nb.njit(nb.void(INTEGERS, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, MATRIX), **COMPILED)
def add_height_cost(integers, row, aux, slopes, bends, lx, lxx):
    """Add Σ_f of slope ∂height and bend ∂height ∂heightᵀ to the cost's gradient and Gauss-Newton Hessian."""
    n, n_u, n_f, n_a = sizes_of(integers)
    own = aux_offsets(n, n_u, n_f, n_a)
    for f in range(n_f):
        if bends[f] == 0.0 and slopes[f] == 0.0:
            continue
        gradient = part(aux, own.scratch + 2 * n_f, n)
        for i in range(n):
            gradient[i] = aux[own.jacobian + (f * n_a + n_a - 1) * n + i]
            for a in range(n_a - 1):
                gradient[i] += height_slope(row, f, n_a, a) * aux[own.jacobian + (f * n_a + a) * n + i]
        for i in range(n):
            lx[i] += slopes[f] * gradient[i]
            for j in range(n):
                lxx[i, j] += bends[f] * gradient[i] * gradient[j]


@nb.njit(nb.void(DATA, nb.int64, VECTOR, VECTOR, MATRIX), **COMPILED)
def add_height_curvature(data, k, x, aux, hxx):
    """Add Σ_f slope ∂²height/∂q² of the node's cost."""
    integers, node_integers, row = data[0], data[1], data[3][k]
    n, n_u, n_f, n_a = sizes_of(integers)
    own = aux_offsets(n, n_u, n_f, n_a)
    slopes = part(aux, own.scratch, n_f)
    bends = part(aux, own.scratch + n_f, n_f)
    height_slopes(data, k, aux, slopes, bends)
    weights = part(aux, own.scratch + 2 * n_f, n_f * n_a)
    wanted = False
    for f in range(n_f):
        for a in range(n_a):
            weights[f * n_a + a] = height_slope(row, f, n_a, a) * slopes[f]
        wanted = wanted or slopes[f] != 0.0
    if not wanted:
        return
    start = own.scratch + 2 * n_f + n_f * n_a
    hessian = table(aux, start, n, n)
    kernel = integers[mode_block(integers, node_integers[k, at.NODE_MODE]) + at.FEET_SECOND]
    given = (address(x, 0), address(weights, 0), address(aux, own.jacobian))
    call_kernel(kernel, given, (address(hessian, 0),), 0, 0)
    for i in range(n):
        for j in range(n):
            hxx[i, j] += hessian[i, j]


_sums = EntrySums(Argument.LANDING_FORCE)
_terms, _limits, _costs = _sums.derivatives, _sums.limits, _sums.costs

_NORMAL = types.UniTuple(nb.float64, 3)
_LANDING = types.Tuple((nb.int64, nb.float64, _NORMAL))


@nb.njit(_LANDING(INTEGERS, nb.int64, nb.int64, VECTOR, VECTOR), cache=True, inline="always", error_model="numpy")
def _landing_force(integers, block, c, row, aux):
    """Foot of contact c, or −1 where it does not land; its force [N]; and n/h, that force by the impulse."""
    n, _, n_f, n_a = sizes_of(integers)
    foot = integers[block + at.MODE_HEADER + c]
    if not (row[at.DURATION] > 0.0 and row[lands_of(n_f) + foot] > 0.0):
        return -1, 0.0, (0.0, 0.0, 0.0)
    rate = 1.0 / row[at.DURATION]
    x, y, z = normal_of(row, foot, n_a)
    impulse = in_space(n_a, aux, n + c * n_a)
    return foot, rate * (x * impulse[0] + y * impulse[1] + z * impulse[2]), (rate * x, rate * y, rate * z)


@nb.njit(types.UniTuple(nb.float64, 2)(DATA, nb.int64, VECTOR, VECTOR), **COMPILED)
def landing_cost(data, k, aux, residual):
    """Cost and largest violation of the terms; writes their constraints into the node's residual."""
    integers, node_integers, parameters, node_parameters, multipliers, penalty = data
    row, duals, n_f = node_parameters[k], multipliers[k], integers[at.N_FEET]
    block = mode_block(integers, node_integers[k + 1, at.NODE_MODE])
    cost, violation = 0.0, 0.0
    for c in range(integers[block + at.CONTACTS]):
        foot, force, _ = _landing_force(integers, block, c, row, aux)
        if foot >= 0:
            cost, _, _ = _terms(cost, integers, row[at.DURATION], foot, force, n_f, row, parameters, duals, penalty)
            violation = _limits(violation, integers, foot, force, n_f, parameters, residual)
    return cost, violation


@nb.njit(nb.void(DATA, nb.int64, VECTOR, VECTOR, MATRIX), **COMPILED)
def add_landing_cost(data, k, aux, lx, lxx):
    """Add the terms to the cost's gradient and Gauss-Newton Hessian; needs ν_z in aux."""
    integers, node_integers, parameters, node_parameters, multipliers, penalty = data
    n, n_u, n_f, n_a = sizes_of(integers)
    own = aux_offsets(n, n_u, n_f, n_a)
    row, duals = node_parameters[k], multipliers[k]
    block = mode_block(integers, node_integers[k + 1, at.NODE_MODE])
    n_x, n_z, n_c = 2 * n, 2 * n + n_u, integers[block + at.CONTACTS] * n_a
    by_z, gradient = table(aux, own.derivatives + n * n_z, n_c, n_z), part(aux, own.scratch, n_x)
    for c in range(integers[block + at.CONTACTS]):
        foot, force, by_impulse = _landing_force(integers, block, c, row, aux)
        if foot < 0:
            continue
        _, slope, bend = _terms(0.0, integers, row[at.DURATION], foot, force, n_f, row, parameters, duals, penalty)
        first, last = by_z[c * n_a], by_z[(c + 1) * n_a - 1]
        for i in range(n_x):
            gradient[i] = by_impulse[0] * first[i] + by_impulse[2] * last[i]
            if n_a == 3:
                gradient[i] += by_impulse[1] * by_z[c * n_a + 1, i]
        for i in range(n_x):
            lx[i] += slope * gradient[i]
            for j in range(n_x):
                lxx[i, j] += bend * gradient[i] * gradient[j]


@nb.njit(nb.void(DATA, nb.int64, VECTOR, VECTOR), **COMPILED)
def landing_slopes(data, k, aux, slopes):
    """Write ∂/∂Λ of the cost, contact by contact: part of the γ of the node."""
    integers, node_integers, parameters, node_parameters, multipliers, penalty = data
    _, _, n_f, n_a = sizes_of(integers)
    row, duals = node_parameters[k], multipliers[k]
    block = mode_block(integers, node_integers[k + 1, at.NODE_MODE])
    for c in range(integers[block + at.CONTACTS]):
        foot, force, by_impulse = _landing_force(integers, block, c, row, aux)
        slope = 0.0
        if foot >= 0:
            _, slope, _ = _terms(0.0, integers, row[at.DURATION], foot, force, n_f, row, parameters, duals, penalty)
        slopes[c * n_a] = slope * by_impulse[0]
        if n_a == 3:
            slopes[c * n_a + 1] = slope * by_impulse[1]
        slopes[(c + 1) * n_a - 1] = slope * by_impulse[2]


@nb.njit(nb.void(DATA, nb.int64, VECTOR, VECTOR), cache=True, error_model="numpy")
def note_landing_costs(data, k, aux, costs):
    """Add the cost of each term to its entry of `costs`."""
    integers, node_integers, parameters, node_parameters, multipliers, penalty = data
    row, duals, n_f = node_parameters[k], multipliers[k], integers[at.N_FEET]
    block = mode_block(integers, node_integers[k + 1, at.NODE_MODE])
    for c in range(integers[block + at.CONTACTS]):
        foot, force, _ = _landing_force(integers, block, c, row, aux)
        if foot >= 0:
            _costs(costs, integers, row[at.DURATION], foot, force, n_f, row, parameters, duals, penalty)
