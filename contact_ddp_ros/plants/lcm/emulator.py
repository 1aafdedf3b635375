"""An emulator of the robot: MuJoCo behind the robot's LCM types, so that the way to the hardware runs without hardware.

It emulates the robot's own computer: it publishes joints and estimate at 500 Hz, executes the torque targets that it
receives, and damps when none has arrived within a timeout. Malformed frames are ignored. Where its layout has a channel
for it, it tells what its drives are commanded, and what its inertial unit shows; otherwise the estimate has that.

In real time it keeps to the wall clock. As Cheetah-Software does, it may begin with an initial pose, to which it brings
the legs by itself, whatever targets come. Then, until the first targets come, it hangs, as a robot on its gantry: time
stands and the state is repeated. At first and after silence it damps until somebody has commanded damping, so that
nothing sets in at full stiffness. In lock-step time stands until the targets have come whose `timestamp_us` is that
of the state, however long that takes, so a run depends on nothing but its options; the state is sent again meanwhile,
for who was late or lost it. Before the robot's own frames comes a tick (`EMULATOR_TICK`): the time, which Cheetah-
Software's frames lack, and what only a simulator knows.

`robot_emulator`: the robot emulator as a program.

robot_emulator                                              in real time, hanging until the first command
robot_emulator --params-file FILE link.port=7700 layout=walk_these_ways
"""

import argparse
import signal
import sys
import time as clock
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from types import FrameType

import numpy as np

from contact_ddp_ros.base.config import parameter, parse_setting, replace, specs
from contact_ddp_ros.base.errors import ContactDdpError, LinkError
from contact_ddp_ros.base.parameter_file import load_yaml
from contact_ddp_ros.base.process import SchedulingOptions, end_with_parent, settle
from contact_ddp_ros.plants.engines import make_simulator
from contact_ddp_ros.plants.lcm import conventions
from contact_ddp_ros.plants.lcm.codec import (
    CHEETAH_SOFTWARE,
    EMULATOR_TICK,
    LAYOUTS,
    LEG_CONTROL_COMMAND,
    MICROSTRAIN,
    PD_TAU_TARGETS,
    TARGETS_CHANNEL,
    TICK_CHANNEL,
    Frame,
    decode,
    encode,
)
from contact_ddp_ros.plants.lcm.codec import ROBOT_EMULATOR as NAME
from contact_ddp_ros.plants.lcm.transport import Link, LinkOptions
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.plants.pacing import Pace
from contact_ddp_ros.plants.pushes import PushSchedule, parse_pushes
from contact_ddp_ros.robot.joints import LEG_NAMES
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.state import DriveGains, JointCommand, RobotState

_INITIAL_POSE = (0.6, -1.0, 2.7)
"""Abduction outwards, hip and knee to which Cheetah-Software brings the legs (`initial_jpos_ctrl.yaml`) [rad]."""

_INITIAL_GAINS = 5.0, 0.1
"""Stiffness [N m/rad] and damping [N m s/rad] with which it does."""

_Commanded = tuple[JointCommand, DriveGains]

_REPEAT = 0.5
"""Wall-clock time after which an unanswered state is sent again in lock-step [s]."""

_IDLE = 0.01
"""Wall-clock time between two repetitions while the robot hangs [s]."""

_SLICE = 0.1
"""Longest wait between two checks of the stop event [s]."""


