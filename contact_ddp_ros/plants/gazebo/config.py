"""Parameters of the bridge to Gazebo, and the names of topics and services there.

Which parameters of the simulated world a Gazebo world has; others are refused by name, not passed over.

Topics and services as the plugins of :mod:`contact_ddp_ros.plants.gazebo.sdf` derive them.
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

from contact_ddp_ros.base.config import flatten, parameter
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.plants.options import SimOptions

WORLD: Final = "contact_ddp"
"""The world that `contact-ddp sdf` writes."""

MODEL: Final = "mini_cheetah"
"""The model in it; the name of the robot in its URDF."""


PLAIN, DAMPED = 1, 2
"""Joint damping in a world's acknowledgements: the robot's own, or that of the drives, too, which is refused."""


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


OF_ROBOT: Final = ("timestep", "friction", "trunk_mass_scale", "payload.", "seed")
"""Beginnings of the names of what the robot's model holds; the seed is of what nobody simulates there."""

OF_WORLD: Final = (*OF_ROBOT, "terrain")
"""Beginnings of the names of parameters that decide a whole world."""

OF_SENSORS: Final = ("noise.", "error.", "seed")
"""Beginnings of the names of parameters of the sensors' errors, which need no world of their own."""


def refuse_others(options: SimOptions, known: tuple[str, ...], what: str) -> None:
    """Refuse a parameter that differs from its default and is not known to `what`.

    Raises:
        ParameterError: there is one; the text names it.
    """
    plain = flatten(SimOptions())
    for name, value in flatten(options).items():
        if value != plain.get(name, value) and not name.startswith(known):
            taken = ", ".join(dict.fromkeys(word + "*" * word.endswith(".") for word in known))
            raise ParameterError(f"simulator.{name} is {value!r}; {what} takes {taken} alone")


@dataclass(frozen=True)
class BridgeConfig:
    """Names of the robot in Gazebo, and work of its drives there."""

    world: str = parameter(WORLD, description="name of the world in Gazebo", structural=True)
    model: str = parameter(MODEL, description="name of the robot's model in it", structural=True)
    timestep: float = parameter(
        0.001, low=0.0001, high=0.01, unit="s", description="length of that world's physics step", structural=True
    )
    differences: bool = parameter(
        True,
        description="compute the trunk's velocity from its poses, since the odometry's twist lags",
        structural=True,
    )
    command_timeout: float = parameter(
        0.02, low=0.002, high=1.0, unit="s", description="time without a command after which the drives damp"
    )
    push_duration: float = parameter(
        0.1, low=0.001, high=10.0, unit="s", description="how long a force on the topic push acts"
    )
    answer_timeout: float = parameter(
        5.0, low=0.1, high=120.0, unit="s", description="wall-clock time in which Gazebo must answer", structural=True
    )
    server_timeout: float = parameter(
        120.0,
        low=0.1,
        high=3600.0,
        unit="s",
        description="wall-clock time in which a server must have come up",
        structural=True,
    )
    settle: bool = parameter(
        True, description="reset the world at the start and put the robot on bent legs", structural=True
    )
