"""The runs of `contact-ddp bench world`, row by row: what is unlike the world that the plan knows, and the targets."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.loop.cases import CYCLE, PUSH_DURATION, Case, bounding, cases, push_of
from contact_ddp_ros.plants.pushes import Push
from contact_ddp_ros.runs.options import SENSOR_NOISE

PUSH_TIME = 4.0
"""The earliest push begins then [s]."""

KNOCK_DURATION = 20.0
"""Long enough to fall, to be rolled a few times, to stand up and to move for some seconds [s]."""

_HILLS = "smooth hills of 10 cm"
_WITHOUT_HILLS = ("dart",)
"""The row on a field of heights, and the engines that build none."""


@dataclass(frozen=True)
class Figure:
    """A number of a run that must not exceed a target.

    It is one of `speed` (relative error), `side` (sideways speed), `line` (distance from it), `roll`, `lateral` (error
    of the trunk's sideways speed along its own axis).
    """

    name: str
    target: float
    unit: str = ""


@dataclass(frozen=True)
class Row:
    """Runs that are judged together."""

    name: str
    runs: Sequence[Case]
    figure: Figure | None = None


@dataclass(frozen=True)
class Extent:
    """Length of a run [s], seeds of random grounds, phases of impulses, mixtures."""

    duration: float = 20.0
    seeds: int = 20
    phases: int = 12
    mixtures: int = 200


QUICK = Extent(duration=6.0, seeds=1, phases=1, mixtures=2)

Unlike = Mapping[str, Any]
"""What of a run's options is unlike a bound at 0.5 m/s with sensor noise; parameters stand in `overrides`."""


def rows(seed: int, extent: Extent, overrides: Mapping[str, Any]) -> list[Row]:
    """All rows of the table; run number k of a row has the seed `seed` + k."""
    base = bounding({**SENSOR_NOISE, **overrides}, duration=extent.duration)
    found = []
    for part in (_grounds, _impulses, _knocks, _senses, _loads, _mixtures):
        for name, target, runs in part(seed, extent):
            if name == _HILLS and overrides.get("simulator.engine") in _WITHOUT_HILLS:
                continue
            unlike = {f"{name} #{k}": {"seed": seed + k, **one} for k, one in enumerate(runs)}
            found.append(Row(name, cases(base, {name: unlike}), target))
    return found


Rows = Iterator[tuple[str, Figure | None, Sequence[Unlike]]]
"""Name, target and runs of each row."""


def _grounds(seed: int, extent: Extent) -> Rows:
    rng, speed = np.random.default_rng(seed), Figure("speed", 0.05)
    slopes = {"up": "slope:10", "down": "slope:-10", "to the side": "slope:10,90", "across": "slope:10,45"}
    for way, word in slopes.items():
        yield f"slope 10° {way}", speed, [{"terrain": word}]
    offsets = rng.uniform(0.0, 0.2, extent.seeds)
    treads = rng.uniform(0.3, 0.6, extent.seeds)
    lengths = rng.uniform(0.5, 2.0, extent.seeds)
    grounds = {
        "step 3 cm up": [f"step:{1.0 + offset:.3f},0.03" for offset in offsets],
        "step 3 cm down": [f"step:{1.0 + offset:.3f},-0.03" for offset in offsets],
        "step 8 cm up": [f"step:{1.0 + offset:.3f},0.08" for offset in offsets],
        "stair of 6 cm up": [f"stairs:0.06,10,{0.5 * tread:.3f}" for tread in treads],
        "three steps of 2 cm up": [f"stairs:0.02,3,{tread:.3f}" for tread in treads],
        "four steps of 3 cm down": [f"stairs:-0.03,4,{tread:.3f}" for tread in treads],
        "boxes of 3 cm": [f"boxes:0.03,{k}" for k in range(extent.seeds)],
        "stepping stones of ±3 cm": [f"stones:0.03,{k}" for k in range(extent.seeds)],
        "kerb of 4 cm between left and right": ["kerb:0.04", "kerb:-0.04"],
        _HILLS: [f"rough:0.1,{length:.3f},{k}" for k, length in enumerate(lengths)],
    }
    for name, words in grounds.items():
        yield name, None, [{"terrain": word} for word in words]


def _impulses(seed: int, extent: Extent) -> Rows:
    runs = []
    for sign in (1.0, -1.0):
        for phase in range(extent.phases):
            time = PUSH_TIME + CYCLE * phase / extent.phases
            push = Push(time, (0.0, 0.0, 0.0), PUSH_DURATION, (sign / PUSH_DURATION, 0.0, 0.0))
            runs.append({"pushes": (push,), "duration": time + 3.0})
    yield "roll impulses of 1 N m s", None, runs


def _knocks(seed: int, extent: Extent) -> Rows:
    """Pushes that fell it, from all sides and on unlike grounds; it is to get up and to move again."""
    runs = []
    for k in range(extent.seeds):
        rng = np.random.default_rng([seed, k, 1])
        angle = rng.uniform(0.0, 2.0 * math.pi)
        push = push_of(60.0, angle, PUSH_TIME + rng.uniform(0.0, CYCLE))
        terrain = rng.choice(["flat", f"slope:{rng.uniform(5.0, 10.0):.2f},{rng.uniform(0.0, 360.0):.1f}"])
        shared = {"duration": KNOCK_DURATION, "recover": True}
        friction = float(rng.uniform(0.4, 1.0))
        runs.append({"pushes": (push,), "terrain": str(terrain), "friction": friction, **shared})
    yield "knocked down by 60 N s, up again", None, runs


def _senses(seed: int, extent: Extent) -> Rows:
    same = Figure("speed", 0.02)
    for z in (0.05, -0.05):
        yield f"height read {100 * z:+.0f} cm", same, [{"overrides": {"simulator.error.z": z}}]
    for pitch in (0.07, -0.07):
        yield f"pitch read {math.degrees(pitch):+.0f}°", same, [{"overrides": {"simulator.error.pitch": pitch}}]
    yield "roll read +2°", Figure("line", 0.1, "m"), [{"overrides": {"simulator.error.roll": 0.035}}]
    ahead = {"controller.move.command_delay": 0.01}
    for state, target in ((0.01, same), (0.02, None)):
        late = {
            "simulator.delay.state": state,
            "simulator.delay.command": 0.01,
            "controller.safety.state_timeout": 0.04,
        }
        yield f"state {1e3 * state:.0f} ms and command 10 ms late", target, [{"overrides": {**late, **ahead}}]
    late = {"simulator.delay.torque": 0.01, "controller.move.drive_delay": 0.01}
    yield "torque 10 ms late in the drives", None, [{"overrides": {**late, **ahead}}] * extent.seeds


def _loads(seed: int, extent: Extent) -> Rows:
    payload = {"simulator.payload.mass": 2.0}
    ahead, aside = {**payload, "simulator.payload.x": 0.1}, {**payload, "simulator.payload.y": 0.06}
    wind = Push(2.0, (0.0, 15.0, 0.0), extent.duration)
    lateral = Figure("lateral", 0.03, "m/s")
    yield "payload of 2 kg, 10 cm ahead", Figure("speed", 0.02), [{"overrides": ahead}]
    yield "payload of 2 kg, 6 cm aside", Figure("roll", 0.03, "rad"), [{"overrides": aside}]
    yield "wind of 15 N from the side", Figure("side", 0.03, "m/s"), [{"pushes": (wind,)}]
    yield "0.3 m/s to the side", lateral, [{"left": 0.3}]
    yield "turn of 1 rad/s at 1 m/s", lateral, [{"turn": 1.0, "speed": ((0.0, 1.0),)}]
    yield "torques at 55 %", None, [{"overrides": {"simulator.torque_scale": 0.55}}]
    yield "friction 0.3", None, [{"friction": 0.3}]
    yield "friction 0.2", None, [{"friction": 0.2}]


def _mixtures(seed: int, extent: Extent) -> Rows:
    yield "random mixtures", None, [mixture(seed, k, extent) for k in range(extent.mixtures)]


def mixture(seed: int, k: int, extent: Extent) -> Unlike:
    """A random world with one push and one speed."""
    rng = np.random.default_rng([seed, k])
    slope, heading = rng.uniform(-5.0, 5.0), rng.uniform(0.0, 90.0)
    terrain = rng.choice([f"slope:{slope:.2f},{heading:.1f}", f"boxes:{rng.uniform(0.0, 0.02):.3f},{k}", "flat"])
    angle, impulse = rng.uniform(0.0, 2.0 * math.pi), rng.uniform(0.0, 4.0)
    push = push_of(impulse, angle, PUSH_TIME + rng.uniform(0.0, CYCLE))
    ranges = {
        "simulator.error.z": (-0.03, 0.03),
        "simulator.error.pitch": (-0.03, 0.03),
        "simulator.error.roll": (-0.015, 0.015),
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
        "duration": min(extent.duration, 10.0),
    }
