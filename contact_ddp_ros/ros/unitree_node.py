"""The bridge between ROS 2 and a robot of Unitree over DDS (:mod:`contact_ddp_ros.ros.bridge_node`).

The robot tells joints and inertial unit, and neither place nor velocity of the trunk: the controller estimates them.
While its own motion service moves the robot, this node sends nothing; services release it and give the robot back.

The handset's stop (L2 and B) damps at once and without ROS. Its sticks drive, and buttons ask planner and controller.
"""

import math
import sys
import time as clock
from threading import Event, Lock, Thread
from typing import Any

import numpy as np
from geometry_msgs.msg import Twist
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.node import Node
from rclpy.parameter import Parameter
from std_msgs.msg import String
from std_srvs.srv import Trigger

from contact_ddp_ros.base.errors import LinkError
from contact_ddp_ros.base.process import HelperProcess
from contact_ddp_ros.plants.unitree.conventions import Health, Measurement, UnitreeConventions
from contact_ddp_ros.plants.unitree.last_commands import ARMED, DISARMED
from contact_ddp_ros.plants.unitree.link import LOW_CMD_TOPIC, LOW_STATE_TOPIC, TICK_TOPIC, UnitreeLink
from contact_ddp_ros.plants.unitree.messages import EMULATOR_TICK, LOW_CMD, LOW_STATE
from contact_ddp_ros.plants.unitree.motion_service import MotionService
from contact_ddp_ros.plants.unitree.remote import Handset, read_handset
from contact_ddp_ros.robot.joints import FOOT_NAMES
from contact_ddp_ros.robot.state import STATE_PARTS, DriveGains, ImuSample, JointCommand, RobotState
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.bridge_node import BridgeNode
from contact_ddp_ros.ros.conversions import imu_message, time_ns
from contact_ddp_ros.ros.node_config import UnitreeNodeConfig
from contact_ddp_ros.ros.reports import ERROR, WARN, TickRecord
from contact_ddp_ros.ros.runtime import Part, publisher, run_parts, serve

NAME = "unitree"

STOP = {"L2", "B"}
"""Buttons of the handset that damp."""

ASKS = {
    frozenset({"select"}): io.STAND,
    frozenset({"start"}): io.MOVE,
    frozenset({"L1", "select"}): io.DAMP,
    frozenset({"L1", "start"}): io.RECOVER,
}
"""Services that buttons ask for."""

GAITS = {
    frozenset({"L1", button}): gait for button, gait in zip("ABXY", ("trot", "bound", "pace", "walk"), strict=True)
}
"""Gaits that buttons choose."""

_SPEED_PERIOD, _SPEED_AFTER = 0.02, 0.3
"""Time between two speeds of the sticks, and after their return for which zero is sent [s]."""

_CHECK_PERIOD = 1.0
"""Time between two questions whether the robot's own service moves it [s]."""

_LOCAL_DISCOVERY, _DISCOVERY = 0.3, 3.0
"""Time from the first state on for the motion switcher to be found, on this machine alone or on a network [s]."""

_REST_TIME, _REST_SPEED, _REST_RATE = 0.5, 0.3, 0.1
"""Rest: for how long [s], and below which speeds of joints and trunk [rad/s]."""

_HELPER_TIME = 3.5
"""Time that the helper that damps gets to end [s]."""

_UNKNOWN = "nobody knows yet whether the robot's own motion service moves it"


