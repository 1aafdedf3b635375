"""Flat arrays of the node functions: blocks in order, none on top of another, room for every user of the scratch."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.layout import Sizes, aux_offsets
from contact_ddp_ros.mpc.problem_builder import ProblemBuilder
from contact_ddp_ros.mpc.reference import TrunkCommand
from contact_ddp_ros.mpc.term_sums import TermLayout
from contact_ddp_ros.mpc.terms import TERMS
from contact_ddp_ros.ocp.protocol import node_data
from contact_ddp_ros.robot.gaits.grid import knot_grid
from test.mpc.support import MODEL, config_with

SIZES = {"n": st.integers(2, 24), "n_u": st.integers(1, 18), "n_f": st.integers(1, 4), "n_a": st.integers(1, 3)}


@given(**SIZES)
def test_blocks_of_the_terms_follow_each_other(n, n_u, n_f, n_a):
    sizes = Sizes(n, n_u, n_f, n_a)
    layout = TermLayout.of(sizes)
    assert at.DURATION < at.MODEL == layout.model.start < at.GROUNDS
    assert layout.model.stop == layout.lands.start == at.GROUNDS + at.GROUND_SIZE * n_f
    assert layout.lands.stop == layout.lands.start + n_f
    assert layout.footholds == slice(layout.lands.stop, layout.lands.stop + n_f * n_a)
    assert layout.body == slice(0, at.N_BODY)
    for slices, begin, end in (
        (layout.rows, layout.footholds.stop, layout.row_size),
        (layout.parameters, layout.body.stop, layout.n_parameters),
    ):
        for place in slices.values():
            assert place.start == begin
            begin = place.stop
        assert begin == end
    lengths = [place.stop - place.start for place in layout.rows.values()]
    assert lengths == [2 * n, 2 * n, n_u, n_f * n_a, n_f * n_a, n_f, n_f]


@given(**SIZES)
def test_terms_have_places_of_their_own(n, n_u, n_f, n_a):
    sizes = Sizes(n, n_u, n_f, n_a)
    layout = TermLayout.of(sizes)
    assert layout.n_e == n_f and layout.n_i == 2 * n_u + n_f * (2 * n_a - 1) + n_f
    for term, place in zip(TERMS, layout.places, strict=False):
        for blocks, slices, begin in (
            (term.rows, layout.rows, place[0]),
            (term.parameters, layout.parameters, place[1]),
        ):
            assert not blocks or slices[blocks[0].name].start == begin
    inequalities = [
        place for term, place in zip(TERMS, layout.places, strict=False) if term.limits and not term.equality
    ]
    begins = np.array([0, 2 * n_u, 2 * n_u + n_f * (2 * n_a - 1)])
    assert [place[2] for place in inequalities] == (n_f + begins).tolist()
    assert [place[3] for place in inequalities] == (n_f + 2 * begins).tolist()
    assert layout.places[-1].tolist() == [
        layout.row_size,
        layout.n_parameters,
        layout.n_e + layout.n_i,
        layout.n_e + 2 * layout.n_i,
    ]


def test_no_two_terms_share_a_name_or_a_block():
    assert len({term.name for term in TERMS}) == len(TERMS)
    blocks = [block.name for term in TERMS for block in (*term.rows, *term.parameters)]
    assert len(set(blocks)) == len(blocks)


@given(**SIZES)
def test_blocks_of_the_aux_have_room(n, n_u, n_f, n_a):
    n_s, n_z, n_c = n + n_f * n_a, 2 * n + n_u, n_f * n_a
    n_b = max(n - n_u, 0)
    positions, factor, derivatives, jacobian, xi, scratch, middle, shared = aux_offsets(n, n_u, n_f, n_a)
    assert positions == n_s
    lengths = np.diff([positions, factor, derivatives, jacobian, xi, scratch])
    assert lengths.tolist() == [n_c, n_s * n_s, n_s * n_z, n_c * n, n_s]
    users = {
        "bias": n_s,
        "feet": n_c * n,
        "columns of the first partials": 2 * n * n_s,
        "landing forces": 2 * n,
        "forces": n_c + n_c * n_a + n_c * n_z,
        "second partials": 3 * n * n + n_s * n + n * n_z,
        "tensor": n + 4 * n * n,
        "curvature of the heights": 2 * n_f + n_c + n * n,
        "terms of one's own": n_c + (n_z + n_c) + (n_z + n_c) ** 2 + (n_z + n_c) * n_z,
        "rigid body": n_c + n + max(2 * n_c, (2 * n_b + n_c) ** 2, n_b * (2 * n_b + n_c) + n_c + n_c * n_a),
        "midpoint's curvature": 3 * n * n + n_s * n + 3 * n * n_z + n_z * n_z,
    }
    assert middle == shared - 2 * n
    assert all(length <= middle - scratch for length in users.values()), users
    assert n_s * n_s <= middle - derivatives, "the midpoint's K beside its factor"
    assert n_c > n or n_s * n_s <= xi - derivatives, "which must end before ξ wherever K is regular"


def test_headers_have_a_slot_each():
    header = (at.N, at.N_U, at.N_FEET, at.N_AXES, at.SCHEME)
    header += (at.TERMS, at.TERMS_FIRST, at.TERMS_SECOND, at.PLACES, at.EQUALITIES)
    header += (at.BODY, at.BODY_FIRST, at.BODY_SECOND, at.FOOTHOLDS, at.INERTIA)
    header += (at.SOLVE_MIDPOINT, at.MIDPOINT_PARTIALS, at.MIDPOINT_CURVATURE)
    header += (at.BODY_NODE_STEP, at.BODY_NODE_FIRST, at.BODY_NODE_SECOND)
    header += (at.OWN_COST, at.ADD_OWN_COST, at.ADD_OWN_FORCE_SLOPES, at.ADD_OWN_CURVATURE, at.CURVATURE_BY_TENSOR)
    assert sorted(header) == list(range(at.HEADER))
    block = (at.CONTACTS, at.SYSTEM, at.FIRST, at.SECOND, at.TENSOR)
    block += (at.IMPACT_SYSTEM, at.IMPACT_FIRST, at.IMPACT_SECOND, at.IMPACT_TENSOR)
    block += (at.FACTORISE, at.SOLVE, at.CONTACT_PARTIALS, at.IMPACT_PARTIALS, at.CURVATURE)
    block += (at.FEET, at.FEET_SECOND, at.CHANGE, at.CHANGE_FIRST, at.CHANGE_SECOND)
    assert sorted(block) == list(range(at.MODE_HEADER))


MARGIN = 64
CANARY = 123.456


@pytest.mark.parametrize(
    ("variant", "integrator"),
    [("ddp", "semi_implicit_euler"), ("ddp_tensor", "semi_implicit_euler"), ("ddp", "implicit_midpoint")],
)
def test_no_node_function_writes_beyond_its_aux(variant, integrator):
    """Compiled code does not look at bounds: the memory around the aux must come back as it was."""
    config = config_with(variant=variant, gait__integrator=integrator)
    builder = ProblemBuilder(MODEL, config)
    problem, xs = builder.build(knot_grid(builder.schedule, 0, 90, config.gait.step), config, TrunkCommand(0.5))
    multipliers, penalty = np.full((problem.n_nodes + 1, problem.n_e), 2.0), np.array([1e3, 0.1, 0.1])
    data = node_data(problem, multipliers, penalty)
    n_x, n_u = problem.n_x, problem.n_u
    kinds = set()
    for k in range(problem.n_nodes + 1):
        kinds.add(int(problem.node_integers[k, at.NODE_KIND]))
        memory = np.full(problem.n_aux + 2 * MARGIN, CANARY)
        aux = memory[MARGIN:-MARGIN]
        x, u = xs[k] + 0.01, np.full(n_u, 2.0)
        problem.step(data, k, x, u, np.zeros(n_x), aux, np.zeros(problem.n_residuals))
        shapes = [(n_x, n_x), (n_x, n_u), n_x, n_u, (n_x, n_x), (n_u, n_x), (n_u, n_u)]
        problem.first(data, k, x, u, aux, tuple(np.zeros(shape) for shape in shapes))
        problem.second(data, k, x, u, aux, np.ones(n_x), *(np.zeros(shape) for shape in shapes[4:]))
        assert (memory[:MARGIN] == CANARY).all() and (memory[-MARGIN:] == CANARY).all(), k
    assert kinds == {at.STEP, at.LIFT_OFF, at.TOUCHDOWN, at.TERMINAL}
