"""The words and options that `contact-ddp` understands."""

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from contact_ddp_ros import __version__
from contact_ddp_ros.apps.cli.options import RUN, WORLD, add_options, add_word
from contact_ddp_ros.apps.cli.other_words import add_other_words
from contact_ddp_ros.base.arguments import add_option, reader, within
from contact_ddp_ros.base.choices import CONSTRAINTS, INTERIOR_POINT, MODEL_NAMES, SHOOTINGS, WHOLE_BODY
from contact_ddp_ros.base.config import number, whole_number
from contact_ddp_ros.base.errors import did_you_mean
from contact_ddp_ros.runs.options import OPTIONS

PAGE_PORT = 8080
"""Port of the live page."""

_RUN_EXAMPLES = """
examples:
  contact-ddp {job} --duration 20 --speed 1.0
  contact-ddp {job} --speed 0:0,2:1.0,8:0              bound on the spot, at 1 m/s from 2 s on, on the spot from 8 s on
  contact-ddp {job} --stand-time 2 --stop-time 8       stand, bound, stand again
  contact-ddp {job} --push 3,0,40,0,0.1                40 N to the left for 0.1 s, 3 s into the run
  contact-ddp {job} --step 2,0.01                      a step of 1 cm, 2 m ahead, that nobody expects
  contact-ddp {job} --robot go1                        another quadruped, of config/robots
  contact-ddp {job} --variant ilqr --realtime --no-video
  contact-ddp {job} --config my.yaml --set planner.ground.friction=0.5

In the output folder: summary.json, overview.png and other plots, run.mp4, recording.npz with recording.json.
exit status: 0 done, 1 failed, 2 bad option or parameter, 3 done but the robot fell or never stood, 130 interrupted.
"""

_EXAMPLES = """
examples:
  contact-ddp sim --duration 10 --speed 0.5     closed loop in the simulator, without ROS
  contact-ddp play                              the same live in a browser: drive, push, tune
  contact-ddp demo                              the same through the ROS 2 nodes, in processes of their own
  contact-ddp optimize --variant ddp            one trajectory optimisation, plotted
  contact-ddp motion backflip                   a jump or a flip, optimised and executed
  contact-ddp bench solver                      time the solver against its peers
  contact-ddp report out/sim-20260101-120000    draw a recorded run again
  contact-ddp compare RUN RUN                   lay recorded runs over each other
  contact-ddp sweep --set speed=0.3:1.5:5       a study over parameters, in parallel
  contact-ddp export RUN --to mcap              a recorded run for Foxglove, rerun, or a browser
  contact-ddp replay BAG                        plan again from the states of a recorded bag
  contact-ddp estimate LOG                      state estimator on a recorded log of IMU and joints
  contact-ddp sdf --out world.sdf               the robot and its world for Gazebo Sim
  contact-ddp doctor                            what this machine has, and what to do about what is missing

`contact-ddp JOB --help` describes a job's options.
"""


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


class UsageError(Exception):
    """The command line makes no sense; the text says why and where help is."""


