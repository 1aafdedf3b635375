"""Closed loops whose states are missing, late or corrected in steps; lengths are the simulator's truth."""

import dataclasses

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.robot.rotation import quaternion_to_rpy
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.runs.closed_loop import ClosedLoop
from contact_ddp_ros.runs.loop import Channel
from contact_ddp_ros.runs.options import SENSOR_ERRORS, RunOptions

BEGIN = 1.0
"""Time from which states are disturbed [s]."""


class Gaps(Channel):
    """Every 0.4 s nothing arrives for 60 ms."""

    def __init__(self, _seed: int) -> None:
        self._last: RobotState | None = None

    def state(self, state: RobotState) -> RobotState | None:
        if state.time < BEGIN or (state.time - BEGIN) % 0.4 >= 0.06 - 1e-9:
            self._last = state
        return self._last


class Late(Channel):
    """States take 20 to 40 ms; none arrives after a newer one."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._under_way: list[tuple[float, RobotState]] = []
        self._newest: RobotState | None = None

    def state(self, state: RobotState) -> RobotState | None:
        self._under_way.append((state.time + self._random.uniform(0.02, 0.04), state))
        for due, sent in self._under_way:
            if due <= state.time and (self._newest is None or sent.time > self._newest.time):
                self._newest = sent
        self._under_way = [one for one in self._under_way if one[0] > state.time]
        return state if state.time < BEGIN else self._newest


class Corrected(Channel):
    """Every 0.5 s the place jumps by half a metre and the heading by up to half a radian."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._shift, self._turn, self._next = np.zeros(3), Rotation.identity(), BEGIN

    def state(self, state: RobotState) -> RobotState | None:
        if state.time >= self._next:
            self._next += 0.5
            way = self._random.normal(size=3)
            self._shift = self._shift + 0.5 * way / np.linalg.norm(way)
            self._turn = Rotation.from_rotvec([0.0, 0.0, self._random.uniform(-0.5, 0.5)]) * self._turn
        orientation = (self._turn * Rotation.from_quat(state.orientation)).as_quat()
        position = self._turn.apply(state.position) + self._shift
        return dataclasses.replace(state, position=position, orientation=orientation)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("channel", "gait", "speed"),
    [(Gaps, "trot", 1.0), (Late, "trot", 1.0), (Corrected, "bound", 0.5)],
)
def test_the_robot_walks_on(channel: type[Channel], gait: str, speed: float) -> None:
    overrides = {"planner.gait.name": gait, "controller.stand.ramp_time": 0.3, **SENSOR_ERRORS}
    options = RunOptions(duration=3.8, speed=((0.0, speed),), seed=4, video=False, record_plans=0, overrides=overrides)
    loop = ClosedLoop(options, channel=channel(4))
    ticks = loop.run().ticks
    assert loop.controller.mode is ControlMode.MOVE
    late = ticks["time"] > 1.8
    place, heading = ticks["true_position"][late], ticks["true_orientation"][late]
    gone = np.linalg.norm(place[-1, :2] - place[0, :2]) / np.ptp(ticks["time"][late])
    assert gone == pytest.approx(speed, rel=0.15)
    assert abs(quaternion_to_rpy(heading[-1])[2] - quaternion_to_rpy(heading[0])[2]) < 0.2
    assert loop.controller.anchor.jumps == (6 if channel is Corrected else 0)
