"""External force on the trunk for a given time, through Gazebo's plugin ApplyLinkWrench.

A message of it acts for one physics step and is forgotten, so nothing goes on acting when its sender has ended.
Messages that wait for the same step add up: a force for several steps goes out as one impulse.
"""

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.plants.gazebo.bindings import Bindings, Node
from contact_ddp_ros.plants.gazebo.names import Names

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
