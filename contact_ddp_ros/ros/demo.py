"""A closed loop through the ROS 2 nodes, each in its own process, over loopback in a domain of its own.

The simulator begins with its time held. When all endpoints have found each other the robot is told to stand, and time
is released. At `stand_time` the robot is commanded to bound as soon as it can, at `stop_time` to stand again; in
lock-step time is held until the command has arrived.
"""

import math
import sys
import time as clock
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import rclpy
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from std_srvs.srv import SetBool, Trigger

from contact_ddp_ros.base.choices import DEFAULT_ROBOT
from contact_ddp_ros.base.config import flatten
from contact_ddp_ros.base.errors import NodeError
from contact_ddp_ros.base.process import environment
from contact_ddp_ros.plants.lcm.codec import ROBOT_EMULATOR
from contact_ddp_ros.plants.lcm.transport import free_port
from contact_ddp_ros.plants.pushes import format_instants, format_pushes
from contact_ddp_ros.plants.unitree.config import UNITREE_EMULATOR
from contact_ddp_ros.ros.bag import BagWriter
from contact_ddp_ros.ros.node_config import SimulatorNodeOptions
from contact_ddp_ros.ros.observer import Observer
from contact_ddp_ros.ros.processes import NodeProcesses
from contact_ddp_ros.ros.single_instance import loopback_environment, reserved_domain
from contact_ddp_ros.runs.closed_loop import REST_AFTER_FALL, run_info
from contact_ddp_ros.runs.options import ESTIMATED, RunOptions
from contact_ddp_ros.runs.recording import Recorder, Recording, RunLog
from contact_ddp_ros.runs.scenario import scenario

_EMULATED = {"lcm": ("bridge", ROBOT_EMULATOR), "unitree": ("unitree", UNITREE_EMULATOR)}
"""Node and emulator of each backend that is a robot's own messages."""

_APART = 100
"""Difference between the domains of ROS and of a robot's own messages."""

_START_TIMEOUT = 300.0
"""Wall-clock time for all nodes to be there; compiling kernels for the first time is part of it [s]."""

_TELL_AFTER = 6.0
"""Wall-clock time after which a person is told why nothing moves yet [s]."""

_STALL_TIMEOUT = 90.0
"""Wall-clock time without a tick after which the run is given up [s]."""

_LONGEST_ROUND = 1.0
"""Largest time between two looks that counts: whoever suspends all processes together has stalled none of them [s]."""

_ANSWER_TIMEOUT = 30.0
"""Wall-clock time for a service to answer [s]."""

_SPEED_PERIOD = 0.05
"""Wall-clock time between two speed commands [s]."""

_TIMEOUT = 0.1
"""Silence in real time after which the bridge to the robot damps: a desktop system may keep anybody waiting [s]."""

_SPEED_PATIENCE = 10.0
"""Age of a speed that counts as none in lock-step: it is sent by the wall clock but ages in simulated time [s]."""

_LOOK = 0.02
"""Longest wait for a message between two looks at the processes [s]."""

_DRAIN = 0.5
"""Longest wait for messages that are on their way when the run is over [s]."""

_QUICK_LOOK = 0.002
"""Time between two looks while a service is to answer [s]."""


