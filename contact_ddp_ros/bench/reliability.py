"""`contact-ddp bench reliability`: what the robot does when what it is told is missing, late or wrong.

Every kind of fault (:mod:`contact_ddp_ros.bench.faults`) on the state, the policy, the velocity command and the clock,
injected for half a second while the robot bounds, in lock-step, from seeded instants of the gait on. What must hold:

* a fault of the state or the clock ends in damping within 20 ms of the first tick of an unbroken fault;
* one of the policy never ends in damping: the last good policy is followed until its horizon ends, then the robot
  stands; one of the velocity command need not end the bound;
* no torque beyond the actuators' limits and no number that is none, at any tick;
* once the fault is over, a request to stand and one to bound bring the robot back to where it was.

The exit code is 0 where all of that holds, 1 otherwise.
"""

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

import numpy as np
from rich import box
from rich.table import Table

from contact_ddp_ros.bench.arguments import benchmark_parser
from contact_ddp_ros.bench.bounding import SPEED, STANDING, bounding_loop
from contact_ddp_ros.bench.engine import add_engine_options, chosen_engine
from contact_ddp_ros.bench.faults import FAULTS, KINDS, Fault
from contact_ddp_ros.bench.jobs import run_all
from contact_ddp_ros.bench.output import console, save_record
from contact_ddp_ros.closed_loop import CONTROL_PERIOD, ClosedLoop
from contact_ddp_ros.control.modes import ControlMode
from contact_ddp_ros.errors import ContactDdpError
from contact_ddp_ros.files import new_folder, write_text
from contact_ddp_ros.report.terminal import say
from contact_ddp_ros.robot.model import load_robot

LIMITS = {"state": 0.02, "clock": 0.02}
"""Longest time from the beginning of a fault to damping [s]; policy and velocity command have none."""

TABLE_FILE = "reliability.md"

_HISTORY = 0.35
"""Before a fault, from when on it listens to what it may hand out late [s]."""

_STAND_PATIENCE = 5.0
"""Longest way up after a fault [s]."""

_SPEED_BAND = 0.15
"""Mean speed of the last cycle, about the command [m/s]."""

_CYCLE = 0.36
"""[s]"""


@dataclass(frozen=True)
class Course:
    """How long the parts of a run are [s].

    Attributes:
        before: bounding, until the first instant at which the fault may begin. fault: its length.
        after: from its end to the request to stand. again: bounding afterwards, until the speed is looked at.
    """

    before: float = 1.0
    fault: float = 0.5
    after: float = 0.5
    again: float = 1.5


QUICK = Course(before=0.45, after=0.2, again=0.5)


@dataclass(frozen=True)
class Injection:
    """One run: what is faulty, how, and from which seed."""

    target: str
    kind: str
    seed: int
    course: Course = Course()
    cost: float = 1.0

    @property
    def name(self) -> str:
        """Unique among the injections of a benchmark."""
        return f"{self.target}, {self.kind}, seed {self.seed}"


@dataclass
class Reaction:
    """What one run showed.

    Attributes:
        injection: that was run.
        damped_after: from the beginning of an unbroken fault to damping [s]; NaN where it did not damp.
        fault: named by the controller; empty where there was none.
        bounding: whether it bounded throughout.
        stood: whether it came to a stand by itself, for want of policies.
        torque_share: largest torque that was fed forward, as a share of the actuator's limit.
        applied_share: the same of the torque that the simulated actuators gave.
        rearmed: whether it stood and bounded again afterwards, at the speed commanded.
        failed: the error that ended the run; empty where there was none.
    """

    injection: Injection
    damped_after: float = float("nan")
    fault: str = ""
    bounding: bool = True
    stood: bool = False
    torque_share: float = 0.0
    applied_share: float = 0.0
    rearmed: bool = False
    failed: str = ""

    @property
    def complaints(self) -> list[str]:
        """What did not hold of what must; empty where all did."""
        limit = LIMITS.get(self.injection.target)
        found = [self.failed] if self.failed else []
        if limit is not None and not self.damped_after <= limit + 1e-6:
            found.append(f"damped after {1e3 * self.damped_after:.0f} ms, allowed: {1e3 * limit:.0f} ms")
        if self.injection.target == "velocity" and not self.bounding:
            found.append("the bound ended")
        if self.injection.target == "policy" and self.fault:
            found.append(f"damped: {self.fault}")
        if not max(self.torque_share, self.applied_share) <= 1.0 + 1e-6:
            found.append(f"torque at {max(self.torque_share, self.applied_share):.3f} of the limit")
        if not self.rearmed:
            found.append("did not bound again")
        return found


