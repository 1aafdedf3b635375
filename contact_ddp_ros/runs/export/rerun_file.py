"""A recording as a file of rerun, with the layout it is looked at in."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import rerun as rr
import rerun.blueprint as rrb

from contact_ddp_ros.plants.figure import Shape
from contact_ddp_ros.robot.joints import LEG_NAMES
from contact_ddp_ros.runs import scene as look
from contact_ddp_ros.runs.export.signals import Signals, signals
from contact_ddp_ros.runs.recording import Recording
from contact_ddp_ros.runs.scene import Moment, Pose, RecordedRobot

SUFFIX = ".rrd"

TIMELINE = "time"
"""The run's own time."""

_GONE = 1e-6
"""Scale at which what is not there is drawn."""


def write(recording: Recording, path: Path) -> None:
    """Write numbers, robot, plan, forces and events, with a layout."""
    tables = signals(recording)
    name = f"contact_ddp_ros {recording.info.job}"
    with rr.RecordingStream(name) as stream:
        stream.save(path, default_blueprint=layout(tables))
        stream.send_recording_name(f"{recording.info.job} {recording.info.started}")
        for table in tables:
            _write_numbers(stream, table)
        _write_motion(stream, recording)
        for event in recording.events:
            stream.set_time(TIMELINE, duration=event.time)
            level = rr.TextLogLevel.ERROR if event.fault else rr.TextLogLevel.INFO
            stream.log("events", rr.TextLog(event.text, level=level))
        stream.flush()
        stream.disconnect()


def layout(tables: Sequence[Signals]) -> rrb.Blueprint:
    """Space beside the courses that matter most; the others are a click away."""
    known = {f"{table.name}/{column.replace('.', '/')}" for table in tables for column in table.columns}
    views = [
        rrb.TimeSeriesView(name=title, origin="/", contents=[f"/{one}" for one in wanted if one in known])
        for title, wanted in _VIEWS.items()
        if known & set(wanted)
    ]
    space = rrb.Spatial3DView(name="robot", origin="/world", contents=["$origin/**"])
    return rrb.Blueprint(
        rrb.Horizontal(
            rrb.Vertical(space, rrb.TextLogView(name="events", origin="/events"), row_shares=[5, 1]),
            rrb.Vertical(*views),
            column_shares=[3, 2],
        ),
        collapse_panels=True,
    )


_VIEWS = {
    "speed": ("trunk/forward_speed", "trunk/commanded_speed"),
    "height": ("trunk/height", "plan/base_z"),
    "pitch": ("trunk/pitch", "plan/base_pitch"),
    "knees": ("joints/fr_knee/position", "plan/fr_knee", "joints/hr_knee/position", "plan/hr_knee"),
    "planned normal forces": tuple(f"plan/{leg}/normal_force" for leg in LEG_NAMES),
    "solves": ("solves/iterations", "solves/theta", "solves/solve_ms"),
}
"""Signals that are plotted together."""


def _write_numbers(stream: rr.RecordingStream, table: Signals) -> None:
    for name, column in table.columns.items():
        known = np.isfinite(column)
        times = rr.TimeColumn(TIMELINE, duration=table.times[known])
        entity = f"{table.name}/{name.replace('.', '/')}"
        stream.send_columns(entity, indexes=[times], columns=rr.Scalars.columns(scalars=column[known]))


