"""The simulated robot as a node: states and clock out, joint commands in.

In real time physics follows the wall clock; drives apply the last command, and damp when none came for a while.
In lock-step physics waits for the command that answers the state it has published (see
:mod:`contact_ddp_ros.ros.exchange`); when the controller is gone, drives damp and time follows the wall clock.
"""

import math
import sys
import time as clock
from threading import Event, Lock, Semaphore
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from rclpy.serialization import serialize_message
from rosgraph_msgs.msg import Clock
from std_srvs.srv import SetBool, Trigger

from contact_ddp_ros.base.errors import ContactDdpError
from contact_ddp_ros.base.process import settle
from contact_ddp_ros.plants.engines import make_simulator
from contact_ddp_ros.plants.pacing import Pace
from contact_ddp_ros.plants.pushes import PushSchedule, parse_instants
from contact_ddp_ros.robot.joints import LEG_NAMES
from contact_ddp_ros.robot.model import load_robot
from contact_ddp_ros.robot.state import JointCommand, RobotState
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.cdr import Template, stamp_of
from contact_ddp_ros.ros.conversions import (
    imu_message,
    push_force,
    time_ns,
)
from contact_ddp_ros.ros.exchange import Answers
from contact_ddp_ros.ros.loop_messages import CommandReader, StateWriter
from contact_ddp_ros.ros.monitor import Recent
from contact_ddp_ros.ros.node_config import SimulatorNodeConfig
from contact_ddp_ros.ros.parameter_file import fitted
from contact_ddp_ros.ros.parameters import NodeParameters
from contact_ddp_ros.ros.plan_views import force_markers
from contact_ddp_ros.ros.receiver import Receiver
from contact_ddp_ros.ros.reports import ERROR, OK, WARN, Diagnostics, Scalar, TickRecord, TickRecords
from contact_ddp_ros.ros.runtime import Part, publisher, run_parts, serve, subscribe
from contact_ddp_ros.ros.single_instance import SingleInstanceLock

NAME = "simulator"

_REPEAT = 0.5
"""Wall-clock time after which an unanswered state is sent again in lock-step [s]."""

_IDLE = 0.01
"""Wall-clock time between two looks while time is held [s]."""

_SHOW_EVERY = 20
"""Ticks from one set of markers to the next."""


