"""`contact-ddp bench gazebo`: the bound in DART behind Gazebo's topics beside the same bound in MuJoCo.

DART is the physics engine of Gazebo; the world is the file that Gazebo gets, and everything goes through the bridge, in
lock-step (:mod:`contact_ddp_ros.gazebo.stand_in`). Left out one at a time: what the file does for the rotors, and what
the bridge does about the odometry's lag. Runs do not depend on the machine, so there is one of each.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.console import Console
from rich.table import Table

from contact_ddp_ros.bench.arguments import benchmark_parser
from contact_ddp_ros.bench.gazebo_figure import draw
from contact_ddp_ros.bench.output import Figure, console, number, print_figures, save_record
from contact_ddp_ros.closed_loop import ClosedLoop
from contact_ddp_ros.files import new_folder
from contact_ddp_ros.gazebo.bridge import GazeboBridge
from contact_ddp_ros.gazebo.config import BridgeConfig
from contact_ddp_ros.gazebo.names import Names
from contact_ddp_ros.gazebo.sdf import world_sdf
from contact_ddp_ros.gazebo.simulator import GazeboSimulator
from contact_ddp_ros.gazebo.stand_in.server import stand_in
from contact_ddp_ros.gazebo.world_control import DirectControl
from contact_ddp_ros.options import RunOptions
from contact_ddp_ros.recording import Recording
from contact_ddp_ros.report.summary import Summary, summarise
from contact_ddp_ros.report.terminal import progress_bar, say
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.state import DriveGains
from contact_ddp_ros.sim.options import SimOptions

Array = NDArray[np.float64]

SPEED, DURATION, QUICK_DURATION = 0.5, 20.0, 6.0
"""Of every run [m/s, s]."""

SPEED_ERROR = 0.05
"""How far the mean speed may be from the commanded one [m/s]."""

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


def main(arguments: Sequence[str]) -> int:
    """Measure, print, save and draw; the exit code."""
    parser = benchmark_parser("gazebo", __doc__, quick=f"{QUICK_DURATION:g} s instead of {DURATION:g} s")
    options = parser.parse_args(arguments)
    folder, terminal = new_folder("bench-gazebo", options.out), console()
    duration = QUICK_DURATION if options.quick else DURATION
    recordings: dict[str, Recording] = {}
    with progress_bar(terminal, "bounding") as advance:
        for name, physics in PHYSICS.items():
            recordings[name] = bound(physics, duration)
            advance(len(recordings) / len(PHYSICS))
    summaries = {name: summarise(recording) for name, recording in recordings.items()}
    figures = _figures(summaries[DART])
    _print_runs(terminal, summaries)
    print_figures(terminal, f"Bounding at {SPEED:g} m/s in DART", figures)
    results = {"runs": {name.strip(): asdict(summary) for name, summary in summaries.items()}}
    save_record(folder, "gazebo", {"duration": duration, "speed": SPEED}, results, figures)
    draw({name.strip(): recording for name, recording in recordings.items()}, folder / "gazebo.png")
    say(terminal, f"Saved in {folder}")
    return 0


def bound(physics: Physics, duration: float, speed: float = SPEED) -> Recording:
    """One closed loop of `duration` [s] at `speed` [m/s]."""
    options = RunOptions(duration=duration, speed=((0.0, speed),), video=False)
    if not physics.dart:
        return ClosedLoop(options).run()
    with ExitStack() as connections:

        def make(robot: Robot, gains: DriveGains, world: SimOptions) -> GazeboSimulator:
            _, bindings = connections.enter_context(stand_in(world_sdf(robot, world, rotors=physics.rotors)))
            control = DirectControl(bindings, Names(), bindings.node())
            config = BridgeConfig(differences=physics.differences)
            bridge = GazeboBridge(robot, gains, bindings, control, config, stepped=True)
            return GazeboSimulator(robot, connections.enter_context(bridge))

        return ClosedLoop(options, make_simulator=make).run()


def _figures(summary: Summary) -> list[Figure]:
    error = abs(float(summary.mean_speed) - SPEED)
    return [
        Figure("falls", float(summary.fell), 0.0),
        Figure("error of the mean speed", error, SPEED_ERROR, unit="m/s"),
        Figure("time bounding", float(summary.bounding_time_s), None, unit="s"),
    ]


def _print_runs(terminal: Console, summaries: dict[str, Summary]) -> None:
    table = Table(title=f"Commanded {SPEED:g} m/s", box=box.SIMPLE_HEAD, title_justify="left")
    table.add_column("physics")
    for heading in ("fell", "speed m/s", "height m", "pitch °", "soles at touchdown mm", "roll °"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, summary in summaries.items():
        table.add_row(name, *_cells(summary))
    terminal.print(table)


def _cells(summary: Summary) -> tuple[str, ...]:
    def cell(value: Any, scale: float = 1.0) -> str:
        return "–" if value is None or not np.isfinite(value) else number(scale * float(value))

    return (
        "yes" if summary.fell else "no",
        cell(summary.mean_speed),
        f"{cell(summary.height_min)} to {cell(summary.height_max)}",
        cell(summary.pitch_abs_max, 180.0 / np.pi),
        cell(summary.touchdown_height_measured_max_m, 1e3),
        cell(summary.roll_abs_max, 180.0 / np.pi),
    )
