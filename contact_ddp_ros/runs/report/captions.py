"""Captions of a film beside the robot: time, speed, phase, and the ghost of its plan."""

import math

import numpy as np

from contact_ddp_ros.robot.model import load_robot
from contact_ddp_ros.robot.policy_kinematics import PolicyPoses
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.runs.motions.result import MotionResult
from contact_ddp_ros.runs.recording import analysis, cycles
from contact_ddp_ros.runs.recording.plans import kept_at, states_at
from contact_ddp_ros.runs.recording.record import CONTROL_MODES
from contact_ddp_ros.runs.recording.recording import Recording
from contact_ddp_ros.runs.report.titles import gait_name


class Captions:
    """Captions of the ticks of a recording."""

    def __init__(self, recording: Recording) -> None:
        """Works out what all pictures need; loads the robot where plans were kept."""
        ticks, period = recording.ticks, recording.info.control_period
        self._motion = MotionResult(recording) if recording.motion else None
        self._recording = recording
        self._speed = analysis.held_mean(recording.heading_velocity[:, 0], analysis.gait_period(recording), period)
        self._phase = cycles.phase(recording)
        self._gait = gait_name(recording)
        shown = recording.plans if PolicyPoses.knows(recording.info.plan_coordinates) else {}
        self._planned = PolicyPoses(load_robot(recording.info.options.get("robot"))) if shown else None
        self._plans = kept_at(shown, ticks["time"])
        self._states = states_at(shown, ticks["time"])

    def ghost(self, row: int) -> RobotState | None:
        """Pose of the robot at a tick in the newest kept plan; None where none covers it."""
        if self._motion is not None:
            return self._motion.ghost(row)
        if self._planned is None or self._plans[row] < 0 or not np.isfinite(self._states[row]).all():
            return None
        return self._planned.state(self._states[row], self._recording.state(row))

    def lines(self, row: int) -> dict[str, str]:
        """Names and values; what nobody knows is left out."""
        if self._motion is not None:
            return self._motion.caption(row)
        recording, ticks = self._recording, self._recording.ticks
        time, command = float(ticks["time"][row]), float(ticks["commanded_speed"][row])
        found = {"time": f"{time:.2f} s", "speed": f"{self._speed[row]:.2f} m/s"}
        if math.isfinite(command):
            found["speed"] += f", asked for {command:.2f}"
        if math.isfinite(self._phase[row]):
            mode = int(ticks["mode"][row])
            name = recording.info.mode_names[mode].replace("_", " ") if mode >= 0 else ""
            found[self._gait] = f"{100.0 * self._phase[row]:.0f} % {name}".strip()
        elif ticks["control_mode"][row] >= 0:
            found["mode"] = CONTROL_MODES[ticks["control_mode"][row]]
        if self._plans[row] >= 0:
            age = time - float(recording.plans["times"][self._plans[row], 0])
            found["ghost"] = f"plan of {max(age, 0.0):.2f} s ago"
        return found