class SimulatorNode:
    """Publishes the states of one simulated robot and applies the commands that come back."""

    def __init__(self, node: Node) -> None:
        """Build the world and its topics.

        Raises:
            ContactDdpError: a parameter or the robot's description is not usable.
        """
        self.node = node
        self._claim = SingleInstanceLock(node, io.CLOCK)
        self._parameters = NodeParameters(node, fitted(node, SimulatorNodeConfig()))
        config = self._config
        robot = load_robot(config.node.urdf or None)
        self._damping = JointCommand.damping(robot.n_joints)
        self._simulator = make_simulator(robot, config.node.drive.gains(len(LEG_NAMES)), config)
        self._robot = robot
        self._lock = Lock()  # the world's: services and parameters change it from the executor's thread
        self._pushes = PushSchedule(config.node.pushes)
        self._holds = parse_instants(config.node.holds)
        self._steps = max(1, round(config.node.period / self._simulator.timestep))
        self._pace = Pace(self._steps * self._simulator.timestep)
        self._clock_every = max(1, round(1.0 / config.node.clock_rate / self._pace.period))
        self._paused = config.node.start_paused
        self._single_steps = Semaphore(0)
        self._tick = 0
        self._late = False
        self._last_command: float | None = None
        self._longest_silence = 0.0
        self._silent = True
        self._alone = False
        self._malformed, self._recent = 0, Recent()
        self._reported, self._reported_at = 0, clock.monotonic()
        self._commands: Answers[JointCommand] = Answers()
        self._newest: JointCommand | None = None
        self._writer, self._reader = StateWriter(), CommandReader()
        self._clock_message = Template(serialize_message(Clock()), ())
        self._joints = publisher(node, io.JOINT_STATES)
        self._odometry = publisher(node, io.ODOM)
        self._imu = publisher(node, io.IMU)
        self._clock = self._claim.take(config.node.discovery_time)
        self._records = TickRecords(node)
        self._markers = publisher(node, io.FORCE_MARKERS)
        self._factor = Scalar(node, io.REAL_TIME_FACTOR)
        self._inlet = Receiver(node)
        self._inlet.subscribe(io.JOINT_COMMAND, self._on_command, raw=True, reliable=config.node.lockstep)
        subscribe(node, io.PUSH, self._on_push)
        serve(node, io.RESET, self._on_reset)
        serve(node, io.PAUSE, self._on_pause)
        serve(node, io.STEP, self._on_step)
        self._diagnostics = Diagnostics(node, self._report)
        self._parameters.connect(self._configure)
        pace = "in lock-step" if config.node.lockstep else "in real time"
        node.get_logger().info(f"simulating {robot.tree.name} of {robot.mass:.2f} kg {pace}")

    @property
    def _config(self) -> SimulatorNodeConfig:
        return self._parameters.config

    def run(self, stop: Event) -> None:
        """Simulate until `stop`."""
        self.node.get_logger().info(settle(self._config.node.scheduling, live=not self._config.node.lockstep))
        self._pace.start(self._simulator.time)
        state = self._publish()
        while not stop.is_set():
            self._keep_pace()
            command = self._command(state, stop)
            if stop.is_set():
                return
            if self._holding():
                self._hold(state)
                continue
            with self._lock:
                self._simulator.write(command)
                for push in self._pushes.due(state.time):
                    self._simulator.push(np.array(push.force), push.duration, np.array(push.torque))
                self._simulator.advance(self._steps)
            self._tick += 1
            state = self._publish()

    def wake(self) -> None:
        """Nothing to do: every wait of :meth:`run` ends by itself within a fraction of a second."""

    def farewell(self) -> None:
        """Publish the pending ticks."""
        self._records.send()

    def _keep_pace(self) -> None:
        """Wait until the next tick ends, so that it is stepped with the answer to the state at its beginning.

        Physics that ran at once would compute beside the controller, and with a command a tick older.
        """
        if self._config.node.lockstep and not self._alone:
            self._pace.measure(self._simulator.time)
            return
        misses = self._pace.misses
        self._pace.wait(self._simulator.time + self._pace.period)
        self._late = self._pace.misses > misses

    def _command(self, state: RobotState, stop: Event) -> JointCommand:
        """What the drives execute from `state` on."""
        if self._config.node.lockstep:
            return self._answer(state, stop)
        self._inlet.drain()
        newest = self._newest
        if newest is None or self._last_command is None:
            return self._damping
        silence = state.time - self._last_command
        self._longest_silence = max(self._longest_silence, silence)
        if silence > self._config.node.command_timeout:
            if not self._silent:
                text = f"no joint command for {1e3 * silence:.0f} ms: the drives damp"
                self.node.get_logger().warning(text, throttle_duration_sec=1.0)
            self._silent = True
            return self._damping
        return newest

    def _answer(self, state: RobotState, stop: Event) -> JointCommand:
        """The command that answers a state, however long that takes; the state is sent again meanwhile.

        Damping where who commanded so far is gone.
        """
        stamp, warned, began = time_ns(state.time), False, clock.monotonic()
        while not stop.is_set():
            if self._alone and self._is_alone(state.time):
                return self._damping
            self._inlet.until(lambda: stop.is_set() or self._commands.get(stamp) is not None, _REPEAT)
            command = self._commands.get(stamp)
            if command is not None:
                return command
            if stop.is_set():
                break
            if self._is_alone(state.time):
                continue
            if not warned and clock.monotonic() - began > 10.0 * _REPEAT:
                self.node.get_logger().info(f"waiting for the joint command of {state.time:.3f} s")
                warned = True
            with self._lock:
                self._send_state(state)
        return self._damping

    def _is_alone(self, time: float) -> bool:
        """Whether there were commands, and nobody is left to send more."""
        alone = self._last_command is not None and not self.node.count_publishers(io.JOINT_COMMAND.name)
        if alone and not self._alone:
            self.node.get_logger().warning("whoever commanded is gone: the drives damp")
            self._pace.start(time)
        self._alone = alone
        return alone

    def _holding(self) -> bool:
        """Whether time stands still."""
        return self._paused and not self._single_steps.acquire(blocking=False)

    def _hold(self, state: RobotState) -> None:
        """Let wall-clock time pass while simulated time stands; what late-comers need is repeated meanwhile."""
        clock.sleep(_IDLE)
        with self._lock:
            self._keep_record(state, again=True)
            if not self._config.node.lockstep:
                self._send_state(state)
                self._last_command = state.time
        self._pace.start(self._simulator.time)

    def _publish(self) -> RobotState:
        """Tell the state; where time is to hold, it holds already when anybody learns of it and may release it."""
        while self._holds and self._simulator.time >= self._holds[0] - 1e-9:
            self._holds.pop(0)
            self._paused = True
        with self._lock:
            state = self._simulator.read()
            self._send_state(state)
            if self._imu.get_subscription_count():
                self._imu.publish(imu_message(state, self._simulator.truth().specific_force))
            self._keep_record(state)
            if self._tick % _SHOW_EVERY == 0 and self._markers.get_subscription_count():
                self._markers.publish(force_markers(state, self._simulator.truth().contact_forces, self._robot))
        if self._tick % self._clock_every == 0:
            self._clock.publish(self._clock_message.written(time_ns(state.time)))
            self._factor.publish(self._pace.real_time_factor)
        return state

    def _send_state(self, state: RobotState) -> None:
        """Odometry first: whoever waits for joint states then has both."""
        stamp = time_ns(state.time)
        self._odometry.publish(self._writer.odometry(stamp, state))
        self._joints.publish(self._writer.joint_states(stamp, state, self._simulator.truth().applied_torques))

    def _keep_record(self, state: RobotState, again: bool = False) -> None:
        """Note this tick for who records; `again` where time is held."""
        if not self._records.wanted:
            return
        truth, now = self._simulator.truth(), clock.perf_counter()
        record = TickRecord(state, truth.applied_torques, truth.foot_heights, truth.contact_forces, now, self._late)
        self._records.keep(record, again)

    def _on_command(self, message: bytes) -> None:
        stamp = stamp_of(message)
        try:
            _, command = self._reader.read(message)
            self._silent = False
        except ContactDdpError as error:
            self._malformed += 1
            self.node.get_logger().error(f"{error}: the drives damp", throttle_duration_sec=1.0)
            command = self._damping
        self._last_command = self._simulator.time
        self._commands.put(stamp, command)
        self._newest = command

    def _on_push(self, message: WrenchStamped) -> None:
        try:
            force = push_force(message)
            with self._lock:
                self._simulator.push(force, self._config.node.push_duration)
        except ContactDdpError as error:
            self.node.get_logger().error(str(error), throttle_duration_sec=1.0)

    def _on_reset(self, _request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        with self._lock:
            self._simulator.reset(self._robot.standing_state(self._simulator.time))
        response.success, response.message = True, "standing at the origin of odom"
        return response

    def _on_pause(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        while self._single_steps.acquire(blocking=False):
            pass  # a step that nobody took is none of the next pause
        self._paused = request.data
        response.success, response.message = True, "time stands" if request.data else "time runs"
        return response

    def _on_step(self, _request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success = self._paused
        response.message = "one period" if response.success else "time runs; pause it first"
        if response.success:
            self._single_steps.release()
        return response

    def _configure(self, config: SimulatorNodeConfig) -> None:
        """Take over parameters that do not need the world built anew."""
        with self._lock:
            self._simulator.tune(config.node.drive.gains(len(LEG_NAMES)), config)

    def _report(self) -> tuple[bytes, str, dict[str, Any]]:
        pace, ticks, last = self._pace, self._tick - self._reported, self._last_command
        now, self._reported = clock.monotonic(), self._tick
        silence, self._longest_silence = self._longest_silence, 0.0
        elapsed, self._reported_at = now - self._reported_at, now
        values = {
            "mode": "lock-step" if self._config.node.lockstep else "real time",
            "simulated time [s]": self._simulator.time,
            "tick rate [Hz]": round(ticks / elapsed, 1) if elapsed > 0.0 else 0.0,
            "command age [ms]": math.nan if last is None else 1e3 * (self._simulator.time - last),
            "longest time without a command [ms]": round(1e3 * silence, 1),
            "real-time factor": pace.real_time_factor,
            "ticks": self._tick,
            "late ticks": pace.misses,
            "malformed commands": self._malformed,
        }
        if complaint := self._claim.complaint():
            return ERROR, complaint, values
        if malformed := self._recent.growth(self._malformed):
            return ERROR, f"{malformed} malformed joint commands since the last report", values
        if self._silent or self._alone:
            return WARN, "no joint command", values
        return OK, "paused" if self._paused else "running", values


PART = Part(NAME, SimulatorNode)


def main(arguments: list[str] | None = None) -> int:
    """Entry point; the exit code."""
    return run_parts([PART], arguments)


if __name__ == "__main__":
    sys.exit(main())
