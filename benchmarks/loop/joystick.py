"""`contact-ddp bench joystick`: random full-range commands to every packaged gait, in lock-step, until the robot falls.

A joystick at full range: every 0.1 to 2 s a new command, each axis at one of its ends, at rest, or anywhere between:
ahead and to the left up to the planner's speed limit, turns up to the fastest that is planned for. With `--mixed` the
gait changes every 0.4 to 2 s, too, and with every command the trunk is to be held in a random pose. Runs have the
sensor noise of `bench robustness`. A run holds where the robot neither falls nor gives the gait up for a stand.
"""

import argparse
from collections.abc import Sequence

import numpy as np

from benchmarks.benchmark import count, option
from benchmarks.loop.gaits import moving_gaits
from benchmarks.loop.harness import bounding, cases
from benchmarks.study import STANDING, Rows, Study
from contact_ddp_ros.base.config import replace, specs
from contact_ddp_ros.mpc.config import MOST_TURN, PlannerConfig
from contact_ddp_ros.robot.state import BodyPose
from contact_ddp_ros.runs.closed_loop import ClosedLoop
from contact_ddp_ros.runs.loop import Loop, Observer
from contact_ddp_ros.runs.options import SENSOR_ERRORS
from contact_ddp_ros.runs.study.study import Case, Figures, Group

MIXED = "mixed"
"""Group of the runs whose gait and trunk pose change, too."""

_COMMANDS, _GAITS = (0.1, 2.0), (0.4, 2.0)
"""Shortest and longest time between two commands, and between two changes of the gait [s]."""

_ENDS = 0.4
"""Share of an axis's draws that are at one of its ends; half as many are at rest."""


class Joystick(Observer):
    """Random commands for a loop; `mixed` are the gaits to change between, none to keep the one there is."""

    def __init__(self, seed: int, limits: tuple[float, float, float], mixed: Sequence[str] = ()) -> None:
        """`limits` are those of the speed ahead and to the left [m/s] and of the turn [rad/s]."""
        self._rng = np.random.default_rng([seed, 5])
        self._limits, self._gaits = limits, mixed
        self._next_command = self._next_gait = 0.0
        self._forward = 0.0

    def before_tick(self, loop: Loop) -> None:
        """Command what is due, whatever the options say."""
        now = loop.plant.time
        if now >= self._next_command:
            self._next_command = now + self._rng.uniform(*_COMMANDS)
            self._forward, left, turn = (self._axis(limit) for limit in self._limits)
            loop.steering = (turn, left)
            if self._gaits:
                bounds = specs(loop.planner.config.reference)
                names = ("height", "roll", "pitch")
                ranges = [(bounds[name].low or 0.0, bounds[name].high or 0.0) for name in names]
                loop.pose = BodyPose(*(float(self._rng.uniform(low, high)) for low, high in ranges))
        loop.speed = self._forward
        if self._gaits and now >= self._next_gait:
            self._next_gait = now + self._rng.uniform(*_GAITS)
            gait = self._gaits[int(self._rng.integers(len(self._gaits)))]
            loop.planner.configure(replace(loop.planner.config, {"gait.name": gait}))

    def _axis(self, limit: float) -> float:
        draw, value = self._rng.uniform(), float(self._rng.uniform(-limit, limit))
        if draw < _ENDS:
            return float(np.copysign(limit, value))
        return 0.0 if draw < 1.5 * _ENDS else value


def run(case: Case) -> Figures:
    """Run one closed loop under a joystick until it falls.

    Figures: `stands`, how often no usable plan came, so that the robot stood, `refused` policies, `failed` solves of
    all `plans`, `distance` [m] and the `fastest` speed [m/s].
    """
    options, gaits = case.options, moving_gaits() if case.group == MIXED else ()
    limit = PlannerConfig().reference.speed_limit
    stick = Joystick(options.in_effect("seed"), (limit, limit, MOST_TURN), gaits)
    loop = ClosedLoop(options)
    loop.observers.append(stick)
    for gait in gaits:
        loop.planner.know(gait)
    before, distance, fastest = loop.plant.read().position, 0.0, 0.0
    while loop.plant.time < options.duration and loop.controller.fault is None:
        loop.tick()
        state = loop.plant.truth().state
        distance, before = distance + float(np.hypot(*(state.position - before)[:2])), state.position
        fastest = max(fastest, float(np.hypot(*state.linear_velocity[:2])))
    solves, told = loop.recorder.finish().solves, loop.controller.fault or loop.controller.retreat
    return {
        "fall": "" if told is None else f"{told.time:.2f} s: {told}",
        "stands": loop.controller.retreats,
        "refused": sum(loop.controller.move.refusals.values()),
        "failed": int((~solves["ok"].astype(bool)).sum()),
        "plans": len(solves["ok"]),
        "distance": distance,
        "fastest": fastest,
    }


def runs(options: argparse.Namespace) -> list[Case]:
    """Every gait, or :data:`MIXED`, with every seed."""
    duration, number = (8.0, 1) if options.quick else (options.duration, options.seeds)
    seeds = range(options.seed, options.seed + number)
    found: list[Case] = []
    for gait in options.only or [*moving_gaits(), *([MIXED] if options.mixed else ())]:
        name = moving_gaits()[0] if gait == MIXED else gait
        own = {**dict(options.set), "planner.gait.name": name}
        base = bounding({**SENSOR_ERRORS, **own}, 0.0, duration=duration)
        found += cases(base, {gait: {f"{gait} #{seed}": {"seed": seed} for seed in seeds}})
    return found


def _first_fall(group: Group) -> str:
    pairs = zip(group.cases, group.figures)
    return next((f"#{case.options.in_effect('seed')} {one['fall']}" for case, one in pairs if one["fall"]), "")


REPORT = Rows(
    "A joystick at full range",
    {
        "gait": lambda group: group.name,
        **STANDING,
        "refused": lambda group: group.total("refused"),
        "failed": lambda group: group.total("failed"),
        "plans": lambda group: group.total("plans"),
        "fastest, m/s": lambda group: f"{max(one['fastest'] for one in group.figures):.1f}",
        "first fall": _first_fall,
    },
)

BENCHMARK = Study(runs, run, REPORT).benchmark(
    "joystick",
    __doc__,
    "one short run of each gait",
    option("--only", action="append", metavar="GAIT", help=f"of the packaged gaits, or {MIXED}; repeatable"),
    option("--mixed", action="store_true", help="runs, too, in which gait and trunk pose change"),
    option("--duration", type=float, default=60.0, metavar="S", help="of a run [s] (default: 60)"),
    count("--seeds", 10, "of commands and noise"),
    option("--seed", type=int, default=0, metavar="N", help="the first of them (default: 0)"),
)
