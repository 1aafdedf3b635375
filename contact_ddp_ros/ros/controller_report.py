"""Events, numbers for plots and diagnostics of the controller node, published after the command of a tick."""

import math
import re
from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from std_msgs.msg import Float64MultiArray

from contact_ddp_ros.base.errors import ContactDdpError
from contact_ddp_ros.control.controller import Controller
from contact_ddp_ros.control.estimation.state_estimator import StateEstimator
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.control.safety import Fault, ViolationKind
from contact_ddp_ros.robot.ground import NO_PAYLOAD
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.conversions import contacts_message
from contact_ddp_ros.ros.estimate_messages import FeltReport, felt_message
from contact_ddp_ros.ros.monitor import LoopMonitor, Recent
from contact_ddp_ros.ros.reports import ERROR, OK, WARN, Scalar, status
from contact_ddp_ros.ros.runtime import publisher
from contact_ddp_ros.ros.timebase import Timebase

_OVERRUN_SHARE = 0.05
"""Share of overlong ticks from which diagnostics warn."""

_SAY_AGAIN = 1.0
"""Time on the clock of the states after which a reason is said again of which only the numbers have changed [s]."""

_WAY_ON = "call move to try again; where a foot hangs in a gap, damp, set the robot on whole ground, and stand"
"""Services for a robot which stands where it cannot begin to move."""

_NUMBERS = re.compile(r"-?\d+(\.\d+)?")
"""Numbers in a reason; without them it is the same reason as long as it lasts."""

_PLOT_EVERY = 10
"""Ticks from one set of numbers for plots and displays to the next."""

_ALONE = 10
"""Joint states and odometry in a row without their counterpart, from which that is said."""

_MODE_NUMBERS = {mode: float(number) for number, mode in enumerate(ControlMode)}


