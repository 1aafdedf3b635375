"""From wanted joint torques to a command that the drives cannot overdo.

A drive adds kp (q* - q) + kd (v* - v) to the fed-forward torque. With the measured state that part is known, so the
feedforward is chosen such that the sum is the wanted torque, clipped to the actuator. Where that would take more
feedforward than the actuator can give, the targets move towards the measurement instead, so that

    |feedforward| <= limit,      |feedforward + kp (q* - q) + kd (v* - v)| <= limit

for whatever was wanted. Between two commands the state moves on, and the drive clips the sum once more.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.robot.state import DriveGains, JointCommand, RobotState

Array = NDArray[np.float64]

_ROUNDING = 1e-9
"""A feedforward cut by less than this, relative to the actuators, is rounding."""


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
    positions, velocities = targets.positions, targets.velocities
    drive = gains.kp * (positions - q) + gains.kd * (velocities - v)
    total = np.minimum(np.maximum(targets.torques + drive, -limits), limits)
    torques = np.minimum(np.maximum(total - drive, -limits), limits)
    left_over = total - torques
    if np.abs(left_over - drive).max() > _ROUNDING * limits.max():
        share = np.divide(left_over, drive, out=np.ones_like(drive), where=drive != 0.0)
        positions = q + share * (positions - q)
        velocities = v + share * (velocities - v)
        drive = gains.kp * (positions - q) + gains.kd * (velocities - v)
    return LimitedCommand(JointCommand(positions, velocities, torques), torques + drive)
