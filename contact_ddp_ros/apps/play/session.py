"""A closed loop that people lead: it runs in lock-step with the wall clock and does what it is told between two ticks.

Physics waits for planner and controller, so on a slow machine the robot is slow, not late, and the real-time factor
says how slow.

A recorder for a run without an end: it keeps the last minutes, and what the next snapshot shows.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from threading import Thread
from typing import Any

import numpy as np

from contact_ddp_ros.apps.play import tuning
from contact_ddp_ros.apps.play.motion_runner import MotionLibrary, MotionRunner, Recovery, back_on_feet
from contact_ddp_ros.apps.play.world_panel import Disturbances
from contact_ddp_ros.base.errors import ContactDdpError, ParameterError, SimulationError, SolverError
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.plants.pacing import Pace
from contact_ddp_ros.robot.policy import Policy
from contact_ddp_ros.robot.rotation import quaternion_to_rpy
from contact_ddp_ros.runs.closed_loop import ClosedLoop
from contact_ddp_ros.runs.live import commands as do
from contact_ddp_ros.runs.live.commands import EVERYTHING
from contact_ddp_ros.runs.live.snapshot import News, Snapshot, Solve, World, plan_of, touch_of
from contact_ddp_ros.runs.loop import CONTROL_PERIOD, Loop, Observer
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.recording import Recorder, save
from contact_ddp_ros.runs.scenario import check_run
from contact_ddp_ros.runs.scenario import scenario as scenario_of

KEPT_TICKS, KEPT_SOLVES = 30_000, 6_000
"""Rows that are kept at least: a minute at the usual rates."""

_PLANS_EVERY = 50
"""Number of solves of which one has its plan kept in a saved run."""


class LiveRecorder(Recorder):
    """Keeps between one and two times KEPT_TICKS."""

    def __init__(self) -> None:
        """Begin is called by whoever records into it."""
        super().__init__(plans_every=_PLANS_EVERY)
        self.plan: Policy | None = None
        """The newest plan."""
        self.late = self.total = 0
        """Solves that took longer than the planner's period, and all."""
        self._new: list[Solve] = []

    def solve(self, time: float, **entries: Any) -> None:
        """Record a solve, and keep it for the next snapshot."""
        super().solve(time, **entries)
        self.plan = entries.get("plan") or self.plan
        late = bool(entries.get("deadline_missed", False))
        self.late, self.total = self.late + late, self.total + 1
        terms = entries.get("cost_terms")
        self._new.append(
            Solve(
                time=time,
                solve_ms=float(entries["solve_ms"]),
                iterations=int(entries["iterations"]),
                theta=float(entries.get("theta", np.nan)),
                cost=float(entries.get("cost", np.nan)),
                terms=() if terms is None else tuple(np.asarray(terms, dtype=float).tolist()),
                late=late,
            )
        )
        del self._new[:-KEPT_SOLVES]

    def new_solves(self) -> tuple[Solve, ...]:
        """The solves since the last call."""
        new, self._new = tuple(self._new), []
        return new

    def trim(self) -> None:
        """Forget what is older than the last minutes, where that is due."""
        if self.n_ticks >= 2 * KEPT_TICKS:
            self.forget(KEPT_TICKS, KEPT_SOLVES)


_ENDLESS = 1e6
"""Duration of a run that ends when somebody ends it [s]."""

_SLOWEST, _FASTEST = 0.02, 1.0
"""Paces of simulated time over real time."""