@dataclass(frozen=True)
class RobotEmulatorConfig(SimOptions):
    """Parameters of the emulator: the simulated world's, and those of the robot's own computer."""

    layout: str = parameter(CHEETAH_SOFTWARE.name, choices=tuple(LAYOUTS), description="message types that it uses")
    lockstep: bool = parameter(False, description="wait for the targets that answer each state")
    period: float = parameter(0.002, low=0.0005, high=0.02, unit="s", description="time between two states")
    imu_period: float = parameter(
        0.002, low=0.0005, high=0.1, unit="s", description="time between two samples of the inertial unit"
    )
    targets_timeout: float = parameter(
        0.03, low=0.002, high=1.0, unit="s", description="time without targets after which the robot damps by itself"
    )
    own_damping: float = parameter(2.5, low=0.1, high=5.0, unit="N m s/rad", description="gain of that damping")
    initial_pose: float = parameter(
        0.0, low=0.0, high=10.0, unit="s", description="time in which its program first brings the legs to a pose"
    )
    pushes: str = parameter("", description="scheduled pushes t,fx,fy,fz,dt[,tx,ty,tz]; several separated by ;")
    link: LinkOptions = field(default_factory=LinkOptions)


class RobotEmulator:
    """One simulated robot connected to an LCM link."""

    def __init__(self, robot: Robot, config: RobotEmulatorConfig) -> None:
        """Build the world and open the link.

        Raises:
            ContactDdpError: an option is out of its range, or the link cannot be opened.
        """
        n = robot.n_joints
        own = np.full(n, config.own_damping)
        self._robot = robot
        self._config = config
        self._layout = LAYOUTS[config.layout]
        self._damping = JointCommand.damping(n), DriveGains(kp=np.zeros(n), kd=own, kd_damping=own)
        self._simulator = make_simulator(robot, self._damping[1], config)
        self._steps = max(1, round(config.period / self._simulator.timestep))
        self._pace = Pace(self._steps * self._simulator.timestep)
        self._pushes = PushSchedule(parse_pushes(config.pushes))
        self._targets: Frame | None = None
        self._received = -np.inf
        self._tripped = True
        self._origin = self._simulator.read().joint_positions
        self._initial_pose = np.tile(_INITIAL_POSE, len(LEG_NAMES))
        self._initial_pose[:: len(_INITIAL_POSE)] *= [1.0 if name.endswith("l") else -1.0 for name in LEG_NAMES]
        self._executed: _Commanded | None = None
        self._imu = self._simulator.imu()
        self._samples = 1
        self._count = 0
        self._late = False
        self.malformed = 0
        self._link = Link(config.link)
        self._link.subscribe(TARGETS_CHANNEL, self._on_targets)

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

    def run(self, stop: Event) -> None:
        """Run until `stop` is set."""
        self._pace.start(self.time)
        while not stop.is_set():
            self.tick(stop)

    def tick(self, stop: Event) -> None:
        """Publish the state, get the torque targets and advance time by one period."""
        self.tell()
        answer = self._answer(stop) if self._config.lockstep else self._newest()
        if stop.is_set():
            return
        if self._targets is None and self.time >= self._config.initial_pose:
            clock.sleep(_IDLE)
            self._pace.start(self.time)
            return
        self._executed = self._commanded(answer)
        self._simulator.write(*self._executed)
        for push in self._pushes.due(self.time):
            self._simulator.push(np.array(push.force), push.duration, np.array(push.torque))
        self._simulator.advance(self._steps)
        if self._config.lockstep:
            self._pace.measure(self.time)
        else:
            misses = self._pace.misses
            self._pace.wait(self.time)
            self._late = self._pace.misses > misses

    def tell(self) -> None:
        """Publish the frames of the present state: the tick first, then the robot's own."""
        simulator, layout = self._simulator, self._layout
        state, truth = simulator.read(), simulator.truth()
        torques, forces = truth.applied_torques, truth.contact_forces
        self._count += 1
        numbered = conventions.stamps(state.time, self._count) if layout is not CHEETAH_SOFTWARE else {}
        tick = {
            "late": int(self._late),
            "wall_time": clock.perf_counter(),
            **conventions.tick_values(state),
            "torques": torques,
            "foot_heights": truth.foot_heights,
            "contact_forces": forces.ravel(),
        }
        if self.time - self._imu.time >= self._config.imu_period - 1e-9:
            self._imu = simulator.imu()
            self._samples += 1
        legs = conventions.leg_data_values(self._robot, state, torques)
        trunk = conventions.estimate_values(layout, state, self._imu, forces)
        self._link.publish(TICK_CHANNEL, encode(EMULATOR_TICK, tick))
        for channel, unit in layout.imus.items():
            if unit is MICROSTRAIN:
                values = conventions.imu_values(self._imu, state.orientation, self._samples)
                self._link.publish(channel, encode(unit, values))
        if layout.command_channel and self._executed is not None:
            executed = conventions.executed_values(*self._executed)
            self._link.publish(layout.command_channel, encode(LEG_CONTROL_COMMAND, executed))
        self._link.publish(layout.leg_channel, encode(layout.leg_data, {**legs, **numbered}))
        self._link.publish(layout.estimate_channel, encode(layout.estimate, {**trunk, **numbered}))

    def _commanded(self, answer: _Commanded | None) -> _Commanded:
        """Command of the drives: the way to the initial pose, the last answer, or damping."""
        duration, n = self._config.initial_pose, self._robot.n_joints
        if self.time < duration:
            self._tripped = True
            positions = self._origin + self.time / duration * (self._initial_pose - self._origin)
            kp, kd = (np.full(n, gain) for gain in _INITIAL_GAINS)
            return JointCommand(positions, np.zeros(n), np.zeros(n)), DriveGains(kp=kp, kd=kd, kd_damping=kd)
        self._tripped = answer is None or (self._tripped and answer[0].positions is not None)
        return self._damping if answer is None or self._tripped else answer

    def _newest(self) -> _Commanded | None:
        """The newest targets; None where there are none, or for longer than the timeout."""
        self._link.receive(0.0)
        if self._targets is None or not clock.monotonic() - self._received <= self._config.targets_timeout:
            return None
        return conventions.joint_command(self._targets)

    def _answer(self, stop: Event) -> _Commanded | None:
        """The targets that answer the present state; None where it is stopped."""
        wanted, again = conventions.timestamp_us(self.time), clock.monotonic() + _REPEAT
        while not stop.is_set():
            if self._targets is not None and self._targets.values["timestamp_us"] == wanted:
                return conventions.joint_command(self._targets)
            if not self._link.receive(_SLICE) and clock.monotonic() >= again:
                again = clock.monotonic() + _REPEAT
                self.tell()
        return None

    def _on_targets(self, data: bytes) -> None:
        try:
            targets = decode(data, [PD_TAU_TARGETS])
            conventions.joint_command(targets)
        except LinkError:
            self.malformed += 1
            return
        self._targets, self._received = targets, clock.monotonic()


