"""Command governor: the commanded velocity as the gait, the ground's friction and the trunk's accelerations allow it.

A command is a velocity v (ahead and to the left) and a turn w about the vertical. Both are cut to what is allowed of
them alone, the speed limit and the largest turn. Then the command is scaled as a whole, so that the path which it
describes stays the same, until

    |(v_x / a_i, v_y / b_i)| + |w| r_i / b_i <= 1  (reach of each foot i, whose hip is r_i from the trunk's middle)
    |v| |w| <= a_max                               (centripetal acceleration, a share of what friction gives)

where a_i and b_i are the speeds ahead and sideways at which a stance ends with a straight leg. What is planned for
approaches the result at limited accelerations; on the way the turn yields where it would break a limit at the present
speed.

Heading and lateral position that the whole body is to keep: they move as commanded, errors are fed back.

A reference that approaches its target no faster than a rate: commands may jump, references may not.

ClampedIntegrator of the planned forward speed: makes up for a speed that is never reached.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.mpc.config import MOST_TURN, ReferenceConfig
from contact_ddp_ros.mpc.reference import TrunkCommand
from contact_ddp_ros.robot.attitude import Chart
from contact_ddp_ros.robot.ground import Ground
from contact_ddp_ros.robot.joint_pd import ClampedIntegrator, SteadyStateError
from contact_ddp_ros.robot.rotation import quaternion_to_matrix, quaternion_to_rpy, wrap_angle
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.robot.tree import GRAVITY

Array = NDArray[np.float64]

_NEARLY = 1.05
"""A gait may begin at a motion that takes this share of the reach of its legs."""

_TINY = 1e-9
"""Smallest divisor."""

_TOLD = 0.99
"""A command that keeps more than this share of itself counts as uncut."""


@dataclass(frozen=True)
class MotionLimits:
    """Limits of a commanded motion.

    Attributes:
        speed: of the trunk [m/s].
        feet: (n_f, 2) speeds ahead and sideways at which the stance of a foot ends with a straight leg [m/s].
        radii: (n_f,) distances of the hips from the vertical through the trunk's origin [m].
        acceleration: centripetal [m/s^2].
    """

    speed: float
    feet: Array
    radii: Array
    acceleration: float

    @property
    def reach(self) -> float:
        """Speed straight ahead at which a stance ends with a straight leg [m/s]."""
        return float(self.feet[:, 0].min())

    def share(self, motion: TrunkCommand) -> tuple[float, str]:
        """Largest factor, at most 1, of a motion's velocity and turn that keeps the limits; and which one binds."""
        turn = abs(motion.turn)
        factors = {
            "the reach of the legs in this gait": 1.0 / max(self._reached(motion, turn), _TINY),
            "friction in the turn": math.sqrt(self.acceleration / max(motion.speed * turn, _TINY)),
        }
        binding = min(factors, key=lambda name: factors[name])
        return min(factors[binding], 1.0), binding

    def hold(self, motion: TrunkCommand) -> bool:
        """Reach check: true where the legs reach for a motion, or nearly so."""
        return self._reached(motion, abs(motion.turn)) < _NEARLY

    def turn(self, motion: TrunkCommand) -> float:
        """Fastest turn at the velocity of a motion [rad/s]."""
        ahead, sideways = np.maximum(self.feet, _TINY).T
        left = 1.0 - np.hypot(motion.forward / ahead, motion.lateral / sideways)
        return max(min(float((left * sideways / self.radii).min()), self.acceleration / max(motion.speed, _TINY)), 0.0)

    def _reached(self, motion: TrunkCommand, turn: float) -> float:
        """Share of the legs' reach that a motion takes."""
        ahead, sideways = np.maximum(self.feet, _TINY).T
        shares = np.hypot(motion.forward / ahead, motion.lateral / sideways) + turn * self.radii / sideways
        return float(shares.max())


