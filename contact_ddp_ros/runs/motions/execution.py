"""Execution of a planned motion in the simulator, in lock-step: from its start, at the controller's rate, to a stand.

The run is a :class:`~contact_ddp_ros.runs.recording.Recording` like any other. Its only solve is the optimisation, its
only plan the policy on the run's clock, and it has the stage of the motion and the planned state at every tick.
"""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from contact_ddp_ros.base.config import flatten
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.control.controller import Controller
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.control.motion_controller import (
    POSTURE_REST,
    POSTURE_TIME,
    ExecutionConfig,
    MotionController,
    MotionStage,
    start_state,
)
from contact_ddp_ros.mpc.motions.optimizer import MotionPlan
from contact_ddp_ros.plants.engines import make_simulator
from contact_ddp_ros.plants.terrain.words import FLAT
from contact_ddp_ros.robot.motion import MotionSpec
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.runs.closed_loop import Pushes, run_info
from contact_ddp_ros.runs.loop import CONTROL_PERIOD, Loop, Observer, estimator_of
from contact_ddp_ros.runs.motions.result import STAGES
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.recording import Recorder, Recording, RunInfo
from contact_ddp_ros.runs.scenario import Scenario, scenario

STAND_BEFORE, STAND_AFTER = 0.5, 1.5
"""Time that the robot stands before the motion and after it [s]."""

_RAMP = 0.4
"""Share of that time for the weight to come onto the legs: the robot is put down in the pose [s]."""

_IN_THE_AIR = 0.2
"""Time for which the robot has held the pose where it is put down: no state of then says where it is now [s]."""


def motion_options(task: MotionSpec, overrides: Mapping[str, Any] | None = None, **changes: Any) -> RunOptions:
    """Options of a motion's run: its duration, a short stand, the ground of the motion.

    Args:
        task: the motion.
        overrides: parameters on top, as those of :class:`~contact_ddp_ros.runs.options.RunOptions`.
        changes: other options by name.

    Raises:
        ParameterError: an option is out of its range.
    """
    ticks = round((STAND_BEFORE + task.duration + STAND_AFTER) / CONTROL_PERIOD)
    given = {
        "duration": ticks * CONTROL_PERIOD,
        "speed": ((0.0, 0.0),),
        "terrain": f"step:{task.edge},{task.rise}" if task.rise else FLAT,
        **changes,
    }
    return RunOptions(overrides={"controller.stand.ramp_time": _RAMP, **(overrides or {})}, **given)


def motion_begin(task: MotionSpec) -> float:
    """Earliest time at which a run's motion begins [s]."""
    return POSTURE_TIME + POSTURE_REST if task.start else STAND_BEFORE


def execute_motion(
    plan: MotionPlan,
    options: RunOptions | None = None,
    execution: ExecutionConfig | None = None,
    start: RobotState | None = None,
) -> Recording:
    """Run a plan in the simulator; :class:`~contact_ddp_ros.runs.motions.result.MotionResult` has the figures.

    Args:
        plan: of the options' robot.
        options: of the run, by default those of :func:`motion_options`; speeds and gaits count for nothing.
        execution: how the policy is tracked.
        start: of the simulation; by default that of the motion.

    Raises:
        ParameterError: an option is out of its range, or the plan is for another robot.
        SimulationError: the physics diverged.
    """
    task, robot = plan.task, plan.problem.model.robot
    options, execution = options or motion_options(task), execution or ExecutionConfig()
    found = scenario(options)
    if found.robot.model_hash != robot.model_hash:
        raise ParameterError(f"the plan of {task.name} is for another robot than the run's, {options.robot}")
    config = found.controller
    controller, law = Controller(robot, config), MotionController(robot, task, plan.policy, config, execution)
    plant = make_simulator(robot, controller.drive_gains, found.simulator)
    if start is not None or task.start:
        plant.reset(start or start_state(task, robot))
    watch = _MotionRequest(law, 0 if law.lies else round(STAND_BEFORE / CONTROL_PERIOD))
    recorder = Recorder(plans_every=1)
    observers = [watch, Pushes(options.pushes)]
    loop = Loop(plant, controller, recorder, estimator=estimator_of(options, robot, config), observers=observers)
    recorder.begin(_info(plan, found, execution, loop.steps_per_tick * plant.timestep))
    controller.update(replace(start_state(task, robot), time=-_IN_THE_AIR), -_IN_THE_AIR)
    if not law.lies:
        controller.request(ControlMode.STAND)
    loop.run_to(options.duration)
    _record_plan(recorder, plan, law.begun)
    return replace(recorder.finish(), motion=watch.columns())


class _MotionRequest(Observer):
    """Request of a motion at a tick, and what it is at every tick."""

    def __init__(self, law: MotionController, tick: int) -> None:
        self._law, self._tick = law, tick
        self._stages: list[int] = []
        self._planned: list[np.ndarray] = []

    def before_tick(self, loop: Loop) -> None:
        if loop.ticks == self._tick:
            answer = loop.controller.perform(self._law)
            loop.event(f"{self._law.name}: {answer.reason}")

    def after_update(self, loop: Loop) -> None:
        self._stages.append(STAGES.index(MotionStage.FAULT if loop.controller.fault else self._law.stage))
        self._planned.append(self._law.sample.state)

    def columns(self) -> dict[str, np.ndarray]:
        """Columns of the recording, a row per tick."""
        return {"stage": np.array(self._stages), "planned": np.array(self._planned)}


def _info(plan: MotionPlan, found: Scenario, execution: ExecutionConfig, control_period: float) -> RunInfo:
    """Description of the run, with the contact points and coordinates of the plan's model and no gait."""
    model = plan.problem.model
    info = run_info("motion", found, control_period, 1.0 / found.planner.rate)
    return replace(
        info,
        options={**info.options, "motion": asdict(plan.task)},
        contact_points=tuple(model.legs_of),
        force_dimension=len(model.axes),
        mode_names=(),
        mode_feet=(),
        gait_period=0.0,
        cost_terms=(),
        plan_coordinates=model.coordinates,
        planner_friction=plan.problem.config.friction,
        parameters={**(info.parameters or {}), "motion": flatten(execution)},
    )


def _record_plan(recorder: Recorder, plan: MotionPlan, begun: float) -> None:
    solution = plan.found.solution
    recorder.solve(
        begun,
        solve_ms=1e3 * plan.solve_time,
        iterations=plan.iterations,
        status=solution.termination.name.lower(),
        cost=solution.cost,
        violation=solution.inequality_violation,
        plan=replace(plan.policy, times=plan.policy.times + begun),
    )
