"""`contact-ddp bench world`: bounding where the world is not what the plan believes.

Slopes, steps, stairs, boxes, errors and delays of the state, loads, wind, weak motors and random mixtures of them, in
lock-step, spread over the cores. A row holds where no run of it falls (where it is knocked down: where it gets up),
all move at the end, and its figure stays within the target. What chance decides (places, phases, mixtures, sensor
noise) follows from `--seed`.
"""

import argparse
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.benchmark import add_seed, count, option
from benchmarks.loop.harness import CYCLE, PUSH_DURATION, bounding, cases, moved, push_of, settled
from benchmarks.study import STANDING, VERDICT, Rows, Study
from contact_ddp_ros.plants.pushes import Push
from contact_ddp_ros.runs.options import SENSOR_ERRORS, TRUE
from contact_ddp_ros.runs.report.panels import bars
from contact_ddp_ros.runs.report.style import FOOT_COLOURS, LIMIT, figure
from contact_ddp_ros.runs.study.study import Case, Figures, Group, Target

AT_LAST = 2.0
"""Time at the end of a run in which the robot must have moved [s]."""

PUSH_TIME = 4.0
"""The earliest push begins then [s]."""

KNOCK_DURATION = 20.0
"""Long enough to fall, to be rolled a few times, to stand up and to move for some seconds [s]."""

DURATION, SHORT = 20.0, 6.0
"""Duration of a run, and of one that is quick [s]."""

PHASES = 12
"""Phases of the gait at which impulses begin."""

_HILLS = "smooth hills of 10 cm"
_WITHOUT_HILLS = ("dart",)
"""The row on a field of heights, and the engines that build none."""

Unlike = Mapping[str, Any]
"""Options of a run that are unlike a bound at 0.5 m/s with sensor noise; parameters stand in `overrides`."""

Row = tuple[str, Target | None, Sequence[Unlike]]
"""Name, target and runs of a row."""


def rows(options: argparse.Namespace) -> list[Case]:
    """All runs of the rows that are asked for; run number k of a row has the seed `seed` + k."""
    overrides = dict(options.set)
    duration, phases, seeds, mixtures = DURATION, PHASES, options.seeds, options.mixtures
    if options.quick:
        duration, phases, seeds, mixtures = SHORT, 1, 1, 2
    base = bounding({**SENSOR_ERRORS, **overrides}, duration=duration)
    found: list[Case] = []
    for name, target, runs in _rows(options.seed, duration, phases, seeds, mixtures):
        if name == _HILLS and overrides.get("simulator.engine") in _WITHOUT_HILLS:
            continue
        if options.only and not any(word in name for word in options.only):
            continue
        unlike = {f"{name} #{k}": {"seed": options.seed + k, **one} for k, one in enumerate(runs)}
        found += cases(base, {name: unlike}, target)
    return found


def _rows(seed: int, duration: float, phases: int, seeds: int, mixtures: int) -> Iterator[Row]:
    yield from _grounds(seed, seeds)
    yield from _impulses(phases)
    yield from _knocks(seed, seeds)
    yield from _senses(seeds)
    yield from _loads(duration)
    yield "random mixtures", None, [mixture(seed, k, duration) for k in range(mixtures)]


def _grounds(seed: int, seeds: int) -> Iterator[Row]:
    rng, speed = np.random.default_rng(seed), Target("speed", 0.05)
    slopes = {"up": "slope:10", "down": "slope:-10", "to the side": "slope:10,90", "across": "slope:10,45"}
    for way, word in slopes.items():
        yield f"slope 10° {way}", speed, [{"terrain": word}]
    offsets = rng.uniform(0.0, 0.2, seeds)
    treads = rng.uniform(0.3, 0.6, seeds)
    lengths = rng.uniform(0.5, 2.0, seeds)
    grounds = {
        "step 3 cm up": [f"step:{1.0 + offset:.3f},0.03" for offset in offsets],
        "step 3 cm down": [f"step:{1.0 + offset:.3f},-0.03" for offset in offsets],
        "step 8 cm up": [f"step:{1.0 + offset:.3f},0.08" for offset in offsets],
        "stair of 6 cm up": [f"stairs:0.06,10,{0.5 * tread:.3f}" for tread in treads],
        "three steps of 2 cm up": [f"stairs:0.02,3,{tread:.3f}" for tread in treads],
        "four steps of 3 cm down": [f"stairs:-0.03,4,{tread:.3f}" for tread in treads],
        "boxes of 3 cm": [f"boxes:0.03,{k}" for k in range(seeds)],
        "stepping stones of ±3 cm": [f"stones:0.03,{k}" for k in range(seeds)],
        "kerb of 4 cm between left and right": ["kerb:0.04", "kerb:-0.04"],
        _HILLS: [f"rough:0.1,{length:.3f},{k}" for k, length in enumerate(lengths)],
    }
    for name, words in grounds.items():
        yield name, None, [{"terrain": word} for word in words]


