"""A planner that is late or stops for good while the robot bounds: the closed loop in lock-step."""

from collections.abc import Sequence

import numpy as np
import pytest

from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.robot.policy import Policy
from contact_ddp_ros.robot.rotation import quaternion_to_rpy
from contact_ddp_ros.runs.closed_loop import ClosedLoop
from contact_ddp_ros.runs.loop import Channel
from contact_ddp_ros.runs.options import RunOptions

MOVING = 3.0
CYCLE = 0.36
BOUND: dict[str, object] = {}
TROT, WALK = ({"planner.gait.name": gait} for gait in ("trot", "walk"))
"""Gaits with flights, with one pair of feet after the other, and with feet that land beside others."""

BRIDGED = {"bound": 0.25, "trot": 0.15, "walk": 0.25}
"""For how long a policy is enough [s]: until the last moment, in the worst phase, from which the robot can stand."""


class Stallable(Channel):
    """Channel over which policies stop coming where `stalled`."""

    stalled = False

    def policies(self, policy: Policy, due: float) -> Sequence[tuple[float, Policy]]:
        return () if self.stalled else super().policies(policy, due)


@pytest.fixture(scope="module", params=[BOUND, TROT, WALK], ids=["bound", "trot", "walk"])
def moving(request: pytest.FixtureRequest) -> ClosedLoop:
    loop = ClosedLoop(RunOptions(duration=60.0, overrides=request.param), channel=Stallable())
    while loop.plant.time < MOVING:
        loop.tick()
    assert loop.controller.mode is ControlMode.MOVE
    return loop


def advance(loop: ClosedLoop, seconds: float) -> float:
    """Let it run; the largest roll or pitch meanwhile [rad]."""
    end, tilt = loop.plant.time + seconds, 0.0
    while loop.plant.time < end - 1e-9:
        loop.tick()
        roll, pitch, _ = quaternion_to_rpy(loop.plant.truth().state.orientation)
        tilt = max(tilt, abs(float(roll)), abs(float(pitch)))
    return tilt


def stalled(moving: ClosedLoop, phase: float, seconds: float) -> tuple[ClosedLoop, float]:
    """A copy whose planner is silent from a phase of the gait on [s], for some time [s]; the tilt meanwhile."""
    channel = Stallable()
    loop = moving.fork(channel)
    advance(loop, phase)
    channel.stalled = True
    tilt = advance(loop, seconds)
    channel.stalled = False
    return loop, tilt


@pytest.mark.parametrize("phase", np.arange(3) * CYCLE / 3)
def test_a_policy_bridges_the_time_without_others(moving: ClosedLoop, phase: float) -> None:
    loop, tilt = stalled(moving, phase, BRIDGED[moving.planner.config.gait.name])
    assert max(tilt, advance(loop, 1.0)) < 0.35
    assert loop.controller.mode is ControlMode.MOVE and loop.controller.retreats == 0


@pytest.mark.parametrize("phase", np.arange(3) * CYCLE / 3 + CYCLE / 6)
def test_without_policies_the_robot_stands_and_bounds_again_when_they_come(moving: ClosedLoop, phase: float) -> None:
    loop, tilt = stalled(moving, phase, 1.0)
    assert loop.controller.standing and loop.controller.retreats == 1
    assert loop.controller.fault is None
    assert max(tilt, advance(loop, 1.5)) < 0.35
    assert loop.controller.mode is ControlMode.MOVE


def test_without_policies_for_good_it_stays_standing(moving: ClosedLoop) -> None:
    loop, _ = stalled(moving, 0.1, 4.0)
    assert loop.controller.standing and loop.controller.waiting_for == ""
    advance(loop, 0.5)
    assert loop.controller.standing, "the wish to bound is over"
    assert float(np.abs(loop.plant.truth().state.linear_velocity).max()) < 0.02
