"""The bridge between ROS 2 and Gazebo: states and clock out, joint commands in, as the simulator's node.

In lock-step the bridge publishes a state, waits for the command with the same stamp, and lets the world make the steps
of one period. Without lock-step there are three differences: time runs at most as fast as the wall clock, the
planner is not waited for, and a command only up to a limit; a late one acts one period later. On a busy machine time
then runs slowly instead of letting the physics go on with outdated efforts.

Stamps are Gazebo's simulated time until the world is reset; from then on they go on where Gazebo's go back. A joint
command carries the stamp of the state that it answers; one that answers a state of another bridge, or of before a
reset, does not count.
"""

import sys
import time as clock
from functools import partial
from threading import Event, Semaphore
from typing import Any

from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from rosgraph_msgs.msg import Clock
from std_srvs.srv import SetBool, Trigger

from contact_ddp_ros.base.errors import ContactDdpError, GazeboError
from contact_ddp_ros.base.process import settle
from contact_ddp_ros.plants.gazebo.bridge import GazeboBridge
from contact_ddp_ros.plants.gazebo.claim import WorldClaim
from contact_ddp_ros.plants.gazebo.names import Names
from contact_ddp_ros.plants.gazebo.transport import load_bindings
from contact_ddp_ros.plants.gazebo.world_control import ControlProcess
from contact_ddp_ros.plants.pacing import Pace
from contact_ddp_ros.robot.joints import LEG_NAMES
from contact_ddp_ros.robot.model import load_robot
from contact_ddp_ros.robot.state import JointCommand, RobotState
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.cdr import stamp_of
from contact_ddp_ros.ros.conversions import (
    imu_message,
    push_force,
    time_ns,
    to_stamp,
)
from contact_ddp_ros.ros.exchange import Answers
from contact_ddp_ros.ros.loop_messages import CommandReader, StateWriter
from contact_ddp_ros.ros.monitor import Recent
from contact_ddp_ros.ros.node_config import GazeboBridgeNodeConfig
from contact_ddp_ros.ros.parameter_file import fitted
from contact_ddp_ros.ros.parameters import NodeParameters
from contact_ddp_ros.ros.receiver import Receiver
from contact_ddp_ros.ros.reports import ERROR, OK, WARN, Diagnostics, Scalar
from contact_ddp_ros.ros.runtime import Part, publisher, run_parts, serve, subscribe

NAME = "gazebo_bridge"

_REPEAT = 0.5
"""Wall-clock time after which an unanswered state is sent again in lock-step [s]."""

_IDLE = 0.01
"""Wall-clock time between two looks while time is held [s]."""

_PATIENCE = 0.2
"""Longest wait for an answer without lock-step: a busy machine keeps the controller from working for so long [s]."""

_SAY_AGAIN = 1.0
"""Wall-clock time after which the same complaint is made again [s]."""


