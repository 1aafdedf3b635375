"""Everything tunable about the simulated world: time step, ground, load, delays, sensors and their errors."""

from dataclasses import dataclass, field

from contact_ddp_ros.base.choices import TERRAIN_WORDS
from contact_ddp_ros.base.config import parameter

CONTACTS = ("stiff", "relaxed", "spring")
"""Contact models of feet and ground, defined in :mod:`contact_ddp_ros.plants.mujoco_model`."""


ENGINES = ("mujoco", "dart", "bullet")
"""Physics engines."""


@dataclass(frozen=True)
class NoiseOptions:
    """Standard deviations of the white noise on the measured state; all zero by default."""

    position: float = parameter(0.0, low=0.0, high=0.1, unit="m", description="noise on the trunk's position")
    orientation: float = parameter(
        0.0, low=0.0, high=0.2, unit="rad", description="noise on the trunk's orientation, about each of its axes"
    )
    linear_velocity: float = parameter(
        0.0, low=0.0, high=0.5, unit="m/s", description="noise on the trunk's linear velocity"
    )
    angular_velocity: float = parameter(
        0.0, low=0.0, high=1.0, unit="rad/s", description="noise on the trunk's angular velocity"
    )
    joint_positions: float = parameter(0.0, low=0.0, high=0.1, unit="rad", description="noise on joint positions")
    joint_velocities: float = parameter(0.0, low=0.0, high=5.0, unit="rad/s", description="noise on joint velocities")


@dataclass(frozen=True)
class StateErrorOptions:
    """Constant errors of the measured state, as an estimator makes them."""

    z: float = parameter(0.0, low=-0.3, high=0.3, unit="m", description="error of the trunk's height")
    roll: float = parameter(0.0, low=-0.3, high=0.3, unit="rad", description="error of the trunk's roll")
    pitch: float = parameter(0.0, low=-0.3, high=0.3, unit="rad", description="error of the trunk's pitch")
    yaw: float = parameter(0.0, low=-3.2, high=3.2, unit="rad", description="error of the trunk's yaw")
    joints: float = parameter(
        0.0, low=0.0, high=0.2, unit="rad", description="largest error of a joint's angle, uniform by the seed"
    )


@dataclass(frozen=True)
class DelayOptions:
    """Times after which something takes effect, rounded to time steps."""

    state: float = parameter(
        0.0,
        low=0.0,
        high=0.1,
        unit="s",
        description="age of a state that is handed out; its stamp is true",
        structural=True,
    )
    command: float = parameter(
        0.0, low=0.0, high=0.1, unit="s", description="from a joint command to the drives", structural=True
    )
    torque: float = parameter(
        0.0, low=0.0, high=0.1, unit="s", description="from the drives' law to their motors' torque", structural=True
    )


@dataclass(frozen=True)
class PayloadOptions:
    """A point mass fixed on the trunk's upper side."""

    mass: float = parameter(0.0, low=0.0, high=20.0, unit="kg", description="of a payload", structural=True)
    x: float = parameter(0.0, low=-1.0, high=1.0, unit="m", description="of the payload in base_link", structural=True)
    y: float = parameter(0.0, low=-1.0, high=1.0, unit="m", description="of the payload in base_link", structural=True)


@dataclass(frozen=True)
class ContactOptions:
    """Contact of robot and ground in MuJoCo."""

    model: str = parameter(
        CONTACTS[0],
        choices=CONTACTS,
        description="stiff: as near to rigid as MuJoCo gets; relaxed: MuJoCo's defaults; spring: a spring and a damper",
        structural=True,
    )
    stiffness: float = parameter(
        10_000.0,
        low=1000.0,
        high=200_000.0,
        unit="N/m",
        description="of the spring, as of a rubber foot",
        structural=True,
    )
    damping: float = parameter(
        60.0, low=1.0, high=500.0, unit="N s/m", description="of the damper beside the spring", structural=True
    )


IMU_PRESETS = ("ideal", "tactical", "consumer")
"""Inertial units by name: without errors; as the Mini Cheetah's (VectorNav VN-100); a phone's."""


@dataclass(frozen=True)
class ImuOptions:
    """Errors of the inertial unit."""

    preset: str = parameter(
        "tactical", choices=IMU_PRESETS, description="grade of the inertial unit: noise and range", structural=True
    )
    gyro_bias: float = parameter(
        0.0,
        low=0.0,
        high=0.2,
        unit="rad/s",
        description="size of the gyroscope's constant error about each axis, of a sign by the seed",
        structural=True,
    )
    accelerometer_bias: float = parameter(
        0.0,
        low=0.0,
        high=2.0,
        unit="m/s^2",
        description="size of the accelerometer's constant error along each axis, of a sign by the seed",
        structural=True,
    )
    roll: float = parameter(
        0.0, low=-0.3, high=0.3, unit="rad", description="roll in which the unit is mounted askew", structural=True
    )
    pitch: float = parameter(
        0.0, low=-0.3, high=0.3, unit="rad", description="pitch in which the unit is mounted askew", structural=True
    )


@dataclass(frozen=True)
class SimOptions:
    """Parameters of the physics simulation."""

    engine: str = parameter(
        ENGINES[0],
        choices=ENGINES,
        description="physics engine; dart and bullet need their packages, and have contacts of their own",
        structural=True,
    )
    mjcf: str = parameter(
        "",
        description="MJCF file of another robot to simulate; empty for the planned one",
        structural=True,
    )
    timestep: float = parameter(
        0.001, low=0.0001, high=0.002, unit="s", description="length of a physics step", structural=True
    )
    friction: float = parameter(
        0.8, low=0.05, high=5.0, description="Coulomb friction coefficient between ground and robot", structural=True
    )
    trunk_mass_scale: float = parameter(
        1.0, low=0.1, high=10.0, description="simulated trunk mass and inertia over nominal", structural=True
    )
    seed: int = parameter(0, low=0, high=2**31 - 1, description="of the sensor noise", structural=True)
    terrain: str = parameter(
        "flat",
        description=f"shape of the ground: {TERRAIN_WORDS}",
        structural=True,
    )
    torque_scale: float = parameter(
        1.0, low=0.0, high=2.0, description="torque that the motors give over what is asked"
    )
    contact: ContactOptions = field(default_factory=ContactOptions)
    payload: PayloadOptions = field(default_factory=PayloadOptions)
    delay: DelayOptions = field(default_factory=DelayOptions)
    error: StateErrorOptions = field(default_factory=StateErrorOptions)
    noise: NoiseOptions = field(default_factory=NoiseOptions)
    imu: ImuOptions = field(default_factory=ImuOptions)
