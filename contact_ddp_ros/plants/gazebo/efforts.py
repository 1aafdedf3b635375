r"""Publishers of the twelve joint efforts, and acknowledgement of their arrival in Gazebo.

Messages and requests travel to the server on connections of their own, and it takes the two in turn: a request for
steps may be carried out when some of the efforts that were sent before it still wait. Messages of one process, though,
are taken in the order in which they were sent, and a plugin of the world (TriggeredPublisher) answers one that follows
the efforts. Who has that answer may ask for steps.

External force on the trunk for a given time, through Gazebo's plugin ApplyLinkWrench.

A message of it acts for one physics step and is forgotten, so nothing goes on acting when its sender has ended.
Messages that wait for the same step add up: a force for several steps goes out as one impulse.

The joint drives that a simulator's joints lack: the law of the robot's own, with a watchdog.

Where a simulator runs by itself, efforts arrive some milliseconds after the state that they answer, and a joint whose
rotor weighs little does not bear its damping to be late: 6 ms fell the robot. So the joints of a world can carry the
damping D of the drives themselves (<damping>, which the engine integrates implicitly). Sent is then the torque without
it,

.. math:: e = \tau(q, \dot q) + D \dot q, \qquad e - D \dot q_{now} = \tau(q, \dot q) - D (\dot q_{now} - \dot q),

which is the law's torque when it comes at once, and damps with the present velocity when it comes late.
"""

import time as clock
from threading import Condition
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import GazeboError, MessageError
from contact_ddp_ros.plants.gazebo.bindings import Bindings, Node
from contact_ddp_ros.plants.gazebo.config import Names
from contact_ddp_ros.robot.joints import JOINT_NAMES
from contact_ddp_ros.robot.state import DriveGains, JointCommand
from contact_ddp_ros.robot.tree import Joint

Array = NDArray[np.float64]

_MODEL = 2
"""gz.msgs.Entity.MODEL: the wrench acts at the centre of mass of its canonical link, the trunk."""


class Push:
    """The active external force on the trunk, if any; times are those of the states [s]."""

    def __init__(self, bindings: Bindings, names: Names, node: Node) -> None:
        self._publisher = node.advertise(names.wrench, bindings.messages.EntityWrench)
        self._message = bindings.messages.EntityWrench()
        self._message.entity.name, self._message.entity.type = names.model, _MODEL
        self._force, self._end = np.zeros(3), -np.inf

    def begin(self, force: Array, end: float) -> None:
        """Set the active force (3,) in world axes [N], until `end` [s]; replaces the previous one."""
        self._force, self._end = force, end

    def act(self, now: float, timestep: float, steps: int) -> None:
        """Publish the part of the force that acts within the next `steps` physics steps of `timestep` [s]."""
        if now >= self._end:
            return
        count = min(steps, round((self._end - now) / timestep))
        force = self._message.wrench.force
        force.x, force.y, force.z = (count * self._force).tolist()
        self._publisher.publish(self._message)


def largest_effort(joint: Joint, damping: float) -> float:
    """Largest effort [N m] sent to a joint whose simulated damping is `damping` [N m s/rad]."""
    return joint.effort_limit + damping * joint.velocity_limit


class Drives:
    """Efforts from joint commands and joint states; times are those of the states [s]."""

    def __init__(self, gains: DriveGains, limits: Array, timeout: float, joint_damping: Array | float = 0.0) -> None:
        """Start without a command, damping.

        Args:
            gains: equal to the controller's.
            limits: (12,) largest efforts [N m].
            timeout: silence after which the joints damp [s].
            joint_damping: (12,) or of all, of the joints in the simulator beyond the robot's own [N m s/rad].
        """
        self.joint_damping = joint_damping
        self.gains, self.timeout = gains, timeout
        self._limits = limits
        self._damping = JointCommand.damping(len(limits))
        self._command, self._commanded = self._damping, -np.inf
        self.silent = True

    def apply(self, command: JointCommand, now: float) -> None:
        """Set the command, used from the next efforts on.

        Raises:
            MessageError: it is not finite or has another number of joints; the drives damp.
        """
        parts = [command.velocities, command.torques]
        parts += [] if command.positions is None else [command.positions]
        good = all(np.shape(part) == self._limits.shape and bool(np.isfinite(part).all()) for part in parts)
        self._command, self._commanded = command if good else self._damping, now
        self.silent = False
        if not good:
            raise MessageError(f"joint command holds {parts}; every part must be {self._limits.size} finite numbers")

    @property
    def command(self) -> JointCommand:
        """The command in effect."""
        return self._command

    def clear_command(self) -> None:
        """Discard the command: damp until the next one."""
        self._command, self._commanded = self._damping, -np.inf

    def efforts(self, positions: Array, velocities: Array, now: float) -> Array:
        """(12,) to be sent at joint positions [rad] and velocities [rad/s]: the torques without the joints' damping."""
        return self.torques(positions, velocities, now) + self.joint_damping * velocities

    def torques(self, positions: Array, velocities: Array, now: float) -> Array:
        """(12,) of the law at joint positions [rad] and velocities [rad/s], clipped [N m]."""
        if not 0.0 <= now - self._commanded <= self.timeout:
            self.clear_command()
            self.silent = True
        torques = self.gains.torques(self._command, positions, velocities)
        return np.minimum(np.maximum(torques, -self._limits), self._limits)


