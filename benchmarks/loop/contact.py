"""`contact-ddp bench contact`: the same bound under different models of the contact between feet and ground.

MuJoCo's stiff, relaxed and spring-damper contacts (:mod:`contact_ddp_ros.plants.mujoco_model`), DART's and Bullet's
where they are installed, with the sensor noise of `bench robustness`, in lock-step. Planner and controller are the same
and know of none of it. Forces and depths are those at the control ticks, every 2 ms.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.benchmark import Findings, count
from benchmarks.loop.harness import SPEED, bounding, cases
from benchmarks.study import Rows, Study, mean
from contact_ddp_ros.plants.engines import PACKAGES
from contact_ddp_ros.plants.figure import Figure
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.robot.joints import FOOT_NAMES
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.rotation import quaternion_to_matrix, quaternion_to_rpy
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.runs.options import SENSOR_ERRORS
from contact_ddp_ros.runs.recording import Recording
from contact_ddp_ros.runs.study.study import Case, Figures, Group, run_case, summary_figures

Array = NDArray[np.float64]

DURATION, QUICK_DURATION, SETTLED = 10.0, 4.0, 3.0
"""Duration of a run, and the time from which its figures count [s]."""

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


def missing() -> list[str]:
    """Engines that are not installed."""
    return [engine for engine, package in PACKAGES.items() if find_spec(package) is None]


def runs(options: argparse.Namespace) -> list[Case]:
    """All of the table, row by row, for the engines that are installed."""
    seeds, duration = (1, QUICK_DURATION) if options.quick else (options.seeds, DURATION)
    absent = missing()
    worlds = {
        row: {f"simulator.{name}": value for name, value in parameters.items()}
        for row, parameters in MODELS.items()
        if parameters.get("engine") not in absent
    }
    unlike = {
        row: {f"{row} #{seed}": {"overrides": world, "seed": seed} for seed in range(seeds)}
        for row, world in worlds.items()
    }
    return cases(bounding({**SENSOR_ERRORS, **dict(options.set)}, duration=duration), unlike)


def run(case: Case) -> Figures:
    """Figures of one closed loop."""
    return run_case(case, figures)


def figures(recording: Recording) -> Figures:
    """Figures beside those of the summary, of a run without a fall.

    Mean `speed` [m/s], mean `height` of the trunk [m], largest `pitch` either way [°], `slip` of the feet's contact
    points over the ground per stance [mm], `depth` of the deepest foot in the ground [mm], largest `force` on a foot in
    [N] and over the robot's weight.
    """
    found = summary_figures(recording)
    if found["fall"]:
        return found
    ticks = recording.ticks
    late = np.flatnonzero(ticks["time"] >= SETTLED)
    time, position = ticks["time"][late], _true(ticks, "position")[late]
    elapsed = float(time[-1] - time[0])
    stances = len(FOOT_NAMES) * elapsed / recording.info.gait_period
    pitch = [quaternion_to_rpy(one)[1] for one in _true(ticks, "orientation")[late]]
    force = float(np.linalg.norm(ticks["contact_forces"][late], axis=-1).max())
    robot = load_robot()
    return {
        **found,
        "speed": float(position[-1, 0] - position[0, 0]) / elapsed,
        "height": float(position[:, 2].mean()),
        "pitch": float(np.degrees(np.abs(pitch).max())),
        "slip": 1e3 * slipped(recording, late) / stances,
        "depth": 1e3 * max(0.0, -float(ticks["foot_heights"][late].min())),
        "force": force,
        "over_weight": force / (robot.mass * float(np.linalg.norm(robot.tree.gravity))),
    }


def slipped(recording: Recording, rows: NDArray[np.int64]) -> float:
    """Way of the feet's points that touch level ground over it, all feet together [m].

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


def report(groups: Sequence[Group], options: argparse.Namespace) -> Findings:
    """Row by row mean and standard deviation over the runs that did not fall; falls, and engines that are missing."""
    found, absent = ROWS(groups, options), missing()
    texts = [f"{one} is not installed: pip install {PACKAGES[one]}" for one in absent]
    return replace(found, remarks=[*found.remarks, *texts])


ROWS = Rows(
    f"Bounding at {SPEED:g} m/s",
    {
        "contact": lambda group: group.name,
        "no fall": lambda group: f"{group.standing.successes} of {len(group.cases)}",
        "speed m/s": mean("speed", 3),
        "height m": mean("height", 4),
        "pitch °": mean("pitch", 1),
        "slip mm": mean("slip", 2),
        "depth mm": mean("depth", 1),
        "force N": mean("force", 0),
        "over weight": mean("over_weight", 2),
    },
    falls=True,
)

BENCHMARK = Study(runs, run, report).benchmark(
    "contact", __doc__, "one run of 4 s of each", count("--seeds", 3, "of the sensor noise")
)