class Parser(argparse.ArgumentParser):
    """argparse whose complaint is one line that names the nearest word, and whose values may be negative numbers."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """Takes what argparse takes."""
        super().__init__(*arguments, **options)
        self._negative_number_matcher = re.compile(r"-(\.?\d|inf|nan)", re.IGNORECASE)  # argparse knows no -1e9, -1,2
        self.register("type", float, reader(number))
        self.register("type", int, reader(whole_number))

    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """Raises UsageError where a word is left over."""
        found, extra = super().parse_known_args(args, namespace)
        if extra:
            option = extra[0].partition("=")[0]
            known = [word for word in self._option_string_actions if word.startswith("--")]
            meant = f"; {did_you_mean(option, known)}" if option.startswith("-") else ""
            self.error(f"unknown {'option' if meant else 'word'} {option!r}{meant}")
        return found, extra

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = list(action.choices)
            meant = did_you_mean(str(value), known)
            allowed = f" Allowed: {', '.join(known)}" if meant.endswith("?") else ""
            raise argparse.ArgumentError(action, f"there is no {value!r}; {meant}{allowed}")

    def error(self, message: str) -> NoReturn:
        """Raises UsageError."""
        raise UsageError(f"{message}{'' if message.endswith('?') else ';'} see {self.prog} --help")


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line; `job` in its result names the function to call with that result."""
    parser = Parser(
        prog="contact-ddp",
        description="Full second-order model-predictive control of quadrupeds such as the MIT Mini Cheetah.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"contact-ddp {__version__}")
    words = parser.add_subparsers(title="jobs", metavar="JOB", required=True)
    _add_run(words, "sim", "jobs:run_sim", "closed loop in the simulator, without ROS")
    demo = _add_run(words, "demo", "jobs:run_demo", "closed loop in the simulator through the ROS 2 nodes")
    add_options(demo, "nodes")
    demo.add_argument("--bag", type=Path, metavar="FOLDER", help="also record a bag, for contact-ddp replay")
    _add_gazebo(words)
    _add_play(words)
    _add_optimize(words)
    _add_motion(words)
    _add_sweep(words)
    _add_replay(words)
    _add_estimate(words)
    add_other_words(words)
    return parser


def _add_run(words: Any, name: str, job: str, summary: str) -> argparse.ArgumentParser:
    parser = add_word(words, name, job, summary, f"{summary[0].upper()}{summary[1:]}.", _RUN_EXAMPLES.format(job=name))
    add_options(parser, *RUN)
    return parser


def _add_gazebo(words: Any) -> None:
    parser = add_word(
        words,
        "gazebo",
        "jobs:run_gazebo",
        "closed loop in a running Gazebo server, without ROS",
        "Closed loop in lock-step with a Gazebo server that runs the world of `contact-ddp sdf`.",
    )
    server = parser.add_argument_group("server").add_mutually_exclusive_group()
    server.add_argument(
        "--release", default="", metavar="NAME", help="harmonic, ionic or jetty (default: the newest installed)"
    )
    server.add_argument(
        "--emulator",
        action="store_true",
        help="use DART, its physics engine, behind the same topics instead of Gazebo",
    )
    add_options(parser, *RUN)


def _add_play(words: Any) -> None:
    parser = add_word(
        words,
        "play",
        "play:play",
        "a page in the browser to see, drive, push and tune the robot live",
        "Serve a live page of the robot until Ctrl-C: the address is printed. See docs/play.md.",
    )
    page = parser.add_argument_group("page")
    page.add_argument(
        "--ros", action="store_true", help="show and lead the ROS 2 nodes that run, instead of a simulation"
    )
    page.add_argument(
        "--port",
        type=within(1, 65535),
        default=PAGE_PORT,
        metavar="N",
        help="the next free one is taken (default: %(default)s)",
    )
    page.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="who may connect: 127.0.0.1 this machine (and over SSH), 0.0.0.0 everybody (default: %(default)s)",
    )
    page.add_argument(
        "--rate",
        type=within(1.0, 60.0),
        default=30.0,
        metavar="HZ",
        help="updates of the page per second, 1 to 60; fewer for slow browsers and connections (default: 30)",
    )
    page.add_argument("--no-shadows", action="store_true", help="for a browser without a graphics card")
    page.add_argument(
        "--pace",
        type=within(0.02, 1.0),
        default=1.0,
        metavar="X",
        help="simulated over real time, 0.02 to 1: slow motion from the start (default: 1)",
    )
    page.add_argument("--speed", type=float, default=0.5, metavar="V", help="at the start [m/s] (default: 0.5)")
    add_options(parser, "robot", *WORLD, "parameters")
    add_option(parser, OPTIONS["state"])


def _add_optimize(words: Any) -> None:
    parser = add_word(
        words,
        "optimize",
        "optimize:optimize",
        "one offline trajectory optimisation, plotted",
        "Optimise bounding from a standing start once, offline, print every iteration and plot the result.",
    )
    parser.add_argument(
        "--model", choices=MODEL_NAMES, default=WHOLE_BODY, help="all 18 coordinates (default), or the sagittal plane"
    )
    parser.add_argument("--speed", type=float, default=0.5, metavar="V", help="forward speed [m/s] (default: 0.5)")
    parser.add_argument("--cycles", type=int, default=1, metavar="N", help="gait cycles in the horizon (default: 1)")
    parser.add_argument(
        "--iterations", type=int, default=60, metavar="N", help="largest number of iterations of a pass (default: 60)"
    )
    parser.add_argument(
        "--shooting",
        choices=SHOOTINGS,
        default=SHOOTINGS[0],
        help="multiple: start from states with gaps and close these, for long horizons (default: single)",
    )
    parser.add_argument(
        "--constraints",
        choices=CONSTRAINTS,
        default=INTERIOR_POINT,
        help="how torque, force and touchdown limits are kept: within the sweep, or by an outer loop that tightens"
        " penalties (default: interior_point)",
    )
    add_options(parser, "robot", "parameters")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="new or empty folder (default: out/optimize-<time>)")


