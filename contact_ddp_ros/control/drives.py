"""From wanted joint torques to a command that the drives cannot overdo.

A drive adds kp (q* - q) + kd (v* - v) to the fed-forward torque. With the measured state the sum is known, so targets
and feedforward are chosen such that

    |kp (q* - q) + kd (v* - v)| <= limit,      |feedforward| <= limit,      |their sum| <= limit

for whatever torque was wanted. Between two commands the state moves on and the drive clips once more itself.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.robot.state import DriveGains, JointCommand, RobotState

Array = NDArray[np.float64]


@dataclass(frozen=True)
class JointTargets:
    """What a control law wants of the joints.

    Attributes:
        positions: (12,) targets [rad].
        velocities: (12,) targets [rad/s].
        torques: (12,) to be added to the drives' PD around these targets [N m].
    """

    positions: Array
    velocities: Array
    torques: Array


@dataclass(frozen=True)
class LimitedCommand:
    """The command to send and the (12,) torques that the drives make of it at the measured state [N m]."""

    command: JointCommand
    total: Array


def limited_command(targets: JointTargets, state: RobotState, gains: DriveGains, limits: Array) -> LimitedCommand:
    """The command nearest to `targets` that keeps every part of the torque within `limits` (12,) [N m]."""
    q, v = state.joint_positions, state.joint_velocities
    drive = gains.kp * (targets.positions - q) + gains.kd * (targets.velocities - v)
    wanted = np.minimum(np.maximum(targets.torques + drive, -limits), limits)
    positions, velocities = targets.positions, targets.velocities
    excess = np.abs(drive) / limits
    if not excess.max() <= 1.0:
        share = 1.0 / np.maximum(excess, 1.0)
        positions = q + share * (positions - q)
        velocities = v + share * (velocities - v)
        drive = gains.kp * (positions - q) + gains.kd * (velocities - v)
    torques = np.minimum(np.maximum(wanted - drive, -limits), limits)
    return LimitedCommand(JointCommand(positions, velocities, torques), torques + drive)
