"""The live page's link to running nodes: a view of their topics, and commands by their services and parameters.

Whoever plays the robot (the simulator, Gazebo, the bridge to a real one), the page sees `joint_states` and `odom`, the
planner's policies and solves and the controller's events. What only a simulator has (pushes, pause, step, reset) is
offered where it is there. Nothing is sent on `cmd_vel` before somebody commands a motion in the page, and nothing while
no browser is open, so that the controller's time-out brings the robot to a stop.
"""

import math
import time as clock
from collections import deque
from functools import partial
from threading import Event, Thread
from typing import Any

import rclpy
from geometry_msgs.msg import Twist, TwistStamped, WrenchStamped
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions

from contact_ddp_ros.robot.rotation import quaternion_to_rpy
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.node_config import SimulatorNodeOptions
from contact_ddp_ros.ros.play_calls import Calls
from contact_ddp_ros.ros.play_parameters import RemoteParameters
from contact_ddp_ros.ros.play_view import View
from contact_ddp_ros.ros.receiver import Inlet
from contact_ddp_ros.runs.live import commands as do
from contact_ddp_ros.runs.live.snapshot import Snapshot, World
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.robot_scaling import controller_config, planner_config, policy_timing, robot_of

_LOOK, _SPEED_PERIOD = 0.02, 0.05
"""Wait for a message, and time between two speed commands [s]."""


class NodesLink:
    """A :class:`contact_ddp_ros.runs.live.link.Link` to the nodes of the present domain and namespace."""

    def __init__(self, options: RunOptions) -> None:
        """`options` name the robot and the ground to draw.

        Raises:
            ContactDdpError: the robot's description or a parameter is not usable.
        """
        self._options = options
        robot = robot_of(options)
        planner = planner_config(options, robot)
        controller = controller_config(options, robot, policy_timing(options, planner))
        self._context = Context()
        rclpy.init(context=self._context, signal_handler_options=SignalHandlerOptions.NO)
        self._node = rclpy.create_node("play", context=self._context, enable_rosout=False)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._view = View()
        self._inlet = Inlet(self._node)
        self._view.subscribe(self._inlet)
        self._pushes = self._node.create_publisher(WrenchStamped, io.PUSH.name, io.PUSH.qos)
        self._velocity: Any = None
        self._outbox: deque[do.Command] = deque()
        self._inbox: deque[do.Answer | World | Snapshot] = deque()
        self._calls = Calls(self._node, self._inbox.append)
        configs = {"planner": planner, "controller": controller}
        self._parameters = RemoteParameters(self._node, configs, self._inbox.append)
        self._drive: do.Drive | None = None
        self._watched = self._wanted = False
        self._next_speed = 0.0
        self._stop, self._failure = Event(), ""
        self._thread = Thread(target=self._run, name="nodes", daemon=True)
        self._thread.start()

    def send(self, command: do.Command) -> None:
        """Ask for something; the nodes' answer comes with `news`."""
        self._outbox.append(command)

    def news(self) -> list[do.Answer | World | Snapshot]:
        """What has come since the last call."""
        found = []
        while self._inbox:
            found.append(self._inbox.popleft())
        return found

    def failure(self) -> str:
        """Why the nodes can no longer be reached."""
        return self._failure

    def close(self) -> None:
        """Leave the graph."""
        self._stop.set()
        self._thread.join(5.0)
        if self._context.ok():
            self._executor.shutdown(timeout_sec=1.0)
            self._node.destroy_node()
            rclpy.try_shutdown(context=self._context)

    def _run(self) -> None:
        try:
            self._introduce()
            while not self._stop.is_set():
                self._spin()
                while self._outbox:
                    self._do(self._outbox.popleft())
                self._calls.do_what_is_due()
                self._command_speed()
                state = self._view.state()
                if self._wanted and state is not None:
                    self._wanted = False
                    self._inbox.append(self._view.snapshot(state, self._drive or do.Drive()))
        except Exception as error:  # noqa: BLE001 - the page says it and ends
            self._failure = f"the link to the nodes failed: {error}"

    def _spin(self) -> None:
        self._inlet.receive(_LOOK)
        self._executor.spin_once(timeout_sec=0.0)

    def _spins(self) -> bool:
        """Let messages come, unless this is to end."""
        self._spin()
        return not self._stop.is_set()

    def _introduce(self) -> None:
        """Find out what there is: parameters and services."""
        parameters = self._parameters.ask(self._spins)
        offered = {"Reset": io.RESET, "Recover": io.RECOVER, "Step": io.STEP, "Pause": io.PAUSE}
        abilities = {"Drive", "SetMode"} | ({"SetParameters"} if parameters else set())
        abilities |= {name for name, service in offered.items() if self._calls.offered(service)}
        if self._node.count_subscribers(io.PUSH.name):
            abilities.add("PushTrunk")
        declared = {name: spec.default for name, spec in parameters.items()}
        motions = self._calls.motions()
        self._inbox.append(World(1, self._options, parameters, declared, (), frozenset(abilities), motions))

    def _do(self, command: do.Command) -> None:
        match command:
            case do.Look(watched):
                self._wanted, self._watched = True, watched
            case do.Slow(1.0):
                pass
            case do.Drive():
                self._drive = command
            case do.SetMode(mode):
                self._calls.trigger({"move": io.BOUND, "stand": io.STAND, "damp": io.DAMP}[mode])
            case do.Perform(motion):
                self._calls.perform(motion)
            case do.Recover():
                self._calls.get_up()
            case do.Reset():
                self._calls.trigger(io.RESET, io.STAND, io.BOUND)
            case do.Step():
                self._calls.trigger(io.STEP)
            case do.Pause(paused):
                self._calls.pause(paused, partial(self._view.pause, paused))
            case do.PushTrunk():
                self._push(command)
            case do.SetParameters(values):
                self._parameters.set(values)
            case _:
                self._inbox.append(do.Answer(False, f"{type(command).__name__} is not for running nodes"))

    def _push(self, push: do.PushTrunk) -> None:
        """The simulator has a duration of its own: the force is such that the impulse is the wanted one."""
        state = self._view.state()
        if state is None:
            return
        yaw = float(quaternion_to_rpy(state.orientation)[2])
        scale = push.duration / SimulatorNodeOptions().push_duration
        forward, left, up = (scale * part for part in push.force)
        message = WrenchStamped()
        message.header.frame_id = io.ODOM_FRAME
        message.wrench.force.x = math.cos(yaw) * forward - math.sin(yaw) * left
        message.wrench.force.y = math.sin(yaw) * forward + math.cos(yaw) * left
        message.wrench.force.z = up
        self._pushes.publish(message)
        impulse = math.hypot(*push.force) * push.duration
        self._inbox.append(do.Answer(True, f"a push of {impulse:.1f} N·s"))

    def _command_speed(self) -> None:
        drive, now = self._drive, clock.monotonic()
        if drive is None or not self._watched or now < self._next_speed:
            return
        self._next_speed = now + _SPEED_PERIOD
        twist = Twist()
        twist.linear.x, twist.linear.y, twist.angular.z = drive.forward, drive.sideways, drive.turn
        if self._velocity is None:
            heard = self._node.get_subscriptions_info_by_topic(self._node.resolve_topic_name(io.CMD_VEL.name))
            self._stamped = any(one.topic_type.endswith("TwistStamped") for one in heard)
            kind = TwistStamped if self._stamped else Twist
            self._velocity = self._node.create_publisher(kind, io.CMD_VEL.name, io.CMD_VEL.qos)
        self._velocity.publish(TwistStamped(twist=twist) if self._stamped else twist)