_PRIORITY = 40
"""Real-time priority, above that of the nodes that command it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the emulator until SIGINT or SIGTERM; return the exit code."""
    stop = Event()

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, on_signal)
    end_with_parent()
    try:
        config = _config(arguments)
        emulator = RobotEmulator(load_robot(), config)
        place = settle(SchedulingOptions(priority=_PRIORITY), live=not config.lockstep)
        print(f"robot emulator is up, {place}", flush=True)
        emulator.run(stop)
    except ContactDdpError as error:
        print(f"[FATAL] [{NAME}]: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    return 0


def _config(arguments: Sequence[str] | None) -> RobotEmulatorConfig:
    known = "\n".join(f"  {spec.name}  {spec.description}" for spec in specs(RobotEmulatorConfig()).values())
    parser = argparse.ArgumentParser(
        prog="robot_emulator",
        description="MuJoCo behind the LCM types of the robot.",
        epilog=f"parameters:\n{known}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--params-file", type=Path, help=f"ROS parameter file with a section {NAME}")
    parser.add_argument("settings", nargs="*", metavar="NAME=VALUE", help="set parameters on top of it")
    options = parser.parse_args(arguments)
    values = load_yaml(options.params_file, NAME) if options.params_file is not None else {}
    return replace(RobotEmulatorConfig(), values | dict(map(parse_setting, options.settings)))


if __name__ == "__main__":
    sys.exit(main())
