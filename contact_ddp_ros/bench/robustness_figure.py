"""The figure of `bench robustness`: pushes over the gait's phases, and how well the other runs kept their speed."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from contact_ddp_ros.bench.outcome import LATERAL_BAND, ROLL_BAND, YAW_BAND, Outcome
from contact_ddp_ros.bench.scenarios import DIRECTIONS
from contact_ddp_ros.report.style import FOOT_COLOURS, LIMIT, figure, legend, name_rows, nothing

_SMALLEST = 1e-6
"""Zero, on a logarithmic axis."""

_STYLES = ("-", "--")
"""Alternate, so that mirror images, which coincide, both show."""


def draw(outcomes: Sequence[Outcome], path: Path) -> None:
    """Draw what became of the runs."""
    pushed = {word: [one for one in outcomes if f"push {word}" in one.name] for word in DIRECTIONS}
    with figure(path, 11.0, 6.5, "Robustness in closed loop, lock-step") as drawn:
        roll, pitch, after, runs = drawn.subplots(2, 2).ravel()
        _draw_phases(roll, pushed, "Largest |roll| [rad]", lambda one: one.roll_max)
        _draw_phases(pitch, pushed, "|pitch| after it [rad]", lambda one: one.pushed_pitch)
        _draw_phases(after, pushed, "2 s after the push", _share_of_band)
        if after.lines:
            after.set_yscale("log")
            after.axhline(1.0, color=LIMIT, linewidth=0.8)
            after.set_ylabel("largest share of a band for straight")
        _draw_runs(runs, [one for one in outcomes if one.straightness is None])


def _share_of_band(one: Outcome) -> float:
    """How near the nearest limit of being straight is; 1 on it."""
    if one.straightness is None:
        return float("nan")
    used = one.straightness
    shares = (used.roll / ROLL_BAND, used.lateral_velocity / LATERAL_BAND, used.yaw / YAW_BAND)
    return max(_SMALLEST, *(abs(share) for share in shares))


def _draw_phases(
    axes: Axes, pushed: Mapping[str, Sequence[Outcome]], title: str, value: Callable[[Outcome], float]
) -> None:
    """One figure over the phase of the gait at which the push began; crosses fell."""
    axes.set_title(title)
    if not any(pushed.values()):
        nothing(axes, "no pushes")
        return
    for i, (word, members) in enumerate(pushed.items()):
        phase = np.arange(len(members)) / max(len(members), 1)
        values = np.array([value(one) for one in members])
        axes.plot(phase, values, _STYLES[i % 2], marker=".", color=FOOT_COLOURS[i], label=word)
        fallen = np.array([not one.survived for one in members], dtype=bool)
        if fallen.any():
            axes.plot(phase[fallen], np.nan_to_num(values[fallen], nan=1.0), "x", color=LIMIT, markersize=9)
    axes.set_xlabel("phase of the gait at the push; crosses fell")
    legend(axes)


def _draw_runs(axes: Axes, runs: Sequence[Outcome]) -> None:
    axes.set_title("Other runs")
    if not runs:
        nothing(axes, "no other runs")
        return
    colours = [FOOT_COLOURS[0] if one.survived else LIMIT for one in runs]
    axes.barh(range(len(runs)), [1e3 * np.nan_to_num(one.speed_error) for one in runs], color=colours)
    name_rows(axes, [one.name for one in runs], size=7)
    axes.set_xlabel("largest error of the mean speed [mm/s]; red: fell")
