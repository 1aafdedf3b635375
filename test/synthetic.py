"""A made-up bounding run whose every figure is known: for tests of what is made from recordings."""

from dataclasses import dataclass

import numpy as np

from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.recording import Recorder, RunInfo, plain_options

FEET = ("fr", "fl", "hr", "hl")
JOINTS = tuple(f"{leg}_{joint}_joint" for leg in FEET for joint in ("abad", "hip", "knee"))
LIMITS = (17.0, 17.0, 26.0) * len(FEET)
MODES = ("back_stance", "flight_front", "front_stance", "flight_back")
MODE_FEET = (("hr", "hl"), (), ("fr", "fl"), ())
MODE_ENDS = (0.08, 0.18, 0.26, 0.36)
WEIGHT = 82.0
"""Of the made-up robot [N]."""


@dataclass(frozen=True)
class Gait:
    """Knobs of the made-up run; amplitudes in SI units and radians."""

    duration: float = 4.0
    period: float = 0.002
    planner_period: float = 0.01
    bound_from: float = 0.5
    roll: float = 0.02
    pitch: float = 0.15
    yaw_rate: float = 0.01
    lateral_rate: float = 0.005
    speed_ratio: float = 1.0
    real_time_factor: float = 0.8
    friction: float = 0.6
    seed: int = 1


def run_info(gait: Gait = Gait(), **options: object) -> RunInfo:
    """The description of the made-up run."""
    return RunInfo(
        job="sim",
        options=plain_options(RunOptions(duration=gait.duration, **options)),
        joint_names=JOINTS,
        torque_limits=LIMITS,
        foot_names=FEET,
        contact_points=("front_foot", "back_foot"),
        mode_names=MODES,
        mode_feet=MODE_FEET,
        gait_period=MODE_ENDS[-1],
        control_period=gait.period,
        planner_period=gait.planner_period,
        planner_friction=gait.friction,
    )


def quaternion(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """(4,) (x, y, z, w) of Rz(yaw) Ry(pitch) Rx(roll)."""
    cr, sr, cp, sp, cy, sy = (f(a / 2) for a in (roll, pitch, yaw) for f in (np.cos, np.sin))
    return np.array(
        [
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
            cr * cp * cy + sr * sp * sy,
        ]
    )


def rotation(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """(3, 3) Rz(yaw) Ry(pitch) Rx(roll)."""
    cr, sr, cp, sp, cy, sy = (f(a) for a in (roll, pitch, yaw) for f in (np.cos, np.sin))
    about_x = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    about_y = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    about_z = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    return about_z @ about_y @ about_x


def bounding_recorder(gait: Gait = Gait(), recorder: Recorder | None = None, **options: object) -> Recorder:
    """Writes the run into a recorder (a new one where None is given) and returns it."""
    recorder = recorder or Recorder()
    run = RunOptions(duration=gait.duration, **options)
    recorder.begin(run_info(gait, **options))
    random = np.random.default_rng(gait.seed)
    x = 0.0
    for i in range(round(gait.duration / gait.period)):
        time = i * gait.period
        speed = run.speed_at(time) * gait.speed_ratio if time >= gait.bound_from else 0.0
        x += speed * gait.period
        _tick(recorder, gait, time, x, speed, run.speed_at(time), random)
        if i % round(gait.planner_period / gait.period) == 0 and time >= gait.bound_from:
            milliseconds = float(random.gamma(20.0, 0.25))
            recorder.solve(
                time,
                solve_ms=milliseconds,
                iterations=2 + int(random.random() < 0.3),
                status="iteration_limit",
                deadline_missed=milliseconds > 1e3 * gait.planner_period,
                cost=12.0 + float(random.random()),
                violation=1e-4,
                touchdown_error=float(random.exponential(4e-4)),
                friction_violation=0.0,
            )
    recorder.event(gait.bound_from, "bounding")
    return recorder


def _tick(
    recorder: Recorder, gait: Gait, time: float, x: float, speed: float, command: float, random: np.random.Generator
) -> None:
    bounding = time >= gait.bound_from
    phase = (time - gait.bound_from) % MODE_ENDS[-1]
    mode = int(np.searchsorted(MODE_ENDS, phase + 1e-9, side="right")) % len(MODES) if bounding else -1
    swing = 2 * np.pi * phase / MODE_ENDS[-1]
    rpy = (
        gait.roll * np.sin(3.0 * time) * bounding,
        gait.pitch * np.sin(swing) * bounding,
        gait.yaw_rate * max(time - gait.bound_from, 0.0),
    )
    on_ground = [bounding and mode >= 0 and foot in MODE_FEET[mode] for foot in FEET] if bounding else [True] * 4
    push = np.sin(np.pi * phase / 0.08) ** 2 if mode == 0 else np.sin(np.pi * (phase - 0.18) / 0.08) ** 2
    up = 2.2 * WEIGHT * push / 2 if bounding else WEIGHT / 4
    forces = np.array([[0.25 * up * np.cos(swing), 0.02 * up, up] if down else [0.0] * 3 for down in on_ground])
    heights = np.array([0.0 if down else 0.06 * np.sin(np.pi * phase / 0.36) ** 2 + 1e-3 for down in on_ground])
    planned = np.zeros((2, 2))
    if bounding and mode in (0, 2):
        planned[1 if mode == 0 else 0] = (0.3 * 2 * up * np.cos(swing), 2 * up)
    torques = np.clip(np.array(LIMITS) * (0.55 * np.sin(swing + np.arange(len(JOINTS))) + 0.05), -26, 26)
    recorder.tick(
        RobotState(
            time=time,
            position=np.array([x, gait.lateral_rate * max(time - gait.bound_from, 0.0), 0.28 + 0.015 * np.cos(swing)]),
            orientation=quaternion(*rpy),
            linear_velocity=rotation(rpy[0], rpy[1], 0.0).T @ np.array([speed, 0.0, 0.0]),
            angular_velocity=0.01 * random.standard_normal(3),
            joint_positions=np.tile([0.0, -0.8, 1.6], 4) + 0.2 * np.sin(swing + np.arange(len(JOINTS))),
            joint_velocities=np.cos(swing + np.arange(len(JOINTS))),
        ),
        commanded_speed=command,
        torques=torques,
        foot_heights=heights,
        contact_forces=forces,
        mode=mode,
        planned_forces=planned,
        control_mode="move" if bounding else "stand",
        wall_time=time / gait.real_time_factor,
    )
