"""The change of the attitude's chart as CasADi functions, with the derivatives that the sweep needs.

It is the map of :mod:`contact_ddp_ros.robot.attitude`: angles θ and rates θ' of one chart to those of the other,

    θ_b = f(θ_a; near)          θ_b' = ∂f/∂θ_a θ_a'

where f takes the angles next to given ones, so that it is smooth about them however many turns are counted. As the map
is a point transformation, rates follow from f alone; so do all derivatives, by automatic differentiation.
"""

import casadi as cs
import numpy as np

from contact_ddp_ros.dynamics.spatial import rotation_about
from contact_ddp_ros.robot.attitude import Chart

LEVELS = ("change", "change_first", "change_second")


def chart_change(chart: Chart) -> dict[str, cs.Function]:
    """Functions of the change into a chart from the other one, by the names of LEVELS.

    | name | arguments, (3,) each but w | results |
    |---|---|---|
    | change | θ, θ', near | θ_b (3,), θ_b' (3,) |
    | change_first | θ, θ' | J (3, 3), derivative of J θ' by θ (3, 3) |
    | change_second | θ, θ', w (6,) | (6, 6) Hessian of w'(θ_b, θ_b') by (θ, θ') |
    """
    theta, rates, near = (cs.SX.sym(name, 3) for name in ("theta", "rates", "near"))
    angles, slope = _angles(chart, theta)
    after = cs.mtimes(slope, rates)
    weights = cs.SX.sym("w", 6)
    z = cs.vertcat(theta, rates)
    # The angles themselves have a branch; their gradient, by which alone they enter the Hessian, has none.
    gradient = cs.vertcat(cs.mtimes(slope.T, weights[:3]), cs.SX(3, 1)) + cs.gradient(cs.dot(weights[3:], after), z)
    inputs = {"change": [theta, rates, near], "change_first": [theta, rates], "change_second": [theta, rates, weights]}
    outputs = {
        "change": [_next_to(near, angles), after],
        "change_first": [slope, cs.jacobian(after, theta)],
        "change_second": [cs.jacobian(gradient, z)],
    }
    return {
        level: cs.Function(f"{level}_{int(chart)}", inputs[level], [cs.densify(one) for one in cs.cse(outputs[level])])
        for level in LEVELS
    }


def _angles(chart: Chart, theta: cs.SX) -> tuple[cs.SX, cs.SX]:
    """Principal angles of the chart (3,) and J (3, 3), of the other chart's angles."""
    rotation = cs.SX.eye(3)
    for axis, angle in zip(chart.other.axes, cs.vertsplit(theta), strict=True):
        rotation = cs.mtimes(rotation, rotation_about(axis, angle))
    r = rotation
    if chart is Chart.YAW_PITCH_ROLL:
        pairs = ((r[1, 0], r[0, 0]), (-r[2, 0], None), (r[2, 1], r[2, 2]))
    else:
        pairs = ((-r[0, 1], r[1, 1]), (r[2, 1], None), (-r[2, 0], r[2, 2]))
    angles = cs.vertcat(*[cs.asin(y) if x is None else cs.atan2(y, x) for y, x in pairs])
    return angles, cs.jacobian(angles, theta)


def _next_to(near: cs.SX, angles: cs.SX) -> cs.SX:
    """The angles with whole turns added to the first and the last, so that they are within half a turn of `near`."""
    turns = cs.floor((near - angles) / (2.0 * np.pi) + 0.5)
    return angles + 2.0 * np.pi * cs.vertcat(turns[0], 0.0, turns[2])
