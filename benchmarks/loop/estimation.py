"""`contact-ddp bench estimation`: every gait on the estimated state, without any truth, in lock-step.

Planner and controller get the state from IMU and joints alone; speeds, drift and errors are measured by the simulator's
truth. The IMU has a bias about and along every axis, every joint angle a constant offset, all drawn by the seed. A run
holds where the robot does not fall, moves at the end, and its true speed is within 2 % or 0.02 m/s of the command.
"""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.benchmark import count, option
from benchmarks.loop.harness import bounding, cases, moved, settled, settling
from benchmarks.study import STANDING, Rows, Study
from contact_ddp_ros.runs.options import SENSOR_ERRORS
from contact_ddp_ros.runs.study.study import Case, Figures, Group

GAITS = ("bound", "trot", "pace", "pronk", "fly_trot", "gallop")
SPEEDS = (0.0, 0.5, 1.0, 1.5, 2.0)
WITHIN = 0.02
"""Largest error of the true speed, as a share of the command, or [m/s] where that is more."""


def runs(options: argparse.Namespace) -> list[Case]:
    """Every gait at every speed with every seed."""
    duration, seeds = (8.0, 1) if options.quick else (options.duration, options.seeds)
    base = bounding({**SENSOR_ERRORS, **dict(options.set)}, duration=duration)
    unlike = {
        f"{gait} {speed:g} m/s": {
            f"{gait} {speed:g} m/s #{seed}": {
                "speed": ((0.0, speed),),
                "seed": seed,
                "overrides": {**base.overrides, "planner.gait.name": gait},
            }
            for seed in range(seeds)
        }
        for gait in GAITS
        if not options.only or gait in options.only
        for speed in (SPEEDS[1:2] if options.quick else SPEEDS)
    }
    return cases(base, unlike)


def run(case: Case) -> Figures:
    """True speed ahead, error of the velocity and drift of the position and the heading of one closed loop."""
    options = case.options
    recording, fall = moved(options, options.duration - settling(options.duration))
    if recording is None or fall:
        return {"fall": fall, "follows": False}
    late, ticks = settled(recording), recording.ticks
    errors = ticks["linear_velocity"] - ticks["true_linear_velocity"]
    way = ticks["position"] - ticks["true_position"]
    path = float(np.linalg.norm(np.diff(ticks["true_position"][:, :2], axis=0), axis=1).sum())
    wanted, true = options.speed[0][1], float(ticks["true_linear_velocity"][late, 0].mean())
    return {
        "fall": "",
        "follows": abs(true - wanted) <= max(WITHIN * abs(wanted), WITHIN),
        "speed": true,
        "velocity_error": float(np.sqrt((errors[late] ** 2).mean(axis=0)).max()),
        "drift": float(np.linalg.norm(way[-1, :2])),
        "rise": float(way[-1, 2] - way[0, 2]),
        "path": path,
    }


def follows(group: Group) -> bool:
    """Verdict: every run goes at its speed."""
    return all(one["follows"] for one in group.figures)


def _extreme(figure: str, form: str) -> Callable[[Group], str]:
    def cell(group: Group) -> str:
        known: list[float] = group.counted(figure)
        return form.format(max(known, key=abs)) if known else ""

    return cell


COLUMNS: dict[str, Callable[[Group], Any]] = {
    "gait, command": lambda group: group.name,
    **STANDING,
    "true speed [m/s]": lambda group: f"{group.spread('speed').mean:.3f}",
    "velocity error, rms, worst [m/s]": _extreme("velocity_error", "{:.4f}"),
    "drift, worst [m]": _extreme("drift", "{:.2f}"),
    "of a path [m]": lambda group: f"{group.spread('path').mean:.1f}",
    "drift in z, worst [m]": _extreme("rise", "{:+.3f}"),
    "follows": lambda group: group.share("follows").percent,
}

BENCHMARK = Study(runs, run, Rows("Gaits on the estimated state", COLUMNS, follows, falls=True)).benchmark(
    "estimation",
    __doc__,
    "8 s at 0.5 m/s, one seed",
    count("--seeds", 5, "of the sensors' errors"),
    option("--duration", type=float, default=60.0, metavar="S", help="simulated time of a run [s] (default: 60)"),
    option("--only", action="append", choices=GAITS, metavar="GAIT", help=f"one of {', '.join(GAITS)}; repeatable"),
)
