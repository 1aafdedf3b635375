"""Names in the Gazebo world: topics and services as the plugins of :mod:`contact_ddp_ros.plants.gazebo.sdf` derive
them.

`W` stands for the world, `M` for the model, `J` for a joint:

    joint states    /world/W/model/M/joint_state    gz.msgs.Model
    odometry        /model/M/odometry               gz.msgs.Odometry
    IMU             /model/M/imu                    gz.msgs.IMU
    contact         /model/M/contact/FOOT           gz.msgs.Contacts
    effort          /model/M/joint/J/cmd_force      gz.msgs.Double
    efforts sent    /model/M/efforts/sent           gz.msgs.Double, answered by
    and received    /model/M/efforts/received       gz.msgs.Double
    push            /world/W/wrench                 gz.msgs.EntityWrench
    world control   /world/W/control                gz.msgs.WorldControl -> gz.msgs.Boolean
"""

from dataclasses import dataclass
from typing import Final

WORLD: Final = "contact_ddp"
"""The world that `contact-ddp sdf` writes."""

MODEL: Final = "mini_cheetah"
"""The model in it; the name of the robot in its URDF."""


PLAIN, DAMPED = 1, 2
"""With which a world acknowledges efforts: joints with the robot's own damping, or, which the bridge refuses, with that
of the drives, too."""


@dataclass(frozen=True)
class Names:
    """The names that follow from those of world and model."""

    world: str = WORLD
    model: str = MODEL

    @property
    def joint_state(self) -> str:
        """Topic of the joint states."""
        return f"/world/{self.world}/model/{self.model}/joint_state"

    @property
    def odometry(self) -> str:
        """Topic of the base's pose and twist."""
        return f"/model/{self.model}/odometry"

    @property
    def imu(self) -> str:
        """Topic of the base's IMU."""
        return f"/model/{self.model}/imu"

    @property
    def control(self) -> str:
        """Service that steps, pauses and resets the world."""
        return f"/world/{self.world}/control"

    @property
    def wrench(self) -> str:
        """Topic of a wrench that acts on a model for one physics step."""
        return f"/world/{self.world}/wrench"

    def effort(self, joint: str) -> str:
        """Topic of the effort of a joint."""
        return f"/model/{self.model}/joint/{joint}/cmd_force"

    @property
    def efforts_sent(self) -> str:
        """Topic on which it is said that efforts have been sent; the server takes it after these."""
        return f"/model/{self.model}/efforts/sent"

    @property
    def efforts_received(self) -> str:
        """Topic on which the server answers that, when it has the efforts."""
        return f"/model/{self.model}/efforts/received"

    def contact(self, foot: str) -> str:
        """Topic of the contacts of a foot."""
        return f"/model/{self.model}/contact/{foot}"
