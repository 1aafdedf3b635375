"""The ground that planner, controller and reports count on: one plane and one friction coefficient.

The planner has it as parameters, until it is told of one that has been felt; every policy carries it to the controller,
every recording to the reports.

What the trunk carries beside its own mass: told by parameters, or weighed by the feet.

Coulomb friction of contact forces.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.config import parameter
from contact_ddp_ros.robot.rotation import quaternion_to_rpy


@dataclass(frozen=True)
class Payload:
    """A mass at a point of the trunk; negative where the robot is lighter than its description says."""

    mass: float = parameter(0.0, low=-10.0, high=50.0, unit="kg", description="mass of the payload on the trunk")
    x: float = parameter(0.0, low=-1.0, high=1.0, unit="m", description="of that in base_link")
    y: float = parameter(0.0, low=-1.0, high=1.0, unit="m", description="of that in base_link")
    z: float = parameter(0.0, low=-1.0, high=1.0, unit="m", description="of that in base_link")

    def array(self) -> NDArray[np.float64]:
        """(4,) as the dynamics take it."""
        return np.array([self.mass, self.x, self.y, self.z])


NO_PAYLOAD = Payload()


_STEEPEST = 1.0


@dataclass(frozen=True)
class Ground:
    """A plane z = height + slope_x x + slope_y y in `odom`."""

    height: float = parameter(
        0.0, low=-100.0, high=100.0, unit="m", description="height of the ground at the origin of odom"
    )
    friction: float = parameter(0.6, low=0.1, high=2.0, description="friction coefficient that forces may use")
    slope_x: float = parameter(
        0.0, low=-_STEEPEST, high=_STEEPEST, description="rise over run of the ground along x of odom"
    )
    slope_y: float = parameter(
        0.0, low=-_STEEPEST, high=_STEEPEST, description="rise over run of the ground along y of odom"
    )

    def height_at(self, x: float, y: float) -> float:
        """Height below a point of `odom` [m]."""
        return self.height + self.slope_x * x + self.slope_y * y

    @property
    def slopes(self) -> tuple[float, float]:
        """Rise over run along x and y of `odom`."""
        return self.slope_x, self.slope_y

    @property
    def normal(self) -> NDArray[np.float64]:
        """(3,) unit normal in `odom`, upwards."""
        length = math.hypot(self.slope_x, self.slope_y, 1.0)
        return np.array([-self.slope_x / length, -self.slope_y / length, 1.0 / length])

    def ahead(self, yaw: float) -> float:
        """Rise over run in the direction of a heading [rad]."""
        return math.cos(yaw) * self.slope_x + math.sin(yaw) * self.slope_y

    def aside(self, yaw: float) -> float:
        """Rise over run to the left of a heading [rad]."""
        return math.cos(yaw) * self.slope_y - math.sin(yaw) * self.slope_x

    def parallel(self, yaw: float) -> tuple[float, float]:
        """Roll and pitch of a trunk that is parallel to the ground, under its heading [rad]."""
        ahead, aside = self.ahead(yaw), self.aside(yaw)
        return math.atan(aside / math.hypot(1.0, ahead)), -math.atan(ahead)

    def tilt_of(self, orientation: NDArray[np.float64]) -> tuple[float, float]:
        """Roll and pitch of a trunk with a quaternion (4,), less those of one that is parallel to the ground [rad]."""
        roll, pitch, yaw = quaternion_to_rpy(orientation).tolist()
        own = self.parallel(yaw)
        return roll - own[0], pitch - own[1]


@dataclass(frozen=True)
class FootHeights:
    """Heights of the ground under single feet above the plane through all footholds [m], in the order of FOOT_NAMES.

    Attributes:
        standing: where each foot stands, or has stood last [m].
        landing: where each foot is expected to land next [m].
    """

    standing: tuple[float, ...]
    landing: tuple[float, ...]

    def of_groups(self, groups: Iterable[Sequence[int]]) -> "FootHeights":
        """The means of groups of feet by index, as a model has them that moves the feet of a group alike."""
        members = tuple(groups)

        def means(heights: tuple[float, ...]) -> tuple[float, ...]:
            return tuple(sum(heights[foot] for foot in group) / len(group) for group in members)

        return FootHeights(means(self.standing), means(self.landing))


@dataclass(frozen=True)
class TerrainEstimate:
    """Terrain and load estimate from contact, for the planner.

    Attributes:
        ground: the plane that the feet have found, with a friction of which nothing is known; None where there is none.
        advance: how far contact has moved the gait ahead of its schedule [s].
        feet: of the ground under single feet above that plane; None where it is the plane.
        roughness: how far the ground is off that plane, as footholds and stumbles tell [m].
        payload: what the trunk carries; None where it is not weighed.
        drive_inertia: of each drive beside the armature [kg m²]; None where it is not looked for.
    """

    ground: Ground | None = None
    advance: float = 0.0
    feet: FootHeights | None = None
    roughness: float = 0.0
    payload: Payload | None = None
    drive_inertia: float | None = None


@dataclass(frozen=True)
class LocalGround:
    """The ground in a model's own horizontal axes, z = height + slope x + aside y; a model of a plane has no y.

    Attributes:
        height: at the origin [m].
        slope, aside: rise over run along the first and the second horizontal axis.
    """

    height: float = 0.0
    slope: float = 0.0
    aside: float = 0.0

    def height_at(self, x: float, y: float = 0.0) -> float:
        """Height at a point [m]."""
        return self.height + self.slope * x + self.aside * y


Array = NDArray[np.float64]


def cone_excess(forces: Array, friction: float, slopes: Array | None = None) -> Array:
    """Excess of forces (..., d), the vertical last, over their friction cone [N]; negative inside.

    The larger of |tangential| - friction * normal and -normal, so that pulling counts too. The cone is about the normal
    of ground that rises by `slopes` (..., d - 1) along the other axes; level by default.
    """
    horizontal, vertical = forces[..., :-1], forces[..., -1]
    rise = np.zeros(horizontal.shape[-1]) if slopes is None else slopes
    normal = (vertical - (rise * horizontal).sum(axis=-1)) / np.sqrt(1.0 + (rise * rise).sum(axis=-1))
    tangential = np.sqrt(np.maximum((forces * forces).sum(axis=-1) - normal * normal, 0.0))
    return np.maximum(tangential - friction * normal, -normal)
