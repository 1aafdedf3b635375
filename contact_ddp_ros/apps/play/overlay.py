"""Overlay over the robot: its plan, forces with their cones, contacts and ground as planned and felt, pushes.

Colours, lines and poses of what is drawn on the ground.
"""

import numpy as np
import trimesh
import viser
from numpy.typing import NDArray

from contact_ddp_ros.plants.figure import Figure
from contact_ddp_ros.robot.ground import Ground
from contact_ddp_ros.robot.joints import LEG_NAMES
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.runs.live.snapshot import Plan, PlanView, Snapshot
from contact_ddp_ros.runs.web_scene import add_arrows, point, segments, show

Array = NDArray[np.float64]

BLUE, ORANGE, GREEN, RED, YELLOW = (0, 114, 178), (214, 94, 0), (0, 158, 115), (204, 30, 60), (240, 228, 66)
"""Plan, planned forces, what is measured, disturbances, surprise: colours that colour-blind people can tell apart."""

LIFT = 0.002
"""Above the ground, so that lines are not hidden by it [m]."""

PATCH = 0.7
"""Side of the squares that show a plane [m]."""

_GRID_CELLS = 4
"""Along a side of the outlined patch of ground."""

_CROSS = 0.02
"""Half the length of a foothold's bars [m]."""


def contact_colour(snapshot: Snapshot, foot: int) -> tuple[int, int, int] | None:
    """Colour of the disc under a foot: planned and felt, planned only, felt only; None for a foot in the air."""
    planned = snapshot.planned_contacts[foot] and snapshot.planned_forces is not None
    felt = planned if snapshot.touch is None else snapshot.touch.contacts[foot]
    if not planned and not felt:
        return None
    return GREEN if planned and felt else ORANGE if planned else YELLOW


def below(snapshot: Snapshot) -> Array:
    """(3,) the place on the ground below the robot, as felt, else as planned, else at height 0 [m]."""
    x, y, _ = snapshot.state.position
    felt = None if snapshot.touch is None else snapshot.touch.ground
    planned = None if snapshot.plan is None else snapshot.plan.ground
    return np.array([x, y, (felt or planned or Ground()).height_at(x, y)])


def tilt(ground: Ground) -> Array:
    """(4,) quaternion (w, x, y, z) that lays a level thing onto a plane."""
    normal = np.array([-ground.slope_x, -ground.slope_y, 1.0])
    normal /= np.linalg.norm(normal)
    turn = np.array([1.0 + normal[2], -normal[1], normal[0], 0.0])
    return np.asarray(turn / np.linalg.norm(turn))


def patch(ground: Ground, at: Array) -> NDArray[np.float32]:
    """(N, 2, 3) segments of a grid on a plane around a place [m]."""
    ends = np.array([-0.5, 0.5]) * PATCH
    lines = [[(x, y) for y in ends] for x in np.linspace(ends[0], ends[1], _GRID_CELLS + 1)]
    level = np.array(lines + [[(x, y) for x, y in (end[::-1] for end in line)] for line in lines]) + at[:2]
    heights = ground.height + level @ np.array([ground.slope_x, ground.slope_y]) + 2.0 * LIFT
    return np.concatenate([level, heights[..., None]], axis=2).astype(np.float32)


def crosses(points: Array) -> NDArray[np.float32]:
    """(2 N, 2, 3) bars of crosses at points (N, 3) [m]."""
    bars = _CROSS * np.array([[[-1.0, -1.0, 0.0], [1.0, 1.0, 0.0]], [[-1.0, 1.0, 0.0], [1.0, -1.0, 0.0]]])
    lifted = points + np.array([0.0, 0.0, 3.0 * LIFT])
    return (lifted[:, None, None, :] + bars).reshape(-1, 2, 3).astype(np.float32)


FORCE_LENGTH, PUSH_LENGTH = 0.0016, 0.006
"""Lengths of arrows per force [m/N]."""

LAYERS = (
    "plan",
    "planned forces",
    "measured forces",
    "friction cones",
    "planned ground",
    "contacts",
    "felt ground",
    "footholds",
)

_CONE_HEIGHT, _LANDINGS = 0.13, 8


