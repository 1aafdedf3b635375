"""The way up after a fall: the robot gets up by itself; where that fails, it is put back on its feet."""

import math
from dataclasses import replace

import numpy as np

from contact_ddp_ros.base.errors import SimulationError
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.robot.model import Robot, foot_positions
from contact_ddp_ros.robot.rotation import quaternion_to_matrix, quaternion_to_rpy
from contact_ddp_ros.runs.closed_loop import ClosedLoop
from contact_ddp_ros.runs.recording import FALL_HEIGHT

_MOVED = 0.2
"""After a gap of this length the controller takes any state for where the robot is [s]."""


class Recovery:
    """One robot's way up. Not for several threads."""

    def __init__(self, loop: ClosedLoop, robot: Robot) -> None:
        """Start idle until :meth:`begin`."""
        self._loop, self._robot = loop, robot
        self._under_way = False

    def begin(self) -> str:
        """Get the robot up and moving; what is done about it, for people.

        Raises:
            SimulationError: where it lies is not known.
        """
        loop, controller = self._loop, self._loop.controller
        if self._height() < FALL_HEIGHT:
            loop.want(ControlMode.DAMP)  # so that the way up begins with folded legs
        elif controller.mode is ControlMode.MOVE:
            return "it is on its feet"
        answer = loop.want(ControlMode.RECOVER)
        if not answer.accepted:
            return self._put_up(answer.reason)
        self._under_way = True
        return "getting up from where it lies"

    def cancel(self) -> None:
        """Leave the robot as it is: somebody wants something else of it."""
        self._under_way = False

    def follow(self) -> str:
        """Go on after a tick; what has come of it, for people, and empty as long as nothing has.

        Raises:
            SimulationError: where it lies is not known.
        """
        controller = self._loop.controller
        if not self._under_way:
            return ""
        if controller.mode is ControlMode.DAMP:
            return self._put_up(f"getting up failed, {controller.fault or 'damping'}")
        self._under_way = controller.mode is not ControlMode.MOVE
        return "" if self._under_way else "got up by itself"

    def _put_up(self, why: str) -> str:
        self._under_way = False
        back_on_feet(self._loop, self._robot)
        return f"put back on its feet: {why}"

    def _height(self) -> float:
        """Height of the trunk above the lowest foot [m]."""
        state = self._loop.plant.truth().state
        feet = foot_positions(self._robot, state.joint_positions) @ quaternion_to_matrix(state.orientation).T
        return float(-feet[:, 2].min())


def back_on_feet(loop: ClosedLoop, robot: Robot) -> None:
    """Stand the robot of a loop up on the ground that is there, in its heading, and let it go on moving.

    Raises:
        SimulationError: where it lies is not known.
    """
    simulator, controller = loop.plant, loop.controller
    lying, standing = simulator.truth().state, robot.standing_state(simulator.time + _MOVED)
    yaw = 0.5 * float(quaternion_to_rpy(lying.orientation)[2])
    place = np.array([*lying.position[:2], standing.position[2]])
    upright = replace(standing, position=place, orientation=np.array([0.0, 0.0, math.sin(yaw), math.cos(yaw)]))
    if not upright.is_finite():
        raise SimulationError("where the robot lies is not known; reset")
    simulator.reset(upright)
    place[2] -= min(simulator.truth().foot_heights)
    simulator.reset(upright)
    controller.request(ControlMode.DAMP)
    controller.update(simulator.read(), simulator.time)
    loop.want(ControlMode.MOVE)
