"""`contact-ddp bench reliability`: what the robot does when what it is told is missing, late or wrong.

Every kind of fault (:mod:`benchmarks.loop.faults`) on the state, the policy, the velocity command and the
clock, injected for half a second while the robot bounds, in lock-step, from seeded instants of the gait on. What must
hold:

* a fault of the state or the clock ends in damping within 20 ms of the first tick of an unbroken fault;
* one of the policy never ends in damping: the last good policy is followed until its horizon ends, then the robot
  stands; one of the velocity command need not end the bound;
* no torque beyond the actuators' limits and no number that is none, at any tick;
* once the fault is over, a request to stand and one to bound bring the robot back to where it was.

The exit code is 0 where all of that holds, 1 otherwise.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.benchmark import Benchmark, Findings, Run, count, option
from benchmarks.engine import add_engine_options, do
from benchmarks.loop.faults import FAULTS, KINDS
from benchmarks.loop.injection import LIMITS, QUICK, Course, Injection, Reaction, inject
from benchmarks.output import record_of, table_of
from contact_ddp_ros.base.files import write_text
from contact_ddp_ros.runs.report import style
from contact_ddp_ros.runs.study.statistics import grouped

TABLE_FILE = "reliability.md"


def by_fault(reaction: Reaction) -> tuple[str, str]:
    """What was faulty in a run, and how."""
    return reaction.injection.target, reaction.injection.kind


@dataclass(frozen=True)
class ReactionRow:
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
    def of(cls, runs: Sequence[Reaction]) -> "ReactionRow":
        """Of the reactions to one kind of fault of one link."""
        target, kind = by_fault(runs[0])
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

    @property
    def reaction(self) -> str:
        """What the controller did, for people."""
        if not np.isnan(self.slowest):
            return f"damping, {self.faults}"
        return f"stands ({self.stood} of {self.runs})" if self.stood else "goes on bounding"


COLUMNS: Mapping[str, Callable[[ReactionRow], str]] = {
    "of": lambda row: row.target,
    "fault": lambda row: row.kind,
    "reaction": lambda row: row.reaction,
    "at latest after": lambda row: "" if np.isnan(row.slowest) else f"{1e3 * row.slowest:.0f} ms",
    "allowed": lambda row: f"{1e3 * LIMITS[row.target]:.0f} ms" if row.target in LIMITS else "",
    "torque / limit": lambda row: f"{100.0 * row.torque:.0f} %",
    "bounds again": lambda row: f"{row.rearmed}/{row.runs}",
}


def _verdict(row: ReactionRow) -> str:
    return "[green]held[/]" if row.good == row.runs else "[red]failed[/]"


def markdown(rows: Sequence[ReactionRow]) -> str:
    """The table for the documentation."""
    lines = [tuple(COLUMNS), ("---",) * len(COLUMNS), *([cell(row) for cell in COLUMNS.values()] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def draw(reactions: Sequence[Reaction], path: Path) -> None:
    """A panel per faulty link that has a limit, a row per kind of fault, a dot per run."""
    targets = [target for target in FAULTS if target in LIMITS]
    with style.figure(path, 9.0, 3.2, "From the beginning of a fault to damping") as drawn:
        panels, found = drawn.subplots(1, len(targets), sharey=True), grouped(reactions, by_fault)
        for axes, target in zip(panels, targets, strict=True):
            for row, kind in enumerate(KINDS):
                runs = found[target, kind]
                delays = 1e3 * np.array([one.damped_after for one in runs])
                spread = row + np.linspace(-0.25, 0.25, len(runs)) if len(runs) > 1 else np.array([float(row)])
                bad = np.array([bool(one.complaints) for one in runs])
                axes.plot(delays[~bad], spread[~bad], "o", color=style.PLANNED, markersize=3)
                axes.plot(delays[bad], spread[bad], "x", color=style.COMMAND, markersize=5)
            limit = 1e3 * LIMITS[target]
            axes.axvline(limit, color=style.LIMIT, linestyle="--")
            axes.set_title(target)
            axes.set_xlabel("[ms]")
            axes.set_xlim(-1.0, 1.25 * limit)
            axes.set_yticks(range(len(KINDS)), KINDS)
        panels[0].invert_yaxis()


def _measure(run: Run) -> Findings:
    options = run.options
    seeds = range(options.seed, options.seed + (1 if options.quick else options.seeds))
    course = QUICK if options.quick else Course()
    injections = [Injection(target, kind, seed, course) for target in FAULTS for kind in KINDS for seed in seeds]
    reactions = do(inject, injections, run)
    rows = [ReactionRow.of(runs) for runs in grouped(reactions, by_fault).values()]
    write_text(run.folder / TABLE_FILE, markdown(rows))
    complaints = [f"[red]{one.injection.name}: {complaint}[/]" for one in reactions for complaint in one.complaints]
    return Findings(
        settings={"quick": options.quick, "seeds": list(seeds), "limits": LIMITS},
        results={"reactions": [record_of(one, "complaints") for one in reactions]},
        tables=[table_of("Faults while bounding", rows, {**COLUMNS, "": _verdict}, text=True)],
        remarks=complaints,
        drawings={"reliability.png": lambda path: draw(reactions, path)},
        exit_code=1 if complaints else 0,
    )


OPTIONS = (
    count("--seeds", 8, "runs of each fault"),
    option("--seed", type=int, default=0, metavar="N", help="the first (default: 0)"),
    add_engine_options,
)

BENCHMARK = Benchmark("reliability", __doc__, "one seed, shorter runs, in under a minute", _measure, OPTIONS)
