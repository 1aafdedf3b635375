"""A session of people with one robot, or two: it runs in lock-step with the wall clock and does what it is told.

Physics waits for planner and controller, so on a slow machine the robot is slow, not late, and the real-time factor
says how slow. Two robots tick in turn, under the same commands and pushes, in the same world: A is kept, B is tuned.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from threading import Thread
from typing import Any

import numpy as np

from contact_ddp_ros.apps.play.compare_panel import WORLD, differing
from contact_ddp_ros.apps.play.live_run import LiveRun
from contact_ddp_ros.apps.play.motion_runner import MotionLibrary
from contact_ddp_ros.apps.play.tuning import said
from contact_ddp_ros.base.errors import ContactDdpError, ParameterError
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.plants.pacing import Pace
from contact_ddp_ros.runs.closed_loop import ClosedLoop
from contact_ddp_ros.runs.live import commands as do
from contact_ddp_ros.runs.live.commands import EVERYTHING
from contact_ddp_ros.runs.live.snapshot import News, Snapshot, World
from contact_ddp_ros.runs.loop import CONTROL_PERIOD
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.recording import save
from contact_ddp_ros.runs.scenario import check_run
from contact_ddp_ros.runs.scenario import scenario as scenario_of

_ENDLESS = 1e6
"""Duration of a run that ends when somebody ends it [s]."""

_SLOWEST, _FASTEST = 0.02, 1.0
"""Paces of simulated time over real time."""


class Session:
    """One or two robots, their clock, and what people want of them. Not for several threads."""

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
        self._runs: list[LiveRun] = []
        self._build(options)

    @property
    def loop(self) -> ClosedLoop:
        """Loop of the robot that is tuned."""
        return self._runs[0].loop

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
        return (self.paused and not self._steps) or all(run.broken for run in self._runs)

    def advance(self) -> None:
        """One tick where time runs, waiting until it is due; and a snapshot where one is wanted."""
        for run in self._runs:
            run.tuner.look()
        if not self.idle:
            for run in self._runs:
                run.tick()
            if self._steps:
                self._steps -= 1
            else:
                self._pace.wait(self._clock())
        if self._wanted:
            self._wanted = False
            self._tell(self.snapshot())

    def snapshot(self) -> Snapshot:
        """The present instant."""
        shared: dict[str, Any] = {
            "real_time_factor": 0.0 if self.idle else self._pace.real_time_factor * self._factor,
            "pace": self._factor,
            "paused": self.paused,
            "world": self._number,
        }
        tuned, *kept = (run.snapshot(**shared) for run in self._runs)
        return replace(tuned, kept=kept[0]) if kept else tuned

    def _build(self, options: RunOptions) -> None:
        """Build the loops, and tell what they are; a robot that is kept comes along where it is the same one."""
        options = replace(options, duration=_ENDLESS, lockstep=True)
        scenario = check_run(options)
        if self._motions is None or self._motions.robot.model_hash != scenario.robot.model_hash:
            self._motions, self._runs = MotionLibrary(scenario.robot), self._runs[:1]
        values = {name: spec.default for name, spec in scenario.specs().items()}
        own = [differing(kept.values, values) for kept in self._runs[1:]]
        scenarios = [scenario, *(check_run(options.changed(one)) for one in own)]
        drive = self._runs[0].drive if self._runs else do.Drive(forward=options.speed_at(0.0))
        self._runs = [LiveRun(one, self._motions, self._hear, drive) for one in scenarios]
        self._show()

    def _show(self) -> None:
        """Tell the page the world with its robots, and start the clock."""
        self._restart_clock()
        self._number += 1
        tuned, *kept = self._runs
        scenario = tuned.tuner.scenario
        declared = {n: spec.default for n, spec in scenario_of(RunOptions(robot=scenario.run.robot)).specs().items()}
        names = tuple(tuned.recorder.info.cost_terms)
        abilities = EVERYTHING if tuned.pulls else EVERYTHING - {"Grab"}
        assert self._motions is not None
        told = tuned.tuner.table(), declared, names, abilities, self._motions.names
        self._tell(World(self._number, scenario.run, *told, kept=kept[0].values if kept else None))

    def _restart_clock(self) -> None:
        self._pace = Pace(CONTROL_PERIOD)
        self._pace.start(self._clock())

    def _clock(self) -> float:
        """Wall-clock time that the simulated time stands for [s]; that of a simulation that has failed stands."""
        running = next((run for run in self._runs if not run.broken), self._runs[0])
        return running.loop.plant.time / self._factor

    def _hear(self, run: LiveRun, answer: do.Answer) -> None:
        """Pass on what a robot says between commands; of the parameters of the one that is kept nobody is told."""
        if run is not self._runs[0]:
            if answer.parameters:
                return
            answer = replace(answer, text=f"A: {answer.text}")
        if not answer.parameters:
            self._restart_clock()  # one that was put on its feet is at another time
        self._tell(answer)

    def _each(self, act: Callable[[LiveRun], str]) -> str:
        """Have every robot do something; what came of it, and of A where that is something else."""
        text = act(self._runs[0])
        for kept in self._runs[1:]:
            try:
                other = act(kept)
            except ContactDdpError as error:
                other = str(error)
            text = text if other == text else f"{text}; A: {other}"
        return text

    def _do(self, command: do.Command) -> str:
        """Carry a command out and say what came of it; empty where there is nothing to say."""
        match command:
            case do.Look():
                self._wanted = True
            case do.Drive(forward, turn, sideways):
                if not all(map(math.isfinite, (forward, turn, sideways))):
                    raise ParameterError(f"the commanded motion is {command}; allowed: finite numbers")
                for run in self._runs:
                    run.steer(command)
            case do.SetMode(mode):
                return self._each(lambda run: run.set_mode(mode))
            case do.Perform(motion):
                return self._each(lambda run: run.perform(motion))
            case do.PushTrunk():
                return self._each(lambda run: run.push(command))
            case do.Grab():
                place = self._place(self._runs[0])
                return self._each(lambda run: run.grab(command, self._place(run) - place))
            case do.Release():
                return self._each(LiveRun.release)
            case do.SetParameters(values):
                return self._set_parameters(values)
            case do.Recover():
                text = self._each(LiveRun.recover)
                self._restart_clock()
                return text
            case do.Reset():
                for run in self._runs:
                    run.begin()
                self._restart_clock()
                return "back at the start"
            case do.Rebuild(options):
                self._build(options)
                return "built anew"
            case do.Compare(what):
                return self._compare(what)
            case do.Pause(paused):
                self.paused = paused
                self._restart_clock()
            case do.Step(ticks):
                self._steps = ticks if self.paused else 0
            case do.Slow(factor):
                self._factor = min(max(factor, _SLOWEST), _FASTEST)
                self._restart_clock()
            case do.SaveRun(folder):
                recording = self._runs[0].recorder.last_minute()
                Thread(target=self._save, args=(recording, folder), name="save").start()
        return ""

    @staticmethod
    def _place(run: LiveRun) -> Any:
        return np.array(run.loop.plant.truth().state.position)

    def _compare(self, what: str) -> str:
        tuned, *kept = self._runs
        if what == "keep":
            self._runs, text = [tuned, tuned.twin()], "kept as A; B, which is tuned, goes on beside it"
        elif what not in do.COMPARISONS:
            raise ParameterError(f"compare is {what!r}; allowed: {', '.join(do.COMPARISONS)}")
        elif not kept:
            raise ParameterError("there is no A; keep one first")
        else:
            self._runs = [kept[0], tuned] if what == "swap" else [tuned]
            text = "A and B have changed places" if what == "swap" else "A is dropped"
        self._show()
        return text

    def _set_parameters(self, values: Mapping[str, Any]) -> str:
        tuned, *others = self._runs
        rebuilt = tuned.tuner.needs_rebuild(values)
        if not rebuilt:
            tuned.tuner.change(values)
            shared = {name: value for name, value in values.items() if name.startswith(WORLD)}
            for kept in others if shared else ():
                kept.tuner.change(shared)
            return ""
        if tuned.loop.controller.mode is ControlMode.MOVE:
            raise ParameterError(f"{', '.join(rebuilt)} may change while the robot does not move; stand first")
        self._build(tuned.tuner.scenario.run.changed(values))
        return f"built anew with {said(values)}"

    def _save(self, recording: Any, folder: Any) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            save(recording, folder)
        except (OSError, ContactDdpError) as error:
            self._tell(do.Answer(False, f"the run was not saved: {error}"))
            return
        self._tell(do.Answer(True, f"saved in {folder}; `contact-ddp report {folder}` draws it", saved=folder))
