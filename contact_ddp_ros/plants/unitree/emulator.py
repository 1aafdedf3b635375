"""An emulator of a robot of Unitree: MuJoCo behind its low-level messages (:mod:`contact_ddp_ros.plants.emulator`).

Commands answer the state whose time is their serial number `sn` [us]. With a motion service of its own the robot stands
by itself and executes no commands until that is released.

unitree_emulator                                                   in real time, hanging until the first command
unitree_emulator robot=go2 link.domain=1 service=normal
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from contact_ddp_ros.base.config import parameter
from contact_ddp_ros.base.errors import LinkError
from contact_ddp_ros.plants.emulator import Commanded, Emulator, EmulatorConfig, run_emulator
from contact_ddp_ros.plants.unitree.config import UNITREE_EMULATOR, UNITREE_ROBOT, ImuPlace, UnitreeLinkOptions
from contact_ddp_ros.plants.unitree.conventions import UnitreeConventions
from contact_ddp_ros.plants.unitree.link import LOW_CMD_TOPIC, LOW_STATE_TOPIC, TICK_TOPIC, UnitreeLink
from contact_ddp_ros.plants.unitree.messages import EMULATOR_TICK, LOW_CMD, LOW_STATE
from contact_ddp_ros.plants.unitree.motion_service import MotionServiceEmulator
from contact_ddp_ros.plants.unitree.remote import Handset
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.state import DriveGains, ImuSample, JointCommand, RobotState

_OWN_GAINS = 60.0, 5.0
"""Stiffness [N m/rad] and damping [N m s/rad] with which the motion service has it stand."""


@dataclass(frozen=True)
class UnitreeEmulatorConfig(EmulatorConfig):
    """Parameters of the emulator."""

    robot: str = parameter(UNITREE_ROBOT, description="a robot of config/robots, its .yaml file, or a URDF")
    service: str = parameter("", description="mode of its own motion service at first; empty: it has none")
    imu_place: ImuPlace = field(default_factory=ImuPlace)
    link: UnitreeLinkOptions = field(default_factory=UnitreeLinkOptions)


class UnitreeEmulator(Emulator):
    """One simulated robot connected to a DDS domain."""

    def __init__(self, robot: Robot, config: UnitreeEmulatorConfig) -> None:
        """Build the world and open the link.

        Raises:
            ContactDdpError: an option is out of its range, or the link cannot be opened.
        """
        super().__init__(robot, config)
        self.handset = Handset()
        self._conventions = UnitreeConventions(robot, config.imu_place.position)
        self._link = UnitreeLink(config.link)
        self._link.subscribe(LOW_CMD_TOPIC, LOW_CMD, self._on_command)
        self._tell = self._link.publisher(LOW_STATE_TOPIC, LOW_STATE)
        self._tell_tick = self._link.publisher(TICK_TOPIC, EMULATOR_TICK)
        self._service = MotionServiceEmulator(self._link, config.service) if config.service else None
        own = [np.full(robot.n_joints, gain) for gain in _OWN_GAINS]
        zeros = np.zeros(robot.n_joints)
        self._own: Commanded = JointCommand(robot.standing, zeros, zeros), DriveGains(own[0], own[1], own[1])

    def _receive(self, timeout: float) -> bool:
        return self._link.receive(timeout)

    def _publish(self, state: RobotState, imu: ImuSample, tick: dict[str, Any]) -> None:
        record = EMULATOR_TICK.new()
        for name, value in tick.items():
            record[name] = value
        self._tell_tick(EMULATOR_TICK.encode(record))
        self._tell(self._conventions.state(state, tick["torques"], imu, self.handset.encode()))

    def _commanded(self, answer: Commanded | None) -> Commanded:
        if self._service is not None and self._service.mode:
            self._tripped = True
            return self._own
        return super()._commanded(answer)

    def _on_command(self, data: bytes) -> None:
        try:
            command, gains, answered = self._conventions.commanded(data)
            self._take((command, gains), answered)
        except LinkError:
            self.malformed += 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the emulator until SIGINT or SIGTERM; return the exit code."""
    return run_emulator(
        UNITREE_EMULATOR,
        "MuJoCo behind the low-level messages of Unitree's quadrupeds.",
        UnitreeEmulatorConfig(),
        lambda config: UnitreeEmulator(load_robot(config.robot), config),
        arguments,
    )


if __name__ == "__main__":
    sys.exit(main())
