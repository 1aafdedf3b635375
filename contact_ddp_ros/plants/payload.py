"""A payload on the trunk: a cube on its upper side, whose mass lies in its middle."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.plants.options import PayloadOptions

Array = NDArray[np.float64]

PAYLOAD_SIZE: Final = 0.035
"""Half the side of the cube [m]."""

LOW: Final = 0.05
"""Height of the upper side of a trunk that has no boxes [m]."""


def place(payload: PayloadOptions, top: float) -> Array:
    """(3,) of its middle in base_link, the trunk's upper side being at `top` [m]."""
    return np.array([payload.x, payload.y, top + PAYLOAD_SIZE])


def moment(payload: PayloadOptions) -> float:
    """Moment of inertia about any axis through its middle [kg m^2]."""
    return payload.mass * (2.0 * PAYLOAD_SIZE) ** 2 / 6.0


def loaded(mass: float, com: Array, inertia: Array, payload: PayloadOptions, top: float) -> tuple[float, Array, Array]:
    """A body and the payload as one: mass [kg], centre of mass (3,) [m], inertia (3, 3) about it [kg m^2]."""
    total, middle = mass + payload.mass, place(payload, top)
    centre = (mass * com + payload.mass * middle) / total
    tensor = inertia + moment(payload) * np.eye(3)
    for part, at in ((mass, com - centre), (payload.mass, middle - centre)):
        tensor = tensor + part * (at @ at * np.eye(3) - np.outer(at, at))
    return total, centre, tensor
