"""One function per panel: it draws one aspect of a recording into given axes. Figures are put together in `plots`.

Kinds of charts that several figures have: bars by name, and maps of numbers.
"""

from collections.abc import Callable, Mapping, Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap
from matplotlib.image import AxesImage

from contact_ddp_ros.runs.recording import analysis
from contact_ddp_ros.runs.recording.record import Array
from contact_ddp_ros.runs.recording.recording import Recording
from contact_ddp_ros.runs.report.style import (
    COMMAND,
    FOOT_COLOURS,
    LIMIT,
    MEASURED,
    MUTED,
    PLANNED,
    explained,
    is_idle,
    legend,
    name_rows,
    nothing,
    point_colours,
    stretches,
    time_axis,
)


def bars(
    axes: Axes,
    values: Mapping[str, float],
    colours: Sequence[str],
    lines: Sequence[tuple[float, float]] = (),
    size: float | None = None,
) -> None:
    """A horizontal bar for each name, the first on top, and over each a line from one value to another."""
    axes.barh(range(len(values)), list(values.values()), color=list(colours), height=0.6)
    for row, ends in enumerate(lines):
        axes.plot(ends, [row, row], color="black", linewidth=1.2)
    name_rows(axes, list(values), size=size)


def heat_map(
    axes: Axes,
    values: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    limits: tuple[float, float],
    colours: str | Colormap = "viridis",
    form: Callable[[float], str] | None = "{:.1f}".format,
) -> AxesImage:
    """A map of (rows, columns) values between two limits of the colours, each with its number written into it.

    What is not a number is grey and empty; without a form no numbers are written.
    """
    axes.grid(visible=False)
    map_of = mpl.colormaps.get_cmap(colours).with_extremes(bad="#dddddd")
    image = axes.imshow(np.ma.masked_invalid(values), cmap=map_of, vmin=limits[0], vmax=limits[1], aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        if form is not None and np.isfinite(value):
            red, green, blue, _ = map_of(image.norm(value))
            colour = "white" if 0.3 * red + 0.59 * green + 0.11 * blue < 0.5 else "black"
            axes.text(column, row, form(value), ha="center", va="center", fontsize=7, color=colour)
    axes.set_yticks(range(len(rows)), rows)
    axes.set_xticks(range(len(columns)), columns)
    return image


CLOSE_UP = 1.5
"""Length of the stretch shown where a whole run would be a smear: about four gait cycles [s]."""

CONTACT_FORCE = 2.0
"""Normal force from which a foot counts as touching the ground [N]."""

_NARROWEST_MM, _NARROWEST_DEGREES = 1.0, 1.0
"""Half the smallest range of an axis of heights or of angles, so that nothing does not look like something."""

_IDLE_ANGLE = np.deg2rad(0.02)
"""An angle that stays within it is not drawn [rad]."""

_LONG = 15.0
"""A run longer than this is drawn by its range and mean over each gait cycle [s]."""

_SCATTER_POINTS = 4000
"""Points drawn at most in a scatter plot."""


def close_up(recording: Recording) -> np.ndarray:
    """(N,) the last CLOSE_UP of bounding, or of the run where there is none."""
    time, mask = recording.ticks["time"], analysis.bounding(recording)
    mask = mask if mask.any() else np.ones(len(time), dtype=bool)
    return mask & (time >= time[mask][-1] - CLOSE_UP) if time.size else mask


def speed(axes: Axes, recording: Recording) -> None:
    """Forward speed as measured, its mean over a gait cycle, and the command."""
    time, forward = recording.ticks["time"], recording.heading_velocity[:, 0]
    axes.plot(time, forward, color=MUTED, linewidth=0.5, alpha=0.7, label="measured")
    mean = analysis.moving_mean(forward, analysis.gait_period(recording), recording.info.control_period)
    axes.plot(time, mean, color=MEASURED, label="mean over a cycle")
    axes.plot(time, recording.ticks["commanded_speed"], color=COMMAND, linestyle="--", label="command")
    axes.set(ylabel="forward speed [m/s]", title="Speed")
    legend(axes)
    time_axis(axes, recording)


def height(axes: Axes, recording: Recording) -> None:
    """Height of the trunk's origin."""
    _course(axes, recording, recording.height, MEASURED)
    axes.set(ylabel="trunk height [m]", title="Height")
    time_axis(axes, recording)


def angle(axes: Axes, recording: Recording, index: int) -> None:
    """Roll (0), pitch (1) or yaw (2)."""
    name = ("roll", "pitch", "yaw")[index]
    _course(axes, recording, np.rad2deg(recording.rpy[:, index]), MEASURED)
    axes.axhline(0.0, color=MUTED, linewidth=0.6)
    axes.set(ylabel=f"{name} [°]", title=name.capitalize())
    _at_least(axes, _NARROWEST_DEGREES)
    time_axis(axes, recording)


def angle_is_idle(recording: Recording, index: int) -> bool:
    """True if roll (0), pitch (1) or yaw (2) is next to nothing all the time."""
    return is_idle(recording.rpy[:, index], _IDLE_ANGLE)


def tell_idle_angles(axes: Axes, recording: Recording) -> None:
    """Say which angles are not drawn, and why."""
    idle = [name for index, name in enumerate(("roll", "pitch", "yaw")) if angle_is_idle(recording, index)]
    if idle:
        text = f"{' and '.join(idle)} within {np.rad2deg(_IDLE_ANGLE):.2f}°: not drawn"
        axes.text(0.01, 0.02, text, transform=axes.transAxes, fontsize=7, color="#555555")


def attitude(axes: Axes, recording: Recording) -> None:
    """Roll, pitch and yaw together, but for those that are next to nothing."""
    tell_idle_angles(axes, recording)
    for index, name, colour in ((1, "pitch", MEASURED), (0, "roll", "#009e73"), (2, "yaw", "#cc79a7")):
        if angle_is_idle(recording, index):
            continue
        _course(axes, recording, np.rad2deg(recording.rpy[:, index]), colour, name)
    axes.set(ylabel="angle [°]", title="Attitude")
    legend(axes)
    time_axis(axes, recording)


def torque(axes: Axes, recording: Recording, joint: int) -> None:
    """One joint's torque in the close-up, its limits, and its peak over the whole run."""
    mask, info = close_up(recording), recording.info
    values, limit = recording.ticks["torques"][:, joint], info.torque_limits[joint]
    for low, high in ((limit, 1.25 * limit), (-1.25 * limit, -limit)):
        explained(axes.axhspan(low, high, color=LIMIT, alpha=0.12, linewidth=0), "red: beyond what the motor can give")
    axes.plot(recording.ticks["time"][mask], values[mask], color=MEASURED, linewidth=0.9)
    axes.set_ylim(-1.25 * limit, 1.25 * limit)
    known = np.abs(values[np.isfinite(values)])
    if known.size:
        text = f"peak of the run {known.max():.1f} of {limit:g} N m"
        axes.text(0.02, 0.03, text, transform=axes.transAxes, fontsize=7, color="#555555")
    axes.set_title(info.joint_names[joint].removesuffix("_joint").replace("_", " "), fontsize=9)


def planned_cone(axes: Axes, recording: Recording) -> None:
    """The plan's contact forces of the whole run, along the heading, against the planner's friction cone."""
    info, forces = recording.info, recording.ticks["planned_forces"].copy()
    if info.force_dimension == 3:
        yaw = recording.rpy[:, 2, None]
        forces[..., 0] = np.cos(yaw) * forces[..., 0] + np.sin(yaw) * forces[..., 1]
    top = 1.0
    for point, (name, colour) in enumerate(zip(info.contact_points, point_colours(info.contact_points))):
        pressed = forces[(forces[:, point] != 0.0).any(axis=1) & np.isfinite(forces[:, point]).all(axis=1), point]
        if pressed.size:
            top = max(top, float(pressed[:, -1].max()))
            _scatter(axes, pressed[:, 0], pressed[:, -1], colour, name)
    _cone(axes, info.planner_friction, top)
    axes.set(title=f"Planned forces, μ = {info.planner_friction:g}")


def measured_cone(axes: Axes, recording: Recording) -> None:
    """Each foot's measured contact force of the whole run, along the heading, against the ground's friction cone."""
    info, forces = recording.info, recording.ticks["contact_forces"]
    friction = float(info.options.get("friction", np.nan))
    yaw = recording.rpy[:, 2]
    top = 1.0
    for foot, name in enumerate(info.foot_names):
        forward = np.cos(yaw) * forces[:, foot, 0] + np.sin(yaw) * forces[:, foot, 1]
        touching = forces[:, foot, 2] > CONTACT_FORCE
        if touching.any():
            top = max(top, 1.4 * float(np.percentile(forces[touching, foot, 2], 98.0)))
            _scatter(axes, forward[touching], forces[touching, foot, 2], FOOT_COLOURS[foot % len(FOOT_COLOURS)], name)
    if top == 1.0:
        nothing(axes, "contact forces were not measured")
        return
    _cone(axes, friction, top)
    axes.set(xlim=(-1.1 * friction * top, 1.1 * friction * top), ylim=(-0.05 * top, 1.05 * top))
    _tell_peak(axes, recording)
    axes.set(title=f"Measured forces, μ = {friction:g}")


def normal_forces(axes: Axes, recording: Recording) -> None:
    """Planned normal forces and the measured total in the close-up."""
    mask, ticks = close_up(recording), recording.ticks
    time = ticks["time"][mask]
    measured, planned = ticks["contact_forces"][mask][:, :, 2].sum(axis=1), ticks["planned_forces"][mask][:, :, -1]
    axes.fill_between(time, measured, color=MUTED, alpha=0.35, linewidth=0, label="measured, sum")
    points = recording.info.contact_points
    for point, (name, colour) in enumerate(zip(points, point_colours(points))):
        axes.plot(time, planned[:, point], color=colour, label=_words(name))
    known = planned[np.isfinite(planned)]
    if known.size and known.max() > 0.0:
        top = 1.3 * float(np.nansum(planned, axis=1).max())
        axes.set_ylim(-0.05 * top, top)
        _tell_peak(axes, recording)
    axes.set(xlabel="time [s]", ylabel="normal force [N]", title="Normal forces")
    legend(axes)
    if time.size > 1:
        axes.set_xlim(time[0], time[-1])


def gait(axes: Axes, recording: Recording) -> None:
    """Gait in the close-up: planned (wide) and measured (narrow) contact of each foot."""
    mask, ticks, info = close_up(recording), recording.ticks, recording.info
    time, modes = ticks["time"][mask], ticks["mode"][mask]
    scheduled = np.array(
        [[foot in feet for foot in info.foot_names] for feet in info.mode_feet] + [[False] * len(info.foot_names)]
    )
    for foot, _name in enumerate(info.foot_names):
        colour, row = FOOT_COLOURS[foot % len(FOOT_COLOURS)], len(info.foot_names) - 1 - foot
        bars = [(a, b - a) for a, b in stretches(time, scheduled[modes, foot])]
        pale = axes.broken_barh(bars, (row - 0.4, 0.8), facecolors=colour, alpha=0.25, linewidth=0)
        explained(pale, "wide and pale: contact by schedule")
        touching = ticks["contact_forces"][mask, foot, 2] > CONTACT_FORCE
        bars = [(a, b - a) for a, b in stretches(time, touching)]
        narrow = axes.broken_barh(bars, (row - 0.18, 0.36), facecolors=colour, linewidth=0)
        explained(narrow, f"narrow and dark: measured force above {CONTACT_FORCE:g} N")
    axes.set_yticks(range(len(info.foot_names)), [_words(name) for name in reversed(info.foot_names)])
    axes.set(xlabel="time [s]", title="Footfalls, last cycles")
    axes.grid(axis="y", visible=False)
    axes.set_ylim(-0.6, len(info.foot_names) - 0.4)
    if time.size > 1:
        axes.set_xlim(time[0], time[-1])


def planned_touchdowns(axes: Axes, recording: Recording) -> None:
    """Per published plan, the largest height of a sole above (or below) the ground when it lands."""
    solves = recording.solves
    known = solves["ok"] & np.isfinite(solves["touchdown_error"])
    axes.plot(
        solves["time"][known], 1e3 * solves["touchdown_error"][known], ".", color=PLANNED, markersize=2.5, alpha=0.6
    )
    axes.set(ylabel="|sole height| [mm]", title="Touchdown error of each plan")
    axes.set_ylim(bottom=0.0)
    time_axis(axes, recording)


def touchdowns_known(recording: Recording) -> tuple[bool, bool]:
    """True if heights of soles at touchdowns are known of plans, and of the robot."""
    planned = recording.solves["touchdown_error"][recording.solves["ok"]]
    return bool(np.isfinite(planned).any()), bool(np.isfinite(analysis.touchdowns(recording).heights).any())


def measured_touchdowns(axes: Axes, recording: Recording) -> None:
    """Measured height of each sole at the instant its touchdown is scheduled."""
    landings = analysis.touchdowns(recording)
    for foot, name in enumerate(recording.info.foot_names):
        own = landings.feet == foot
        colour = FOOT_COLOURS[foot % len(FOOT_COLOURS)]
        axes.plot(landings.times[own], 1e3 * landings.heights[own], "o", color=colour, markersize=3, label=_words(name))
    axes.axhline(0.0, color=MUTED, linewidth=0.6)
    axes.set(ylabel="sole height [mm]", title="Measured at the scheduled touchdowns")
    _at_least(axes, _NARROWEST_MM)
    legend(axes)
    time_axis(axes, recording)


def _course(axes: Axes, recording: Recording, values: Array, colour: str, name: str | None = None) -> None:
    """A quantity that swings with the gait: as it is, or its range and mean over a cycle where the run is long."""
    time, period = recording.ticks["time"], recording.info.control_period
    if not time.size or time[-1] - time[0] <= _LONG:
        axes.plot(time, values, color=colour, linewidth=0.8, label=name)
        return
    cycle = analysis.gait_period(recording)
    low, high = analysis.moving_range(values, cycle, period)
    band = axes.fill_between(time, low, high, color=colour, alpha=0.25, linewidth=0)
    explained(band, "pale band: range over a cycle of the gait; line: mean")
    axes.plot(time, analysis.moving_mean(values, cycle, period), color=colour, linewidth=1.0, label=name)


def _at_least(axes: Axes, half_range: float) -> None:
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, -half_range), max(high, half_range))


