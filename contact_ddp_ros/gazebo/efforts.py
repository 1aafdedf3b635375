"""The twelve efforts on their way to Gazebo's joints, and how it is known that they have arrived.

Messages and requests travel to the server on connections of their own, and it takes the two in turn: a request for
steps may be carried out when some of the efforts that were sent before it still wait. Messages of one process, though,
are taken in the order in which they were sent, and a plugin of the world (TriggeredPublisher) answers one that follows
the efforts. Who has that answer may ask for steps.
"""

import time as clock
from threading import Condition
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.errors import GazeboError
from contact_ddp_ros.gazebo.names import Names
from contact_ddp_ros.gazebo.transport import Bindings, Node
from contact_ddp_ros.robot.joints import JOINT_NAMES

Array = NDArray[np.float64]

_LAST_WORDS, _BREATH = 3, 0.02
"""How often zero effort is told at the end, and the time after each, in which the transport sends it [s]."""

_KNOCK = 0.1
"""Wall-clock time after which a message that nobody has acknowledged is sent again, while publishers are found [s]."""

_LEAD = 0.0005
"""Time by which efforts are ahead of a request for steps where nobody acknowledges them [s]."""


class Efforts:
    """Publishers of the efforts, joint by joint as ApplyJointForce wants them."""

    def __init__(self, bindings: Bindings, names: Names, node: Node) -> None:
        double = bindings.messages.Double
        self._message = double()
        self._publishers = [node.advertise(names.effort(joint), double) for joint in JOINT_NAMES]

    def send(self, torques: Array) -> None:
        """Tell every joint its torque (12,) [N m]; it holds until the next is told."""
        message = self._message
        for publisher, torque in zip(self._publishers, torques.tolist(), strict=True):
            message.data = torque
            publisher.publish(message)

    def end(self) -> None:
        """Tell every joint zero effort, several times: nobody acknowledges."""
        for _ in range(_LAST_WORDS):
            self.send(np.zeros(len(self._publishers)))
            clock.sleep(_BREATH)


class Delivery:
    """Efforts that are known to have arrived; for one thread, which is not the transport's."""

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
        """Whether the world answers."""
        self.format = 0.0
        """With which number it does."""
        if not node.subscribe(double, names.efforts_received, self._on_answer):
            raise GazeboError(f"cannot subscribe to {names.efforts_received}")

    def find(self, timeout: float) -> bool:
        """Try until the server answers, or for `timeout` [s]; whether it does."""
        deadline = clock.monotonic() + timeout
        self.acknowledged = False
        while not self.acknowledged and clock.monotonic() < deadline:
            self.acknowledged = self._ask(_KNOCK)
        return self.acknowledged

    def deliver(self, torques: Array, timeout: float) -> None:
        """Tell every joint its torque (12,) [N m], and return when the server has all of them.

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
