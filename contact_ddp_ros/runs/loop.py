"""Loop of a plant, its controller and its planner, one control tick at a time, with observers and a channel.

A tick: the state is measured and received, plans that are ready arrive, the controller updates its command, the tick is
recorded, the command is written and the plant advances. Whoever else takes part (a run's timetable, a motion, a live
page) is an :class:`Observer`; a :class:`~contact_ddp_ros.runs.loop.Channel` delays, drops or corrupts messages.

The clock of a loop says how the planner and the wall clock are waited for: :class:`LockStep` or :class:`WallClock`.

Communication channel between robot, planner and controller of a closed loop; by default without delay or loss.

Subclasses delay, drop or corrupt messages to inject faults.
"""

import copy
import math
import time as clock
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import MessageError
from contact_ddp_ros.control.config import ControllerConfig
from contact_ddp_ros.control.controller import Controller
from contact_ddp_ros.control.estimation.state_estimator import StateEstimator
from contact_ddp_ros.control.modes import Answer, ControlMode
from contact_ddp_ros.control.safety import Fault
from contact_ddp_ros.mpc.plan_result import PlanResult
from contact_ddp_ros.mpc.planner import Planner
from contact_ddp_ros.plants.plant import SimulatedPlant
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.policy import Policy
from contact_ddp_ros.robot.state import BodyPose, ImuSample, JointCommand, RobotState
from contact_ddp_ros.runs.options import ESTIMATED, RunOptions
from contact_ddp_ros.runs.recording import Recorder, Recording


class Channel:
    """Ideal channel. Each method is called once per control tick, or per policy, with the message that was sent."""

    def state(self, state: RobotState) -> RobotState | None:
        """Newest state received by the time `state` is measured; None before the first."""
        return state

    def clock(self, now: float) -> float:
        """Reading of the controller's clock [s] at the true time `now` [s]."""
        return now

    def policies(self, policy: Policy, due: float) -> Sequence[tuple[float, Policy]]:
        """(arrival time [s], policy) of each copy received of a policy that is due at `due` [s], in order of time."""
        return ((due, policy),)

    def speed(self, speed: float, now: float) -> float:
        """Speed command [m/s] received at `now` [s] while `speed` [m/s] is sent."""
        return speed

    def command(self, command: JointCommand, now: float) -> JointCommand:
        """Joint command received by the drives for one sent at `now` [s]."""
        return command


CONTROL_PERIOD = 0.002
"""Time between two control ticks [s]."""

Solve = Callable[[], PlanResult]

Self = TypeVar("Self", bound="Loop")


def estimator_of(options: RunOptions, robot: Robot, config: ControllerConfig) -> StateEstimator | None:
    """State estimator of a run that is to go without the simulator's truth; None for one that has it."""
    return StateEstimator(robot, config.estimation.state) if options.state == ESTIMATED else None


class Observer:
    """Participant of a loop; each hook is called once per tick, in the order of the observers."""

    def before_tick(self, loop: "Loop") -> None:
        """State and time have been received; nothing is planned or commanded yet."""

    def after_update(self, loop: "Loop") -> None:
        """The controller has its command for this tick, which is neither recorded nor written yet."""

    def after_tick(self, loop: "Loop") -> None:
        """The plant has advanced."""


class LockStep:
    """Clock on which physics waits for planner and controller: a run depends on its inputs only, not on the machine."""

    busy = False
    """True while a solve is under way, so that the planner must be left alone."""

    def __init__(self, delay: float = 0.0) -> None:
        """`delay` is the modelled age of a policy when it arrives [s]."""
        self._delay = delay

    def collect(self, loop: "Loop") -> None:
        """Take over a solve that has ended since the last tick; in lock-step there is none."""

    def plan(self, loop: "Loop", speed: float) -> None:
        """Plan at the commanded speed [m/s] where that is due."""
        if loop.state is not None and loop.ticks % loop.ticks_per_plan == 0:
            now = loop.plant.time
            loop.take(loop.solve(loop.state, speed), now, now + self._delay)

    def wait(self, time: float) -> None:
        """Return when the wall clock has reached the plant's time [s]; at once in lock-step."""

    def close(self) -> None:
        """End after the last tick."""