def _write_motion(stream: rr.RecordingStream, recording: Recording) -> None:
    motion = RecordedRobot(recording)
    stream.log("world", rr.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
    for index, shape in enumerate(motion.shapes):
        _draw(stream, f"world/{_place(motion, shape.body)}/{index}", shape, look.colour_of(shape))
        if shape.body and motion.has_plans:
            _draw(stream, f"world/{look.GHOST_PREFIX}{_place(motion, shape.body)}/{index}", shape, look.GHOST)
    moments = list(motion.moments())
    times = rr.TimeColumn(TIMELINE, duration=[moment.time for moment in moments])
    for body in range(1, len(motion.bodies)):
        _move(stream, times, f"world/{_place(motion, body)}", body, [moment.robot for moment in moments])
        if motion.has_plans:
            ghosts = [moment.ghost for moment in moments]
            _move(stream, times, f"world/{look.GHOST_PREFIX}{_place(motion, body)}", body, ghosts)
    _write_forces(stream, moments)
    for path in motion.paths():
        stream.set_time(TIMELINE, duration=path.time)
        colours = [look.bytes_of(look.TRUNK_PATH), *[look.bytes_of(look.FOOT_PATH)] * len(path.soles)]
        stream.log("world/plan", rr.LineStrips3D([path.trunk, *path.soles], colors=colours, radii=0.002))


def _write_forces(stream: rr.RecordingStream, moments: Sequence[Moment]) -> None:
    for moment in moments:
        stream.set_time(TIMELINE, duration=moment.time)
        for name, forces, colour in (
            ("measured", moment.forces, look.MEASURED_FORCE),
            ("planned", moment.planned, look.PLANNED_FORCE),
        ):
            drawn = np.linalg.norm(forces, axis=1) > look.SMALLEST_FORCE
            arrows = rr.Arrows3D(
                origins=moment.soles[drawn],
                vectors=look.FORCE_SCALE * forces[drawn],
                colors=look.bytes_of(colour),
                radii=0.5 * look.SHAFT,
            )
            stream.log(f"world/forces/{name}", arrows)


def _place(motion: RecordedRobot, body: int) -> str:
    return f"robot/{motion.bodies[body]}" if body else "ground"


def _move(
    stream: rr.RecordingStream, times: rr.TimeColumn, entity: str, body: int, poses: Sequence[Pose | None]
) -> None:
    """Poses of a body at each of the times; one that has none is drawn too small to be seen."""
    nowhere = (np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]))
    places = [nowhere if pose is None else (pose.positions[body], pose.quaternions[body]) for pose in poses]
    columns = rr.Transform3D.columns(
        translation=np.array([position for position, _ in places]),
        quaternion=np.array([quaternion for _, quaternion in places]),
        scale=np.array([[_GONE if pose is None else 1.0] * 3 for pose in poses]),
    )
    stream.send_columns(entity, indexes=[times], columns=columns)


def _draw(stream: rr.RecordingStream, entity: str, shape: Shape, colour: look.Colour) -> None:
    """A shape in the frame of its body, for all times."""
    x, y, z = (float(part) for part in shape.size)
    pose = {"centers": [shape.position], "quaternions": [rr.Quaternion(xyzw=np.roll(shape.wxyz, -1))]}
    drawn = {"colors": [look.bytes_of(colour)], "fill_mode": rr.components.FillMode.Solid}
    if shape.kind == "box":
        stream.log(entity, rr.Boxes3D(half_sizes=[(x, y, z)], **pose, **drawn), static=True)
    elif shape.kind == "ellipsoid":
        stream.log(entity, rr.Ellipsoids3D(half_sizes=[(x, y, z)], **pose, **drawn), static=True)
    elif shape.kind == "cylinder":
        stream.log(entity, rr.Cylinders3D(lengths=[2 * y], radii=[x], **pose, **drawn), static=True)
    elif shape.kind == "capsule":
        lower, _ = look.ends(shape)
        place = {"translations": [lower], "quaternions": pose["quaternions"]}
        stream.log(entity, rr.Capsules3D(lengths=[2 * y], radii=[x], **place, **drawn), static=True)
    elif shape.kind == "mesh":
        turned = look.in_body(shape)
        mesh = rr.Mesh3D(vertex_positions=turned, triangle_indices=shape.faces, albedo_factor=look.bytes_of(colour))
        stream.log(entity, mesh, static=True)
    else:
        half = (x or look.UNBOUNDED, y or look.UNBOUNDED, 0.5 * look.THIN)
        ground = {**pose, "centers": [look.below(shape)]}
        stream.log(entity, rr.Boxes3D(half_sizes=[half], **ground, **drawn), static=True)
