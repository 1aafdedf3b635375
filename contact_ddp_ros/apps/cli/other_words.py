"""The words of the command line about recorded runs, benchmarks, robots, Gazebo's files, pages and the machine."""

from argparse import REMAINDER
from pathlib import Path
from typing import Any

from contact_ddp_ros.apps.cli.options import add_options, add_word
from contact_ddp_ros.base.arguments import reader
from contact_ddp_ros.base.config import parse_setting


def add_other_words(words: Any) -> None:
    """Add all of them to the words that there are."""
    for add in (
        _add_compare,
        _add_export,
        _add_report,
        _add_bench,
        _add_robot,
        _add_sdf,
        _add_gazebo_emulator,
        _add_parameters,
        _add_security_policy,
        _add_doctor,
    ):
        add(words)


def _add_compare(words: Any) -> None:
    parser = add_word(
        words,
        "compare",
        "compare:compare",
        "lay recorded runs over each other",
        "Compare recorded runs: what differs in their commands and parameters, their figures, and their "
        "courses over time and over the gait's cycle. See docs/runs.md.",
    )
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


def _add_export(words: Any) -> None:
    parser = add_word(
        words,
        "export",
        "export:export",
        "write a recorded run for Foxglove, rerun or a browser",
        "Write a recorded run (robot, plan and its ghost, forces, contacts, numbers, events) as a file of "
        "another program, or as a page for a browser. See docs/runs.md.",
    )
    parser.add_argument("folder", type=Path, metavar="RUN", help="folder of a recorded run")
    parser.add_argument(
        "--to",
        choices=("mcap", "rerun", "html"),
        required=True,
        help="mcap: for Foxglove; rerun: an .rrd file; html: a page that plays the run in a browser, without a network",
    )
    parser.add_argument(
        "-o",
        "--out",
        type=Path,
        metavar="FILE",
        help="file to write or overwrite (default: run.mcap, run.rrd, run.html in RUN)",
    )


def _add_bench(words: Any) -> None:
    parser = add_word(
        words,
        "bench",
        "jobs:run_bench",
        "run a benchmark",
        "Run a benchmark; words after its name are its own options. `contact-ddp bench list` names them.",
    )
    parser.add_argument("name", metavar="NAME", help="name of the benchmark, e.g. solver, or list")
    parser.add_argument("arguments", nargs=REMAINDER, metavar="...", help="its options")


def _add_report(words: Any) -> None:
    parser = add_word(
        words,
        "report",
        "report:run",
        "summarise, plot and film a recorded run again",
        "Make summary.json, the plots and the video of a recorded run again, in its own folder.",
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="folder with recording.npz and recording.json")
    parser.add_argument("--no-video", action="store_true", help="do not render a video")


def _add_robot(words: Any) -> None:
    parser = words.add_parser(
        "robot",
        help="what the package understands of a URDF, and a robot's file to start from",
        description="`contact-ddp robot check FILE.urdf -o my_robot.yaml` looks through the URDF of a quadruped.",
    )
    deeds = parser.add_subparsers(title="deeds", metavar="DEED", required=True)
    check = add_word(
        deeds,
        "check",
        "robot:check",
        "look through a URDF",
        "Say which joints are the legs, what the package reads of them, what is missing or in the way, and "
        "write a robot's file for --robot; then the robot stands up, trots and bounds in simulation. Exit status 1: it "
        "cannot be used as it is described, or does not walk.",
    )
    check.add_argument("urdf", type=Path, metavar="FILE", help="the robot description, .urdf, .xacro or .xml (MJCF)")
    check.add_argument("xacro", nargs="*", metavar="NAME:=VALUE", help="arguments of a xacro file")
    check.add_argument("-o", "--out", type=Path, metavar="FILE.yaml", help="robot's file to write, for --robot")
    check.add_argument("--force", action="store_true", help="replace the robot's file where there is one")
    check.add_argument("--no-walk", dest="walk", action="store_false", help="look through the file alone")


def _add_sdf(words: Any) -> None:
    parser = add_word(
        words,
        "sdf",
        "gazebo:write_sdf",
        "write the robot and its world for Gazebo Sim",
        "Write the Gazebo world with the robot, generated from the URDF, to a file or to standard output.",
    )
    add_options(parser, "robot")
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
    add_options(parser, "simulated")
    parser.add_argument(
        "--set",
        type=reader(lambda text: [parse_setting(text)]),
        action="extend",
        metavar="NAME=VALUE",
        help="set simulator.timestep or another parameter of the simulated world that Gazebo has; repeatable",
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="file to write or overwrite (default: standard output)"
    )


def _add_gazebo_emulator(words: Any) -> None:
    parser = add_word(
        words,
        "gazebo-emulator",
        "gazebo:serve_emulator",
        "a server with Gazebo's topics, for machines without Gazebo",
        "Serve a world of `contact-ddp sdf` with DART behind Gazebo's topics and services on this machine. "
        "Clients have --release emulator, or the parameter node.release:=emulator, and the same GZ_PARTITION.",
    )
    parser.add_argument("world", type=Path, metavar="FILE", help="world file written by `contact-ddp sdf`")
    parser.add_argument(
        "--fast", action="store_true", help="simulate as fast as possible, not at the pace of the wall clock"
    )


def _add_parameters(words: Any) -> None:
    text = "every parameter of every node, with range and unit, as Markdown"
    add_word(words, "parameters", "jobs:run_parameters", text, f"Print {text}: the page docs/parameters.md.")


def _add_security_policy(words: Any) -> None:
    text = "the access policy of SROS 2 for all topics and services"
    about = f"Print {text}, for `ros2 security create_permission`; see docs/security.md."
    parser = add_word(words, "security-policy", "jobs:run_security_policy", text, about)
    parser.add_argument("--namespace", default="/", metavar="NAME", help="namespace of the nodes (default: /)")


def _add_doctor(words: Any) -> None:
    text = "what this machine has, and what to do about what is missing"
    about = (
        f"Print {text}: C compiler, packages, real-time rights, ROS 2, rendering and more. Nothing is installed. "
        "Exit status 1: sim lacks packages or a C compiler."
    )
    add_word(words, "doctor", "doctor:doctor", text, about)
