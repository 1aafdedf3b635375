"""Description of a closed loop's run for its recording: the robot, the gaits, every parameter."""

import dataclasses
from typing import Any

from contact_ddp_ros.base.config import flatten
from contact_ddp_ros.mpc.config import PlannerConfig
from contact_ddp_ros.mpc.cost_terms import TERMS
from contact_ddp_ros.mpc.custom_terms import configured_terms
from contact_ddp_ros.mpc.reference import gait_schedule, gait_sequence
from contact_ddp_ros.robot.joints import FOOT_NAMES, JOINT_NAMES, LEG_NAMES
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.recording import FALL_HEIGHT, RunInfo, plain_options
from contact_ddp_ros.runs.robot_scaling import controller_config, policy_timing, scales, simulator_options


def run_info(
    job: str,
    options: RunOptions,
    robot: Robot,
    planner: PlannerConfig,
    control_period: float,
    planner_period: float,
) -> RunInfo:
    """The information of a run with or without ROS; periods in s.

    Raises:
        ParameterError: a gait of the run does not exist or is not for its model.
    """
    model = WholeBodyModel(robot)
    sequence = gait_sequence(model, planner.gait)
    for _, name in options.gaits:
        sequence = sequence.knowing(name, gait_schedule(model, dataclasses.replace(planner.gait, name=name)))
    foot_of = dict(zip(LEG_NAMES, FOOT_NAMES, strict=True))
    feet_of = {contact: tuple(foot_of[leg] for leg in legs) for contact, legs in model.legs_of.items()}
    return RunInfo(
        job=job,
        options=plain_options(options),
        joint_names=JOINT_NAMES,
        torque_limits=tuple(float(limit) for limit in robot.effort_limits),
        foot_names=FOOT_NAMES,
        contact_points=tuple(model.legs_of),
        force_dimension=len(model.axes),
        mode_names=tuple(mode.name for mode in sequence.modes),
        gait_period=sequence.period,
        mode_feet=tuple(tuple(foot for name in mode.contacts for foot in feet_of[name]) for mode in sequence.modes),
        control_period=control_period,
        planner_period=planner_period,
        planner_friction=planner.ground.friction,
        cost_terms=(*TERMS, *(term.name for term in configured_terms(planner))),
        plan_coordinates=model.coordinates,
        parameters=_in_effect(options, robot, planner),
        ground_height=planner.ground.height,
        fall_height=FALL_HEIGHT * scales(robot)[0],
    )


def _in_effect(options: RunOptions, robot: Robot, planner: PlannerConfig) -> dict[str, dict[str, Any]]:
    """Every parameter of planner, controller and simulated world."""
    timing = policy_timing(options, planner)
    return {
        "planner": flatten(planner),
        "controller": flatten(controller_config(options, robot, timing)),
        "simulator": flatten(simulator_options(options, robot)),
    }
