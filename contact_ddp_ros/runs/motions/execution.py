"""A planned motion in the simulator, in lock-step: from its start, tracked at the controller's rate, into a stand."""

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.control.config import ControllerConfig
from contact_ddp_ros.control.controller import Controller
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.control.motion_controller import (
    POSTURE_REST,
    POSTURE_TIME,
    ExecutionConfig,
    MotionController,
    MotionStage,
    model_for,
    start_state,
)
from contact_ddp_ros.control.turning import follower_of
from contact_ddp_ros.mpc.motions.optimizer import MotionPlan
from contact_ddp_ros.plants.engines import make_simulator
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.plants.plant import SimulatedPlant
from contact_ddp_ros.plants.terrain.words import FLAT
from contact_ddp_ros.robot.joint_pd import TorqueSpeedCurve
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.motion import MotionSpec
from contact_ddp_ros.robot.rotation import quaternion_to_rpy
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.runs.loop import CONTROL_PERIOD
from contact_ddp_ros.runs.recording import FALL_HEIGHT

Array = NDArray[np.float64]

STAND_BEFORE, STAND_AFTER = 0.5, 1.5
"""Time that the robot stands before the motion and after it [s]."""

_RAMP = 0.4
"""Share of that time for the weight to come onto the legs: the robot is put down in the pose [s]."""

_IN_THE_AIR = 0.2
"""Time for which the robot has held the pose where it is put down: no state of then says where it is now [s]."""

_REST_SPEED, _REST_RATE, _REST_TILT, _REST_TIME = 0.2, 1.0, 0.25, 0.2
"""A trunk slower than this [m/s, rad/s] and no more tilted [rad] for so long [s] stands."""

_PLACE, _ROTATION = 0.2, 0.3
"""Tolerances of the end about the wanted one [m, rad]."""

LANDED = "landed and stands"

_FOLLOWING = (MotionStage.TAKE_OFF, MotionStage.FLIGHT, MotionStage.STRIDE, MotionStage.LANDING)

_PUSH_TIME = 0.02
"""Duration of a push [s]."""


