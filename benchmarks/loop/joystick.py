"""`contact-ddp bench joystick`: random full-range commands to every packaged gait, in lock-step, until the robot falls.

A joystick at full range: every 0.1 to 2 s a new command, each axis at one of its ends, at rest, or anywhere between:
ahead and to the left up to the planner's speed limit, turns up to the fastest that is planned for. With `--mixed` the
gait changes every 0.4 to 2 s, too, and with every command the trunk is to be held in a random pose. Runs have the
sensor noise of `bench robustness`. A run holds where the robot neither falls nor gives the gait up for a stand.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.benchmark import Benchmark, Findings, Run, add_setting_option, count, option
from benchmarks.engine import add_engine_options, journalled
from benchmarks.loop.cases import Case, bounding, cases
from benchmarks.loop.gaits import moving_gaits
from benchmarks.output import table_of
from contact_ddp_ros.base.config import replace, specs
from contact_ddp_ros.mpc.config import MOST_TURN, PlannerConfig
from contact_ddp_ros.robot.body_pose import BodyPose
from contact_ddp_ros.runs.channel import Links
from contact_ddp_ros.runs.closed_loop import ClosedLoop
from contact_ddp_ros.runs.options import SENSOR_NOISE
from contact_ddp_ros.runs.study.statistics import grouped, share

MIXED = "mixed"
"""Group of the runs whose gait and trunk pose change, too."""

_COMMANDS, _GAITS = (0.1, 2.0), (0.4, 2.0)
"""Shortest and longest time between two commands, and between two changes of the gait [s]."""

_ENDS = 0.4
"""Share of an axis's draws that are at one of its ends; half as many are at rest."""


@dataclass(frozen=True)
class JoystickOutcome:
    """Outcome of one run: time and reason of its fall or stand (empty where there was none), distance [m], plans.

    Attributes:
        stands: how often no usable plan came, so that the robot stood.
        refused: policies that the controller refused. failed: solves without a policy.
    """

    group: str
    seed: int
    fall: str = ""
    stands: int = 0
    refused: int = 0
    failed: int = 0
    plans: int = 0
    distance: float = 0.0
    fastest: float = 0.0


class Joystick(Links):
    """Random commands for a loop; `mixed` are the gaits to change between, none to keep the one there is."""

    def __init__(self, seed: int, limits: tuple[float, float, float], mixed: Sequence[str] = ()) -> None:
        """`limits` are those of the speed ahead and to the left [m/s] and of the turn [rad/s]."""
        self._rng = np.random.default_rng([seed, 5])
        self._limits, self._gaits = limits, mixed
        self._next_command = self._next_gait = 0.0
        self._forward = 0.0

    def speed(self, speed: float, now: float) -> float:
        """The commanded speed ahead [m/s], whatever the options say."""
        return self._forward

    def move(self, loop: ClosedLoop) -> None:
        """Command what is due to a loop before its next tick."""
        now = loop.simulator.time
        if now >= self._next_command:
            self._next_command = now + self._rng.uniform(*_COMMANDS)
            self._forward, left, turn = (self._axis(limit) for limit in self._limits)
            loop.steering = (turn, left)
            if self._gaits:
                bounds = specs(loop.planner.config.reference)
                names = ("height", "roll", "pitch")
                ranges = [(bounds[name].low or 0.0, bounds[name].high or 0.0) for name in names]
                loop.pose = BodyPose(*(float(self._rng.uniform(low, high)) for low, high in ranges))
        if self._gaits and now >= self._next_gait:
            self._next_gait = now + self._rng.uniform(*_GAITS)
            gait = self._gaits[int(self._rng.integers(len(self._gaits)))]
            loop.planner.configure(replace(loop.planner.config, {"gait.name": gait}))

    def _axis(self, limit: float) -> float:
        draw, value = self._rng.uniform(), float(self._rng.uniform(-limit, limit))
        if draw < _ENDS:
            return float(np.copysign(limit, value))
        return 0.0 if draw < 1.5 * _ENDS else value


