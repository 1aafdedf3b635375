"""A jump or a flip that somebody asks for: optimised while time goes on, done out of a stand; then it moves on.

The way up after a fall: the robot gets up by itself; where that fails, it is put back on its feet.
"""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.control.motion_controller import MotionController
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.motion import MotionSpec, load_motion, packaged_motions
from contact_ddp_ros.runs.closed_loop import ClosedLoop

if TYPE_CHECKING:
    from contact_ddp_ros.mpc.motions.optimizer import MotionPlan
import math
from dataclasses import replace

import numpy as np

from contact_ddp_ros.base.errors import SimulationError
from contact_ddp_ros.robot.model import foot_positions
from contact_ddp_ros.robot.rotation import quaternion_to_matrix, quaternion_to_rpy
from contact_ddp_ros.runs.recording import FALL_HEIGHT


class MotionLibrary:
    """Motions of one robot, each optimised when it is asked for first."""

    def __init__(self, robot: Robot) -> None:
        """Knows the packaged ones."""
        self.robot = robot
        self.names = tuple(packaged_motions())
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="motion")
        self._plans: dict[str, Future[MotionPlan]] = {}

    def plan(self, name: str) -> "Future[MotionPlan]":
        """The plan, at once or later.

        Raises:
            ParameterError: there is no such motion.
        """
        task = load_motion(name)
        known = self._plans.get(name)
        if known is None or (known.done() and known.exception() is not None):
            known = self._plans[name] = self._pool.submit(_optimised, task, self.robot)
        return known


def _optimised(task: MotionSpec, robot: Robot) -> "MotionPlan":
    from contact_ddp_ros.mpc.motions.optimizer import optimise_motion  # with what nobody needs who asks for none

    return optimise_motion(task, robot)


class MotionRunner:
    """At most one motion of a loop, from the wish on. Not for several threads."""

    def __init__(self, loop: ClosedLoop, motions: MotionLibrary) -> None:
        """Start idle until :meth:`begin`."""
        self._loop, self._motions = loop, motions
        self._course: Iterator[str] = iter(())

    def begin(self, name: str) -> str:
        """Have a motion done, as soon as it is optimised and the robot stands; what is done about it, for people.

        Raises:
            ParameterError: there is no such motion, or one is under way.
        """
        if self._loop.controller.mode is ControlMode.MOTION:
            raise ParameterError("still in a motion")
        plan = self._motions.plan(name)
        self._course = self._steps(plan)
        return f"{name}: " + ("as soon as it stands" if plan.done() else "being optimised")

    def cancel(self) -> None:
        """Let it be: somebody wants something else of the robot."""
        self._course = iter(())

    def follow(self) -> str:
        """Go on after a tick; what has come of it, for people, and empty as long as nothing has.

        Raises:
            ContactDdpError: why it is not done; it is let be then.
        """
        return next(self._course, "")

    def _steps(self, future: "Future[MotionPlan]") -> Iterator[str]:
        """Tick by tick: stand first where the robot moves, and move on afterwards."""
        loop, controller, moved = self._loop, self._loop.controller, False
        while not future.done():
            yield ""
        plan = future.result()
        law = MotionController(self._motions.robot, plan.task, plan.policy, controller.config)
        while controller.mode is ControlMode.MOVE and not law.lies:
            if not controller.stopping:
                moved = True
                loop.want(ControlMode.STAND)
            yield ""
        answer = controller.perform(law)
        if not answer.accepted:
            raise ParameterError(answer.reason)
        yield f"{law.name}: {answer.reason}"
        while controller.mode is ControlMode.MOTION or controller.waiting_for:
            yield ""
        if controller.mode is ControlMode.DAMP:
            raise ParameterError(f"{law.name} failed: {controller.fault or 'damping'}")
        if not law.done:
            raise ParameterError(f"{law.name} did not begin: {controller.mode.value}")
        if moved:
            loop.want(ControlMode.MOVE)
        yield f"{law.name}: done"


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
    controller.update(loop.measured(), simulator.time)
    loop.want(ControlMode.MOVE)
