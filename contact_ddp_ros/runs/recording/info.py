"""Description of a recording's numbers and of how they came about."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime, timezone
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base import versions as provenance
from contact_ddp_ros.base.errors import RecordingError
from contact_ddp_ros.base.files import plain
from contact_ddp_ros.plants.terrain.shapes import Terrain
from contact_ddp_ros.plants.terrain.words import FLAT, parse_terrain
from contact_ddp_ros.runs.options import RunOptions

FALL_HEIGHT = 0.15
"""Trunk height below which the Mini Cheetah has fallen, about half of that in a bound [m]."""

_NOT_OF_A_RUN = ("composed", "record_plans", "video", "out")
"""Options that make no difference to what a robot does."""


@dataclass(frozen=True)
class RunInfo:
    """Description of a recording's numbers and of how they came about. Plain data: JSON holds all of it.

    Attributes:
        job: what produced it, e.g. "sim" or "demo".
        options: the run's options as plain data.
        joint_names: (n_joints,) order of all joint columns.
        torque_limits: (n_joints,) the actuators' limits [N m].
        foot_names: (n_feet,) order of measured feet.
        contact_points: the planner's contact points, in the order of the planned forces.
        force_dimension: components of a planned force: 2 (forward, up) in the plane, 3 in space.
        mode_names: names of the gait's modes; `mode` columns index them.
        mode_feet: per gait mode, names of the feet that are on the ground by schedule.
        gait_period: of a cycle of the gait at the beginning [s]; 0 in recordings that do not tell.
        control_period: of the controller [s].
        planner_period: of the planner, which is also the deadline of a solve [s].
        planner_friction: friction coefficient that the plan's forces must respect.
        fall_height: of the trunk's origin above the ground, below which the robot has fallen [m].
        ground_height: height in `odom` of what the terrain counts from [m].
        cost_terms: names of the terms of a plan's cost, the order of the column `cost_terms`.
        plan_coordinates: (n_q,) names of the planner's coordinates; a state of a plan is these, then their rates.
        parameters: in effect, by section ("planner", ...) and dotted name.
        commit: of the checkout the code came from, `+` at its end where files differed; empty for an installed package.
        versions, machine: see :mod:`contact_ddp_ros.base.process`.
        processors: by node, how many processors its process kept busy on average; empty where nothing measured it.
        started: UTC date and time, ISO 8601.
        interrupted: whether the user stopped the run early.
    """

    job: str
    options: Mapping[str, Any]
    joint_names: tuple[str, ...]
    torque_limits: tuple[float, ...]
    foot_names: tuple[str, ...]
    contact_points: tuple[str, ...]
    mode_names: tuple[str, ...]
    mode_feet: tuple[tuple[str, ...], ...]
    control_period: float
    planner_period: float
    planner_friction: float
    gait_period: float = 0.0
    force_dimension: int = 2
    ground_height: float = 0.0
    fall_height: float = FALL_HEIGHT
    cost_terms: tuple[str, ...] = ()
    plan_coordinates: tuple[str, ...] = ()
    parameters: Mapping[str, Mapping[str, Any]] | None = None
    commit: str | None = None
    versions: Mapping[str, str] | None = None
    machine: Mapping[str, str | int] | None = None
    processors: Mapping[str, float] | None = None
    started: str = ""
    interrupted: bool = False

    def __post_init__(self) -> None:
        """Fills in versions, machine and date; raises RecordingError where sizes disagree."""
        if len(self.torque_limits) != len(self.joint_names):
            raise RecordingError(f"{len(self.torque_limits)} torque limits for {len(self.joint_names)} joints")
        if len(self.mode_feet) != len(self.mode_names):
            raise RecordingError(f"feet of {len(self.mode_feet)} modes for {len(self.mode_names)} mode names")
        unknown = {foot for feet in self.mode_feet for foot in feet} - set(self.foot_names)
        if unknown:
            raise RecordingError(f"mode_feet names {sorted(unknown)}; the feet are {list(self.foot_names)}")
        object.__setattr__(self, "parameters", self.parameters or {})
        object.__setattr__(self, "processors", self.processors or {})
        object.__setattr__(self, "commit", provenance.commit() if self.commit is None else self.commit)
        object.__setattr__(self, "versions", self.versions or provenance.versions())
        object.__setattr__(self, "machine", self.machine or provenance.machine())
        object.__setattr__(self, "started", self.started or datetime.now(timezone.utc).isoformat(timespec="seconds"))

    def heights(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """(N,) height of points (N, 3) in `odom` above the ground below them, as it was simulated [m]."""
        return points[:, 2] - self.ground_height - self._terrain.heights(points)

    @cached_property
    def _terrain(self) -> Terrain:
        return parse_terrain(self.options.get("terrain", FLAT))


def plain_options(options: RunOptions) -> dict[str, Any]:
    """Options that a run depends on as JSON-ready data, those that are short for a parameter as in effect."""
    return {one.name: plain(options.in_effect(one.name)) for one in fields(options) if one.name not in _NOT_OF_A_RUN}
