"""Dynamics, impulses and their derivatives in both charts against pinocchio's free flyer, at attitudes of all kinds.

A state of a chart and its free-flyer configuration are one; accelerations of the chart's coordinates follow from those
of the free flyer by the derivative of the angular velocity. First and second order are taken along directions of the
tangent space of the free flyer, in which pinocchio integrates.
"""

import math
from dataclasses import dataclass, replace

import casadi as cs
import numpy as np
import pinocchio as pin
import pytest

from contact_ddp_ros.dynamics import partials
from contact_ddp_ros.dynamics.contact import ScalarSystem, contact_system, impact_system, level_parameters
from contact_ddp_ros.dynamics.mechanism import prepare
from contact_ddp_ros.robot.attitude import ANGLES, Chart
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.models.whole_body import BASE, WholeBodyModel
from contact_ddp_ros.robot.rotation import quaternion_to_matrix, rpy_to_quaternion
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.robot.tree import free_flyer_model

ROBOT = load_robot()
TREE = replace(ROBOT.tree, joints=tuple(replace(joint, damping=0.0) for joint in ROBOT.tree.joints))
N, N_U = TREE.n, ROBOT.n_joints
FEET = ("fr_foot", "hl_foot")
P = level_parameters(len(TREE.contacts))
AXES = (0, 1, 2)

# Eighth-order central differences.
STEP = 0.02
STENCIL = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))

ATTITUDES = {
    "pitch of 90 degrees": (Chart.YAW_ROLL_PITCH, (0.0, 0.5 * math.pi, 0.7)),
    "upside down": (Chart.YAW_ROLL_PITCH, (math.pi, 0.1, 1.0)),
    "on its side": (Chart.YAW_PITCH_ROLL, (0.5 * math.pi, 0.2, -1.0)),
    "on its back": (Chart.YAW_PITCH_ROLL, (3.0, -0.3, 2.0)),
}


@dataclass(frozen=True)
class Oracle:
    """The free flyer: q (19,), v (18,) in trunk axes."""

    model: pin.Model

    def solve(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, impact: bool) -> tuple[np.ndarray, np.ndarray]:
        """Acceleration and forces of FEET, or velocity after an impact and impulses."""
        data = self.model.createData()
        pin.computeAllTerms(self.model, data, q, v)
        pin.forwardKinematics(self.model, data, q, v, np.zeros(N))
        mass = pin.crba(self.model, data, q, pin.Convention.WORLD)
        rows, drift = [], []
        for name in FEET:
            point = TREE.contact(name)
            joint = self.model.getJointId(TREE.joints[point.body].name)
            placement = pin.SE3(np.eye(3), point.position)
            jacobian = pin.getFrameJacobian(self.model, data, joint, placement, pin.LOCAL_WORLD_ALIGNED)
            arm = np.array([0.0, 0.0, -point.radius])
            rows.append(jacobian[:3] - pin.skew(arm) @ jacobian[3:])
            spatial = placement.actInv(data.a[joint])
            twist = placement.actInv(data.v[joint])
            rotation = data.oMi[joint].rotation
            centre = rotation @ (spatial.linear + np.cross(twist.angular, twist.linear))
            drift.append(centre + np.cross(rotation @ spatial.angular, arm))
        jacobian = np.vstack(rows)
        kkt = np.block([[mass, -jacobian.T], [-jacobian, np.zeros((len(jacobian),) * 2)]])
        if impact:
            right = np.concatenate([mass @ v, np.zeros(len(jacobian))])
        else:
            force = np.concatenate([np.zeros(BASE), tau]) - pin.nle(self.model, data, q, v)
            right = np.concatenate([force, np.concatenate(drift)])
        solution = np.linalg.solve(kkt, right)
        return solution[:N], solution[N:]


ORACLE = Oracle(free_flyer_model(TREE))


