"""The friction of one contact force: what it allows, and its derivatives against differences."""

import numpy as np
import pytest

from contact_ddp_ros.mpc.grounds import FootGrounds, GroundModel
from contact_ddp_ros.mpc.layout import model_row
from contact_ddp_ros.mpc.terms.friction_cone import FRICTION_CONE, TIP
from contact_ddp_ros.mpc.terms.term import Place
from contact_ddp_ros.ocp.multipliers import relaxed_barrier
from contact_ddp_ros.robot.ground import LocalGround, cone_excess

FRICTION, SCALE = 0.6, 90.0
PENALTY = np.array([1.0, 0.01, 0.1, 0.0])
KINDS = [(2, 0.0), (3, 0.0), (3, 1.0)]
"""Axes, and whether it is the pyramid."""

SLOPES = [(0.0, 0.0), (0.2, -0.3)]
EPS = 1e-5

DUALS_OF_A_FOOT = 10

DUALS = np.concatenate([np.ones(DUALS_OF_A_FOOT), [0.3, 0.5, 0.02, 4.0], np.ones(6)])
"""Slacks and multipliers of both feet in space."""


PLACE = Place(0, 0, 0, 0)
FOOT = 1
"""Of two, on unlike grounds."""


def numbers_of(n_a: int, pyramid: float, slopes: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Row and numbers; the other foot's ground leans the other way."""
    grounds = FootGrounds.named(("other", "one"), LocalGround(0.0, -0.4, 0.3), {"one": LocalGround(0.1, *slopes)})
    row = model_row(GroundModel(grounds=grounds, baumgarte_rate=0.0).rows(1)[0])
    return row, np.array([FRICTION, SCALE, pyramid])


def gradient_of(force, numbers, penalty, multipliers):
    gradient = np.zeros(force.size)
    cost = FRICTION_CONE.derivatives(
        *(PLACE, 0.0, FOOT, 2, force.size, *numbers, multipliers, penalty, force, 0, gradient, 0)
    )
    return cost, gradient


def hessian_of(force, numbers, penalty, multipliers):
    hessian = np.zeros((force.size, force.size))
    FRICTION_CONE.hessian(*(PLACE, FOOT, 2, force.size, *numbers, multipliers, penalty, force, 0, hessian, 0))
    return hessian


def forces(n_a: int, many: int = 200) -> np.ndarray:
    rng = np.random.default_rng(3)
    drawn = rng.uniform(-80.0, 80.0, (many, n_a))
    drawn[:, -1] = rng.uniform(-10.0, 150.0, many)
    return drawn


def sides(numbers, force):
    residual = np.full(2 * (2 * force.size - 1), np.inf)
    FRICTION_CONE.limits(PLACE, FOOT, 2, force.size, *numbers, force, 0, residual)
    return residual[np.isfinite(residual)]


@pytest.mark.parametrize("slopes", SLOPES)
@pytest.mark.parametrize(("n_a", "pyramid"), KINDS)
def test_derivatives_are_exact(n_a: int, pyramid: float, slopes: tuple[float, float]) -> None:
    numbers, none = numbers_of(n_a, pyramid, slopes), np.zeros(8 * n_a)
    for force in forces(n_a)[:40]:
        if np.abs(sides(numbers, force) - PENALTY[1]).min() < 1e-4:
            continue  # where the barrier is relaxed its third derivative jumps
        _, gradient = gradient_of(force, numbers, PENALTY, none)
        hessian = hessian_of(force, numbers, PENALTY, none)
        for a in range(n_a):
            step = EPS * np.eye(n_a)[a]
            later, earlier = (gradient_of(force + s * step, numbers, PENALTY, none) for s in (1.0, -1.0))
            assert gradient[a] == pytest.approx((later[0] - earlier[0]) / (2.0 * EPS), rel=1e-5, abs=1e-7)
            column = (later[1] - earlier[1]) / (2.0 * EPS)
            np.testing.assert_allclose(hessian[:, a], column, rtol=1e-4, atol=1e-6 * np.abs(hessian).max())


@pytest.mark.parametrize("slopes", SLOPES)
@pytest.mark.parametrize(("n_a", "pyramid"), KINDS)
def test_cost_and_violation_are_those_of_the_inequalities(
    n_a: int, pyramid: float, slopes: tuple[float, float]
) -> None:
    numbers = numbers_of(n_a, pyramid, slopes)
    for force in forces(n_a):
        z = sides(numbers, force)
        assert len(z) == (2 if n_a == 3 and not pyramid else 2 * n_a - 1)
        cost, _ = gradient_of(force, numbers, PENALTY, np.zeros(20))
        worst = FRICTION_CONE.limits(PLACE, FOOT, 2, n_a, *numbers, force, 0, np.zeros(2 * (2 * n_a - 1)))
        assert cost == pytest.approx(sum(PENALTY[2] * relaxed_barrier(one, PENALTY[1])[0] for one in z))
        assert worst == max(0.0, -z.min())


@pytest.mark.parametrize("slopes", SLOPES)
@pytest.mark.parametrize(("n_a", "pyramid"), KINDS)
def test_what_it_allows_lies_within_the_cone(n_a: int, pyramid: float, slopes: tuple[float, float]) -> None:
    numbers, rise = numbers_of(n_a, pyramid, slopes), np.array(slopes[: n_a - 1])
    allowed = [force for force in forces(n_a) if sides(numbers, force).min() >= 0.0]
    assert 20 < len(allowed) < 190
    assert cone_excess(np.array(allowed), FRICTION, rise).max() <= 1e-9


@pytest.mark.parametrize("slopes", SLOPES)
def test_the_cone_leaves_out_little_and_the_pyramid_a_third(slopes: tuple[float, float]) -> None:
    rise = np.array(slopes)
    drawn = forces(3, 4000)
    inside = drawn[cone_excess(drawn, FRICTION, rise) < -TIP * SCALE]
    cone, pyramid = (
        sum(sides(numbers_of(3, flag, slopes), force).min() >= 0.0 for force in inside) for flag in (0.0, 1.0)
    )
    assert cone == len(inside)
    assert 0.5 * cone < pyramid < 0.85 * cone  # of a circle the inscribed square is 2/π


@pytest.mark.parametrize("mu", [0.0, 0.1])
def test_the_cone_s_hessian_is_never_indefinite(mu: float) -> None:
    numbers, penalty = numbers_of(3, 0.0, (0.2, -0.3)), np.array([1.0, 0.01, 0.1, mu])
    for force in forces(3):
        hessian = hessian_of(force, numbers, penalty, DUALS)
        values = np.linalg.eigvalsh(hessian)
        assert values[0] >= -1e-12 * values[-1]


def test_the_interior_point_s_hessian_has_the_multiplier_s_curvature() -> None:
    numbers, penalty = numbers_of(3, 0.0, (0.2, -0.3)), np.array([1.0, 0.01, 0.1, 0.1])
    force, multipliers = np.array([20.0, -15.0, 60.0]), DUALS

    def jacobian(at_force):
        def change(step):
            return (sides(numbers, at_force + step) - sides(numbers, at_force - step)) / (2.0 * EPS)

        return np.array([change(EPS * row) for row in np.eye(3)])

    by_force = jacobian(force)
    duals = multipliers[-DUALS_OF_A_FOOT:][:4]
    bends = duals[1::2] / duals[::2]
    wanted = (by_force * bends) @ by_force.T
    step = 1e-2
    for a in range(3):
        change = (jacobian(force + step * np.eye(3)[a]) - jacobian(force - step * np.eye(3)[a]))[:, 1] / (2.0 * step)
        wanted[:, a] -= duals[3] * change
    np.testing.assert_allclose(hessian_of(force, numbers, penalty, multipliers), wanted, rtol=1e-3, atol=1e-6)