def run(item: Case) -> JoystickOutcome:
    """Run one closed loop under a joystick until it falls."""
    options, gaits = item.options, moving_gaits() if item.group == MIXED else ()
    limit = PlannerConfig().reference.speed_limit
    stick = Joystick(options.seed, (limit, limit, MOST_TURN), gaits)
    loop = ClosedLoop(options, links=stick)
    for gait in gaits:
        loop.planner.know(gait)
    before, distance, fastest = loop.simulator.read().position, 0.0, 0.0
    while loop.simulator.time < options.duration and loop.controller.fault is None:
        stick.move(loop)
        loop.tick()
        state = loop.simulator.truth().state
        distance, before = distance + float(np.hypot(*(state.position - before)[:2])), state.position
        fastest = max(fastest, float(np.hypot(*state.linear_velocity[:2])))
    solves, fault, retreat = loop.recorder.finish().solves, loop.controller.fault, loop.controller.retreat
    told = fault or retreat
    return JoystickOutcome(
        item.group,
        options.seed,
        fall="" if told is None else f"{told.time:.2f} s: {told}",
        stands=loop.controller.retreats,
        refused=sum(loop.controller.move.refusals.values()),
        failed=int((~solves["ok"].astype(bool)).sum()),
        plans=len(solves["ok"]),
        distance=distance,
        fastest=fastest,
    )


def table(outcomes: Sequence[JoystickOutcome]) -> Table:
    """Runs by gait: how many held, and what became of the others."""
    columns: dict[str, Any] = {
        "gait": lambda own: own[0].group,
        "runs": len,
        "held": lambda own: share(not one.fall for one in own).successes,
        "95 %": lambda own: share(not one.fall for one in own).percent,
        "refused": lambda own: sum(one.refused for one in own),
        "failed": lambda own: sum(one.failed for one in own),
        "plans": lambda own: sum(one.plans for one in own),
        "fastest, m/s": lambda own: f"{max(one.fastest for one in own):.1f}",
        "first fall": lambda own: next((f"#{one.seed} {one.fall}" for one in own if one.fall), ""),
    }
    return table_of("A joystick at full range", grouped(outcomes, lambda one: one.group).values(), columns)


def runs(gaits: Sequence[str], seeds: Sequence[int], duration: float, **chosen: Any) -> list[Case]:
    """Every gait, or :data:`MIXED`, with every seed; `chosen` are the user's parameters."""
    found = []
    for gait in gaits:
        name = moving_gaits()[0] if gait == MIXED else gait
        base = bounding({**SENSOR_NOISE, **chosen, "planner.gait.name": name}, 0.0, duration=duration)
        found += cases(base, {gait: {f"{gait} #{seed}": {"seed": seed} for seed in seeds}})
    return found


def _measure(run_of: Run) -> Findings:
    options = run_of.options
    duration, number = (8.0, 1) if options.quick else (options.duration, options.seeds)
    seeds = range(options.seed, options.seed + number)
    gaits = options.only or [*moving_gaits(), *([MIXED] if options.mixed else ())]
    chosen = dict(options.set)
    settings = {"quick": options.quick, "gaits": gaits, "seeds": list(seeds), "duration": duration, "overrides": chosen}
    items = runs(gaits, seeds, duration, **chosen)
    outcomes = journalled(run, items, run_of, settings, JoystickOutcome)
    return Findings(
        settings=settings,
        results={"outcomes": outcomes},
        tables=[table(outcomes)],
        exit_code=0 if not any(one.fall for one in outcomes) else 1,
    )


OPTIONS = (
    option("--only", action="append", metavar="GAIT", help=f"of the packaged gaits, or {MIXED}; repeatable"),
    option("--mixed", action="store_true", help="runs, too, in which gait and trunk pose change"),
    option("--duration", type=float, default=60.0, metavar="S", help="of a run [s] (default: 60)"),
    count("--seeds", 10, "of commands and noise"),
    option("--seed", type=int, default=0, metavar="N", help="the first of them (default: 0)"),
    add_engine_options,
    add_setting_option,
)

BENCHMARK = Benchmark("joystick", __doc__, "one short run of each gait", _measure, OPTIONS, resumable=True)
