"""The words and options that `contact-ddp` understands."""

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from contact_ddp_ros import __version__
from contact_ddp_ros.apps.cli import jobs
from contact_ddp_ros.apps.cli.groups import (
    DEFAULTS,
    add_common,
    add_course,
    add_ground,
    add_robot,
    add_run_output,
    add_simulated,
    add_world,
)
from contact_ddp_ros.apps.cli.run_words import add_run_words
from contact_ddp_ros.apps.cli.values import parse_integer, parse_number, parse_pace, parse_port, parse_rate
from contact_ddp_ros.base.choices import CONSTRAINTS, INTERIOR_POINT, MODEL_NAMES, SHOOTINGS, WHOLE_BODY
from contact_ddp_ros.base.config import parse_setting
from contact_ddp_ros.base.errors import did_you_mean
from contact_ddp_ros.runs.options import BACKENDS

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
  contact-ddp export RUN --to mcap              a recorded run for Foxglove, or rerun
  contact-ddp replay BAG                        plan again from the states of a recorded bag
  contact-ddp sdf --out world.sdf               the robot and its world for Gazebo Sim

`contact-ddp JOB --help` describes a job's options.
"""


class UsageError(Exception):
    """The command line makes no sense; the text says why and where help is."""


class Parser(argparse.ArgumentParser):
    """argparse whose complaint is one line that names the nearest word, and whose values may be negative numbers."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """Takes what argparse takes."""
        super().__init__(*arguments, **options)
        self._negative_number_matcher = re.compile(r"-(\.?\d|inf|nan)", re.IGNORECASE)  # argparse knows no -1e9, -1,2
        self.register("type", float, parse_number)
        self.register("type", int, parse_integer)

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
    """The parser of the whole command line; `job` in its result is the function to call with that result."""
    parser = Parser(
        prog="contact-ddp",
        description="Full second-order model-predictive control of quadrupeds such as the MIT Mini Cheetah.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"contact-ddp {__version__}")
    words = parser.add_subparsers(title="jobs", metavar="JOB", required=True)
    _add_run(words, "sim", jobs.run_sim, "closed loop in the simulator, without ROS")
    demo = _add_run(words, "demo", jobs.run_demo, "closed loop in the simulator through the ROS 2 nodes")
    demo.add_argument(
        "--backend",
        choices=BACKENDS,
        default=DEFAULTS.backend,
        help=f"lcm: through the bridge to the robot, with an emulator of the robot (default: {DEFAULTS.backend})",
    )
    demo.add_argument(
        "--composed",
        action="store_true",
        help="run controller and simulator (or bridge) in one process, which saves processor time",
    )
    demo.add_argument("--bag", type=Path, metavar="FOLDER", help="also record a bag, for contact-ddp replay")
    _add_play(words)
    _add_optimize(words)
    _add_bench(words)
    _add_report(words)
    add_run_words(words)
    _add_replay(words)
    _add_parameters(words)
    _add_security_policy(words)
    _add_robot(words)
    _add_sdf(words)
    _add_gazebo(words)
    _add_gazebo_emulator(words)
    return parser


def _add_run(words: Any, name: str, job: Any, summary: str) -> argparse.ArgumentParser:
    parser = words.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=_RUN_EXAMPLES.format(job=name),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(job=job, backend=DEFAULTS.backend, composed=DEFAULTS.composed)
    add_robot(parser)
    add_course(parser)
    add_world(parser)
    add_common(parser)
    add_run_output(parser, name)
    return parser


def _add_play(words: Any) -> None:
    parser = words.add_parser(
        "play",
        help="a page in the browser to see, drive, push and tune the robot live",
        description="Serve a live page of the robot until Ctrl-C: the address is printed. See docs/play.md.",
    )
    parser.set_defaults(job=jobs.run_play)
    page = parser.add_argument_group("page")
    page.add_argument(
        "--ros", action="store_true", help="show and lead the ROS 2 nodes that run, instead of a simulation"
    )
    page.add_argument(
        "--port", type=parse_port, default=8080, metavar="N", help="the next free one is taken (default: 8080)"
    )
    page.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="who may connect: 127.0.0.1 this machine (and over SSH), 0.0.0.0 everybody (default: %(default)s)",
    )
    page.add_argument(
        "--rate",
        type=parse_rate,
        default=30.0,
        metavar="HZ",
        help="updates of the page per second, 1 to 60; fewer for slow browsers and connections (default: 30)",
    )
    page.add_argument("--no-shadows", action="store_true", help="for a browser without a graphics card")
    page.add_argument(
        "--pace",
        type=parse_pace,
        default=1.0,
        metavar="X",
        help="simulated over real time, 0.02 to 1: slow motion from the start (default: 1)",
    )
    page.add_argument("--speed", type=float, default=0.5, metavar="V", help="at the start [m/s] (default: 0.5)")
    add_robot(parser)
    add_ground(parser)
    add_common(parser)


def _add_optimize(words: Any) -> None:
    parser = words.add_parser(
        "optimize",
        help="one offline trajectory optimisation, plotted",
        description="Optimise bounding from a standing start once, offline, print every iteration and plot the result.",
    )
    parser.set_defaults(job=jobs.run_optimize)
    add_robot(parser)
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
    add_common(parser)
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="new or empty folder (default: out/optimize-<time>)")


def _add_bench(words: Any) -> None:
    parser = words.add_parser(
        "bench",
        help="run a benchmark",
        description="Run a benchmark; words after its name are its own options. `contact-ddp bench list` names them.",
    )
    parser.set_defaults(job=jobs.run_bench)
    parser.add_argument("name", metavar="NAME", help="name of the benchmark, e.g. solver, or list")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...", help="its options")


def _add_report(words: Any) -> None:
    parser = words.add_parser(
        "report",
        help="summarise, plot and film a recorded run again",
        description="Make summary.json, the plots and the video of a recorded run again, in its own folder.",
    )
    parser.set_defaults(job=jobs.run_report)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="folder with recording.npz and recording.json")
    parser.add_argument("--no-video", action="store_true", help="do not render a video")


def _add_robot(words: Any) -> None:
    parser = words.add_parser(
        "robot",
        help="what the package understands of a URDF, and a robot's file to start from",
        description="`contact-ddp robot check FILE.urdf -o my_robot.yaml` looks through the URDF of a quadruped.",
    )
    deeds = parser.add_subparsers(title="deeds", metavar="DEED", required=True)
    check = deeds.add_parser(
        "check",
        help="look through a URDF",
        description="Say which joints are the legs, what the package reads of them, what is missing or in the way, and "
        "write a robot's file for --robot. Exit status 1: the robot cannot bound in the plane as it is described.",
    )
    check.set_defaults(job=jobs.check_robot)
    check.add_argument("urdf", type=Path, metavar="FILE.urdf", help="the robot description")
    check.add_argument("-o", "--out", type=Path, metavar="FILE.yaml", help="robot's file to write, for --robot")
    check.add_argument("--force", action="store_true", help="replace the robot's file where there is one")


def _add_sdf(words: Any) -> None:
    parser = words.add_parser(
        "sdf",
        help="write the robot and its world for Gazebo Sim",
        description="Write the Gazebo world with the robot, generated from the URDF, to a file or to standard output.",
    )
    parser.set_defaults(job=jobs.write_sdf)
    add_robot(parser)
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--model", action="store_true", help="write the robot alone, for insertion into another world")
    kind.add_argument(
        "--ros2-control",
        action="store_true",
        help="write the URDF with its joints as hardware of gz_ros2_control instead",
    )
    kind.add_argument(
        "--into", type=Path, metavar="FILE", help="put the robot, and the plugins it needs, into the world of this file"
    )
    parser.add_argument(
        "--controllers",
        type=Path,
        metavar="FILE",
        help="drive the joints by ros2_control with this parameter file (default: one effort topic for each)",
    )
    parser.add_argument(
        "--real-time-factor",
        type=float,
        metavar="X",
        help="simulated time over wall time (default: 1, or that of the file with --into)",
    )
    parser.add_argument(
        "--drive-damping",
        action="store_true",
        help="give the joints the drives' damping: for drives_node, whose efforts come late",
    )
    parser.add_argument(
        "--no-rotors",
        dest="rotors",
        action="store_false",
        help="leave out the discs that represent the rotors: the links have the URDF's inertia",
    )
    add_simulated(parser)
    parser.add_argument(
        "--set",
        type=parse_setting,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="set simulator.timestep or another parameter of the simulated world that Gazebo has; repeatable",
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="file to write or overwrite (default: standard output)"
    )


def _add_replay(words: Any) -> None:
    parser = words.add_parser(
        "replay",
        help="plan again from the states of a recorded bag",
        description="Run the planner again on the states of a bag, as `ros2 bag record` or `contact-ddp demo --bag` "
        "writes one, and compare its policies with the recorded ones. Give the parameters that the run had.",
    )
    parser.set_defaults(job=jobs.run_replay)
    parser.add_argument("bag", type=Path, metavar="BAG", help="folder of the bag")
    add_robot(parser)
    parser.add_argument(
        "--tolerance",
        type=float,
        default=1e-6,
        metavar="X",
        help="largest difference of a control [N m] (default: %(default)s)",
    )
    add_common(parser)
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="new or empty folder (default: out/replay-<time>)")


def _add_gazebo(words: Any) -> None:
    parser = words.add_parser(
        "gazebo",
        help="closed loop in a running Gazebo server, without ROS",
        description="Closed loop in lock-step with a Gazebo server that runs the world of `contact-ddp sdf`.",
    )
    parser.set_defaults(job=jobs.run_gazebo, backend=DEFAULTS.backend, composed=DEFAULTS.composed)
    server = parser.add_argument_group("server").add_mutually_exclusive_group()
    server.add_argument(
        "--release", default="", metavar="NAME", help="harmonic, ionic or jetty (default: the newest installed)"
    )
    server.add_argument(
        "--emulator",
        action="store_true",
        help="use DART, its physics engine, behind the same topics instead of Gazebo",
    )
    add_robot(parser)
    add_course(parser)
    add_world(parser)
    add_common(parser)
    add_run_output(parser, "gazebo")


def _add_gazebo_emulator(words: Any) -> None:
    parser = words.add_parser(
        "gazebo-emulator",
        help="a server with Gazebo's topics, for machines without Gazebo",
        description="Serve a world of `contact-ddp sdf` with DART behind Gazebo's topics and services on this machine. "
        "Clients have --release emulator, or the parameter node.release:=emulator, and the same GZ_PARTITION.",
    )
    parser.set_defaults(job=jobs.run_gazebo_emulator)
    parser.add_argument("world", type=Path, metavar="FILE", help="world file written by `contact-ddp sdf`")
    parser.add_argument(
        "--fast", action="store_true", help="simulate as fast as possible, not at the pace of the wall clock"
    )


def _add_parameters(words: Any) -> None:
    text = "every parameter of every node, with range and unit, as Markdown"
    parser = words.add_parser("parameters", help=text, description=f"Print {text}: the page docs/parameters.md.")
    parser.set_defaults(job=jobs.run_parameters)


def _add_security_policy(words: Any) -> None:
    text = "the access policy of SROS 2 for all topics and services"
    parser = words.add_parser(
        "security-policy",
        help=text,
        description=f"Print {text}, for `ros2 security create_permission`; see docs/security.md.",
    )
    parser.set_defaults(job=jobs.run_security_policy)
    parser.add_argument("--namespace", default="/", metavar="NAME", help="namespace of the nodes (default: /)")
