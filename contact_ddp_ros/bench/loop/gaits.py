"""`contact-ddp bench gaits`: every packaged gait under commands ahead, to the side and around, in lock-step.

A run holds where the robot does not fall, moves at the end, and follows: forward and sideways speed within 2 % or
0.02 m/s, the turn within 10 %. Runs have the sensor noise of `bench robustness`, and `--seeds` of it. The gaits that a
model cannot move are left out. Solve times are wall-clock times of one thread, beside whatever else the machine does.
"""

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.colors import ListedColormap
from rich.table import Table

from contact_ddp_ros.bench.benchmark import Benchmark, Findings, Run, add_setting_option, at_least
from contact_ddp_ros.bench.engine import add_engine_options, chosen_engine, run_all
from contact_ddp_ros.bench.journal import Journal
from contact_ddp_ros.bench.loop.scenarios import NOISE
from contact_ddp_ros.bench.output import new_table
from contact_ddp_ros.bench.statistics import wilson
from contact_ddp_ros.closed_loop import ClosedLoop
from contact_ddp_ros.errors import ContactDdpError, ParameterError
from contact_ddp_ros.fitting import for_model
from contact_ddp_ros.gaits.gait import packaged_gaits
from contact_ddp_ros.models.choice import MODELS
from contact_ddp_ros.mpc.config import PlannerConfig
from contact_ddp_ros.mpc.reference import gait_schedule
from contact_ddp_ros.options import MODEL_NAMES, RunOptions
from contact_ddp_ros.recording.record import CONTROL_MODES
from contact_ddp_ros.report.style import figure, name_rows
from contact_ddp_ros.robot.rotation import quaternion_to_rpy

SETTLED = 5.0
"""Figures count from here on [s]."""


@dataclass(frozen=True)
class Command:
    """Speed ahead and to the left [m/s], and rate of the heading [rad/s]."""

    forward: float
    left: float = 0.0
    turn: float = 0.0

    def __str__(self) -> str:
        """For tables."""
        aside = f", {self.left:g} left" if self.left else ""
        return f"{self.forward:g} m/s{aside}" + (f", {self.turn:g} rad/s" if self.turn else "")


COMMANDS = (
    *(Command(speed) for speed in (0.0, 0.5, 1.0, 1.5, 2.0)),
    Command(-0.5),
    Command(0.3, left=0.3),
    Command(0.5, turn=1.0),
    Command(0.0, turn=-1.0),
)


@dataclass(frozen=True)
class GaitRun:
    """One run of a gait under a command, with one seed of the noise."""

    gait: str
    command: Command
    options: RunOptions

    @property
    def name(self) -> str:
        """Unique in the whole table."""
        return f"{self.gait} {self.command} #{self.options.seed}"

    @property
    def cost(self) -> float:
        """Its simulated time [s]."""
        return self.options.duration


@dataclass(frozen=True)
class GaitOutcome:
    """Why it fell or failed; else means after SETTLED [m/s, rad/s] and quantiles of the solve times [ms]."""

    gait: str
    command: str
    fall: str = ""
    forward: float | None = None
    left: float | None = None
    turn: float | None = None
    follows: bool = False
    solve_median: float | None = None
    solve_p99: float | None = None


def run(item: GaitRun) -> dict[str, Any]:
    """Run one closed loop and look at what became of it: the fields of a GaitOutcome."""
    return asdict(_outcome(item))


def _outcome(item: GaitRun) -> GaitOutcome:
    command, about = item.command, GaitOutcome(item.gait, str(item.command))
    try:
        recording = ClosedLoop(item.options).run()
    except ContactDdpError as error:
        return replace(about, fall=f"failed: {error}")
    fault = next((event for event in recording.events if event.fault), None)
    if fault is not None:
        return replace(about, fall=f"{fault.time:.2f} s: {fault.text}")
    ticks = recording.ticks
    late = ticks["time"] >= min(SETTLED, 0.6 * item.options.duration)
    if (ticks["control_mode"][late] != CONTROL_MODES.index("move")).any():
        return replace(about, fall="not moving")
    yaw = np.unwrap([quaternion_to_rpy(one)[2] for one in ticks["orientation"][late]])
    time = ticks["time"][late]
    forward, left = (float(one) for one in recording.heading_velocity[late, :2].mean(axis=0))
    turn = float((yaw[-1] - yaw[0]) / (time[-1] - time[0]))
    follows = (
        abs(forward - command.forward) <= max(0.02 * abs(command.forward), 0.02)
        and abs(left - command.left) <= max(0.02 * abs(command.left), 0.02)
        and abs(turn - command.turn) <= max(0.1 * abs(command.turn), 0.05)
    )
    median, p99 = np.percentile(recording.solves["solve_ms"], [50.0, 99.0])
    return replace(
        about,
        forward=forward,
        left=left,
        turn=turn,
        follows=bool(follows),
        solve_median=float(median),
        solve_p99=float(p99),
    )