class WallClock(LockStep):
    """Clock on which physics follows the wall clock; the planner solves in a thread, always from the newest state."""

    def __init__(self) -> None:
        """Start counting at the first wait."""
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="planner")
        self._busy: Future[PlanResult] | None = None
        self._planned, self._start = -np.inf, np.nan

    def collect(self, loop: "Loop") -> None:
        """Take over a solve that has ended."""
        if self._busy is not None and self._busy.done():
            loop.take(self._busy.result, self._planned, loop.plant.time)
            self._busy, self.busy = None, False

    def plan(self, loop: "Loop", speed: float) -> None:
        """Begin a solve a planner's period after the last one, unless that is still under way."""
        now = loop.plant.time
        due = now - self._planned >= loop.ticks_per_plan * CONTROL_PERIOD - 1e-9
        if loop.state is not None and due and self._busy is None:
            self._busy, self._planned = self._pool.submit(loop.solve(loop.state, speed)), now
            self.busy = True

    def wait(self, time: float) -> None:
        """Sleep until the wall clock has reached the plant's time [s]."""
        now = clock.perf_counter()
        self._start = now - time if np.isnan(self._start) else self._start
        if time > now - self._start:
            clock.sleep(time - (now - self._start))

    def close(self) -> None:
        """Wait for the planner's thread."""
        self._pool.shutdown()


