"""`contact-ddp bench reliability`: what the robot does when what it is told is missing, late or wrong.

Every kind of fault (:mod:`benchmarks.loop.faults`) on the state, the policy, the velocity command and the
clock, injected for half a second while the robot bounds, in lock-step, from seeded instants of the gait on. What must
hold:

* a fault of the state ends in damping within 80 ms of the first tick of an unbroken fault, one of the clock within 20;
* one of the policy never ends in damping: the last good policy is followed until its horizon ends, then the robot
  stands; one of the velocity command need not end the bound;
* no torque beyond the actuators' limits and no number that is none, at any tick;
* once the fault is over, a request to stand and one to bound bring the robot back to where it was.

The exit code is 0 where all of that holds, 1 otherwise.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.benchmark import count, option
from benchmarks.loop.faults import FAULTS, KINDS, Fault
from benchmarks.loop.harness import CYCLE, SPEED, STANDING, advance, bounding, bounding_loop
from benchmarks.study import Columns, Rows, Study
from contact_ddp_ros.base.files import write_text
from contact_ddp_ros.control.config import SafetyConfig
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.runs.closed_loop import ClosedLoop
from contact_ddp_ros.runs.loop import CONTROL_PERIOD
from contact_ddp_ros.runs.report import style
from contact_ddp_ros.runs.study.study import Case, Figures, Group

LIMITS = {"state": SafetyConfig().state_timeout, "clock": 0.02}
"""Longest time from the beginning of a fault to damping [s]; policy and velocity command have none."""

FULL = {"before": 1.0, "fault": 0.5, "after": 0.5, "again": 1.5}
QUICK = {"before": 0.45, "fault": 0.5, "after": 0.2, "again": 0.5}
"""Durations [s]: bounding until the first instant at which the fault may begin, the fault, from its end to the request
to stand, and bounding afterwards until the speed is looked at."""

_HISTORY = 0.35
"""Time before a fault from which it listens to what it may hand out late [s]."""

_STAND_PATIENCE = 5.0
"""Longest way up after a fault [s]."""

_SPEED_BAND = 0.15
"""Mean speed of the last cycle, about the command [m/s]."""

TABLE_FILE = "reliability.md"


def injections(options: argparse.Namespace) -> list[Case]:
    """Every kind of fault of every link, from every seed."""
    seeds = range(options.seed, options.seed + (1 if options.quick else options.seeds))
    durations = QUICK if options.quick else FULL
    found = []
    for target in FAULTS:
        for kind in KINDS:
            for seed in seeds:
                name, values = f"{target}, {kind}", {"target": target, "kind": kind, **durations}
                found.append(Case(name, f"{name}, seed {seed}", bounding({}, seed=seed), values))
    return found


def inject(case: Case) -> Figures:
    """Reaction to a fault: `damped_after` [s], `reason`, `stood`, `torque` as a share of the limit, `rearmed`, ...

    `fall` names all that must hold and did not; an exception that the fault lets escape is a finding, too.
    """
    reaction: dict[str, Any] = {"damped_after": None, "reason": "", "bounding": True, "stood": False}
    reaction |= {"torque": 0.0, "rearmed": False, "failed": ""}
    try:
        _Injection.of(case).run(reaction)
    except Exception as error:  # noqa: BLE001
        reaction["failed"] = f"{type(error).__name__}: {error}"
    return {"fall": "; ".join(complaints(case.values["target"], reaction)), **reaction}


def complaints(target: str, reaction: Figures) -> list[str]:
    """All that must hold of the reaction to a fault of a link, and did not."""
    limit, damped, torque = LIMITS.get(target), reaction["damped_after"], reaction["torque"]
    found = [reaction["failed"]] if reaction["failed"] else []
    if limit is not None and not (damped is not None and damped <= limit + 1e-6):
        after = "never damped" if damped is None else f"damped after {1e3 * damped:.0f} ms"
        found.append(f"{after}, allowed: {1e3 * limit:.0f} ms")
    if target == "velocity" and not reaction["bounding"]:
        found.append("the bound ended")
    if target == "policy" and reaction["reason"]:
        found.append(f"damped: {reaction['reason']}")
    if not torque <= 1.0 + 1e-6:
        found.append(f"torque at {torque:.3f} of the limit")
    if not reaction["rearmed"]:
        found.append("did not bound again")
    return found


@dataclass
class _Injection:
    """One closed loop with a fault in it, stepped to its end."""

    loop: ClosedLoop
    fault: Fault
    after: float
    again: float

    @classmethod
    def of(cls, case: Case) -> "_Injection":
        values, seed = case.values, case.options.in_effect("seed")
        number = (list(FAULTS).index(values["target"]), KINDS.index(values["kind"]))
        phase = float(np.random.default_rng((seed, *number)).uniform(0.0, CYCLE))
        begin = CONTROL_PERIOD * round((STANDING + values["before"] + phase) / CONTROL_PERIOD)
        make, limits = FAULTS[values["target"]], load_robot().effort_limits
        fault = make(values["kind"], begin, begin + values["fault"], seed, limits)
        return cls(bounding_loop(values["before"] - _HISTORY, fault), fault, values["after"], values["again"])

    def run(self, reaction: dict[str, Any]) -> None:
        """Fill in the reaction as far as it comes."""
        self._go_on_to(self.fault.begin)
        if self.loop.controller.mode is not ControlMode.MOVE:
            reaction["failed"] = f"it did not bound before the fault: {self.loop.controller.fault}"
            return
        self._watch(reaction)
        self._go_on_to(self.fault.end + self.after)
        reaction["rearmed"] = self._rearm()
        applied = np.abs(self.loop.recorder.finish().ticks["torques"]) / load_robot().effort_limits
        largest = float(applied.max()) if np.isfinite(applied).all() else float("inf")
        reaction["torque"] = max(self.fault.torque_share, largest)

    def _watch(self, reaction: dict[str, Any]) -> None:
        """Through the fault, until a little after its end: when the controller damps, and why."""
        controller = self.loop.controller
        while self._now < self.fault.end + self.after / 2:
            now, onset = self._now, self.fault.onset
            self.loop.tick()
            onset = min(onset, self.fault.onset)
            reaction["bounding"] &= controller.mode is ControlMode.MOVE
            reaction["stood"] |= controller.mode is ControlMode.STAND
            if controller.mode is ControlMode.DAMP and reaction["damped_after"] is None:
                reaction["reason"] = "" if controller.fault is None else controller.fault.violation.value
                reaction["damped_after"] = now - onset if np.isfinite(onset) else float("inf")

    def _rearm(self) -> bool:
        """Stand up and bound again where it damps; whether it bounds at the commanded speed at the end."""
        controller = self.loop.controller
        if controller.mode is not ControlMode.MOVE:
            if not controller.request(ControlMode.STAND).accepted:
                return False
            give_up = self._now + _STAND_PATIENCE
            while not controller.standing:
                if controller.fault is not None or self._now > give_up:
                    return False
                self.loop.tick()
            if not controller.request(ControlMode.MOVE).accepted:
                return False
        self._go_on_to(self._now + self.again)
        start = self.loop.plant.truth().state
        self._go_on_to(self._now + CYCLE)
        end = self.loop.plant.truth().state
        distance = float(np.linalg.norm((end.position - start.position)[:2]))
        near = abs(distance / (end.time - start.time) - SPEED) < _SPEED_BAND
        return controller.mode is ControlMode.MOVE and near

    def _go_on_to(self, time: float) -> None:
        advance(self.loop, time, past_faults=True)

    @property
    def _now(self) -> float:
        return self.loop.plant.time


def _delays(group: Group) -> list[float]:
    return [one["damped_after"] for one in group.figures if one["damped_after"] is not None]


def _reaction(group: Group) -> str:
    """Reaction of the controller, for people."""
    if _delays(group):
        reasons = sorted({one["reason"] for one in group.figures if one["reason"]})
        return f"damping, {', '.join(reasons)}"
    stood = group.total("stood")
    return f"stands ({stood} of {len(group.cases)})" if stood else "goes on bounding"


def _torque(group: Group) -> float:
    """Largest share of an actuator's limit; infinite where a torque was no number."""
    return max(np.inf if one["torque"] is None else one["torque"] for one in group.figures)


