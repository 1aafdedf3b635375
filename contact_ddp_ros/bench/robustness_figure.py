"""The figure of `bench robustness`: roll after pushes over the gait's phases, and how straight the robot ended."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from contact_ddp_ros.bench.outcome import LATERAL_BAND, ROLL_BAND, YAW_BAND, Outcome
from contact_ddp_ros.bench.scenarios import DIRECTIONS
from contact_ddp_ros.report.style import FOOT_COLOURS, LIMIT, figure, legend, nothing

_MARGIN = 1.1


def draw(outcomes: Sequence[Outcome], path: Path) -> None:
    """Draw what became of the runs."""
    with figure(path, 11.0, 6.5, "Robustness in closed loop, lock-step") as drawn:
        roll, yaw, lateral, runs = drawn.subplots(2, 2).ravel()
        pushed = {word: [one for one in outcomes if f"push {word}" in one.name] for word in DIRECTIONS}
        _draw_phases(roll, pushed, "largest |roll| [rad]", lambda one: one.roll_max, None)
        _draw_phases(yaw, pushed, "yaw 2 s after [rad]", lambda one: _after(one, "yaw"), YAW_BAND)
        _draw_phases(
            lateral,
            pushed,
            "sideways velocity 2 s after [m/s]",
            lambda one: _after(one, "lateral_velocity"),
            LATERAL_BAND,
        )
        _draw_runs(runs, [one for one in outcomes if one.straightness is None])


def _after(one: Outcome, name: str) -> float:
    return getattr(one.straightness, name) if one.straightness is not None else float("nan")


def _draw_phases(axes: Axes, pushed, title: str, value, band: float | None) -> None:  # type: ignore[no-untyped-def]
    """One figure over the phase of the gait at which the push began; crosses fell."""
    axes.set_title(title)
    if not any(pushed.values()):
        nothing(axes, "no pushes")
        return
    for (word, members), colour in zip(pushed.items(), FOOT_COLOURS, strict=True):
        phase = np.arange(len(members)) / max(len(members), 1)
        values = np.array([value(one) for one in members])
        axes.plot(phase, values, ".-", color=colour, label=word)
        for x, one in zip(phase, members, strict=True):
            if not one.survived:
                axes.plot(x, 0.0, "x", color=colour, markersize=8)
    if band is not None:
        for sign in (-1.0, 1.0):
            axes.axhline(sign * band, color=LIMIT, linewidth=0.8)
    axes.set_xlabel("phase of the gait at the push; crosses fell")
    legend(axes)


def _draw_runs(axes: Axes, runs: Sequence[Outcome]) -> None:
    axes.set_title("largest |roll| of the other runs [rad]")
    if not runs:
        nothing(axes, "no other runs")
        return
    colours = [FOOT_COLOURS[0] if one.survived else LIMIT for one in runs]
    axes.barh(range(len(runs)), [np.nan_to_num(one.roll_max) for one in runs], color=colours)
    axes.set_yticks(range(len(runs)), [one.name for one in runs], fontsize=7)
    axes.invert_yaxis()
    axes.axvline(ROLL_BAND, color=LIMIT, linewidth=0.8)
    axes.set_xlabel("red: fell")
