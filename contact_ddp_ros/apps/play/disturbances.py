"""Pushes and pulls of the simulated robot, and which of them a fall may be put down to."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.apps.play.mouse import MouseSpring
from contact_ddp_ros.control.safety_violations import Fault
from contact_ddp_ros.robot.rotation import quaternion_to_rpy
from contact_ddp_ros.runs.live.commands import PushTrunk
from contact_ddp_ros.runs.live.snapshot import Spring

Array = NDArray[np.float64]

_BLAME = 1.0
"""A fall this soon after a disturbance is said together with it [s]."""


class Disturbances:
    """What people do to one simulated robot."""

    def __init__(self, simulator: Any) -> None:
        """`simulator` has what :class:`contact_ddp_ros.apps.play.mouse.MouseSpring` needs."""
        self._simulator = simulator
        self._mouse = MouseSpring(simulator)
        self._push, self._push_end = np.zeros(3), -math.inf
        self._last = ("", math.inf, -math.inf)
        """What came last, from when until when [s]."""

    def push(self, push: PushTrunk) -> str:
        """Push the trunk; what it was, for people.

        Raises:
            ParameterError: a number is not finite, or the duration is not positive.
        """
        simulator = self._simulator
        yaw = float(quaternion_to_rpy(simulator.true_state().orientation)[2])
        forward, left, up = push.force
        cos, sin = math.cos(yaw), math.sin(yaw)
        force = np.array([cos * forward - sin * left, sin * forward + cos * left, up])
        simulator.push(force, push.duration)
        self._push, self._push_end = force, simulator.time + push.duration
        text = f"a push of {float(np.linalg.norm(force)) * push.duration:.1f} N·s"
        self._last = (text, simulator.time, self._push_end)
        return text

    def grab(self, link: str, point: Array, target: Array) -> None:
        """As :meth:`contact_ddp_ros.apps.play.mouse.MouseSpring.grab`."""
        new = self._mouse.view is None
        self._mouse.grab(link, point, target)
        if new:
            self._last = ("a pull by the mouse", self._simulator.time, math.inf)

    def release(self) -> str:
        """Let go; what it was, for people, and empty where nothing was grabbed."""
        impulse = self._mouse.release()
        if not impulse:
            return ""
        text = f"a pull of {impulse:.1f} N·s"
        self._last = (text, self._last[1], self._simulator.time)
        return text

    def act(self, dt: float) -> None:
        """Set the mouse's force for the tick of `dt` [s] that follows."""
        self._mouse.act(dt)

    @property
    def spring(self) -> Spring | None:
        """The mouse's pull now."""
        return self._mouse.view

    @property
    def force(self) -> Array:
        """(3,) push on the trunk now, in `odom` [N]."""
        return self._push if self._simulator.time < self._push_end else np.zeros(3)

    def reason(self, fault: Fault) -> str:
        """Why the robot fell: the fault, and the disturbance just before it."""
        text, begin, end = self._last
        return f"{fault}; in the second before came {text}" if begin <= fault.time <= end + _BLAME else str(fault)
