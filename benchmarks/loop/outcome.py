"""What became of one closed loop: run it and judge the recording.

A push is judged two seconds after its end, over one gait cycle: straight again means |roll| below 0.1 rad throughout,
the mean sideways velocity below 0.05 m/s and the mean heading within 0.1 rad of that of the cycle before the push.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.loop.cases import CYCLE, RECOVERY, Case
from benchmarks.loop.harness import PlannerProxy, Proxy, advance, loop_with
from contact_ddp_ros.base.errors import ContactDdpError
from contact_ddp_ros.plants.pushes import Push
from contact_ddp_ros.runs.recording import Recording
from contact_ddp_ros.runs.recording.record import CONTROL_MODES
from contact_ddp_ros.runs.report.summary import Summary, summarise

ROLL_BAND, LATERAL_BAND, YAW_BAND = 0.1, 0.05, 0.1
"""Within which a pushed robot is straight again [rad, m/s, rad]."""


@dataclass(frozen=True)
class Straightness:
    """Of a cycle that begins RECOVERY after a push: |roll| at most, mean sideways velocity, change of mean heading."""

    roll: float
    lateral_velocity: float
    yaw: float

    @property
    def straight(self) -> bool:
        """Whether all lie within their bands; False for numbers that are not finite."""
        return abs(self.roll) < ROLL_BAND and abs(self.lateral_velocity) < LATERAL_BAND and abs(self.yaw) < YAW_BAND


@dataclass(frozen=True)
class Outcome:
    """Figures of one run, SI units.

    Attributes:
        group, name: of the run.
        fell, fall: whether, and when and by which sign.
        failed: why the run ended in an error; empty where it did not.
        stood: whether it stood at the end where it had to.
        speed_error: largest |mean − commanded speed| over the stretches of constant command [m/s].
        commanded_speed: at the end of the run.
        roll_max, pitch_max, yaw_drift: as the summary of a run defines them [rad].
        touchdown_error, touchdown_height: largest in any plan, and as measured at scheduled touchdowns [m].
        torque_saturation, friction_violation: shares of ticks.
        pushed_pitch: largest magnitude from a push on [rad].
        straightness: after a push; None without one.
        solves_failed: number of solves without a policy.
    """

    group: str
    name: str
    fell: bool = True
    fall: str = ""
    failed: str = ""
    stood: bool = True
    speed_error: float = float("nan")
    commanded_speed: float = float("nan")
    roll_max: float = float("nan")
    pitch_max: float = float("nan")
    yaw_drift: float = float("nan")
    touchdown_error: float = float("nan")
    touchdown_height: float = float("nan")
    torque_saturation: float = float("nan")
    friction_violation: float = float("nan")
    pushed_pitch: float = float("nan")
    straightness: Straightness | None = None
    solves_failed: int = 0

    @property
    def survived(self) -> bool:
        """Neither fell nor failed, and stood where it had to."""
        return not self.fell and not self.failed and self.stood

    @property
    def straight(self) -> bool | None:
        """Whether it was straight again after a push; None without one."""
        return None if self.straightness is None else self.survived and self.straightness.straight


def run(case: Case) -> Outcome:
    """Run a closed loop to its end, whatever happens on the way."""
    return run_with(PlannerProxy, case, past_faults=True)[0]


def run_with(
    proxy_of: Callable[[Any], Proxy], case: Case, *, past_faults: bool = False
) -> tuple[Outcome, Proxy | None]:
    """Run a closed loop with a proxy of the planner to its end or, unless it goes on past faults, to the first one.

    An error of the run is a failure of the robot, not of the benchmark; then there may be no proxy.
    """
    try:
        loop, proxy = loop_with(case.options, proxy_of)
        advance(loop, case.options.duration, past_faults=past_faults)
    except ContactDdpError as error:
        return Outcome(case.group, case.name, failed=str(error)), None
    return judge(case, loop.recorder.finish()), proxy


def judge(case: Case, recording: Recording) -> Outcome:
    """The outcome that a recording shows."""
    summary = summarise(recording)
    modes = recording.ticks["control_mode"]
    stood = case.options.stop_time is None or bool(modes[-1] == CONTROL_MODES.index("stand"))
    pushed = case.options.pushes
    return Outcome(
        group=case.group,
        name=case.name,
        fell=summary.fell,
        fall=f"{summary.fall_time_s:.2f} s: {summary.fall_reason}" if summary.fell else "",
        stood=stood,
        speed_error=_speed_error(summary),
        commanded_speed=float(recording.ticks["commanded_speed"][-1]),
        roll_max=summary.roll_abs_max,
        pitch_max=summary.pitch_abs_max,
        yaw_drift=summary.yaw_drift,
        touchdown_error=summary.touchdown_error_max_m,
        touchdown_height=summary.touchdown_height_measured_max_m,
        torque_saturation=summary.torque_saturation_fraction,
        friction_violation=summary.friction_violation_fraction,
        pushed_pitch=summary.pushes[0].pitch_abs_max if summary.pushes else float("nan"),
        straightness=straightness(recording, pushed[0]) if pushed else None,
        solves_failed=summary.solves_failed,
    )


def straightness(recording: Recording, push: Push) -> Straightness:
    """How straight the robot is one recovery time after a push; not-a-number where it did not get there."""
    time = recording.ticks["time"]
    before = (time >= push.time - CYCLE) & (time < push.time)
    after = (time >= push.end + RECOVERY - 1e-9) & (time < push.end + RECOVERY + CYCLE)
    if not before.any() or not after.any():
        return Straightness(float("nan"), float("nan"), float("nan"))
    roll, _, yaw = recording.rpy.T
    return Straightness(
        roll=float(np.abs(roll[after]).max()),
        lateral_velocity=float(recording.heading_velocity[after, 1].mean()),
        yaw=float(yaw[after].mean() - yaw[before].mean()),
    )


def _speed_error(summary: Summary) -> float:
    errors = [abs(phase.mean_speed - phase.commanded_speed) for phase in summary.speed_phases]
    return max(errors, default=float("nan"))
