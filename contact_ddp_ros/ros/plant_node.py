"""One robot, simulated or real, as a node: states out, joint commands in.

In lock-step the plant stands until the command has come that answers the published state (see
:mod:`contact_ddp_ros.ros.exchange`); the state is sent again meanwhile. When the controller is gone, the drives damp
and time follows the wall clock. Otherwise the plant follows the wall clock; its drives execute the last command, and
damp when none came for a while.
"""

import math
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
from contact_ddp_ros.plants.pacing import Pace
from contact_ddp_ros.plants.plant import Plant
from contact_ddp_ros.plants.pushes import PushSchedule, parse_instants, parse_pushes
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.state import ImuSample, JointCommand, RobotState
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.conversions import imu_message, push_force, time_ns
from contact_ddp_ros.ros.exchange import Answers
from contact_ddp_ros.ros.loop_messages import CommandReader, StateWriter, Template, stamp_of
from contact_ddp_ros.ros.monitor import Recent
from contact_ddp_ros.ros.parameters import NodeParameters, fitted
from contact_ddp_ros.ros.plan_views import force_markers
from contact_ddp_ros.ros.receiver import Receiver
from contact_ddp_ros.ros.reports import ERROR, OK, WARN, Diagnostics, Scalar, TickRecord, TickRecords
from contact_ddp_ros.ros.runtime import publisher, serve, subscribe

_REPEAT = 0.5
"""Wall-clock time after which an unanswered state is sent again in lock-step [s]."""

_IDLE = 0.01
"""Wall-clock time between two looks while time is held [s]."""

_SAY_AGAIN = 1.0
"""Wall-clock time after which the same complaint is made again [s]."""

_SHOW_EVERY = 20
"""Ticks from one set of markers to the next."""

Report = tuple[bytes, str, dict[str, Any]]


class RobotNode:
    """Topics, parameters and counts of a node that stands between a robot and its controller."""

    def __init__(self, node: Node, defaults: Any) -> None:
        """Read the parameters, whose values are `defaults` where nothing else is given, and build the topics.

        Raises:
            ContactDdpError: a parameter or the robot's description is not usable.
        """
        self.node = node
        self._parameters = NodeParameters(node, fitted(node, defaults))
        options = self._config.node
        self._robot = load_robot(options.urdf or None)
        self._holds = parse_instants(getattr(options, "holds", ""))
        self._paused = options.start_paused
        self._malformed, self._recent = 0, Recent()
        self._writer, self._reader = StateWriter(), CommandReader()
        self._joints = publisher(node, io.JOINT_STATES)
        self._odometry = publisher(node, io.ODOM)
        self._imu = publisher(node, io.IMU)
        self._inlet = Receiver(node)

    @property
    def _config(self) -> Any:
        return self._parameters.config

    def wake(self) -> None:
        """End a wait of the work: each ends by itself within a fraction of a second."""

    def _hold_at(self, time: float) -> None:
        """Hold time where it is to be held by `time` [s]: before anybody learns of it and may release it."""
        while self._holds and time >= self._holds[0] - 1e-9:
            self._holds.pop(0)
            self._paused = True

    def _send_state(self, state: RobotState, torques: np.ndarray, imu: ImuSample | None) -> None:
        """Joint states last: whoever waits for them then has the rest, too."""
        stamp = time_ns(state.time)
        if self._imu.get_subscription_count():
            self._imu.publish(imu_message(state, imu))
        self._odometry.publish(self._writer.odometry(stamp, state))
        self._joints.publish(self._writer.joint_states(stamp, state, torques))

    def _refuse(self, text: str) -> None:
        self._malformed += 1
        self.node.get_logger().error(text, throttle_duration_sec=_SAY_AGAIN)