def _scatter(axes: Axes, x: Array, y: Array, colour: str, name: str) -> None:
    step = max(1, len(x) // _SCATTER_POINTS)
    axes.plot(x[::step], y[::step], ".", color=colour, markersize=2.0, alpha=0.4, label=_words(name))


def _cone(axes: Axes, friction: float, top: float) -> None:
    inside = axes.fill_between(
        [-friction * top, 0.0, friction * top], [top, 0.0, top], top, color="#009e73", alpha=0.10, linewidth=0
    )
    explained(inside, "green: inside the friction cone")
    axes.plot([-friction * top, 0.0, friction * top], [top, 0.0, top], color=LIMIT, linewidth=1.0)
    axes.axhline(0.0, color=MUTED, linewidth=0.6)
    axes.set(xlabel="forward force [N]", ylabel="normal force [N]")
    legend(axes, marker_scale=4.0)


def _tell_peak(axes: Axes, recording: Recording) -> None:
    """Impacts are too short and too high to set the scale by: say how high, and that it is the contact model's."""
    peak = analysis.peak_force(recording)
    if np.isfinite(peak):
        text = f"a foot's peak at impact {peak:.0f} N,\nset by the simulator's stiff contact"
        axes.text(0.99, 0.97, text, transform=axes.transAxes, ha="right", va="top", fontsize=7, color="#555555")


def _words(name: str) -> str:
    return name.removesuffix("_foot").replace("_", " ")