def main(arguments: Sequence[str]) -> int:
    """Inject, print, save."""
    options = _parse(arguments)
    engine = chosen_engine(options)
    seeds = range(options.seed, options.seed + (1 if options.quick else options.seeds))
    course = QUICK if options.quick else Course()
    injections = [Injection(target, kind, seed, course) for target in FAULTS for kind in KINDS for seed in seeds]
    folder = new_folder("bench-reliability", options.out)
    terminal = console()
    reactions = run_all(inject, injections, engine, terminal)
    rows = [_Row.of(reactions, target, kind) for target in FAULTS for kind in KINDS]
    save_record(
        folder,
        "reliability",
        {"quick": options.quick, "seeds": list(seeds), "limits": LIMITS},
        {"reactions": [{**asdict(one), "complaints": one.complaints} for one in reactions]},
    )
    write_text(folder / TABLE_FILE, _markdown(rows))
    from contact_ddp_ros.bench import reliability_figure

    reliability_figure.draw(reactions, LIMITS, folder / "reliability.png")
    terminal.print(_table(rows))
    for one in reactions:
        for complaint in one.complaints:
            say(terminal, f"[red]{one.injection.name}: {complaint}[/]")
    say(terminal, f"Saved in {folder}")
    return 1 if any(one.complaints for one in reactions) else 0


def inject(injection: Injection) -> Reaction:
    """One run; whatever escapes from it is a finding, not an end."""
    reaction = Reaction(injection)
    try:
        _Run(injection, reaction).run()
    except Exception as error:  # noqa: BLE001  (an exception that a fault lets escape is just what is looked for)
        reaction.failed = f"{type(error).__name__}: {error}"
    return reaction


@dataclass
class _Run:
    """One closed loop with a fault in it, stepped to its end."""

    injection: Injection
    reaction: Reaction
    loop: ClosedLoop = field(init=False)
    fault: Fault = field(init=False)

    def __post_init__(self) -> None:
        injection, robot = self.injection, load_robot()
        number = (list(FAULTS).index(injection.target), KINDS.index(injection.kind))
        phase = float(np.random.default_rng((injection.seed, *number)).uniform(0.0, _CYCLE))
        begin = CONTROL_PERIOD * round((STANDING + injection.course.before + phase) / CONTROL_PERIOD)
        make, end = FAULTS[injection.target], begin + injection.course.fault
        self.fault = make(injection.kind, begin, end, injection.seed, robot.effort_limits)
        self.loop = bounding_loop(injection.course.before - _HISTORY, self.fault)
        self._limits = robot.effort_limits

    def run(self) -> None:
        fault, reaction = self.fault, self.reaction
        self._until(fault.begin)
        if self.loop.controller.mode is not ControlMode.BOUND:
            raise ContactDdpError(f"it did not bound before the fault: {self.loop.controller.fault}")
        self._watch(fault.end)
        self._until(fault.end + self.injection.course.after)
        reaction.rearmed = self._rearm()
        reaction.torque_share = fault.torque_share
        applied = np.abs(self.loop.recorder.finish().ticks["torques"]) / self._limits
        reaction.applied_share = float(applied.max()) if np.isfinite(applied).all() else float("inf")

    def _watch(self, end: float) -> None:
        """Through the fault, until a little after its end: when the controller damps, and why."""
        controller, reaction = self.loop.controller, self.reaction
        while self._now < end + self.injection.course.after / 2:
            now, onset = self._now, self.fault.onset
            self.loop.tick()
            onset = min(onset, self.fault.onset)
            reaction.bounding &= controller.mode is ControlMode.BOUND
            reaction.stood |= controller.mode is ControlMode.STAND
            if controller.mode is ControlMode.DAMP and np.isnan(reaction.damped_after):
                reaction.fault = "" if controller.fault is None else controller.fault.violation.value
                reaction.damped_after = now - onset if np.isfinite(onset) else float("inf")

    def _rearm(self) -> bool:
        """Stand up and bound again where it damps; whether it bounds at the commanded speed at the end."""
        controller = self.loop.controller
        if controller.mode is not ControlMode.BOUND:
            if not controller.request(ControlMode.STAND).accepted:
                return False
            give_up = self._now + _STAND_PATIENCE
            while not controller.standing:
                if controller.fault is not None or self._now > give_up:
                    return False
                self.loop.tick()
            if not controller.request(ControlMode.BOUND).accepted:
                return False
        self._until(self._now + self.injection.course.again)
        start = self.loop.simulator.true_state()
        self._until(self._now + _CYCLE)
        end = self.loop.simulator.true_state()
        distance = float(np.linalg.norm((end.position - start.position)[:2]))
        near = abs(distance / (end.time - start.time) - SPEED) < _SPEED_BAND
        return controller.mode is ControlMode.BOUND and near

    def _until(self, time: float) -> None:
        while self._now < time - 1e-9:
            self.loop.tick()

    @property
    def _now(self) -> float:
        return self.loop.simulator.time


