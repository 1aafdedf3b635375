"""The soak without ROS: planner, controller and simulator in one process of their own.

That process keeps nothing of what it measures, so its memory is the loop's; what it counts goes to its parent at every
look.
"""

import multiprocessing
import os
import time as clock
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from benchmarks.ros.soak_tally import FellError, Sample, Seen, Tally
from contact_ddp_ros.base.errors import BenchmarkError, ContactDdpError
from contact_ddp_ros.base.process import environment
from contact_ddp_ros.robot.state import RobotState
from contact_ddp_ros.runs.closed_loop import ClosedLoop
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.recording import Recorder, RunInfo
from contact_ddp_ros.runs.study.batch import ONE_THREAD, depend_on_the_parent

LOOP = "loop"
"""The process, by name."""


def run_loop(options: RunOptions, every: float, seen: Seen, listener: Callable[[Sample], None]) -> None:
    """Let the loop run in lock-step and add to `seen` what it tells every `every` [s] of simulated time.

    Raises:
        ContactDdpError: the robot fell, or the loop could not be built or ended before its time.
    """
    context = multiprocessing.get_context("spawn")
    inlet, outlet = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(outlet, options, every), name=LOOP, daemon=True)
    with environment(ONE_THREAD):
        process.start()
    outlet.close()
    try:
        while True:
            told = inlet.recv()
            if isinstance(told, ContactDdpError):
                raise told
            if told is None:
                return
            seen.add(told)
            for sample in told.samples:
                listener(sample)
    except EOFError:
        process.join()
        raise BenchmarkError(f"the loop's process ended with code {process.exitcode}") from None
    finally:
        process.terminate()
        process.join()


class _Log(Recorder):
    """Lets a tally count; keeps nothing."""

    def __init__(self, tally: Tally) -> None:
        super().__init__()
        self._tally = tally

    def begin(self, info: RunInfo) -> None:
        super().begin(info)
        self._tally.begin(info)

    def tick(self, state: RobotState, **columns: Any) -> None:
        self._tally.tick(state, **{**columns, "wall_time": clock.perf_counter()})

    def solve(self, time: float, **columns: Any) -> None:
        self._tally.solve(time, **columns)

    def event(self, time: float, text: str, *, fault: bool = False) -> None:
        self._tally.event(time, text, fault=fault)


def _work(outlet: "Connection[Any, Any]", options: RunOptions, every: float) -> None:
    """The process: tells what was seen since it told last; at the end None, or what went wrong."""
    depend_on_the_parent()

    def tell(_sample: Sample) -> None:
        outlet.send(tally.seen)
        tally.seen = Seen()

    tally = Tally(every, lambda: {LOOP: os.getpid()}, tell)
    try:
        ClosedLoop(options, _Log(tally), job="soak").run()
    except ContactDdpError as error:
        outlet.send(tally.seen)
        outlet.send(FellError(str(error)) if isinstance(error, FellError) else BenchmarkError(str(error)))
        return
    outlet.send(tally.seen)
    outlet.send(None)