@dataclass(frozen=True)
class MotionRun:
    """Record of an executed motion, a row per control tick; SI units, true values.

    Attributes:
        times: (N,). states: the robot's, N of them.
        coordinates: (N, n_x) of the plan's model, turns counted, place from where it began; planned: the policy's.
        torques: (N, 12) applied. available: (N, 12) what the motors have at the joints' speed, in that direction.
        forces: (N, 4, 3) of the ground on the feet. stages: N of them.
        ground: (N,) height of the ground under the trunk.
        tilts: (N,) of the axis that the motion turns about [rad].
        begun: when the motion began.
        touchdowns: when the ground was felt, after as many flights as it was.
        stood: when the robot had come to rest, upright; NaN where it never did.
        fell: whether the trunk came down, or a fault ended it. reason: of a fault.
    """

    plan: MotionPlan = field(repr=False)
    options: SimOptions
    times: Array = field(repr=False)
    states: tuple[RobotState, ...] = field(repr=False)
    coordinates: Array = field(repr=False)
    planned: Array = field(repr=False)
    torques: Array = field(repr=False)
    available: Array = field(repr=False)
    forces: Array = field(repr=False)
    stages: tuple[MotionStage, ...] = field(repr=False)
    ground: Array = field(repr=False)
    tilts: Array = field(repr=False)
    begun: float
    touchdowns: tuple[float, ...]
    stood: float
    reason: str

    @property
    def moving(self) -> NDArray[np.bool_]:
        """(N,) whether the policy was followed."""
        return np.array([stage in _FOLLOWING for stage in self.stages])

    @property
    def landed(self) -> bool:
        """True if it ended standing where it should, turned by the whole rotation, and never came down."""
        return self.outcome == LANDED

    @property
    def outcome(self) -> str:
        """Outcome in words."""
        task = self.plan.task
        if self.fell:
            return f"fell{': ' * bool(self.reason)}{self.reason}"
        if not math.isfinite(self.stood):
            return "did not come to rest"
        away = max(abs(self.displacement - task.displacement), abs(self.left - task.left))
        if abs(self.rotation - task.turns) > _ROTATION or away > _PLACE:
            return "stands, but not where it should"
        return LANDED

    @property
    def fell(self) -> bool:
        """True if the trunk came down, or a fault ended the motion."""
        return bool(self.reason) or self.lowest < FALL_HEIGHT

    @property
    def heights(self) -> Array:
        """(N,) of the trunk's origin [m]."""
        return self.coordinates[:, self.plan.problem.model.height]

    @property
    def height(self) -> float:
        """Most by which the trunk was above where it began [m]."""
        return float((self.heights - self.heights[0]).max())

    @property
    def displacement(self) -> float:
        """Displacement of the trunk along the heading of the start, at the end [m]."""
        return float(self.coordinates[-1, 0])

    @property
    def left(self) -> float:
        """Displacement of the trunk to the left, at the end [m]; a planar plan does not know."""
        return float(self.coordinates[-1, 1]) if self.plan.problem.model.height > 1 else 0.0

    @property
    def rotation(self) -> float:
        """Rotation of the trunk about the axis that the motion turns about, at the end [rad]."""
        return float(self.coordinates[-1, self.plan.problem.turning]) - self.plan.task.start_turn

    @property
    def torque_share(self) -> float:
        """Largest applied torque over the actuator's limit."""
        return float((np.abs(self.torques) / self.plan.problem.model.robot.effort_limits).max())

    @property
    def speed_share(self) -> float:
        """Largest joint speed over its limit."""
        return float(self._speeds.max())

    @property
    def overspeed(self) -> float:
        """Longest time for which a joint was faster than its limit without a break [s]."""
        fast = np.pad(self._speeds > 1.0, ((1, 1), (0, 0))).T.astype(int)
        begins, ends = (np.argwhere(np.diff(fast, axis=1) == step)[:, 1] for step in (1, -1))
        return float((ends - begins).max(initial=0) * CONTROL_PERIOD)

    @property
    def _speeds(self) -> Array:
        """(N, 12) of the joints over their limits."""
        limits = self.plan.problem.model.robot.velocity_limits
        return np.abs([state.joint_velocities for state in self.states]) / limits

    @property
    def torque_excess(self) -> float:
        """Most by which a torque was beyond the torque-speed curve [N m].

        The command keeps within it at the measured speed; the drives go on to the next command, as the speed changes.
        """
        return max(0.0, float((np.abs(self.torques) - self.available).max()))

    @property
    def lowest(self) -> float:
        """Least height of the trunk's origin above the ground [m]; of a robot that lies, from the first take-off on."""
        task = self.plan.task
        begin = self.begun + task.flights[0][0] if task.start else 0.0
        return float((self.heights - self.ground)[self.times >= begin].min())

    @property
    def touchdown(self) -> float:
        """Time at which the ground was felt after the last flight [s]; NaN where it never was."""
        return self.touchdowns[-1] if len(self.touchdowns) == len(self.plan.task.flights) else math.nan

    @property
    def delays(self) -> Array:
        """(n,) by how much the ground was felt after the planned touchdown, each counted from the one before [s]."""
        planned = [0.0, *(end for _, end in self.plan.task.flights[: len(self.touchdowns)])]
        return np.diff([self.begun, *self.touchdowns]) - np.diff(planned)

    @property
    def flight_speed(self) -> float:
        """Mean speed of the trunk along the heading of the start over the longest flight [m/s]; NaN without one."""
        task = self.plan.task
        index = task.flights.index(task.flight)
        if index >= len(self.touchdowns):
            return math.nan
        end = self.touchdowns[index]
        begin = end - self.delays[index] - (task.flight[1] - task.flight[0])
        rows = np.searchsorted(self.times, [begin - 1e-9, end - 1e-9])
        return float(np.diff(self.coordinates[rows, 0])[0] / np.diff(self.times[rows])[0])

    @property
    def time_to_stand(self) -> float:
        """Time from the last touchdown to rest [s]."""
        return self.stood - self.touchdown


