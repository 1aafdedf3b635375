"""The joint controller as a node: a joint command for every robot state that arrives.

The control loop is the main thread, receives states and policies itself and runs at the rate of the states; services,
parameters and the rest have a thread with an executor. It asks the planner for policies (`plan_request`) while it
stands or bounds. Where states stay away it goes on by itself, so that the drives are told to damp. In lock-step it
waits for the policies that are due (:mod:`contact_ddp_ros.nodes.plan_client`), as long as there is a planner.
"""

import math
import re
import sys
import time as clock
from pathlib import Path
from threading import Event
from typing import Any

from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from rclpy.duration import Duration
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from contact_ddp_ros.control.controller import Controller
from contact_ddp_ros.control.findings import Fault, Violation
from contact_ddp_ros.control.modes import Answer, ControlMode
from contact_ddp_ros.control.velocity import Expiring, VelocityCommand
from contact_ddp_ros.errors import ContactDdpError, MessageError
from contact_ddp_ros.nodes import interfaces as io
from contact_ddp_ros.nodes.conversions import (
    contacts_message,
    from_stamp,
    is_time,
    joint_command_message,
    robot_state,
    stamp_ns,
    time_ns,
    to_stamp,
    velocity_command,
)
from contact_ddp_ros.nodes.exchange import Pairing
from contact_ddp_ros.nodes.inlet import Inlet
from contact_ddp_ros.nodes.lifecycle import run_managed_node
from contact_ddp_ros.nodes.monitor import LoopMonitor, Recent
from contact_ddp_ros.nodes.node_config import ControllerNodeConfig
from contact_ddp_ros.nodes.parameters import NodeParameters
from contact_ddp_ros.nodes.plan_client import REPEAT, PlanClient
from contact_ddp_ros.nodes.policy_message import PolicyAnswer
from contact_ddp_ros.nodes.reports import ERROR, OK, WARN, Scalar, status
from contact_ddp_ros.nodes.runtime import publisher, serve
from contact_ddp_ros.nodes.steering import subscribe_velocity
from contact_ddp_ros.robot.model import load_robot
from contact_ddp_ros.robot.state import JointCommand, RobotState

NAME = "controller"

_GONE = 1.0
"""Wall-clock time without a state after which it is looked whether anybody is left to send one [s]."""

_LAST_FRAMES = 3
"""Damping commands at the end: not every way to the drives is a reliable one."""

_LAST_WORD = 0.2
"""Longest wait for the last of them to arrive [s]."""

_OVERRUN_SHARE = 0.05
"""Share of overlong ticks from which diagnostics warn."""

_SAY_AGAIN = 1.0
"""Time on the clock of the states after which a reason is said again whose numbers only have changed [s]."""

_NUMBERS = re.compile(r"-?\d+(\.\d+)?")
"""In a reason; without them it is the same reason as long as it lasts."""

_PLOT_EVERY = 10
"""Ticks from one set of numbers for plots to the next."""

_MODE_NUMBERS = {mode: float(number) for number, mode in enumerate(ControlMode)}

Pair = tuple[JointState, Odometry]


