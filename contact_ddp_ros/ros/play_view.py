"""Snapshots for the live page from the topics of running nodes."""

import contextlib
import math
import time as clock
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ContactDdpError
from contact_ddp_ros.robot.joints import FOOT_NAMES
from contact_ddp_ros.robot.policy import Policy
from contact_ddp_ros.robot.rotation import quaternion_to_matrix, quaternion_to_rpy
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.ros import interfaces as io
from contact_ddp_ros.ros.conversions import contacts, robot_state
from contact_ddp_ros.ros.estimate_messages import FeltReport, felt_report
from contact_ddp_ros.ros.policy_message import policy_answer
from contact_ddp_ros.ros.receiver import Receiver
from contact_ddp_ros.ros.reports import ERROR, status_values, tick_records
from contact_ddp_ros.runs.live.commands import Drive
from contact_ddp_ros.runs.live.snapshot import Snapshot, Solve, Touch, plan_of

Array = NDArray[np.float64]

_AVERAGED = 0.36
"""Time constant of the shown speed: about a gait cycle [s]."""

_FRESH = 0.3
"""Contact forces, and what is felt, are not shown where they are older than this [s]."""

_EARLY = 0.1
"""A policy that begins this much later is about to be followed [s]."""

_KEPT = 1000
"""Solves that wait for a snapshot."""


class View:
    """Newest messages of the topics."""

    def __init__(self) -> None:
        self.paused = False
        self._joints: Any = None
        self._odometry: Any = None
        self._policy: Policy | None = None
        self._contacts: tuple[bool, ...] = (True,) * len(FOOT_NAMES)
        self._forces: Array | None = None
        self._forces_at = -math.inf
        self._felt: FeltReport | None = None
        self._factor = math.nan
        self._mode, self._fault = "damp", ""
        self._speed, self._speed_at = 0.0, math.nan
        self._solves: list[Solve] = []
        self._cut = ""
        self._late = self._total = 0

    def subscribe(self, inlet: Receiver) -> None:
        """Listen to what there is; of all but events and solves only the newest message counts, and none is waited for.

        A damaged message is left out: the node that needs it refuses it, and says so.
        """

        def undamaged(take: Any) -> Any:
            def guarded(message: Any) -> None:
                with contextlib.suppress(ContactDdpError):
                    take(message)

            return guarded

        for topic, take in (
            (io.ODOM, self._take_odometry),
            (io.JOINT_STATES, self._take_joints),
            (io.POLICY, self._take_policy),
            (io.CONTACTS, self._take_contacts),
            (io.RECORD, self._take_record),
            (io.REAL_TIME_FACTOR, self._take_factor),
            (io.FELT, self._take_felt),
        ):
            inlet.subscribe(topic, undamaged(take), reliable=topic is io.CONTACTS, depth=1)
        inlet.subscribe(io.CONTROLLER_EVENTS, self._take_event)
        inlet.subscribe(io.SOLVES, self._take_solve)

    def pause(self, paused: bool) -> None:
        """Note that time stands or runs."""
        self.paused = paused

    def _take_odometry(self, message: Any) -> None:
        self._odometry = message

    def _take_joints(self, message: Any) -> None:
        self._joints = message

    def _take_policy(self, message: Any) -> None:
        answer = policy_answer(message)
        self._policy = answer.policy or self._policy

    def _take_contacts(self, message: Any) -> None:
        self._contacts = contacts(message)

    def _take_record(self, message: Any) -> None:
        record = tick_records(message)[-1]
        self._forces, self._forces_at = record.contact_forces, clock.monotonic()

    def _take_felt(self, message: Any) -> None:
        self._felt = felt_report(message)

    def _take_factor(self, message: Any) -> None:
        self._factor = float(message.data)

    def _take_event(self, message: DiagnosticStatus) -> None:
        self._mode = status_values(message).get("mode", self._mode)
        if message.level == ERROR:
            self._fault = message.message
        elif self._mode != "damp":
            self._fault = ""

    def _take_solve(self, message: DiagnosticStatus) -> None:
        values = status_values(message)
        late = values["deadline_missed"] == "True"
        self._late, self._total = self._late + late, self._total + 1
        numbers = {name: float(values[name]) for name in ("time", "solve_ms", "theta", "cost")}
        self._solves.append(Solve(iterations=int(values["iterations"]), terms=(), late=late, **numbers))
        del self._solves[:-_KEPT]
        self._cut = values.get("cut", "")

    def state(self) -> RobotState | None:
        """The newest state; None before the first, or where the last one is damaged."""
        if self._joints is None or self._odometry is None:
            return None
        with contextlib.suppress(ContactDdpError):
            return robot_state(self._joints, self._odometry)
        return None

    def snapshot(self, state: RobotState, drive: Drive) -> Snapshot:
        """Everything at a state, for the motion that is commanded."""
        rpy = np.array(quaternion_to_rpy(state.orientation))
        velocity = quaternion_to_matrix(state.orientation) @ state.linear_velocity
        ahead = math.cos(rpy[2]) * velocity[0] + math.sin(rpy[2]) * velocity[1]
        passed = state.time - self._speed_at
        share = min(max(passed / _AVERAGED, 0.0), 1.0) if passed > 0.0 else 1.0
        self._speed, self._speed_at = self._speed + share * (ahead - self._speed), state.time
        policy = self._policy
        covered = policy is not None and policy.start - _EARLY <= state.time <= policy.end and self._mode == "move"
        followed = policy if covered else None
        solves, self._solves = tuple(self._solves), []
        felt = self._felt
        if felt is not None and abs(1e-9 * felt.stamp - state.time) > _FRESH:
            felt = None
        return Snapshot(
            state=state,
            mode=self._mode,
            waiting="",
            fall=self._fault if self._mode == "damp" else "",
            drive=drive,
            cut=self._cut if self._mode == "move" else "",
            speed=self._speed,
            rpy=rpy,
            plan=None if followed is None else plan_of(followed),
            planned_contacts=self._contacts,
            touch=None if felt is None else Touch(tuple(felt.contacts), felt.ground, felt.footholds),
            contact_forces=self._contact_forces(felt),
            planned_forces=None if followed is None else followed.sample(state.time).forces,
            push=np.zeros(3),
            spring=None,
            solves=solves,
            solves_late=self._late,
            solves_total=self._total,
            real_time_factor=self._factor,
            pace=1.0,
            paused=self.paused,
            world=1,
        )

    def _contact_forces(self, felt: FeltReport | None) -> Array | None:
        """(4, 3) as a simulator measures them, else as the controller feels them; None where neither is known."""
        if clock.monotonic() - self._forces_at < _FRESH:
            return self._forces
        return None if felt is None else felt.forces
