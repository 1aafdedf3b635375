"""A recording as an MCAP file, in Foxglove's well-known types and, for numbers, in JSON."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import foxglove
import numpy as np
from foxglove.channels import FrameTransformsChannel, LogChannel, SceneUpdateChannel
from foxglove.messages import Log, LogLevel, SceneUpdate

from contact_ddp_ros.base.files import plain
from contact_ddp_ros.runs import scene as look
from contact_ddp_ros.runs.export import foxglove_scene as scene
from contact_ddp_ros.runs.export.signals import Signals, signals
from contact_ddp_ros.runs.recording import Recording
from contact_ddp_ros.runs.scene import Moment, RecordedRobot

SUFFIX = ".mcap"


def write(recording: Recording, path: Path) -> None:
    """Write numbers, robot, plan, forces, events and the run's settings; times are the run's own, from 0 s on."""
    context = foxglove.Context()
    with foxglove.open_mcap(path, allow_overwrite=True, context=context) as file:
        file.write_metadata("run", _settings(recording))
        for table in signals(recording):
            _write_numbers(table, context)
        _write_motion(recording, context)
        log = LogChannel("/events", context=context)
        for event in recording.events:
            level = LogLevel.Error if event.fault else LogLevel.Info
            message = Log(timestamp=scene.stamp(event.time), level=level, message=event.text, name=recording.info.job)
            log.log(message, log_time=_nanoseconds(event.time))


def schema(names: Mapping[str, Any], title: str) -> dict[str, Any]:
    """The JSON schema of messages with numbers under dotted names."""
    tree: dict[str, Any] = {"type": "object", "title": title, "properties": {}}
    for name in names:
        place = tree
        *groups, leaf = name.split(".")
        for group in groups:
            place = place["properties"].setdefault(group, {"type": "object", "properties": {}})
        place["properties"][leaf] = {"type": "number"}
    return tree


def _write_numbers(table: Signals, context: foxglove.Context) -> None:
    channel = foxglove.Channel(f"/{table.name}", schema=schema(table.columns, table.name), context=context)
    for row, time in enumerate(table.times):
        channel.log(nested({name: column[row] for name, column in table.columns.items()}), log_time=_nanoseconds(time))


def nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers under dotted names as nested objects; those that are not finite are left out, for JSON has none."""
    tree: dict[str, Any] = {}
    for name, value in values.items():
        if not np.isfinite(value):
            continue
        place = tree
        *groups, leaf = name.split(".")
        for group in groups:
            place = place.setdefault(group, {})
        place[leaf] = float(value)
    return tree


def _write_motion(recording: Recording, context: foxglove.Context) -> None:
    motion = RecordedRobot(recording)
    names, shapes = motion.bodies, motion.shapes
    moving = sorted({shape.body for shape in shapes if shape.body})
    begin = float(recording.ticks["time"][0])
    for topic, bodies in (("/ground", [0]), ("/robot", moving)):
        drawn = scene.figure(begin, names, shapes, bodies)
        SceneUpdateChannel(topic, context=context).log(drawn, log_time=_nanoseconds(begin))
    frames = FrameTransformsChannel("/tf", context=context)
    forces = SceneUpdateChannel("/forces", context=context)
    ghost = _Ghost(motion, moving, context) if motion.has_plans else None
    for moment in motion.moments():
        time = _nanoseconds(moment.time)
        frames.log(scene.transforms(moment.time, names, moment.robot), log_time=time)
        measured = scene.arrows(moment.time, "measured", moment.soles, moment.forces, look.MEASURED_FORCE)
        planned = scene.arrows(moment.time, "planned", moment.soles, moment.planned, look.PLANNED_FORCE)
        forces.log(SceneUpdate(entities=[measured, planned]), log_time=time)
        if ghost is not None:
            ghost.log(moment)
    if ghost is not None:
        plans = SceneUpdateChannel("/plan_path", context=context)
        for path in motion.paths():
            plans.log(scene.plan(path), log_time=_nanoseconds(path.time))


class _Ghost:
    """The ghost, which is taken away where no kept plan covers the time."""

    def __init__(self, motion: RecordedRobot, bodies: list[int], context: foxglove.Context) -> None:
        self._motion, self._bodies = motion, bodies
        self._frames = FrameTransformsChannel("/ghost_tf", context=context)
        self._shapes = SceneUpdateChannel("/ghost", context=context)
        self._shown = False

    def log(self, moment: Moment) -> None:
        """Show it where it is, or not."""
        time, names = _nanoseconds(moment.time), self._motion.bodies
        if moment.ghost is None:
            if self._shown:
                self._shapes.log(scene.nothing(moment.time), log_time=time)
        else:
            pose = scene.transforms(moment.time, names, moment.ghost, look.GHOST_PREFIX)
            self._frames.log(pose, log_time=time)
            if not self._shown:
                drawn = scene.figure(moment.time, names, self._motion.shapes, self._bodies, ghost=True)
                self._shapes.log(drawn, log_time=time)
        self._shown = moment.ghost is not None


def _settings(recording: Recording) -> dict[str, str]:
    info = recording.info
    parts = {
        "job": info.job,
        "commit": info.commit or "",
        "started": info.started,
        "options": info.options,
        "parameters": info.parameters or {},
        "versions": info.versions or {},
        "machine": info.machine or {},
    }
    return {name: part if isinstance(part, str) else json.dumps(plain(part)) for name, part in parts.items()}


def _nanoseconds(time: float) -> int:
    return round(1e9 * float(time))
