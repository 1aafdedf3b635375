"""The twelve efforts on their way to Gazebo's joints."""

import time as clock

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.gazebo.names import Names
from contact_ddp_ros.gazebo.transport import Bindings, Node
from contact_ddp_ros.robot.joints import JOINT_NAMES

Array = NDArray[np.float64]

_LAST_WORDS, _BREATH = 3, 0.02
"""How often zero effort is told at the end, and the time after each, in which the transport sends it [s]."""


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
