"""Publishers that lie to a controller that bounds: every lie ends in damping, in time, and none is believed."""

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest

from contact_ddp_ros.control.config import ControllerConfig, SafetyConfig
from contact_ddp_ros.control.controller import Controller
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.control.safety import ViolationKind
from contact_ddp_ros.robot.joint_pd import MotorConfig
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.state import RobotState

from .support import alive, stand_up, start_bound, state_at, tilted

Lie = Callable[[RobotState, float], RobotState]

CONFIG, TICK, KNEE = SafetyConfig(), 0.002, 2


def moved(state: RobotState, joint: int, way: float, speed: float) -> RobotState:
    q, v = state.joint_positions.copy(), state.joint_velocities.copy()
    q[joint] += way
    v[joint] = speed
    return dataclasses.replace(state, joint_positions=q, joint_velocities=v)


def pushed(state: RobotState, way: float, speed: float) -> RobotState:
    away = state.position + [way, 0.0, 0.0]
    return dataclasses.replace(state, position=away, linear_velocity=np.array([speed, 0.0, 0.0]))


def turned(state: RobotState, angle: float, rate: float) -> RobotState:
    return dataclasses.replace(tilted(state, pitch=angle), angular_velocity=np.array([0.0, rate, 0.0]))


def once(lie: Lie) -> Lie:
    """For a single state."""
    return lambda state, since: lie(state, since) if since < 0.5 * TICK else state


def exchanged(state: RobotState, joints: tuple[int, int]) -> RobotState:
    order = np.arange(len(state.joint_positions))
    order[list(joints)] = order[list(reversed(joints))]
    return dataclasses.replace(
        state, joint_positions=state.joint_positions[order], joint_velocities=state.joint_velocities[order]
    )


AT_ONCE: dict[str, Lie] = {
    "joint jumps": lambda state, _: moved(state, KNEE, 0.2, 0.0),
    "joint jumps for one state, as fast as a joint may be": once(lambda state, _: moved(state, KNEE, 0.2, 31.0)),
    "joint jumps for one state, with its velocity": once(lambda state, _: moved(state, KNEE, 0.2, 0.2 / TICK)),
    "estimator corrects itself by 8 cm, with a velocity": lambda state, _: pushed(state, 0.08, 9.9),
    "estimator jumps for one state, with its velocity": once(lambda state, _: pushed(state, 0.08, 0.08 / TICK)),
    "attitude flips by 0.3 rad": lambda state, _: turned(state, 0.3, 0.0),
    "attitude flips for one state, with a rate": once(lambda state, _: turned(state, 0.3, 29.0)),
    "attitude flips for one state, with its rate": once(lambda state, _: turned(state, 0.3, 0.3 / TICK)),
    "attitude flips to and fro": lambda state, since: turned(
        state, 0.3 if round(since / TICK) % 2 == 0 else -0.3, 29.0
    ),
    "hip and knee exchanged": lambda state, _: exchanged(state, (1, KNEE)),
}

IN_TIME: dict[str, tuple[Lie, float]] = {
    "velocity without motion": (lambda state, _: moved(state, KNEE, 0.0, 35.0), CONFIG.velocity_time),
    "velocity against its motion": (lambda state, since: moved(state, KNEE, -9.0 * since, 35.0), CONFIG.velocity_time),
    "velocity of either sign in turn": (
        lambda state, since: moved(state, KNEE, 0.0, 35.0 * (-1.0) ** round(since / TICK)),
        CONFIG.velocity_time,
    ),
    "velocity with a little of its motion": (
        lambda state, since: moved(state, KNEE, 12.0 * since, 35.0),
        CONFIG.velocity_time,
    ),
    "velocity with its motion": (lambda state, since: moved(state, KNEE, -35.0 * since, -35.0), CONFIG.coasting_time),
}


def fault_of(robot: Robot, lie: Lie) -> tuple[ViolationKind | None, float]:
    """ViolationKind that ends it, and time until then [s]."""
    controller = Controller(robot, ControllerConfig())
    begin = start_bound(controller, robot) + TICK
    for k in range(60):
        now = begin + k * TICK
        command = controller.update(lie(alive(robot, now), k * TICK), now)
        assert np.isfinite(command.torques).all()
        if controller.mode is ControlMode.DAMP:
            assert controller.fault is not None and (command.torques == 0.0).all()
            return controller.fault.violation, k * TICK
    return None, np.inf


@pytest.mark.parametrize("name", AT_ONCE)
def test_what_jumps_is_no_state(robot: Robot, name: str) -> None:
    found, after = fault_of(robot, AT_ONCE[name])
    assert (
        found in (ViolationKind.STATE_JUMP, ViolationKind.JOINT_VELOCITY, ViolationKind.TRUNK_VELOCITY) and after == 0.0
    )


@pytest.mark.parametrize("name", IN_TIME)
def test_a_velocity_that_is_untrue_is_found_in_time(robot: Robot, name: str) -> None:
    lie, allowed = IN_TIME[name]
    found, after = fault_of(robot, lie)
    assert found is ViolationKind.JOINT_VELOCITY and after <= allowed + TICK


@pytest.mark.parametrize(("sign", "allowed"), [(1.0, CONFIG.velocity_time), (-1.0, CONFIG.coasting_time)])
def test_a_joint_that_is_driven_beyond_its_limit_is_a_fault_sooner_than_one_that_is_braked(
    robot: Robot, sign: float, allowed: float
) -> None:
    """The stand pulls the knee to its pose, with motors that have torque at any speed."""
    controller = Controller(robot, ControllerConfig(motor=MotorConfig(full_speed=4.0, idle_speed=5.0)))
    begin = stand_up(controller, robot) + 0.2
    for k in range(60):
        now = begin + k * TICK
        way = -1.5 + 33.0 * k * TICK if sign > 0.0 else 0.01 - 33.0 * k * TICK
        controller.update(moved(state_at(alive(robot, now), now), KNEE, way, sign * 33.0), now)
        if controller.fault is not None:
            break
    assert controller.fault is not None and controller.fault.violation is ViolationKind.JOINT_VELOCITY
    assert k * TICK == pytest.approx(allowed, abs=1.01 * TICK)