class CommandGovernor:
    """Velocity that is planned for, from one plan to the next."""

    def __init__(self) -> None:
        """Begin at rest at time 0."""
        self._motion, self._time = TrunkCommand(0.0), 0.0
        self.cut = ""
        """Text on the part of the last command that is not followed, and why; empty where all of it is."""

    @property
    def motion(self) -> TrunkCommand:
        """Forward and lateral velocity [m/s] and turn [rad/s] that are planned for."""
        return self._motion

    def rest(self, time: float) -> TrunkCommand:
        """Be at rest at `time` [s]."""
        self._motion, self._time, self.cut = TrunkCommand(0.0), time, ""
        return self._motion

    def follow(self, command: TrunkCommand, time: float, limits: MotionLimits, config: ReferenceConfig) -> TrunkCommand:
        """The motion to plan for at `time` [s]; a clock set back moves nothing."""
        dt, self._time = max(time - self._time, 0.0), time
        wanted, now = self._allowed(command, limits), self._motion
        ahead, left = wanted.forward - now.forward, wanted.lateral - now.lateral
        step, change = config.acceleration * dt, math.hypot(ahead, left)
        share = min(step / change, 1.0) if change > 0.0 else 0.0
        forward, lateral = now.forward + share * ahead, now.lateral + share * left
        step = config.turn_acceleration * dt
        turn = now.turn + min(max(wanted.turn - now.turn, -step), step)
        most = limits.turn(TrunkCommand(forward, lateral))
        self._motion = TrunkCommand(forward, lateral, min(max(turn, -most), most))
        return self._motion

    def _allowed(self, command: TrunkCommand, limits: MotionLimits) -> TrunkCommand:
        slower = min(limits.speed / max(command.speed, _TINY), 1.0)
        turn = min(max(command.turn, -MOST_TURN), MOST_TURN)
        single = replace(command, forward=slower * command.forward, lateral=slower * command.lateral, turn=turn)
        share, binding = limits.share(single)
        wanted = replace(single, forward=share * single.forward, lateral=share * single.lateral, turn=share * turn)
        reasons = {
            f"the speed limit, {limits.speed:.3g} m/s": slower,
            f"the largest turn, {MOST_TURN:g} rad/s": turn / command.turn if command.turn else 1.0,
            binding: share,
        }
        told = " and ".join(reason for reason, factor in reasons.items() if factor < _TOLD)
        self.cut = f"{_words(command)} is cut to {_words(wanted)} by {told}" if told else ""
        return wanted


def _words(motion: TrunkCommand) -> str:
    aside = f", {motion.lateral:.3g} m/s to the left" if motion.lateral else ""
    return f"{motion.forward:.3g} m/s{aside}" + (f", {motion.turn:.3g} rad/s" if motion.turn else "")


def motion_limits(feet: Array, radii: Array, friction: float, config: ReferenceConfig) -> MotionLimits:
    """Limits from the feet's largest speeds (n_f, 2), the hips' radii (n_f,), a friction coefficient and parameters."""
    speed = min(config.speed_limit, float(feet[:, 0].min()))
    return MotionLimits(speed, feet, radii, config.turn_friction * friction * GRAVITY)


def pose_cut(wished: ReferenceConfig, held: ReferenceConfig) -> str:
    """Text on a trunk pose that the legs do not reach, and the one that is held instead; empty where it is the same."""
    if all(abs(getattr(wished, name) - getattr(held, name)) < 1e-3 for name in ("height", "roll", "pitch")):
        return ""
    one, other = (f"{c.height:.3g} m high, roll {c.roll:.3g}, pitch {c.pitch:.3g} rad" for c in (wished, held))
    return f"a trunk {one} is held {other} by the reach of the legs"


class RateLimited:
    """One number that follows its target in time."""

    def __init__(self, value: float = 0.0, time: float = 0.0) -> None:
        self.value = value
        self._time = time

    def restart(self, value: float, time: float) -> None:
        """Be at `value` at `time` [s]."""
        self.value, self._time = value, time

    def approach(self, target: float, rate: float, time: float) -> float:
        """Move towards the target at `rate` per second since the last call; a clock set back moves nothing."""
        step = rate * max(time - self._time, 0.0)
        self._time = time
        self.value += min(max(target - self.value, -step), step)
        return self.value


_LONGEST_STEP = 0.05
"""A longer time between two plans counts as this much [s]."""


class SpeedTrim:
    """Integral correction of the forward speed from one plan to the next."""

    def __init__(self) -> None:
        """Begin with nothing to make up for, at time 0."""
        self._error, self._trim, self._time = SteadyStateError(), ClampedIntegrator(), 0.0

    @property
    def value(self) -> float:
        """Last correction [m/s]."""
        return self._trim.value

    def reset(self, time: float) -> None:
        """Forget at `time` [s] what was learned of speeds not reached."""
        self._error.reset()
        self._trim.reset()
        self._time = time

    def follow(self, speed: float, measured: float, time: float, cycle: float, config: ReferenceConfig) -> float:
        """Speed to plan for at `time` [s] in a gait of period `cycle` [s], from a wanted and a measured one [m/s]."""
        limit = config.speed_limit
        step = min(max(time - self._time, 0.0), _LONGEST_STEP)
        self._time = time
        error = self._error.follow(speed, measured, time, cycle)
        if abs(speed + self._trim.value) >= limit and error * speed > 0.0:
            error = 0.0  # what the limit forbids would have to be unlearned later
        speed += self._trim.follow(error, config.speed_integral, config.speed_trim, step)
        return min(max(speed, -limit), limit)