class Session(Observer):
    """One loop, its clock, and what people want of it. Not for several threads."""

    def __init__(self, options: RunOptions, tell: Callable[[News], None]) -> None:
        """Builds the loop; `tell` gets answers, worlds and snapshots.

        Raises:
            ContactDdpError: an option, a parameter, the robot's description or the compiler is not usable.
        """
        self._tell = tell
        self.paused = False
        self._factor = 1.0
        self._steps = 0
        self._wanted = False
        self._number = 0
        self._motions: MotionLibrary | None = None
        self._drive = do.Drive(forward=options.speed_at(0.0))
        self._build(options)

    def handle(self, command: do.Command) -> None:
        """Carry a command out, or say why not."""
        try:
            text = self._do(command)
        except ContactDdpError as error:
            self._tell(do.Answer(False, str(error)))
            return
        if text:
            self._tell(do.Answer(True, text))

    @property
    def idle(self) -> bool:
        """True if there is nothing to do until a command comes."""
        return (self.paused and not self._steps) or bool(self._broken)

    def advance(self) -> None:
        """One tick where time runs, waiting until it is due; and a snapshot where one is wanted."""
        self._tuner.look()
        if not self.idle:
            self._tick()
            if self._steps:
                self._steps -= 1
            else:
                self._pace.wait(self._clock())
        if self._wanted:
            self._wanted = False
            self._tell(self.snapshot())

    def snapshot(self) -> Snapshot:
        """The present instant."""
        loop, recorder = self.loop, self.recorder
        truth = loop.plant.truth()
        state = truth.state
        moving = loop.controller.mode is ControlMode.MOVE
        sample = loop.controller.sample(state.time) if moving else None
        running = not self.idle
        return Snapshot(
            state=state,
            mode=loop.controller.mode.value,
            waiting=loop.controller.waiting_for,
            fall=self._fall(),
            drive=self._drive,
            cut=loop.cut if moving else "",
            speed=recorder.recent_speed if recorder.n_ticks else 0.0,
            rpy=np.array(quaternion_to_rpy(state.orientation)),
            plan=None if recorder.plan is None or not moving else plan_of(recorder.plan),
            planned_contacts=loop.controller.contacts,
            touch=touch_of(loop.controller),
            contact_forces=truth.contact_forces,
            planned_forces=None if sample is None else sample.forces,
            push=self._disturbances.force,
            spring=self._disturbances.spring,
            solves=recorder.new_solves(),
            solves_late=recorder.late,
            solves_total=recorder.total,
            real_time_factor=self._pace.real_time_factor * self._factor if running else 0.0,
            pace=self._factor,
            paused=self.paused,
            world=self._number,
        )

    def _build(self, options: RunOptions) -> None:
        """Build the loop that is copied at every reset, and tell what it is."""
        options = replace(options, duration=_ENDLESS, lockstep=True)
        scenario = check_run(options)
        self._robot = scenario.robot
        self._first = ClosedLoop(options, LiveRecorder(), job="play")
        self._number += 1
        if self._motions is None or self._motions.robot.model_hash != self._robot.model_hash:
            self._motions = MotionLibrary(self._robot)
        self._begin()
        self._tuner = tuning.Tuner(scenario, self._loops, self._tell)
        names = tuple(self.recorder.info.cost_terms)
        plain = scenario_of(RunOptions(robot=options.robot)).specs()
        declared = {name: spec.default for name, spec in plain.items()}
        abilities = EVERYTHING if self._pulls else EVERYTHING - {"Grab"}
        told = self._tuner.table(), declared, names, abilities, self._motions.names
        self._tell(World(self._number, options, *told))

    def _begin(self) -> None:
        """Start from the beginning with the present parameters."""
        self.loop = self._first.fork()
        self.loop.observers.append(self)
        recorder = self.loop.recorder
        assert isinstance(recorder, LiveRecorder)
        self.recorder = recorder
        self._disturbances = Disturbances(self.loop.plant)
        self._recovery = Recovery(self.loop, self._robot)
        assert self._motions is not None
        self._runner = MotionRunner(self.loop, self._motions)
        self._broken = ""
        self._steer(self._drive)
        self._restart_clock()

    def _loops(self) -> tuple[ClosedLoop, ClosedLoop]:
        """The one that runs, and the one that is copied at a reset."""
        return self.loop, self._first

    @property
    def _pulls(self) -> bool:
        """Ability of the simulator to be pulled at any link."""
        return hasattr(self.loop.plant, "pull")

    def _restart_clock(self) -> None:
        self._pace = Pace(CONTROL_PERIOD)
        self._pace.start(self._clock())

    def _clock(self) -> float:
        """Wall-clock time that the simulated time stands for [s]."""
        return self.loop.plant.time / self._factor

    def _tick(self) -> None:
        try:
            self.loop.tick()
        except SimulationError as error:
            self._broken = str(error)
        self.recorder.trim()

    def before_tick(self, loop: Loop) -> None:
        """Command the wanted speed, and pull where somebody does."""
        loop.speed = self._drive.forward
        self._disturbances.act(CONTROL_PERIOD)

    def after_tick(self, loop: Loop) -> None:
        """Go on with a recovery or a motion that is under way, and say what has come of it."""
        for follow in (self._recovery.follow, self._runner.follow):
            try:
                text = follow()
            except (ParameterError, SolverError) as error:
                self._tell(do.Answer(False, str(error)))
                continue
            if self._note(text):
                self._restart_clock()
                self._tell(do.Answer(True, text))

    def _fall(self) -> str:
        if self._broken:
            return self._broken
        fault = self.loop.controller.fault
        return "" if fault is None else self._disturbances.reason(fault)

    def _do(self, command: do.Command) -> str:
        """Carry a command out and say what came of it; empty where there is nothing to say."""
        match command:
            case do.Look():
                self._wanted = True
            case do.Drive():
                self._steer(command)
            case do.SetMode(mode):
                return self._set_mode(mode)
            case do.Perform(motion):
                self._recovery.cancel()
                return self._runner.begin(motion)
            case do.PushTrunk():
                return self._note(self._disturbances.push(command))
            case do.Grab() if not self._pulls:
                engine = self._tuner.scenario.simulator.engine
                raise ParameterError(f"the engine {engine} has no pull by the mouse; allowed: mujoco, or a push")
            case do.Grab(link, point, target):
                self._disturbances.grab(link, np.array(point), np.array(target))
            case do.Release():
                return self._note(self._disturbances.release())
            case do.SetParameters(values):
                return self._set_parameters(values)
            case do.Recover():
                return self._recover()
            case do.Reset():
                self._begin()
                return "back at the start"
            case do.Rebuild(options):
                self._build(options)
                return "built anew"
            case do.Pause(paused):
                self.paused = paused
                self._restart_clock()
            case do.Step(ticks):
                self._steps = ticks if self.paused else 0
            case do.Slow(factor):
                self._factor = min(max(factor, _SLOWEST), _FASTEST)
                self._restart_clock()
            case do.SaveRun(folder):
                Thread(target=self._save, args=(self.recorder.finish(), folder), name="save").start()
        return ""

    def _steer(self, drive: do.Drive) -> None:
        if not all(map(math.isfinite, (drive.forward, drive.turn, drive.sideways))):
            raise ParameterError(f"the commanded motion is {drive}; allowed: finite numbers")
        self._drive, self.loop.steering = drive, (drive.turn, drive.sideways)

    def _set_mode(self, mode: str) -> str:
        if mode not in do.MODES:
            raise ParameterError(f"mode is {mode!r}; allowed: {', '.join(do.MODES)}")
        self._recovery.cancel()
        self._runner.cancel()
        answer = self.loop.want(ControlMode(mode))
        if not answer.accepted:
            raise ParameterError(answer.reason)
        return answer.reason

    def _recover(self) -> str:
        self._disturbances.release()
        if self._broken:
            back_on_feet(self.loop, self._robot)
            self._broken = ""
            text = "put back on its feet: the simulation had failed"
        else:
            text = self._recovery.begin()
        self._restart_clock()
        return self._note(text)

    def _note(self, text: str) -> str:
        """Put what was done to the robot into the recording."""
        if text:
            self.recorder.event(self.loop.plant.time, text)
        return text

    def _set_parameters(self, values: Mapping[str, Any]) -> str:
        rebuilt = self._tuner.needs_rebuild(values)
        if not rebuilt:
            self._tuner.change(values)
            return ""
        if self.loop.controller.mode is ControlMode.MOVE:
            raise ParameterError(f"{', '.join(rebuilt)} may change while the robot does not move; stand first")
        self._build(self._tuner.scenario.run.changed(values))
        return f"built anew with {tuning.said(values)}"

    def _save(self, recording: Any, folder: Any) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            save(recording, folder)
        except (OSError, ContactDdpError) as error:
            self._tell(do.Answer(False, f"the run was not saved: {error}"))
            return
        self._tell(do.Answer(True, f"saved in {folder}; `contact-ddp report {folder}` draws it"))