class ControllerNode:
    """Gives the drives their commands and the planner its cues."""

    def __init__(self, node: Node, parameters: NodeParameters[ControllerNodeConfig]) -> None:
        """Build the controller and its topics.

        Raises:
            ContactDdpError: a parameter or the robot's description is not usable.
        """
        self.node = node
        self._parameters = parameters
        config = self._config
        self._robot = load_robot(Path(config.node.urdf) if config.node.urdf else None)
        self._controller = Controller(self._robot, config)
        self._simulated = bool(node.get_parameter("use_sim_time").value)
        self._pairing = Pairing(time_ns(config.node.pairing_tolerance))
        self._pair: Pair | None = None
        self._steering = Expiring(VelocityCommand())
        self._last_stamp: int | None = None
        self._last_state: RobotState | None = None
        self._last_message: Any = None
        self._followed: PolicyAnswer | None = None
        self._told: tuple[ControlMode | None, Fault | None, str] = (None, None, "")
        self._told_at = -math.inf
        self._malformed, self._recent = 0, Recent()
        self._refused_state = ""
        self._refusals_told: dict[Violation, float] = {}
        self._stop = Event()
        self._stop.set()
        self._commands = publisher(node, io.JOINT_COMMAND)
        self._contacts = publisher(node, io.CONTACTS)
        self._told_contacts: tuple[bool, ...] = ()
        self._events = publisher(node, io.CONTROLLER_EVENTS)
        self._mode = Scalar(node, io.MODE)
        self._policy_age = Scalar(node, io.POLICY_AGE)
        self._state_age = Scalar(node, io.STATE_AGE)
        self._monitor = LoopMonitor()
        self._since_plotted = 0
        self._inlet = Inlet(node)
        self._planner = PlanClient(node, self._inlet, self._refuse)
        self._inlet.subscribe(io.ODOM, self._on_odometry)
        self._inlet.subscribe(io.JOINT_STATES, self._on_joint_states)
        subscribe_velocity(node, parameters.config.node.enable_stamped_cmd_vel, self._on_cmd_vel)
        for service, mode in (
            (io.DAMP, ControlMode.DAMP),
            (io.STAND, ControlMode.STAND),
            (io.BOUND, ControlMode.BOUND),
        ):
            serve(node, service, self._mode_service(mode))
        node.get_logger().info(
            f"controlling {self._robot.tree.name}, {'lock-step' if config.node.lockstep else 'live'}"
        )

    @property
    def _config(self) -> ControllerNodeConfig:
        return self._parameters.config

    def configure(self, config: ControllerNodeConfig) -> None:
        """Take over parameters from the next tick on."""
        self._controller.configure(config)

    def run(self, stop: Event) -> None:
        """Answer states until `stop`."""
        self._stop = stop
        self._planner.begin(self._config.node.planner_delay, stop)
        heard = clock.monotonic()
        while not stop.is_set():
            patience = REPEAT if self._config.node.lockstep else self._config.safety.state_timeout
            self._inlet.until(lambda: self._pair is not None or stop.is_set(), patience)
            if stop.is_set():
                return
            pair, self._pair = self._pair, None
            if pair is not None:
                began, last = clock.monotonic(), self._last_stamp
                self._answer(pair)
                heard = clock.monotonic()
                self._note(heard - began, last)
            elif self._last_state is not None:
                self._miss(self._last_state, clock.monotonic() - heard)

    def wake(self) -> None:
        """No wait is long."""

    def farewell(self) -> None:
        """Leave the drives damping."""
        self._stop.set()
        self._controller.request(ControlMode.DAMP)
        stamp = to_stamp(0.0 if self._last_state is None else self._last_state.time)
        self._last_message = joint_command_message(JointCommand.damping(self._robot.n_joints), stamp)
        for _ in range(_LAST_FRAMES):
            self._commands.publish(self._last_message)
            self._commands.wait_for_all_acked(Duration(seconds=_LAST_WORD))

    def report(self) -> tuple[bytes, str, dict[str, Any]]:
        """Level, text and values for diagnostics."""
        controller = self._controller
        loop, malformed = self._monitor.report(), self._recent.growth(self._malformed)
        state_age, policy_age = self._ages()
        values = {
            "mode": controller.mode.value,
            "waiting for": controller.waiting_for,
            "fault": controller.fault or "",
            "finding": controller.finding or "",
            "refused state": self._refused_state,
            **loop.values("tick"),
            "state age [ms]": 1e3 * state_age,
            "policy age [ms]": 1e3 * policy_age,
            "malformed messages": self._malformed,
            **{f"refused policies, {name}": count for name, count in controller.refused_policies.items()},
        }
        if controller.fault is not None:
            return ERROR, str(controller.fault), values
        if malformed:
            return WARN, f"{malformed} malformed messages since the last report", values
        if loop.overruns > _OVERRUN_SHARE * loop.rate and not self._config.node.lockstep:
            return WARN, f"{loop.overruns} ticks longer than their period since the last report", values
        return OK, controller.mode.value, values

    def _ages(self) -> tuple[float, float]:
        """Ages of the last state and of the last policy [s]; not a number where there is none."""
        state, followed = self._last_state, self._followed
        if state is None:
            return math.nan, math.nan
        policy = None if followed is None else followed.policy
        return self._now(state) - state.time, math.nan if policy is None else state.time - policy.start

    def _note(self, duration: float, last_stamp: int | None) -> None:
        """Time of one tick for diagnostics, and now and then numbers for plots."""
        if self._last_stamp is not None and last_stamp is not None and self._last_stamp > last_stamp:
            self._monitor.round(duration, 1e-9 * (self._last_stamp - last_stamp))
        self._since_plotted += 1
        if self._since_plotted >= _PLOT_EVERY:
            self._since_plotted = 0
            state_age, policy_age = self._ages()
            self._mode.publish(_MODE_NUMBERS[self._controller.mode])
            self._state_age.publish(state_age)
            self._policy_age.publish(policy_age)

    def _answer(self, pair: Pair) -> None:
        """The command for one state."""
        joints, odometry = pair
        stamp = stamp_ns(joints.header.stamp)
        if stamp == self._last_stamp and self._last_message is not None:
            self._commands.publish(self._last_message)
            return
        try:
            state = robot_state(joints, odometry)
        except MessageError as error:
            self._refuse(error)
            self._refused_state = str(error)
            last = 0.0 if self._last_state is None else self._last_state.time
            self._command(None, from_stamp(joints.header.stamp) if is_time(joints.header.stamp) else last)
            return
        self._last_stamp, self._last_state, self._refused_state = stamp, state, ""
        now = self._now(state)
        self._follow_planner(stamp, now)
        steering = self._steering.at(state.time, self._config.node.cmd_vel_timeout)
        self._controller.steer(steering.yaw_rate, steering.left)
        self._command(state, now)

    def _miss(self, last: RobotState, silence: float) -> None:
        """No state has come for `silence` [s] of the wall clock: go on with the last one, which grows old.

        Where time is simulated it stands still with its source, unless nobody is left to send states.
        """
        if silence > _GONE and not self.node.count_publishers(io.JOINT_STATES.name):
            self._command(last, max(self._now(last), last.time + silence))
        elif not self._config.node.lockstep:
            self._command(last, self._now(last))

    def _now(self, state: RobotState) -> float:
        """The time on the clock of the states.

        In simulation that is the later of the state's stamp and `/clock`: where the simulator gets no processor time
        passes for nobody, where only its states are lost it does. In lock-step it is the stamp.
        """
        if self._config.node.lockstep:
            return state.time
        now = 1e-9 * float(self.node.get_clock().now().nanoseconds)
        return max(state.time, now) if self._simulated else now

    def _command(self, state: RobotState | None, now: float) -> None:
        command = self._controller.update(state, now)
        stamp = to_stamp(now if state is None else state.time)
        self._tell(now)
        if self._controller.contacts != self._told_contacts:
            self._told_contacts = self._controller.contacts
            self._contacts.publish(contacts_message(self._told_contacts))
        self._last_message = joint_command_message(command, stamp)
        self._commands.publish(self._last_message)

    def _follow_planner(self, stamp: int, now: float) -> None:
        """Ask for plans where they are wanted and follow those that have come, or in lock-step, that are due."""
        controller, config = self._controller, self._config
        cue = io.STOPPING if controller.stopping else controller.mode.value
        if controller.mode is ControlMode.BOUND or controller.standing:
            self._planner.ask(stamp, config.safety.planner_period, cue)
        if config.node.lockstep:
            answers = self._planner.due(stamp, cue, config.node.lockstep_timeout)
        else:
            answers = self._planner.newest(stamp)
        for answer in answers:
            self._follow(answer, now)

    def _follow(self, answer: PolicyAnswer, now: float) -> None:
        """Offer the controller a policy that it does not know yet."""
        if answer is self._followed:
            return
        self._followed = answer
        if answer.policy is not None:
            self._controller.set_policy(answer.policy, now)
            self._tell_refusal(now)

    def _tell_refusal(self, now: float) -> None:
        """An event where a policy was refused; of refusals for the same reason one now and then."""
        finding = self._controller.refused_policy
        if finding is None or 0.0 <= now - self._refusals_told.get(finding.violation, -math.inf) < _SAY_AGAIN:
            return
        self._refusals_told[finding.violation] = now
        self._event(now, WARN, f"policy refused: {finding}")

    def _tell(self, now: float) -> None:
        """Publish changes of mode, of faults and of what is waited for; of mere numbers in that one now and then."""
        controller = self._controller
        fault, waiting_for = controller.fault, controller.waiting_for
        told = (controller.mode, fault, waiting_for)
        if told == self._told:
            return
        same = [(mode, latched, _NUMBERS.sub("", text)) for mode, latched, text in (told, self._told)]
        if same[0] == same[1] and 0.0 <= now - self._told_at < _SAY_AGAIN:
            return
        if fault is not None and fault not in self._told:
            text = self._with_refused_state(str(fault))
            self.node.get_logger().error(f"damping: {text}")
            self._event(now, ERROR, text)
        else:
            self._event(now, OK, waiting_for)
        self._told, self._told_at = told, now

    def _event(self, now: float, level: bytes, text: str) -> None:
        values = {"time": now, "mode": self._controller.mode.value, "standing": self._controller.standing}
        self._events.publish(status(NAME, level, text, values))

    def _refuse(self, error: ContactDdpError) -> None:
        self._malformed += 1
        self.node.get_logger().error(f"message refused: {error}", throttle_duration_sec=1.0)

    def _with_refused_state(self, reason: str) -> str:
        """The reason, and what was wrong with the last state where it could not be used."""
        refused = self._refused_state
        return f"{reason}; a state has come and was refused: {refused}" if refused else reason

    def _on_joint_states(self, message: JointState) -> None:
        self._take(self._pairing.joints(stamp_ns(message.header.stamp), message))

    def _on_odometry(self, message: Odometry) -> None:
        self._take(self._pairing.odometry(stamp_ns(message.header.stamp), message))

    def _take(self, pair: Pair | None) -> None:
        if pair is not None:
            self._pair = pair

    def _on_cmd_vel(self, message: Twist) -> None:
        try:
            self._steering.put(velocity_command(message))
        except ContactDdpError as error:
            self._refuse(error)

    def _mode_service(self, mode: ControlMode) -> Any:
        def serve_mode(_request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
            if self._stop.is_set() and mode is not ControlMode.DAMP:
                answer = Answer(False, "the controller is inactive; activate it first")
            else:
                answer = self._controller.request(mode)
            reason = answer.reason if answer.accepted else self._with_refused_state(answer.reason)
            response.success, response.message = answer.accepted, reason
            self.node.get_logger().info(f"{mode.value} requested: {reason}")
            return response

        return serve_mode


def main(arguments: list[str] | None = None) -> int:
    """Entry point; the exit code."""
    return run_managed_node(NAME, ControllerNodeConfig(), ControllerNode, arguments)


if __name__ == "__main__":
    sys.exit(main())
