"""A planner in a process of its own, which times itself when it is told to; the other side of `bench processor`.

As a program it reads a line of JSON per job and writes one with the result:

    {"job": "stages", "count": n}          processor time of each stage of n iterations at the optimum
    {"job": "live", "states": [...], ...}  solves for the newest of recorded states as they pass on the wall clock
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from contact_ddp_ros.base.errors import BenchmarkError

ARRAYS = (
    *("position", "orientation", "linear_velocity", "angular_velocity"),
    *("joint_positions", "joint_velocities"),
)
"""Of a recorded state, beside its time."""


class PlannerWorker:
    """The process, from outside."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """`environment`: variables of the process beside those of this one."""
        command = [sys.executable, "-m", "benchmarks.ros.planner_worker"]
        self._process = subprocess.Popen(
            command, env={**os.environ, **environment}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    def ask(self, **job: Any) -> Any:
        """Have a job done; BenchmarkError where the process has ended."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise BenchmarkError(f"the planner's process ended with status {self._process.wait()}")
        return json.loads(answer)

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def _stages(count: int) -> list[dict[str, float]]:
    from benchmarks.solver.case import mpc_cases
    from benchmarks.solver.iteration import ours

    run = _kept("stages", lambda: ours(mpc_cases().optimum, "ddp"))
    return [dict(run()) for _ in range(count)]


def _live(states: Sequence[Mapping[str, Any]], speed: float, seconds: float, share: float) -> list[dict[str, float]]:
    """Per solve: `start` [s], elapsed and processor time [s], iterations; `share` of a period is the deadline's."""
    from contact_ddp_ros.mpc.planner import Planner
    from contact_ddp_ros.robot.model import load_robot
    from contact_ddp_ros.robot.models.planar import PlanarModel
    from contact_ddp_ros.robot.state import RobotState

    robot = _kept("robot", load_robot)
    planner = Planner(PlanarModel(robot))
    course = [RobotState(float(s["time"]), *(np.array(s[name]) for name in ARRAYS)) for s in states]
    planner.plan(course[0], speed)
    period = 1.0 / planner.config.rate
    found: list[dict[str, float]] = []
    began, next_tick = time.perf_counter(), 0
    while True:
        now = time.perf_counter() - began
        tick = int(now / period)
        if tick < next_tick:
            time.sleep(next_tick * period - now)
            continue
        if now >= seconds or tick >= len(course):
            return found
        next_tick = tick + 1
        started, used = time.perf_counter(), time.process_time()
        result = planner.plan(course[tick], speed, deadline=started + share * period)
        found.append(
            {
                "start": now,
                "elapsed": time.perf_counter() - started,
                "processor": time.process_time() - used,
                "iterations": len(result.iterations),
                "ok": float(result.policy is not None),
            }
        )


_KEPT: dict[str, Any] = {}


def _kept(name: str, make: Any) -> Any:
    """Made once in the process."""
    if name not in _KEPT:
        _KEPT[name] = make()
    return _KEPT[name]


def _main() -> None:
    jobs: dict[str, Callable[..., Any]] = {"stages": _stages, "live": _live}
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(jobs[request.pop("job")](**request)), flush=True)


if __name__ == "__main__":
    _main()
