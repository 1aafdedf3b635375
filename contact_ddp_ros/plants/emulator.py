"""Base of the emulators of robots: physics behind a robot's own messages, so that the way to it runs without one.

An emulator stands for the robot's own computer: it publishes its state at a fixed rate, executes the torque targets
that it receives, and damps when none has arrived within a timeout. Malformed ones are ignored.

In real time it keeps to the wall clock. Until the first targets come it hangs, as a robot on its gantry: time stands
and the state is repeated. At first and after silence it damps until somebody has commanded damping, so that nothing
sets in at full stiffness. In lock-step time stands until the targets have come that carry the stamp of the state,
however long that takes, so a run depends on nothing but its options; the state is sent again meanwhile, for who was
late or lost it. Before the robot's own messages comes a tick: the time, and what only a simulator knows.
"""

import argparse
import signal
import sys
import time as clock
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from types import FrameType
from typing import Any, TypeVar

import numpy as np

from contact_ddp_ros.base.config import parameter, parse_setting, replace, specs
from contact_ddp_ros.base.errors import ContactDdpError
from contact_ddp_ros.base.parameter_file import load_yaml
from contact_ddp_ros.base.process import SchedulingOptions, end_with_parent, settle
from contact_ddp_ros.plants.engines import make_simulator
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.plants.pacing import Pace
from contact_ddp_ros.plants.pushes import PushSchedule, parse_pushes
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.state import STATE_PARTS, DriveGains, ImuSample, JointCommand, RobotState

Commanded = tuple[JointCommand, DriveGains]
"""A joint command, and the gains to execute it with."""

_REPEAT = 0.5
"""Wall-clock time after which an unanswered state is sent again in lock-step [s]."""

_IDLE = 0.01
"""Wall-clock time between two repetitions while the robot hangs [s]."""

_SLICE = 0.1
"""Longest wait between two checks of the stop event [s]."""

_PRIORITY = 40
"""Real-time priority, above that of the nodes that command it."""


@dataclass(frozen=True)
class EmulatorConfig(SimOptions):
    """Parameters of an emulator: the simulated world's, and those of the robot's own computer."""

    lockstep: bool = parameter(False, description="wait for the targets that answer each state")
    period: float = parameter(0.002, low=0.0005, high=0.02, unit="s", description="time between two states")
    imu_period: float = parameter(
        0.002, low=0.0005, high=0.1, unit="s", description="time between two samples of the inertial unit"
    )
    targets_timeout: float = parameter(
        0.03, low=0.002, high=1.0, unit="s", description="time without targets after which the robot damps by itself"
    )
    own_damping: float = parameter(2.5, low=0.1, high=5.0, unit="N m s/rad", description="gain of that damping")
    pushes: str = parameter("", description="scheduled pushes t,fx,fy,fz,dt[,tx,ty,tz]; several separated by ;")