class Demo:
    """One run: its node processes and the observer that commands and records them."""

    def __init__(self, options: RunOptions, log: RunLog, bag: Path | None = None) -> None:
        """`log` is told what happens; `bag` is a folder for a bag of the run, if one is wanted.

        Raises ContactDdpError where an option, a parameter or the robot's description is not usable.
        """
        self.options = options
        self._bag = bag
        self.log = log
        self.processes: dict[str, int] = {}
        self.variables: dict[str, str] = {}
        """Environment that puts a process into the run's corner of the middleware, while there is one."""
        self._observer: Observer | None = None
        found = scenario(options)
        self.controller = found.controller
        self._port, self._domain = free_port(), 0
        periods = (SimulatorNodeOptions().period, 1.0 / found.planner.rate)
        log.begin(run_info("demo", found, *periods))

    def run(self) -> None:
        """Run for the duration of the options; fills `processes` with the nodes' process ids by name.

        Raises:
            NodeError: a node did not start, ended early or stopped answering.
        """
        with reserved_domain() as domain:
            self._domain = domain
            variables = loopback_environment(domain)
            self.variables.update(variables)
            with NodeProcesses(variables) as processes, environment(variables):
                self._start(processes)
                if self.options.backend in _EMULATED:
                    name = _EMULATED[self.options.backend][1]
                    self.processes[name] = processes.start_emulator(name, self._emulator())
                context = Context()
                rclpy.init(context=context, domain_id=domain, signal_handler_options=SignalHandlerOptions.NO)
                try:
                    self._observe(context, processes)
                finally:
                    rclpy.try_shutdown(context=context)

    def _start(self, processes: NodeProcesses) -> None:
        parameters = self._parameters()
        if self.options.composed:
            together = {name: own for name, own in parameters.items() if name != "planner"}
            robot = list(together)[-1]
            self.processes["planner"] = processes.start("planner", parameters["planner"])
            self.processes.update(dict.fromkeys(together, processes.start_composed(robot, together)))
        else:
            self.processes.update({name: processes.start(name, own) for name, own in parameters.items()})

    def bounding_planner(self) -> int | None:
        """Id of the planner's process once time runs; None before."""
        running = self._observer is not None and self._observer.time > 0.0
        return self.processes.get("planner") if running else None

    def worst(self, node: str, key: str) -> float:
        """Largest value that a node has reported under a key of its diagnostics; NaN if it reported none."""
        found = self._observer.diagnostics if self._observer is not None else []
        values = [float(values[key]) for _, name, values in found if name.endswith(node) and key in values]
        return max(values, default=math.nan)

    def _observe(self, context: Context, processes: NodeProcesses) -> None:
        node = rclpy.create_node("demo", context=context, enable_rosout=False, start_parameter_services=False)
        executor = SingleThreadedExecutor(context=context)
        executor.add_node(node)
        try:
            observer = self._observer = Observer(node, self.options, self.log)
            with BagWriter(self._bag, node) if self._bag is not None else nullcontext():
                _Lead(self, observer, executor, processes).through()
        finally:
            executor.shutdown(timeout_sec=1.0)
            node.destroy_node()

    def _parameters(self) -> dict[str, dict[str, Any]]:
        """Parameters of each node, by its name, in the order in which the nodes are started and ended."""
        options = self.options
        named = {} if options.robot == DEFAULT_ROBOT else {"node.urdf": options.robot}
        common = {"use_sim_time": True, "node.lockstep": options.lockstep, **named}
        patience = {"node.cmd_vel_timeout": _SPEED_PATIENCE} if options.lockstep else {}
        robot = self._bridge() if options.backend in _EMULATED else self._simulator()
        return {
            "controller": {
                **options.parameters("controller"),
                "safety.planner_period": self.controller.safety.planner_period,
                "safety.policy_periods": self.controller.safety.policy_periods,
                "node.planner_delay": options.planner_delay,
                "node.state": "imu" if options.state == ESTIMATED else "odom",
                **common,
            },
            "planner": {**patience, **options.parameters("planner"), **common},
            **{name: {**parameters, **self._held(), **common} for name, parameters in robot.items()},
        }

    def _simulator(self) -> dict[str, dict[str, Any]]:
        drive = {f"node.drive.{name}": value for name, value in flatten(self.controller.drive).items()}
        pushes = {"node.pushes": format_pushes(self.options.pushes)}
        return {"simulator": {**self.options.parameters("simulator"), **pushes, **drive}}

    def _bridge(self) -> dict[str, dict[str, Any]]:
        drive = {f"drive.{name}": value for name, value in flatten(self.controller.drive).items()}
        patience = {} if self.options.lockstep else {f"guard.{one}_timeout": _TIMEOUT for one in ("command", "state")}
        name, _ = _EMULATED[self.options.backend]
        return {name: {**self._link(), **drive, **patience, **self.options.parameters(name)}}

    def _link(self) -> dict[str, Any]:
        """Where the bridge and the emulator meet, with nobody else."""
        return {"link.port": self._port} if self.options.backend == "lcm" else {"link.domain": self._domain + _APART}

    def _emulator(self) -> dict[str, Any]:
        """Parameters of the emulator, which is no node."""
        options = self.options
        patience = {} if options.lockstep else {"targets_timeout": 2.0 * _TIMEOUT}
        return {
            **options.parameters("simulator"),
            **patience,
            "pushes": format_pushes(options.pushes),
            "lockstep": options.lockstep,
            **self._link(),
            **({} if options.backend == "lcm" else {"robot": options.robot}),
        }

    def _held(self) -> dict[str, Any]:
        """Time during which whoever paces the run lets time stand."""
        return {"node.start_paused": True, "node.holds": format_instants(self._holds())}

    def _holds(self) -> list[float]:
        """Instants at which time waits for a word: in lock-step wherever one comes, and the end."""
        options = self.options
        changes = [time for time, _ in options.gaits]
        words = [options.stand_time, options.stop_time, *changes] if options.lockstep else []
        return [*(time for time in words if time is not None and 0.0 < time < options.duration), options.duration]