class PlantNode(RobotNode):
    """Publishes the states of a plant whose clock this node advances, and applies the commands that come back.

    A derived class builds the plant before it calls this class's `__init__`, and says what is particular to it.

    Attributes:
        patience: longest wait of the plant for the answer to a state without lock-step; time is slower then [s].
    """

    patience = 0.0

    def __init__(self, node: Node, defaults: Any) -> None:
        """Build the plant and its topics.

        Raises:
            ContactDdpError: a parameter, the robot's description or the plant is not usable.
        """
        super().__init__(node, defaults)
        options = self._config.node
        self._plant = self._build()
        self._damping = JointCommand.damping(self._robot.n_joints)
        self._lock = Lock()  # the plant's: services and parameters change it from the executor's thread
        self._pushes = PushSchedule(parse_pushes(getattr(options, "pushes", "")))
        self._steps = max(1, round(options.period / self._plant.timestep))
        self._pace = Pace(self._steps * self._plant.timestep)
        self._clock_every = max(1, round(1.0 / options.clock_rate / self._pace.period))
        self._single_steps = Semaphore(0)
        self._tick = 0
        self._late = False
        self._last_command: float | None = None
        self._longest_silence = 0.0
        self._silent = True
        self._alone = False
        self._strange = 0
        self._reported, self._reported_at = 0, clock.monotonic()
        self._commands: Answers[JointCommand] = Answers()
        self._newest: tuple[int, JointCommand] | None = None
        self._asked = 0
        self._clock_message = Template(serialize_message(Clock()), ())
        self._clock = self._clock_publisher()
        self._records = TickRecords(node) if self._plant.capabilities.truth else None
        self._markers = publisher(node, io.FORCE_MARKERS) if self._plant.capabilities.truth else None
        self._factor = Scalar(node, io.REAL_TIME_FACTOR)
        reliable = options.lockstep or self.patience > 0.0
        self._inlet.subscribe(io.JOINT_COMMAND, self._on_command, raw=True, reliable=reliable)
        subscribe(node, io.PUSH, self._on_push)
        serve(node, io.RESET, self._on_reset)
        serve(node, io.PAUSE, self._on_pause)
        serve(node, io.STEP, self._on_step)
        self._diagnostics = Diagnostics(node, self._report)
        self._parameters.connect(self._configure)

    def _build(self) -> Plant:
        """The plant of the parameters."""
        raise NotImplementedError

    def _tune(self, config: Any) -> None:
        """Take over parameters that do not need the plant built anew."""
        raise NotImplementedError

    def _clock_publisher(self) -> Any:
        return publisher(self.node, io.CLOCK)

    def _begin(self) -> None:
        """Bring the plant into its first state."""

    def _expects(self, _stamp: float) -> bool:
        """True if a command may answer the state of that stamp [s]."""
        return True

    def _complaint(self) -> str:
        """Text on what is wrong with the plant; empty where nothing is."""
        return ""

    @property
    def _limits(self) -> tuple[float, float]:
        """Time without commands after which the drives damp, and duration of a push on the topic [s]."""
        raise NotImplementedError

    def run(self, stop: Event) -> None:
        """Pass states and commands until `stop`."""
        options = self._config.node
        self.node.get_logger().info(settle(options.scheduling, live=not options.lockstep))
        self._begin()
        self._pace.start(self._plant.time)
        state = self._publish()
        while not stop.is_set():
            command = self._command(state, stop)
            if stop.is_set():
                return
            if self._holding():
                self._hold(state)
                continue
            with self._lock:
                self._plant.write(command)
                for push in self._pushes.due(state.time):
                    self._plant.push(np.array(push.force), push.duration, np.array(push.torque))
                self._plant.advance(self._steps)
            self._tick += 1
            state = self._publish()

    def farewell(self) -> None:
        """Publish the pending ticks."""
        if self._records is not None:
            self._records.send()

    def _command(self, state: RobotState, stop: Event) -> JointCommand:
        """Command that the drives execute from `state` on."""
        lockstep = self._config.node.lockstep
        if lockstep and not self._alone:
            self._pace.measure(state.time)
        else:
            self._keep_pace(state, stop)
        if lockstep:
            return self._answer(state, stop)
        self._inlet.drain()
        if self._newest is None or self._last_command is None or not self._expects(1e-9 * self._newest[0]):
            return self._damping
        silence = state.time - self._last_command
        self._longest_silence = max(self._longest_silence, silence)
        if silence > self._limits[0]:
            if not self._silent:
                text = f"no joint command for {1e3 * silence:.0f} ms: the drives damp"
                self.node.get_logger().warning(text, throttle_duration_sec=_SAY_AGAIN)
            self._silent = True
            return self._damping
        return self._newest[1]

    def _keep_pace(self, state: RobotState, stop: Event) -> None:
        """Wait until the next tick ends, so that it is stepped with the answer to the state at its beginning.

        Physics that ran at once would compute beside the controller, and with a command a tick older. A patient plant
        waits longer where the last state was answered, on a busy machine for one; others have a period.
        """
        if self.patience and not self._config.node.lockstep:
            stamp, answered = time_ns(state.time), -1 if self._newest is None else self._newest[0]
            patience = self.patience if answered >= self._asked else self._pace.period
            self._asked = stamp
            self._inlet.until(lambda: stop.is_set() or (self._newest or (-1,))[0] >= stamp, patience)
        misses = self._pace.misses
        self._pace.wait(state.time + self._pace.period)
        self._late = self._pace.misses > misses

    def _answer(self, state: RobotState, stop: Event) -> JointCommand:
        """The command that answers a state, however long that takes; the state is sent again meanwhile.

        Damping where who commanded so far is gone, or where a reset has made the state one that nobody answers.
        """
        stamp, warned, began = time_ns(state.time), False, clock.monotonic()
        while not stop.is_set() and self._expects(state.time):
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
            self._send(state)
        return self._damping

    def _is_alone(self, time: float) -> bool:
        """True if there were commands, and nobody is left to send more."""
        alone = self._last_command is not None and not self.node.count_publishers(io.JOINT_COMMAND.name)
        if alone and not self._alone:
            self.node.get_logger().warning("whoever commanded is gone: the drives damp")
            self._pace.start(time)
        self._alone = alone
        return alone

    def _holding(self) -> bool:
        """True if time stands still; one period passes for each step that was asked for."""
        return self._paused and not self._single_steps.acquire(blocking=False)

    def _hold(self, state: RobotState) -> None:
        """Let wall-clock time pass while the plant's stands; what late-comers need is repeated meanwhile."""
        clock.sleep(_IDLE)
        self._keep_record(state, again=True)
        if not self._config.node.lockstep:
            self._send(state)
            self._last_command = state.time
        self._pace.start(state.time)

    def _publish(self) -> RobotState:
        """Tell the state."""
        self._hold_at(self._plant.time)
        with self._lock:
            state, truth = self._plant.read(), self._plant.truth()
            assert state is not None and truth is not None, "a plant that this node advances has both"
            self._send_state(state, truth.applied_torques, self._imu_sample())
            if self._markers and self._tick % _SHOW_EVERY == 0 and self._markers.get_subscription_count():
                self._markers.publish(force_markers(state, truth.contact_forces, self._robot))
        self._keep_record(state)
        if self._tick % self._clock_every == 0:
            self._clock.publish(self._clock_message.written(time_ns(state.time)))
            self._factor.publish(self._pace.real_time_factor)
        return state

    def _send(self, state: RobotState) -> None:
        with self._lock:
            truth = self._plant.truth()
            assert truth is not None
            self._send_state(state, truth.applied_torques, self._imu_sample())

    def _imu_sample(self) -> ImuSample | None:
        return self._plant.imu() if self._imu.get_subscription_count() else None

    def _keep_record(self, state: RobotState, again: bool = False) -> None:
        """Note this tick for who records; `again` where time is held."""
        if self._records is None or not self._records.wanted:
            return
        with self._lock:
            truth, now = self._plant.truth(), clock.perf_counter()
            assert truth is not None
            torques, heights, forces = truth.applied_torques, truth.foot_heights, truth.contact_forces
        self._records.keep(TickRecord(state, torques, heights, forces, now, self._late), again)

    def _on_command(self, message: bytes) -> None:
        stamp = stamp_of(message)
        try:
            _, command = self._reader.read(message)
            silent = False
        except ContactDdpError as error:
            self._refuse(f"{error}: the drives damp")
            command, silent = self._damping, self._silent
        if not self._expects(1e-9 * stamp):
            self._strange += 1
            self.node.get_logger().warning(
                f"a joint command stamped {1e-9 * stamp:.3f} s is left out: there has been no such state since the "
                "start or the last reset. It must carry the stamp of the state that it answers",
                throttle_duration_sec=_SAY_AGAIN,
            )
            return
        self._silent, self._last_command = silent, self._plant.time
        self._commands.put(stamp, command)
        self._newest = stamp, command

    def _on_push(self, message: WrenchStamped) -> None:
        try:
            force = push_force(message)
            with self._lock:
                self._plant.push(force, self._limits[1])
        except ContactDdpError as error:
            self._refuse(f"push refused: {error}")

    def _on_reset(self, _request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        plant, robot = self._plant, self._robot
        try:
            with self._lock:
                plant.reset(robot.standing_state(plant.time) if plant.capabilities.places else None)
        except ContactDdpError as error:
            response.success, response.message = False, str(error)
            return response
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

    def _configure(self, config: Any) -> None:
        with self._lock:
            self._tune(config)

    def _report(self) -> Report:
        pace, ticks, last = self._pace, self._tick - self._reported, self._last_command
        now, self._reported = clock.monotonic(), self._tick
        silence, self._longest_silence = self._longest_silence, 0.0
        elapsed, self._reported_at = now - self._reported_at, now
        time = self._plant.time
        values = {
            "mode": "lock-step" if self._config.node.lockstep else "real time",
            "simulated time [s]": time,
            "tick rate [Hz]": round(ticks / elapsed, 1) if elapsed > 0.0 else 0.0,
            "command age [ms]": math.nan if last is None else 1e3 * (time - last),
            "longest time without a command [ms]": round(1e3 * silence, 1),
            "real-time factor": pace.real_time_factor,
            "ticks": self._tick,
            "late ticks": pace.misses,
            "malformed commands": self._malformed,
            "commands of another time": self._strange,
        }
        if complaint := self._complaint():
            return ERROR, complaint, values
        if malformed := self._recent.growth(self._malformed):
            return ERROR, f"{malformed} malformed joint commands or pushes since the last report", values
        if self._silent or self._alone:
            return WARN, "no joint command", values
        return OK, "paused" if self._paused else "running", values