def _add_motion(words: Any) -> None:
    parser = add_word(
        words,
        "motion",
        "motion:motion",
        "a jump, a flip or a recovery from lying, optimised offline and executed in the simulator",
        "Optimise a motion into a stand by DDP with impacts and hard limits, execute it in "
        "simulation, print how it went, plot and film it. See docs/motions.md.",
        _MOTION_EXAMPLES,
    )
    parser.add_argument(
        "name",
        metavar="MOTION",
        help="jump, jump_up, backflip, backflip_whole_body, barrel_roll, running_barrel_roll, recovery, recovery_side, "
        "or the path of a .yaml file",
    )
    add_option(parser, OPTIONS["variant"], choices=("ddp", "ilqr"))
    for name in ("friction", "trunk_mass_scale", "engine", "state"):
        add_option(parser, OPTIONS[name])
    parser.add_argument(
        "--no-feedback", action="store_true", help="track states and torques without the policy's feedback gains"
    )
    parser.add_argument(
        "--trials", type=int, default=0, metavar="N", help="also execute it from N perturbed starts (default: none)"
    )
    parser.add_argument(
        "--seed", dest="first_seed", type=int, default=0, metavar="N", help="of the first of them (default: 0)"
    )
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="new or empty folder (default: out/motion-<time>)")
    parser.add_argument("--no-video", action="store_true", help="do not render a video")


def _add_sweep(words: Any) -> None:
    parser = add_word(
        words,
        "sweep",
        "sweep:sweep",
        "run a study over parameters, in parallel",
        "Run the closed loop of `contact-ddp sim` at every point of a grid. See docs/runs.md.",
        _SWEEP_EXAMPLES,
    )
    study = parser.add_argument_group("study")
    study.add_argument(
        "--set",
        dest="axes",
        type=reader(_axis),
        action="append",
        default=[],
        metavar="NAME=LOW:HIGH:COUNT",
        help="vary a parameter, with its section, or an option with a number or a text, such as speed, friction, "
        "ground, gait or robot; also NAME=A,B,C, and NAME=VALUE for all runs; repeatable",
    )
    study.add_argument(
        "--metric",
        action="append",
        default=[],
        metavar="NAME",
        help="a figure of summary.json to print and draw, such as solve_ms.median; repeatable (default: mean_speed)",
    )
    study.add_argument(
        "--seeds",
        type=within(1, 2**31 - 1),
        default=1,
        metavar="N",
        help="runs of each point, from --seed on (default: 1)",
    )
    study.add_argument("--noise", action="store_true", help="give the sensors the errors of the benchmarks")
    study.add_argument(
        "--jobs", type=within(1, 2**31 - 1), metavar="N", help="processes, of one thread each (default: cores)"
    )
    study.add_argument("--keep", action="store_true", help="keep the recording of every run, in runs/")
    study.add_argument(
        "--record-plans",
        type=int,
        default=0,
        metavar="N",
        help="with --keep, the plan of every Nth solve, too (default: none)",
    )
    study.add_argument("--out", type=Path, metavar="FOLDER", help="of the study (default: out/sweep-<digest of it>)")
    add_options(parser, *(group for group in RUN if group != "output"), without=("--set",))


def _axis(text: str) -> Any:
    from contact_ddp_ros.runs.study.axes import parse_axis

    return parse_axis(text)


def _add_replay(words: Any) -> None:
    parser = add_word(
        words,
        "replay",
        "replay:run",
        "plan again from the states of a recorded bag",
        "Run the planner again on the states of a bag, as `ros2 bag record` or `contact-ddp demo --bag` "
        "writes one, and compare its policies with the recorded ones. Give the parameters that the run had.",
    )
    parser.add_argument("bag", type=Path, metavar="BAG", help="folder of the bag")
    parser.add_argument(
        "--tolerance",
        type=float,
        default=1e-6,
        metavar="X",
        help="largest difference of a control [N m] (default: %(default)s)",
    )
    add_options(parser, "robot", "parameters")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="new or empty folder (default: out/replay-<time>)")


def _add_estimate(words: Any) -> None:
    parser = add_word(
        words,
        "estimate",
        "estimate:run",
        "state estimator on a recorded log of IMU and joints",
        "Run the state estimator on a log: a ROS 2 bag (MCAP or SQLite), or a ROS 1 bag. It needs sensor_msgs/Imu, at "
        "the trunk's origin and in its axes, and sensor_msgs/JointState with efforts; nav_msgs/Odometry is compared. "
        "Or a file of lcm-logger with the robot's channels (docs/robot.md).",
    )
    parser.add_argument("log", type=Path, metavar="LOG", help="folder or file of the log")
    for name in ("imu", "joints", "odom"):
        parser.add_argument(
            f"--{name}", default="", metavar="TOPIC", help="or channel, where the log has several of its type"
        )
    add_options(parser, "robot", "parameters")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="new or empty folder (default: out/estimate-<time>)")
