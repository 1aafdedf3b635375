"""One world of a Gazebo server: its newest state, and requests that block until their effect is visible.

The server's service acknowledges a request before it is carried out, and after a reset plugins and publishers must
discover each other again. So each request here waits until the world's messages show its effect. Messages arrive in a
thread of the transport.
"""

import logging
import time as clock
from collections.abc import Callable
from functools import partial
from threading import Condition, Event
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import GazeboError, MessageError
from contact_ddp_ros.plants.gazebo.config import DAMPED, PLAIN, Names
from contact_ddp_ros.plants.gazebo.efforts import Delivery, Drives
from contact_ddp_ros.plants.gazebo.states import Measurement, StateReader
from contact_ddp_ros.plants.gazebo.world_control import WorldControl, WorldRequest
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.state import DriveGains, JointCommand, RobotState

Array = NDArray[np.float64]

_TRIES = 3
"""Number of lost states in a row after which the odometry is considered dead."""

_REPEATS = 2
"""Repeats of joint states from which on the odometry of their instant, which precedes them, counts as lost."""

_HALT_REPEATS, _HALT_TIME = 20, 0.3
"""How often joint states of an instant before the one asked for come again, and for how long [s], until it is clear
that somebody has paused the world."""

_ATTEMPT = 1.0
"""Longest single request while waiting for a server; cancellation is checked between two [s]."""

_FIRST_STEPS = 10
"""Largest number of steps before the states begin."""

_BREATH = 0.05
"""Wall-clock time after which no message is in transit any more [s]."""

_DISCOVERY = 0.3
"""Wall-clock time in which the last publishers and subscribers find each other when the first have [s]."""


_STIFFNESS, _DAMPING = 80.0, 2.0
"""Gains of all joints while standing up [N m/rad, N m s/rad]."""

_TIME, _PAUSE, _LONGEST = 0.8, 0.4, 5.0
"""Duration of the joint motion, of the least pause after it, and of both where the robot goes on rocking [s]."""

_REST, _REST_TIME = 0.03, 0.2
"""Largest component of the trunk's velocity at rest [m/s, rad/s], and for how long it must not be exceeded [s]."""

_STRIDE = 2
"""Physics steps per effort."""

_ATTEMPTS = 3
"""Number of attempts where another program resets the world meanwhile."""


class WorldRestartedError(GazeboError):
    """Another program has reset the world: the robot is at its initial pose, and simulated time at zero."""


