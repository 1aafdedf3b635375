"""An emulator of the robot: MuJoCo behind the robot's LCM types (:mod:`contact_ddp_ros.plants.emulator`).

Where its layout has a channel for it, it tells what its drives are commanded, and what its inertial unit shows;
otherwise the estimate has that. As Cheetah-Software does, it may begin with an initial pose, to which it brings the
legs by itself, whatever targets come. In lock-step targets answer the state whose time is their `timestamp_us`.

robot_emulator                                              in real time, hanging until the first command
robot_emulator --params-file FILE link.port=7700 layout=walk_these_ways
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from contact_ddp_ros.base.config import parameter
from contact_ddp_ros.base.errors import LinkError
from contact_ddp_ros.plants.emulator import Commanded, Emulator, EmulatorConfig, run_emulator
from contact_ddp_ros.plants.lcm import conventions
from contact_ddp_ros.plants.lcm.codec import (
    CHEETAH_SOFTWARE,
    EMULATOR_TICK,
    LAYOUTS,
    LEG_CONTROL_COMMAND,
    MICROSTRAIN,
    PD_TAU_TARGETS,
    TARGETS_CHANNEL,
    TICK_CHANNEL,
    decode,
    encode,
)
from contact_ddp_ros.plants.lcm.codec import ROBOT_EMULATOR as NAME
from contact_ddp_ros.plants.lcm.transport import Link, LinkOptions
from contact_ddp_ros.robot.joints import LEG_NAMES
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.state import DriveGains, ImuSample, JointCommand, RobotState

_INITIAL_POSE = (0.6, -1.0, 2.7)
"""Abduction outwards, hip and knee to which Cheetah-Software brings the legs (`initial_jpos_ctrl.yaml`) [rad]."""

_INITIAL_GAINS = 5.0, 0.1
"""Stiffness [N m/rad] and damping [N m s/rad] with which it does."""


@dataclass(frozen=True)
class RobotEmulatorConfig(EmulatorConfig):
    """Parameters of the emulator."""

    layout: str = parameter(CHEETAH_SOFTWARE.name, choices=tuple(LAYOUTS), description="message types that it uses")
    initial_pose: float = parameter(
        0.0, low=0.0, high=10.0, unit="s", description="time in which its program first brings the legs to a pose"
    )
    link: LinkOptions = field(default_factory=LinkOptions)


class RobotEmulator(Emulator):
    """One simulated robot connected to an LCM link."""

    def __init__(self, robot: Robot, config: RobotEmulatorConfig) -> None:
        """Build the world and open the link.

        Raises:
            ContactDdpError: an option is out of its range, or the link cannot be opened.
        """
        super().__init__(robot, config)
        self._config = config
        self._layout = LAYOUTS[config.layout]
        self._origin = self._simulator.read().joint_positions
        self._initial_pose = np.tile(_INITIAL_POSE, len(LEG_NAMES))
        self._initial_pose[:: len(_INITIAL_POSE)] *= [1.0 if name.endswith("l") else -1.0 for name in LEG_NAMES]
        self._count = 0
        self._link = Link(config.link)
        self._link.subscribe(TARGETS_CHANNEL, self._on_targets)

    def _hangs(self) -> bool:
        return super()._hangs() and self.time >= self._config.initial_pose

    def _receive(self, timeout: float) -> bool:
        return self._link.receive(timeout)

    def _publish(self, state: RobotState, imu: ImuSample, tick: dict[str, Any]) -> None:
        layout = self._layout
        self._count += 1
        numbered = conventions.stamps(state.time, self._count) if layout is not CHEETAH_SOFTWARE else {}
        forces = tick["contact_forces"].reshape(len(LEG_NAMES), -1)
        legs = conventions.leg_data_values(self._robot, state, tick["torques"])
        trunk = conventions.estimate_values(layout, state, imu, forces)
        self._link.publish(TICK_CHANNEL, encode(EMULATOR_TICK, tick))
        for channel, unit in layout.imus.items():
            if unit is MICROSTRAIN:
                values = conventions.imu_values(imu, state.orientation, self._samples)
                self._link.publish(channel, encode(unit, values))
        if layout.command_channel and self._executed is not None:
            executed = conventions.executed_values(*self._executed)
            self._link.publish(layout.command_channel, encode(LEG_CONTROL_COMMAND, executed))
        self._link.publish(layout.leg_channel, encode(layout.leg_data, {**legs, **numbered}))
        self._link.publish(layout.estimate_channel, encode(layout.estimate, {**trunk, **numbered}))

    def _commanded(self, answer: Commanded | None) -> Commanded:
        """Command of the drives: the way to the initial pose, the last answer, or damping."""
        duration, n = self._config.initial_pose, self._robot.n_joints
        if self.time >= duration:
            return super()._commanded(answer)
        self._tripped = True
        positions = self._origin + self.time / duration * (self._initial_pose - self._origin)
        kp, kd = (np.full(n, gain) for gain in _INITIAL_GAINS)
        return JointCommand(positions, np.zeros(n), np.zeros(n)), DriveGains(kp=kp, kd=kd, kd_damping=kd)

    def _on_targets(self, data: bytes) -> None:
        try:
            targets = decode(data, [PD_TAU_TARGETS])
            self._take(conventions.joint_command(targets), int(targets.values["timestamp_us"]))
        except LinkError:
            self.malformed += 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the emulator until SIGINT or SIGTERM; return the exit code."""
    described = "MuJoCo behind the LCM types of the robot."
    return run_emulator(
        NAME, described, RobotEmulatorConfig(), lambda config: RobotEmulator(load_robot(), config), arguments
    )


if __name__ == "__main__":
    sys.exit(main())
