"""Closed loops as data: the common options of all benchmarks of the loop, and the changes of one case.

Where nothing else is said, the nominal robot bounds at 0.5 m/s on level ground of friction 0.8, without noise, planner
delay and pushes.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from contact_ddp_ros.mpc.config import GaitConfig
from contact_ddp_ros.mpc.planar_reference import planar_schedule
from contact_ddp_ros.plants.pushes import Push
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.study.study import Case, Target

SPEED = 0.5
"""Commanded speed unless it is what varies [m/s]."""

CYCLE = planar_schedule(GaitConfig()).period
"""Period of the gait [s]."""

PUSH_DURATION = 0.1
"""Duration of a push [s]."""

RECOVERY = 2.0
"""Longest time until the robot is straight again after a push [s]."""

DIRECTIONS = {"forward": (1.0, 0.0), "backward": (-1.0, 0.0), "left": (0.0, 1.0), "right": (0.0, -1.0)}
"""Unit vectors in `odom` axes, x forward, y left."""


def bounding(overrides: Mapping[str, Any], speed: float = SPEED, **options: Any) -> RunOptions:
    """Options of a run at a speed [m/s], with parameters "section.name" → value, and others of RunOptions."""
    return RunOptions(**{"speed": ((0.0, speed),), "video": False, **options}, overrides=dict(overrides))


def changed(options: RunOptions, overrides: Mapping[str, Any] | None = None, **others: Any) -> RunOptions:
    """Options with some of them changed; parameters are added to those that there are, which count more."""
    return replace(options, overrides={**(overrides or {}), **options.overrides}, **others)


def cases(
    base: RunOptions, groups: Mapping[str, Mapping[str, Mapping[str, Any]]], target: Target | None = None
) -> list[Case]:
    """The runs of a grid: by group and name, the options that are unlike the base; a target of every group."""
    return [
        Case(group, name, changed(base, **unlike), target=target)
        for group, members in groups.items()
        for name, unlike in members.items()
    ]


def push_of(impulse: float, towards: tuple[float, float] | float, time: float) -> Push:
    """A push of an impulse [N s] that begins at a time [s], along a unit vector or by its angle from forward [rad]."""
    x, y = towards if isinstance(towards, tuple) else (math.cos(towards), math.sin(towards))
    force = impulse / PUSH_DURATION
    return Push(time, (force * x, force * y, 0.0), PUSH_DURATION)