class World:
    """One robot's world; requests come from one thread at a time.

    Attributes:
        news: condition notified at every message; hold it to read `newest` or to process a message.
        newest: newest state; None before the first and after a reset.
        malformed: number of messages so far that could not be read.
    """

    def __init__(
        self,
        names: Names,
        control: WorldControl,
        delivery: Delivery,
        *,
        timestep: float,
        answer_timeout: float,
        differences: bool,
    ) -> None:
        """Store the connection; no request is made yet.

        Args:
            names: of the world and of the robot's model in it.
            control: passes requests to it.
            delivery: passes efforts to it and sees that they arrive.
            timestep: length of its physics step [s].
            answer_timeout: wall-clock time in which it must answer [s].
            differences: velocity of the trunk from its poses, not from the odometry's twist.
        """
        self.news = Condition()
        self.newest: Measurement | None = None
        self.malformed = 0
        self._names = names
        self._control = control
        self._delivery = delivery
        self._timestep = timestep
        self._timeout = answer_timeout
        self._reader = StateReader(differences=differences)
        self._restarts = 0
        self._checked = False
        self._cancelled = Event()
        self._log = logging.getLogger(__name__)

    def joints(self, message: Any) -> Measurement | None:
        """Process joint states (gz.msgs.Model); return the state that they complete, if any."""
        return self._take(self._reader.joints, message)

    def odometry(self, message: Any) -> Measurement | None:
        """Process odometry (gz.msgs.Odometry); return the state that it completes, if any."""
        return self._take(self._reader.odometry, message)

    @property
    def restarted(self) -> bool:
        """True if another program has reset the world since :meth:`begin_again` or :meth:`accept`."""
        return self._reader.restarts != self._restarts

    def accept(self) -> None:
        """Discard the newest state and accept the world as it is, also after a reset by another program."""
        with self.news:
            self.newest = None
            self._restarts = self._reader.restarts

    def cancel(self) -> None:
        """Abort all waiting for the server; may be called from a signal handler."""
        self._cancelled.set()

    def await_server(self, timeout: float) -> None:
        """Wait up to `timeout` [s] for a server, and pause its world.

        Raises:
            GazeboError: no server answers in time; the methods below raise it for the same reason.
        """
        deadline = clock.monotonic() + timeout
        said = False
        while True:
            left = deadline - clock.monotonic()
            try:
                self._control.ask(WorldRequest(pause=True), min(_ATTEMPT, max(0.0, left)))
                return
            except GazeboError:
                if left <= _ATTEMPT or self._cancelled.wait(_BREATH):
                    raise
                if not said:
                    said = True
                    self._log.warning("no server of the world %r yet; waiting up to %g s", self._names.world, timeout)

    def hold(self) -> None:
        """Pause time."""
        self._ask(WorldRequest(pause=True))

    def begin_again(self) -> None:
        """Reset the world and wait until its time is zero: a request that comes before that would undo the reset.

        Time is stepped on before, or it could not be seen to go back.
        """
        self.hold()
        self._await(lambda: self._reader.joint_stamp is not None)
        clock.sleep(_BREATH)
        before = self._joint_stamp()
        self._ask(WorldRequest(pause=True, steps=1))
        self._await(lambda: self._stands_at(before + 1))
        beyond = self._joint_stamp()
        self._ask(WorldRequest(pause=True, reset=True))
        self._await(lambda: self._joint_stamp() < beyond)
        with self.news:
            self.newest = None
            self._restarts = self._reader.restarts

    def find(self) -> None:
        """Wait until the server's plugins and the publishers here have discovered each other, needed after a reset."""
        if self._delivery.find(self._timeout):
            if self._delivery.format == DAMPED:
                raise GazeboError(
                    f"the joints of the world {self._names.world!r} carry the drives' damping, which is for drives "
                    "that are not stepped; write it without --drive-damping"
                )
            if self._delivery.format != PLAIN:
                raise GazeboError(
                    f"the world {self._names.world!r} is of format {self._delivery.format:g}; allowed: {PLAIN}; "
                    "write it with this version's `contact-ddp sdf`"
                )
        else:
            self._log.warning(
                "the world does not acknowledge efforts, so runs in lock-step may differ from one another; write it "
                "with this version's `contact-ddp sdf`, and leave the model its name"
            )
        clock.sleep(_DISCOVERY)

    def first_state(self) -> RobotState:
        """Step until the first state, which takes three steps after a start; check the time step; return the state."""
        for _ in range(_FIRST_STEPS):
            before = self._joint_stamp()
            self._ask(WorldRequest(pause=True, steps=1))
            with self.news:
                self.news.wait_for(partial(self._told, before + 1), self._timeout)
                newest = self.newest
            if newest is not None:
                self._check_timestep(before, newest.stamp)
                return newest.state
            clock.sleep(_BREATH)
        raise self._strange(self._names.odometry)

    def step(self, steps: int, efforts: Array) -> RobotState:
        """Make physics steps with the efforts (12,) [N m]; return the state after them.

        If the state is lost, one more step is made. Where another program pauses the world before all steps are made,
        one more is requested, with which the server makes the remaining ones, too.

        Raises:
            WorldRestartedError: another program has reset the world.
        """
        with self.news:
            assert self.newest is not None
            goal = self.newest.stamp + round(1e9 * (steps - 0.5) * self._timestep)
        self._delivery.deliver(efforts, self._timeout)
        lost = 0
        while lost < _TRIES:
            self._ask(WorldRequest(pause=True, steps=steps))
            with self.news:
                self._await_step(goal)
                if self.restarted:
                    raise WorldRestartedError(f"somebody has reset the world {self._names.world!r}")
                newest = self.newest
                if newest is not None and newest.stamp >= goal:
                    return newest.state
                if self._stands_at(goal):
                    lost += 1
                    self._log.warning("the odometry of a step did not come; stepping on")
                else:
                    self._log.warning("somebody has paused the world; stepping on")
            steps = 1
        raise GazeboError(f"Gazebo makes steps, but no {self._names.odometry} comes of them")

    def close(self) -> None:
        """Close the connection for requests."""
        self._control.close()

    def _take(self, read: Callable[[Any], Measurement | None], message: Any) -> Measurement | None:
        try:
            measurement = read(message)
        except MessageError as error:
            self.malformed += 1
            if self.malformed == 1:
                self._log.error("%s", error)
            return None
        if measurement is not None:
            self.newest = measurement
        self.news.notify_all()
        return measurement

    def _ask(self, request: WorldRequest) -> None:
        if self._cancelled.is_set():
            raise GazeboError("the bridge is ending")
        self._control.ask(request, self._timeout)

    def _await(self, condition: Callable[[], bool]) -> None:
        """Wait for joint states; raise GazeboError where they do not come."""
        with self.news:
            if not self.news.wait_for(condition, self._timeout):
                raise self._strange(self._names.joint_state)

    def _await_step(self, goal: int) -> None:
        """With `news` held, wait for what becomes of a request for steps up to the instant `goal` [ns]."""
        began, seen = clock.monotonic(), (self._reader.joint_stamp, self._reader.joint_repeats)

        def halted() -> bool:
            stamp, repeats = self._reader.joint_stamp, self._reader.joint_repeats
            repeats -= seen[1] if stamp == seen[0] else 0
            return repeats >= _HALT_REPEATS and clock.monotonic() - began > _HALT_TIME

        def done() -> bool:
            return self.restarted or self._arrived(goal) or self._stands_at(goal) or halted()

        if not self.news.wait_for(done, self._timeout):
            raise GazeboError(
                f"Gazebo accepts steps, but no state comes of them ({self._names.joint_state}) within "
                f"{self._timeout:g} s"
            )

    def _joint_stamp(self) -> int:
        """The instant of the newest joint states [ns]; -1 before the first."""
        with self.news:
            stamp = self._reader.joint_stamp
            return -1 if stamp is None else stamp

    def _told(self, goal: int) -> bool:
        return self.newest is not None or self._stands_at(goal)

    def _arrived(self, goal: int) -> bool:
        """True if there is a state of the instant `goal` [ns] or later."""
        return self.newest is not None and self.newest.stamp >= goal

    def _stands_at(self, goal: int) -> bool:
        """True if time stands at the instant `goal` [ns] or later: all that was told of that instant has come."""
        return self._joint_stamp() >= goal and self._reader.joint_repeats >= _REPEATS

    def _check_timestep(self, before: int, after: int) -> None:
        """At the first step, raise GazeboError unless it leads from the one instant to the other [ns]."""
        made = 1e-9 * (after - before)
        if self._checked:
            return
        self._checked = True
        if before >= 0 and abs(made - self._timestep) > 0.1 * self._timestep:
            raise GazeboError(
                f"a physics step of the world {self._names.world!r} takes {made:g} s, but gazebo.timestep is "
                f"{self._timestep:g} s; set gazebo_bridge.gazebo.timestep to what the world's file says"
            )

    def _strange(self, missing: str) -> GazeboError:
        return GazeboError(
            f"the world {self._names.world!r} answers, but no {missing} comes of it within "
            f"{self._timeout:g} s; is the model {self._names.model!r} of `contact-ddp sdf` in it?"
        )


