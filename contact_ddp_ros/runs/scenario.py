"""Scenario: everything that a closed loop depends on, resolved once from what was declared and what was given.

The tree of declared parameters is `run` (:class:`RunOptions`), `planner`, `controller` and `simulator`; nodes add what
only they have (:mod:`contact_ddp_ros.ros.node_config`). Of a parameter the last of these counts that gives it:

    defaults < robot (its size, then its file) < parameter file < command line < live changes

:func:`for_robot` is the second step, with ROS and without; :meth:`RunOptions.parameters` gives the third and fourth,
which ROS itself puts together for nodes; :meth:`Scenario.changed` is the last.
"""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from contact_ddp_ros.base.choices import WHOLE_BODY
from contact_ddp_ros.base.config import APART, Config, ParameterSpec, Value, flatten, replace, specs
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.control.config import ControllerConfig, SafetyConfig
from contact_ddp_ros.mpc.config import MOST_TURN, PlannerConfig, for_model
from contact_ddp_ros.mpc.reference import gait_schedule
from contact_ddp_ros.mpc.whole_body_reference import reference_of
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.models.choice import MODELS
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel
from contact_ddp_ros.runs.options import ESTIMATED, SECTIONS, TRUNK_ERRORS, RunOptions
from contact_ddp_ros.runs.robot_scaling import for_robot

NODES = ("planner", "controller", "simulator")
"""Branches of a scenario with parameters of a node."""


@dataclass(frozen=True)
class Scenario:
    """One run: its options, its robot and every parameter in effect."""

    run: RunOptions
    robot: Robot = field(metadata=APART)
    planner: PlannerConfig
    controller: ControllerConfig
    simulator: SimOptions

    @property
    def parameters(self) -> dict[str, dict[str, Value]]:
        """Values of every parameter of the nodes, by section and dotted name."""
        return {section: flatten(getattr(self, section)) for section in NODES}

    def specs(self) -> dict[str, ParameterSpec]:
        """Every parameter of the nodes by "section.name", its value as the default."""
        return {name: spec for name, spec in specs(self).items() if name.startswith(tuple(f"{one}." for one in NODES))}

    def changed(self, values: Mapping[str, Any]) -> "Scenario":
        """The scenario with live changes by "section.name" on top of everything.

        Raises:
            ParameterError: a name is unknown or a value is not allowed.
        """
        new = replace(self, values)
        now = flatten(new)
        return dataclasses.replace(new, run=self.run.changed({name: now[name] for name in values}))


def scenario(options: RunOptions, model: str = WHOLE_BODY) -> Scenario:
    """Resolve the options of a run; `model` is the one that is planned for.

    Raises:
        ParameterError: a file, a name or a value is not allowed.
        ModelError: the robot's description cannot be used.
    """
    for section in SECTIONS:
        options.parameters(section)
    robot = load_robot(options.robot)

    def resolved(section: str, defaults: Config, derived: Mapping[str, Any]) -> Config:
        given = {name: value for name, value in options.parameters(section).items() if not name.startswith("node.")}
        return replace(for_robot(defaults, robot), {**derived, **given})

    fitted = for_model(PlannerConfig(), model)
    planner = resolved("planner", fitted, {})
    period = 1.0 / planner.rate
    late = SafetyConfig().policy_periods + options.planner_delay / period
    timing = {"safety.planner_period": period, "safety.policy_periods": late}
    controller = resolved("controller", ControllerConfig(), timing)
    world = resolved("simulator", SimOptions(), {})
    _check_trunk_errors(options, world)
    return Scenario(options, robot, planner, controller, world)


def _check_trunk_errors(options: RunOptions, world: SimOptions) -> None:
    """Refuse errors of a measured state of the trunk where none is used."""
    values = flatten(world)
    found = [f"simulator.{name} is {values[name]:g}" for name in TRUNK_ERRORS if values[name]]
    if options.state == ESTIMATED and found:
        raise ParameterError(
            f"{', '.join(found)}, which are errors of a state that is given, and this run estimates its own from IMU "
            "and joints; give state true, too, or errors of the sensors (simulator.imu.*, simulator.error.joints)"
        )


def check_run(options: RunOptions) -> Scenario:
    """Read the robot and every parameter of a run and see that its planner can follow its commands.

    Raises:
        ParameterError: a file, a name, a value, the gait's timing or the commanded speed is not allowed.
        ModelError: the robot's description cannot be used.
    """
    _check_times(options)
    found = scenario(options)
    robot, planner = found.robot, found.planner
    check_gait(planner)
    for time, name in options.gaits:
        try:
            gait_schedule(WholeBodyModel, dataclasses.replace(planner.gait, name=name))
        except ParameterError as error:
            raise ParameterError(f"the gait from {time:g} s on: {error}") from error
    check_speed(max((speed for _, speed in options.speed), key=abs), planner)
    check_speed(options.left, planner, " to the left")
    _check_reach(options, robot, planner)
    if abs(options.turn) > MOST_TURN:
        raise ParameterError(f"the commanded turn is {options.turn:g} rad/s; allowed: {-MOST_TURN:g} to {MOST_TURN:g}")
    return found


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


def check_gait(planner: PlannerConfig, model: str = WHOLE_BODY) -> None:
    """Refuse a gait that is not for this model or does not fit the planner's grid.

    Raises:
        ParameterError: the gait does not fit.
    """
    try:
        gait_schedule(MODELS[model], planner.gait)
    except ParameterError as error:
        raise ParameterError(f"planner.gait: {error}") from error


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