def gaits_of(model: str) -> list[str]:
    """The packaged gaits that a model can move."""
    found, config = [], for_model(PlannerConfig(), model).gait
    for name in packaged_gaits():
        try:
            gait_schedule(MODELS[model], replace(config, name=name))
        except ParameterError:
            continue
        found.append(name)
    return found


def _table(model: str, outcomes: Sequence[GaitOutcome]) -> Table:
    table = new_table(
        f"Gaits, {model} model", "gait", "command", "runs", "held", "95 %", "forward", "left", "turn", "solve, ms"
    )
    for gait in dict.fromkeys(one.gait for one in outcomes):
        for command in dict.fromkeys(one.command for one in outcomes):
            own = [one for one in outcomes if (one.gait, one.command) == (gait, command)]
            if not own:
                continue
            held = sum(one.follows for one in own)
            interval = wilson(held, len(own))
            bounds = f"{100 * interval.lower:.0f} to {100 * interval.upper:.0f} %"
            table.add_row(gait, command, str(len(own)), str(held), bounds, *_figures(own))
    return table


def _figures(outcomes: Sequence[GaitOutcome]) -> list[str]:
    """Means of the runs that did not fall, and their solve times; where all fell: why the first did."""
    up = [one for one in outcomes if not one.fall]
    if not up:
        return [outcomes[0].fall, "", "", ""]
    means = [f"{np.mean([getattr(one, name) for one in up]):.3f}" for name in ("forward", "left", "turn")]
    median, p99 = (np.array([getattr(one, name) for one in up]) for name in ("solve_median", "solve_p99"))
    return [*means, f"{np.median(median):.1f}, p99 {np.max(p99):.1f}"]


def draw(outcomes: Sequence[GaitOutcome], path: Path) -> None:
    """Draw which gait follows which command: share of the runs."""
    gaits, commands = (list(dict.fromkeys(getattr(one, name) for one in outcomes)) for name in ("gait", "command"))
    shares = np.full((len(gaits), len(commands)), np.nan)
    for i, gait in enumerate(gaits):
        for j, command in enumerate(commands):
            own = [one.follows for one in outcomes if (one.gait, one.command) == (gait, command)]
            shares[i, j] = np.mean(own) if own else np.nan
    with figure(path, 9.0, 0.4 * len(gaits) + 2.2, "Gaits and commands") as drawn:
        axes = drawn.subplots()
        axes.imshow(shares, cmap=ListedColormap(["#d55e00", "#e69f00", "#009e73"]), vmin=0.0, vmax=1.0, aspect="auto")
        name_rows(axes, gaits, size=8)
        axes.set_xticks(range(len(commands)), commands, rotation=30, ha="right", fontsize=8)
        for (i, j), share in np.ndenumerate(shares):
            axes.text(j, i, f"{100 * share:.0f} %", ha="center", va="center", fontsize=8)
        axes.set_xlabel("runs that follow the command without a fall")


def _measure(run_of: Run) -> Findings:
    options = run_of.options
    duration, seeds = (8.0, 1) if options.quick else (20.0, options.seeds)
    commands = COMMANDS[1:2] if options.quick else COMMANDS
    wanted = [name for name in gaits_of(options.model) if not options.only or name in options.only]
    noise = {f"simulator.noise.{name}": deviation for name, deviation in NOISE.items()}
    items = []
    for gait in wanted:
        overrides = {**noise, **dict(options.set), "planner.model": options.model, "planner.gait.name": gait}
        for command in commands:
            ahead = {"speed": ((0.0, command.forward),), "left": command.left, "turn": command.turn}
            common = RunOptions(duration=duration, video=False, overrides=overrides, **ahead)  # type: ignore[arg-type]
            items += [GaitRun(gait, command, replace(common, seed=seed)) for seed in range(seeds)]
    settings = {"quick": options.quick, "model": options.model, "seeds": seeds, "overrides": dict(options.set)}
    resume = options.resume is not None
    with Journal.begin_or_resume(run_of.folder, {**settings, "only": options.only}, resume=resume) as journal:
        found = run_all(run, items, chosen_engine(options), run_of.terminal, journal)
    outcomes = [GaitOutcome(**one) for one in found]
    return Findings(
        settings=settings,
        results={"outcomes": [asdict(one) for one in outcomes]},
        tables=[_table(options.model, outcomes)],
        drawings={"gaits.png": lambda path: draw(outcomes, path)},
        exit_code=0 if all(one.follows for one in outcomes) else 1,
    )


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", choices=MODEL_NAMES, default="whole_body", help="what is planned for")
    parser.add_argument("--only", action="append", metavar="GAIT", help="of the packaged gaits; repeatable")
    parser.add_argument("--seeds", type=at_least(1), default=3, metavar="N", help="of the sensor noise (default: 3)")
    add_engine_options(parser)
    add_setting_option(parser)


BENCHMARK = Benchmark("gaits", __doc__, "one short run of each gait", _measure, _add_options, resumable=True)
