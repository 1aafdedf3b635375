"""Checks of a run before anything is built: parameters that do not exist or do not fit together."""

import dataclasses
import math

from contact_ddp_ros.base.choices import WHOLE_BODY
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.mpc.config import MOST_TURN, PlannerConfig
from contact_ddp_ros.mpc.reference import gait_schedule
from contact_ddp_ros.mpc.whole_body_reference import reference_of
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.models.choice import MODELS
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel
from contact_ddp_ros.runs.options import SECTIONS, RunOptions
from contact_ddp_ros.runs.robot_scaling import (
    controller_config,
    planner_config,
    policy_timing,
    robot_of,
    simulator_options,
)


def check_run(options: RunOptions) -> Robot:
    """Read the robot and every parameter of a run and see that its planner can follow its commands.

    Raises:
        ParameterError: a file, a name, a value, the gait's timing or the commanded speed is not allowed.
        ModelError: the robot's description cannot be used.
    """
    _check_times(options)
    for section in SECTIONS:
        options.parameters(section)
    robot = robot_of(options)
    planner = checked_planner(options, robot)
    for time, name in options.gaits:
        try:
            gait_schedule(WholeBodyModel, dataclasses.replace(planner.gait, name=name))
        except ParameterError as error:
            raise ParameterError(f"the gait from {time:g} s on: {error}") from error
    controller_config(options, robot, policy_timing(options, planner))
    simulator_options(options, robot)
    check_speed(max((speed for _, speed in options.speed), key=abs), planner)
    check_speed(options.left, planner, " to the left")
    _check_reach(options, robot, planner)
    if abs(options.turn) > MOST_TURN:
        raise ParameterError(f"the commanded turn is {options.turn:g} rad/s; allowed: {-MOST_TURN:g} to {MOST_TURN:g}")
    return robot


def _check_times(options: RunOptions) -> None:
    """Refuse what would happen after the end of the run, if at all."""
    found = [(f"push {number} begins", push.time) for number, push in enumerate(options.pushes, 1)]
    found += [(f"the change to the gait {name} is", time) for time, name in options.gaits]
    found += [("stand_time is", options.stand_time)]
    if options.stop_time is not None:
        found += [("stop_time is", options.stop_time)]
    points = [time for time, _ in options.speed]
    found += [("a breakpoint of the speed is", time) for time in (points[:-1] if options.ramp else points)]
    for words, time in found:
        if time >= options.duration:
            raise ParameterError(
                f"{words} at {time:g} s, and the run ends at {options.duration:g} s; allowed: before its end. "
                "Give an earlier time or a longer duration"
            )
    if options.stop_time is not None and options.stop_time <= options.stand_time:
        raise ParameterError(
            f"stop_time is {options.stop_time:g} s and stand_time {options.stand_time:g} s; allowed: a later stop, "
            "for the robot moves between them"
        )


def checked_planner(options: RunOptions, robot: Robot, model: str = WHOLE_BODY) -> PlannerConfig:
    """The planner's parameters of a run, or of plans for another model, whose gait fits its grid.

    Raises:
        ParameterError: a name or a value is not allowed, or the gait is not for this model or this grid.
    """
    planner = planner_config(options, robot, model)
    try:
        gait_schedule(MODELS[model], planner.gait)
    except ParameterError as error:
        raise ParameterError(f"planner.gait: {error}") from error
    return planner


def _check_reach(options: RunOptions, robot: Robot, planner: PlannerConfig) -> None:
    """Refuse a commanded speed that is beyond what legs reach in the gait that is under way then.

    A gait that goes nowhere ignores what is commanded, which is of the gaits after it.
    """
    model = WholeBodyModel(robot)
    gaits = [(0.0, planner.gait.name), *options.gaits]
    ends = [*(time for time, _ in gaits[1:]), math.inf]
    for (begin, name), end in zip(gaits, ends, strict=True):
        instants = [begin, *(time for time, _ in options.speed if begin < time < end)]
        if options.ramp and end < math.inf:
            instants.append(end)
        fastest = max(abs(speed) for speed in (options.left, *map(options.speed_at, instants)))
        limit = reference_of(model, dataclasses.replace(planner.gait, name=name)).fastest(planner.reference)
        if fastest > limit > 0.0:
            raise ParameterError(
                f"the commanded speed of {fastest:g} m/s is beyond the {limit:.2f} m/s of the gait {name}, "
                "whose stances would take the feet further than the legs reach; command less, choose another gait, "
                f"or lower planner.gait.stretch from {planner.gait.stretch:g}"
            )


def check_speed(speed: float, planner: PlannerConfig, way: str = "") -> None:
    """Refuse a commanded speed [m/s] that would be cut.

    Raises:
        ParameterError: it is beyond the planner's limit, either way.
    """
    limit = planner.reference.speed_limit
    if abs(speed) > limit:
        raise ParameterError(
            f"the commanded speed{way} of {speed:g} m/s is beyond the {limit:g} m/s of planner.reference.speed_limit; "
            "command less, or raise the limit with --set planner.reference.speed_limit=X"
        )
