"""An emulator of a Gazebo server: DART behind Gazebo's topics and services, with the behaviour of the real server.

What a bridge must get along with is here as it is in Gazebo:

- it starts paused, at joint angles zero; a reset goes back there, and time goes back to zero;
- efforts hold until others come, and a reset clears them; a message that follows them is acknowledged;
- joint states come at every step, and repeatedly while time is paused; odometry comes from the second step on, no
  more often than the file says, and not while time is paused; the order of the two is random;
- a pose is updated in the messages only when a component has changed by more than 1e-6;
- the odometry's linear velocity is the mean of the last ten differences of poses, its angular velocity the last one;
  the first difference is that from the origin, the trunk's whole height within a step;
- a request is answered before its steps are made, and one that follows a reset too soon undoes it;
- every request says whether time stands: one that does not mention it lets time run;
- a pause stops a request for steps before all of them have been made; those that are left are made with the next ones;
- a wrench acts for one step on the model that it names.

DART behind Gazebo's topics in this process, as the simulator of the closed loop.
"""

import random
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from threading import Event, Lock, Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.plants.dart import DartWorld
from contact_ddp_ros.plants.gazebo.bindings import Bindings, Messages
from contact_ddp_ros.plants.gazebo.bridge import GazeboBridge
from contact_ddp_ros.plants.gazebo.config import BridgeConfig, Names
from contact_ddp_ros.plants.gazebo.emulator.transport import EMULATOR_MESSAGES, Bus, emulator_bindings
from contact_ddp_ros.plants.gazebo.sdf import IMU_RATE, world_sdf
from contact_ddp_ros.plants.gazebo.simulator import GazeboSimulator
from contact_ddp_ros.plants.gazebo.world_control import DirectControl
from contact_ddp_ros.plants.options import NoiseOptions, SimOptions, StateErrorOptions
from contact_ddp_ros.plants.pacing import Pace
from contact_ddp_ros.robot.joints import JOINT_NAMES
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.rotation import (
    matrix_to_rpy,
    quaternion_product,
    quaternion_to_matrix,
)
from contact_ddp_ros.robot.state import DriveGains

Array = NDArray[np.float64]

_IDLE = 0.01
"""Wall-clock time between two iterations while time stands [s]."""

_POSE_TOLERANCE = 1e-6
"""Change of a pose's components below which the previous pose is published."""

_TWIST_WINDOW = 10
"""Samples in the odometry's mean."""

_NANOSECONDS = 1_000_000_000


class GazeboEmulator:
    """One world with its server's loop."""

    def __init__(
        self, world: DartWorld, bus: Bus, messages: Messages, *, real_time: bool = True, seed: int = 0
    ) -> None:
        """Offer the world's topics and services on `bus`.

        Args:
            world: to be simulated.
            bus: of the transport.
            messages: types that travel on it.
            real_time: keep to the wall clock where time runs; else as fast as possible.
            seed: of the order in which the messages of a step come.
        """
        self._world = world
        self._bus = bus
        self._messages = messages
        self._real_time = real_time
        self._luck = random.Random(seed)
        self._names = Names(world.name, world.model)
        self._pace = Pace(world.timestep / world.real_time_factor)
        self._efforts = np.zeros(len(JOINT_NAMES))
        self._requests: deque[Any] = deque()
        self._lock, self._wake = Lock(), Event()
        self._paused, self._steps_due = True, 0
        self._wrenches: deque[Array] = deque()
        self._odometry, self._odometry_told = _Odometry(world), 0
        for index, joint in enumerate(JOINT_NAMES):
            bus.subscribe(self._names.effort(joint), partial(self._on_effort, index))
        bus.subscribe(self._names.efforts_sent, self._on_mark)
        bus.subscribe(self._names.wrench, self._on_wrench)
        bus.serve(self._names.control, messages.WorldControl, self._on_control)

    @property
    def efforts(self) -> Array:
        """(12,) efforts received last [N m]."""
        return self._efforts.copy()

    @property
    def paused(self) -> bool:
        """True if simulated time is paused."""
        return self._paused

    @property
    def world(self) -> DartWorld:
        """The simulated world; read it only while time is paused."""
        return self._world

    def run(self, stop: Event) -> None:
        """Serve until `stop`."""
        while not stop.is_set():
            self._obey()
            if self._paused:
                self._publish_joints()
                self._wake.wait(_IDLE)
                self._wake.clear()
                self._pace.start(self._due)
                continue
            stepping = self._steps_due > 0
            self._step()
            if stepping:
                self._steps_due -= 1
                self._paused = self._steps_due == 0
            elif self._real_time:
                self._pace.wait(self._due)

    @property
    def _due(self) -> float:
        """Wall-clock time at which the present instant is due [s]."""
        return 1e-9 * self._world.stamp / self._world.real_time_factor

    def _on_effort(self, index: int, message: Any) -> None:
        self._efforts[index] = message.data

    def _on_mark(self, _message: Any) -> None:
        answer = self._messages.Double()
        answer.data = self._world.format
        self._bus.publish(self._names.efforts_received, answer)

    def _on_wrench(self, message: Any) -> None:
        if message.entity.name == self._world.model:
            force = message.wrench.force
            self._wrenches.append(np.array([force.x, force.y, force.z]))

    def _on_control(self, request: Any) -> Any:
        with self._lock:
            self._requests.append(request)
        self._wake.set()
        answer = self._messages.Boolean()
        answer.data = True
        return answer

    def _obey(self) -> None:
        """Carry out the requests since the last iteration; of several resets the last request decides."""
        with self._lock:
            requests = list(self._requests)
            self._requests.clear()
        reset = False
        for request in requests:
            self._paused = bool(request.pause)
            if self._paused and request.multi_step:
                self._steps_due += int(request.multi_step)
                self._paused = False
            reset = bool(request.reset.all)
        if reset:
            self._world.reset()
            self._efforts[:] = 0.0
            self._odometry, self._odometry_told = _Odometry(self._world), 0

    def _step(self) -> None:
        while self._wrenches:
            self._world.push(self._wrenches.popleft())
        self._world.step(self._efforts)
        news = [self._publish_joints, self._publish_odometry]
        self._luck.shuffle(news)
        for publish in news:
            publish()
        if self._world.stamp % round(_NANOSECONDS / IMU_RATE) == 0:
            self._publish_imu()

    def _publish_joints(self) -> None:
        message = self._stamped(self._messages.Model)
        message.name = self._world.model
        positions, velocities = self._world.joint_positions.tolist(), self._world.joint_velocities.tolist()
        for name, position, velocity in zip(JOINT_NAMES, positions, velocities, strict=True):
            joint = message.joint.add()
            joint.name = name
            joint.axis1.position, joint.axis1.velocity = position, velocity
        self._bus.publish(self._names.joint_state, message)

    def _publish_odometry(self) -> None:
        sample = self._odometry.sample()
        if sample is None or 0 < self._world.stamp - self._odometry_told < _NANOSECONDS / self._world.odometry_rate:
            return
        self._odometry_told = self._world.stamp
        message = self._stamped(self._messages.Odometry)
        position, orientation, linear, angular = sample
        _fill(message.pose.position, "xyz", position)
        _fill(message.pose.orientation, "xyzw", orientation)
        _fill(message.twist.linear, "xyz", linear)
        _fill(message.twist.angular, "xyz", angular)
        self._bus.publish(self._names.odometry, message)

    def _publish_imu(self) -> None:
        message = self._stamped(self._messages.IMU)
        _fill(message.linear_acceleration, "xyz", self._world.specific_force)
        _fill(message.angular_velocity, "xyz", self._world.angular_velocity)
        self._bus.publish(self._names.imu, message)

    def _stamped(self, kind: Any) -> Any:
        message = kind()
        seconds, nanoseconds = divmod(self._world.stamp, _NANOSECONDS)
        message.header.stamp.sec, message.header.stamp.nsec = seconds, nanoseconds
        return message


