"""`contact-ddp bench contact`: the same bound under different models of the contact between feet and ground.

MuJoCo's stiff, relaxed and spring-damper contacts (:mod:`contact_ddp_ros.plants.contact`), DART's and Bullet's where
they are installed, with the sensor noise of `bench robustness`, in lock-step. Planner and controller are the same and
know of none of it. Forces and depths are those at the control ticks, every 2 ms.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from benchmarks.benchmark import Benchmark, Findings, Run, add_setting_option, count
from benchmarks.engine import add_engine_options, journalled
from benchmarks.loop.cases import SPEED, Case, bounding, cases
from benchmarks.output import table_of
from contact_ddp_ros.base.errors import ContactDdpError
from contact_ddp_ros.plants.engines import PACKAGES
from contact_ddp_ros.plants.figure import Figure
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.robot.joints import FOOT_NAMES
from contact_ddp_ros.robot.model import load_robot
from contact_ddp_ros.robot.rotation import quaternion_to_matrix, quaternion_to_rpy
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.runs.closed_loop import ClosedLoop
from contact_ddp_ros.runs.options import SENSOR_NOISE
from contact_ddp_ros.runs.recording import Recording
from contact_ddp_ros.runs.study.statistics import grouped

Array = NDArray[np.float64]

DURATION, QUICK_DURATION, SETTLED = 10.0, 4.0, 3.0
"""Of a run, and from when on its figures count [s]."""

LOADED = 1.0
"""A foot that carries more stands on the ground [N]."""

MODELS: Mapping[str, Mapping[str, Any]] = {
    "stiff": {},
    "stiff, steps of 0.5 ms": {"timestep": 0.0005},
    "relaxed": {"contact.model": "relaxed"},
    "spring, 30 kN/m": {"contact.model": "spring", "contact.stiffness": 30_000.0},
    "spring, 10 kN/m": {"contact.model": "spring", "contact.stiffness": 10_000.0},
    "DART, rigid": {"engine": "dart"},
    "Bullet, impulses": {"engine": "bullet"},
}
"""By row of the table: parameters of the simulator."""


@dataclass(frozen=True)
class ContactOutcome:
    """What became of a run.

    Attributes:
        fall: why it fell or failed; the figures are NaN then.
        speed: mean [m/s]. height: mean of the trunk [m]. pitch: largest either way [°].
        slip: way of the feet's contact points over the ground, per stance [mm].
        depth: deepest of a foot in the ground [mm]. force: largest on a foot [N].
    """

    fall: str = ""
    speed: float = np.nan
    height: float = np.nan
    pitch: float = np.nan
    slip: float = np.nan
    depth: float = np.nan
    force: float = np.nan


def missing() -> list[str]:
    """Engines that are not installed."""
    return [engine for engine, package in PACKAGES.items() if find_spec(package) is None]


def runs(seeds: int, duration: float, overrides: Mapping[str, Any]) -> list[Case]:
    """All of the table, row by row, for the engines that are installed."""
    absent = missing()
    worlds = {
        row: {f"simulator.{name}": value for name, value in parameters.items()}
        for row, parameters in MODELS.items()
        if parameters.get("engine") not in absent
    }
    return cases(
        bounding({**SENSOR_NOISE, **overrides}, duration=duration),
        {
            row: {f"{row} #{seed}": {"overrides": world, "seed": seed} for seed in range(seeds)}
            for row, world in worlds.items()
        },
    )


def run(item: Case) -> ContactOutcome:
    """One closed loop."""
    try:
        recording = ClosedLoop(item.options).run()
    except ContactDdpError as error:
        return ContactOutcome(f"failed: {error}")
    fall = recording.fall
    return outcome(recording) if fall is None else ContactOutcome(f"{fall.time:.2f} s: {fall.reason}")


def outcome(recording: Recording) -> ContactOutcome:
    """The figures of a run without a fall."""
    ticks = recording.ticks
    late = np.flatnonzero(ticks["time"] >= SETTLED)
    time, position = ticks["time"][late], _true(ticks, "position")[late]
    elapsed = float(time[-1] - time[0])
    stances = len(FOOT_NAMES) * elapsed / recording.info.gait_period
    pitch = [quaternion_to_rpy(one)[1] for one in _true(ticks, "orientation")[late]]
    forces = ticks["contact_forces"][late]
    return ContactOutcome(
        speed=float(position[-1, 0] - position[0, 0]) / elapsed,
        height=float(position[:, 2].mean()),
        pitch=float(np.degrees(np.abs(pitch).max())),
        slip=1e3 * slipped(recording, late) / stances,
        depth=1e3 * max(0.0, -float(ticks["foot_heights"][late].min())),
        force=float(np.linalg.norm(forces, axis=-1).max()),
    )


def slipped(recording: Recording, rows: NDArray[np.int64]) -> float:
    """How far the points of the feet that touch level ground move over it, all feet together [m].

    A foot is a sphere, which may roll: what moves is the point of its surface that was lowest a tick ago.
    """
    ticks = recording.ticks
    figure = Figure(load_robot(recording.info.options.get("robot")), SimOptions())
    feet = [figure.bodies.index(foot) for foot in FOOT_NAMES]
    loaded = ticks["contact_forces"][rows, :, 2] > LOADED
    total, before = 0.0, None
    for stands, row in zip(loaded, rows, strict=True):
        state = _true_state(ticks, int(row))
        places, turns = (part[feet] for part in figure.poses(state))
        axes = np.array([quaternion_to_matrix(np.roll(turn, -1)) for turn in turns])
        lowest = figure.feet(state)
        if before is not None:
            stood, was_lowest, arms = before
            now = places + np.einsum("fij,fj->fi", axes, arms)
            moved = np.linalg.norm((now - was_lowest)[:, :2], axis=1)
            total += float(moved[stood & stands].sum())
        before = stands, lowest, np.einsum("fji,fj->fi", axes, lowest - places)
    return total


def _true(ticks: Mapping[str, Array], name: str) -> Array:
    """A part of the true state, by tick; the measured one where there was no noise on it."""
    return ticks.get(f"true_{name}", ticks[name])


def _true_state(ticks: Mapping[str, Array], row: int) -> RobotState:
    parts = {f.name: _true(ticks, f.name)[row] for f in fields(RobotState) if f.name != "time"}
    return RobotState(time=float(ticks["time"][row]), **parts)


def table(found: Mapping[str, Sequence[ContactOutcome]], weight: float) -> Table:
    """Row by row: mean and standard deviation over the runs that did not fall."""

    def column(name: str, digits: int, unit: float = 1.0) -> Callable[[str], str]:
        return lambda row: _spread([getattr(one, name) / unit for one in found[row] if not one.fall], digits)

    columns: dict[str, Callable[[str], str]] = {
        "contact": str,
        "no fall": lambda row: f"{sum(not one.fall for one in found[row])} of {len(found[row])}",
        "speed m/s": column("speed", 3),
        "height m": column("height", 4),
        "pitch °": column("pitch", 1),
        "slip mm": column("slip", 2),
        "depth mm": column("depth", 1),
        "force N": column("force", 0),
        "over weight": column("force", 2, weight),
    }
    return table_of(f"Bounding at {SPEED:g} m/s", found, columns)


def _spread(values: Sequence[float], digits: int) -> str:
    if not values:
        return "–"
    several = f" ± {np.std(values):.{digits}f}" if len(values) > 1 else ""
    return f"{np.mean(values):.{digits}f}{several}"


def _measure(run_of: Run) -> Findings:
    options = run_of.options
    seeds, duration = (1, QUICK_DURATION) if options.quick else (options.seeds, DURATION)
    absent = missing()
    settings = {"seeds": seeds, "duration": duration, "without": absent, "overrides": dict(options.set)}
    items = runs(seeds, duration, dict(options.set))
    results = journalled(run, items, run_of, settings, ContactOutcome)
    outcomes = {item.name: one for item, one in zip(items, results, strict=True)}
    groups = grouped(items, lambda item: item.group)
    found = {row: [outcomes[item.name] for item in own] for row, own in groups.items()}
    robot = load_robot()
    weight = robot.mass * float(np.linalg.norm(robot.tree.gravity))
    falls = [f"{name}: {one.fall}" for name, one in outcomes.items() if one.fall]
    return Findings(
        settings=settings,
        results=outcomes,
        tables=[table(found, weight)],
        remarks=[*falls, *(f"{one} is not installed: pip install {PACKAGES[one]}" for one in absent)],
        exit_code=1 if falls else 0,
    )


OPTIONS = (count("--seeds", 3, "of the sensor noise"), add_engine_options, add_setting_option)

BENCHMARK = Benchmark("contact", __doc__, "one run of 4 s of each", _measure, OPTIONS, resumable=True)