class Emulator:
    """One simulated robot behind messages, which a derived class sends and receives."""

    def __init__(self, robot: Robot, config: EmulatorConfig) -> None:
        """Build the world.

        Raises:
            ContactDdpError: an option is out of its range.
        """
        n = robot.n_joints
        own = np.full(n, config.own_damping)
        self._robot = robot
        self._damping: Commanded = JointCommand.damping(n), DriveGains(kp=np.zeros(n), kd=own, kd_damping=own)
        self._simulator = make_simulator(robot, self._damping[1], config)
        self._steps = max(1, round(config.period / self._simulator.timestep))
        self._pace = Pace(self._steps * self._simulator.timestep)
        self._options = config
        self._pushes = PushSchedule(parse_pushes(config.pushes))
        self._targets: Commanded | None = None
        self._answered = -1
        """Stamp of the state that they answer [us]."""
        self._received = -np.inf
        self._tripped = True
        self._executed: Commanded | None = None
        self._imu = self._simulator.imu()
        self._samples = 1
        self._late = False
        self.malformed = 0

    @property
    def time(self) -> float:
        """The robot's own clock [s]."""
        return self._simulator.time

    @property
    def applied_torques(self) -> np.ndarray:
        """(12,) torques of the drives during the last step [N m]."""
        return self._simulator.truth().applied_torques

    @property
    def state(self) -> RobotState:
        """The state that is published, with sensor noise."""
        return self._simulator.read()

    def _publish(self, state: RobotState, imu: ImuSample, tick: dict[str, Any]) -> None:
        """Publish the messages of a state: `tick` first, the numbers that only a simulator knows."""
        raise NotImplementedError

    def _receive(self, timeout: float) -> bool:
        """Wait up to `timeout` [s] for targets and take them; returns whether any came."""
        raise NotImplementedError

    def _hangs(self) -> bool:
        """True while time stands because nobody has commanded yet."""
        return self._targets is None

    def run(self, stop: Event) -> None:
        """Run until `stop` is set."""
        self._pace.start(self.time)
        while not stop.is_set():
            self.tick(stop)

    def tick(self, stop: Event) -> None:
        """Publish the state, get the torque targets and advance time by one period."""
        self.tell()
        answer = self._answer(stop) if self._options.lockstep else self._newest()
        if stop.is_set():
            return
        if self._hangs():
            clock.sleep(_IDLE)
            self._pace.start(self.time)
            return
        self._executed = self._commanded(answer)
        self._simulator.write(*self._executed)
        for push in self._pushes.due(self.time):
            self._simulator.push(np.array(push.force), push.duration, np.array(push.torque))
        self._simulator.advance(self._steps)
        if self._options.lockstep:
            self._pace.measure(self.time)
        else:
            misses = self._pace.misses
            self._pace.wait(self.time)
            self._late = self._pace.misses > misses

    def tell(self) -> None:
        """Publish the messages of the present state."""
        state, truth = self._simulator.read(), self._simulator.truth()
        tick = {
            "late": int(self._late),
            "wall_time": clock.perf_counter(),
            "time_ns": round(1e9 * state.time),
            **{name: getattr(state, name) for name in STATE_PARTS},
            "torques": truth.applied_torques,
            "foot_heights": truth.foot_heights,
            "contact_forces": truth.contact_forces.ravel(),
        }
        if self.time - self._imu.time >= self._options.imu_period - 1e-9:
            self._imu = self._simulator.imu()
            self._samples += 1
        self._publish(state, self._imu, tick)

    def _take(self, targets: Commanded, answered: int) -> None:
        """Keep targets that came now, and the stamp of the state that they answer [us]."""
        self._targets, self._answered, self._received = targets, answered, clock.monotonic()

    def _commanded(self, answer: Commanded | None) -> Commanded:
        """Command of the drives: the last answer, or damping."""
        self._tripped = answer is None or (self._tripped and answer[0].positions is not None)
        return self._damping if answer is None or self._tripped else answer

    def _newest(self) -> Commanded | None:
        """The newest targets; None where there are none, or for longer than the timeout."""
        self._receive(0.0)
        late = not clock.monotonic() - self._received <= self._options.targets_timeout
        return None if late else self._targets

    def _answer(self, stop: Event) -> Commanded | None:
        """The targets that answer the present state; None where it is stopped."""
        wanted, again = round(1e6 * self.time), clock.monotonic() + _REPEAT
        while not stop.is_set():
            if self._targets is not None and self._answered == wanted:
                return self._targets
            if not self._receive(_SLICE) and clock.monotonic() >= again:
                again = clock.monotonic() + _REPEAT
                self.tell()
        return None


Config = TypeVar("Config", bound=EmulatorConfig)


def run_emulator(
    name: str, description: str, defaults: Config, make: Callable[[Config], Emulator], arguments: Sequence[str] | None
) -> int:
    """Run an emulator as a program until SIGINT or SIGTERM; return the exit code."""
    stop = Event()

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, on_signal)
    end_with_parent()
    try:
        config = _config(name, description, defaults, arguments)
        emulator = make(config)
        place = settle(SchedulingOptions(priority=_PRIORITY), live=not config.lockstep)
        print(f"{name.replace('_', ' ')} is up, {place}", flush=True)
        emulator.run(stop)
    except ContactDdpError as error:
        print(f"[FATAL] [{name}]: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    return 0


def _config(name: str, description: str, defaults: Config, arguments: Sequence[str] | None) -> Config:
    known = "\n".join(f"  {spec.name}  {spec.description}" for spec in specs(defaults).values())
    parser = argparse.ArgumentParser(
        prog=name,
        description=description,
        epilog=f"parameters:\n{known}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--params-file", type=Path, help=f"ROS parameter file with a section {name}")
    parser.add_argument("settings", nargs="*", metavar="NAME=VALUE", help="set parameters on top of it")
    options = parser.parse_args(arguments)
    values = load_yaml(options.params_file, name) if options.params_file is not None else {}
    return replace(defaults, values | dict(map(parse_setting, options.settings)))
