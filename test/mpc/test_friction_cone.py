"""The friction of one contact force: what it allows, and its derivatives against differences."""

import numpy as np
import pytest

from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.terms.friction_cone import FRICTION_CONE, TIP
from contact_ddp_ros.mpc.terms.term import Place
from contact_ddp_ros.robot.friction import cone_excess
from contact_ddp_ros.solver.penalties import relaxed_barrier

FRICTION, SCALE = 0.6, 90.0
PENALTY = np.array([1.0, 0.01, 0.1, 0.0])
KINDS = [(2, 0.0), (3, 0.0), (3, 1.0)]
"""Axes, and whether it is the pyramid."""

SLOPES = [(0.0, 0.0), (0.2, -0.3)]
EPS = 1e-5


PLACE = Place(0, at.N_MODEL_PARAMETERS, 0, 0)
NOTHING = np.zeros(0)


def parameters_of(n_a: int, pyramid: float, slopes: tuple[float, float]) -> np.ndarray:
    parameters = np.zeros(at.N_MODEL_PARAMETERS)
    parameters[at.GROUND_SLOPE : at.GROUND_SLOPE + n_a - 1] = slopes[: n_a - 1]
    return np.concatenate([parameters, [FRICTION, SCALE, pyramid]])


def gradient_of(force, parameters, penalty, multipliers):
    gradient = np.zeros(force.size)
    cost = FRICTION_CONE.derivatives(
        *(PLACE, 0.0, 0, 1, force.size, NOTHING, parameters, multipliers, penalty, force, 0, gradient, 0)
    )
    return cost, gradient


def hessian_of(force, parameters, penalty, multipliers):
    hessian = np.zeros((force.size, force.size))
    FRICTION_CONE.hessian(*(PLACE, 0, 1, force.size, NOTHING, parameters, multipliers, penalty, force, 0, hessian, 0))
    return hessian


def forces(n_a: int, many: int = 200) -> np.ndarray:
    rng = np.random.default_rng(3)
    drawn = rng.uniform(-80.0, 80.0, (many, n_a))
    drawn[:, -1] = rng.uniform(-10.0, 150.0, many)
    return drawn


def sides(parameters, force):
    residual = np.full(2 * force.size - 1, np.inf)
    FRICTION_CONE.limits(PLACE, 0, 1, force.size, parameters, force, 0, residual)
    return residual[np.isfinite(residual)]


@pytest.mark.parametrize("slopes", SLOPES)
@pytest.mark.parametrize(("n_a", "pyramid"), KINDS)
def test_derivatives_are_exact(n_a: int, pyramid: float, slopes: tuple[float, float]) -> None:
    parameters, none = parameters_of(n_a, pyramid, slopes), np.zeros(4 * n_a)
    for force in forces(n_a)[:40]:
        if np.abs(sides(parameters, force) - PENALTY[1]).min() < 1e-4:
            continue  # where the barrier is relaxed its third derivative jumps
        _, gradient = gradient_of(force, parameters, PENALTY, none)
        hessian = hessian_of(force, parameters, PENALTY, none)
        for a in range(n_a):
            step = EPS * np.eye(n_a)[a]
            later, earlier = (gradient_of(force + s * step, parameters, PENALTY, none) for s in (1.0, -1.0))
            assert gradient[a] == pytest.approx((later[0] - earlier[0]) / (2.0 * EPS), rel=1e-5, abs=1e-7)
            column = (later[1] - earlier[1]) / (2.0 * EPS)
            np.testing.assert_allclose(hessian[:, a], column, rtol=1e-4, atol=1e-6 * np.abs(hessian).max())


@pytest.mark.parametrize("slopes", SLOPES)
@pytest.mark.parametrize(("n_a", "pyramid"), KINDS)
def test_cost_and_violation_are_those_of_the_inequalities(
    n_a: int, pyramid: float, slopes: tuple[float, float]
) -> None:
    parameters = parameters_of(n_a, pyramid, slopes)
    for force in forces(n_a):
        z = sides(parameters, force)
        assert len(z) == (2 if n_a == 3 and not pyramid else 2 * n_a - 1)
        cost, _ = gradient_of(force, parameters, PENALTY, np.zeros(20))
        worst = FRICTION_CONE.limits(PLACE, 0, 1, n_a, parameters, force, 0, np.zeros(2 * n_a - 1))
        assert cost == pytest.approx(sum(PENALTY[2] * relaxed_barrier(one, PENALTY[1])[0] for one in z))
        assert worst == max(0.0, -z.min())


@pytest.mark.parametrize("slopes", SLOPES)
@pytest.mark.parametrize(("n_a", "pyramid"), KINDS)
def test_what_it_allows_lies_within_the_cone(n_a: int, pyramid: float, slopes: tuple[float, float]) -> None:
    parameters, rise = parameters_of(n_a, pyramid, slopes), np.array(slopes[: n_a - 1])
    allowed = [force for force in forces(n_a) if sides(parameters, force).min() >= 0.0]
    assert 20 < len(allowed) < 190
    assert cone_excess(np.array(allowed), FRICTION, rise).max() <= 1e-9


@pytest.mark.parametrize("slopes", SLOPES)
def test_the_cone_leaves_out_little_and_the_pyramid_a_third(slopes: tuple[float, float]) -> None:
    rise = np.array(slopes)
    drawn = forces(3, 4000)
    inside = drawn[cone_excess(drawn, FRICTION, rise) < -TIP * SCALE]
    cone, pyramid = (
        sum(sides(parameters_of(3, flag, slopes), force).min() >= 0.0 for force in inside) for flag in (0.0, 1.0)
    )
    assert cone == len(inside)
    assert 0.5 * cone < pyramid < 0.85 * cone  # of a circle the inscribed square is 2/π


@pytest.mark.parametrize("mu", [0.0, 0.1])
def test_the_cone_s_hessian_is_never_indefinite(mu: float) -> None:
    parameters, penalty = parameters_of(3, 0.0, (0.2, -0.3)), np.array([1.0, 0.01, 0.1, mu])
    for force in forces(3):
        hessian = hessian_of(force, parameters, penalty, np.array([0.3, 0.5, 0.02, 4.0]))
        values = np.linalg.eigvalsh(hessian)
        assert values[0] >= -1e-12 * values[-1]


def test_the_interior_point_s_hessian_has_the_multiplier_s_curvature() -> None:
    parameters, penalty = parameters_of(3, 0.0, (0.2, -0.3)), np.array([1.0, 0.01, 0.1, 0.1])
    force, multipliers = np.array([20.0, -15.0, 60.0]), np.array([0.3, 0.5, 0.02, 4.0])

    def jacobian(at_force):
        def change(step):
            return (sides(parameters, at_force + step) - sides(parameters, at_force - step)) / (2.0 * EPS)

        return np.array([change(EPS * row) for row in np.eye(3)])

    by_force = jacobian(force)
    bends = multipliers[1::2] / multipliers[::2]
    wanted = (by_force * bends) @ by_force.T
    step = 1e-2
    for a in range(3):
        change = (jacobian(force + step * np.eye(3)[a]) - jacobian(force - step * np.eye(3)[a]))[:, 1] / (2.0 * step)
        wanted[:, a] -= multipliers[3] * change
    np.testing.assert_allclose(hessian_of(force, parameters, penalty, multipliers), wanted, rtol=1e-3, atol=1e-6)
