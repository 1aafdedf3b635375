"""What the trunk carries, by the weight on the feet."""

import numpy as np
import pytest

from contact_ddp_ros.control.estimation.config import EstimationConfig
from contact_ddp_ros.control.estimation.payload import PayloadEstimate
from contact_ddp_ros.robot.ground import NO_PAYLOAD, Payload
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.runs.closed_loop import ClosedLoop
from contact_ddp_ros.runs.options import RunOptions

ROBOT = load_robot()
CONFIG = EstimationConfig()
UP = np.array([0.0, 0.0, 1.0])


def wrench_of(payload: Payload) -> np.ndarray:
    force = np.array([0.0, 0.0, -9.81 * payload.mass])
    return np.concatenate([force, np.cross([payload.x, payload.y, payload.z], force)])


def weighed(payload: Payload, seconds: float, config: EstimationConfig = CONFIG, shake: float = 0.0) -> Payload:
    estimate = PayloadEstimate(ROBOT)
    for time in np.arange(0.0, seconds, 0.002):
        pulse = shake * np.sin(2.0 * np.pi * 3.0 * time)
        estimate.update(time, (1.0 + pulse) * wrench_of(payload), UP, config)
    return estimate.payload(config)


@pytest.mark.parametrize("carried", [Payload(3.0, 0.1, -0.05), Payload(-1.5, 0.02, 0.0), Payload(1.0)])
def test_a_constant_weight_is_found_soon(carried: Payload) -> None:
    for found in (weighed(carried, 0.3), weighed(carried, 5.0, shake=0.5)):
        assert found.array()[:3] == pytest.approx(carried.array()[:3], rel=0.06, abs=2e-3)


def test_nothing_is_said_too_soon() -> None:
    assert weighed(Payload(3.0), 0.15) == NO_PAYLOAD


def test_little_is_none_and_comes_in_without_a_jump() -> None:
    least = CONFIG.payload_least * ROBOT.mass
    assert weighed(Payload(0.99 * least), 1.0) == NO_PAYLOAD
    assert 0.0 < weighed(Payload(1.01 * least), 1.0).mass < 0.05 * least
    assert weighed(Payload(2.0 * least), 1.0).mass == pytest.approx(2.0 * least, rel=1e-3)


def test_what_no_robot_carries_is_not_believed() -> None:
    assert weighed(Payload(50.0), 1.0).mass == pytest.approx(ROBOT.mass)
    assert weighed(Payload(-8.0), 1.0).mass == pytest.approx(-0.5 * ROBOT.tree.joints[5].mass)
    assert weighed(Payload(2.0, 0.9), 1.0).x == pytest.approx(1.3 * np.hypot(0.19, 0.049))


def test_one_that_is_set_down_is_forgotten() -> None:
    estimate = PayloadEstimate(ROBOT)
    for time in np.arange(0.0, 8.0, 0.002):
        estimate.update(time, wrench_of(Payload(3.0) if time < 2.0 else NO_PAYLOAD), UP, CONFIG)
    assert estimate.payload(CONFIG) == NO_PAYLOAD
    estimate.update(20.0, wrench_of(Payload(50.0)), UP, CONFIG)
    assert estimate.payload(CONFIG) == NO_PAYLOAD, "a pause is none of its time"


def loop_with(overrides: dict[str, object]) -> ClosedLoop:
    return ClosedLoop(RunOptions(duration=60.0, overrides={"controller.stand.ramp_time": 0.3, **overrides}))


def test_a_robot_that_moves_weighs_what_it_carries() -> None:
    loop = loop_with({"simulator.payload.mass": 3.0, "simulator.payload.x": 0.08})
    while loop.plant.time < 2.3:
        loop.tick()
    found = loop.controller.felt.payload
    assert loop.controller.fault is None and found is not None
    assert found.mass == pytest.approx(3.0, rel=0.15)
    assert found.x == pytest.approx(0.08, abs=0.03) and found.y == pytest.approx(0.0, abs=0.01)


def test_one_that_is_not_asked_for_is_not_told() -> None:
    loop = loop_with({"controller.estimation.payload": False, "simulator.payload.mass": 3.0})
    loop.tick()
    assert loop.controller.felt.payload is None


@pytest.mark.parametrize(
    "delays",
    [
        {"simulator.delay.state": 0.02, "simulator.delay.command": 0.01, "controller.move.command_delay": 0.01},
        {"simulator.delay.torque": 0.01, "controller.move.command_delay": 0.01, "controller.move.drive_delay": 0.01},
    ],
)
def test_delays_that_are_known_weigh_nothing(delays: dict[str, float]) -> None:
    loop = loop_with({"planner.gait.name": "trot", "controller.safety.state_timeout": 0.04, **delays})
    seen = set()
    while loop.plant.time < 1.8:
        loop.tick()
        seen.add(loop.controller.felt.payload)
    assert loop.controller.fault is None
    assert seen == {NO_PAYLOAD}
