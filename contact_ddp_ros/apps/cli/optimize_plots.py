"""The figures of one trajectory optimisation: how it converged, and the motion that it found."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contact_ddp_ros.robot.policy import Policy
from contact_ddp_ros.runs.report.style import LIMIT, MEASURED, MUTED, POINT_COLOURS, figure, legend, point_colours

_SMALLEST, _SMALLEST_VIOLATION = 1e-16, 1e-7
"""Zero, on the logarithmic axes of costs and of violations."""

_DASHES = (":", "--", "-")
"""Dashes of abduction, hip and knee."""


@dataclass(frozen=True)
class Drawing:
    """Content of a drawing.

    Attributes:
        policy: the optimal trajectory.
        passes: the iterations of each pass.
        joint_names: (n,) of the model's tree, base_x, base_z and base_pitch among them.
        actuated: (n_u,) indices of the joints with an actuator, leg by leg in the order of the feet.
        effort_limits: (n_u,) [N m].
        feet: contact points, in the order of the forces.
        friction: of the planner's cone.
    """

    policy: Policy
    passes: tuple[tuple[Any, ...], ...]
    joint_names: tuple[str, ...]
    actuated: tuple[int, ...]
    effort_limits: tuple[float, ...]
    feet: tuple[str, ...]
    friction: float


def save(drawing: Drawing, folder: Path) -> tuple[Path, ...]:
    """Draw `convergence.png` and `trajectory.png` into `folder` and return them."""
    convergence, trajectory = folder / "convergence.png", folder / "trajectory.png"
    with figure(convergence, 9.0, 6.5, "Convergence") as drawn:
        _convergence(drawn, drawing)
    with figure(trajectory, 11.0, 8.0, "Optimal trajectory") as drawn:
        _trajectory(drawn, drawing)
    return convergence, trajectory


def _convergence(drawn: Figure, drawing: Drawing) -> None:
    iterations = [iteration for one in drawing.passes for iteration in one]
    count = np.arange(1, len(iterations) + 1)
    axes = drawn.subplots(3, 1, sharex=True)

    def values(name: str) -> np.ndarray:
        return np.array([getattr(iteration, name) for iteration in iterations], dtype=float)

    axes[0].semilogy(count, np.maximum(values("expected"), _SMALLEST), ".-", color=MUTED, label="expected")
    axes[0].semilogy(count, np.maximum(values("actual"), _SMALLEST), ".-", color=MEASURED, label="actual")
    axes[0].set(ylabel="cost reduction", title="Reduction of the cost")
    axes[1].semilogy(count, np.maximum(1e3 * values("equality"), _SMALLEST_VIOLATION), ".-", color=MEASURED)
    axes[1].semilogy(count, np.maximum(values("inequality"), _SMALLEST_VIOLATION), ".-", color=POINT_COLOURS[1])
    axes[1].lines[0].set_label("touchdown error [mm]")
    axes[1].lines[1].set_label("limits and cone, relative [-]")
    axes[1].set(ylabel="violation", title="Violated constraints")
    legend(axes[1])
    axes[2].plot(count, values("hessian_blend"), ".-", color=POINT_COLOURS[0], label="second-order share θ")
    axes[2].plot(count, values("step"), ".-", color=POINT_COLOURS[1], label="step length α")
    axes[2].set(ylabel="[-]", xlabel="iteration", title="Step", ylim=(-0.05, 1.05))
    legend(axes[0])
    legend(axes[2])
    for panel in axes:
        for end in np.cumsum([len(one) for one in drawing.passes])[:-1]:
            panel.axvline(end + 0.5, color=LIMIT, linewidth=0.7, linestyle=":")


def _trajectory(drawn: Figure, drawing: Drawing) -> None:
    axes = drawn.subplots(3, 2, sharex=True)
    policy, n = drawing.policy, len(drawing.joint_names)
    times, q, v = policy.times, policy.states[:, :n], policy.states[:, n:]
    forward, height, pitch = (drawing.joint_names.index(f"base_{name}") for name in ("x", "z", "pitch"))
    axes[0, 0].plot(times, q[:, height], color=MEASURED)
    axes[0, 0].set(ylabel="trunk height [m]", title="Height")
    axes[0, 1].plot(times, v[:, forward], color=MEASURED)
    axes[0, 1].set(ylabel="forward speed [m/s]", title="Speed")
    axes[1, 0].plot(times, np.rad2deg(q[:, pitch]), color=MEASURED)
    axes[1, 0].set(ylabel="pitch [°]", title="Pitch")
    for joint, look in zip(drawing.actuated, _looks(drawing)):
        axes[1, 1].plot(times, q[:, joint], **look)
    axes[1, 1].set(ylabel="joint angle [rad]", title="Joints")
    _torques(axes[2, 0], drawing)
    _forces(axes[2, 1], drawing)
    legend(axes[1, 1])
    for panel in axes.flat:
        _mode_bands(panel, drawing)
    for panel in axes[-1]:
        panel.set_xlabel("time [s]")


def _torques(axes: Axes, drawing: Drawing) -> None:
    policy = drawing.policy
    held = np.vstack([drawing.policy.controls, drawing.policy.controls[-1:]])
    steps = np.append(np.diff(policy.times) > 0.0, True)
    for look, limit, torque in zip(_looks(drawing), drawing.effort_limits, held.T):
        axes.step(policy.times[steps], torque[steps] / limit, where="post", linewidth=0.9, **look)
    for limit in (-1.0, 1.0):
        axes.axhline(limit, color=LIMIT, linestyle="--", linewidth=1.0)
    axes.set(ylabel="torque / limit [-]", title="Torques: knees solid, hips dashed, abductions dotted")


def _looks(drawing: Drawing) -> Iterator[dict[str, Any]]:
    """Colour and dash of each actuated joint: a colour for a leg, a dash for a joint of it."""
    for foot, colour in zip(drawing.feet, point_colours(drawing.feet)):
        styles = _DASHES[-len(drawing.actuated) // len(drawing.feet) :]
        for style in styles:
            yield {"color": colour, "linestyle": style, "label": _words(foot) if style == styles[-1] else None}


def _forces(axes: Axes, drawing: Drawing) -> None:
    policy = drawing.policy
    steps = np.diff(policy.times) > 0.0
    forces = policy.forces.reshape(len(policy.forces), len(drawing.feet), -1)[steps]
    times = policy.times[:-1][steps]
    for point, name in enumerate(drawing.feet):
        colour, label = point_colours(drawing.feet)[point], _words(name)
        axes.plot(times, forces[:, point, -1], color=colour, label=f"{label}, normal")
        axes.plot(times, forces[:, point, 0], color=colour, linestyle=":", label=f"{label}, forward")
        cone = drawing.friction * forces[:, point, -1]
        axes.fill_between(times, -cone, cone, color=colour, alpha=0.10, linewidth=0)
    axes.set(ylabel="force [N]", title="Contact forces, cone shaded")
    axes.legend(loc="upper right", fontsize=7)


def _mode_bands(axes: Axes, drawing: Drawing) -> None:
    """Stretches with a foot on the ground are shaded; a mode with neither a contact nor a force is flight."""
    policy = drawing.policy
    pressed = (policy.forces != 0.0).any(axis=1)
    for k in np.flatnonzero(pressed):
        axes.axvspan(policy.times[k], policy.times[k + 1], color="#f0f0f0", zorder=0, linewidth=0)
    axes.set_xlim(policy.times[0], policy.times[-1])


def _words(name: str) -> str:
    return name.removesuffix("_foot").replace("_", " ")
