"""Planner, controller and simulator wired together without ROS, in lock-step or in real time.

Lock-step: physics waits for the controller at every control tick and for the planner at every planner tick, so a run
depends on its options only, not on the machine. A modelled planner delay hands each policy over that much later.
Real time: physics follows the wall clock and the planner solves in a thread of its own, as on the robot.

Both begin standing, stand up, and bound as soon as the controller stands and has a policy.
"""

import copy
import time as clock
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from contact_ddp_ros.base.config import replace
from contact_ddp_ros.base.errors import MessageError
from contact_ddp_ros.control.controller import Controller
from contact_ddp_ros.control.estimation.state_estimator import StateEstimator
from contact_ddp_ros.control.modes import Answer, ControlMode
from contact_ddp_ros.mpc.plan_result import PlanResult
from contact_ddp_ros.mpc.planner import Planner
from contact_ddp_ros.plants.engines import make_simulator
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.plants.plant import SimulatedPlant
from contact_ddp_ros.robot.body_pose import BodyPose
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.models.whole_body import WholeBodyModel
from contact_ddp_ros.robot.policy import Policy
from contact_ddp_ros.robot.state import DriveGains, JointCommand, RobotState
from contact_ddp_ros.runs.channel import Links
from contact_ddp_ros.runs.options import ESTIMATED, RunOptions
from contact_ddp_ros.runs.recording import Recorder, Recording
from contact_ddp_ros.runs.robot_scaling import (
    controller_config,
    planner_config,
    policy_timing,
    robot_of,
    simulator_options,
)
from contact_ddp_ros.runs.run_info import run_info

CONTROL_PERIOD = 0.002
"""Time between two control ticks [s]."""

REST_AFTER_FALL = 1.0
"""Time after which a robot that is to recover is told to get up [s]."""

MakeSimulator = Callable[[Robot, DriveGains, SimOptions], SimulatedPlant]
"""Builds the simulated world from the robot, the gains of its drives and what the planner does not know."""


@dataclass(frozen=True)
class _Pending:
    """A policy on its way to the controller."""

    due: float
    policy: Policy