def _impulses(phases: int) -> Iterator[Row]:
    runs = []
    for sign in (1.0, -1.0):
        for phase in range(phases):
            time = PUSH_TIME + CYCLE * phase / phases
            push = Push(time, (0.0, 0.0, 0.0), PUSH_DURATION, (sign / PUSH_DURATION, 0.0, 0.0))
            runs.append({"pushes": (push,), "duration": time + 3.0})
    yield "roll impulses of 1 N m s", None, runs


def _knocks(seed: int, seeds: int) -> Iterator[Row]:
    """Pushes that fell it, from all sides and on unlike grounds; it is to get up and to move again."""
    runs = []
    for k in range(seeds):
        rng = np.random.default_rng([seed, k, 1])
        angle = rng.uniform(0.0, 2.0 * math.pi)
        push = push_of(60.0, angle, PUSH_TIME + rng.uniform(0.0, CYCLE))
        terrain = rng.choice(["flat", f"slope:{rng.uniform(5.0, 10.0):.2f},{rng.uniform(0.0, 360.0):.1f}"])
        shared = {"duration": KNOCK_DURATION, "recover": True}
        friction = float(rng.uniform(0.4, 1.0))
        runs.append({"pushes": (push,), "terrain": str(terrain), "friction": friction, **shared})
    yield "knocked down by 60 N s, up again", None, runs


def _senses(seeds: int) -> Iterator[Row]:
    same = Target("speed", 0.02)
    for z in (0.05, -0.05):
        unlike = {"state": TRUE, "overrides": {"simulator.error.z": z}}
        yield f"height read {100 * z:+.0f} cm on the simulator's state", same, [unlike]
    for pitch in (0.07, -0.07):
        yield f"IMU pitched {math.degrees(pitch):+.0f}°", same, [{"overrides": {"simulator.imu.pitch": pitch}}]
    yield "IMU rolled +2°", Target("line", 0.1, "m"), [{"overrides": {"simulator.imu.roll": 0.035}}]
    ahead = {"controller.move.command_delay": 0.01}
    for state, target in ((0.01, same), (0.02, None)):
        late = {
            "simulator.delay.state": state,
            "simulator.delay.command": 0.01,
            "controller.safety.state_timeout": 0.04,
        }
        yield f"state {1e3 * state:.0f} ms and command 10 ms late", target, [{"overrides": {**late, **ahead}}]
    late = {"simulator.delay.torque": 0.01, "controller.move.drive_delay": 0.01}
    yield "torque 10 ms late in the drives", None, [{"overrides": {**late, **ahead}}] * seeds


def _loads(duration: float) -> Iterator[Row]:
    payload = {"simulator.payload.mass": 2.0}
    ahead, aside = {**payload, "simulator.payload.x": 0.1}, {**payload, "simulator.payload.y": 0.06}
    wind = Push(2.0, (0.0, 15.0, 0.0), duration)
    lateral = Target("lateral", 0.03, "m/s")
    yield "payload of 2 kg, 10 cm ahead", Target("speed", 0.02), [{"overrides": ahead}]
    yield "payload of 2 kg, 6 cm aside", Target("roll", 0.03, "rad"), [{"overrides": aside}]
    yield "wind of 15 N from the side", Target("side", 0.03, "m/s"), [{"pushes": (wind,)}]
    yield "0.3 m/s to the side", lateral, [{"left": 0.3}]
    yield "turn of 1 rad/s at 1 m/s", lateral, [{"turn": 1.0, "speed": ((0.0, 1.0),)}]
    yield "torques at 55 %", None, [{"overrides": {"simulator.torque_scale": 0.55}}]
    yield "friction 0.3", None, [{"friction": 0.3}]
    yield "friction 0.2", None, [{"friction": 0.2}]