class ControllerReport:
    """Publishes the reports of one controller; times are in seconds of the node's time base."""

    def __init__(self, node: Node, controller: Controller, timebase: Timebase, *, lockstep: bool) -> None:
        """Make the topics."""
        self._node, self._controller, self._timebase, self._lockstep = node, controller, timebase, lockstep
        self._events = publisher(node, io.CONTROLLER_EVENTS)
        self._contacts = publisher(node, io.CONTACTS)
        self._mode = Scalar(node, io.MODE)
        self._policy_age = Scalar(node, io.POLICY_AGE)
        self._state_age = Scalar(node, io.STATE_AGE)
        self._felt = publisher(node, io.FELT)
        self._monitor = LoopMonitor()
        self._since_plotted = 0
        self._told: tuple[ControlMode | None, Fault | None, str] = (None, None, "")
        self._told_standing = False
        self._told_at = -math.inf
        self._told_contacts: tuple[bool, ...] = ()
        self._told_retreats = 0
        self._refusals_told: dict[ViolationKind, float] = {}
        self._malformed, self._recent, self._last_malformed = 0, Recent(), ""
        self.refused_state = ""
        """Fault of the last state, where it could not be used."""
        self._alone = 0
        self._oldest_policy = 0.0
        self._ages: Callable[[], tuple[float, float]] = lambda: (math.nan, math.nan)
        self._estimator: StateEstimator | None = None

    def watch(self, ages: Callable[[], tuple[float, float]], estimator: StateEstimator | None) -> None:
        """Start reporting; `ages` returns the ages of the last state and of the last policy [s]."""
        self._ages, self._estimator = ages, estimator

    def tick(self, now: float, duration: float, available: float) -> None:
        """Report a tick that took `duration` of `available` [s]: changes at once, numbers for people less often."""
        self._monitor.round(duration, available)
        if self._controller.mode is ControlMode.MOVE:
            self._oldest_policy = max(self._oldest_policy, self._controller.move.policy_age(now))
        self.changes(now)
        self._since_plotted += 1
        if self._since_plotted >= _PLOT_EVERY:
            self._since_plotted = 0
            state_age, policy_age = self._ages()
            self._mode.publish(_MODE_NUMBERS[self._controller.mode])
            self._state_age.publish(state_age)
            self._policy_age.publish(policy_age)
            if self._felt.get_subscription_count():
                self._felt.publish(self._felt_now(now))

    def changes(self, now: float) -> None:
        """Publish changes of the mode, the fault, the planned contacts and the condition that is waited for."""
        controller = self._controller
        if controller.contacts != self._told_contacts:
            self._told_contacts = controller.contacts
            self._contacts.publish(contacts_message(self._told_contacts))
        if controller.retreats != self._told_retreats and controller.retreat is not None:
            self._told_retreats = controller.retreats
            self._node.get_logger().warning(f"standing for want of policies: {controller.retreat}")
            self._event(now, WARN, f"standing for want of policies: {controller.retreat}")
        if controller.standing != self._told_standing:
            self._told_standing = controller.standing
            if self._told_standing:
                self._event(now, OK, "stands")
        fault, waiting_for = controller.fault, controller.waiting_for
        told = (controller.mode, fault, waiting_for)
        if told == self._told:
            return
        same = [(mode, latched, _NUMBERS.sub("", text)) for mode, latched, text in (told, self._told)]
        if same[0] == same[1] and 0.0 <= now - self._told_at < _SAY_AGAIN:
            return
        if fault is not None and fault not in self._told:
            text = self.with_refused_state(str(fault))
            self._node.get_logger().error(f"damping: {text}")
            self._event(now, ERROR, text)
        else:
            given_up = f"stays standing: {controller.given_up}; {_WAY_ON}" if controller.given_up else ""
            self._event(now, WARN if given_up else OK, waiting_for or given_up)
        self._told, self._told_at = told, now

    def refusal(self, now: float) -> None:
        """Publish an event where the last plan gave no policy to follow, at most one a second for each reason."""
        finding = self._controller.move.refused
        if finding is None or 0.0 <= now - self._refusals_told.get(finding.violation, -math.inf) < _SAY_AGAIN:
            return
        self._refusals_told[finding.violation] = now
        what = "no policy" if finding.violation is ViolationKind.SOLVE_FAILED else "policy refused"
        self._event(now, WARN, f"{what}: {finding}")

    def malformed(self, error: ContactDdpError) -> None:
        """Count a refused message for the next diagnostics and log its error."""
        self._malformed += 1
        self._last_malformed = str(error)
        self._node.get_logger().error(f"message refused: {error}", throttle_duration_sec=1.0)

    def with_refused_state(self, reason: str) -> str:
        """The reason, with the error of the last state if that was refused."""
        return f"{reason}; a state has come and was refused: {self.refused_state}" if self.refused_state else reason

    def unpaired(self, alone: int) -> None:
        """Number of joint states and odometry messages received in a row without their counterpart."""
        self._alone = alone
        if alone >= _ALONE:
            self._node.get_logger().error(self._pairs_missing(), throttle_duration_sec=5.0)

    def diagnostics(self) -> tuple[bytes, str, dict[str, Any]]:
        """Level, text and values."""
        controller, loop = self._controller, self._monitor.report()
        state_age, policy_age = self._ages()
        malformed = self._recent.growth(self._malformed)
        oldest, self._oldest_policy = self._oldest_policy, 0.0
        values = {
            "mode": controller.mode.value,
            "waiting for": controller.waiting_for,
            "gave up moving for": controller.given_up,
            "fault": controller.fault or "",
            "finding": controller.finding or "",
            "payload [kg]": round((controller.estimator.payload or NO_PAYLOAD).mass, 2),
            "inertia of drives [kg m²]": round(controller.estimator.drive_inertia or 0.0, 4),
            **loop.values("tick"),
            "state age [ms]": 1e3 * state_age,
            "policy age [ms]": 1e3 * policy_age,
            "oldest policy followed [ms]": round(1e3 * oldest, 1),
            "stands for want of policies": controller.retreats,
            "corrections of the place": controller.anchor.jumps,
            **({} if self._estimator is None else self._estimator.figures()),
            "refused state": self.refused_state,
            "malformed messages": self._malformed,
            "last refused message": self._last_malformed,
            **{f"refused policies, {why.value}": count for why, count in controller.move.refusals.items()},
        }
        if controller.fault is not None:
            return ERROR, str(controller.fault), values
        if self._alone >= _ALONE:
            return ERROR, self._pairs_missing(), values
        if malformed:
            return WARN, f"{malformed} malformed messages since the last report: {self._last_malformed}", values
        if loop.overruns > _OVERRUN_SHARE * loop.rate and not self._lockstep:
            return WARN, f"{loop.overruns} ticks longer than their period since the last report", values
        return OK, controller.mode.value, values

    def _felt_now(self, now: float) -> Float64MultiArray:
        estimator, stamp = self._controller.estimator, self._timebase.stamp(now)
        contacts = estimator.contacts.contact.tolist()
        return felt_message(FeltReport(stamp, contacts, estimator.forces, estimator.ground, estimator.footholds))

    def _pairs_missing(self) -> str:
        text = "states come but do not pair"
        other = io.ODOM if self._estimator is None else io.IMU
        return f"{text}: the last {self._alone} joint_states and {other.name} had no counterpart of their stamp"

    def _event(self, now: float, level: bytes, text: str) -> None:
        time = 1e-9 * self._timebase.stamp(now)
        values = {"time": time, "mode": self._controller.mode.value, "standing": self._controller.standing}
        self._events.publish(status("controller", level, text, values))
