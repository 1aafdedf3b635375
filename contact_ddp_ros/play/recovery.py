"""The way up after a fall: the robot stands up by itself where it can; otherwise it is put back on its feet."""

import math
from dataclasses import replace

import numpy as np

from contact_ddp_ros.closed_loop import ClosedLoop
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.errors import SimulationError
from contact_ddp_ros.recording import FALL_HEIGHT
from contact_ddp_ros.robot.model import Robot, foot_positions
from contact_ddp_ros.robot.rotation import quaternion_to_matrix, quaternion_to_rpy

_MOVED = 0.2
"""After a gap of this length the controller takes any state for where the robot is [s]."""

_LEANING = 0.5
"""Upward part of the trunk's vertical axis below which it lies on its side: a tilt of 60 degrees."""

_AGAIN = 0.05
"""Time between two requests to stand: a damped robot that leans on its legs sinks onto its belly first [s]."""

_PATIENCE = 4.0
"""How long that and the way up may take beyond the time of the latter [s]."""


class Recovery:
    """One robot's way up. Not for several threads."""

    def __init__(self, loop: ClosedLoop, robot: Robot) -> None:
        """Nothing is done before :meth:`begin`."""
        self._loop, self._robot = loop, robot
        self._under_way = self._standing = False
        self._refusal = ""
        self._next = self._deadline = math.inf

    def begin(self) -> str:
        """Get the robot up and moving; what is done about it, for people.

        Raises:
            SimulationError: where it lies is not known.
        """
        loop, controller = self._loop, self._loop.controller
        low = self._height() < FALL_HEIGHT
        if controller.mode is ControlMode.MOVE and not low:
            return "it is on its feet"
        posture = self._posture()
        if posture:
            return self._put_up(posture)
        if low:
            controller.request(ControlMode.DAMP)  # so that the way up begins with folded legs
        stand, now = controller.config.stand, loop.simulator.time
        self._under_way, self._standing, self._refusal = True, False, ""
        self._deadline = now + stand.fold_time + stand.ramp_time + _PATIENCE
        self._ask()
        return "standing up from where it lies"

    def cancel(self) -> None:
        """Leave the robot as it is: somebody wants something else of it."""
        self._under_way = False

    def follow(self) -> str:
        """Go on after a tick; what has come of it, for people, and empty as long as nothing has.

        Raises:
            SimulationError: where it lies is not known.
        """
        if not self._under_way:
            return ""
        controller, now = self._loop.controller, self._loop.simulator.time
        if controller.mode is ControlMode.MOVE:
            self._under_way = False
            return "stood up by itself"
        posture = self._posture()
        if posture:
            return self._put_up(posture)
        if now >= self._deadline:
            obstacle = self._refusal or controller.waiting_for
            return self._put_up(f"it could not stand up in time{': ' if obstacle else ''}{obstacle}")
        if self._standing and controller.mode is ControlMode.DAMP:
            return self._put_up(f"standing up failed, {controller.fault or 'damping'}")
        if controller.mode is ControlMode.DAMP and now >= self._next:
            self._ask()
        return ""

    def _ask(self) -> None:
        self._next = self._loop.simulator.time + _AGAIN
        answer = self._loop.want(ControlMode.MOVE)
        self._standing = answer.accepted
        self._refusal = "" if answer.accepted else answer.reason

    def _put_up(self, why: str) -> str:
        self._under_way = False
        back_on_feet(self._loop, self._robot)
        return f"put back on its feet: {why}"

    def _posture(self) -> str:
        """What keeps the robot from standing up, for people; empty where nothing of its posture does."""
        up = quaternion_to_matrix(self._loop.simulator.true_state().orientation)[2, 2]
        if up < -_LEANING:
            return "it lies on its back"
        return "" if up >= _LEANING else "it lies on its side"

    def _height(self) -> float:
        """Of the trunk above the lowest foot [m]."""
        state = self._loop.simulator.true_state()
        feet = foot_positions(self._robot, state.joint_positions) @ quaternion_to_matrix(state.orientation).T
        return float(-feet[:, 2].min())


def back_on_feet(loop: ClosedLoop, robot: Robot) -> None:
    """Stand the robot of a loop up on the ground that is there, in its heading, and let it go on moving.

    Raises:
        SimulationError: where it lies is not known.
    """
    simulator, controller = loop.simulator, loop.controller
    lying, standing = simulator.true_state(), robot.standing_state(simulator.time + _MOVED)
    yaw = 0.5 * float(quaternion_to_rpy(lying.orientation)[2])
    place = np.array([*lying.position[:2], standing.position[2]])
    upright = replace(standing, position=place, orientation=np.array([0.0, 0.0, math.sin(yaw), math.cos(yaw)]))
    if not upright.is_finite():
        raise SimulationError("where the robot lies is not known; reset")
    simulator.reset(upright)
    place[2] -= min(simulator.foot_heights())
    simulator.reset(upright)
    controller.request(ControlMode.DAMP)
    controller.update(simulator.state(), simulator.time)
    loop.want(ControlMode.MOVE)