def execute_motion(
    plan: MotionPlan,
    robot: Robot,
    options: SimOptions | None = None,
    execution: ExecutionConfig | None = None,
    start: RobotState | None = None,
    push: tuple[float, float] = (0.0, 0.0),
) -> MotionRun:
    """Run a plan in the simulator.

    Args:
        plan: of the robot.
        robot: that the controller knows.
        options: of the simulated world; ground by the motion, where not given.
        execution: how the policy is tracked.
        start: of the simulation; by default that of the motion.
        push: impulse on the trunk, forward and to the left, just before the motion begins [N s].

    Raises:
        ParameterError: an option is out of its range.
        SimulationError: the physics diverged.
    """
    world = options or SimOptions(terrain=terrain_of(plan.task))
    config = ControllerConfig()
    config = replace(config, stand=replace(config.stand, ramp_time=_RAMP))
    controller, law = Controller(robot, config), MotionController(robot, plan.task, plan.policy, config, execution)
    simulator = make_simulator(robot, controller.drive_gains, world)
    if start is not None or plan.task.start:
        simulator.reset(start or start_state(plan.task, robot))
    log = _Log(plan, robot, simulator, controller, law)
    steps = max(1, round(CONTROL_PERIOD / simulator.timestep))
    begin = POSTURE_TIME + POSTURE_REST if law.lies else STAND_BEFORE
    asked = 0 if law.lies else round(begin / CONTROL_PERIOD)
    pushed, end = round((begin - _PUSH_TIME) / CONTROL_PERIOD), STAND_BEFORE + plan.task.duration + STAND_AFTER
    controller.update(replace(start_state(plan.task, robot), time=-_IN_THE_AIR), -_IN_THE_AIR)
    if not law.lies:
        controller.request(ControlMode.STAND)
    for tick in range(round(end / CONTROL_PERIOD)):
        if tick == pushed and any(push):
            simulator.push(np.array([*push, 0.0]) / _PUSH_TIME, _PUSH_TIME)
        if tick == asked:
            controller.perform(law)
        state = simulator.read()
        command = controller.update(state, state.time)
        log.add()
        simulator.write(command)
        simulator.advance(steps)
    return log.finish(world)


def terrain_of(task: MotionSpec) -> str:
    """Word for the ground that a motion needs."""
    return f"step:{task.edge},{task.rise}" if task.rise else FLAT


class _Log:
    """Rows of a run while it happens."""

    def __init__(
        self, plan: MotionPlan, robot: Robot, simulator: SimulatedPlant, controller: Controller, law: MotionController
    ) -> None:
        self._plan, self._simulator, self._controller, self._law = plan, simulator, controller, law
        self._body = follower_of(model_for(plan.task, robot), simulator.truth().state, plan.task.start_turn)
        self._limits = robot.effort_limits
        self._curve = TorqueSpeedCurve.of(robot.velocity_limits, controller.config.motor)
        self._rows: list[tuple[Array, Array, Array, Array, Array, float, float]] = []
        self._states: list[RobotState] = []
        self._stages: list[MotionStage] = []

    def add(self) -> None:
        truth = self._simulator.truth()
        state, torques = truth.state, truth.applied_torques
        left = np.clip((self._curve.idle - abs(state.joint_velocities)) / (self._curve.idle - self._curve.full), 0, 1)
        driving = torques * state.joint_velocities > 0.0
        available = self._limits * np.where(driving, left, 1.0)
        planned = self._law.sample.state
        x = self._body.state(state)
        rise = self._plan.task.rise if x[0] > self._plan.task.edge else 0.0
        row = (x, planned, torques, available, truth.contact_forces, rise, self._body.tilt(state))
        self._rows.append(row)
        self._states.append(state)
        self._stages.append(MotionStage.FAULT if self._controller.fault else self._law.stage)

    def finish(self, options: SimOptions) -> MotionRun:
        columns = [np.array(column) for column in zip(*self._rows, strict=True)]
        coordinates, planned, torques, available, forces, ground, tilts = columns
        times = np.array([state.time for state in self._states])
        touchdowns, fault = self._law.touchdowns, self._controller.fault
        landed = len(touchdowns) == len(self._plan.task.flights)
        return MotionRun(
            plan=self._plan,
            options=options,
            times=times,
            states=tuple(self._states),
            coordinates=coordinates,
            planned=planned,
            torques=torques,
            available=available,
            forces=forces,
            stages=tuple(self._stages),
            ground=ground,
            tilts=tilts,
            begun=self._law.begun,
            touchdowns=touchdowns,
            stood=_rest(times, self._states, touchdowns[-1]) if landed else math.nan,
            reason="" if fault is None else str(fault),
        )


def _rest(times: Array, states: list[RobotState], touchdown: float) -> float:
    """Time at which the trunk came to rest, upright, and stayed so to the end [s]; NaN where it did not."""
    still = np.array(
        [
            np.abs(state.linear_velocity).max() < _REST_SPEED
            and np.abs(state.angular_velocity).max() < _REST_RATE
            and np.abs(quaternion_to_rpy(state.orientation)[:2]).max() < _REST_TILT
            for state in states
        ]
    )
    moving = np.flatnonzero(~still)
    begin = times[moving[-1] + 1] if moving.size and moving[-1] + 1 < len(times) else math.nan
    return float(begin) if begin >= touchdown and times[-1] - begin >= _REST_TIME else math.nan
