"""The robot in Gazebo as our controllers know it: states out, joint commands in, drives in between.

The drives' law is computed here at every state that Gazebo tells, 1 kHz, as the robot's own drives do: the command's
torques and gains, damping where there is no command or none for a while, clipped to the actuators. All twelve efforts
go out each time, and zero ones at the end.

Free running, states come in a thread of the transport, which also sends the efforts that answer them. In lock-step the
world stands, and :meth:`GazeboBridge.advance` moves it: efforts first, then the steps, then it waits for the state they
lead to, because the service answers before the steps have been made.

Time on our side goes on where Gazebo's goes back: after a reset the states' stamps continue.
"""

import logging
import time as clock
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from threading import Condition, RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.config import parameter
from contact_ddp_ros.errors import GazeboError, MessageError
from contact_ddp_ros.gazebo.drives import Drives
from contact_ddp_ros.gazebo.efforts import Delivery, Efforts
from contact_ddp_ros.gazebo.names import MODEL, WORLD, Names
from contact_ddp_ros.gazebo.states import Measurement, StateReader
from contact_ddp_ros.gazebo.transport import Bindings
from contact_ddp_ros.gazebo.world_control import WorldControl, WorldRequest
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.state import DriveGains, JointCommand, RobotState

Array = NDArray[np.float64]

_TRIES = 3
"""How often a state that is lost is stepped beyond before the odometry counts as dead."""

_REPEATS = 2
"""How often joint states are told again before the odometry of their instant, which precedes that, counts as lost."""

_FIRST_STEPS = 10
"""How many steps may pass before the odometry begins."""

_BREATH = 0.05
"""Wall-clock time after which nothing is under way any more [s]."""

_DISCOVERY = 0.3
"""Wall-clock time in which the last publishers and subscribers find each other when the first have [s]."""

_SETTLE_KP, _SETTLE_KD = 80.0, 2.0
"""Gains with which the robot goes from straight legs to standing [N m/rad, N m s/rad]."""

_SETTLE_TIME, _SETTLE_REST = 0.8, 0.4
"""Time in which it does, and in which it comes to rest [s]."""

_SETTLE_STEPS = 2
"""Physics steps between two efforts meanwhile."""


@dataclass(frozen=True)
class BridgeConfig:
    """How to find the robot in Gazebo, and what its drives do there."""

    world: str = parameter(WORLD, description="name of the world in Gazebo", structural=True)
    model: str = parameter(MODEL, description="name of the robot's model in it", structural=True)
    timestep: float = parameter(
        0.001, low=0.0001, high=0.01, unit="s", description="length of that world's physics step", structural=True
    )
    differences: bool = parameter(
        True, description="velocity of the trunk from its poses, not the odometry's lagging twist", structural=True
    )
    command_timeout: float = parameter(
        0.02, low=0.002, high=1.0, unit="s", description="drives damp when no command came for that long"
    )
    answer_timeout: float = parameter(
        5.0, low=0.1, high=120.0, unit="s", description="wall-clock time in which Gazebo must answer", structural=True
    )
    settle: bool = parameter(
        True, description="reset the world at the start and put the robot on bent legs", structural=True
    )


