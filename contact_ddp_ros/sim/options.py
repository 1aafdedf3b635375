"""Everything tunable about the simulated world: time step, ground, what differs from the planner's model, sensors."""

from dataclasses import dataclass, field

from contact_ddp_ros.config import parameter


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
class GroundStepOptions:
    """A step across the robot's way, as wide as the world; none where its height is zero."""

    position: float = parameter(
        2.0,
        low=-100.0,
        high=100.0,
        unit="m",
        description="x in odom from which on the ground is higher",
        structural=True,
    )
    height: float = parameter(
        0.0,
        low=-0.2,
        high=0.2,
        unit="m",
        description="of the ground beyond the step; negative leads down",
        structural=True,
    )


@dataclass(frozen=True)
class SimOptions:
    """Parameters of the physics simulation."""

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
    ground_step: GroundStepOptions = field(default_factory=GroundStepOptions)
    noise: NoiseOptions = field(default_factory=NoiseOptions)
