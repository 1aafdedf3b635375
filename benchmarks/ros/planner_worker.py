"""A planner in a process of its own, which times itself when it is told to; the other side of `bench processor`.

As a program it reads a line of JSON per job and writes one with the result:

    {"job": "plans", "rate": f, ...}       processor time of each plan of a bound in lock-step
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


def _plans(rate: float, seconds: float, speed: float) -> list[float]:
    """Processor time of each plan of a bound in lock-step at a planner's rate [s]."""
    from benchmarks.loop.cases import bounding
    from benchmarks.loop.harness import PlannerProxy, advance, loop_with

    found = []

    class Timed(PlannerProxy):
        def solve(self, state: Any, speed: float, **options: Any) -> Any:
            used = time.thread_time()
            result = super().solve(state, speed, **options)
            found.append(time.thread_time() - used)
            return result

    loop, _ = loop_with(bounding({"planner.rate": rate}, speed, duration=60.0), Timed)
    advance(loop, seconds)
    return found


def _live(states: Sequence[Mapping[str, Any]], speed: float, seconds: float, share: float) -> list[dict[str, float]]:
    """Per solve: `start` [s], elapsed and processor time [s], iterations; `share` of a period is the deadline's."""
    from contact_ddp_ros.mpc.plan_rate import PlanRate
    from contact_ddp_ros.mpc.planner import Planner
    from contact_ddp_ros.robot.model import load_robot
    from contact_ddp_ros.robot.models.whole_body import WholeBodyModel
    from contact_ddp_ros.robot.state import RobotState

    planner, chosen = Planner(WholeBodyModel(load_robot())), PlanRate()
    course = [RobotState(float(s["time"]), *(np.array(s[name]) for name in ARRAYS)) for s in states]
    planner.plan(course[0], speed)
    most = planner.config.rate
    found: list[dict[str, float]] = []
    began, due = time.perf_counter(), 0
    while True:
        now = time.perf_counter() - began
        tick = int(now * most)
        if tick < due:
            time.sleep(due / most - now)
            continue
        if now >= seconds or tick >= len(course):
            return found
        rate = chosen.of(most)
        due = tick + round(most / rate)
        started, used = time.perf_counter(), time.process_time()
        result = planner.plan(course[tick], speed, deadline=started + share / rate)
        elapsed, n = time.perf_counter() - started, len(result.iterations)
        chosen.took(elapsed * max(planner.config.iterations / n, 1.0), started + elapsed, most, share)
        found.append(
            {
                "start": now,
                "rate": rate,
                "elapsed": elapsed,
                "processor": time.process_time() - used,
                "iterations": n,
                "ok": float(result.policy is not None),
            }
        )


def _main() -> None:
    jobs: dict[str, Callable[..., Any]] = {"plans": _plans, "live": _live}
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(jobs[request.pop("job")](**request)), flush=True)


if __name__ == "__main__":
    _main()
