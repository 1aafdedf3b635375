"""The joint controller as a node: a joint command for every robot state that arrives.

The control loop is the main thread, receives states and policies itself and runs at the rate of the states; services,
parameters and the rest have a thread with an executor. It asks the planner for policies (`plan_request`) while it
stands or bounds. Without states it goes on by itself, so that the drives are commanded to damp. In lock-step it
waits for the policies that are due (:mod:`contact_ddp_ros.ros.plan_client`), as long as there is a planner.
"""

import math
import sys
import time as clock
from collections.abc import Callable
from functools import partial
from threading import Event
from typing import Any

from rclpy.duration import Duration
from rclpy.node import Node
from std_msgs.msg import String
from std_srvs.srv import Trigger

from contact_ddp_ros.base.errors import MessageError
from contact_ddp_ros.base.process import settle
from contact_ddp_ros.control.controller import Controller
from contact_ddp_ros.control.estimation.state_estimator import StateEstimator
from contact_ddp_ros.control.modes import Answer, ControlMode
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.state import JointCommand, RobotState
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.controller_report import ControllerReport
from contact_ddp_ros.ros.conversions import estimate_message, time_ns
from contact_ddp_ros.ros.estimate_messages import HOLD, MOVE, STOP, PlanRequest
from contact_ddp_ros.ros.exchange import Synchroniser
from contact_ddp_ros.ros.lifecycle import managed_part
from contact_ddp_ros.ros.loop_messages import CommandWriter, ImuReader, StateReader, stamp_misfit, stamp_of
from contact_ddp_ros.ros.node_config import ControllerNodeConfig
from contact_ddp_ros.ros.parameters import NodeParameters
from contact_ddp_ros.ros.plan_client import REPEAT, PlanClient
from contact_ddp_ros.ros.policy_message import PolicyAnswer
from contact_ddp_ros.ros.receiver import Receiver
from contact_ddp_ros.ros.runtime import publisher, run_parts, serve
from contact_ddp_ros.ros.timebase import ClockPace, Timebase
from contact_ddp_ros.runs.kernels import load_control
from contact_ddp_ros.runs.motions.trials import laws, optimised

NAME = "controller"

_GONE = 1.0
"""Wall-clock time without a state after which it is looked whether anybody is left to send one [s]."""

_PATIENCE = 0.005
"""Wall-clock time without a state after which a command is made of the last one, where the drives do more than damp
[s]."""

_LAST_FRAMES = 3
"""Damping commands at the end: not every way to the drives is a reliable one."""

_LAST_WORD = 0.2
"""Longest wait for the last of them to arrive [s]."""

_DEPTH = 8
"""States that may wait to be read: after a pause the newest pair counts, whichever half came late."""

_TELL_EVERY = 10
"""Number of states from one estimate that is published to the next."""

Pair = tuple[int, bytes, bytes]
"""Stamp [ns], joint states and odometry, or IMU sample, of one instant, as they came."""


