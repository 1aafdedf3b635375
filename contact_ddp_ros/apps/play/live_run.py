"""One simulated robot of the live page: its loop with what is recorded, its parameters, pushes, motions and way up.

A session leads one, or two of them side by side in the same world: the one that is tuned, and one that is kept.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from contact_ddp_ros.apps.play.motion_runner import MotionLibrary, MotionRunner, Recovery, back_on_feet
from contact_ddp_ros.apps.play.tuning import Tuner
from contact_ddp_ros.apps.play.world_panel import Disturbances
from contact_ddp_ros.base.config import Value
from contact_ddp_ros.base.errors import ParameterError, SimulationError, SolverError
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.robot.policy import Policy
from contact_ddp_ros.robot.rotation import quaternion_to_rpy
from contact_ddp_ros.runs.closed_loop import ClosedLoop
from contact_ddp_ros.runs.live import commands as do
from contact_ddp_ros.runs.live.snapshot import Snapshot, Solve, plan_of, touch_of
from contact_ddp_ros.runs.loop import CONTROL_PERIOD, Loop, Observer
from contact_ddp_ros.runs.recording import Recorder, Recording
from contact_ddp_ros.runs.scenario import Scenario

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
        """Forget what is older than the last minute, where that is due."""
        if self.n_ticks >= 2 * KEPT_TICKS:
            self.forget(KEPT_TICKS, KEPT_SOLVES)

    def last_minute(self) -> Recording:
        """The last KEPT_TICKS as a record."""
        self.forget(KEPT_TICKS, KEPT_SOLVES)
        return self.finish()


class LiveRun(Observer):
    """One robot's loop, and what people want of it. Not for several threads."""

    def __init__(
        self,
        scenario: Scenario,
        motions: MotionLibrary,
        tell: "Callable[[LiveRun, do.Answer], None]",
        drive: do.Drive,
        first: ClosedLoop | None = None,
    ) -> None:
        """Builds the loop that is copied at every reset, where `first` is none; `tell` gets this run, and answers.

        Raises:
            ContactDdpError: a parameter, the robot's description or the compiler is not usable.
        """
        self._motions = motions
        self._tell = tell
        self._first = first or ClosedLoop(scenario.run, LiveRecorder(), job="play")
        self.tuner = Tuner(scenario, lambda: (self.loop, self._first), self._say)
        self.drive = drive
        self.begin()

    def begin(self) -> None:
        """Start from the beginning with the present parameters."""
        self._take(self._first.fork())

    def twin(self) -> "LiveRun":
        """An independent run in the same state: both go on alike until a parameter changes.

        Raises:
            ParameterError: a motion is under way.
        """
        if self.loop.controller.mode is ControlMode.MOTION:
            raise ParameterError("in a motion; allowed: before or after it")
        self._disturbances.release()
        self.loop.observers.remove(self)
        twin = LiveRun(self.tuner.scenario, self._motions, self._tell, self.drive, self._first.fork())
        twin._take(self.loop.fork())
        self.loop.observers.append(self)
        return twin

    def _take(self, loop: ClosedLoop) -> None:
        self.loop = loop
        self.loop.observers.append(self)
        recorder = loop.recorder
        assert isinstance(recorder, LiveRecorder)
        self.recorder = recorder
        self._disturbances = Disturbances(loop.plant)
        self._recovery = Recovery(loop, self._motions.robot)
        self._runner = MotionRunner(loop, self._motions)
        self.broken = ""
        """Reason why the simulation has failed; empty where it has not."""
        self.steer(self.drive)

    @property
    def values(self) -> dict[str, Value]:
        """Every parameter in use, by "section.name"."""
        return {name: spec.default for name, spec in self.tuner.table().items()}

    @property
    def pulls(self) -> bool:
        """Ability of the simulator to be pulled at any link."""
        return hasattr(self.loop.plant, "pull")

    def tick(self) -> None:
        """One tick, where the simulation has not failed."""
        if self.broken:
            return
        try:
            self.loop.tick()
        except SimulationError as error:
            self.broken = str(error)
        self.recorder.trim()

    def before_tick(self, loop: Loop) -> None:
        """Command the wanted speed, and pull where somebody does."""
        loop.speed = self.drive.forward
        self._disturbances.act(CONTROL_PERIOD)

    def after_tick(self, loop: Loop) -> None:
        """Go on with a recovery or a motion that is under way, and say what has come of it."""
        for follow in (self._recovery.follow, self._runner.follow):
            try:
                text = follow()
            except (ParameterError, SolverError) as error:
                self._say(do.Answer(False, str(error)))
                continue
            if self._note(text):
                self._say(do.Answer(True, text))

    def snapshot(self, **shared: Any) -> Snapshot:
        """The present instant; `shared` are the fields that a session knows."""
        loop, recorder = self.loop, self.recorder
        truth = loop.plant.truth()
        state = truth.state
        moving = loop.controller.mode is ControlMode.MOVE
        sample = loop.controller.sample(state.time) if moving else None
        return Snapshot(
            state=state,
            mode=loop.controller.mode.value,
            waiting=loop.controller.waiting_for,
            fall=self._fall(),
            drive=self.drive,
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
            **shared,
        )

    def steer(self, drive: do.Drive) -> None:
        """Command a motion."""
        self.drive, self.loop.steering = drive, (drive.turn, drive.sideways)

    def set_mode(self, mode: str) -> str:
        """Ask for a mode; what comes of it, for people.

        Raises:
            ParameterError: there is no such mode, or the controller refuses it.
        """
        if mode not in do.MODES:
            raise ParameterError(f"mode is {mode!r}; allowed: {', '.join(do.MODES)}")
        self._recovery.cancel()
        self._runner.cancel()
        answer = self.loop.want(ControlMode(mode))
        if not answer.accepted:
            raise ParameterError(answer.reason)
        return answer.reason

    def perform(self, motion: str) -> str:
        """Have a motion done; see :meth:`contact_ddp_ros.apps.play.motion_runner.MotionRunner.begin`."""
        self._recovery.cancel()
        return self._runner.begin(motion)

    def push(self, push: do.PushTrunk) -> str:
        """Push the trunk; see :meth:`contact_ddp_ros.apps.play.world_panel.Disturbances.push`."""
        return self._note(self._disturbances.push(push))

    def grab(self, grab: do.Grab, aside: Any = 0.0) -> str:
        """Pull a link towards the target of a command and (3,) `aside` [m].

        Raises:
            ParameterError: this engine cannot, there is no such link, or a number is not finite.
        """
        if not self.pulls:
            engine = self.tuner.scenario.simulator.engine
            raise ParameterError(f"the engine {engine} has no pull by the mouse; allowed: mujoco, or a push")
        self._disturbances.grab(grab.link, np.array(grab.point), np.array(grab.target) + aside)
        return ""

    def release(self) -> str:
        """Let go of what was grabbed; what it was, for people."""
        return self._note(self._disturbances.release())

    def recover(self) -> str:
        """Get the robot up, or put it on its feet where the simulation has failed; which of them, for people."""
        self._disturbances.release()
        if not self.broken:
            return self._note(self._recovery.begin())
        back_on_feet(self.loop, self._motions.robot)
        self.broken = ""
        return self._note("put back on its feet: the simulation had failed")

    def _fall(self) -> str:
        if self.broken:
            return self.broken
        fault = self.loop.controller.fault
        return "" if fault is None else self._disturbances.reason(fault)

    def _say(self, answer: do.Answer) -> None:
        self._tell(self, answer)

    def _note(self, text: str) -> str:
        """Put what was done to the robot into the recording."""
        if text:
            self.recorder.event(self.loop.plant.time, text)
        return text