def mixture(seed: int, k: int, duration: float) -> Unlike:
    """A random world with one push and one speed."""
    rng = np.random.default_rng([seed, k])
    slope, heading = rng.uniform(-5.0, 5.0), rng.uniform(0.0, 90.0)
    terrain = rng.choice([f"slope:{slope:.2f},{heading:.1f}", f"boxes:{rng.uniform(0.0, 0.02):.3f},{k}", "flat"])
    angle, impulse = rng.uniform(0.0, 2.0 * math.pi), rng.uniform(0.0, 4.0)
    push = push_of(impulse, angle, PUSH_TIME + rng.uniform(0.0, CYCLE))
    ranges = {
        "simulator.imu.pitch": (-0.03, 0.03),
        "simulator.imu.roll": (-0.015, 0.015),
        "simulator.payload.mass": (0.0, 1.0),
        "simulator.payload.x": (-0.08, 0.08),
        "simulator.payload.y": (-0.04, 0.04),
    }
    return {
        "overrides": {name: float(rng.uniform(*range_of)) for name, range_of in ranges.items()},
        "terrain": str(terrain),
        "pushes": (push,),
        "speed": ((0.0, float(rng.uniform(0.5, 1.0))),),
        "friction": float(rng.uniform(0.5, 1.0)),
        "planner_delay": float(rng.uniform(0.0, 0.01)),
        "trunk_mass_scale": float(rng.uniform(0.9, 1.1)),
        "duration": min(duration, 10.0),
    }


def run(case: Case) -> Figures:
    """Figures of the settled motion of one closed loop [m/s, m, rad], of the speed its relative error."""
    recording, fall = moved(case.options, AT_LAST)
    if recording is None or fall:
        return {"fall": fall}
    ticks, late = recording.ticks, settled(recording)
    time, position = ticks["time"][late], recording.actual("position")[late]
    velocity = (position[-1, :2] - position[0, :2]) / (time[-1] - time[0])
    commanded = case.options.speed_at(float(time[-1]))
    return {
        "fall": "",
        "speed": abs(float(velocity[0]) - commanded) / commanded,
        "side": abs(float(velocity[1])),
        "line": float(np.abs(position[:, 1]).max()),
        "roll": abs(float(recording.rpy[late, 0].mean())),
        "lateral": abs(float(recording.actual("linear_velocity")[late, 1].mean()) - case.options.left),
    }


def draw(groups: Sequence[Group], path: Path) -> None:
    """Draw the share of runs without a fall, with its interval, row by row."""
    with figure(path, 9.0, 0.28 * len(groups) + 1.2, "Bounding in worlds that the plan does not know") as drawn:
        axes, standing = drawn.subplots(), {group.name: group.standing for group in groups}
        colours = [FOOT_COLOURS[0] if group.held() else LIMIT for group in groups]
        intervals = [(100 * one.lower, 100 * one.upper) for one in standing.values()]
        bars(axes, {name: 100 * one.share for name, one in standing.items()}, colours, intervals, size=8)
        axes.set_xlim(0.0, 100.0)
        axes.set_xlabel("runs without a fall [%], line: 95 % interval; red: a fall, or the figure beyond its target")


REPORT = Rows("Worlds", {"row": lambda group: group.name, **STANDING, **VERDICT}, drawings={"world.png": draw})

BENCHMARK = Study(rows, run, REPORT).benchmark(
    "world",
    __doc__,
    "one run of each row, shorter",
    option("--only", action="append", metavar="WORD", help="rows whose names hold a word; repeatable"),
    count("--seeds", 20, "of random grounds"),
    count("--mixtures", 200, "random mixtures"),
    add_seed,
)
