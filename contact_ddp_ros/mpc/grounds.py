"""The ground under each foot along a horizon, as the node functions have it in their rows.

A foot's ground is the plane z = height + slopesᵀ(x, y) about the place where it stands or lands: feet on a kerb, a box
or stepping stones have unlike ones at the same time, and a foot that climbs has unlike ones before and after its swing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.dynamics.contact import ALPHA, UP, n_parameters
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.robot.ground import FootHeights, LocalGround

Array = NDArray[np.float64]


@dataclass(frozen=True)
class FootGrounds:
    """Planes in the model's axes, for all nodes or for each; those of a sagittal model have no second slope.

    Attributes:
        heights: (n_f,) or (N+1, n_f) at the axes' origin [m].
        slopes: (n_f, 2) or (N+1, n_f, 2) rise over run along the first and the second horizontal axis.
    """

    heights: Array
    slopes: Array

    @classmethod
    def shared(cls, ground: LocalGround, n_f: int) -> "FootGrounds":
        """One plane under all of n_f feet."""
        return cls(np.full(n_f, ground.height), np.tile([ground.slope, ground.aside], (n_f, 1)))

    @classmethod
    def named(
        cls, feet: Sequence[str], ground: LocalGround, others: Mapping[str, LocalGround] | None = None
    ) -> "FootGrounds":
        """One plane under all `feet` but those that are among `others` by name.

        Raises:
            ParameterError: there is no such foot.
        """
        known = others or {}
        for name in known:
            if name not in feet:
                raise ParameterError(f"a ground is given for {name!r}; the feet are {', '.join(feet)}")
        planes = [known.get(name, ground) for name in feet]
        slopes = np.array([(one.slope, one.aside) for one in planes]).reshape(len(planes), 2)
        return cls(np.array([one.height for one in planes]), slopes)

    @classmethod
    def of_heights(
        cls,
        ground: LocalGround,
        heights: FootHeights,
        stance: NDArray[np.bool_],
        swinging: NDArray[np.bool_],
        progress: Array,
    ) -> "FootGrounds":
        """The plane raised under each foot: as it stands until it first leaves the ground, as it lands from then on.

        In the swing between, above which a foot's clearance counts, it goes over from the one to the other: to higher
        ground in the first half, to lower ground in the second, so that edges between are cleared.

        Args:
            ground: the plane.
            heights: above it, of the model's n_f feet.
            stance: (N+1, n_f) which foot is on the ground at each node; after a switch at the beginning, for that too.
            swinging, progress: (N+1, n_f) whether each foot swings by its phase, and how far it has come, 0 to 1.
        """
        standing, landing = np.array(heights.standing), np.array(heights.landing)
        first_stance = np.logical_and.accumulate(stance, axis=0)
        first_swing = ~stance & (np.cumsum(np.diff(stance, axis=0, prepend=stance[:1]), axis=0) <= stance[0])
        share = np.where(first_stance, 0.0, 1.0)
        half = np.clip(2.0 * progress - (landing < standing), 0.0, 1.0)
        share = np.where(first_swing & swinging, half * half * (3.0 - 2.0 * half), share)
        raised = standing + share * (landing - standing)
        slopes = np.broadcast_to([ground.slope, ground.aside], (*raised.shape, 2))
        return cls(ground.height + raised, slopes)

    @property
    def planes(self) -> Array:
        """(..., n_f, 4) d and m of m . x = d."""
        vertical = np.ones((*self.heights.shape, 1))
        return np.concatenate([self.heights[..., None], -self.slopes, vertical], axis=-1)

    def heights_at(self, points: Array) -> Array:
        """(..., n_f) of the grounds below points (..., n_f, 2) [m]."""
        return self.heights + (self.slopes * points).sum(axis=-1)


@dataclass(frozen=True, kw_only=True)
class GroundModel:
    """The ground as the contact dynamics have it.

    Attributes:
        grounds: under each foot.
        baumgarte_rate: of the contacts' stabilisation, 0 for none [1/s].
    """

    grounds: FootGrounds
    baumgarte_rate: float

    def rows(self, n_rows: int) -> Array:
        """(n_rows, n_p) parameters of the dynamics at each node."""
        n_f = self.grounds.heights.shape[-1]
        rows = np.zeros((n_rows, n_parameters(n_f)))
        rows[:, ALPHA], rows[:, UP + 2] = self.baumgarte_rate, 1.0
        rows[:, at.GROUNDS - at.MODEL :].reshape(n_rows, n_f, at.GROUND_SIZE)[:] = self.grounds.planes
        return rows


def planes_in(rows: Array, n_f: int) -> Array:
    """(..., n_f, 4) d and m of the feet's grounds in rows (..., size) of node_parameters."""
    block = rows[..., at.GROUNDS : at.GROUNDS + at.GROUND_SIZE * n_f]
    return block.reshape(*rows.shape[:-1], n_f, at.GROUND_SIZE)
