"""Robot, plan and forces as messages of Foxglove's well-known types.

The layout in which Foxglove shows an exported run; `config/foxglove_layout.json` is what this gives.
"""

import json
from collections.abc import Iterable, Mapping, Sequence

import foxglove.layouts as fl
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
from contact_ddp_ros.runs import scene as look
from contact_ddp_ros.runs.report.style import COMMAND, FOOT_COLOURS, LIMIT, MEASURED, PLANNED
from contact_ddp_ros.runs.scene import Path, Pose

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


FILE_NAME = "foxglove_layout.json"

Plot = tuple[str, Sequence[tuple[str, str, str]]]
"""Title, and path, name and colour of each course."""

_FRONT, _BACK = FOOT_COLOURS[0], FOOT_COLOURS[2]

MOTION: Sequence[Plot] = (
    (
        "forward speed [m/s]",
        (("/trunk.forward_speed", "measured", MEASURED), ("/trunk.commanded_speed", "command", COMMAND)),
    ),
    ("trunk height [m]", (("/trunk.height", "measured", MEASURED), ("/plan.base_z", "plan", PLANNED))),
    ("pitch [rad]", (("/trunk.pitch", "measured", MEASURED), ("/plan.base_pitch", "plan", PLANNED))),
    (
        "normal forces [N]",
        (
            ("/plan.fr.normal_force", "plan, front right", _FRONT),
            ("/plan.hr.normal_force", "plan, hind right", _BACK),
            ("/feet.fr.force.z", "measured, front right", MEASURED),
            ("/feet.hr.force.z", "measured, hind right", LIMIT),
        ),
    ),
)

JOINTS: Sequence[Plot] = tuple(
    (
        f"{leg} {joint} [rad]",
        (
            (f"/joints.{leg}_{joint}.position", "measured", MEASURED),
            (f"/joints.{leg}_{joint}.target_position", "target", COMMAND),
            (f"/plan.{leg}_{joint}", "plan", PLANNED),
        ),
    )
    for leg in ("fr", "hr")
    for joint in ("hip", "knee")
)

SOLVER: Sequence[Plot] = (
    ("solve time [ms]", (("/solves.solve_ms", "solve time", MEASURED),)),
    (
        "iterations and share of second order",
        (("/solves.iterations", "iterations", MEASURED), ("/solves.theta", "θ", COMMAND)),
    ),
    ("cost", (("/solves.cost", "cost of the plan", MEASURED),)),
    (
        "cost by term",
        tuple(
            (f"/solves.cost_terms.{term}", term.replace("_", " "), colour)
            for term, colour in zip(("state", "torque", "contact_force", "foot_height"), FOOT_COLOURS)
        ),
    ),
)

TABS: Mapping[str, Sequence[Plot]] = {"Motion": MOTION, "Joints": JOINTS, "Planner": SOLVER}


def layout() -> str:
    """Layout as JSON."""
    tabs = [fl.TabItem(title=title, content=_column(plots)) for title, plots in TABS.items()]
    left = fl.SplitContainer(
        direction="column",
        items=[
            fl.SplitItem(proportion=4, content=_space()),
            fl.SplitItem(proportion=1, content=fl.LogPanel(config=fl.LogConfig(topic_to_render="/events"))),
        ],
    )
    whole = fl.SplitContainer(
        direction="row",
        items=[
            fl.SplitItem(proportion=3, content=left),
            fl.SplitItem(proportion=2, content=fl.TabContainer(tabs=tabs)),
        ],
    )
    return json.dumps(json.loads(fl.Layout(content=whole).to_json()), indent=2, ensure_ascii=False) + "\n"


def _space() -> fl.ThreeDeePanel:
    shown = {topic: fl.BaseRendererSceneUpdateTopicSettings(visible=True) for topic in SPACE}
    return fl.ThreeDeePanel(
        title="Robot, ghost of the plan, forces",
        config=fl.ThreeDeeConfig(
            follow_tf="base_link",
            follow_mode="follow-position",
            fixed_frame="odom",
            camera_state=fl.ThreeDeeCameraState(distance=1.6, phi=75.0, theta_offset=150.0, perspective=True),
            scene=fl.BaseRendererSceneSettings(transforms=fl.BaseRendererTransforms(visible=False)),
            topics=dict(shown),
        ),
    )


SPACE = ("/robot", "/ground", "/ghost", "/plan_path", "/forces")
"""Topics drawn in space."""


def _column(plots: Sequence[Plot]) -> fl.SplitContainer:
    return fl.SplitContainer(
        direction="column", items=[fl.SplitItem(proportion=1, content=_plot(title, series)) for title, series in plots]
    )


def _plot(title: str, series: Sequence[tuple[str, str, str]]) -> fl.PlotPanel:
    paths = [fl.PlotSeries(value=path, label=name, color=colour, show_line=True) for path, name, colour in series]
    return fl.PlotPanel(
        title=title, config=fl.PlotConfig(paths=paths, show_legend=True, legend_display="floating", is_synced=True)
    )
