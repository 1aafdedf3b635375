"""A jump or a flip that somebody asks for: optimised while time goes on, done out of a stand; then it moves on."""

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
