"""`contact-ddp bench gazebo`: the bound in DART behind Gazebo's topics beside the same bound in MuJoCo.

DART is the physics engine of Gazebo; the world is the file that Gazebo gets, and everything goes through the bridge, in
lock-step (:mod:`contact_ddp_ros.plants.gazebo.emulator`). Left out one at a time: what the file does for the rotors,
and what the bridge does about the odometry's lag. Runs do not depend on the machine, so there is one of each.
"""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from benchmarks.benchmark import Benchmark, Findings, Run
from benchmarks.loop.harness import SPEED, bounding
from benchmarks.output import Metric, number, table_of
from benchmarks.timing import watched
from contact_ddp_ros.plants.gazebo.config import BridgeConfig
from contact_ddp_ros.plants.gazebo.emulator.server import emulated
from contact_ddp_ros.plants.gazebo.simulator import GazeboSimulator
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.robot.joints import joint_index
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.state import DriveGains
from contact_ddp_ros.runs.closed_loop import ClosedLoop
from contact_ddp_ros.runs.figures import figures_of, summary_of
from contact_ddp_ros.runs.recording import Recording
from contact_ddp_ros.runs.report.progress import progress_bar
from contact_ddp_ros.runs.report.style import COMMAND, MEASURED, MUTED, PLANNED, figure

DURATION, QUICK_DURATION = 20.0, 6.0
"""Of every run [s]."""

SPEED_ERROR = 0.05
"""How far the mean speed may be from the commanded one [m/s]."""

_CYCLES = 2
_STYLES = ((MEASURED, "-"), (PLANNED, "-"), (COMMAND, "--"), (MUTED, ":"))
_LEG = "hr"

MUJOCO, DART = "MuJoCo", "DART through Gazebo's topics"
LAGGING, UNGEARED = "    velocity from the odometry's twist", "    no discs for the rotors"


@dataclass(frozen=True)
class Physics:
    """What plays the robot: MuJoCo, or DART with or without what the package does about Gazebo's ways."""

    dart: bool
    rotors: bool = True
    differences: bool = True


PHYSICS = {
    MUJOCO: Physics(dart=False),
    DART: Physics(dart=True),
    LAGGING: Physics(dart=True, differences=False),
    UNGEARED: Physics(dart=True, rotors=False),
}


def bound(physics: Physics, duration: float, speed: float = SPEED) -> Recording:
    """One closed loop of `duration` [s] at `speed` [m/s]."""
    options = bounding({}, speed, duration=duration)
    if not physics.dart:
        return ClosedLoop(options).run()
    with ExitStack() as connections:

        def make(robot: Robot, gains: DriveGains, world: SimOptions) -> GazeboSimulator:
            config = BridgeConfig(differences=physics.differences)
            return emulated(connections, robot, gains, world, config, rotors=physics.rotors)

        return ClosedLoop(options, make_simulator=make).run()


def _metrics(figures: Mapping[str, Any]) -> list[Metric]:
    error = abs(float(figures["mean_speed"]) - SPEED)
    return [
        Metric("falls", float(figures["fell"]), 0.0),
        Metric("error of the mean speed", error, SPEED_ERROR, unit="m/s"),
        Metric("time bounding", float(figures["bounding_time_s"]), None, unit="s"),
    ]


def _table(found: Mapping[str, Mapping[str, Any]]) -> Table:
    columns: dict[str, Callable[[str], str]] = {
        "physics": str,
        "fell": lambda name: "yes" if found[name]["fell"] else "no",
        "speed m/s": lambda name: _cell(found[name]["mean_speed"]),
        "height m": lambda name: f"{_cell(found[name]['height_min'])} to {_cell(found[name]['height_max'])}",
        "pitch °": lambda name: _cell(found[name]["pitch_abs_max"], 180.0 / np.pi),
        "soles at touchdown mm": lambda name: _cell(found[name]["touchdown_height_measured_max_m"], 1e3),
        "roll °": lambda name: _cell(found[name]["roll_abs_max"], 180.0 / np.pi),
    }
    return table_of(f"Commanded {SPEED:g} m/s", found, columns, whole_names=False)


def _cell(value: float | None, scale: float = 1.0) -> str:
    return "–" if value is None or not np.isfinite(value) else number(scale * float(value))


def draw(recordings: Mapping[str, Recording], path: Path) -> None:
    """Height, pitch, and angle and torque of one knee over the last cycles."""
    knee = joint_index(_LEG, "knee")
    with figure(path, 9.0, 6.0, "Bounding in two physics engines") as drawn:
        axes = drawn.subplots(2, 2, sharex=True)
        panels = ("trunk height [m]", "pitch [°]", f"{_LEG} knee angle [rad]", f"{_LEG} knee torque [N m]")
        for ax, title in zip(axes.flat, panels, strict=True):
            ax.set_title(title)
        for (name, recording), (colour, line) in zip(recordings.items(), _STYLES, strict=True):
            rows = last_cycles(recording)
            if rows.size == 0:
                continue
            ticks = recording.ticks
            time = ticks["time"][rows] - ticks["time"][rows[0]]
            series = (
                ticks["position"][rows, 2],
                np.degrees(recording.rpy[rows, 1]),
                ticks["joint_positions"][rows, knee],
                ticks["torques"][rows, knee],
            )
            for ax, values in zip(axes.flat, series, strict=True):
                ax.plot(time, values, line, color=colour, label=name)
        for ax in axes[1]:
            ax.set_xlabel("time since a back stance began [s]")
        handles, labels = axes.flat[0].get_legend_handles_labels()
        drawn.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)


def last_cycles(recording: Recording) -> NDArray[np.int64]:
    """Rows of the last whole cycles; none where there were not so many."""
    mode = recording.ticks["mode"]
    starts = np.flatnonzero((mode[1:] == 0) & (mode[:-1] != 0)) + 1
    if len(starts) <= _CYCLES:
        return np.arange(0)
    return np.arange(starts[-1 - _CYCLES], starts[-1])


def _measure(run: Run) -> Findings:
    duration = QUICK_DURATION if run.options.quick else DURATION
    with progress_bar(run.terminal, "bounding") as advance:
        recordings = {name: bound(PHYSICS[name], duration) for name in watched(tuple(PHYSICS), advance)}
    found = {name: figures_of(recording) for name, recording in recordings.items()}
    return Findings(
        settings={"duration": duration, "speed": SPEED},
        results={"runs": {name.strip(): summary_of(recording) for name, recording in recordings.items()}},
        title=f"Bounding at {SPEED:g} m/s in DART",
        metrics=_metrics(found[DART]),
        tables=[_table(found)],
        drawings={"gazebo.png": lambda path: draw({name.strip(): one for name, one in recordings.items()}, path)},
    )


BENCHMARK = Benchmark("gazebo", __doc__, f"{QUICK_DURATION:g} s instead of {DURATION:g} s", _measure)
