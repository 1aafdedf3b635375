"""Heading and lateral position that the whole body is to keep: they move as commanded, errors are fed back.

A reference that approaches its target no faster than a rate: commands may jump, references may not.

ClampedIntegrator of the planned forward speed: makes up for a speed that is never reached.
"""

import math

from contact_ddp_ros.mpc.config import ReferenceConfig
from contact_ddp_ros.mpc.reference import TrunkCommand
from contact_ddp_ros.robot.attitude import Chart
from contact_ddp_ros.robot.clamped_integrator import ClampedIntegrator, SteadyStateError
from contact_ddp_ros.robot.ground import Ground
from contact_ddp_ros.robot.rotation import quaternion_to_matrix, quaternion_to_rpy, wrap_angle
from contact_ddp_ros.robot.state import RobotState


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
        chart: Chart = Chart.YAW_PITCH_ROLL,
    ) -> TrunkCommand:
        """The motion to plan from a state for a command; with `hold` the robot's heading and place are the ones.

        Heading and roll are the angles of a chart of the attitude in which the state is regular.

        The velocity to the left makes up for the distance from the line, and the lean for a roll that lasts. The
        planned velocity begins near the robot's: after a push the feet land where they can catch it. What the forward
        velocity holds to make up for one never reached, `speed_trim` [m/s], is no excess when it is reached. No planned
        velocity is beyond the `reach` of the steps [m/s]: feet that cannot step do not follow a push.
        """
        yaw, roll = _yaw_and_roll(state, chart)
        x, y = float(state.position[0]), float(state.position[1])
        step = min(max(state.time - self._time, 0.0), _LONGEST_STEP)
        self._time = state.time
        if hold:
            self._heading, self._x, self._y = yaw, x, y
            self._lean.reset()
            return TrunkCommand(command.forward, heading=yaw, lean=command.lean, pitch=command.pitch)
        behind = wrap_angle(self._heading + command.turn * step - yaw)
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
        v_x, v_y, _ = (quaternion_to_matrix(state.orientation) @ state.linear_velocity).tolist()
        forward_excess = cos * v_x + sin * v_y - (command.forward - speed_trim)
        lateral_excess = cos * v_y - sin * v_x - lateral
        large = math.hypot(forward_excess, lateral_excess)
        share = 1.0 - config.settling_band / large if large > config.settling_band else 0.0
        return TrunkCommand(
            command.forward,
            lateral,
            command.turn,
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
