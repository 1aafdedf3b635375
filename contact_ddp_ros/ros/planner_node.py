"""The planner as a node: a policy for every state that the controller asks one for.

The main thread receives requests and solves; everything else is received by an executor in another thread. Of the
requests that arrive during a solve only the last is answered, and on the wall clock at the rate that the processor
bears (:mod:`contact_ddp_ros.mpc.loop_solver`). A solve without a usable policy, and the end of the node's work, are
answered by a message that holds a status and no policy.
"""

import sys
import time as clock
from dataclasses import replace
from threading import Event, Lock
from typing import Any

import numpy as np
from geometry_msgs.msg import Pose, Twist
from rclpy.duration import Duration
from rclpy.node import Node

from contact_ddp_ros.base import numba_cache
from contact_ddp_ros.base.errors import ContactDdpError
from contact_ddp_ros.base.process import settle
from contact_ddp_ros.mpc.gait_kernels import GaitCompiler
from contact_ddp_ros.mpc.loop_solver import PlanRate
from contact_ddp_ros.mpc.plan_result import PlanResult
from contact_ddp_ros.mpc.planner import Planner
from contact_ddp_ros.robot.gaits.gait import packaged_gaits
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel
from contact_ddp_ros.robot.state import BodyPose, Expiring, RobotState, VelocityCommand
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.conversions import body_pose, velocity_command
from contact_ddp_ros.ros.estimate_messages import HOLD, STOP, PlanRequest, plan_request
from contact_ddp_ros.ros.lifecycle import managed_part
from contact_ddp_ros.ros.monitor import LoopMonitor
from contact_ddp_ros.ros.node_config import PlannerNodeConfig
from contact_ddp_ros.ros.parameters import NodeParameters
from contact_ddp_ros.ros.plan_views import path_message, plan_markers
from contact_ddp_ros.ros.policy_message import STATUS_FAILED, STATUS_STOPPED, no_policy_message, policy_message
from contact_ddp_ros.ros.receiver import Receiver
from contact_ddp_ros.ros.reports import OK, WARN, Scalar, status
from contact_ddp_ros.ros.runtime import publisher, run_parts, subscribe, subscribe_velocity
from contact_ddp_ros.ros.timebase import ClockPace, Timebase

NAME = "planner"

_PATIENCE = 0.5
"""Longest wait without a look at whether to end [s]."""

_LAST_WORD = 0.2
"""Longest wait for the last message to arrive [s]."""

_LATE_SHARE = 0.05
"""Share of late solves from which diagnostics warn."""


