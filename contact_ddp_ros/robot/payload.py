"""What the trunk carries beside its own mass: told by parameters, or weighed by the feet."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.config import parameter


@dataclass(frozen=True)
class Payload:
    """A mass at a point of the trunk; negative where the robot is lighter than its description says."""

    mass: float = parameter(0.0, low=-10.0, high=50.0, unit="kg", description="of what the trunk carries")
    x: float = parameter(0.0, low=-1.0, high=1.0, unit="m", description="of that in base_link")
    y: float = parameter(0.0, low=-1.0, high=1.0, unit="m", description="of that in base_link")
    z: float = parameter(0.0, low=-1.0, high=1.0, unit="m", description="of that in base_link")

    def array(self) -> NDArray[np.float64]:
        """(4,) as the dynamics take it."""
        return np.array([self.mass, self.x, self.y, self.z])


NO_PAYLOAD = Payload()