class UnitreeNode(BridgeNode):
    """Passes states from the robot and commands to it."""

    def __init__(self, node: Node) -> None:
        """Open the link and build the topics.

        Raises:
            ContactDdpError: a parameter, the robot's description or the link is not usable.
        """
        self._measured: Measurement | None = None
        self._health: Health | None = None
        self._handset = Handset()
        self._driven = self._spoken = -math.inf
        self._restless, self._heard = -math.inf, math.inf
        self._mode: str | None = None
        """Mode in which the robot's own service moves it; empty where it does not, None where nobody knows."""
        self._service_error = ""
        self._asking = Lock()
        self._released = "normal"
        self._strangers = 0
        self._armed = DISARMED
        self._emulated = False
        """Flag of an emulator's tick that has come: a simulator of others tells its time by the state alone."""
        self._execution: str | None = None
        super().__init__(node, UnitreeNodeConfig())

    def _open(self) -> str:
        config, node = self._config, self.node
        self._conventions = UnitreeConventions(self._robot, config.imu_place.position)
        self._link = UnitreeLink(config.link)
        if self._simulated:
            self._link.subscribe(TICK_TOPIC, EMULATOR_TICK, self._on_tick_message)
        self._link.subscribe(LOW_STATE_TOPIC, LOW_STATE, self._on_state)
        self._link.subscribe(LOW_CMD_TOPIC, LOW_CMD, self._on_stranger, strangers=True)
        self._command = self._link.publisher(LOW_CMD_TOPIC, LOW_CMD)
        self._service = MotionService(self._link)
        damping = JointCommand.damping(self._robot.n_joints), config.drive.gains(len(FOOT_NAMES))
        last = config.link.interface, str(config.link.chosen_domain), self._conventions.command(*damping).hex()
        self._last = HelperProcess("contact_ddp_ros.plants.unitree.last_commands", last, _HELPER_TIME)
        self._executions = publisher(node, io.EXECUTION)
        self._speeds = publisher(node, io.CMD_VEL)
        self._asked = {one: node.create_client(one.type, one.name) for one in ASKS.values()}
        self._planner = node.create_client(SetParametersAtomically, "planner/set_parameters_atomically")
        serve(node, io.RELEASE, self._on_release)
        serve(node, io.RESTORE, self._on_restore)
        self._tell_execution()
        return f"Unitree's low level over {self._link.where}"

    def run(self, stop: Event) -> None:
        """Pass states and commands until `stop`."""
        Thread(target=self._watch_service, args=(stop,), name="motion service", daemon=True).start()
        super().run(stop)

    def farewell(self) -> None:
        """Command the joints to damp, where it is for this node to command them."""
        super().farewell()
        self._last.close()

    def _hear(self, timeout: float) -> None:
        """Reception: of states that have waited only the newest counts."""
        self._link.receive(timeout)
        measured, self._measured = self._measured, None
        if measured is not None:
            self._heed(measured)
            self._publish(measured.state, measured.torques, measured.imu)

    def _send_state(self, state: RobotState, torques: np.ndarray, imu: ImuSample | None) -> None:
        """The trunk's place and velocity are not known, so there is no odometry."""
        self._imu.publish(imu_message(state, imu))
        self._joints.publish(self._writer.joint_states(time_ns(state.time), state, torques))

    def _on_state(self, data: bytes) -> None:
        try:
            if self._simulated and not self._emulated:
                now = 1e-3 * int(LOW_STATE.decode(data)["tick"])
                if now == self._tick:
                    return  # a simulator that is slower than its thread of messages
                self._on_tick(now, None)
            self._measured = self._conventions.measurement(data, self._stamp())
        except LinkError as error:
            self._refuse(f"message refused: {error}")

    def _on_tick_message(self, data: bytes) -> None:
        tick, self._emulated = EMULATOR_TICK.decode(data), True
        state = RobotState(1e-9 * float(tick["time_ns"]), **{name: tick[name].copy() for name in STATE_PARTS})
        forces = tick["contact_forces"].reshape(len(FOOT_NAMES), -1)
        wall, late = float(tick["wall_time"]), bool(tick["late"])
        record = TickRecord(state, tick["torques"].copy(), tick["foot_heights"].copy(), forces, wall, late)
        self._on_tick(state.time, record)

    def _on_stranger(self, _data: bytes) -> None:
        self._strangers += 1

    def _heed(self, measured: Measurement) -> None:
        """Health and handset of the robot: whether it may go on, and what its handset asks for."""
        now, wall, limits, health = self._now(), clock.monotonic(), self._config.limits, measured.health
        self._heard = min(self._heard, wall)
        self._health = health
        state = measured.state
        if np.abs(state.joint_velocities).max() > _REST_SPEED or np.abs(state.angular_velocity).max() > _REST_RATE:
            self._restless = wall
        if health.temperature >= limits.motor_temperature:
            reason = f"the motor {health.hottest} has {health.temperature} °C; allowed: {limits.motor_temperature}"
            self._guard.trip(reason, now)
        low = 0 < health.charge < limits.charge
        self._guard.obstacle = f"the battery has {health.charge} %; at least {limits.charge} to stand up" if low else ""
        try:
            handset = read_handset(measured.remote)
        except LinkError as error:
            self._refuse(str(error))
            return
        before, self._handset = self._handset, handset
        if handset.buttons >= STOP:
            self._guard.trip("the handset's stop, L2 and B", now)
            return
        if self._config.remote.enabled:
            self._drive(handset, wall)
            if handset.buttons != before.buttons:
                self._ask(handset.buttons)

    def _drive(self, handset: Handset, wall: float) -> None:
        """Speed of the sticks, while one is moved and a little longer: others may drive, too."""
        options = self._config.remote
        held = not options.deadman or options.deadman in handset.buttons
        if handset.moves and held:
            self._driven = wall
        if wall - self._driven > _SPEED_AFTER or wall - self._spoken < _SPEED_PERIOD:
            return
        self._spoken = wall
        speed = Twist()
        if held:
            speed.linear.x = options.forward * handset.left[1]
            speed.linear.y = -options.left * handset.left[0]
            speed.angular.z = -options.yaw_rate * handset.right[0]
        self._speeds.publish(speed)

    def _ask(self, buttons: frozenset[str]) -> None:
        """Ask planner or controller for what buttons that have just been pressed mean."""
        if (service := ASKS.get(buttons)) is not None:
            self._asked[service].call_async(Trigger.Request()).add_done_callback(self._on_answer)
        elif gait := GAITS.get(buttons):
            parameter = Parameter("gait.name", value=gait).to_parameter_msg()
            self._planner.call_async(SetParametersAtomically.Request(parameters=[parameter]))

    def _on_answer(self, future: Any) -> None:
        response = future.result()
        if not response.success:
            self.node.get_logger().warning(f"asked by the handset: {response.message}")

    def _transmit(self, command: JointCommand, gains: DriveGains, now: float) -> None:
        """Nothing is sent while the robot's own service moves it: the two would take turns."""
        if self._mode != "":
            self._strangers = 0
            self._arm(DISARMED)
            return
        if self._strangers:
            self._strangers = 0
            self._guard.trip("somebody else sends motor commands, too", now)
            command, gains = self._guard.targets(now)
        self._arm(ARMED)
        self._command(self._conventions.command(command, gains, self._guard.stamp if self._simulated else None))

    def _arm(self, word: bytes) -> None:
        """Tell the helper whether this node commands the robot."""
        if word != self._armed:
            self._armed = word
            self._last.tell(word)

    def _watch_service(self, stop: Event) -> None:
        """The thread that asks again and again whether the robot's own service moves it."""
        discovery = _LOCAL_DISCOVERY if self._config.link.interface == "lo" else _DISCOVERY
        while not stop.wait(_LOCAL_DISCOVERY if self._mode is None else _CHECK_PERIOD):
            if clock.monotonic() - self._heard >= discovery:
                with self._asking:
                    self._look_at_service()

    def _look_at_service(self) -> None:
        try:
            mode, self._service_error = self._service.active(), ""
        except LinkError as error:
            self._service_error = str(error)
            return
        if mode and self._mode == "":
            self._guard.trip(f"the robot's own motion service {mode!r} has begun to move it", self._now())
        self._mode = mode
        self._tell_execution()

    def _tell_execution(self) -> None:
        """Tell the controller, which then does not stand, that somebody else moves the legs."""
        text = _UNKNOWN if self._mode is None else ""
        if self._mode:
            text = f"the robot's motion service {self._mode!r} moves it; release it by the service {io.RELEASE.name}"
        if text != self._execution:
            self._execution = text
            self._executions.publish(String(data=text))
            self.node.get_logger().info(text or "the robot's motors are free for commands")

    def _on_release(self, _request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success, response.message = self._change(release=True)
        return response

    def _on_restore(self, _request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success, response.message = self._change(release=False)
        return response

    def _change(self, *, release: bool) -> tuple[bool, str]:
        """Have the robot's own service let go of it, or move it again: whether it did, and a text."""
        with self._asking:
            if self._mode is None:
                return False, self._service_error or _UNKNOWN
            if release == (self._mode == ""):
                return True, "it is released" if release else f"it is {self._mode!r}"
            if not release and not self._service.exists:
                return False, "this robot has no motion service"
            if clock.monotonic() - self._restless < _REST_TIME or self._guard.enabled:
                return False, f"the robot must lie or stand still for {_REST_TIME:g} s, and its controller damp"
            try:
                if release:
                    self._released = self._mode
                    self._service.release()
                else:
                    self._mode = None
                    self._service.select(self._released)
            except LinkError as error:
                return False, str(error)
            self._look_at_service()
            return (self._mode == "") == release, f"its motion service is {self._mode or 'released'}"

    def _details(self) -> dict[str, Any]:
        health = self._health
        own = {"motion service": "not known" if self._mode is None else self._mode or "released"}
        if health is None:
            return own
        return own | {
            "hottest motor [°C]": health.temperature,
            "battery [%]": health.charge,
            "battery [V]": round(health.voltage, 1),
            "packets lost by motors": health.lost,
        }

    def _complaint(self) -> tuple[bytes, str] | None:
        if self._service_error:
            return ERROR, self._service_error
        if strange := self._link.types(LOW_STATE_TOPIC) - {LOW_STATE.name.replace(".", "::")}:
            return ERROR, f"{LOW_STATE_TOPIC} is of {', '.join(strange)}; allowed: a quadruped's {LOW_STATE.name}"
        health, limits = self._health, self._config.limits
        if health is not None and health.temperature >= limits.motor_warning:
            return WARN, f"the motor {health.hottest} has {health.temperature} °C"
        if health is not None and 0 < health.charge < limits.charge:
            return WARN, f"the battery has {health.charge} %"
        return (WARN, self._execution) if self._execution else None


PART = Part(NAME, UnitreeNode)


def main(arguments: list[str] | None = None) -> int:
    """Entry point; the exit code."""
    return run_parts([PART], arguments)


if __name__ == "__main__":
    sys.exit(main())