class PlannerNode:
    """Answers the controller's requests for policies."""

    def __init__(self, node: Node, parameters: NodeParameters[PlannerNodeConfig]) -> None:
        """Build the planner, which compiles its kernels or loads them, then its topics: who sees them finds it ready.

        Raises:
            ContactDdpError: a parameter, the robot's description or the compiler is not usable.
        """
        self.node = node
        self._parameters = parameters
        config = parameters.config
        self._robot = load_robot(config.node.urdf or None)
        for note in self._robot.notes:
            node.get_logger().info(f"{config.node.urdf}: {note}")
        node.get_logger().info("building the planner; the first time its kernels are compiled, which takes a while")
        began = clock.monotonic()
        self._planner = Planner(WholeBodyModel(self._robot), config, epoch=clock.time_ns() // 1_000_000)
        self._planning, self._changing = Lock(), Lock()
        self._gaits = GaitCompiler(config.node.urdf, self._planner.model, config)
        self._awaited: PlannerNodeConfig | None = None
        self._planner.warm_up(self._robot.standing_state())
        numba_cache.load("robot")
        node.get_logger().info(f"planner ready after {clock.monotonic() - began:.1f} s, variant {config.variant}")
        self._lockstep = config.node.lockstep
        self._timebase = Timebase()
        self._pace = ClockPace(bool(node.get_parameter("use_sim_time").value) and not self._lockstep)
        self._wanted: PlanRequest | None = None
        self._velocity = Expiring(VelocityCommand())
        self._pose: BodyPose | None = None
        self._answered: int | None = None
        self._answer: Any = None
        self._rate = PlanRate()
        self._solves = 0
        self._failures = 0
        self._monitor = LoopMonitor()
        self._last: PlanResult | None = None
        self._displayed = -np.inf
        self._policies = publisher(node, io.POLICY)
        self._reports = publisher(node, io.SOLVES)
        self._plan = publisher(node, io.PLAN)
        self._markers = publisher(node, io.PLAN_MARKERS)
        self._solve_time = Scalar(node, io.SOLVE_TIME)
        self._iterations = Scalar(node, io.SOLVE_ITERATIONS)
        self._cost = Scalar(node, io.SOLVE_COST)
        self._speed = Scalar(node, io.SPEED)
        subscribe_velocity(node, config.node.enable_stamped_cmd_vel, self._on_cmd_vel)
        subscribe(node, io.BODY_POSE, self._on_body_pose)
        self._inlet = Receiver(node)
        self._inlet.subscribe(io.PLAN_REQUEST, self._on_request, raw=True, reliable=self._lockstep, depth=1)

    def configure(self, config: PlannerNodeConfig) -> None:
        """Apply parameters from the next solve on; on a real clock a gait that has to be compiled follows later."""
        with self._changing:
            self._planner.check(config)
            present = self._planner.config.gait
            if self._lockstep or config.gait == present or self._gaits.is_ready(config.gait):
                self._awaited = None
                self._take_over(config)
                return
            self._take_over(replace(config, gait=present))
            if self._awaited is None or self._awaited.gait != config.gait:
                text = f"gait {config.gait.name}: compiling, taken over when that is done; {present.name} goes on"
                self.node.get_logger().info(text)
            self._awaited = config
        self._gaits.request(config.gait, self._on_compiled)

    def _take_over(self, config: PlannerNodeConfig) -> None:
        config = replace(config, rate=self._rate.of(config.rate))
        prepared = self._planner.prepared(config)
        with self._planning:
            self._planner.configure(config, prepared)

    def _on_compiled(self, failure: str) -> None:
        """Go over to the gait that is waited for, if it is ready; called in the compiler's thread."""
        with self._changing:
            awaited = self._awaited
            if awaited is None or not (failure or self._gaits.is_ready(awaited.gait)):
                return
            self._awaited = None
            if failure:
                text = f"no gait {awaited.gait.name}: {failure}; {self._planner.config.gait.name} goes on"
                self.node.get_logger().error(text)
                return
            self._take_over(awaited)
            self.node.get_logger().info(f"gait {awaited.gait.name}: taken over, from the end of a cycle on")

    def run(self, stop: Event) -> None:
        """Answer requests until `stop`."""
        scheduling = self._parameters.config.node.scheduling
        self.node.get_logger().info(settle(scheduling, live=not self._lockstep))
        if not self._lockstep:
            for name in packaged_gaits():
                self._gaits.request(replace(self._planner.config.gait, name=name), lambda _: None, first=False)
        while not stop.is_set():
            self._inlet.until(lambda: stop.is_set() or self._wanted is not None, _PATIENCE)
            request, self._wanted = self._wanted, None
            if request is None or stop.is_set():
                continue
            if request.stamp == self._answered:
                self._policies.publish(self._answer)
            elif self._lockstep or self._is_due(request):
                self._solve(request)

    def _is_due(self, request: PlanRequest) -> bool:
        """True if a plan from a request's state is wanted at the present rate, to half of what the largest one asks."""
        if self._answered is None:
            return True
        since = 1e-9 * (request.stamp - self._answered)
        return not 0.0 <= since < 1.0 / self._planner.config.rate - 0.5 / self._parameters.config.rate

    def _adapt(self, result: PlanResult, duration: float) -> None:
        """Plan from now on at the rate that the processor bears, by a solve's `duration` on the states' clock [s]."""
        config, planner = self._parameters.config, self._planner
        whole = duration * max(planner.config.iterations / max(len(result.iterations), 1), 1.0)
        if result.cold or not self._rate.took(whole, clock.perf_counter(), config.rate, config.node.solve_share):
            return
        with self._changing:
            self._take_over(replace(config, gait=planner.config.gait))
        rate = planner.config.rate
        self.node.get_logger().info(f"planning at {rate:.3g} Hz, of {config.rate:g}: what the processor bears")

    def wake(self) -> None:
        """End a wait of :meth:`run`: each ends by itself within the receiver's timeout."""

    def farewell(self) -> None:
        """Publish that there will be no more policies."""
        stamp = max(int(self.node.get_clock().now().nanoseconds), 0)
        self._policies.publish(no_policy_message(stamp, STATUS_STOPPED, self._robot.model_hash))
        self._policies.wait_for_all_acked(Duration(seconds=_LAST_WORD))
        self._wanted = None

    def report(self) -> tuple[bytes, str, dict[str, Any]]:
        """Level, text and values for diagnostics."""
        last, loop = self._last, self._monitor.report()
        values = {
            "solves": self._solves,
            "failures": self._failures,
            **loop.values("solve"),
            "last solve [ms]": np.nan if last is None else 1e3 * last.solve_time,
            "rate [Hz]": self._planner.config.rate,
            "period [ms]": 1e3 / self._planner.config.rate,
            "epoch": self._planner.epoch,
            "gait": self._planner.config.gait.name,
            "compiling": "" if self._awaited is None else self._awaited.gait.name,
            "last status": "" if last is None else last.status.lower(),
            "command cut": "" if last is None else last.cut,
        }
        if last is not None and last.policy is None:
            return WARN, last.message, values
        if loop.overruns > _LATE_SHARE * loop.rate:
            return WARN, f"{loop.overruns} late solves since the last report", values
        if last is None:
            return OK, "ready", values
        rate, most = self._planner.config.rate, self._parameters.config.rate
        pace = f" at {rate:.3g} of {most:g} Hz, as the processor bears" if rate < most else ""
        return OK, f"planning{pace}; command: {last.cut}" if last.cut else f"planning{pace}", values

    def _solve(self, request: PlanRequest) -> None:
        began, config = clock.perf_counter(), self._parameters.config
        self._pace.mark(request.stamp, began)
        hold = request.aim == HOLD
        if hold:
            self._timebase.follow(request.stamp)
        state = replace(request.state, time=self._timebase.seconds(request.stamp))
        try:
            wanted = self._velocity.at(state.time, config.node.cmd_vel_timeout)
            if request.aim == STOP:
                wanted = VelocityCommand()
            pose = self._pose
            with self._planning:
                share = config.node.solve_share / self._planner.config.rate
                deadline = None if self._lockstep else began + share / self._pace.value
                result = self._planner.plan(
                    state,
                    wanted.forward,
                    lateral=wanted.left,
                    turn=wanted.yaw_rate,
                    hold=hold,
                    deadline=deadline,
                    felt=request.felt,
                    pose=pose,
                )
        except ContactDdpError as error:
            self.node.get_logger().error(f"no plan: {error}", throttle_duration_sec=1.0)
            self._publish(request, no_policy_message(request.stamp, STATUS_FAILED, self._robot.model_hash))
            return
        if result.policy is not None:
            message = policy_message(result.policy, request.stamp, self._timebase.origin)
        else:
            self._failures += 1
            message = no_policy_message(request.stamp, STATUS_FAILED, self._robot.model_hash)
            self.node.get_logger().warning(f"no policy: {result.message}", throttle_duration_sec=1.0)
        self._publish(request, message)
        self._tell(request, state, (wanted, pose), result)
        if not self._lockstep:
            self._adapt(result, self._pace.value * (clock.perf_counter() - began))

    def _publish(self, request: PlanRequest, message: Any) -> None:
        """Send an answer and keep it for a repeated request."""
        self._answered, self._answer = request.stamp, message
        self._policies.publish(message)

    def _tell(
        self,
        request: PlanRequest,
        state: RobotState,
        commanded: tuple[VelocityCommand, BodyPose | None],
        result: PlanResult,
    ) -> None:
        """Numbers for records and people, after the policy is on its way."""
        config = self._planner.config
        wanted, pose = commanded
        configured = config.reference
        pose = pose or BodyPose(configured.height, configured.roll, configured.pitch)
        # a cold solve comes before anything depends on its time
        # a cold solve comes before anything depends on its time
        available = np.inf if result.cold else 1.0 / (config.rate * self._pace.value)
        self._solves += 1
        self._monitor.round(result.solve_time, available)
        self._last = result
        last = result.iterations[-1] if result.iterations else None
        values = {
            "time": 1e-9 * request.stamp,
            "stamp": request.stamp,
            "speed": wanted.forward,
            "left": wanted.left,
            "turn": wanted.yaw_rate,
            "height": configured.height if pose.height is None else pose.height,
            "roll": pose.roll,
            "pitch": pose.pitch,
            "hold": request.aim == HOLD,
            "gait": result.gait,
            "gait_start": self._timebase.stamp(self._planner.gait_start),
            "solve_ms": 1e3 * result.solve_time,
            "iterations": len(result.iterations),
            "allowed": result.allowed,
            "ok": result.policy is not None,
            "failure": "" if result.policy is not None else result.message,
            "cut": result.cut,
            "deadline_missed": result.solve_time > available,
            "cost": result.cost,
            "violation": result.inequality_violation,
            "touchdown_error": result.touchdown_error,
            "friction_violation": result.friction_violation,
            "regularisation": last.rho if last else np.nan,
            "theta": last.hessian_blend if last else np.nan,
            "barrier": config.constraint.barrier_width,
        }
        level = OK if result.policy is not None else WARN
        self._reports.publish(status(NAME, level, result.status.lower(), values))
        self._solve_time.publish(result.solve_time)
        self._iterations.publish(len(result.iterations))
        self._cost.publish(result.cost)
        self._speed.publish(wanted.forward)
        self._display(state, result)

    def _display(self, state: RobotState, result: PlanResult) -> None:
        period = 1.0 / self._parameters.config.node.plan_rate
        if result.policy is None or 0.0 <= state.time - self._displayed < period:
            return
        self._displayed = state.time
        origin = self._timebase.origin
        if self._plan.get_subscription_count():
            self._plan.publish(path_message(result.policy, state, self._robot, origin=origin))
        if self._markers.get_subscription_count():
            self._markers.publish(plan_markers(result.policy, state, self._robot, origin=origin))

    def _on_request(self, message: bytes) -> None:
        try:
            self._wanted = plan_request(message)
        except ContactDdpError as error:
            self.node.get_logger().error(f"request refused: {error}", throttle_duration_sec=1.0)

    def _on_cmd_vel(self, message: Twist) -> None:
        try:
            self._velocity.put(velocity_command(message))
        except ContactDdpError as error:
            self.node.get_logger().error(f"message refused: {error}", throttle_duration_sec=1.0)

    def _on_body_pose(self, message: Pose) -> None:
        try:
            self._pose = body_pose(message)
        except ContactDdpError as error:
            self.node.get_logger().error(f"message refused: {error}", throttle_duration_sec=1.0)


PART = managed_part(NAME, PlannerNodeConfig(), PlannerNode)


def main(arguments: list[str] | None = None) -> int:
    """Entry point; the exit code."""
    return run_parts([PART], arguments)


if __name__ == "__main__":
    sys.exit(main())