class Instant:
    """A chart's system at an attitude: x = (q, v), and what the free flyer makes of it."""

    def __init__(self, name: str, impact: bool, seed: int = 0) -> None:
        self.chart, (roll, pitch, yaw) = ATTITUDES[name]
        self.impact = impact
        rng = np.random.default_rng(seed)
        model = WholeBodyModel(ROBOT, self.chart)
        tree = replace(model.tree, joints=tuple(replace(joint, damping=0.0) for joint in model.tree.joints))
        make = impact_system if impact else contact_system
        self.of: ScalarSystem = make(prepare(tree), FEET, AXES)
        state = RobotState(
            time=0.0,
            position=rng.normal(size=3),
            orientation=rpy_to_quaternion(roll, pitch, yaw),
            linear_velocity=rng.normal(size=3),
            angular_velocity=2.0 * rng.normal(size=3),
            joint_positions=ROBOT.standing + 0.3 * rng.normal(size=N_U),
            joint_velocities=2.0 * rng.normal(size=N_U),
        )
        self.x, self.tau = model.state(state), 5.0 * rng.normal(size=N_U)
        self.gamma = rng.normal(size=N + 3 * len(FEET))
        self.rng = rng

    def free_flyer(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(19,) and (18,) of a state of the chart."""
        rotation = self.chart.rotation(x[ANGLES])
        q = np.concatenate([x[:3], self.chart.quaternion(x[ANGLES]), x[BASE:N]])
        omega = self.chart.rate_map(x[ANGLES]) @ x[N:][ANGLES]
        return q, np.concatenate([rotation.T @ x[N : N + 3], omega, x[N + BASE :]])

    def of_free_flyer(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The state of the chart, its angles next to those of x."""
        rotation = quaternion_to_matrix(q[3:7])
        angles = self.chart.angles(rotation, self.x[ANGLES])
        rates = self.chart.rates(angles, v[3:6])
        return np.concatenate([q[:3], angles, q[7:], rotation @ v[:3], rates, v[6:]])

    def oracle(self, x: np.ndarray) -> np.ndarray:
        """(m,) ν of the chart by the free flyer."""
        q, v = self.free_flyer(x)
        found, forces = ORACLE.solve(q, v, self.tau, self.impact)
        rotation, rates = self.chart.rotation(x[ANGLES]), x[N:][ANGLES]
        if self.impact:
            return np.concatenate([self.of_free_flyer(q, found)[N:], forces])
        turning = found[3:6] - self.chart.rate_slope(x[ANGLES], rates) @ rates
        linear = rotation @ (found[:3] + np.cross(v[3:6], v[:3]))
        return np.concatenate([linear, self.chart.rates(x[ANGLES], turning), found[6:], forces])

    def linear(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """K and ν by the package."""
        kkt, bias = _values(partials.system("system", self.of), x[:N], x[N:], P)
        torque = np.zeros(len(bias))
        torque[BASE:N] = 0.0 if self.impact else self.tau
        return kkt, np.linalg.solve(kkt, torque - bias)

    def tangent(self, direction: np.ndarray) -> np.ndarray:
        """(36,) derivative of the chart's state along a direction (36,) of the free flyer's tangent."""
        return _derivative(lambda s: self.moved(s * direction))

    def moved(self, delta: np.ndarray) -> np.ndarray:
        """The chart's state of the free flyer moved by (36,) of its tangent."""
        q, v = self.free_flyer(self.x)
        return self.of_free_flyer(pin.integrate(ORACLE.model, q, delta[:N]), v + delta[N:])


def _values(function: cs.Function, *arguments: np.ndarray) -> list[np.ndarray]:
    found = [np.array(one) for one in function.call([cs.DM(one) for one in arguments])]
    return [one.ravel() if one.shape[1] == 1 else one for one in found]


def _derivative(function, at: float = 0.0):
    total = 0.0
    for multiple, weight in STENCIL:
        total = total + weight * (function(at + multiple * STEP) - function(at - multiple * STEP)) / STEP
    return total


def close(found: np.ndarray, expected: np.ndarray, tolerance: float) -> None:
    scale = 1.0 + np.abs(expected).max()
    np.testing.assert_allclose(found / scale, expected / scale, rtol=0.0, atol=tolerance)


@pytest.mark.parametrize("impact", [False, True], ids=["contact", "impact"])
@pytest.mark.parametrize("name", ATTITUDES)
def test_dynamics_and_impulses(name: str, impact: bool) -> None:
    for seed in range(3):
        instant = Instant(name, impact, seed)
        close(instant.linear(instant.x)[1], instant.oracle(instant.x), 1e-9)


@pytest.mark.parametrize("impact", [False, True], ids=["contact", "impact"])
@pytest.mark.parametrize("name", ATTITUDES)
def test_first_and_contracted_second_order_along_the_tangent(name: str, impact: bool) -> None:
    """d/ds and d²/ds² of γᵀν along x(s), a geodesic of the free flyer, whose own bend is part of the second."""
    instant = Instant(name, impact)
    x, gamma, m = instant.x, instant.gamma, len(instant.gamma)
    kkt, nu = instant.linear(x)
    r_q, r_v = _values(partials.first("first", instant.of), x[:N], x[N:], nu, P)
    nu_x = -np.linalg.solve(kkt, np.hstack([r_q, r_v]))
    xi = -np.linalg.solve(kkt, gamma)
    s_qq, s_vq, s_vv, s_qnu = _values(partials.second("second", instant.of), x[:N], x[N:], nu, xi, P)
    through = s_qnu @ nu_x
    hessian = np.block([[s_qq, s_vq.T], [s_vq, s_vv]])
    hessian[:N] += through
    hessian[:, :N] += through.T
    assert m == N + 3 * len(FEET)
    for _ in range(2):
        direction = instant.rng.normal(size=2 * N) / math.sqrt(N)
        slope = instant.tangent(direction)
        close(nu_x @ slope, _derivative(lambda s: instant.oracle(instant.moved(s * direction))), 1e-7)  # noqa: B023
        bend = _derivative(lambda s: _derivative(lambda t: instant.moved(t * direction), s))  # noqa: B023
        found = slope @ hessian @ slope + gamma @ nu_x @ bend
        expected = _derivative(
            lambda s: _derivative(lambda t: gamma @ instant.oracle(instant.moved(t * direction)), s)  # noqa: B023
        )
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)
