"""Figures of an executed motion, from its recording."""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import RecordingError
from contact_ddp_ros.control.motion_controller import MotionStage, model_for, turning_index
from contact_ddp_ros.control.turning import follower_of
from contact_ddp_ros.robot.joint_pd import MotorConfig, TorqueSpeedCurve
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel
from contact_ddp_ros.robot.motion import MotionPhase, MotionSpec
from contact_ddp_ros.robot.rotation import quaternion_to_rpy
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.runs.recording import FALL_HEIGHT, Recording

Array = NDArray[np.float64]

STAGES: Final = tuple(MotionStage)
"""Stages of a motion; a recording stores the index."""

LANDED = "landed and stands"

_FOLLOWING = (MotionStage.TAKE_OFF, MotionStage.FLIGHT, MotionStage.STRIDE, MotionStage.LANDING)

_REST_SPEED, _REST_RATE, _REST_TILT, _REST_TIME = 0.2, 1.0, 0.25, 0.2
"""A trunk slower than this [m/s, rad/s] and no more tilted [rad] for so long [s] stands."""

_PLACE, _ROTATION = 0.2, 0.3
"""Tolerances of the end about the wanted one [m, rad]."""

FIGURES: Final = (
    *("landed", "outcome", "height", "displacement", "left", "rotation", "lowest"),
    *("torque_share", "torque_excess", "speed_share", "overspeed", "touchdowns", "flight_speed", "time_to_stand"),
)
"""Properties of a result that are its summary."""


def motion_spec(content: Mapping[str, Any]) -> MotionSpec:
    """The motion from its plain data, which the options of a recording have."""
    phases = tuple(MotionPhase(tuple(one["feet"]), one["duration"]) for one in content["phases"])
    start = {leg: tuple(joints) for leg, joints in content["start"].items()}
    return MotionSpec(**{**content, "phases": phases, "start": start})


