"""A planner that is late or stops for good while the robot moves: the closed loop in lock-step."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest

from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.robot.policy import Policy
from contact_ddp_ros.robot.rotation import quaternion_to_rpy
from contact_ddp_ros.runs.closed_loop import ClosedLoop
from contact_ddp_ros.runs.loop import Channel
from contact_ddp_ros.runs.options import RunOptions

MOVING = 1.8
PHASES = {"bound": (0.0, 0.12, 0.24), "trot": (0.0, 0.18), "walk": (0.0, 0.3)}
"""Gaits with flights, with one pair of feet after the other, and with feet that land beside others; from where on in
them policies stop coming [s]."""

BRIDGED = {"bound": 0.25, "trot": 0.15, "walk": 0.25}
"""For how long a policy is enough [s]: until the last moment, in the worst phase, from which the robot can stand."""


class Stallable(Channel):
    """Channel over which policies stop coming where `stalled`."""

    stalled = False

    def policies(self, policy: Policy, due: float) -> Sequence[tuple[float, Policy]]:
        return () if self.stalled else super().policies(policy, due)


@cache
def moving(gait: str) -> ClosedLoop:
    overrides = {"planner.gait.name": gait, "controller.stand.ramp_time": 0.3}
    loop = ClosedLoop(RunOptions(duration=60.0, overrides=overrides), channel=Stallable())
    advance(loop, MOVING)
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


def stalled(gait: str, phase: float) -> tuple[ClosedLoop, Stallable]:
    """A copy of the moving robot whose planner is silent from a phase of the gait on [s]."""
    channel = Stallable()
    loop = moving(gait).fork(channel)
    advance(loop, phase)
    channel.stalled = True
    return loop, channel


@pytest.mark.parametrize(("gait", "phase"), [(gait, phase) for gait, phases in PHASES.items() for phase in phases])
def test_a_policy_bridges_a_while_then_the_robot_stands_and_moves_again_when_others_come(
    gait: str, phase: float
) -> None:
    loop, channel = stalled(gait, phase)
    tilt = advance(loop, BRIDGED[gait])
    bridged = loop.fork(Stallable())
    assert max(tilt, advance(bridged, 1.0)) < 0.35
    assert bridged.controller.mode is ControlMode.MOVE and bridged.controller.retreats == 0
    tilt = max(tilt, advance(loop, 1.0 - BRIDGED[gait]))
    assert loop.controller.standing and loop.controller.retreats == 1
    assert loop.controller.fault is None
    channel.stalled = False
    assert max(tilt, advance(loop, 1.5)) < 0.35
    assert loop.controller.mode is ControlMode.MOVE


def test_without_policies_for_good_it_stays_standing() -> None:
    loop, channel = stalled("bound", 0.1)
    advance(loop, 4.0)
    assert loop.controller.standing and loop.controller.waiting_for == ""
    channel.stalled = False
    advance(loop, 0.5)
    assert loop.controller.standing, "the wish to bound is over"
    assert float(np.abs(loop.plant.truth().state.linear_velocity).max()) < 0.02
