"""Joint PD command whose total torque stays within the limits, from wanted joint torques.

A drive adds kp (q* - q) + kd (v* - v) to the fed-forward torque. With the measured state that part is known, so the
feedforward is chosen such that the sum is the wanted torque, clipped to the actuator. Where that would take more
feedforward than the actuator can give, the targets move towards the measurement instead, so that

    |feedforward| <= limit,      |feedforward + kp (q* - q) + kd (v* - v)| <= limit

for whatever was wanted. Between two commands the state moves on, and the drive clips the sum once more.

Along the motors' torque-speed curve the limit falls with speed: a joint that turns faster than `full` is driven on with
less, and not at all beyond `idle`; torque that brakes it is not cut.

A constant disturbance, felt as a velocity or an angle that is never quite reached, and what makes up for it.
"""

from collections import deque
from dataclasses import dataclass, replace

import numba as nb
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.config import parameter
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.base.numba_cache import njit
from contact_ddp_ros.robot.rotation import COMPILED, READ, WRITTEN
from contact_ddp_ros.robot.state import DriveGains, JointCommand, RobotState

Array = NDArray[np.float64]

_ROUNDING = 1e-9
"""A feedforward cut by less than this, relative to the actuators, is rounding."""


@dataclass(frozen=True)
class MotorConfig:
    """The motors' torque-speed curve: all of the torque up to one speed, from there linearly down to none."""

    full_speed: float = parameter(
        0.9, low=0.1, high=5.0, description="share of a joint's velocity limit up to which it is driven with all torque"
    )
    idle_speed: float = parameter(
        1.2, low=0.2, high=10.0, description="share of a joint's velocity limit from which on it is driven no faster"
    )


@dataclass(frozen=True)
class JointTargets:
    """Joint targets of a control law: positions, velocities and torques.

    Attributes:
        positions: (12,) targets [rad].
        velocities: (12,) targets [rad/s].
        torques: (12,) to be added to the drives' PD around these targets [N m].
    """

    positions: Array
    velocities: Array
    torques: Array

    def softened(self, softness: Array, state: RobotState) -> "JointTargets":
        """Targets about which the drives' PD acts as one with λ² of their stiffness and λ of their damping.

        `softness` λ is (12,), 1 for a joint that is left as it is. The targets follow the joint as it was measured.
        """
        positions = state.joint_positions + softness**2 * (self.positions - state.joint_positions)
        velocities = state.joint_velocities + softness * (self.velocities - state.joint_velocities)
        return replace(self, positions=positions, velocities=velocities)


@dataclass(frozen=True)
class TorqueSpeedCurve:
    """Joint speeds (12,) up to which the full torque is available, and from which on none is [rad/s]."""

    full: Array
    idle: Array

    @classmethod
    def of(cls, velocity_limits: Array, config: MotorConfig) -> "TorqueSpeedCurve":
        """Curve from the joints' velocity limits (12,) [rad/s].

        Raises:
            ParameterError: there is no torque where it should all be there.
        """
        if not config.idle_speed > config.full_speed:
            raise ParameterError(
                f"motor.idle_speed is {config.idle_speed}; allowed: above motor.full_speed, {config.full_speed}"
            )
        return cls(config.full_speed * velocity_limits, config.idle_speed * velocity_limits)


@dataclass(frozen=True)
class LimitedCommand:
    """The command to send and the (12,) torques that the drives make of it at the measured state [N m]."""

    command: JointCommand
    total: Array


def limited_command(
    targets: JointTargets, state: RobotState, gains: DriveGains, limits: Array, curve: TorqueSpeedCurve | None = None
) -> LimitedCommand:
    """The command nearest to `targets` that keeps every part of the torque within `limits` (12,) [N m].

    With a `curve`, the sum also within what the motors have at their speed.
    """
    curve = curve or TorqueSpeedCurve(np.full_like(limits, 1e6), np.full_like(limits, 2e6))
    positions, velocities, torques, total = _limited(
        targets.positions,
        targets.velocities,
        targets.torques,
        state.joint_positions,
        state.joint_velocities,
        gains.kp,
        gains.kd,
        limits,
        curve.full,
        curve.idle,
    )
    return LimitedCommand(JointCommand(positions, velocities, torques), total)


