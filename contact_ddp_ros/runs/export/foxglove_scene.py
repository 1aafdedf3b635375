"""Robot, plan and forces as messages of Foxglove's well-known types."""

from collections.abc import Iterable, Sequence

import numpy as np
from foxglove.messages import (
    ArrowPrimitive,
    Color,
    CubePrimitive,
    CylinderPrimitive,
    FrameTransform,
    FrameTransforms,
    LinePrimitive,
    Point3,
    Quaternion,
    SceneEntity,
    SceneEntityDeletion,
    SceneEntityDeletionType,
    SceneUpdate,
    SpherePrimitive,
    Timestamp,
    TriangleListPrimitive,
    Vector3,
)
from foxglove.messages import Pose as PoseMessage

from contact_ddp_ros.plants.figure import Shape
from contact_ddp_ros.runs.export import look
from contact_ddp_ros.runs.export.motion import Path, Pose

ODOM = "odom"


def stamp(time: float) -> Timestamp:
    """An instant [s], counted as the run counts it."""
    nanoseconds = round(1e9 * time)
    return Timestamp(nanoseconds // 10**9, nanoseconds % 10**9)


def transforms(time: float, names: Sequence[str], pose: Pose, prefix: str = "") -> FrameTransforms:
    """Frames of all bodies but the world in `odom`."""
    return FrameTransforms(
        transforms=[
            FrameTransform(
                timestamp=stamp(time),
                parent_frame_id=ODOM,
                child_frame_id=f"{prefix}{name}",
                translation=_vector(pose.positions[body]),
                rotation=_quaternion(pose.quaternions[body]),
            )
            for body, name in enumerate(names)
            if body
        ]
    )


def figure(
    time: float, names: Sequence[str], shapes: Sequence[Shape], bodies: Iterable[int], *, ghost: bool = False
) -> SceneUpdate:
    """The shapes of some bodies, each fixed to the frame of its body; those of the ghost are pale."""
    prefix = look.GHOST_PREFIX if ghost else ""
    return SceneUpdate(
        entities=[
            _entity(
                time, f"{prefix}{names[body]}" if body else ODOM, [one for one in shapes if one.body == body], ghost
            )
            for body in bodies
        ]
    )


def arrows(time: float, name: str, soles: look.Array, forces: look.Array, colour: look.Colour) -> SceneEntity:
    """Forces (n, 3) [N] at points (n, 3) in `odom`."""
    drawn = [
        ArrowPrimitive(
            pose=_pose(sole, look.turn_to(force)),
            shaft_length=max(look.FORCE_SCALE * float(np.linalg.norm(force)) - look.HEAD, 0.0),
            shaft_diameter=look.SHAFT,
            head_length=look.HEAD,
            head_diameter=look.HEAD,
            color=_colour(colour),
        )
        for sole, force in zip(soles, forces, strict=True)
        if np.linalg.norm(force) > look.SMALLEST_FORCE
    ]
    return SceneEntity(timestamp=stamp(time), frame_id=ODOM, id=name, arrows=drawn)


def plan(path: Path) -> SceneUpdate:
    """Paths of trunk and feet in a plan."""
    lines = [_line(path.trunk, look.TRUNK_PATH), *(_line(sole, look.FOOT_PATH) for sole in path.soles)]
    return SceneUpdate(entities=[SceneEntity(timestamp=stamp(path.time), frame_id=ODOM, id="plan", lines=lines)])


def nothing(time: float) -> SceneUpdate:
    """Takes everything of its topic away."""
    return SceneUpdate(deletions=[SceneEntityDeletion(timestamp=stamp(time), type=SceneEntityDeletionType.All)])


def _entity(time: float, frame: str, shapes: Sequence[Shape], ghost: bool) -> SceneEntity:
    cubes, spheres, cylinders, triangles = [], [], [], []
    for shape in shapes:
        colour = _colour(look.GHOST if ghost else look.colour_of(shape))
        pose, (x, y, z) = _pose(shape.position, np.roll(shape.wxyz, -1)), (float(part) for part in shape.size)
        if shape.kind == "box":
            cubes.append(CubePrimitive(pose=pose, size=Vector3(x=2 * x, y=2 * y, z=2 * z), color=colour))
        elif shape.kind == "ellipsoid":
            spheres.append(SpherePrimitive(pose=pose, size=Vector3(x=2 * x, y=2 * y, z=2 * z), color=colour))
        elif shape.kind in ("cylinder", "capsule"):
            size = Vector3(x=2 * x, y=2 * x, z=2 * y)
            cylinders.append(CylinderPrimitive(pose=pose, size=size, bottom_scale=1.0, top_scale=1.0, color=colour))
            if shape.kind == "capsule":
                ball = Vector3(x=2 * x, y=2 * x, z=2 * x)
                spheres += [
                    SpherePrimitive(pose=_pose(end, np.array([0.0, 0.0, 0.0, 1.0])), size=ball, color=colour)
                    for end in look.ends(shape)
                ]
        elif shape.kind == "mesh":
            triangles.append(
                TriangleListPrimitive(
                    pose=pose,
                    points=[_point(vertex) for vertex in shape.vertices],
                    indices=[int(index) for index in shape.faces.ravel()],
                    color=colour,
                )
            )
        else:
            size = Vector3(x=2 * (x or look.UNBOUNDED), y=2 * (y or look.UNBOUNDED), z=look.THIN)
            cubes.append(CubePrimitive(pose=_pose(look.below(shape), np.roll(shape.wxyz, -1)), size=size, color=colour))
    return SceneEntity(
        timestamp=stamp(time),
        frame_id=frame,
        id=frame,
        frame_locked=True,
        cubes=cubes,
        spheres=spheres,
        cylinders=cylinders,
        triangles=triangles,
    )


def _line(points: look.Array, colour: look.Colour) -> LinePrimitive:
    return LinePrimitive(points=[_point(one) for one in points], thickness=0.004, color=_colour(colour))


def _pose(position: look.Array, quaternion: look.Array) -> PoseMessage:
    return PoseMessage(position=_vector(position), orientation=_quaternion(quaternion))


def _vector(values: look.Array) -> Vector3:
    x, y, z = (float(one) for one in values)
    return Vector3(x=x, y=y, z=z)


def _point(values: look.Array) -> Point3:
    x, y, z = (float(one) for one in values)
    return Point3(x=x, y=y, z=z)


def _quaternion(values: look.Array) -> Quaternion:
    x, y, z, w = (float(one) for one in values)
    return Quaternion(x=x, y=y, z=z, w=w)


def _colour(colour: look.Colour) -> Color:
    red, green, blue, alpha = colour
    return Color(r=red, g=green, b=blue, a=alpha)