class _Odometry:
    """The odometry plugin: published poses, and the mean of their differences."""

    def __init__(self, world: DartWorld) -> None:
        self._world = world
        self._position, self._orientation = world.position, world.orientation
        self._told = np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])
        self._before: int | None = None
        self._linear: deque[Array] = deque(maxlen=_TWIST_WINDOW)

    def sample(self) -> tuple[Array, Array, Array, Array] | None:
        """Position, orientation (x, y, z, w), linear and angular velocity; None at the first step."""
        world = self._world
        position, orientation = world.position, world.orientation
        moved = np.abs(position - self._position).max() > _POSE_TOLERANCE
        if moved or np.abs(orientation - self._orientation).max() > _POSE_TOLERANCE:
            self._position, self._orientation = position, orientation
        before, self._before = self._before, world.stamp
        if before is None:
            return None
        elapsed, rotation = 1e-9 * (world.stamp - before), quaternion_to_matrix(self._orientation)
        turn = quaternion_product(self._orientation, self._told[1] * [-1.0, -1.0, -1.0, 1.0])
        angular = rotation.T @ matrix_to_rpy(quaternion_to_matrix(turn)) / elapsed
        self._linear.append(rotation.T @ (self._position - self._told[0]) / elapsed)
        self._told = self._position, self._orientation
        return self._position, self._orientation, np.mean(self._linear, axis=0), angular


def _fill(message: Any, names: str, values: Array) -> None:
    for name, value in zip(names, values.tolist(), strict=True):
        setattr(message, name, value)


@contextmanager
def running_emulator(sdf: str, *, real_time: bool = False, seed: int = 0) -> Iterator[tuple[GazeboEmulator, Bindings]]:
    """An emulator that serves in a thread of this process, and bindings that reach it.

    Raises:
        SimulationError: the text is not a world of `contact-ddp sdf`.
    """
    bus, stop = Bus(), Event()
    server = GazeboEmulator(DartWorld(sdf), bus, EMULATOR_MESSAGES, real_time=real_time, seed=seed)
    thread = Thread(target=server.run, args=(stop,), name="emulator of Gazebo", daemon=True)
    thread.start()
    try:
        yield server, emulator_bindings(bus)
    finally:
        stop.set()
        thread.join()


def emulated(
    connections: ExitStack,
    robot: Robot,
    gains: DriveGains,
    options: SimOptions,
    config: BridgeConfig,
    *,
    rotors: bool = True,
) -> GazeboSimulator:
    """A world of these options in the emulator, and the bridge to it, both open until `connections` closes.

    Args:
        connections: what is to be closed in the end.
        robot, gains: the robot and its drives.
        options: of the world; errors and noise act on the states that are read from it.
        config: parameters of the bridge.
        rotors: as of :func:`contact_ddp_ros.plants.gazebo.sdf.world_sdf`.

    Raises:
        ContactDdpError: an option is not one of a Gazebo world, or is out of its range.
    """
    world = replace(options, noise=NoiseOptions(), error=StateErrorOptions())
    server, bindings = connections.enter_context(running_emulator(world_sdf(robot, world, rotors=rotors)))
    control = DirectControl(bindings, Names(), bindings.node())
    bridge = connections.enter_context(GazeboBridge(robot, gains, bindings, control, config))
    return GazeboSimulator(robot, bridge, options, server.world.foot_forces)
