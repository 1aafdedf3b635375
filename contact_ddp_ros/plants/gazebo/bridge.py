"""Bridge between Gazebo and the controller: publishes states, takes joint commands, computes the drives' torques.

The world stands except for the steps that :meth:`GazeboBridge.advance` asks for: efforts first, then the steps, then
it waits for the state they lead to (:mod:`contact_ddp_ros.plants.gazebo.world`). The efforts are those of the drives'
control law at the newest state: the command's torques and gains, damping without a command or after a timeout, clipped
to the actuators' limits. All twelve are sent each time, and zero efforts at the end.

Other programs may pause or reset the world, too. A pause is undone by the next request. After a reset the robot stands
up again with damping drives.

The bridge's clock never goes back: after a reset of Gazebo the stamps of the states continue. A command is accepted if
it carries the stamp of a state that this bridge has published since its start or the last reset.
"""

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import GazeboError, ParameterError, SimulationError
from contact_ddp_ros.plants.gazebo.bindings import Bindings
from contact_ddp_ros.plants.gazebo.config import BridgeConfig, Names
from contact_ddp_ros.plants.gazebo.efforts import Delivery, Drives, Efforts, Push
from contact_ddp_ros.plants.gazebo.states import Measurement
from contact_ddp_ros.plants.gazebo.world import World, WorldRestartedError, reset_and_stand_up
from contact_ddp_ros.plants.gazebo.world_control import WorldControl
from contact_ddp_ros.plants.plant import Capabilities
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.state import DriveGains, ImuSample, JointCommand, RobotState

Array = NDArray[np.float64]


_MOST_FORCES = 50
"""Forces of the IMU that are averaged at most: those of the last moments before a run."""


@dataclass(frozen=True)
class GazeboTruth:
    """The :class:`contact_ddp_ros.plants.plant.Truth` of a Gazebo world; NaN for what it does not tell."""

    state: RobotState
    foot_heights: Array
    contact_forces: Array
    applied_torques: Array
    specific_force: Array