_LAST_WORDS, _BREATH = 3, 0.02
"""Number of times that zero effort is published at shutdown, and time after each for the transport to send it [s]."""

_KNOCK = 0.1
"""Wall-clock time after which an unacknowledged message is sent again while publishers are discovered [s]."""

_LEAD = 0.0005
"""Time by which efforts are ahead of a request for steps where nobody acknowledges them [s]."""


class Efforts:
    """Publishers of the efforts, one topic per joint, as the plugin ApplyJointForce expects."""

    def __init__(self, bindings: Bindings, names: Names, node: Node) -> None:
        double = bindings.messages.Double
        self._message = double()
        self._publishers = [node.advertise(names.effort(joint), double) for joint in JOINT_NAMES]

    def send(self, torques: Array) -> None:
        """Publish the efforts (12,) [N m]; each is applied until the next one."""
        message = self._message
        for publisher, torque in zip(self._publishers, torques.tolist(), strict=True):
            message.data = torque
            publisher.publish(message)

    def shutdown(self) -> None:
        """Publish zero effort several times, since it is not acknowledged."""
        for _ in range(_LAST_WORDS):
            self.send(np.zeros(len(self._publishers)))
            clock.sleep(_BREATH)


class Delivery:
    """Sends efforts and waits for their acknowledgement; for one thread other than the transport's."""

    def __init__(self, efforts: Efforts, bindings: Bindings, names: Names, node: Node) -> None:
        """Connect.

        Raises:
            GazeboError: the answers cannot be subscribed to.
        """
        double = bindings.messages.Double
        self._efforts = efforts
        self._sent, self._mark = node.advertise(names.efforts_sent, double), double()
        self._answers = 0
        self._answered = Condition()
        self.acknowledged = False
        """True if the world acknowledges efforts."""
        self.format = 0.0
        """Number that its acknowledgements carry."""
        if not node.subscribe(double, names.efforts_received, self._on_answer):
            raise GazeboError(f"cannot subscribe to {names.efforts_received}")

    def find(self, timeout: float) -> bool:
        """Send probes until the server acknowledges one, for up to `timeout` [s]; return whether it did."""
        deadline = clock.monotonic() + timeout
        self.acknowledged = False
        while not self.acknowledged and clock.monotonic() < deadline:
            self.acknowledged = self._ask(_KNOCK)
        return self.acknowledged

    def deliver(self, torques: Array, timeout: float) -> None:
        """Publish the efforts (12,) [N m] and wait until the server acknowledges them.

        Raises:
            GazeboError: it does not answer within `timeout` [s], although it has before.
        """
        self._efforts.send(torques)
        if not self.acknowledged:
            clock.sleep(_LEAD)
        elif not self._ask(timeout):
            raise GazeboError(f"Gazebo has not acknowledged efforts for {timeout:g} s; has the server ended?")

    def _ask(self, timeout: float) -> bool:
        with self._answered:
            before = self._answers
        self._sent.publish(self._mark)
        with self._answered:
            return self._answered.wait_for(lambda: self._answers > before, timeout)

    def _on_answer(self, message: Any) -> None:
        with self._answered:
            self.format = message.data
            self._answers += 1
            self._answered.notify_all()
