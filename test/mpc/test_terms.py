"""Every packaged term: its derivatives against differences, its constraints, and that it is in the list."""

from pathlib import Path

import numpy as np
import pytest

from contact_ddp_ros.mpc import terms as room
from contact_ddp_ros.mpc.grounds import FootGrounds, GroundModel
from contact_ddp_ros.mpc.layout import Sizes
from contact_ddp_ros.mpc.term_sums import TermLayout
from contact_ddp_ros.mpc.terms import TERMS
from contact_ddp_ros.mpc.terms.term import Argument, Place
from contact_ddp_ros.ocp.multipliers import MU

SIZES = Sizes(n=9, n_u=6, n_f=3, n_a=3)
LAYOUT = TermLayout.of(SIZES)
SIGMA, DELTA, EPSILON = 50.0, 0.05, 0.1
STEP = 1e-6

ENTRY_TERMS = [term for term in TERMS if term.argument is not Argument.FORCE]
FORCE_TERMS = [term for term in TERMS if term.argument is Argument.FORCE]


class Numbers:
    """Random numbers of all terms; friction and limits such that a value of about 1 is near them."""

    def __init__(self, seed: int, mu: float) -> None:
        rng = np.random.default_rng(seed)
        self.row = rng.uniform(0.5, 1.5, LAYOUT.row_size)
        self.parameters = rng.uniform(0.5, 1.5, LAYOUT.n_parameters)
        grounds = FootGrounds(rng.uniform(-0.1, 0.1, SIZES.n_f), rng.uniform(-0.3, 0.3, (SIZES.n_f, 2)))
        self.row[LAYOUT.model] = GroundModel(grounds=grounds, baumgarte_rate=20.0).rows(1)[0]
        self.parameters[LAYOUT.parameters["friction"]] = 0.6, 2.0, 0.0
        self.multipliers = rng.uniform(0.5, 1.5, LAYOUT.n_e + 2 * LAYOUT.n_i)
        self.penalty = np.array([SIGMA, DELTA, EPSILON, 0.0])
        self.penalty[MU] = mu
        self.values = rng.uniform(-0.8, 1.2, 20)

    def handed(self):
        return self.row, self.parameters, self.multipliers, self.penalty


def place_of(term) -> Place:
    return Place(*(int(begin) for begin in LAYOUT.places[TERMS.index(term)]))


@pytest.mark.parametrize("mu", [0.0, 0.1])
@pytest.mark.parametrize("term", ENTRY_TERMS, ids=lambda term: term.name)
def test_slope_and_bend_are_those_of_the_value(term, mu):
    numbers, scale = Numbers(3, mu), 0.7
    n = {Argument.STATE: 2 * SIZES.n, Argument.TORQUE: SIZES.n_u}.get(term.argument, SIZES.n_f)
    for i, z in enumerate(numbers.values[:n]):

        def at_value(z, i=i):
            return term.derivatives(place_of(term), scale, i, z, n, *numbers.handed())

        value, slope, bend = at_value(z)
        (later, slope_later, _), (earlier, slope_earlier, _) = at_value(z + STEP), at_value(z - STEP)
        assert np.isfinite(value)
        assert slope == pytest.approx((later - earlier) / (2.0 * STEP), rel=1e-6, abs=1e-7)
        assert bend == pytest.approx((slope_later - slope_earlier) / (2.0 * STEP), rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("foot", range(SIZES.n_f))
@pytest.mark.parametrize("term", FORCE_TERMS, ids=lambda term: term.name)
def test_gradient_and_hessian_are_those_of_the_value(term, foot):
    numbers, n_a, begin, first = Numbers(foot, 0.0), SIZES.n_a, 2, 1
    nu = numbers.values.copy()
    nu[begin : begin + n_a] = 0.1, -0.2, 1.1
    handed = (foot, SIZES.n_f, n_a, *numbers.handed())

    def at_force(nu):
        gradient = np.zeros(first + n_a)
        cost = term.derivatives(place_of(term), 5.0, *handed, nu, begin, gradient, first)
        return cost, gradient[first:]

    hessian = np.zeros((first + n_a, n_a))
    term.hessian(place_of(term), *handed, nu, begin, hessian, first)
    cost, gradient = at_force(nu)
    assert cost > 5.0
    for a in range(n_a):
        step = STEP * np.eye(len(nu))[begin + a]
        (later, gradient_later), (earlier, gradient_earlier) = at_force(nu + step), at_force(nu - step)
        assert gradient[a] == pytest.approx((later - earlier) / (2.0 * STEP), rel=1e-6, abs=1e-7)
        change = (gradient_later - gradient_earlier) / (2.0 * STEP)
        np.testing.assert_allclose(hessian[first:, a], change, rtol=1e-6, atol=1e-6)
    assert (hessian[:first] == 0.0).all()


@pytest.mark.parametrize("term", [term for term in TERMS if term.limits], ids=lambda term: term.name)
def test_constraints_fill_their_places_and_no_other(term):
    numbers, place = Numbers(1, 0.0), place_of(term)
    names = term.constraints(SIZES.n_a)
    n = SIZES.n_u if term.argument is Argument.TORQUE else SIZES.n_f
    residual = np.full(LAYOUT.n_e + LAYOUT.n_i + 1, np.inf)
    for i in range(n):
        if term.argument is Argument.FORCE:
            violation = term.limits(
                place, i, n, SIZES.n_a, numbers.row, numbers.parameters, numbers.values, i, residual
            )
        else:
            violation = term.limits(place, i, 1.3, n, numbers.parameters, residual)
        own = residual[place.residual + i * len(names) : place.residual + (i + 1) * len(names)]
        assert np.isfinite(own).any()
        if not term.equality:
            assert max(violation, 0.0) == max(0.0, -own[np.isfinite(own)].min())
    assert np.isfinite(np.delete(residual, range(place.residual, place.residual + n * len(names)))).sum() == 0


def test_every_file_of_the_room_is_in_the_list():
    files = {path.stem for path in Path(room.__file__).parent.glob("*.py")} - {"__init__", "term"}
    assert len(files) == len(TERMS)
    assert files == {term.derivatives.py_func.__module__.rpartition(".")[2] for term in TERMS}
