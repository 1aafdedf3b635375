"""The simulated ground as one word, which the command line and the simulator's parameter `terrain` share:

    flat                        level at z = 0
    slope:DEG[,HEADING_DEG]     a plane through the origin that climbs by DEG along a heading (0: ahead, 90: left)
    step:X,RISE                 a step of RISE [m] at x = X [m]; negative leads down
    stairs:RISE,COUNT[,TREAD]   COUNT steps of RISE [m] (negative leads down), TREAD [m] apart, from x = 1 m on
    boxes:HEIGHT[,SEED]         square tops of random heights between 0 and HEIGHT [m], from x = 0.8 m on
    stones:HEIGHT[,SEED]        the same smaller, of heights between -HEIGHT and HEIGHT [m]
    kerb:RISE                   from x = 0.8 m on the left half, y > 0, is higher by RISE [m]; negative: lower
    rough:HEIGHT[,LENGTH[,SEED]] smooth random hills and hollows up to HEIGHT [m] from level, the shortest of which are
                                LENGTH [m] from top to top, from 0.5 m around the origin on
    FILE.xml                    the level planes and the boxes of an MJCF file, at z = 0 where the robot begins

Every shape is a plane and boxes standing on it, but for `rough`, which is a field of heights.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.choices import TERRAIN_WORDS
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.plants.terrain.shapes import SCENE_SUFFIX, Box, HeightField, Terrain, scene

Array = NDArray[np.float64]

FLAT: Final = "flat"
_STEEPEST = 30.0
"""Steepest slope [deg]."""
_HIGHEST = 0.2
"""Highest step or box [m]."""
_MOST_STEPS = 200
_TREAD = 0.4
"""Tread of stairs where none is given [m]."""
_STAIRS_BEGIN, _BOXES_BEGIN = 1.0, 0.8
"""x of the first edge [m]; a kerb begins where boxes do."""
_BOX_SIDE, _STONE_SIDE = 0.3, 0.2
_BOX_ROWS, _BOX_COLUMNS = 45, 6
"""Boxes along the way and across it."""
_FAR, _HALF_WIDTH, _DEPTH = 200.0, 50.0, 1.0
"""Length and half width of what has no end, and how far boxes reach below the ground [m]."""

_LENGTH, _SHORTEST, _LONGEST = 1.0, 0.4, 20.0
"""Distance from top to top of hills where it is not given, and its bounds [m]."""
_WAVES = 48
"""Waves of hills, of random directions, with lengths between the shortest and four times as much."""
_HILLS, _SPACING = (80.0, 60.0), 0.1
"""Extent of the field of hills along x and y, around the origin, and the distance of its heights [m]."""
_LEVEL, _RISING, _FALLING = 0.5, 0.7, 5.0
"""Hills begin at this distance from the origin, are whole so much further on, and end before the field does [m]."""
_BELOW = 0.05
"""Depth of the plane below the deepest hollow [m]."""

_KINDS: Final = {
    "slope": (1, 2),
    "step": (2, 2),
    "stairs": (2, 3),
    "boxes": (1, 2),
    "stones": (1, 2),
    "kerb": (1, 1),
    "rough": (1, 3),
}
"""Fewest and most numbers of each kind."""


def parse_terrain(text: str) -> Terrain:
    """The ground that a word describes.

    Raises:
        ParameterError: it is none of this module's words, or a number is out of its range.
    """
    kind, colon, rest = text.partition(":")
    if text == FLAT:
        return Terrain()
    if text.endswith(SCENE_SUFFIX):
        return scene(text)
    try:
        numbers = [float(part) for part in rest.split(",")] if colon else []
    except ValueError:
        numbers = []
    few, many = _KINDS.get(kind, (1, 0))
    if not few <= len(numbers) <= many or not all(map(math.isfinite, numbers)):
        raise ParameterError(f"ground {text!r}; allowed, with finite numbers: {TERRAIN_WORDS}")
    return _BUILD[kind](text, *numbers)


def _slope(text: str, degrees: float, heading: float = 0.0) -> Terrain:
    _check(text, "slope", abs(degrees), 0.0, _STEEPEST, "degrees")
    rise, angle = math.tan(math.radians(degrees)), math.radians(heading)
    return Terrain(gradient=(rise * math.cos(angle), rise * math.sin(angle)))


def _step(text: str, position: float, rise: float) -> Terrain:
    _check(text, "x", position, -0.5 * _FAR, 0.5 * _FAR, "m")
    _check(text, "rise", abs(rise), 0.0, _HIGHEST, "m")
    return _raised((position,), rise)


def _stairs(text: str, rise: float, count: float, tread: float = _TREAD) -> Terrain:
    _check(text, "rise", abs(rise), 0.0, _HIGHEST, "m")
    _check(text, "count", count, 1, _MOST_STEPS, "steps", whole=True)
    _check(text, "tread", tread, 0.05, 10.0, "m")
    return _raised(tuple(_STAIRS_BEGIN + tread * k for k in range(int(count))), rise)


def _boxes(text: str, height: float, seed: float = 0.0) -> Terrain:
    _check(text, "height", height, 0.0, _HIGHEST, "m")
    _check(text, "seed", seed, 0, 2**31 - 1, "", whole=True)
    return Terrain(boxes=_tops(0.0, height, _BOX_SIDE, (_BOX_ROWS, _BOX_COLUMNS), int(seed)))


def _stones(text: str, height: float, seed: float = 0.0) -> Terrain:
    _check(text, "height", height, 0.0, _HIGHEST, "m")
    _check(text, "seed", seed, 0, 2**31 - 1, "", whole=True)
    size = round(_BOX_ROWS * _BOX_SIDE / _STONE_SIDE), round(_BOX_COLUMNS * _BOX_SIDE / _STONE_SIDE / 2) * 2
    end = _BOXES_BEGIN + size[0] * _STONE_SIDE
    around = [
        _box((x + way * 0.5 * _FAR, 0.0), (0.5 * _FAR, _HALF_WIDTH), 0.0) for x, way in ((_BOXES_BEGIN, -1), (end, 1))
    ]
    return Terrain(height=-height, boxes=(*around, *_tops(-height, height, _STONE_SIDE, size, int(seed))))


def _kerb(text: str, rise: float) -> Terrain:
    _check(text, "rise", abs(rise), 0.0, _HIGHEST, "m")
    far, wide = 0.5 * _FAR, 0.5 * _HALF_WIDTH
    left, right = ((_BOXES_BEGIN + far, side * wide) for side in (1, -1))
    if rise >= 0.0:
        return Terrain(boxes=(_box(left, (far, wide), rise),))
    before = _box((_BOXES_BEGIN - far, 0.0), (far, _HALF_WIDTH), 0.0)
    return Terrain(height=rise, boxes=(before, _box(right, (far, wide), 0.0)))


@lru_cache(maxsize=4)
def _rough(text: str, height: float, length: float = _LENGTH, seed: float = 0.0) -> Terrain:
    _check(text, "height", height, 0.0, _HIGHEST, "m")
    _check(text, "length", length, _SHORTEST, _LONGEST, "m")
    _check(text, "seed", seed, 0, 2**31 - 1, "", whole=True)
    if height == 0.0:
        return Terrain()
    x, y = (_SPACING * np.arange(-round(0.5 * size / _SPACING), round(0.5 * size / _SPACING) + 1) for size in _HILLS)
    rng = np.random.default_rng(int(seed))
    lengths, angles, phases = (
        rng.uniform(low, high, _WAVES) for low, high in ((1.0, 4.0), (0.0, np.pi), (0.0, 2 * np.pi))
    )
    hills = np.zeros((y.size, x.size))
    for stretch, angle, phase in zip(lengths, angles, phases, strict=True):
        number = 2.0 * math.pi / (stretch * length)
        along = np.exp(1j * (number * math.cos(angle) * x + phase))
        hills += stretch * np.outer(np.exp(1j * number * math.sin(angle) * y), along).real
    hills *= _smooth((np.hypot(x, y[:, None]) - _LEVEL) / _RISING)
    for size, places in zip(_HILLS, (x, y[:, None]), strict=True):
        hills *= _smooth((0.5 * size - np.abs(places)) / _FALLING)
    field = HeightField(hills * (height / np.abs(hills).max()), _SPACING)
    around = []
    for way in (-1.0, 1.0):
        along, across = (half + 0.5 * _FAR for half in field.half)
        around.append(_box((way * along, 0.0), (0.5 * _FAR, _FAR), 0.0))
        around.append(_box((0.0, way * across), (field.half[0], 0.5 * _FAR), 0.0))
    return Terrain(height=-height - _BELOW, boxes=tuple(around), field=field)


def _smooth(share: Array) -> Array:
    """Smooth step from 0 below 0 to 1 above 1."""
    inside = np.clip(share, 0.0, 1.0)
    return inside * inside * (3.0 - 2.0 * inside)


def _tops(low: float, high: float, side: float, size: tuple[int, int], seed: int) -> tuple[Box, ...]:
    """Rows and columns of square boxes of random heights, on both sides of the x axis."""
    tops = np.random.default_rng(seed).uniform(low, high, size)
    boxes = []
    for (row, column), top in np.ndenumerate(tops):
        place = _BOXES_BEGIN + (row + 0.5) * side, (column + 0.5 - 0.5 * size[1]) * side
        boxes.append(_box(place, (0.5 * side, 0.5 * side), float(top)))
    return tuple(boxes)


def _raised(edges: tuple[float, ...], rise: float) -> Terrain:
    """Steps of one rise at these x: boxes beyond each edge where they lead up, before it where they lead down."""
    if rise == 0.0:
        return Terrain()
    boxes, half = [], (0.5 * _FAR, _HALF_WIDTH)
    for count, x in enumerate(edges, start=1):
        top = count * rise if rise > 0.0 else (count - 1) * rise
        boxes.append(_box((x + math.copysign(half[0], rise), 0.0), half, top))
    return Terrain(height=min(0.0, len(edges) * rise), boxes=tuple(boxes))


def _box(centre: tuple[float, float], half: tuple[float, float], top: float) -> Box:
    return Box((*centre, top - 0.5 * _DEPTH), (*half, 0.5 * _DEPTH))


def _check(text: str, name: str, value: float, low: float, high: float, unit: str, whole: bool = False) -> None:
    if not low <= value <= high or (whole and value != int(value)):
        kind = "a whole number in " if whole else ""
        raise ParameterError(
            f"ground {text!r}: {name} is {value:g}; allowed: {kind}[{low:g}, {high:g}] {unit}".rstrip()
        )


_BUILD: Final[dict[str, Callable[..., Terrain]]] = {
    "slope": _slope,
    "step": _step,
    "stairs": _stairs,
    "boxes": _boxes,
    "stones": _stones,
    "kerb": _kerb,
    "rough": _rough,
}