def softness(gains: DriveGains, inertias: Array, delay: float) -> Array:
    """Factors λ on the joints' crossovers that leave half of their phase margin where torque is late; 1 where it is.

    A joint in swing, of inertia I, has the margin atan(kd ω / kp) at its crossover ω, I ω² = |kp + j kd ω|. A delay T
    takes ω T of it. With kp λ² and kd λ the damping ratio stays, and ω falls by λ.

    Args:
        gains: of the drives, n joints.
        inertias: (n,) that the joints turn in swing [kg m^2].
        delay: inside the drives [s].
    """
    kp, kd = gains.kp, gains.kd
    crossover = np.sqrt((kd**2 + np.sqrt(kd**4 + 4.0 * (inertias * kp) ** 2)) / (2.0 * inertias**2))
    margin, lost = np.arctan2(kd * crossover, kp), crossover * delay
    return np.minimum(1.0, 0.5 * margin / np.maximum(lost, 1e-9))


@njit(
    nb.types.UniTuple(WRITTEN, 4)(*[READ] * 10),
    **COMPILED,
)
def _limited(targets, rates, wanted, q, v, kp, kd, limits, full, idle):  # type: ignore[no-untyped-def]
    """Target positions, velocities, feedforward and total torques (12,)."""
    n = len(q)
    positions, velocities, torques, total = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    rounding = _ROUNDING * limits.max()
    for j in range(n):
        drive = kp[j] * (targets[j] - q[j]) + kd[j] * (rates[j] - v[j])
        positions[j], velocities[j] = targets[j], rates[j]
        asked = wanted[j] + drive
        if not abs(asked) < np.inf:  # the supervisor sees it; clipping could hide it
            torques[j] = total[j] = asked
            continue
        left = min(max((idle[j] - abs(v[j])) / (idle[j] - full[j]), 0.0), 1.0) * limits[j]
        upper, lower = (left, limits[j]) if v[j] > 0.0 else (limits[j], left)
        total[j] = min(max(asked, -lower), upper)
        torques[j] = min(max(total[j] - drive, -limits[j]), limits[j])
        left_over = total[j] - torques[j]
        if abs(left_over - drive) > rounding and drive != 0.0:
            share = left_over / drive
            positions[j] = q[j] + share * (targets[j] - q[j])
            velocities[j] = v[j] + share * (rates[j] - v[j])
            drive = kp[j] * (positions[j] - q[j]) + kd[j] * (velocities[j] - v[j])
        total[j] = torques[j] + drive
    return positions, velocities, torques, total


_SAME = 1e-6
"""Instants as near as this are one [s]."""


class ClampedIntegrator:
    """The integral of an error, within bounds."""

    def __init__(self) -> None:
        """Begin with nothing to make up for."""
        self.value = 0.0

    def reset(self) -> None:
        """Forget what was learned."""
        self.value = 0.0

    def follow(self, error: float, gain: float, limit: float, dt: float) -> float:
        """Correction of the target, `dt` [s] after the last one, where the measurement is short of wanted by `error`.

        `gain` is in 1/s; the result stays within ± `limit`.
        """
        self.value = min(max(self.value + gain * error * dt, -limit), limit)
        return self.value


class SteadyStateError:
    """Steady-state error: distance of a measurement's mean from the range of all values wanted meanwhile.

    What is wanted may move faster than what is measured can follow: while it does, the error between them is none that
    lasts. So the mean over one cycle is held against the range of what was wanted in that cycle and the one before; a
    response takes less than the latter, and the mean is free of what a cycle does to the measurement.
    """

    def __init__(self) -> None:
        """Begin with no cycle seen."""
        self._samples = deque[tuple[float, float, float]]()

    def reset(self) -> None:
        """Forget what was seen."""
        self._samples.clear()

    def follow(self, wanted: float, measured: float, time: float, cycle: float) -> float:
        """Distance of the mean from that range at `time` [s]; 0 until two cycles [s] were seen."""
        samples = self._samples
        if samples and time <= samples[-1][0]:
            samples.clear()
        samples.append((time, wanted, measured))
        while len(samples) > 1 and samples[1][0] <= time - 2.0 * cycle + _SAME:
            samples.popleft()
        if samples[0][0] > time - 2.0 * cycle + _SAME:
            return 0.0
        late = [sample[2] for sample in samples if sample[0] > time - cycle + _SAME]
        mean = sum(late) / len(late)
        wants = [sample[1] for sample in samples]
        return min(max(mean, min(wants)), max(wants)) - mean