class MotionResult:
    """View of a motion's recording, a row per control tick; SI units, true values.

    Attributes:
        recording: of the run. task: the motion. model: of its plan. turning: index of the coordinate that turns.
        times: (N,). torques: (N, 12) applied. forces: (N, 4, 3) of the ground on the feet.
        planned: (N, n_x) the policy's state. stages: N of them.
        begun: when the motion began.
        reason: of the fault that ended it; empty where there is none.
    """

    def __init__(self, recording: Recording) -> None:
        """Loads the robot of the recording.

        Raises:
            RecordingError: it is of no motion.
            ContactDdpError: the robot cannot be loaded here.
        """
        if not recording.motion:
            raise RecordingError(f"the recording is of the job {recording.info.job}, not of a motion")
        options = recording.info.options
        self.recording, self.task = recording, motion_spec(options["motion"])
        self.model = model_for(self.task, load_robot(options["robot"]))
        self.turning = turning_index(self.model)
        self.times: Array = recording.ticks["time"]
        self.torques: Array = recording.ticks["torques"]
        self.forces: Array = recording.ticks["contact_forces"]
        self.planned: Array = recording.motion["planned"]
        self.stages = tuple(STAGES[index] for index in recording.motion["stage"])
        self.begun = float(recording.solves["time"][0])
        self.reason = next((event.text for event in recording.events if event.fault), "")

    @cached_property
    def states(self) -> tuple[RobotState, ...]:
        """The robot's N true states."""
        return tuple(self.recording.state(row, true=True) for row in range(len(self.times)))

    @cached_property
    def coordinates(self) -> Array:
        """(N, n_x) coordinates of the plan's model: rotations unwrapped, position relative to the start."""
        follower = follower_of(self.model, self.states[0], self.task.start_turn)
        return np.array([follower.state(state) for state in self.states])

    @cached_property
    def moving(self) -> NDArray[np.bool_]:
        """(N,) True at the ticks that follow the policy."""
        return np.array([stage in _FOLLOWING for stage in self.stages])

    @property
    def touchdowns(self) -> tuple[float, ...]:
        """Times of the detected touchdowns, one for each flight that ended [s]."""
        landed = (MotionStage.STRIDE, MotionStage.LANDING)
        pairs = zip(self.stages, self.stages[1:], self.times[1:].tolist())
        return tuple(time for before, now, time in pairs if before is MotionStage.FLIGHT and now in landed)

    @property
    def landed(self) -> bool:
        """True if the motion ended in a stand at its goal, with its whole rotation and without a fall."""
        return self.outcome == LANDED

    @property
    def outcome(self) -> str:
        """Text of the verdict: landed, fell, not at rest, or not at the goal."""
        task = self.task
        if self.fell:
            return f"fell{': ' * bool(self.reason)}{self.reason}"
        if not math.isfinite(self.stood):
            return "did not come to rest"
        away = max(abs(self.displacement - task.displacement), abs(self.left - task.left))
        if abs(self.rotation - task.turns) > _ROTATION or away > _PLACE:
            return "stands, but not where it should"
        return LANDED

    @property
    def fell(self) -> bool:
        """True if the trunk came down, or a fault ended the motion."""
        return bool(self.reason) or self.lowest < FALL_HEIGHT

    @property
    def heights(self) -> Array:
        """(N,) height of the trunk's origin [m]."""
        return self.coordinates[:, self.model.height]

    @property
    def height(self) -> float:
        """Largest rise of the trunk above its initial height [m]."""
        return float((self.heights - self.heights[0]).max())

    @property
    def displacement(self) -> float:
        """Displacement of the trunk along the heading of the start, at the end [m]."""
        return float(self.coordinates[-1, 0])

    @property
    def left(self) -> float:
        """Displacement of the trunk to the left, at the end [m]; a planar plan does not know."""
        return float(self.coordinates[-1, 1]) if self.model.height > 1 else 0.0

    @property
    def rotation(self) -> float:
        """Rotation of the trunk about the axis that the motion turns about, at the end [rad]."""
        return float(self.coordinates[-1, self.turning]) - self.task.start_turn

    @property
    def torque_share(self) -> float:
        """Largest applied torque over the actuator's limit."""
        return float((np.abs(self.torques) / self.model.robot.effort_limits).max())

    @property
    def speed_share(self) -> float:
        """Largest joint speed over its limit."""
        return float(self._speeds.max())

    @property
    def overspeed(self) -> float:
        """Longest time for which a joint was faster than its limit without a break [s]."""
        fast = np.pad(self._speeds > 1.0, ((1, 1), (0, 0))).T.astype(int)
        begins, ends = (np.argwhere(np.diff(fast, axis=1) == step)[:, 1] for step in (1, -1))
        return float((ends - begins).max(initial=0) * self.recording.info.control_period)

    @cached_property
    def velocities(self) -> Array:
        """(N, 12) true velocities of the joints [rad/s]."""
        return np.array([state.joint_velocities for state in self.states])

    @property
    def _speeds(self) -> Array:
        """(N, 12) of the joints over their limits."""
        return np.abs(self.velocities) / self.model.robot.velocity_limits

    @property
    def torque_excess(self) -> float:
        """Largest excess of a torque over the torque-speed curve [N m].

        The command keeps within it at the measured speed; the drives go on to the next command, as the speed changes.
        """
        motor = (self.recording.info.parameters or {})["controller"]
        config = MotorConfig(motor["motor.full_speed"], motor["motor.idle_speed"])
        curve = TorqueSpeedCurve.of(self.model.robot.velocity_limits, config)
        left = np.clip((curve.idle - np.abs(self.velocities)) / (curve.idle - curve.full), 0.0, 1.0)
        driving = self.torques * self.velocities > 0.0
        available = self.model.robot.effort_limits * np.where(driving, left, 1.0)
        return max(0.0, float((np.abs(self.torques) - available).max()))

    @property
    def lowest(self) -> float:
        """Least height of the trunk's origin above the ground [m]; of a robot that lies, from the first take-off on."""
        task = self.task
        begin = self.begun + task.flights[0][0] if task.start else 0.0
        ground = np.where(self.coordinates[:, 0] > task.edge, task.rise, 0.0)
        return float((self.heights - ground)[self.times >= begin].min())

    @property
    def touchdown(self) -> float:
        """Time of the touchdown after the last flight [s]; NaN without one."""
        return self.touchdowns[-1] if len(self.touchdowns) == len(self.task.flights) else math.nan

    @property
    def delays(self) -> Array:
        """(n,) delays of the touchdowns behind the plan, each relative to the touchdown before [s]."""
        planned = [0.0, *(end for _, end in self.task.flights[: len(self.touchdowns)])]
        return np.diff([self.begun, *self.touchdowns]) - np.diff(planned)

    @property
    def flight_speed(self) -> float:
        """Mean speed of the trunk along the heading of the start over the longest flight [m/s]; NaN without one."""
        task = self.task
        index = task.flights.index(task.flight)
        if index >= len(self.touchdowns):
            return math.nan
        end = self.touchdowns[index]
        begin = end - self.delays[index] - (task.flight[1] - task.flight[0])
        rows = np.searchsorted(self.times, [begin - 1e-9, end - 1e-9])
        return float(np.diff(self.coordinates[rows, 0])[0] / np.diff(self.times[rows])[0])

    @property
    def time_to_stand(self) -> float:
        """Time from the last touchdown to rest [s]."""
        return self.stood - self.touchdown

    @cached_property
    def stood(self) -> float:
        """Time from which the trunk stayed upright and at rest [s]; NaN without one."""
        still = np.array(
            [
                np.abs(state.linear_velocity).max() < _REST_SPEED
                and np.abs(state.angular_velocity).max() < _REST_RATE
                and np.abs(quaternion_to_rpy(state.orientation)[:2]).max() < _REST_TILT
                for state in self.states
            ]
        )
        moving = np.flatnonzero(~still)
        begin = self.times[moving[-1] + 1] if moving.size and moving[-1] + 1 < len(self.times) else math.nan
        return float(begin) if begin >= self.touchdown and self.times[-1] - begin >= _REST_TIME else math.nan

    def ghost(self, row: int) -> RobotState | None:
        """The planned robot at a tick, along the line on which the motion began; None where no policy is followed."""
        if not self.moving[row]:
            return None
        start, x = self.states[int(np.searchsorted(self.times, self.begun - 1e-9))], self.planned[row]
        if isinstance(self.model, WholeBodyModel):
            yaw = float(quaternion_to_rpy(start.orientation)[2])
            return self.model.robot_state(self.model.frame(start, yaw).out_of(x), start)
        planned = self.model.robot_state(x, start)
        return replace(planned, position=planned.position + np.array([start.position[0], 0.0, 0.0]))

    def caption(self, row: int) -> dict[str, str]:
        """Names and values at a tick, for a film."""
        return {
            "stage": self.stages[row].value.replace("_", " "),
            "time": f"{self.times[row] - self.begun:.2f} s",
            "height": f"{self.heights[row]:.2f} m",
            "roll" if self.task.roll else "pitch": f"{math.degrees(self.coordinates[row, self.turning]):.0f} deg",
        }

    def figures(self) -> dict[str, Any]:
        """The figures by name."""
        return {name: getattr(self, name) for name in FIGURES}