class Loop:
    """One robot's plant, controller and planner, with what is recorded of them."""

    def __init__(
        self,
        plant: SimulatedPlant,
        controller: Controller,
        recorder: Recorder,
        planner: Planner | None = None,
        *,
        estimator: StateEstimator | None = None,
        channel: Channel | None = None,
        observers: Sequence[Observer] = (),
        clock: LockStep | None = None,
    ) -> None:
        """Connect the parts; without a planner nothing is planned, without an estimator the plant's state is used."""
        self.plant, self.controller, self.recorder, self.estimator = plant, controller, recorder, estimator
        if planner is not None:
            self.planner = planner
            self.ticks_per_plan = max(1, round(1.0 / planner.config.rate / CONTROL_PERIOD))
        self.observers = list(observers)
        self.steps_per_tick = max(1, round(CONTROL_PERIOD / plant.timestep))
        self.ticks = 0
        """Number of ticks so far."""
        self.speed = 0.0
        """Commanded forward speed [m/s]."""
        self.steering = (0.0, 0.0)
        """Commanded yaw rate [rad/s] and velocity to the left [m/s]."""
        self.pose: BodyPose | None = None
        """Commanded body pose from the next plan on; None for that of the parameters."""
        self.move_is_due = False
        """True while the controller is to be asked to move as soon as it stands."""
        self.plans_standing = planner is not None
        """True if plans are made in a stand, too, so that a move can begin at once."""
        self.cut = ""
        """Text on the part of the command that is not followed, and why; empty where all of it is."""
        self.state: RobotState | None = None
        """State that has been received at this tick, in the frame in which the robot walks; None before the first."""
        self.shown = plant.time
        """Time that the controller is shown at this tick [s]."""
        self.clock = clock or LockStep()
        self._channel = channel or Channel()
        self._estimated: RobotState | None = None
        self._sensed: deque[tuple[ImuSample, NDArray[np.float64]]] = deque()
        self._arriving: list[tuple[float, Policy]] = []
        self._fault: Fault | None = None
        self._retreats, self._gave_up = 0, False

    def fork(self: Self, channel: Channel | None = None) -> Self:
        """An independent loop in the same state, in lock-step: both go on alike, to the last bit, until told otherwise.

        Compiled kernels, which have no state, are shared. The plant must be of a kind that can be copied, as MuJoCo's.
        `channel` takes the place of the present one, of which there is a copy otherwise.
        """
        twin = copy.deepcopy(self)
        if channel is not None:
            twin._channel = channel
        return twin

    def run_to(self, time: float) -> Recording:
        """Tick up to a time of the plant [s], the last one; what was recorded."""
        try:
            while self.plant.time < time - 1e-9:
                self.tick()
        finally:
            self.clock.close()
        return self.recorder.finish()

    def want(self, mode: ControlMode) -> Answer:
        """Ask for a mode from outside, between two ticks; MOVE comes as soon as the robot stands and has a policy.

        After RECOVER it moves, too.
        """
        self.move_is_due = mode in (ControlMode.MOVE, ControlMode.RECOVER)
        if self.ticks == 0:
            self.controller.update(self.measured(), self.plant.time)
        if mode is not ControlMode.MOVE or self.controller.mode is not ControlMode.DAMP:
            return self.controller.request(mode)
        return self.controller.request(ControlMode.STAND)

    def tick(self) -> None:
        """One control tick: state, plans, command, physics."""
        now = self.plant.time
        received, self.shown = self._channel.state(self.measured()), self._channel.clock(now)
        self.state = self.controller.localised(received)
        self.clock.collect(self)
        for observer in self.observers:
            observer.before_tick(self)
        speed = self._channel.speed(self.speed, now)
        if self.controller.mode is ControlMode.MOVE or (self.plans_standing and self.controller.standing):
            self.clock.plan(self, speed)
        self._deliver(now)
        command = self.controller.update(received, self.shown)
        if self.move_is_due and self.controller.standing:
            self.move_is_due = not self.controller.request(ControlMode.MOVE).accepted
        for observer in self.observers:
            observer.after_update(self)
        self._tell_events(now)
        self._record(self.measured(), speed, command)
        self.plant.write(self._channel.command(command, now))
        self.plant.advance(self.steps_per_tick)
        self.ticks += 1
        for observer in self.observers:
            observer.after_tick(self)
        self.clock.wait(self.plant.time)

    def measured(self) -> RobotState:
        """State that is handed to planner and controller: the plant's, or an estimate from its IMU and joints."""
        if self.estimator is None:
            return self.plant.read()
        last = self._sensed[-1][0].time if self._sensed else -math.inf
        if self._estimated is not None and last == self.plant.time:
            return self._estimated
        if last > self.plant.time:
            self._sensed.clear()  # the plant has been reset
        joints, ground = self.plant.read(), self.controller.estimator.ground
        self._sensed.append((self.plant.imu(), self.plant.truth().applied_torques))
        while self._sensed[0][0].time < joints.time - 1e-9:  # what is older than joints that come late
            self._sensed.popleft()
        sample, torques = self._sensed[0]
        positions, velocities = joints.joint_positions, joints.joint_velocities
        self._estimated = self.estimator.update(sample, positions, velocities, torques, ground)
        self.controller.unlocated = self.estimator.interruption
        return self._estimated

    def event(self, text: str, *, fault: bool = False) -> None:
        """Log an event at the present time."""
        self.recorder.event(self.plant.time, text, fault=fault)

    def solve(self, state: RobotState, speed: float) -> Solve:
        """Planning call for a state and a commanded speed [m/s]; a robot that is to stand slows down whatever it is."""
        controller = self.controller
        turn, lateral = (0.0, 0.0) if controller.stopping else self.steering
        wanted = 0.0 if controller.stopping else speed
        hold = controller.mode is not ControlMode.MOVE
        plan, felt = self.planner.plan, controller.felt
        return partial(plan, state, wanted, lateral=lateral, turn=turn, hold=hold, felt=felt, pose=self.pose)

    def take(self, solve: Solve, now: float, due: float) -> None:
        """Log a solve from the state of `now` [s] and send off its policy, which arrives at `due` [s].

        A state that the planner refuses is the controller's to judge.
        """
        try:
            result = solve()
        except MessageError as error:
            self.recorder.event(now, f"no plan: {error}")
            return
        if result.cut and not self.cut:
            self.recorder.event(now, f"command: {result.cut}")
        self.cut = result.cut
        last = result.iterations[-1] if result.iterations else None
        self.recorder.solve(
            now,
            solve_ms=1e3 * result.solve_time,
            iterations=len(result.iterations),
            status=result.status.lower(),
            ok=result.policy is not None,
            deadline_missed=result.solve_time > self.ticks_per_plan * CONTROL_PERIOD and not result.cold,
            cost=result.cost,
            violation=result.inequality_violation,
            touchdown_error=result.touchdown_error,
            friction_violation=result.friction_violation,
            regularisation=last.rho if last else np.nan,
            barrier=self.planner.config.constraint.barrier_width,
            theta=last.hessian_blend if last else np.nan,
            cost_terms=result.cost_terms() if self.recorder.detailed else None,
            plan=result.policy,
        )
        if result.policy is None:
            self.controller.miss_policy(result.message)
            self.recorder.event(now, f"no policy: {self.controller.move.refused}")
        else:
            self._arriving += self._channel.policies(result.policy, due)

    def _deliver(self, now: float) -> None:
        while self._arriving and self._arriving[0][0] <= now + 1e-9:
            answer = self.controller.set_policy(self._arriving.pop(0)[1], self.shown)
            if not answer.accepted:
                self.recorder.event(now, f"policy refused: {answer.reason}")

    def _tell_events(self, now: float) -> None:
        controller = self.controller
        if controller.retreats != self._retreats:
            self._retreats = controller.retreats
            self.recorder.event(now, f"standing for want of policies: {controller.retreat}")
        if controller.given_up and not self._gave_up:
            self.recorder.event(now, f"stays standing: {controller.given_up}")
        self._gave_up = bool(controller.given_up)
        if controller.fault is not None and controller.fault is not self._fault:
            self.recorder.event(now, str(controller.fault), fault=True)
        self._fault = controller.fault

    def _record(self, state: RobotState, speed: float, command: JointCommand) -> None:
        moving = self.controller.mode is ControlMode.MOVE
        sample = self.controller.sample(state.time) if moving else None
        truth = self.plant.truth()
        self.recorder.tick(
            state,
            commanded_speed=speed,
            true_state=truth.state,
            targets=command,
            torques=truth.applied_torques,
            foot_heights=truth.foot_heights,
            contact_forces=truth.contact_forces,
            mode=-1 if sample is None else sample.mode,
            planned_forces=None if sample is None else sample.forces,
            planned_slope=None if sample is None else sample.ground.slopes,
            control_mode=self.controller.mode.value,
        )