class GazeboBridge:
    """One robot in one world of a Gazebo server."""

    def __init__(
        self,
        robot: Robot,
        gains: DriveGains,
        bindings: Bindings,
        control: WorldControl,
        config: BridgeConfig,
        *,
        lockstep: bool = False,
        paused: bool = False,
        on_state: Callable[[RobotState, Array], None] | None = None,
    ) -> None:
        """Connect; nothing moves before :meth:`start`.

        Args:
            robot: that is in the world.
            gains: of its drives, equal to the controller's.
            bindings: of Gazebo's transport.
            control: passes requests to the world.
            config: see there.
            lockstep: the world stands but for the steps that it is asked for.
            paused: whether time is to stand at first where it runs freely.
            on_state: called with every state and the torques (12,) that answer it [N m], where time runs freely; in the
                transport's thread.
        """
        self.config = config
        self.lockstep = lockstep
        self._robot = robot
        self._control = control
        self._on_state = on_state
        self._drives = Drives(gains, robot.effort_limits, config.command_timeout)
        self._torques = np.zeros(robot.n_joints)
        self._reader = StateReader(differences=config.differences)
        self._newest: Measurement | None = None
        self._state: RobotState | None = None
        self._offset = 0.0
        self._quiet = True
        self._closed = False
        self._paused = paused
        self._specific_force: Array | None = None
        self._news = Condition()
        self._world = RLock()
        self._log = logging.getLogger(__name__)
        self.malformed = 0
        self._names = Names(config.world, config.model)
        self._node = bindings.node()
        self._efforts = Efforts(bindings, self._names, self._node)
        self._delivery = Delivery(self._efforts, bindings, self._names, self._node)
        messages = bindings.messages
        for kind, topic, callback in (
            (messages.Model, self._names.joint_state, self._on_joints),
            (messages.Odometry, self._names.odometry, self._on_odometry),
            (messages.IMU, self._names.imu, self._on_imu),
        ):
            if not self._node.subscribe(kind, topic, callback):
                raise GazeboError(f"cannot subscribe to {topic}")

    @property
    def state(self) -> RobotState:
        """The newest state, on our clock.

        Raises:
            GazeboError: there has been none.
        """
        with self._news:
            if self._state is None:
                raise GazeboError("Gazebo has told no state yet")
            return self._state

    @property
    def torques(self) -> Array:
        """(12,) sent last [N m]."""
        with self._news:
            return self._torques.copy()

    @property
    def silent(self) -> bool:
        """Whether the drives damp because no command has come for a while."""
        return self._drives.silent

    @property
    def specific_force(self) -> Array | None:
        """(3,) what the IMU showed last, in `base_link` axes [m/s^2]; None where it is silent."""
        return self._specific_force

    @property
    def paused(self) -> bool:
        """Whether time stands."""
        return self._paused

    def start(self) -> RobotState:
        """Bring the robot into its first state, and let time run unless it is to stand; the state.

        Raises:
            GazeboError: the server or its messages stay away.
        """
        with self._world:
            if self.config.settle:
                self._settle()
            else:
                self._ask(WorldRequest(pause=True))
                self._find()
                self._first_state()
            self._speak()
            return self.state

    def configure(self, config: BridgeConfig, gains: DriveGains) -> None:
        """Take other gains and another configuration; of its parameters only those that are not structural count."""
        with self._news:
            self.config = config
            self._drives.gains, self._drives.timeout = gains, config.command_timeout

    def apply(self, command: JointCommand) -> None:
        """Give the drives a command, which counts from the next effort on.

        Raises:
            MessageError: it is not finite or has another number of joints; the drives damp.
        """
        with self._news:
            self._drives.apply(command, -np.inf if self._state is None else self._state.time)

    def advance(self, steps: int) -> RobotState:
        """Where time does not run freely: send the efforts, let the world make the steps; the state they lead to.

        Raises:
            GazeboError: the server does not answer, or its states do not come.
        """
        with self._world:
            with self._news:
                torques = self._answer()
            self._step(steps, torques)
            return self.state

    def pause(self, paused: bool) -> None:
        """Hold time, or release it where it runs freely.

        Raises:
            GazeboError: the server does not answer.
        """
        with self._world:
            self._ask(WorldRequest(pause=paused or self.lockstep))
            if paused:
                self._await(lambda: self._stands_at(0))
            self._paused = paused

    def reset(self) -> None:
        """Put the robot back on bent legs at the origin of `odom`, drives damping; our time goes on.

        Raises:
            GazeboError: the server does not answer.
        """
        with self._world:
            with self._news:
                self._quiet = True
            self._settle()
            self._speak()

    def close(self) -> None:
        """Tell the joints zero effort and fall silent, once and for all."""
        with self._news:
            if self._closed:
                return
            self._closed = True
        self._efforts.end()
        self._control.close()
        for topic in (self._names.joint_state, self._names.odometry, self._names.imu, self._names.efforts_received):
            self._node.unsubscribe(topic)

    def __enter__(self) -> "GazeboBridge":
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _speak(self) -> None:
        """States count from here on; our clock continues where it was."""
        with self._news:
            self._quiet = False
            self._drives.forget()
            if self._newest is not None:
                self._take(self._newest)
        if not self.lockstep:
            self.pause(self._paused)

    def _settle(self) -> None:
        """Begin again and go from straight legs to standing, step by step, then rest."""
        self._begin_again()
        self._find()
        self._first_state()
        with self._news:
            assert self._newest is not None
            begin = self._newest.state.joint_positions
        timestep, n = self.config.timestep, self._robot.n_joints
        stiff, damped = np.full(n, _SETTLE_KP), np.full(n, _SETTLE_KD)
        drives = Drives(DriveGains(stiff, damped, damped), self._robot.effort_limits, timeout=np.inf)
        for tick in range(round((_SETTLE_TIME + _SETTLE_REST) / timestep / _SETTLE_STEPS)):
            share = min(1.0, tick * _SETTLE_STEPS * timestep / _SETTLE_TIME)
            target = begin + share * (self._robot.standing - begin)
            drives.apply(JointCommand(target, np.zeros(n), np.zeros(n)), 0.0)
            with self._news:
                assert self._newest is not None
                state = self._newest.state
            efforts = drives.efforts(state.joint_positions, state.joint_velocities, 0.0)
            self._step(_SETTLE_STEPS, efforts)

    def _begin_again(self) -> None:
        """Reset the world and wait until its time is zero: a request that comes before that would undo the reset.

        Time is stepped on before, or it could not be seen to go back.
        """
        self._ask(WorldRequest(pause=True))
        self._await(lambda: self._reader.joint_stamp is not None)
        clock.sleep(_BREATH)
        before = self._joint_stamp()
        self._ask(WorldRequest(pause=True, steps=1))
        self._await(lambda: self._stands_at(before + 1))
        beyond = self._joint_stamp()
        self._ask(WorldRequest(pause=True, reset=True))
        self._await(lambda: self._joint_stamp() < beyond)
        with self._news:
            self._newest = None

    def _await(self, condition: Callable[[], bool]) -> None:
        """Wait for joint states; raise GazeboError where they do not come."""
        with self._news:
            if not self._news.wait_for(condition, self.config.answer_timeout):
                raise self._strange_world(self._names.joint_state)

    def _joint_stamp(self) -> int:
        """The instant of the newest joint states [ns]; -1 before the first."""
        with self._news:
            stamp = self._reader.joint_stamp
            return -1 if stamp is None else stamp

    def _find(self) -> None:
        """Wait until the server's plugins and our publishers have found each other, which a reset makes necessary."""
        if not self._delivery.find(self.config.answer_timeout):
            self._log.warning(
                "the world does not acknowledge efforts, so runs in lock-step may differ from one another; write it "
                "with this version's `contact-ddp sdf`, and leave the model its name"
            )
        clock.sleep(_DISCOVERY)

    def _first_state(self) -> None:
        """Step until the odometry has begun, which takes two steps after a start; see how long a step is."""
        for _ in range(_FIRST_STEPS):
            before = self._joint_stamp()
            self._ask(WorldRequest(pause=True, steps=1))
            with self._news:
                self._news.wait_for(partial(self._told, before + 1), self.config.answer_timeout)
                newest = self._newest
            if newest is not None:
                self._check_timestep(before, newest.stamp)
                return
            clock.sleep(_BREATH)
        raise self._strange_world(self._names.odometry)

    def _told(self, goal: int) -> bool:
        return self._newest is not None or self._stands_at(goal)

    def _check_timestep(self, before: int, after: int) -> None:
        """Raise GazeboError unless one step leads from the one instant to the other [ns]."""
        made = 1e-9 * (after - before)
        if before >= 0 and abs(made - self.config.timestep) > 0.1 * self.config.timestep:
            raise GazeboError(
                f"a physics step of the world {self.config.world!r} takes {made:g} s, but gazebo.timestep is "
                f"{self.config.timestep:g} s; set gazebo_bridge.gazebo.timestep to what the world's file says"
            )

    def _step(self, steps: int, efforts: Array) -> None:
        """Have steps made with efforts, and wait for the state after them; one that is lost is stepped beyond."""
        with self._news:
            assert self._newest is not None
            goal = self._newest.stamp + round(1e9 * (steps - 0.5) * self.config.timestep)
        self._delivery.deliver(efforts, self.config.answer_timeout)
        for _ in range(_TRIES):
            self._ask(WorldRequest(pause=True, steps=steps))
            with self._news:
                if not self._news.wait_for(
                    lambda: self._arrived(goal) or self._stands_at(goal), self.config.answer_timeout
                ):
                    raise GazeboError(
                        f"Gazebo accepts steps, but no state comes of them ({self._names.joint_state}) "
                        f"within {self.config.answer_timeout:g} s"
                    )
                if self._arrived(goal):
                    return
            self._log.warning("the odometry of a step did not come; stepping on")
            steps = 1
        raise GazeboError(f"Gazebo makes steps, but no {self._names.odometry} comes of them")

    def _arrived(self, goal: int) -> bool:
        """Whether there is a state of the instant `goal` [ns] or later."""
        return self._newest is not None and self._newest.stamp >= goal

    def _stands_at(self, goal: int) -> bool:
        """Whether time stands at the instant `goal` [ns] or later: all that was told of that instant has come."""
        return self._joint_stamp() >= goal and self._reader.joint_repeats >= _REPEATS

    def _ask(self, request: WorldRequest) -> None:
        self._control.ask(request, self.config.answer_timeout)

    def _strange_world(self, missing: str) -> GazeboError:
        return GazeboError(
            f"the world {self.config.world!r} answers, but no {missing} comes of it within "
            f"{self.config.answer_timeout:g} s; is the model {self.config.model!r} of `contact-ddp sdf` in it?"
        )

    def _on_joints(self, message: Any) -> None:
        self._read(self._reader.joints, message)

    def _on_odometry(self, message: Any) -> None:
        self._read(self._reader.odometry, message)

    def _on_imu(self, message: Any) -> None:
        force = message.linear_acceleration
        self._specific_force = np.array([force.x, force.y, force.z])

    def _read(self, read: Callable[[Any], Measurement | None], message: Any) -> None:
        """Take a message, and answer the state that it completes."""
        with self._news:
            try:
                measurement = read(message)
            except MessageError as error:
                self.malformed += 1
                if self.malformed == 1:
                    self._log.error("%s", error)
                return
            if measurement is None or self._closed:
                self._news.notify_all()
                return
            if measurement.restarted and not self._quiet:
                self._drives.forget()
            self._newest = measurement
            if not self._quiet:
                self._take(measurement)
            state, torques = self._state, None
            if not (self._quiet or self.lockstep):
                torques = self._answer()
            self._news.notify_all()
        if torques is not None and state is not None:
            self._efforts.send(torques)
            if self._on_state is not None:
                self._on_state(state, torques)

    def _take(self, measurement: Measurement) -> None:
        """Put a state on our clock: after a jump back of Gazebo's it goes on with one step."""
        now = measurement.state.time + self._offset
        if self._state is not None and now <= self._state.time:
            self._offset += self._state.time + self.config.timestep - now
        self._state = replace(measurement.state, time=measurement.state.time + self._offset)

    def _answer(self) -> Array:
        """The torques (12,) [N m] of the drives at the present state."""
        state = self._state
        if state is not None:
            self._torques = self._drives.efforts(state.joint_positions, state.joint_velocities, state.time)
        return self._torques
