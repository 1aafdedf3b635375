"""The figures of a run, as PNG files beside its summary."""

from collections.abc import Callable
from pathlib import Path

from matplotlib.figure import Figure

from contact_ddp_ros.recording.record import Recording
from contact_ddp_ros.report import panels
from contact_ddp_ros.report.style import figure


def save_all(recording: Recording, folder: Path) -> tuple[Path, ...]:
    """Draw every figure into `folder` and return the files, the overview first. Nothing for an empty recording."""
    if not len(recording.ticks["time"]):
        return ()
    options = recording.info.options
    clock = "lock-step" if options.get("lockstep", True) else "real time"
    title = f"{recording.info.job}: {options.get('variant', '')}, {clock}"
    paths = []
    for name, (draw, width, height, heading) in _FIGURES.items():
        path = folder / f"{name}.png"
        with figure(path, width, height, f"{heading} ({title})" if heading else title) as drawn:
            draw(drawn, recording)
        paths.append(path)
    return tuple(paths)


def _overview(drawn: Figure, recording: Recording) -> None:
    axes = drawn.subplots(4, 2)
    panels.speed(axes[0, 0], recording)
    panels.height(axes[0, 1], recording)
    panels.attitude(axes[1, 0], recording)
    panels.gait(axes[1, 1], recording)
    panels.planned_cone(axes[2, 0], recording)
    panels.normal_forces(axes[2, 1], recording)
    panels.solve_times(axes[3, 0], recording)
    panels.planned_touchdowns(axes[3, 1], recording)


def _speed(drawn: Figure, recording: Recording) -> None:
    panels.speed(drawn.subplots(), recording)


def _body(drawn: Figure, recording: Recording) -> None:
    axes = drawn.subplots(4, 1, sharex=True)
    panels.height(axes[0], recording)
    for row, index in zip(axes[1:], (1, 0, 2)):
        panels.angle(row, recording, index)
    for row in axes[:-1]:
        row.set_xlabel("")


def _torques(drawn: Figure, recording: Recording) -> None:
    names, feet = recording.info.joint_names, len(recording.info.foot_names)
    per_leg = len(names) // feet
    axes = drawn.subplots(per_leg, feet, sharex=True, sharey="row", squeeze=False)
    for joint in range(len(names)):
        panels.torque(axes[joint % per_leg, joint // per_leg], recording, joint)
    for row in axes:
        row[0].set_ylabel("torque [N m]")
    for below in axes[-1]:
        below.set_xlabel("time [s]")


def _forces(drawn: Figure, recording: Recording) -> None:
    upper, lower = list(drawn.subfigures(2, 1, height_ratios=(1.2, 1.0), squeeze=False).flat)
    planned, measured = upper.subplots(1, 2)
    panels.planned_cone(planned, recording)
    panels.measured_cone(measured, recording)
    panels.normal_forces(lower.subplots(), recording)


def _gait(drawn: Figure, recording: Recording) -> None:
    panels.gait(drawn.subplots(), recording)


def _solve_times(drawn: Figure, recording: Recording) -> None:
    over_time, distribution = drawn.subplots(1, 2, width_ratios=(1.6, 1.0))
    panels.solve_times(over_time, recording)
    panels.solve_histogram(distribution, recording)


def _touchdowns(drawn: Figure, recording: Recording) -> None:
    planned, measured = drawn.subplots(2, 1, sharex=True)
    panels.planned_touchdowns(planned, recording)
    panels.measured_touchdowns(measured, recording)
    planned.set_xlabel("")


_FIGURES: dict[str, tuple[Callable[[Figure, Recording], None], float, float, str]] = {
    "overview": (_overview, 11.0, 10.5, "Bounding"),
    "speed": (_speed, 9.0, 3.2, ""),
    "body": (_body, 9.0, 8.0, "Trunk"),
    "torques": (_torques, 11.0, 6.5, "Joint torques against their limits, last cycles"),
    "forces": (_forces, 10.0, 7.0, "Contact forces"),
    "gait": (_gait, 9.0, 2.8, ""),
    "solve_times": (_solve_times, 10.0, 3.4, "Planner"),
    "touchdowns": (_touchdowns, 9.0, 5.0, "Touchdowns"),
}
"""File name → what draws it, width and height [inch], heading."""
