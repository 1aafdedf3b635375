"""The runs of `contact-ddp bench world`, row by row: what is unlike the world that the plan knows, and the targets."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from contact_ddp_ros.bench.loop.scenarios import CYCLE, NOISE, SPEED
from contact_ddp_ros.options import Push, RunOptions

PUSH_TIME, PUSH_DURATION = 4.0, 0.1

KNOCK_DURATION = 20.0
"""Long enough to fall, to be rolled a few times, to stand up and to move for some seconds [s]."""


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
class WorldRun:
    """One run of a row; `lateral` is the sideways speed that is commanded [m/s], `turn` the yaw rate [rad/s]."""

    row: str
    number: int
    options: RunOptions
    lateral: float = 0.0
    turn: float = 0.0

    @property
    def name(self) -> str:
        """Unique in the whole table."""
        return f"{self.row} #{self.number}"

    @property
    def cost(self) -> float:
        """Its simulated time [s]."""
        return self.options.duration


@dataclass(frozen=True)
class Row:
    """Runs that are judged together."""

    name: str
    runs: Sequence[WorldRun]
    figure: Figure | None = None


@dataclass(frozen=True)
class Extent:
    """Length of a run [s], seeds of random grounds, phases of impulses, mixtures."""

    duration: float = 20.0
    seeds: int = 20
    phases: int = 12
    mixtures: int = 200


QUICK = Extent(duration=6.0, seeds=1, phases=1, mixtures=2)


@dataclass(frozen=True)
class _Maker:
    """Makes the options of runs that share a seed and the user's parameters."""

    seed: int
    extent: Extent
    overrides: Mapping[str, Any] = field(default_factory=dict)

    def run(self, row: str, number: int = 0, *, lateral: float = 0.0, turn: float = 0.0, **options: Any) -> WorldRun:
        """A run at 0.5 m/s with sensor noise unless told otherwise; `world` are parameters by name."""
        world = options.pop("world", {})
        noise = {f"simulator.noise.{name}": deviation for name, deviation in NOISE.items()}
        wanted = {
            "duration": self.extent.duration,
            "speed": ((0.0, SPEED),),
            "seed": self.seed + number,
            "video": False,
        }
        overrides = {**noise, **world, **self.overrides}
        return WorldRun(row, number, RunOptions(**{**wanted, **options}, overrides=overrides), lateral, turn)

    def row(self, name: str, figure: Figure | None = None, **options: Any) -> Row:
        """A row of one run."""
        return Row(name, [self.run(name, **options)], figure)

    def seeded(self, name: str, words: Sequence[str]) -> Row:
        """A row of one run for each ground."""
        return Row(name, [self.run(name, k, terrain=word) for k, word in enumerate(words)])


def rows(seed: int, extent: Extent, overrides: Mapping[str, Any]) -> list[Row]:
    """All rows of the table."""
    make = _Maker(seed, extent, overrides)
    return [*_grounds(make), *_impulses(make), _knocks(make), *_senses(make), *_loads(make), _mixtures(make)]


def _grounds(make: _Maker) -> Iterator[Row]:
    rng, extent = np.random.default_rng(make.seed), make.extent
    speed = Figure("speed", 0.05)
    for name, word in (
        ("slope 10° up", "slope:10"),
        ("slope 10° down", "slope:-10"),
        ("slope 10° to the side", "slope:10,90"),
        ("slope 10° across", "slope:10,45"),
    ):
        yield make.row(name, speed, terrain=word)
    offsets = rng.uniform(0.0, 0.2, extent.seeds)
    yield make.seeded("step 3 cm up", [f"step:{1.0 + offset:.3f},0.03" for offset in offsets])
    yield make.seeded("step 3 cm down", [f"step:{1.0 + offset:.3f},-0.03" for offset in offsets])
    treads = rng.uniform(0.3, 0.6, extent.seeds)
    yield make.seeded("three steps of 2 cm up", [f"stairs:0.02,3,{tread:.3f}" for tread in treads])
    yield make.seeded("four steps of 3 cm down", [f"stairs:-0.03,4,{tread:.3f}" for tread in treads])
    yield make.seeded("boxes of 3 cm", [f"boxes:0.03,{k}" for k in range(extent.seeds)])


def _impulses(make: _Maker) -> Iterator[Row]:
    extent, runs = make.extent, list[WorldRun]()
    name = "roll impulses of 1 N m s"
    for sign in (1.0, -1.0):
        for phase in range(extent.phases):
            time = PUSH_TIME + CYCLE * phase / extent.phases
            push = Push(time, (0.0, 0.0, 0.0), PUSH_DURATION, (sign / PUSH_DURATION, 0.0, 0.0))
            runs.append(make.run(name, len(runs), pushes=(push,), duration=time + 3.0))
    yield Row(name, runs)


