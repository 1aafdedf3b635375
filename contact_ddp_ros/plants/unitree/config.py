"""Everything tunable about the link to a robot of Unitree."""

from dataclasses import dataclass

from contact_ddp_ros.base.config import parameter

UNITREE_ROBOT = "go2"
"""Robot of config/robots for which the defaults are."""

UNITREE_EMULATOR = "unitree_emulator"
"""Name of the emulator's program, and of its section in parameter files."""

_AUTO = -1
_SIMULATED_DOMAIN, _ROBOT_DOMAIN = 1, 0
"""Domains of `unitree_mujoco` and of the robot."""


@dataclass(frozen=True)
class UnitreeLinkOptions:
    """Network interface and DDS domain of the link."""

    interface: str = parameter(
        "lo", description="network interface to the robot; lo: a simulator on this machine", structural=True
    )
    domain: int = parameter(
        _AUTO,
        low=_AUTO,
        high=232,
        description="DDS domain; -1: 1 on the interface lo, as unitree_mujoco has it, else 0, the robot's",
        structural=True,
    )

    @property
    def chosen_domain(self) -> int:
        """The DDS domain."""
        own = _SIMULATED_DOMAIN if self.interface == "lo" else _ROBOT_DOMAIN
        return own if self.domain == _AUTO else self.domain


@dataclass(frozen=True)
class ImuPlace:
    """Place of the inertial unit in the URDF's root link; the defaults are those of Unitree's Go2."""

    x: float = parameter(-0.02557, low=-1.0, high=1.0, unit="m", description="ahead")
    y: float = parameter(0.0, low=-1.0, high=1.0, unit="m", description="to the left")
    z: float = parameter(0.04232, low=-1.0, high=1.0, unit="m", description="upwards")

    @property
    def position(self) -> tuple[float, float, float]:
        """Coordinates [m]."""
        return self.x, self.y, self.z


@dataclass(frozen=True)
class UnitreeLimits:
    """Limits of the robot's health."""

    motor_temperature: int = parameter(
        85, low=30, high=120, unit="°C", description="of the hottest motor, from which on the joints damp"
    )
    motor_warning: int = parameter(70, low=30, high=120, unit="°C", description="from which on diagnostics warn")
    charge: int = parameter(
        10, low=0, high=90, unit="%", description="charge of the battery below which the robot does not stand up"
    )


@dataclass(frozen=True)
class RemoteOptions:
    """The handset's part in driving the robot; its stop, L2 and B, works in any case."""

    enabled: bool = parameter(True, description="sticks drive, and buttons stand, move, recover and change the gait")
    deadman: str = parameter(
        "", choices=("", "L1", "R1", "L2", "R2"), description="button without which sticks do nothing; empty: none"
    )
    forward: float = parameter(1.0, low=0.0, high=5.0, unit="m/s", description="speed of a stick fully ahead")
    left: float = parameter(0.5, low=0.0, high=3.0, unit="m/s", description="speed of a stick fully aside")
    yaw_rate: float = parameter(1.0, low=0.0, high=6.0, unit="rad/s", description="turn of a stick fully aside")
