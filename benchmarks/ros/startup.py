"""How long until the planner can plan, in a fresh process: with everything to compile, and with everything compiled.

A cold start has an empty kernel cache (CONTACT_DDP_CACHE) and an empty Numba cache (NUMBA_CACHE_DIR), both temporary.
Run as a program, this module is that fresh process: it does what a planner process does and prints the time of each
step, both elapsed and of the processor; on an idle machine the two agree but for the C compiler, which uses all cores.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from contact_ddp_ros.base.errors import ContactDdpError

if TYPE_CHECKING:
    from contact_ddp_ros.robot.models.model import Model

STEPS = ("interpreter", "other packages", "own code", "robot", "kernels", "planner", "first plan")
"""Python itself; imports of NumPy, Numba, CasADi and so on; imports of this package; the URDF; CasADi's graphs and the
C compiler, or loading their result; the planner's own tables; the first plan, for which Numba compiles or loads."""

_BORN = "CONTACT_DDP_BENCH_BORN"
"""When the parent started the process, on the machine's monotonic clock [s]."""

_CACHES = ("CONTACT_DDP_CACHE", "NUMBA_CACHE_DIR")


@dataclass(frozen=True)
class StartupTimes:
    """Seconds per step of one start, elapsed and of the processor (the compiler's included)."""

    elapsed: Mapping[str, float]
    processor: Mapping[str, float]

    @property
    def ready(self) -> float:
        """Elapsed until the planner has planned once [s]."""
        return sum(self.elapsed[step] for step in STEPS)

    @property
    def ready_processor(self) -> float:
        """Of the processor until then [s]."""
        return sum(self.processor[step] for step in STEPS)


def cold() -> StartupTimes:
    """One start with empty caches."""
    with tempfile.TemporaryDirectory() as scratch:
        return _start({name: str(Path(scratch) / name.lower()) for name in _CACHES})


def warm(starts: int) -> list[StartupTimes]:
    """Starts with the caches that this process uses, filled by one start before them."""
    _start({})
    return [_start({}) for _ in range(starts)]


def _start(variables: Mapping[str, str]) -> StartupTimes:
    environment = {**os.environ, **variables, _BORN: repr(time.monotonic())}
    command = [sys.executable, "-m", "benchmarks.ros.startup"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ContactDdpError(f"a fresh planner process failed: {done.stderr.strip()[-500:]}")
    return StartupTimes(**json.loads(done.stdout.splitlines()[-1]))


def _processor() -> float:
    """Seconds of this process and of those it has waited for."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def _main() -> None:
    """The fresh process."""
    marks = [(float(os.environ[_BORN]), 0.0)]

    def mark() -> None:
        marks.append((time.monotonic(), _processor()))

    mark()
    import casadi  # noqa: F401
    import numba  # noqa: F401
    import pinocchio  # noqa: F401
    import yaml  # noqa: F401

    mark()
    from contact_ddp_ros.mpc.planner import Planner
    from contact_ddp_ros.robot.load import load_robot
    from contact_ddp_ros.robot.models.whole_body import WholeBodyModel

    mark()
    robot = load_robot()
    mark()
    model = WholeBodyModel(robot)
    _build_kernels(model)
    mark()
    planner = Planner(model)
    mark()
    planner.plan(robot.standing_state(), 0.5)
    mark()
    elapsed, processor = zip(*[(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(marks)], strict=True)
    print(json.dumps({"elapsed": dict(zip(STEPS, elapsed)), "processor": dict(zip(STEPS, processor))}))


def _build_kernels(model: "Model") -> None:
    """What the planner builds first, by itself: it is cached then."""
    from contact_ddp_ros.dynamics.kernels import build_kernels
    from contact_ddp_ros.mpc.config import GaitConfig
    from contact_ddp_ros.mpc.reference import gait_schedule

    modes = gait_schedule(model, GaitConfig()).modes
    build_kernels(model.tree, {mode.name: mode.contacts for mode in modes}, model.axes)


if __name__ == "__main__":
    _main()
