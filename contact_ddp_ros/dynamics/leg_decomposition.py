"""A robot with limbs alike, taken apart: one mechanism of the trunk and a limb for every limb.

The scalar of `mrneac` is a sum over bodies and contacts, and no term of it has the joints of two limbs. So it, and
every derivative, is the sum of those of the parts, if each has its share of the trunk: of n limbs the n-th part of its
inertia, its payload, its armature and its damping. With limbs of one build the parts differ in constants only, and one
pass of vector instructions does them all (`lanes`).
"""

from dataclasses import dataclass, replace

import numpy as np

from contact_ddp_ros.dynamics.mechanism import Foot, Mechanism
from contact_ddp_ros.dynamics.spatial import Array, SpatialInertia


@dataclass(frozen=True)
class Limb:
    """A part of a mechanism.

    Attributes:
        mechanism: the trunk, with its share of what belongs to all, and the limb; its only foot is that of the limb.
        joints: of the whole mechanism those of the part, in the part's order: the trunk's, then the limb's.
        foot: index of its foot in the whole mechanism.
    """

    mechanism: Mechanism
    joints: tuple[int, ...]
    foot: int


def trunk_and_limbs(mechanism: Mechanism) -> tuple[int, tuple[Limb, ...]]:
    """Number of the trunk's joints, and the parts; none where the mechanism is no trunk with equally long limbs.

    The trunk's joints come first, it carries the payload, and each limb is a chain that ends in its only foot.
    """
    paths = [mechanism.path(foot.body) for foot in mechanism.feet]
    n_trunk = sum(all(i in path for path in paths) for i in range(mechanism.n))
    own = [path[n_trunk:] for path in paths]
    lengths = {len(limb) for limb in own}
    in_order = all(limb == list(range(limb[0], limb[0] + len(limb))) for limb in own if limb)
    complete = sorted(i for limb in own for i in limb) == list(range(n_trunk, mechanism.n))
    if len(own) < 2 or len(lengths) > 1 or 0 in lengths or not in_order or not complete or mechanism.carrier >= n_trunk:
        return 0, ()
    parts = [_part(mechanism, n_trunk, path, foot) for path, foot in zip(paths, mechanism.feet, strict=True)]
    return n_trunk, tuple(Limb(part, tuple(path), k) for k, (part, path) in enumerate(zip(parts, paths, strict=True)))


def _part(mechanism: Mechanism, n_trunk: int, path: list[int], foot: Foot) -> Mechanism:
    """The bodies of a path, of which the first ones are the trunk's."""
    share = 1.0 / len(mechanism.feet)
    place = {-1: -1} | {body: k for k, body in enumerate(path)}
    frames = [body for body in mechanism.frames if body in place]
    apart = _Apart()
    links = []
    for k, link in enumerate(mechanism.links[body] for body in path):
        placed = replace(
            link,
            parent=place[link.parent],
            frame=frames.index(mechanism.frames[link.frame]),
            angle=place[link.angle],
            predecessor=place[link.predecessor],
        )
        links.append(
            replace(placed, inertia=_scaled(link.inertia, share))
            if k < n_trunk
            else replace(placed, offset=apart(link.offset), inertia=apart.inertia(link.inertia))
        )
    shares = np.where(np.arange(len(path)) < n_trunk, share, 1.0)
    own_foot = replace(
        foot, body=place[foot.body], position=apart(foot.position), radius=float(apart(np.array(foot.radius)))
    )
    return replace(
        mechanism,
        links=tuple(links),
        frames=tuple(place[body] for body in frames),
        feet=(own_foot,),
        armature=mechanism.armature[path] * shares,
        damping=mechanism.damping[path] * shares,
        motors=mechanism.motors[path],
        carrier=place[mechanism.carrier],
    )


class _Apart:
    """Numbers of a limb, every one with a rounding error of its own.

    An expression graph has equal constants once. Where two numbers of a limb happen to be equal (on the left, say,
    while on the right one has the other sign), its graph would differ from those of limbs of the same build.
    """

    def __init__(self) -> None:
        self._count = 0

    def __call__(self, numbers: Array) -> Array:
        """The numbers but for their last bits; those that simplify an expression stay as they are."""
        told = np.array(numbers, dtype=float)
        any_number = (told != 0.0) & (np.abs(told) != 1.0)
        count = np.arange(self._count, self._count + np.count_nonzero(any_number))
        told[any_number] *= 1.0 + count * np.finfo(float).eps
        self._count += count.size
        return told

    def inertia(self, inertia: SpatialInertia) -> SpatialInertia:
        """Inertia in these axes, which stays symmetric."""
        upper = self(np.triu(inertia.rotational))
        return SpatialInertia(
            float(self(np.array(inertia.mass))), self(inertia.first_moment), upper + np.triu(upper, 1).T
        )


def _scaled(inertia: SpatialInertia, share: float) -> SpatialInertia:
    return SpatialInertia(share * inertia.mass, share * inertia.first_moment, share * inertia.rotational)
