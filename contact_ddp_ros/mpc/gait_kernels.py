"""Kernels of gaits, compiled into the cache by a process of its own.

Compiling keeps the interpreter busy for seconds. A planner that goes on planning meanwhile leaves it to another
process, which gives way to it, and loads what is in the cache afterwards, in a hundredth of a second.

    python -m contact_ddp_ros.mpc.gait_kernels ROBOT MODEL VARIANT STEP STRETCH

reads names of gaits from standard input, one a line, and answers each with an empty line, or with the reason why there
are no kernels, until standard input ends.
"""

import contextlib
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from threading import Lock, Thread

from contact_ddp_ros.base.errors import ContactDdpError
from contact_ddp_ros.base.process import give_way
from contact_ddp_ros.mpc.config import GaitConfig, PlannerConfig
from contact_ddp_ros.mpc.problem_builder import compile_gait
from contact_ddp_ros.mpc.reference import gait_schedule
from contact_ddp_ros.robot.gaits.schedule import ModeSchedule
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.models.choice import model_of
from contact_ddp_ros.robot.models.model import Model

_BEHIND = 19
"""Nice value of the process: a robot that moves goes first."""

Done = Callable[[str], None]
"""Gets an empty text where the kernels of a gait are there, else the reason why not."""


class GaitCompiler:
    """Compiles the kernels of gaits one after the other, in another process that ends when nothing is left to do."""

    def __init__(self, robot: str, model: Model, config: PlannerConfig) -> None:
        """Compiler for planners of that model and configuration; `robot` is the argument of `load_robot`."""
        self._model = model
        gait = config.gait
        self._words = [robot, model.name, config.variant, repr(gait.step), repr(gait.stretch)]
        self._lock = Lock()
        self._waiting: deque[tuple[GaitConfig, Done]] = deque()
        self._ready: list[ModeSchedule] = [gait_schedule(model, gait)]
        self._working = False

    def is_ready(self, gait: GaitConfig) -> bool:
        """Presence of a gait's kernels in the cache; ParameterError where it is not for the model or the grid."""
        schedule = gait_schedule(self._model, gait)
        with self._lock:
            return schedule in self._ready

    def request(self, gait: GaitConfig, done: Done, *, first: bool = True) -> None:
        """Compile a gait, before the others that wait if `first`; `done` is called in another thread."""
        with self._lock:
            (self._waiting.appendleft if first else self._waiting.append)((gait, done))
            if self._working:
                return
            self._working = True
        Thread(target=self._work, name="gaits", daemon=True).start()

    def _work(self) -> None:
        command = [sys.executable, "-m", __name__, *self._words]
        # Ctrl-C of a terminal is not for it: it ends with its standard input
        child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        with contextlib.suppress(BrokenPipeError), child:
            while (gait := self._next()) is not None:
                reason = self._compile(child, gait[0])
                gait[1](reason)

    def _next(self) -> tuple[GaitConfig, Done] | None:
        with self._lock:
            self._working = bool(self._waiting)
            return self._waiting.popleft() if self._waiting else None

    def _compile(self, child: "subprocess.Popen[str]", gait: GaitConfig) -> str:
        """Have the other process compile a gait; the reason where it could not."""
        assert child.stdin is not None and child.stdout is not None
        try:
            schedule = gait_schedule(self._model, gait)
            if schedule in self._ready:
                return ""
            print(gait.name, file=child.stdin, flush=True)
            answer = child.stdout.readline()
        except (ContactDdpError, OSError) as error:
            return str(error)
        if not answer:
            return "the process that compiles has ended"
        if not answer.strip():
            with self._lock:
                self._ready.append(schedule)
        return answer.strip()


def main(robot: str, model: str, variant: str, step: str, stretch: str) -> None:
    """Compile the gaits that standard input names."""
    give_way(_BEHIND)
    built = model_of(model, load_robot(robot or None))
    for line in sys.stdin:
        gait = GaitConfig(name=line.strip(), step=float(step), stretch=float(stretch))
        reason = ""
        try:
            compile_gait(built, gait, variant)
        except ContactDdpError as error:
            reason = " ".join(str(error).split())
        print(reason, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