def _knocks(make: _Maker) -> Row:
    """Pushes that fell it, from all sides and on unlike grounds; it is to get up and to move again."""
    name, runs = "knocked down by 60 N s, up again", []
    for k in range(make.extent.seeds):
        rng = np.random.default_rng([make.seed, k, 1])
        angle = rng.uniform(0.0, 2.0 * math.pi)
        force = 60.0 / PUSH_DURATION * np.array([math.cos(angle), math.sin(angle)])
        push = Push(PUSH_TIME + rng.uniform(0.0, CYCLE), (float(force[0]), float(force[1]), 0.0), PUSH_DURATION)
        terrain = str(rng.choice(["flat", f"slope:{rng.uniform(5.0, 10.0):.2f},{rng.uniform(0.0, 360.0):.1f}"]))
        friction = float(rng.uniform(0.4, 1.0))
        runs.append(
            make.run(name, k, pushes=(push,), terrain=terrain, friction=friction, duration=KNOCK_DURATION, recover=True)
        )
    return Row(name, runs)


def _senses(make: _Maker) -> Iterator[Row]:
    same = Figure("speed", 0.02)
    for z in (0.05, -0.05):
        yield make.row(f"height read {100 * z:+.0f} cm", same, world={"simulator.error.z": z})
    for pitch in (0.07, -0.07):
        yield make.row(f"pitch read {math.degrees(pitch):+.0f}°", same, world={"simulator.error.pitch": pitch})
    yield make.row("roll read +2°", Figure("line", 0.1, "m"), world={"simulator.error.roll": 0.035})
    for state, target in ((0.01, same), (0.02, None)):
        late = {"simulator.delay.state": state, "simulator.delay.command": 0.01, "controller.move.command_delay": 0.01}
        name = f"state {1e3 * state:.0f} ms and command 10 ms late"
        yield make.row(name, target, world={**late, "controller.safety.state_timeout": 0.04})
    late = {"simulator.delay.torque": 0.01, "controller.move.command_delay": 0.01, "controller.move.drive_delay": 0.01}
    name = "torque 10 ms late in the drives"
    yield Row(name, [make.run(name, k, world=late) for k in range(make.extent.seeds)])


def _loads(make: _Maker) -> Iterator[Row]:
    extent = make.extent
    wind = Push(2.0, (0.0, 15.0, 0.0), extent.duration)
    payload = {"simulator.payload.mass": 2.0}
    ahead, aside = {**payload, "simulator.payload.x": 0.1}, {**payload, "simulator.payload.y": 0.06}
    yield make.row("payload of 2 kg, 10 cm ahead", Figure("speed", 0.02), world=ahead)
    yield make.row("payload of 2 kg, 6 cm aside", Figure("roll", 0.03, "rad"), world=aside)
    yield make.row("wind of 15 N from the side", Figure("side", 0.03, "m/s"), pushes=(wind,))
    yield make.row("0.3 m/s to the side", Figure("lateral", 0.03, "m/s"), lateral=0.3)
    yield make.row("turn of 1 rad/s at 1 m/s", Figure("lateral", 0.03, "m/s"), turn=1.0, speed=((0.0, 1.0),))
    yield make.row("torques at 55 %", world={"simulator.torque_scale": 0.55})
    yield make.row("friction 0.3", friction=0.3)
    yield make.row("friction 0.2", friction=0.2)


def _mixtures(make: _Maker) -> Row:
    name, runs = "random mixtures", []
    for k in range(make.extent.mixtures):
        rng = np.random.default_rng([make.seed, k])
        slope, heading = rng.uniform(-5.0, 5.0), rng.uniform(0.0, 90.0)
        terrain = rng.choice([f"slope:{slope:.2f},{heading:.1f}", f"boxes:{rng.uniform(0.0, 0.02):.3f},{k}", "flat"])
        angle, impulse = rng.uniform(0.0, 2.0 * math.pi), rng.uniform(0.0, 4.0)
        force = impulse / PUSH_DURATION * np.array([math.cos(angle), math.sin(angle)])
        push = Push(PUSH_TIME + rng.uniform(0.0, CYCLE), (float(force[0]), float(force[1]), 0.0), PUSH_DURATION)
        world = {
            "simulator.error.z": rng.uniform(-0.03, 0.03),
            "simulator.error.pitch": rng.uniform(-0.03, 0.03),
            "simulator.error.roll": rng.uniform(-0.015, 0.015),
            "simulator.payload.mass": rng.uniform(0.0, 1.0),
            "simulator.payload.x": rng.uniform(-0.08, 0.08),
            "simulator.payload.y": rng.uniform(-0.04, 0.04),
        }
        runs.append(
            make.run(
                name,
                k,
                terrain=str(terrain),
                pushes=(push,),
                speed=((0.0, float(rng.uniform(0.5, 1.0))),),
                friction=float(rng.uniform(0.5, 1.0)),
                planner_delay=float(rng.uniform(0.0, 0.01)),
                trunk_mass_scale=float(rng.uniform(0.9, 1.1)),
                duration=min(make.extent.duration, 10.0),
                world={key: float(value) for key, value in world.items()},
            )
        )
    return Row(name, runs)
