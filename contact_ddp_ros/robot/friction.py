"""Coulomb friction of contact forces."""

import numpy as np
from numpy.typing import NDArray

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
