"""`contact-ddp estimate LOG`: state estimator on a recorded log; drift from the log's odometry, covariance."""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.console import Console
from rich.table import Table

from contact_ddp_ros.apps.cli.options import run_options
from contact_ddp_ros.base.files import kept_unless_empty, new_folder, written_whole
from contact_ddp_ros.control.estimation.state_estimator import StateEstimator
from contact_ddp_ros.robot.joints import JOINT_NAMES
from contact_ddp_ros.robot.rotation import quaternion_to_matrix, quaternion_to_rpy
from contact_ddp_ros.runs.report import style
from contact_ddp_ros.runs.report.progress import progress_bar, say
from contact_ddp_ros.runs.scenario import scenario
from contact_ddp_ros.runs.sensor_log import IMU, JOINTS, ODOMETRY, SensorLog, read_log

ESTIMATE_FILE, FIGURE_FILE = "estimate.npz", "estimate.png"

Array = NDArray[np.float64]


def run(arguments: argparse.Namespace) -> int:
    """Exit code 0; errors of the log are ContactDdpErrors."""
    found = scenario(run_options(arguments))
    named = {IMU: arguments.imu, JOINTS: arguments.joints, ODOMETRY: arguments.odom}
    log = read_log(arguments.log, {kind: topic for kind, topic in named.items() if topic})
    console = Console()
    with kept_unless_empty(new_folder("estimate", arguments.out)) as folder:
        estimator = StateEstimator(found.robot, found.controller.estimation.state)
        with progress_bar(console, "Estimating") as advance:
            columns = estimated(log, estimator, advance)
        with written_whole(folder / ESTIMATE_FILE) as temporary:
            np.savez_compressed(temporary, allow_pickle=False, **columns)
        _draw(columns, log, folder / FIGURE_FILE)
    console.print(_table(columns, log, estimator))
    say(console, f"Saved in {folder}")
    return 0


def estimated(log: SensorLog, estimator: StateEstimator, advance: Callable[[float], None]) -> dict[str, Array]:
    """Columns by name, a row per sample: pose, velocity, weights of the feet, biases, standard deviations."""
    rows: dict[str, list[Array]] = {name: [] for name in _COLUMNS}
    for done, state in enumerate(log.states(estimator), 1):
        kept = estimator.filter
        deviation = np.sqrt(np.concatenate([np.diag(kept.pose_covariance), np.diag(kept.twist_covariance)]))
        row = state.position, state.orientation, state.linear_velocity, estimator.weights.copy(), kept.biases.ravel()
        for name, value in zip(_COLUMNS, (*row, deviation), strict=True):
            rows[name].append(np.array(value))
        advance(done / len(log.times))
    return {"time": log.times, **{name: np.array(values) for name, values in rows.items()}}


_COLUMNS = ("position", "orientation", "linear_velocity", "weights", "biases", "deviations")


def _aligned(log: SensorLog, columns: dict[str, Array]) -> Array:
    """(N, 3) positions of the odometry at the samples' times, in the frame of the estimate at the first of them."""
    odometry, time = log.odometry, columns["time"]
    place = np.stack([np.interp(time, odometry[:, 0], odometry[:, 1 + k]) for k in range(3)], axis=1)
    first = int(np.argmin(np.abs(time - odometry[0, 0])))
    turn = quaternion_to_rpy(columns["orientation"][first])[2] - quaternion_to_rpy(odometry[0, 4:8])[2]
    around = quaternion_to_matrix(np.array([0.0, 0.0, np.sin(0.5 * turn), np.cos(0.5 * turn)]))
    return (place - place[first]) @ around.T + columns["position"][first]


def _table(columns: dict[str, Array], log: SensorLog, estimator: StateEstimator) -> Table:
    table = Table(title="State estimate of a log", box=box.SIMPLE_HEAD, title_justify="left")
    for heading in ("", "value", "unit"):
        table.add_column(heading, justify="right" if heading == "value" else "left")
    way = float(np.linalg.norm(np.diff(columns["position"][:, :2], axis=0), axis=1).sum())
    deviation = columns["deviations"][-1]
    offsets = estimator.filter.offsets
    worst = int(np.argmax(np.abs(offsets)))
    rows = [
        ("samples, duration", f"{len(log.times)}, {log.times[-1]:.1f}", "s"),
        ("way", f"{way:.2f}", "m"),
        ("standard deviation of the place at the end: x, y, z", " ".join(f"{one:.3f}" for one in deviation[:3]), "m"),
        ("of the velocity at the end", " ".join(f"{one:.4f}" for one in deviation[6:9]), "m/s"),
        ("gyroscope's bias", " ".join(f"{one:+.4f}" for one in columns["biases"][-1][:3]), "rad/s"),
        ("accelerometer's bias", " ".join(f"{one:+.3f}" for one in columns["biases"][-1][3:]), "m/s²"),
        (f"largest offset of a joint, {JOINT_NAMES[worst]}", f"{offsets[worst]:+.4f}", "rad"),
    ]
    if len(log.odometry) > 1:
        between = columns["position"] - _aligned(log, columns)
        away = float(np.linalg.norm(between[-1, :2]))
        share = f" ({100.0 * away / way:.1f} % of the way)" if way > 0.1 else ""
        velocity = np.stack(
            [np.interp(log.times, log.odometry[:, 0], log.odometry[:, 8 + k]) for k in range(3)], axis=1
        )
        error = np.sqrt(((columns["linear_velocity"] - velocity) ** 2).mean(axis=0))
        rows += [
            ("drift from the odometry at the end", f"{away:.3f}{share}", "m"),
            ("in height", f"{between[-1, 2]:+.3f}", "m"),
            ("velocity beside the odometry's, rms", " ".join(f"{one:.4f}" for one in error), "m/s"),
        ]
    for row in rows:
        table.add_row(*row)
    return table


def _draw(columns: dict[str, Array], log: SensorLog, path: Path) -> None:
    """Place and velocity with twice their standard deviation, and the weights of the feet."""
    time = columns["time"]
    with style.figure(path, 9.0, 7.0, "State estimate of a log") as figure:
        upper, middle, lower = figure.subplots(3, 1, sharex=True)
        for axes, name, first in ((upper, "position", 0), (middle, "linear_velocity", 6)):
            for k, axis in enumerate("xyz"):
                values, spread = columns[name][:, k], 2.0 * columns["deviations"][:, first + k]
                (line,) = axes.plot(time, values, label=axis)
                axes.fill_between(time, values - spread, values + spread, color=line.get_color(), alpha=0.2)
        if len(log.odometry) > 1:
            upper.plot(time, _aligned(log, columns), "k:", linewidth=1.0)
        upper.set_ylabel("place [m]\n(dotted: odometry)")
        middle.set_ylabel("velocity in trunk axes [m/s]")
        upper.legend()
        for foot in range(columns["weights"].shape[1]):
            lower.plot(time, 1.2 * foot + columns["weights"][:, foot])
        lower.set_ylabel("weights of the feet")
        lower.set_xlabel("time [s]")