@dataclass(frozen=True)
class _Row:
    """What the runs of one kind of fault had in common."""

    target: str
    kind: str
    runs: int
    good: int
    slowest: float
    stood: int
    faults: str
    torque: float
    rearmed: int

    @classmethod
    def of(cls, reactions: Sequence[Reaction], target: str, kind: str) -> "_Row":
        runs = [one for one in reactions if (one.injection.target, one.injection.kind) == (target, kind)]
        delays = [one.damped_after for one in runs if not np.isnan(one.damped_after)]
        return cls(
            target=target,
            kind=kind,
            runs=len(runs),
            good=sum(not one.complaints for one in runs),
            slowest=max(delays, default=float("nan")),
            stood=sum(one.stood for one in runs),
            faults=", ".join(sorted({one.fault for one in runs if one.fault})),
            torque=max(max(one.torque_share, one.applied_share) for one in runs),
            rearmed=sum(one.rearmed for one in runs),
        )

    def cells(self) -> tuple[str, ...]:
        """As text, in the order of the headings."""
        quiet = f"stands ({self.stood} of {self.runs})" if self.stood else "goes on bounding"
        reaction = quiet if np.isnan(self.slowest) else f"damping, {self.faults}"
        slowest = "" if np.isnan(self.slowest) else f"{1e3 * self.slowest:.0f} ms"
        limit = f"{1e3 * LIMITS[self.target]:.0f} ms" if self.target in LIMITS else ""
        torque = f"{100.0 * self.torque:.0f} %"
        return self.target, self.kind, reaction, slowest, limit, torque, f"{self.rearmed}/{self.runs}"


_HEADINGS = ("of", "fault", "reaction", "at latest after", "allowed", "torque / limit", "bounds again")


def _table(rows: Sequence[_Row]) -> Table:
    table = Table(title="Faults while bounding", box=box.SIMPLE_HEAD, title_justify="left")
    for heading in (*_HEADINGS, ""):
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*row.cells(), "[green]held[/]" if row.good == row.runs else "[red]failed[/]")
    return table


def _markdown(rows: Sequence[_Row]) -> str:
    """The same for the documentation."""
    lines = [_HEADINGS, ("---",) * len(_HEADINGS), *(row.cells() for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = benchmark_parser("reliability", __doc__, quick="one seed, shorter runs, in under a minute")
    parser.add_argument("--seeds", type=int, default=8, metavar="N", help="runs of each fault (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="the first (default: 0)")
    add_engine_options(parser)
    options = parser.parse_args(arguments)
    if options.seeds < 1:
        parser.error(f"--seeds is {options.seeds}; it must be at least 1")
    return options