_HEADING_AHEAD = 0.5
"""The heading runs no further ahead of the robot's than this [rad]."""


class HeadingTracker:
    """Heading and line from one plan to the next."""

    def __init__(self) -> None:
        self._time = -math.inf
        self._heading = 0.0
        self._x = self._y = 0.0
        self._lean = ClampedIntegrator()

    def follow(
        self,
        state: RobotState,
        command: TrunkCommand,
        ground: Ground,
        config: ReferenceConfig,
        *,
        hold: bool,
        speed_trim: float = 0.0,
        reach: float = math.inf,
        centripetal: float = math.inf,
        chart: Chart = Chart.YAW_PITCH_ROLL,
    ) -> TrunkCommand:
        """The motion to plan from a state for a command; with `hold` the robot's heading and place are the ones.

        Heading and roll are the angles of a chart of the attitude in which the state is regular.

        The velocity to the left makes up for the distance from the line, and the lean for a roll that lasts. The
        planned velocity begins near the robot's: after a push the feet land where they can catch it. What the forward
        velocity holds to make up for one never reached, `speed_trim` [m/s], is no excess when it is reached. No planned
        velocity is beyond the `reach` of the steps [m/s]: feet that cannot step do not follow a push. Where the robot
        is faster than commanded, beyond the band, it turns no faster than a `centripetal` acceleration [m/s^2] allows.
        """
        yaw, roll = _yaw_and_roll(state, chart)
        x, y = float(state.position[0]), float(state.position[1])
        step = min(max(state.time - self._time, 0.0), _LONGEST_STEP)
        self._time = state.time
        if hold:
            self._heading, self._x, self._y = yaw, x, y
            self._lean.reset()
            return TrunkCommand(command.forward, heading=yaw, lean=command.lean, pitch=command.pitch)
        v_x, v_y, _ = (quaternion_to_matrix(state.orientation) @ state.linear_velocity).tolist()
        speed = math.hypot(v_x, v_y) - config.settling_band
        most = centripetal / speed if speed > command.speed else math.inf
        turn = min(max(command.turn, -most), most)
        behind = wrap_angle(self._heading + turn * step - yaw)
        self._heading = yaw + min(max(behind, -_HEADING_AHEAD), _HEADING_AHEAD)
        cos, sin = math.cos(self._heading), math.sin(self._heading)
        along = cos * (x - self._x) + sin * (y - self._y)  # the line's point follows the robot
        self._x += cos * along - sin * command.lateral * step
        self._y += sin * along + cos * command.lateral * step
        left = cos * (y - self._y) - sin * (x - self._x)
        limit = config.line_speed
        back = min(max(config.line_gain * left, -limit), limit)
        lateral = command.lateral + _within(-back, command.lateral, config.speed_limit)
        level = math.atan(ground.aside(yaw) / math.hypot(1.0, ground.ahead(yaw)))
        trim = self._lean.follow(level + command.lean - roll, config.roll_integral, config.roll_trim, step)
        forward_excess = cos * v_x + sin * v_y - (command.forward - speed_trim)
        lateral_excess = cos * v_y - sin * v_x - lateral
        large = math.hypot(forward_excess, lateral_excess)
        share = 1.0 - config.settling_band / large if large > config.settling_band else 0.0
        return TrunkCommand(
            command.forward,
            lateral,
            turn,
            heading=self._heading,
            lean=command.lean + trim,
            pitch=command.pitch,
            forward_excess=_within(share * forward_excess, command.forward, reach),
            lateral_excess=_within(share * lateral_excess, lateral, reach),
            settling=config.settling,
        )


def _within(excess: float, velocity: float, limit: float) -> float:
    """Room of a velocity within its limit."""
    return min(max(velocity + excess, -limit), limit) - velocity


def _yaw_and_roll(state: RobotState, chart: Chart) -> tuple[float, float]:
    if chart is Chart.YAW_PITCH_ROLL:
        roll, _, yaw = (float(angle) for angle in quaternion_to_rpy(state.orientation))
        return yaw, roll
    yaw, roll, _ = (float(angle) for angle in chart.angles(quaternion_to_matrix(state.orientation)))
    return yaw, roll