class Overlay:
    """Lines, arrows and markers below a frame of the scene."""

    def __init__(self, scene: viser.SceneApi, root: str, figure: Figure, view: PlanView, shown: set[str]) -> None:
        """`root` is the name of the frame that `odom` has in the scene; `shown` holds the layers that are drawn."""
        self._figure, self._view = figure, view
        self._shown = shown
        path = f"{root}/overlay"
        dots = np.zeros((1, 2, 3), dtype=np.float32)
        self._trunk = scene.add_line_segments(f"{path}/trunk", dots, BLUE, thickness=3.0, thickness_units="screen")
        self._feet, self._felt, self._footholds = (
            scene.add_line_segments(f"{path}/{name}", dots, colour, thickness=2.0, thickness_units="screen")
            for name, colour in (("feet", (90, 170, 220)), ("felt", GREEN), ("footholds", GREEN))
        )
        self._landings = [
            scene.add_icosphere(f"{path}/landing{index}", radius=0.016, color=ORANGE, visible=False, cast_shadow=False)
            for index in range(_LANDINGS)
        ]
        self._planned = add_arrows(scene, f"{path}/planned", ORANGE)
        self._measured = add_arrows(scene, f"{path}/measured", GREEN)
        self._cones = [self._cone(scene, f"{path}/cone{foot}") for foot in range(len(LEG_NAMES))]
        self._contacts = [
            scene.add_cylinder(f"{path}/contact{foot}", radius=0.03, height=0.002, color=GREEN, visible=False)
            for foot in range(len(LEG_NAMES))
        ]
        self._ground = scene.add_box(
            f"{path}/ground", color=BLUE, dimensions=(PATCH, PATCH, 1e-3), opacity=0.12, visible=False
        )
        self._push = add_arrows(scene, f"{path}/push", RED, 0.012)
        self._spring = add_arrows(scene, f"{path}/spring", RED, 0.008)
        self._label = scene.add_label(f"{path}/impulse", "", visible=False, anchor="bottom-left")

    def draw(self, snapshot: Snapshot) -> None:
        """Draw what a snapshot holds."""
        state, plan = snapshot.state, snapshot.plan
        feet = self._figure.feet(state)
        self._draw_plan(plan, state)
        self._draw_forces(snapshot, feet)
        self._draw_contacts(snapshot, feet)
        self._draw_ground(snapshot)
        self._draw_disturbances(snapshot)

    def _draw_plan(self, plan: Plan | None, state: RobotState) -> None:
        shown = plan is not None and "plan" in self._shown
        show(self._trunk, shown)
        show(self._feet, shown)
        if plan is None or not shown:
            for landing in self._landings:
                show(landing, False)
            return
        robots = [self._view.state(x, state) for x in plan.states]
        trunk = np.array([robot.position for robot in robots])
        feet = np.array([self._figure.feet(robot) for robot in robots])
        self._trunk.points = segments(trunk)
        self._feet.points = np.concatenate([segments(feet[:, foot]) for foot in range(feet.shape[1])])
        places = [feet[row, leg] for row, leg in plan.landings]
        for index, landing in enumerate(self._landings):
            show(landing, index < len(places))
            if index < len(places):
                landing.position = places[index]

    def _draw_forces(self, snapshot: Snapshot, feet: Array) -> None:
        planned, measured = snapshot.planned_forces, snapshot.contact_forces
        if planned is not None and "planned forces" in self._shown:
            point(self._planned, feet, self._view.leg_forces(planned, snapshot.state), FORCE_LENGTH)
        else:
            show(self._planned, False)
        if measured is not None and "measured forces" in self._shown:
            point(self._measured, feet, measured, FORCE_LENGTH)
        else:
            show(self._measured, False)

    def _draw_contacts(self, snapshot: Snapshot, feet: Array) -> None:
        plan = snapshot.plan if snapshot.planned_forces is not None else None
        for foot, (cone, disc) in enumerate(zip(self._cones, self._contacts)):
            stands = plan is not None and snapshot.planned_contacts[foot]
            show(cone, stands and "friction cones" in self._shown)
            colour = contact_colour(snapshot, foot)
            show(disc, colour is not None and "contacts" in self._shown)
            if colour is not None and disc.color != colour:
                disc.color = colour
            cone.position = disc.position = feet[foot] + np.array([0.0, 0.0, LIFT])
            friction = 1.0 if plan is None else plan.ground.friction
            if stands and cone.scale != (friction, friction, 1.0):
                cone.scale = (friction, friction, 1.0)

    def _draw_ground(self, snapshot: Snapshot) -> None:
        """The planned ground as a translucent square, the felt one as a grid, and its footholds as crosses."""
        plan, touch, at = snapshot.plan, snapshot.touch, snapshot.state.position
        show(self._ground, plan is not None and "planned ground" in self._shown)
        if plan is not None:
            x, y, _ = at
            self._ground.position = np.array([x, y, plan.ground.height_at(x, y) + LIFT])
            self._ground.wxyz = tilt(plan.ground)
        felt = None if touch is None or "felt ground" not in self._shown else touch.ground
        show(self._felt, felt is not None)
        if felt is not None:
            self._felt.points = patch(felt, at)
        footholds = None if touch is None or "footholds" not in self._shown else touch.footholds
        show(self._footholds, footholds is not None and len(footholds) > 0)
        if footholds is not None and len(footholds):
            self._footholds.points = crosses(footholds)

    def _draw_disturbances(self, snapshot: Snapshot) -> None:
        trunk = snapshot.state.position
        push = snapshot.push * PUSH_LENGTH
        show(self._push, bool(push.any()))
        if push.any():
            self._push.points = np.array([[trunk - push, trunk]], dtype=np.float32)
        spring = snapshot.spring
        show(self._spring, spring is not None)
        show(self._label, spring is not None)
        if spring is not None:
            self._spring.points = np.array([[spring.place, spring.target]], dtype=np.float32)
            force = float(np.linalg.norm(spring.force))
            self._label.text = f"{force:.0f} N, {spring.impulse:.1f} N·s"
            self._label.position = spring.target

    @staticmethod
    def _cone(scene: viser.SceneApi, name: str) -> viser.MeshHandle:
        """A friction cone of coefficient 1: its tip at the foot, opening upwards."""
        cone = trimesh.creation.cone(radius=_CONE_HEIGHT, height=_CONE_HEIGHT, sections=28)
        vertices = np.array([0.0, 0.0, _CONE_HEIGHT]) - cone.vertices * np.array([1.0, 1.0, 1.0])
        return scene.add_mesh_simple(
            name, vertices, cone.faces, color=ORANGE, opacity=0.28, side="double", visible=False, cast_shadow=False
        )
