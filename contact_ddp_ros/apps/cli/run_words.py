"""The words of the command line about runs as data: lay some over each other, make many, hand one to other programs."""

import argparse
from pathlib import Path
from typing import Any

from contact_ddp_ros.apps.cli import jobs
from contact_ddp_ros.apps.cli.groups import DEFAULTS, add_common, add_course, add_robot, add_world
from contact_ddp_ros.apps.cli.values import parse_whole
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.plants.engines import add_engine_option

_SWEEP_EXAMPLES = """
examples:
  contact-ddp sweep --set planner.weight.pitch=20:80:7 --metric pitch_abs_max
  contact-ddp sweep --set planner.weight.pitch=20:80:7 --set speed=0.5:1.5:5 --metric mean_speed --metric fell
  contact-ddp sweep --set friction=0.2:0.8:4 --seeds 5 --noise --push 3,0,40,0,0.1 --metric roll_abs_max
  contact-ddp sweep --set gait=bound,pronk --set variant=ilqr,ddp --metric iterations_per_solve

In the study's folder: study.csv (a line for each run), study.json, a figure for each metric, journal.jsonl. The same
command again goes on where it was cut off, and takes what is finished from there.
"""


_MOTION_EXAMPLES = """
examples:
  contact-ddp motion jump
  contact-ddp motion backflip --trials 20       also from 20 perturbed starts, in perturbed worlds
  contact-ddp motion my_jump.yaml --friction 0.6

In the output folder: what `sim` leaves, and motion.png.
exit status: 0 it landed and stands, 1 failed, 2 bad option or parameter, 3 it fell, 130 interrupted.
"""


def add_run_words(words: Any) -> None:
    """Add all of them to the words that there are."""
    _add_compare(words)
    _add_sweep(words)
    _add_export(words)
    _add_motion(words)


def _add_compare(words: Any) -> None:
    parser = words.add_parser(
        "compare",
        help="lay recorded runs over each other",
        description="Compare recorded runs: what differs in their commands and parameters, their figures, and their "
        "courses over time and over the gait's cycle. See docs/runs.md.",
    )
    parser.set_defaults(job=_compare)
    parser.add_argument(
        "folders", type=Path, nargs="+", metavar="RUN", help="folder of a recorded run; the first is compared with"
    )
    parser.add_argument(
        "--name",
        action="append",
        default=[],
        metavar="TEXT",
        help="what to call a run in tables and legends, once for each in their order (default: the folder's name)",
    )
    parser.add_argument("--all", action="store_true", help="print what is the same, too")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="new or empty folder (default: out/compare-<time>)")


def _compare(arguments: argparse.Namespace) -> int:
    from contact_ddp_ros.apps.cli.compare import compare

    return compare(arguments)


def _add_sweep(words: Any) -> None:
    parser = words.add_parser(
        "sweep",
        help="run a study over parameters, in parallel",
        description="Run the closed loop of `contact-ddp sim` at every point of a grid. See docs/runs.md.",
        epilog=_SWEEP_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(job=_sweep, backend=DEFAULTS.backend, composed=DEFAULTS.composed, no_video=True, set=[])
    study = parser.add_argument_group("study")
    study.add_argument(
        "--set",
        dest="axes",
        type=_axis,
        action="append",
        default=[],
        metavar="NAME=LOW:HIGH:COUNT",
        help="vary a parameter, with its section, or speed, friction, trunk_mass_scale, planner_delay, ground, "
        "variant, gait or robot; also NAME=A,B,C, and NAME=VALUE for all runs; repeatable",
    )
    study.add_argument(
        "--metric",
        action="append",
        default=[],
        metavar="NAME",
        help="a figure of summary.json to print and draw, such as solve_ms.median; repeatable (default: mean_speed)",
    )
    study.add_argument(
        "--seeds", type=parse_whole, default=1, metavar="N", help="runs of each point, from --seed on (default: 1)"
    )
    study.add_argument("--noise", action="store_true", help="give the measured states the noise of the benchmarks")
    study.add_argument("--jobs", type=parse_whole, metavar="N", help="processes, of one thread each (default: cores)")
    study.add_argument("--keep", action="store_true", help="keep the recording of every run, in runs/")
    study.add_argument(
        "--record-plans",
        type=int,
        default=0,
        metavar="N",
        help="with --keep, the plan of every Nth solve, too (default: none)",
    )
    study.add_argument("--out", type=Path, metavar="FOLDER", help="of the study (default: out/sweep-<digest of it>)")
    add_robot(parser)
    add_course(parser)
    add_world(parser)
    add_common(parser, setting=False)


def _axis(text: str) -> Any:
    from contact_ddp_ros.runs.study.axes import parse_axis

    try:
        return parse_axis(text)
    except ParameterError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _sweep(arguments: argparse.Namespace) -> int:
    from contact_ddp_ros.apps.cli.sweep import sweep

    return sweep(arguments)


def _add_export(words: Any) -> None:
    parser = words.add_parser(
        "export",
        help="write a recorded run for Foxglove or rerun",
        description="Write a recorded run (robot, plan and its ghost, forces, contacts, numbers, events) as a file of "
        "another program. See docs/runs.md.",
    )
    parser.set_defaults(job=_export)
    parser.add_argument("folder", type=Path, metavar="RUN", help="folder of a recorded run")
    parser.add_argument(
        "--to", choices=("mcap", "rerun"), required=True, help="mcap: for Foxglove; rerun: an .rrd file"
    )
    parser.add_argument(
        "-o", "--out", type=Path, metavar="FILE", help="file to write or overwrite (default: run.mcap, run.rrd in RUN)"
    )


def _export(arguments: argparse.Namespace) -> int:
    from contact_ddp_ros.apps.cli.export import export

    return export(arguments)


def _add_motion(words: Any) -> None:
    parser = words.add_parser(
        "motion",
        help="a jump, a flip or a recovery from lying, optimised offline and executed in the simulator",
        description="Optimise a motion into a stand by DDP with impacts and hard limits, execute it in "
        "simulation, print how it went, plot and film it. See docs/motions.md.",
        epilog=_MOTION_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(job=jobs.run_motion)
    parser.add_argument(
        "name",
        metavar="MOTION",
        help="jump, jump_up, backflip, backflip_whole_body, barrel_roll, running_barrel_roll, recovery, recovery_side, "
        "or the path of a .yaml file",
    )
    parser.add_argument(
        "--variant",
        choices=("ddp", "ilqr"),
        default="ddp",
        help="of the solver: with the exact second order or without (default: ddp)",
    )
    parser.add_argument(
        "--friction",
        type=float,
        default=DEFAULTS.friction,
        metavar="MU",
        help=f"friction coefficient of the simulated ground (default: {DEFAULTS.friction})",
    )
    parser.add_argument(
        "--trunk-mass-scale", type=float, default=1.0, metavar="X", help="simulated trunk mass over the nominal one"
    )
    add_engine_option(parser)
    parser.add_argument(
        "--no-feedback", action="store_true", help="track states and torques without the policy's feedback gains"
    )
    parser.add_argument(
        "--trials", type=int, default=0, metavar="N", help="also execute it from N perturbed starts (default: none)"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the first of them (default: 0)")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="new or empty folder (default: out/motion-<time>)")
    parser.add_argument("--no-video", action="store_true", help="do not render a video")