class ControllerNode:
    """Commands the drives and requests policies from the planner."""

    def __init__(self, node: Node, parameters: NodeParameters[ControllerNodeConfig]) -> None:
        """Build the controller and its topics.

        Raises:
            ContactDdpError: a parameter or the robot's description is not usable.
        """
        self.node = node
        self._parameters = parameters
        config = self._config
        load_control()
        self._lockstep = config.node.lockstep
        self._robot = load_robot(config.node.urdf or None)
        self._controller = Controller(self._robot, config)
        self._plans = optimised(config.node.motions, self._robot, node.get_logger().info)
        self._motions = laws(self._plans, self._robot, config)
        self._simulated = bool(node.get_parameter("use_sim_time").value)
        self._clock = node.get_clock().handle  # of which the node's clock makes an object of a time at every look
        self._timebase, self._pace = Timebase(), ClockPace(self._simulated and not self._lockstep)
        self._states, self._imu = StateReader(), ImuReader()
        by_imu = config.node.state == "imu"
        self._estimator = StateEstimator(self._robot, config.estimation.state) if by_imu else None
        self._estimates = publisher(node, io.ESTIMATE) if by_imu else None
        self._ticks = 0
        self._writer = CommandWriter()
        self._pairing: Synchroniser[bytes] = Synchroniser(time_ns(config.node.pairing_tolerance))
        self._pair: Pair | None = None
        self._last_stamp: int | None = None
        self._last_state: RobotState | None = None
        self._last_answer = b""
        self._followed: PolicyAnswer | None = None
        self._stop = Event()
        self._stop.set()
        self._commands = publisher(node, io.JOINT_COMMAND)
        self._report = ControllerReport(node, self._controller, self._timebase, lockstep=self._lockstep)
        self._report.watch(self._ages, self._estimator)
        self._inlet = Receiver(node)
        self._planner = PlanClient(node, self._inlet, self._timebase, self._report.malformed, lockstep=self._lockstep)
        self._inlet.subscribe(
            io.IMU if by_imu else io.ODOM,
            partial(self._on_state, 1),
            raw=True,
            wakes=False,
            reliable=self._lockstep,
            depth=_DEPTH,
        )
        self._inlet.subscribe(
            io.JOINT_STATES, partial(self._on_state, 0), raw=True, reliable=self._lockstep, depth=_DEPTH
        )
        self._inlet.subscribe(io.EXECUTION, self._on_execution, wakes=False)
        for service, mode in (
            (io.DAMP, ControlMode.DAMP),
            (io.STAND, ControlMode.STAND),
            (io.MOVE, ControlMode.MOVE),
            (io.RECOVER, ControlMode.RECOVER),
        ):
            serve(node, service, self._service(mode.value, partial(self._controller.request, mode)))
        for name in self._plans:
            serve(node, io.motion_service(name), self._service(name, partial(self._perform, name)))
        node.get_logger().info(f"controlling {self._robot.tree.name}, {'lock-step' if self._lockstep else 'live'}")

    @property
    def _config(self) -> ControllerNodeConfig:
        return self._parameters.config

    def configure(self, config: ControllerNodeConfig) -> None:
        """Take over parameters from the next tick on."""
        self._controller.configure(config)
        if self._estimator is not None:
            self._estimator.filter.configure(config.estimation.state)
        self._motions = laws(self._plans, self._robot, config)

    def run(self, stop: Event) -> None:
        """Answer states until `stop`."""
        self._stop = stop
        self.node.get_logger().info(settle(self._config.node.scheduling, live=not self._lockstep))
        self._planner.begin(self._config.node.planner_delay, stop)
        heard = clock.monotonic()
        while not stop.is_set():
            oldest, silence = self._config.safety.state_timeout, clock.monotonic() - heard
            coasting = self._controller.mode is not ControlMode.DAMP and silence < oldest
            patience = REPEAT if self._lockstep else _PATIENCE if coasting else oldest
            self._await_pair(stop, patience)
            if stop.is_set():
                return
            pair, self._pair = self._pair, None
            if pair is not None:
                self._answer(*pair)
                heard = clock.monotonic()
            elif self._last_state is not None:
                self._miss(self._last_state, clock.monotonic() - heard)

    def wake(self) -> None:
        """End a wait of :meth:`run`: each ends by itself within the receiver's timeout."""

    def farewell(self) -> None:
        """Command the drives to damp."""
        self._stop.set()
        self._controller.request(ControlMode.DAMP)
        self._last_answer = self._writer.message(self._last_stamp or 0, JointCommand.damping(self._robot.n_joints))
        for _ in range(_LAST_FRAMES):
            self._commands.publish(self._last_answer)
            self._commands.wait_for_all_acked(Duration(seconds=_LAST_WORD))

    def report(self) -> tuple[bytes, str, dict[str, Any]]:
        """Level, text and values for diagnostics."""
        return self._report.diagnostics()

    def _await_pair(self, stop: Event, patience: float) -> None:
        """Wait for joint states and, while their odometry is not there yet, for that too."""
        deadline = clock.monotonic() + patience
        while self._pair is None and not stop.is_set():
            left = deadline - clock.monotonic()
            if left <= 0.0:
                break
            self._inlet.receive(left, any_wakes=self._pairing.expecting)
        self._report.unpaired(self._pairing.alone)

    def _ages(self) -> tuple[float, float]:
        """Ages of the last state and of the last policy [s]; not a number where there is none."""
        state, followed = self._last_state, self._followed
        if state is None:
            return math.nan, math.nan
        policy = None if followed is None else followed.policy
        return self._now(state) - state.time, math.nan if policy is None else state.time - policy.start

    def _answer(self, stamp: int, joints: bytes, odometry: bytes) -> None:
        """The command for one state; for one that is repeated, the same again."""
        began, last = clock.monotonic(), self._last_stamp
        if stamp == last:
            self._commands.publish(self._last_answer)
            return
        if (misfit := stamp_misfit(stamp)) is not None:
            self._report.malformed(misfit)
            return
        if self._controller.mode is ControlMode.DAMP:
            self._timebase.follow(stamp)
        try:
            state = self._read(joints, odometry, stamp)
        except MessageError as error:
            self._report.malformed(error)
            self._report.refused_state = str(error)
            self._refuse(stamp)
            return
        self._last_stamp, self._last_state = stamp, state
        self._report.refused_state = ""
        self._pace.mark(stamp, began)
        now = self._now(state)
        self._follow_planner(stamp, state, now)
        self._last_answer = self._writer.message(stamp, self._controller.update(state, now))
        self._commands.publish(self._last_answer)
        period = math.inf if last is None or last > stamp else 1e-9 * (stamp - last)
        self._report.tick(now, clock.monotonic() - began, period / self._pace.value)

    def _read(self, joints: bytes, other: bytes, stamp: int) -> RobotState:
        """State of joint states with their odometry, or estimated from joint states with their IMU's sample."""
        time = self._timebase.seconds(stamp)
        if self._estimator is None:
            return self._states.read(joints, other, time)
        state = self._estimator.update(*self._imu.read(joints, other, time), self._controller.estimator.ground)
        self._controller.unlocated = self._estimator.interruption
        allowed, moving = self._config.safety.stuck_timeout, self._controller.mode is ControlMode.MOVE
        if moving and self._estimator.frozen > allowed:
            text = f"the IMU has repeated its sample for {1e3 * self._estimator.frozen:.0f} ms"
            raise MessageError(f"{text}; allowed while the robot moves: {1e3 * allowed:.0f} ms")
        self._ticks += 1
        if self._estimates is not None and self._ticks % _TELL_EVERY == 0 and self._estimates.get_subscription_count():
            found = self._estimator.filter
            self._estimates.publish(estimate_message(state, (found.pose_covariance, found.twist_covariance), stamp))
        return state

    def _refuse(self, stamp: int) -> None:
        """Damp where a state cannot be used; what answers the last good state stays what it is."""
        now = self._timebase.seconds(stamp) if self._last_state is None else self._last_state.time
        self._commands.publish(self._writer.message(stamp, self._controller.update(None, now)))
        self._report.changes(now)

    def _miss(self, last: RobotState, silence: float) -> None:
        """No state has come for `silence` [s] of the wall clock: go on with the last one, which grows old.

        Where time is simulated it stands still with its source, unless nobody is left to send states.
        """
        if silence > _GONE and not self.node.count_publishers(io.JOINT_STATES.name):
            now = max(self._now(last), last.time + silence)
        elif self._lockstep:
            return
        else:
            now = self._now(last)
        self._last_answer = self._writer.message(self._last_stamp or 0, self._controller.update(last, now))
        self._commands.publish(self._last_answer)
        self._report.changes(now)

    def _now(self, state: RobotState) -> float:
        """The time on the clock of the states.

        In simulation that is the later of the state's stamp and `/clock`: where the simulator gets no processor time
        passes for nobody, where only its states are lost it does. In lock-step it is the stamp.
        """
        if self._lockstep:
            return state.time
        with self._clock:
            now = self._timebase.seconds(self._clock.get_now().nanoseconds)
        return max(state.time, now) if self._simulated else now

    def _follow_planner(self, stamp: int, state: RobotState, now: float) -> None:
        """Ask for plans where they are wanted and follow those that have come, or in lock-step, that are due."""
        controller, config = self._controller, self._config
        if controller.mode is ControlMode.MOVE or controller.standing:
            self._planner.ask(stamp, config.safety.planner_period, lambda: self._request(stamp, state))
        if self._lockstep:
            answers = self._planner.due(stamp, config.node.lockstep_timeout)
        else:
            answers = self._planner.newest(stamp)
        for answer in answers:
            self._follow(answer, now)

    def _request(self, stamp: int, state: RobotState) -> PlanRequest:
        """Request for a plan from a state of that stamp [ns]."""
        controller = self._controller
        moving = STOP if controller.stopping else MOVE
        aim = moving if controller.mode is ControlMode.MOVE else HOLD
        return PlanRequest(stamp, aim, controller.localised(state) or state, controller.felt)

    def _follow(self, answer: PolicyAnswer, now: float) -> None:
        """Offer the controller a policy that it does not know yet."""
        if answer is self._followed:
            return
        self._followed = answer
        if answer.policy is not None:
            self._controller.set_policy(answer.policy, now)
        else:
            self._controller.miss_policy("the planner answered without a policy; its own report says why")
        self._report.refusal(now)

    def _on_state(self, kind: int, message: bytes) -> None:
        pair = self._pairing.put(kind, stamp_of(message), message)
        if pair is not None:
            self._pair = pair

    def _on_execution(self, message: String) -> None:
        self._controller.execution = message.data

    def _perform(self, name: str) -> Answer:
        return self._controller.perform(self._motions[name])

    def _service(self, name: str, ask: Callable[[], Answer]) -> Any:
        """Handler of a service by which somebody asks for something."""

        def answer(_request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
            if self._stop.is_set() and name != ControlMode.DAMP.value:
                answer = Answer(False, "the controller is inactive; activate it first")
            else:
                answer = ask()
            reason = answer.reason if answer.accepted else self._report.with_refused_state(answer.reason)
            response.success, response.message = answer.accepted, reason
            self.node.get_logger().info(f"{name} requested: {reason}")
            return response

        return answer


PART = managed_part(NAME, ControllerNodeConfig(), ControllerNode)


def main(arguments: list[str] | None = None) -> int:
    """Entry point; the exit code."""
    return run_parts([PART], arguments)


if __name__ == "__main__":
    sys.exit(main())
