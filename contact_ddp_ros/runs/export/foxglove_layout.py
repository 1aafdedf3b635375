"""The layout in which Foxglove shows an exported run; `config/foxglove_layout.json` is what this gives."""

import json
from collections.abc import Mapping, Sequence

import foxglove.layouts as fl

from contact_ddp_ros.runs.report.style import COMMAND, FOOT_COLOURS, LIMIT, MEASURED, PLANNED

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