class GazeboBridge:
    """One robot in one world of a Gazebo server, a :class:`contact_ddp_ros.plants.plant.Plant`."""

    capabilities = Capabilities(truth=False, places=False)

    def __init__(
        self,
        robot: Robot,
        gains: DriveGains,
        bindings: Bindings,
        control: WorldControl,
        config: BridgeConfig,
    ) -> None:
        """Connect; nothing moves before :meth:`start`.

        Args:
            robot: that is in the world.
            gains: of its drives, equal to the controller's.
            bindings: of Gazebo's transport.
            control: passes requests to the world.
            config: parameters of the bridge.
        """
        self.config = config
        self._robot = robot
        self._drives = Drives(gains, robot.effort_limits, config.command_timeout)
        self._torques = np.zeros(robot.n_joints)
        self._state: RobotState | None = None
        self._offset = 0.0
        self._quiet = True
        self._closed = False
        self._specific_force: Array | None = None
        self._forces: deque[Array] = deque(maxlen=_MOST_FORCES)
        self._imu: ImuSample | None = None
        self._since = np.inf
        self._log = logging.getLogger(__name__)
        self._asking = RLock()
        self._names = Names(config.world, config.model)
        self._node = bindings.node()
        self._efforts = Efforts(bindings, self._names, self._node)
        self._push = Push(bindings, self._names, self._node)
        self._world = World(
            self._names,
            control,
            Delivery(self._efforts, bindings, self._names, self._node),
            timestep=config.timestep,
            answer_timeout=config.answer_timeout,
            differences=config.differences,
        )
        self._news = self._world.news
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
        """The newest state, stamped with the bridge's clock.

        Raises:
            GazeboError: there has been none.
        """
        with self._news:
            if self._state is None:
                raise GazeboError("Gazebo has published no state yet")
            return self._state

    @property
    def time(self) -> float:
        """The bridge's clock at the newest state [s]; zero before the first."""
        state = self.read()
        return 0.0 if state is None else state.time

    @property
    def timestep(self) -> float:
        """Length of a physics step [s]."""
        return self.config.timestep

    def read(self) -> RobotState | None:
        """The newest state, stamped with the bridge's clock; None before the first."""
        with self._news:
            return self._state

    def imu(self) -> ImuSample | None:
        """Mean specific force of the world's IMU since the last sample, with the newest state's angular velocity.

        None before its first; the last force where none has come. Contacts make a single force of a robot at rest err
        by metres per second squared.
        """
        with self._news:
            state, last = self.state, self._imu
            if self._forces and (last is None or last.time != state.time):
                self._imu = ImuSample(state.time, state.angular_velocity, np.mean(self._forces, axis=0))
                self._forces.clear()
            elif last is not None and last.time != state.time:
                self._imu = replace(last, time=state.time, angular_velocity=state.angular_velocity)
            return self._imu

    def truth(self) -> GazeboTruth:
        """The newest state with the torques sent and the IMU's specific force; NaN for the rest, and before its first.

        Raises:
            GazeboError: there has been no state.
        """
        feet, force = len(self._robot.tree.contacts), self._specific_force
        return GazeboTruth(
            state=self.state,
            foot_heights=np.full(feet, np.nan),
            contact_forces=np.full((feet, 3), np.nan),
            applied_torques=self.torques,
            specific_force=np.full(3, np.nan) if force is None else force,
        )

    @property
    def torques(self) -> Array:
        """(12,) torques of the drives at the last state for which efforts were computed [N m]."""
        with self._news:
            return self._torques.copy()

    @property
    def malformed(self) -> int:
        """Number of messages of Gazebo so far that could not be read."""
        return self._world.malformed

    @property
    def silent(self) -> bool:
        """True if the drives damp because the command timeout has passed."""
        return self._drives.silent

    def start(self) -> RobotState:
        """Bring the robot into its first state; return it.

        Raises:
            GazeboError: the server does not answer, or its messages do not arrive.
        """
        with self._asking:
            self._world.await_server(self.config.server_timeout)
            self._begin(reset=self.config.settle)
            return self.state

    def cancel(self) -> None:
        """Abort all waiting for the server; may be called from a signal handler."""
        self._world.cancel()

    def configure(self, config: BridgeConfig, gains: DriveGains) -> None:
        """Replace the gains and those parameters of the configuration that are not structural."""
        with self._news:
            self.config = config
            self._drives.gains, self._drives.timeout = gains, config.command_timeout

    def expects(self, stamp: float) -> bool:
        """True if a stamp [s] belongs to a state published since the start or the last reset."""
        with self._news:
            slack = 0.5 * self.config.timestep
            return self._state is not None and self._since - slack < stamp < self._state.time + slack

    def write(self, command: JointCommand) -> None:
        """Set the drives' command, used from the next effort on.

        Raises:
            MessageError: it is not finite or has another number of joints; the drives damp.
        """
        with self._news:
            self._drives.apply(command, -np.inf if self._state is None else self._state.time)

    def advance(self, n: int = 1) -> None:
        """Send the efforts and make n physics steps; the state after them is then the newest.

        Raises:
            GazeboError: the server does not answer, or its states do not come.
        """
        with self._asking:
            with self._news:
                efforts = self._answer()
                self._push.act(self.state.time, self.config.timestep, n)
            try:
                self._world.step(n, efforts)
            except WorldRestartedError:
                self._recover()

    def push(self, force: Array, duration: float, torque: Array | None = None) -> None:
        """Apply a force (3,) in odom axes [N] at the trunk's centre of mass for `duration` [s]; replaces an active one.

        Raises:
            GazeboError: there has been no state yet.
            ParameterError: a moment is asked for, which the world does not take.
        """
        if torque is not None and np.any(torque):
            raise ParameterError(f"a push with a moment of {torque} N m: in Gazebo a push is a force alone")
        with self._news:
            self._push.begin(force, self.state.time + duration)

    def reset(self, state: RobotState | None = None) -> None:
        """Put the robot on bent legs at the origin of `odom`, with damping drives; the bridge's clock continues.

        Raises:
            GazeboError: the server does not answer.
            SimulationError: a state is given; Gazebo knows only the one that its file describes.
        """
        if state is not None:
            raise SimulationError("Gazebo begins where its world's file says; it cannot be put into another state")
        with self._asking:
            self._begin(reset=True)

    def close(self) -> None:
        """Send zero effort to the joints, unsubscribe and close the connection; later calls do nothing."""
        with self._news:
            if self._closed:
                return
            self._closed = True
        self._efforts.shutdown()
        self._world.close()
        for topic in (self._names.joint_state, self._names.odometry, self._names.imu, self._names.efforts_received):
            self._node.unsubscribe(topic)

    def __enter__(self) -> "GazeboBridge":
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _accept_states(self) -> None:
        """Accept states from now on; the bridge's clock continues."""
        with self._news:
            self._quiet = False
            self._drives.clear_command()
            if self._world.newest is not None:
                self._take(self._world.newest)
                self._since = self.state.time

    def _recover(self) -> None:
        """Stand the robot up, with damping drives, after another program has reset the world."""
        self._log.warning("somebody has reset the world: the robot stands up again, and the drives damp until then")
        self._begin(reset=self.config.settle)

    def _begin(self, reset: bool) -> None:
        """Reset the world and stand the robot up, or take the world as it is; then accept states."""
        with self._news:
            self._quiet = True
        if reset:
            reset_and_stand_up(self._world, self._robot, self.config.timestep)
        else:
            self._world.hold()
            self._world.accept()
            self._world.find()
            self._world.first_state()
        self._accept_states()

    def _on_joints(self, message: Any) -> None:
        self._on_measurement(self._world.joints, message)

    def _on_odometry(self, message: Any) -> None:
        self._on_measurement(self._world.odometry, message)

    def _on_imu(self, message: Any) -> None:
        force = message.linear_acceleration
        with self._news:
            self._specific_force = np.array([force.x, force.y, force.z])
            self._forces.append(self._specific_force)

    def _on_measurement(self, take: Callable[[Any], Measurement | None], message: Any) -> None:
        """Read a message, which may complete a state."""
        with self._news:
            measurement = take(message)
            if measurement is None or self._quiet or self._closed:
                return
            self._take(measurement)
            if measurement.restarted:
                self._drives.clear_command()
                self._since = self.state.time

    def _take(self, measurement: Measurement) -> None:
        """Stamp a state with the bridge's clock, which advances by one step where Gazebo's goes back."""
        now = measurement.state.time + self._offset
        if self._state is not None and now <= self._state.time:
            self._offset += self._state.time + self.config.timestep - now
        self._state = replace(measurement.state, time=measurement.state.time + self._offset)

    def _answer(self) -> Array:
        """Efforts (12,) [N m] that make the drives' torques at the newest state."""
        state = self._state
        if state is not None:
            self._torques = self._drives.torques(state.joint_positions, state.joint_velocities, state.time)
        return self._torques
