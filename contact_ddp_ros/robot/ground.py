"""The ground that planner, controller and reports count on: one plane and one friction coefficient.

The planner owns it as parameters, every policy carries it to the controller, every recording to the reports.
"""

from dataclasses import dataclass

from contact_ddp_ros.config import parameter


@dataclass(frozen=True)
class Ground:
    """A level plane."""

    height: float = parameter(0.0, low=-1.0, high=1.0, unit="m", description="height of the ground in odom")
    friction: float = parameter(0.6, low=0.1, high=2.0, description="friction coefficient that forces may use")