def reset_and_stand_up(world: World, robot: Robot, timestep: float) -> None:
    """Reset the world and stand the robot up, at rest.

    Args:
        world: of the robot.
        robot: in it.
        timestep: of its physics [s].

    Raises:
        GazeboError: the server does not answer, or its states do not come.
    """
    for _ in range(_ATTEMPTS):
        try:
            _stand_up(world, robot, timestep)
            return
        except WorldRestartedError as error:
            last = error
    raise last


def _stand_up(world: World, robot: Robot, timestep: float) -> None:
    world.begin_again()
    world.find()
    state = world.first_state()
    begin, n = state.joint_positions, robot.n_joints
    stiff, damped = np.full(n, _STIFFNESS), np.full(n, _DAMPING)
    drives = Drives(DriveGains(stiff, damped, damped), robot.effort_limits, np.inf)
    moved = 0.0
    for tick in range(round(_LONGEST / timestep / _STRIDE)):
        passed = tick * _STRIDE * timestep
        if np.abs([state.linear_velocity, state.angular_velocity]).max() > _REST:
            moved = passed
        if passed >= max(_TIME + _PAUSE, moved + _REST_TIME):
            break
        share = min(1.0, passed / _TIME)
        target = begin + share * (robot.standing - begin)
        drives.apply(JointCommand(target, np.zeros(n), np.zeros(n)), 0.0)
        state = world.step(_STRIDE, drives.efforts(state.joint_positions, state.joint_velocities, 0.0))