class ClosedLoop:
    """One robot with its planner, controller and simulated world."""

    def __init__(
        self,
        options: RunOptions,
        recorder: Recorder | None = None,
        job: str = "sim",
        links: Links | None = None,
        make_simulator: MakeSimulator = make_simulator,
    ) -> None:
        """Builds everything; loads or compiles the kernels. `links` connect its parts, in lock-step.

        Raises:
            ContactDdpError: a parameter, the robot's description or the compiler is not usable.
        """
        self.options = options
        self._links = links or Links()
        robot = robot_of(options)
        planner = planner_config(options, robot)
        self.controller = Controller(robot, controller_config(options, robot, policy_timing(options, planner)))
        self.steering = (options.turn, options.left)
        """Commanded yaw rate [rad/s] and velocity to the left [m/s]."""
        self.planner = Planner(WholeBodyModel(robot), planner)
        self._gaits = list(options.gaits)
        for _, gait in self._gaits:
            self.planner.know(gait)
        world = simulator_options(options, robot)
        self.simulator = make_simulator(robot, self.controller.drive_gains, world)
        self.steps_per_tick = max(1, round(CONTROL_PERIOD / self.simulator.timestep))
        self.ticks_per_plan = max(1, round(1.0 / planner.rate / CONTROL_PERIOD))
        estimated = options.state == ESTIMATED
        self.estimator = StateEstimator(robot, self.controller.config.estimation.state) if estimated else None
        self._estimated: RobotState | None = None
        self.recorder = recorder or Recorder()
        planner_period = self.ticks_per_plan * CONTROL_PERIOD
        control_period = self.steps_per_tick * self.simulator.timestep
        self.recorder.begin(run_info(job, options, robot, planner, control_period, planner_period))
        self.pose: BodyPose | None = None
        """Commanded body pose from the next plan on; None for that of the parameters."""
        self._pending: list[_Pending] = []
        self._pushes = sorted(options.pushes, key=lambda push: push.time)
        self._tick = 0
        self._asked = False
        self._stopped = False
        self._faulted = False
        self._retreats = 0
        self._gave_up = False
        self.cut = ""
        """Text on the part of the command that is not followed, and why; empty where all of it is."""

    def run(self) -> Recording:
        """Until the options' duration has passed, or the robot has fallen into a fault and come to rest."""
        if self.options.lockstep:
            while self.simulator.time < self.options.duration - 1e-9:
                self.tick()
        else:
            self._run_in_real_time()
        return self.recorder.finish()

    def fork(self, links: Links | None = None) -> "ClosedLoop":
        """An independent loop in the same state, in lock-step: both go on alike, to the last bit, until told otherwise.

        Compiled kernels, which have no state, are shared. The physics must be of a kind that can be copied, as
        MuJoCo's. `links` take the place of the present ones, of which there is a copy otherwise.
        """
        twin = copy.deepcopy(self)
        if links is not None:
            twin._links = links
        return twin

    def want(self, mode: ControlMode) -> Answer:
        """Ask for a mode from outside, between two ticks; MOVE comes as soon as the robot stands and has a policy.

        After RECOVER it moves, too.
        """
        self._asked = mode not in (ControlMode.MOVE, ControlMode.RECOVER)
        if self._tick == 0:
            self.controller.update(self._measured(), self.simulator.time)
        if mode is not ControlMode.MOVE or self.controller.mode is not ControlMode.DAMP:
            return self.controller.request(mode)
        return self.controller.request(ControlMode.STAND)

    def tick(self) -> None:
        """One control tick in lock-step: state, plan where one is due, command, physics."""
        now = self.simulator.time
        state = self._links.state(self._measured())
        shown = self._links.clock(now)
        speed = self._links.speed(self.options.speed_at(now), now)
        self._supervise(state, shown)
        self._change_gait(now)
        if self._tick % self.ticks_per_plan == 0 and self._wants_plan() and state is not None:
            solve = self._solve(state, speed)
            self._take(solve, now, now + self.options.planner_delay)
        self._deliver(now, shown)
        self._control(state, shown, speed)

    def _measured(self) -> RobotState:
        """State that is handed to planner and controller: the simulator's, or an estimate from its IMU and joints."""
        if self.estimator is None:
            return self.simulator.read()
        if self._estimated is not None and self._estimated.time == self.simulator.time:
            return self._estimated
        sample, joints = self.simulator.imu(), self.simulator.read()
        torques, ground = self.simulator.truth().applied_torques, self.controller.estimator.ground
        positions, velocities = joints.joint_positions, joints.joint_velocities
        self._estimated = self.estimator.update(sample, positions, velocities, torques, ground)
        return self._estimated

    def _control(self, state: RobotState | None, shown: float, speed: float) -> None:
        """Command and physics of a tick, from the state that has arrived and the time that the controller is shown."""
        now = self.simulator.time
        command = self.controller.update(state, shown)
        if not self._asked and now >= self.options.stand_time:
            self._asked = self._ask_to_bound()
        self._pick_up(now)
        stop = self.options.stop_time
        if stop is not None and not self._stopped and now >= stop:
            self._stopped = True
            answer = self.controller.request(ControlMode.STAND)
            self.recorder.event(now, f"stand requested: {answer.reason}")
        if self.controller.retreats != self._retreats:
            self._retreats = self.controller.retreats
            self.recorder.event(now, f"standing for want of policies: {self.controller.retreat}")
        if self.controller.given_up and not self._gave_up:
            self.recorder.event(now, f"stays standing: {self.controller.given_up}")
        self._gave_up = bool(self.controller.given_up)
        if self.controller.fault is not None and not self._faulted:
            self._faulted = True
            self.recorder.event(now, str(self.controller.fault), fault=True)
        self._log(self._measured(), speed, command)
        self.simulator.write(self._links.command(command, now))
        while self._pushes and self._pushes[0].time <= now + 1e-9:
            push = self._pushes.pop(0)
            self.simulator.push(np.array(push.force), push.duration, np.array(push.torque))
            self.recorder.event(now, str(push))
        self.simulator.advance(self.steps_per_tick)
        self._tick += 1

    def _pick_up(self, now: float) -> None:
        """Have a fallen robot that rests get up where the options say so, and move on unless it was stopped."""
        fault = self.controller.fault
        if not self.options.recover or fault is None or now < fault.time + REST_AFTER_FALL:
            return
        answer = self.controller.request(ControlMode.RECOVER)
        if answer.accepted:
            self._faulted, self._asked = False, self._stopped
            self.recorder.event(now, f"recover requested: {answer.reason}")

    def _supervise(self, state: RobotState | None, shown: float) -> None:
        """First tick: tell the controller where it is and ask it to stand."""
        if self._tick == 0:
            self.controller.update(state, shown)
            answer = self.controller.request(ControlMode.STAND)
            if not answer.accepted:
                self.recorder.event(self.simulator.time, f"stand refused: {answer.reason}")

    def _change_gait(self, now: float) -> None:
        """Tell the planner of a gait that is due."""
        while self._gaits and self._gaits[0][0] <= now + 1e-9:
            _, gait = self._gaits.pop(0)
            self.planner.configure(replace(self.planner.config, {"gait.name": gait}))
            self.recorder.event(now, f"gait {gait} requested")

    def _ask_to_bound(self) -> bool:
        return self.controller.standing and self.controller.request(ControlMode.MOVE).accepted

    def _solve(self, state: RobotState, speed: float) -> Callable[[], PlanResult]:
        """Planning call for a state and a commanded speed [m/s]."""
        controller = self.controller
        hold = controller.mode is not ControlMode.MOVE
        turn, lateral = (0.0, 0.0) if controller.stopping else self.steering
        wanted = self._wanted_speed(speed)
        plan = self.planner.plan
        felt, pose = controller.felt, self.pose
        return partial(plan, state, wanted, lateral=lateral, turn=turn, hold=hold, felt=felt, pose=pose)

    def _wants_plan(self) -> bool:
        return self.controller.mode is ControlMode.MOVE or (self.controller.standing and not self._stopped)

    def _wanted_speed(self, commanded: float) -> float:
        """Speed that the planner is given: a robot on its way to a stand slows down whatever is commanded."""
        return 0.0 if self.controller.stopping else commanded

    def _take(self, solve: Callable[[], PlanResult], now: float, due: float) -> None:
        """Log a solve and send its policy on its way; a state that the planner refuses is the controller's to judge."""
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
            self.controller.miss_policy(f"{result.status.lower()}: {result.message}")
            self.recorder.event(now, f"no policy: {self.controller.move.refused}")
        else:
            self._pending += [_Pending(*one) for one in self._links.policies(result.policy, due)]

    def _deliver(self, now: float, shown: float) -> None:
        while self._pending and self._pending[0].due <= now + 1e-9:
            answer = self.controller.set_policy(self._pending.pop(0).policy, shown)
            if not answer.accepted:
                self.recorder.event(now, f"policy refused: {answer.reason}")

    def _log(self, state: RobotState, speed: float, command: JointCommand) -> None:
        bounding = self.controller.mode is ControlMode.MOVE
        sample = self.controller.sample(state.time) if bounding else None
        truth = self.simulator.truth()
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

    def _run_in_real_time(self) -> None:
        """Physics on the wall clock, the planner in its own thread, always from the newest state."""
        start = clock.perf_counter() - self.simulator.time
        busy: Future[PlanResult] | None = None
        planned = -np.inf
        with ThreadPoolExecutor(max_workers=1, thread_name_prefix="planner") as pool:
            while self.simulator.time < self.options.duration - 1e-9:
                state = self._measured()
                now, speed = state.time, self.options.speed_at(state.time)
                self._supervise(state, now)
                if busy is not None and busy.done():
                    self._take(busy.result, planned, now)
                    busy = None
                due = now - planned >= self.ticks_per_plan * CONTROL_PERIOD - 1e-9
                if busy is None:
                    self._change_gait(now)
                if busy is None and due and self._wants_plan():
                    busy, planned = pool.submit(self._solve(state, speed)), now
                self._deliver(now, now)
                self._control(state, now, speed)
                ahead = self.simulator.time - (clock.perf_counter() - start)
                if ahead > 0.0:
                    clock.sleep(ahead)


def run(options: RunOptions, recorder: Recorder | None = None) -> Recording:
    """Run one closed loop and return what was recorded; see :class:`ClosedLoop`."""
    return ClosedLoop(options, recorder).run()
