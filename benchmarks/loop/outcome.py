"""Figures of a closed loop beside those of its summary: error of the speed, and straightness after a push.

A push is judged two seconds after its end, over one gait cycle: straight again means |roll| below 0.1 rad throughout,
the mean sideways velocity below 0.05 m/s and the mean heading within 0.1 rad of that of the cycle before the push.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.loop.harness import CYCLE, RECOVERY, Proxy, advance, loop_with
from contact_ddp_ros.base.errors import ContactDdpError
from contact_ddp_ros.plants.pushes import Push
from contact_ddp_ros.runs.figures import figures_of, numbers_of
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.recording import Recording
from contact_ddp_ros.runs.recording.record import CONTROL_MODES
from contact_ddp_ros.runs.study.study import Case, Figures, run_case

BANDS = {"roll": 0.1, "lateral_velocity": 0.05, "yaw": 0.1}
"""Bands within which a pushed robot is straight again [rad, m/s, rad]."""

NOT_STOOD = "did not stand at the end"


def measure(case: Case) -> Figures:
    """Figures of a closed loop that runs to its end, whatever happens on the way."""
    return run_case(case, partial(figures, case.options))


def run_with(proxy_of: Callable[[Any], Proxy], options: RunOptions) -> tuple[Figures, Proxy | None]:
    """Run a closed loop with a proxy of the planner to its end or to the first fault.

    An error of the run is a failure of the robot, not of the benchmark; then there may be no proxy.
    """
    try:
        loop, proxy = loop_with(options, proxy_of)
        advance(loop, options.duration)
    except ContactDdpError as error:
        return {"fall": f"failed: {error}"}, None
    return figures(options, loop.recorder.finish()), proxy


def figures(options: RunOptions, recording: Recording) -> dict[str, Any]:
    """Figures of a recording.

    Beside the summary's: `fall`, `speed_error`, largest |mean − commanded speed| over the stretches of constant command
    [m/s], and after a push `pushed_pitch`, its largest |pitch| [rad], `straightness` and whether it was `straight`.
    """
    told = figures_of(recording)
    found = numbers_of(told)
    if not found["fall"] and options.stop_time is not None:
        stands = recording.ticks["control_mode"][-1] == CONTROL_MODES.index("stand")
        found["fall"] = "" if stands else NOT_STOOD
    errors = [abs(phase["mean_speed"] - phase["commanded_speed"]) for phase in told["speed_phases"]]
    found["speed_error"] = max(errors, default=None)
    if options.pushes:
        crooked = straightness(recording, options.pushes[0])
        found["pushed_pitch"] = told["pushes"][0]["pitch_abs_max"] if told["pushes"] else None
        found |= {"straightness": crooked, "straight": not found["fall"] and is_straight(crooked)}
    return found


def straightness(recording: Recording, push: Push) -> dict[str, float]:
    """Largest |roll|, mean sideways velocity and change of the heading one recovery time after a push; NaN before."""
    time = recording.ticks["time"]
    before = (time >= push.time - CYCLE) & (time < push.time)
    after = (time >= push.end + RECOVERY - 1e-9) & (time < push.end + RECOVERY + CYCLE)
    if not before.any() or not after.any():
        return dict.fromkeys(BANDS, float("nan"))
    roll, _, yaw = recording.rpy.T
    return {
        "roll": float(np.abs(roll[after]).max()),
        "lateral_velocity": float(recording.heading_velocity[after, 1].mean()),
        "yaw": float(yaw[after].mean() - yaw[before].mean()),
    }


def is_straight(found: dict[str, float]) -> bool:
    """True where all lie within their bands; False for numbers that are not finite."""
    return all(abs(found[name]) < band for name, band in BANDS.items())
