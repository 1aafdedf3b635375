"""All that is felt, from states and joint torques: foot forces, contact, ground, payload, drives."""

import math
from collections import deque
from collections.abc import Sequence

import numba as nb
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.control.estimation.config import EstimationConfig
from contact_ddp_ros.control.estimation.ground import ContactEstimate, FootHeightEstimate, GroundEstimate
from contact_ddp_ros.control.estimation.momentum import MomentumObserver, SwingCollisionDetector
from contact_ddp_ros.control.estimation.payload import PayloadEstimate
from contact_ddp_ros.control.estimation.reflected_inertia import DriveInertiaEstimate
from contact_ddp_ros.robot.ground import FootHeights, Ground, Payload
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.rotation import COMPILED, FLAGS, READ, READ_2D, up_in_body
from contact_ddp_ros.robot.state import DriveGains, JointCommand, RobotState

Array = NDArray[np.float64]

_SLOW = 0.5
"""Mean speed since it was felt up to which a foot shows where the ground is while the plan has it in the air [m/s].

What is felt of a foot that swings on is an error of the torques, as of drives that act late.
"""

_ROUNDING = 1e-9
"""Tolerance of times [s]."""


class Estimator:
    """Contact, terrain and load estimator of one robot; keeps what it needs from one state to the next."""

    def __init__(self, robot: Robot, config: EstimationConfig) -> None:
        """Begin with nothing felt."""
        n_feet = len(robot.tree.contacts)
        self.config = config
        self._observer = MomentumObserver(robot)
        self._limits = robot.effort_limits
        self.contacts = ContactEstimate(n_feet)
        self._ground = GroundEstimate(n_feet)
        self._heights = FootHeightEstimate(n_feet)
        self._met = np.zeros((n_feet, 3))
        """Places where the feet's contact began, or where the feet are, (n_feet, 3) in `odom` [m]."""
        self._stumble = SwingCollisionDetector(n_feet)
        self._payload = PayloadEstimate(robot)
        self._drives = DriveInertiaEstimate(n_feet)
        self._last: RobotState | None = None
        self._commands: deque[tuple[float, JointCommand]] = deque()
        """Commands that the drives have, or will have, and from when on [s]."""
        self._asked: deque[tuple[float, Array]] = deque()
        """Times [s] and torques (12,) of the drives that have not all acted yet [N m]."""

    @property
    def ground(self) -> Ground | None:
        """The ground that is felt; None before there is one, or where it is not asked for."""
        return self._ground.ground if self.config.ground else None

    @property
    def roughness(self) -> float:
        """Roughness of the ground about that plane, by footholds and stumbles [m]; 0 without a ground."""
        return max(self._ground.roughness, self._stumble.roughness(self.config)) if self.ground is not None else 0.0

    @property
    def feet(self) -> FootHeights | None:
        """The ground under single feet above that; None where there is none, or where it is not asked for."""
        ground = self.ground
        if ground is None or not self.config.feet:
            return None
        return self._heights.heights(ground, self._ground.footholds, self.config)

    @property
    def payload(self) -> Payload | None:
        """Estimated payload on the trunk by the weight on the feet; None where it is not asked for."""
        return self._payload.payload(self.config) if self.config.payload else None

    @property
    def drive_inertia(self) -> float | None:
        """Estimated inertia of each drive beside the armature [kg m²]; None where it is not looked for."""
        return self._drives.inertia(self.config) if self.config.drives else None

    @property
    def footholds(self) -> Array:
        """(N, 3) where feet have stood, in `odom` [m]."""
        return self._ground.footholds

    @property
    def forces(self) -> Array:
        """(n_feet, 3) of the ground on the feet, in `odom` axes [N]."""
        return self._observer.forces

    @property
    def points(self) -> Array:
        """(n_feet, 3) lowest points of the feet in `odom` [m]."""
        return self._observer.points

    def forget(self) -> None:
        """Begin anew: the robot or its clock has been put somewhere else."""
        self._observer.forget()
        self._ground.forget()
        self._heights.forget()
        self._stumble.forget()
        self._payload.forget()
        self._drives.forget()
        self._commands.clear()
        self._asked.clear()
        self._last = None

    def update(
        self,
        state: RobotState,
        command: JointCommand,
        gains: DriveGains,
        scheduled: Sequence[bool],
        drive_delay: float = 0.0,
        on_its_feet: bool = True,
        reached: float | None = None,
    ) -> None:
        """Take in a checked state, the last command, and the feet that are to stand, (n_feet,) bool.

        The command reaches the drives at the time `reached` [s], by default that of the last state.

        Torques act `drive_delay` [s] after the drives have computed them. A robot is weighed while it is `on_its_feet`.
        """
        last, self._last = self._last, state
        before = state if last is None else last
        self._commands.append((before.time if reached is None else reached, command))
        if last is not None and state.time == last.time:
            return
        positions = 0.5 * (before.joint_positions + state.joint_positions)
        velocities = 0.5 * (before.joint_velocities + state.joint_velocities)
        middle = 0.5 * (before.time + state.time)
        while len(self._commands) > 1 and self._commands[1][0] <= middle:
            self._commands.popleft()
        held = self._commands[0][1]
        torques = gains.torques(held, positions, velocities)
        torques = np.minimum(np.maximum(torques, -self._limits), self._limits)
        self._asked.append((state.time, torques))
        while len(self._asked) > 1 and self._asked[1][0] <= state.time - drive_delay + _ROUNDING:
            self._asked.popleft()
        self._observer.update(state, self._asked[0][1], self.config.observer_rate)
        if on_its_feet:
            self._payload.update(state.time, self._observer.wrench, up_in_body(state.orientation), self.config)
        time, position, points, forces = state.time, state.position, self.points, self.forces
        planned = np.array(scheduled)
        self.contacts.update(time, forces[:, 2], planned, self.config)
        moments, odds = self._observer.moments, self.contacts.odds
        self._drives.update(time, moments, state.joint_velocities, odds, self.config)
        contact = self.contacts.contact
        settled, seen, swinging = _sort(
            time, points, planned, contact, self.contacts.since, self._met, self.config.settle_time
        )
        self._ground.update(time, position, points, contact, settled, self.config)
        self._heights.update(points, seen)
        knees, driven = self._observer.knees, self._observer.driven
        self._stumble.update(time, position, points, knees, forces, driven, swinging, self.config)


@njit(nb.types.UniTuple(FLAGS, 3)(nb.float64, READ_2D, FLAGS, FLAGS, READ, nb.float64[:, ::1], nb.float64), **COMPILED)
def _sort(time, points, planned, contact, since, met, settle_time):  # type: ignore[no-untyped-def]
    """Feet (n,) that show where the ground is by now, that show it, and that are in the air; `met` is updated."""
    settled, seen, swinging = np.empty_like(contact), np.empty_like(contact), np.empty_like(contact)
    for foot in range(len(contact)):
        age = time - since[foot]
        if not (contact[foot] and age > 0.0):
            met[foot] = points[foot]
        x, y, z = points[foot] - met[foot]
        seen[foot] = contact[foot] and (planned[foot] or math.sqrt(x * x + y * y + z * z) <= _SLOW * age)
        settled[foot] = seen[foot] and age >= settle_time
        swinging[foot] = not (contact[foot] or planned[foot])
    return settled, seen, swinging