def _allowed(group: Group) -> str:
    limit = LIMITS.get(group.values["target"])
    return "" if limit is None else f"{1e3 * limit:.0f} ms"


COLUMNS: Columns = {
    "of": lambda group: group.values["target"],
    "fault": lambda group: group.values["kind"],
    "reaction": _reaction,
    "at latest after": lambda group: f"{1e3 * max(_delays(group)):.0f} ms" if _delays(group) else "",
    "allowed": _allowed,
    "torque / limit": lambda group: f"{100.0 * _torque(group):.0f} %",
    "bounds again": lambda group: f"{group.total('rearmed')}/{len(group.cases)}",
}


def markdown(groups: Sequence[Group]) -> str:
    """The table for the documentation."""
    lines = [list(COLUMNS), ["---"] * len(COLUMNS), *([str(cell(one)) for cell in COLUMNS.values()] for one in groups)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def draw(groups: Sequence[Group], path: Path) -> None:
    """A panel per faulty link that has a limit, a row per kind of fault, a dot per run."""
    targets = [target for target in FAULTS if target in LIMITS]
    with style.figure(path, 9.0, 3.2, "From the beginning of a fault to damping") as drawn:
        panels, found = drawn.subplots(1, len(targets), sharey=True), {group.name: group for group in groups}
        for axes, target in zip(panels, targets, strict=True):
            for row, kind in enumerate(KINDS):
                runs = found[f"{target}, {kind}"].figures
                delays = 1e3 * np.array([one["damped_after"] for one in runs], dtype=float)
                spread = row + np.linspace(-0.25, 0.25, len(runs)) if len(runs) > 1 else np.array([float(row)])
                bad = np.array([bool(one["fall"]) for one in runs])
                axes.plot(delays[~bad], spread[~bad], "o", color=style.PLANNED, markersize=3)
                axes.plot(delays[bad], spread[bad], "x", color=style.COMMAND, markersize=5)
            limit = 1e3 * LIMITS[target]
            axes.axvline(limit, color=style.LIMIT, linestyle="--")
            axes.set_title(target)
            axes.set_xlabel("[ms]")
            axes.set_xlim(-1.0, 1.25 * limit)
            axes.set_yticks(range(len(KINDS)), KINDS)
        panels[0].invert_yaxis()


REPORT = Rows(
    "Faults while bounding",
    {**COLUMNS, "": lambda group: "[green]held[/]" if group.held() else "[red]failed[/]"},
    drawings={"reliability.png": draw, TABLE_FILE: lambda groups, path: write_text(path, markdown(groups))},
    falls=True,
)

BENCHMARK = Study(injections, inject, REPORT).benchmark(
    "reliability",
    __doc__,
    "one seed, shorter runs, in under a minute",
    count("--seeds", 8, "runs of each fault"),
    option("--seed", type=int, default=0, metavar="N", help="the first (default: 0)"),
    settable=False,
)