class GazeboBridgeNode:
    """Passes states from Gazebo and commands to it."""

    def __init__(self, node: Node) -> None:
        """Connect to Gazebo's transport and build the topics; the server is looked for when the work begins.

        Raises:
            ContactDdpError: a parameter or the robot's description is not usable, or Gazebo's bindings are not there.
        """
        self.node = node
        self._parameters = NodeParameters(node, fitted(node, GazeboBridgeNodeConfig()))
        config = self._config
        robot = load_robot(config.node.urdf or None)
        bindings = load_bindings(config.node.release)
        names = Names(config.gazebo.world, config.gazebo.model)
        self._claim = WorldClaim(names)
        self._damping = JointCommand.damping(robot.n_joints)
        self._steps = max(1, round(config.node.period / config.gazebo.timestep))
        self._period = self._steps * config.gazebo.timestep
        self._pace = Pace(self._period)
        self._single_steps = Semaphore(0)
        self._clock_due = 0.0
        self._silent = True
        self._refused, self._strange, self._recent = 0, 0, Recent()
        self._commands: Answers[JointCommand] = Answers()
        self._asked, self._answered = 0, -1
        self._writer, self._reader = StateWriter(), CommandReader()
        self._joints = publisher(node, io.JOINT_STATES)
        self._odometry = publisher(node, io.ODOM)
        self._imu = publisher(node, io.IMU)
        self._clock = publisher(node, io.CLOCK)
        self._factor = Scalar(node, io.REAL_TIME_FACTOR)
        self._inlet = Receiver(node)
        self._inlet.subscribe(io.JOINT_COMMAND, self._on_command, raw=True)
        self._bridge = GazeboBridge(
            robot,
            config.drive.gains(len(LEG_NAMES)),
            bindings,
            ControlProcess(bindings.name, names),
            config.gazebo,
            paused=config.node.start_paused,
        )
        subscribe(node, io.PUSH, self._on_push)
        serve(node, io.RESET, self._on_reset)
        serve(node, io.PAUSE, self._on_pause)
        serve(node, io.STEP, self._on_step)
        self._diagnostics = Diagnostics(node, self._report)
        self._parameters.connect(self._configure)
        pace = "in lock-step" if config.node.lockstep else "in steps"
        node.get_logger().info(f"bridging {config.gazebo.model} of the world {config.gazebo.world} {pace}")

    @property
    def _config(self) -> GazeboBridgeNodeConfig:
        return self._parameters.config

    def run(self, stop: Event) -> None:
        """Make the robot stand, then pass states and commands until `stop`."""
        options = self._config.node
        self.node.get_logger().info(settle(options.scheduling, live=not options.lockstep))
        try:
            self._work(stop)
        except GazeboError:
            if not stop.is_set():
                raise

    def _work(self, stop: Event) -> None:
        state = self._bridge.start()
        self._pace.start(state.time)
        self._send(state)
        self.node.get_logger().info(f"the robot stands in Gazebo, trunk at {state.position[2]:.3f} m")
        if self._config.node.lockstep:
            self._run_in_lockstep(state, stop)
        else:
            self._run_in_steps(state, stop)

    def wake(self) -> None:
        """End the wait for a server."""
        self._bridge.cancel()

    def farewell(self) -> None:
        """Send zero efforts, since the last ones would act for ever."""
        self._bridge.close()
        self._claim.release()

    def _tell_silence(self) -> None:
        """Say it once when the drives begin to damp for want of commands."""
        if self._silent != self._bridge.silent:
            self._silent = self._bridge.silent
            if self._silent:
                self.node.get_logger().warning("no joint command for a while: the drives damp")

    def _run_in_steps(self, state: RobotState, stop: Event) -> None:
        """Keep to the wall clock, a period at a time; a slow server, or a busy machine, slows time, not the answers."""
        while not stop.is_set():
            self._publish(state)
            self._await_answer(time_ns(state.time), stop)
            while self._holding() and not stop.is_set():
                self._inlet.receive(_IDLE)
                self._send(state)
                self._pace.start(state.time)
            self._inlet.until(stop.is_set, self._pace.ahead(state.time + self._period))
            self._pace.wait(state.time + self._period)
            if stop.is_set():
                return
            state = self._bridge.advance(self._steps)
            self._tell_silence()

    def _await_answer(self, stamp: int, stop: Event) -> None:
        """Give who answered the last state time to answer this one; anybody else has a period of the wall clock."""
        patience = _PATIENCE if self._answered >= self._asked else self._period
        self._asked = stamp
        self._inlet.until(partial(self._has_answer, stamp, stop), patience)

    def _has_answer(self, stamp: int, stop: Event) -> bool:
        return stop.is_set() or self._answered >= stamp

    def _run_in_lockstep(self, state: RobotState, stop: Event) -> None:
        while not stop.is_set():
            self._publish(state)
            command = self._answer(state, stop)
            while self._holding() and not stop.is_set():
                clock.sleep(_IDLE)
            if stop.is_set():
                return
            self._bridge.apply(command)
            state = self._bridge.advance(self._steps)

    def _answer(self, state: RobotState, stop: Event) -> JointCommand:
        """The command that answers a state, however long that takes; the state is sent again meanwhile.

        After a reset nobody may answer it any more, and the drives damp.
        """
        stamp = time_ns(state.time)
        while not stop.is_set() and self._bridge.expects(state.time):
            self._inlet.until(lambda: stop.is_set() or self._commands.get(stamp) is not None, _REPEAT)
            command = self._commands.get(stamp)
            if command is not None:
                return command
            self._send(state)
        return self._damping

    def _holding(self) -> bool:
        """Whether time stands where this node steps it; one period passes for each step that was asked for."""
        return self._bridge.paused and not self._single_steps.acquire(blocking=False)

    def _publish(self, state: RobotState) -> None:
        self._send(state)
        force = self._bridge.specific_force
        if force is not None and self._imu.get_subscription_count():
            self._imu.publish(imu_message(state, force))
        if state.time >= self._clock_due - 1e-9:
            self._clock_due = state.time + 1.0 / self._config.node.clock_rate
            self._clock.publish(Clock(clock=to_stamp(state.time)))
            self._pace.measure(state.time)
            self._factor.publish(self._pace.real_time_factor)

    def _send(self, state: RobotState) -> None:
        stamp = time_ns(state.time)
        self._odometry.publish(self._writer.odometry(stamp, state))
        self._joints.publish(self._writer.joint_states(stamp, state, self._bridge.torques))

    def _on_command(self, message: bytes) -> None:
        stamp = stamp_of(message)
        try:
            _, command = self._reader.read(message)
        except ContactDdpError as error:
            self._refused += 1
            self.node.get_logger().error(f"{error}: the drives damp", throttle_duration_sec=1.0)
            command = self._damping
        if not self._bridge.expects(1e-9 * stamp):
            self._strange += 1
            self.node.get_logger().warning(
                f"a joint command stamped {1e-9 * stamp:.3f} s is left out: there has been no such state since the "
                "start or the last reset. It must carry the stamp of the state that it answers",
                throttle_duration_sec=_SAY_AGAIN,
            )
        elif self._config.node.lockstep:
            self._commands.put(stamp, command)
        else:
            self._bridge.apply(command)
            self._answered = stamp

    def _on_push(self, message: WrenchStamped) -> None:
        try:
            self._bridge.push(push_force(message), self._config.gazebo.push_duration)
        except ContactDdpError as error:
            self._refused += 1
            self.node.get_logger().error(f"push refused: {error}", throttle_duration_sec=_SAY_AGAIN)

    def _on_reset(self, _request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        try:
            self._bridge.reset()
        except ContactDdpError as error:
            response.success, response.message = False, str(error)
            return response
        response.success, response.message = True, "standing at the origin of odom"
        return response

    def _on_pause(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        self._single_steps = Semaphore(0)  # a step that was asked for before must not slip into the next pause
        try:
            self._bridge.pause(request.data)
        except ContactDdpError as error:
            response.success, response.message = False, str(error)
            return response
        response.success, response.message = True, "time stands" if request.data else "time runs"
        return response

    def _on_step(self, _request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success, response.message = self._bridge.paused, "one period"
        if not self._bridge.paused:
            response.message = "time runs; pause it first"
        else:
            self._single_steps.release()
        return response

    def _configure(self, config: GazeboBridgeNodeConfig) -> None:
        self._bridge.configure(config.gazebo, config.drive.gains(len(LEG_NAMES)))

    def _report(self) -> tuple[bytes, str, dict[str, Any]]:
        values = {
            "real-time factor": self._pace.real_time_factor,
            "malformed messages of Gazebo": self._bridge.malformed,
            "malformed commands and pushes": self._refused,
            "joint commands of another time": self._strange,
        }
        malformed = self._recent.growth(self._bridge.malformed + self._refused)
        if malformed:
            return ERROR, f"{malformed} malformed messages since the last report", values
        if self._bridge.silent:
            return WARN, "no joint command", values
        return OK, "paused" if self._bridge.paused else "running", values


PART = Part(NAME, GazeboBridgeNode)


def main(arguments: list[str] | None = None) -> int:
    """Entry point; the exit code."""
    return run_parts([PART], arguments)


if __name__ == "__main__":
    sys.exit(main())
