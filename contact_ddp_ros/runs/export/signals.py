"""The numbers of a recording over time, as tables with names: what is plotted elsewhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.robot.policy_kinematics import legs_of_contacts
from contact_ddp_ros.runs.recording import Recording, analysis
from contact_ddp_ros.runs.recording.record import Array, states_at
from contact_ddp_ros.runs.report.panels import CONTACT_FORCE

AXES: Final = ("roll", "pitch", "yaw")

COMPONENTS: Final = ("forward", "normal")
"""Components of a planned force, along the heading and up."""


@dataclass(frozen=True)
class Signals:
    """Columns over the same (n,) times [s]; dots in a name make groups. Nobody knows a NaN."""

    name: str
    times: Array
    columns: Mapping[str, Array]


def signals(recording: Recording) -> list[Signals]:
    """All tables that hold something; columns that nobody knows are left out."""
    ticks, solves = recording.ticks["time"], recording.solves["time"]
    tables = [
        Signals("trunk", ticks, _trunk(recording)),
        Signals("joints", ticks, _joints(recording)),
        Signals("feet", ticks, _feet(recording)),
        Signals("plan", ticks, _plan(recording)),
        Signals("gait", ticks, _gait(recording)),
        Signals("solves", solves, _solves(recording)),
    ]
    known = [
        Signals(table.name, table.times, {name: one for name, one in table.columns.items() if np.isfinite(one).any()})
        for table in tables
    ]
    return [table for table in known if table.columns and len(table.times)]


def _trunk(recording: Recording) -> dict[str, Array]:
    ticks, rpy, velocity = recording.ticks, recording.rpy, recording.heading_velocity
    return {
        "commanded_speed": ticks["commanded_speed"],
        "forward_speed": velocity[:, 0],
        "sideways_speed": velocity[:, 1],
        "upward_speed": velocity[:, 2],
        "height": recording.height,
        **{f"position.{axis}": ticks["position"][:, index] for index, axis in enumerate("xyz")},
        **{name: rpy[:, index] for index, name in enumerate(AXES)},
        **{f"{name}_rate": ticks["angular_velocity"][:, index] for index, name in enumerate(AXES)},
    }


def _joints(recording: Recording) -> dict[str, Array]:
    columns = {
        "position": "joint_positions",
        "velocity": "joint_velocities",
        "torque": "torques",
        "target_position": "target_positions",
        "target_velocity": "target_velocities",
        "target_torque": "target_torques",
    }
    return {
        f"{joint.removesuffix('_joint')}.{name}": recording.ticks[column][:, index]
        for index, joint in enumerate(recording.info.joint_names)
        for name, column in columns.items()
        if column in recording.ticks
    }


def _feet(recording: Recording) -> dict[str, Array]:
    ticks, info = recording.ticks, recording.info
    down = np.array([[foot in feet for foot in info.foot_names] for feet in info.mode_feet] + [[False] * 4], float)
    found: dict[str, Array] = {}
    for index, foot in enumerate(name.removesuffix("_foot") for name in info.foot_names):
        force = ticks["contact_forces"][:, index]
        found[f"{foot}.height"] = ticks["foot_heights"][:, index]
        found |= {f"{foot}.force.{axis}": force[:, k] for k, axis in enumerate("xyz")}
        found[f"{foot}.contact"] = np.where(np.isfinite(force[:, 2]), force[:, 2] > CONTACT_FORCE, np.nan)
        found[f"{foot}.scheduled"] = np.where(ticks["mode"] >= 0, down[ticks["mode"], index], np.nan)
    return found


def _plan(recording: Recording) -> dict[str, Array]:
    """Planned forces, and where the newest kept plan has the robot; legs that move as one have the same joints."""
    info, forces = recording.info, recording.ticks["planned_forces"]
    legs_of = legs_of_contacts(info.contact_points)
    found = {
        f"{leg}.{name}_force": forces[:, index, axis] / len(legs)
        for index, legs in enumerate(legs_of.values())
        for leg in legs
        for axis, name in ((0, COMPONENTS[0]), (-1, COMPONENTS[-1]))
    }
    states = states_at(recording.plans, recording.ticks["time"])
    for index, coordinate in enumerate(info.plan_coordinates if states.shape[1] else ()):
        for name in _of_each_leg(coordinate, legs_of):
            found[name] = states[:, index]
            found[f"{name}_rate"] = states[:, index + len(info.plan_coordinates)]
    return found


def _of_each_leg(coordinate: str, legs_of: Mapping[str, Sequence[str]]) -> list[str]:
    """Names of a planned coordinate: one that several legs share has one for each, as their joints have."""
    for contact, legs in legs_of.items():
        leg = contact.removesuffix("_foot")
        if coordinate.startswith(f"{leg}_"):
            joint = coordinate.removeprefix(leg).removesuffix("_joint")
            return [one + joint for one in legs]
    return [coordinate]


def _gait(recording: Recording) -> dict[str, Array]:
    return {
        "phase": analysis.phase(recording),
        "mode": _unless_unknown(recording.ticks["mode"]),
        "control_mode": _unless_unknown(recording.ticks["control_mode"]),
    }


def _solves(recording: Recording) -> dict[str, Array]:
    solves = recording.solves
    found = {
        name: column.astype(float)
        for name, column in solves.items()
        if name not in ("time", "cost_terms") and column.ndim == 1 and column.dtype.kind in "fiub"
    }
    terms = {f"cost_terms.{name}": solves["cost_terms"][:, k] for k, name in enumerate(recording.info.cost_terms)}
    return {**found, **terms}


def _unless_unknown(indices: NDArray[np.int64]) -> Array:
    return np.where(indices >= 0, indices.astype(float), np.nan)