class _Lead:
    """Takes the nodes through a run."""

    def __init__(
        self, demo: Demo, observer: Observer, executor: SingleThreadedExecutor, processes: NodeProcesses
    ) -> None:
        self._options = demo.options
        self._observer = observer
        self._executor = executor
        self._processes = processes
        self._next_speed = 0.0

    def through(self) -> None:
        """Time from the first endpoint to the last tick."""
        self._wait_for_endpoints()
        self._insist_on_standing()
        self._wait_for_first_tick()
        observer, options = self._observer, self._options
        words: list[tuple[float, Callable[[], None]]] = []
        words.append((options.stand_time, partial(self._request, "move", observer.move)))
        if options.stop_time is not None:
            words.append((options.stop_time, partial(self._request, "stand", observer.stand)))
        words += [(time, partial(self._change_gait, name)) for time, name in options.gaits]
        self._say_what_is_due(words)
        self._release()
        last, stood, looked, recovered = observer.time, 0.0, clock.monotonic(), 0.0
        while observer.time < options.duration - 1e-9:
            self._spin()
            before, looked = looked, clock.monotonic()
            stood += min(looked - before, _LONGEST_ROUND)
            if observer.time > last:
                last, stood = observer.time, 0.0
            elif stood > _STALL_TIMEOUT:
                raise NodeError(f"simulated time has stood at {last:.3f} s for {_STALL_TIMEOUT:.0f} s")
            if self._say_what_is_due(words) and options.lockstep:
                self._release()
            if options.recover and min(observer.damped, observer.time - recovered) > REST_AFTER_FALL:
                recovered = observer.time
                self._request("recover", observer.recover)
                if options.stop_time is None or observer.time < options.stop_time:
                    self._request("move", observer.move)
        if not options.lockstep:
            observer.event(f"{observer.late_ticks} ticks of the simulator began late")
        self._drain()
        observer.flush()
        observer.conclude()

    def _drain(self) -> None:
        """Take what is still on its way; in real time more comes for ever."""
        deadline = clock.monotonic() + _DRAIN
        while self._observer.inlet.receive(_LOOK) and clock.monotonic() < deadline:
            pass

    def _wait_for_endpoints(self) -> None:
        began = clock.monotonic()
        deadline, told = began + _START_TIMEOUT, False
        while missing := self._observer.missing:
            if not told and clock.monotonic() - began > _TELL_AFTER:
                told = True
                print(
                    "Starting the nodes; the first time their code is compiled, which takes a minute.", file=sys.stderr
                )
            if clock.monotonic() > deadline:
                raise NodeError(f"not there after {_START_TIMEOUT:.0f} s: {', '.join(missing)}")
            self._spin()

    def _wait_for_first_tick(self) -> None:
        deadline = clock.monotonic() + _ANSWER_TIMEOUT
        while self._observer.time < 0.0:
            if clock.monotonic() > deadline:
                raise NodeError("the simulator sends no record of its state")
            self._spin()

    def _insist_on_standing(self) -> None:
        """Ask for a stand until the controller has the state that it needs for one."""
        deadline = clock.monotonic() + _ANSWER_TIMEOUT
        while True:
            response = self._call(self._observer.stand, Trigger.Request())
            if response.success:
                return
            if clock.monotonic() > deadline:
                raise NodeError(f"the controller does not stand: {response.message}")

    def _release(self) -> None:
        """Let time run."""
        self._call(self._observer.pause, SetBool.Request(data=False))

    def _say_what_is_due(self, words: list[tuple[float, Callable[[], None]]]) -> bool:
        """Send the requests that are due, each once; whether there was one."""
        due = [word for word in words if word[0] <= self._observer.time + 1e-9]
        for word in due:
            words.remove(word)
            word[1]()
        return bool(due)

    def _request(self, name: str, client: Any) -> None:
        response = self._call(client, Trigger.Request())
        self._observer.event(f"{name} requested: {response.message}")

    def _change_gait(self, name: str) -> None:
        parameter = Parameter("gait.name", value=name).to_parameter_msg()
        request = SetParametersAtomically.Request(parameters=[parameter])
        result = self._call(self._observer.planner_parameters, request).result
        if not result.successful:
            raise NodeError(f"the planner refused the gait {name}: {result.reason}")
        self._observer.event(f"gait {name} requested")

    def _call(self, client: Any, request: Any) -> Any:
        """The answer of a service; the rest goes on meanwhile."""
        future = client.call_async(request)
        deadline = clock.monotonic() + _ANSWER_TIMEOUT
        while not future.done():
            if clock.monotonic() > deadline:
                raise NodeError(f"service {client.srv_name} did not answer within {_ANSWER_TIMEOUT:.0f} s")
            self._spin(_QUICK_LOOK)
            self._executor.spin_once(timeout_sec=0.0)
        return future.result()

    def _spin(self, timeout: float = _LOOK) -> None:
        """Take messages, keep the speed command fresh, and see that all nodes live."""
        self._observer.inlet.receive(timeout)
        now = clock.monotonic()
        if now >= self._next_speed:
            self._next_speed = now + _SPEED_PERIOD
            self._observer.command_speed()
            self._processes.check()


def run_demo(options: RunOptions, recorder: Recorder, bag: Path | None = None) -> Recording:
    """Run one closed loop through the nodes and return what was recorded; see :class:`Demo`."""
    Demo(options, recorder, bag).run()
    return recorder.finish()
