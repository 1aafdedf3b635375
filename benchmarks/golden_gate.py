"""Golden gate: hashes of closed-loop recordings and of solver iterates, to hold a change of structure against.

    python -m benchmarks.golden_gate write hashes.json     before a change
    python -m benchmarks.golden_gate check hashes.json     after it, on the same machine and the same versions

Fifteen lock-step scenarios, every recorded array by SHA-256, and the iterates of fifteen problems of the suite.
Times of the wall clock are left out. A change that reorders floating-point operations changes hashes; then costs
(to 1e-12) and iteration counts, which are written beside them, are to be equal.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.suite.contest import PROBLEMS, solution
from contact_ddp_ros import (
    MotionResult,
    Push,
    Recording,
    RunOptions,
    Solution,
    execute_motion,
    load_motion,
    load_robot,
    optimise_motion,
    simulate,
)
from contact_ddp_ros.runs.motions.execution import motion_options
from contact_ddp_ros.runs.options import ESTIMATED, SENSOR_ERRORS, TRUE

GAITS = ("bound", "bound_long_stance", "fly_trot", "gallop", "pace", "pronk", "trot", "walk")
SEEDS = (1, 2, 3)
TRUNK_NOISE = {
    "simulator.noise.position": 0.002,
    "simulator.noise.orientation": 0.005,
    "simulator.noise.linear_velocity": 0.03,
    "simulator.noise.angular_velocity": 0.05,
    "simulator.noise.joint_positions": 0.002,
    "simulator.noise.joint_velocities": 0.1,
}
"""Standard deviations of the state that the simulator gives [m, rad, m/s, rad/s]."""

WALL_CLOCK = ("wall_time", "solve_ms", "deadline_missed")

Row = dict[str, object]


def digest(arrays: Mapping[str, np.ndarray]) -> str:
    """SHA-256 of arrays with their names, types and shapes."""
    told = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        told.update(f"{name} {array.dtype.str} {array.shape}".encode())
        told.update(array.tobytes())
    return told.hexdigest()


def row_of(recording: Recording) -> Row:
    """Hash, cost and iterations of a recording."""
    tables = {"ticks": recording.ticks, "solves": recording.solves, "plans": recording.plans}
    arrays = {
        f"{table}/{name}": column
        for table, columns in tables.items()
        for name, column in columns.items()
        if name not in WALL_CLOCK
    }
    solves = recording.solves
    return {
        "sha256": digest(arrays),
        "cost": float(np.sum(solves["cost"])),
        "iterations": int(np.sum(solves["iterations"])),
    }


def back_flip() -> Row:
    """Optimized and executed in MuJoCo."""
    plan = optimise_motion(load_motion("backflip"), load_robot())
    run = MotionResult(execute_motion(plan, motion_options(plan.task, state=TRUE)))
    arrays = {name: getattr(run, name) for name in ("times", "coordinates", "planned", "torques", "forces")}
    return {"sha256": digest(arrays), "cost": float(np.abs(run.torques).sum()), "iterations": plan.iterations}


def solved(problem: str, seed: int) -> Row:
    """Iterates of one problem of the suite by the interior point with exact Hessians."""
    found: Solution = solution(PROBLEMS[problem].instance(seed), "ddp")
    logged = {name: np.array([getattr(one, name) for one in found.iterations]) for name in ("cost", "step", "gradient")}
    arrays = {"xs": found.xs, "us": found.us, "gains": found.gains, **logged}
    return {"sha256": digest(arrays), "cost": found.cost, "iterations": len(found.iterations)}


def scenarios() -> dict[str, Callable[[], Row]]:
    """Closed-loop runs by name."""
    base = RunOptions(duration=2.6, speed=((0.0, 0.8),), record_plans=10, seed=3, state=TRUE)
    push = Push(1.9, (0.0, 80.0, 0.0), 0.1)

    def run(**changes: Any) -> Callable[[], Row]:
        errors = SENSOR_ERRORS if changes.get("state") == ESTIMATED else TRUNK_NOISE
        overrides = {**errors, **changes.pop("overrides", {})}
        return lambda: row_of(simulate(replace(base, overrides=overrides, **changes)))

    found = {gait: run(overrides={"planner.gait.name": gait}) for gait in GAITS}
    found |= {
        "ilqr": run(variant="ilqr"),
        "push and turn": run(pushes=(push,), turn=0.5, left=0.2),
        "stairs": run(terrain="stairs:0.05,3", duration=3.0),
        "penalties": run(overrides={"planner.constraint.method": "penalties"}),
        "dart": run(overrides={"simulator.engine": "dart"}),
        "bullet": run(overrides={"simulator.engine": "bullet"}),
        "estimate": run(state=ESTIMATED),
        "back flip": back_flip,
    }
    return found


def main() -> int:
    """Write hashes, or check those of now against written ones; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("job", choices=("write", "check"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--only", metavar="NAME", action="append", help="of the scenarios; repeatable")
    arguments = parser.parse_args()
    rows = scenarios()
    for problem in PROBLEMS:
        for seed in SEEDS:
            rows[f"{problem} #{seed}"] = partial(solved, problem, seed)
    before = json.loads(arguments.file.read_text(encoding="utf-8")) if arguments.job == "check" else {}
    found, worse = {}, 0
    for name, measure in rows.items():
        if arguments.only and name not in arguments.only:
            continue
        found[name] = measure()
        equal = found[name] == before.get(name)
        worse += arguments.job == "check" and not equal
        told = "" if arguments.job == "write" else "equal" if equal else f"DIFFERS from {before.get(name)}"
        print(f"{name:24s} {found[name]} {told}", flush=True)
    if arguments.job == "write":
        arguments.file.write_text(json.dumps(found, indent=1), encoding="utf-8")
    print(f"{len(found)} scenarios, {worse} differ")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
