"""A jump or a flip that somebody asks for: optimised while time goes on, done out of a stand; then it moves on."""

from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

from contact_ddp_ros.base.errors import ContactDdpError, ParameterError
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
        self._plan: Future[MotionPlan] | None = None
        self._law: MotionController | None = None
        self._asked = self._moved = False

    def begin(self, name: str) -> str:
        """Have a motion done, as soon as it is optimised and the robot stands; what is done about it, for people.

        Raises:
            ParameterError: there is no such motion, or one is under way.
        """
        if self._loop.controller.mode is ControlMode.MOTION:
            raise ParameterError("still in a motion")
        self.cancel()
        self._plan = self._motions.plan(name)
        return f"{name}: " + ("as soon as it stands" if self._plan.done() else "being optimised")

    def cancel(self) -> None:
        """Let it be: somebody wants something else of the robot."""
        self._plan = self._law = None
        self._asked = self._moved = False

    def follow(self) -> str:
        """Go on after a tick; what has come of it, for people, and empty as long as nothing has.

        Raises:
            ContactDdpError: why it is not done; it is let be then.
        """
        try:
            return self._next()
        except ContactDdpError:
            self.cancel()
            raise

    def _next(self) -> str:
        if self._plan is not None and self._plan.done():
            plan, self._plan = self._plan.result(), None
            config = self._loop.controller.config
            self._law = MotionController(self._motions.robot, plan.task, plan.policy, config)
        if self._law is None:
            return ""
        return self._outcome(self._law) if self._asked else self._ask(self._law)

    def _ask(self, law: MotionController) -> str:
        """Have it done where the robot does not move, and stand first where it does."""
        controller = self._loop.controller
        if controller.mode is ControlMode.MOVE and not law.lies:
            if not controller.stopping:
                self._moved = True
                self._loop.want(ControlMode.STAND)
            return ""
        answer = controller.perform(law)
        if not answer.accepted:
            raise ParameterError(answer.reason)
        self._asked = True
        return f"{law.name}: {answer.reason}"

    def _outcome(self, law: MotionController) -> str:
        controller, moved = self._loop.controller, self._moved
        if controller.mode is ControlMode.MOTION or controller.waiting_for:
            return ""
        self.cancel()
        if controller.mode is ControlMode.DAMP:
            raise ParameterError(f"{law.name} failed: {controller.fault or 'damping'}")
        if not law.done:
            raise ParameterError(f"{law.name} did not begin: {controller.mode.value}")
        if moved:
            self._loop.want(ControlMode.MOVE)
        return f"{law.name}: done"
