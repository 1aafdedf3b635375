"""The spring between the mouse and the robot: f = k (target − place) − d v at the point that was grabbed, limited."""

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.runs.live.snapshot import Spring

Array = NDArray[np.float64]

STIFFNESS: Final = 300.0
"""Stiffness of the spring [N/m]."""

DAMPING: Final = 10.0
"""Against the velocity of the point that was grabbed [N s/m]."""

LARGEST_FORCE: Final = 120.0
"""Above the robot's weight [N]."""


class MouseSpring:
    """Pulls a link of the simulated robot, where the simulator can: MuJoCo's does."""

    def __init__(self, simulator: Any) -> None:
        """`simulator` has `pull` and `point_motion` as :class:`contact_ddp_ros.plants.mujoco.MujocoSimulator`."""
        self._simulator = simulator
        self._grip: tuple[str, Array] | None = None
        self._target = np.zeros(3)
        self._impulse = 0.0
        self._force = np.zeros(3)

    def grab(self, link: str, point: Array, target: Array) -> None:
        """Pull a point (3,) of a link, in its axes [m], towards a target (3,) in `odom` [m], from the next tick on.

        Raises:
            ParameterError: there is no such link, or a number is not finite.
        """
        self._simulator.pull(link, point, 0.0 * target)
        if self._grip is None:
            self._impulse = 0.0
        self._grip, self._target = (link, point), target

    def release(self) -> float:
        """Let go; the impulse since it was grabbed [N s], 0 where nothing was."""
        if self._grip is None:
            return 0.0
        link, point = self._grip
        self._grip, self._force = None, np.zeros(3)
        self._simulator.pull(link, point, np.zeros(3))
        return self._impulse

    def act(self, dt: float) -> None:
        """Set the force for the tick of `dt` [s] that follows."""
        if self._grip is None:
            return
        link, point = self._grip
        place, velocity = self._simulator.point_motion(link, point)
        force = STIFFNESS * (self._target - place) - DAMPING * velocity
        size = math.sqrt(float(force @ force))
        self._force = force * min(1.0, LARGEST_FORCE / size) if size > 0.0 else force
        self._impulse += float(np.linalg.norm(self._force)) * dt
        self._simulator.pull(link, point, self._force)

    @property
    def view(self) -> Spring | None:
        """Geometry to draw."""
        if self._grip is None:
            return None
        place, _ = self._simulator.point_motion(*self._grip)
        return Spring(place, self._target, self._force, self._impulse)
