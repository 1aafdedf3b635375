"""Colours, lines and poses of what is drawn on the ground."""

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.robot.ground import Ground
from contact_ddp_ros.runs.live.snapshot import Snapshot

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


def segments(points: Array) -> NDArray[np.float32]:
    """(n - 1, 2, 3) segments of a line through points (n, 3)."""
    return np.stack([points[:-1], points[1:]], axis=1).astype(np.float32)
