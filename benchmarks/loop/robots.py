"""`contact-ddp bench robots`: quadrupeds of others, descriptions unedited, on the estimated state.

Every robot trots, bounds, turns while it trots, and is pushed to the side while it trots: at 0.5 m/s times the square
root of its leg's length over the Mini Cheetah's, 0.5 rad/s over that root, and by 0.25 N s for every kg. The bound is
the one with longer stances where joints are too weak for the default (docs/robots.md). A run holds where the robot does
not fall and, but for the push, its true speed is within 5 % of the command.

Robots are those of the packages example-robot-data and pybullet, and files given as words.
"""

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks.benchmark import option
from benchmarks.loop.harness import bounding, changed, moved, push_of, settled
from benchmarks.study import Rows, Study
from contact_ddp_ros.base.errors import ContactDdpError
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.symmetry import leg_length
from contact_ddp_ros.runs.options import SENSOR_ERRORS
from contact_ddp_ros.runs.robot_scaling import scales
from contact_ddp_ros.runs.robot_trial import own_gait, own_speed
from contact_ddp_ros.runs.study.study import Case, Figures, Group

PUBLISHED = {
    "example-robot-data": (
        "a1_description/urdf/a1.urdf",
        "anymal_b_simple_description/robots/anymal.urdf",
        "anymal_b_simple_description/robots/anymal-kinova.urdf",
        "anymal_c_simple_description/urdf/anymal.urdf",
        "b1_description/urdf/b1.urdf",
        "b1_description/urdf/b1-z1.urdf",
        "go1_description/urdf/go1.urdf",
        "go2_description/urdf/go2.urdf",
        "hyq_description/robots/hyq_no_sensors.urdf",
        "laikago_description/urdf/laikago.urdf",
        "solo_description/robots/solo12.urdf",
    ),
    "pybullet": (
        "pybullet_data/a1/a1.urdf",
        "pybullet_data/aliengo/aliengo.urdf",
        "pybullet_data/laikago/laikago_toes.urdf",
        "pybullet_data/laikago/laikago_toes_zup.urdf",
        "pybullet_data/mini_cheetah/mini_cheetah.urdf",
        "pybullet_data/quadruped/spirit40.urdf",
        "pybullet_data/quadruped/vision60.urdf",
    ),
}
"""Ends of the paths of URDFs, by the PyPI package that has them."""

TURN, PUSH = 0.5, 0.25
"""Turn rate of the Mini Cheetah [rad/s], and impulse over mass [N s/kg]."""

WITHIN = 0.05
"""Largest error of speed and turn rate, as a share."""

_DURATION = 10.0


def files() -> list[Path]:
    """URDFs of the packages that are installed."""
    found = []
    for package, ends in PUBLISHED.items():
        try:
            listed = metadata.distribution(package).files or []
        except metadata.PackageNotFoundError:
            continue
        found += [Path(str(one.locate())).resolve() for end in ends for one in listed if one.as_posix().endswith(end)]
    return found


def runs(options: argparse.Namespace) -> list[Case]:
    """Four runs of every robot; one of a robot that is refused."""
    chosen = [Path(path).absolute() for path in options.files] or files()
    overrides = {**SENSOR_ERRORS, **dict(options.set)}
    few = chosen[:1] if options.quick else chosen
    return [case for path in few for case in _of_robot(path, _short(path, chosen), overrides)]


def _short(path: Path, among: Sequence[Path]) -> str:
    """The shortest end of a path that no other has."""
    tails = ("/".join(path.parts[-size:]) for size in range(2, len(path.parts)))
    return next((tail for tail in tails if sum(str(one).endswith(f"/{tail}") for one in among) == 1), str(path))


def _of_robot(path: Path, name: str, overrides: Mapping[str, Any]) -> list[Case]:
    try:
        robot = load_robot(path)
    except ContactDdpError as error:
        return [Case(name, f"{name} check", values={"refused": str(error).removeprefix(f"{path}: ")})]
    length, _ = scales(robot)
    speed, turn, bound = own_speed(robot), TURN / math.sqrt(length), own_gait(robot, "bound")
    base = bounding(overrides, speed, robot=str(path), duration=_DURATION)
    pushed = (push_of(PUSH * robot.mass, (0.0, 1.0), 0.6 * _DURATION),)
    unlike: dict[str, dict[str, Any]] = {
        "trot": {"gait": "trot"},
        "bound": {"gait": bound},
        "turn": {"gait": "trot", "turn": turn},
        "push": {"gait": "trot", "pushes": pushed},
    }
    about = {"mass": robot.mass, "leg": leg_length(robot.tree), "speed": speed, "turn": turn, "bound": bound}
    return [Case(name, f"{name} {what}", changed(base, **one), {"what": what, **about}) for what, one in unlike.items()]


def run(case: Case) -> Figures:
    """True speed and turn rate of one closed loop over the command, and whether it holds."""
    if "refused" in case.values:
        return {"fall": case.values["refused"], "holds": False}
    recording, fall = moved(case.options, 2.0)
    if recording is None or fall:
        return {"fall": fall, "holds": False}
    late, what = settled(recording), case.values["what"]
    speed = float(recording.heading_velocity[late, 0].mean()) / case.values["speed"]
    turn = float(recording.heading_rate[late].mean()) / case.values["turn"] if what == "turn" else 1.0
    close = all(abs(share - 1.0) <= WITHIN for share in (speed, turn))
    return {"fall": "", "holds": close or what == "push", "speed_share": speed, "turn_share": turn}


def _cell(what: str, figure: str) -> Callable[[Group], str]:
    def cell(group: Group) -> str:
        for case, one in zip(group.cases, group.figures, strict=True):
            if case.values.get("what") == what:
                return f"{one[figure]:.3f}" if not one["fall"] and figure in one else "falls"
        return ""

    return cell


def _pushed(group: Group) -> str:
    found = _cell("push", "speed_share")(group)
    return found if found in ("", "falls") else "holds"


def holds(group: Group) -> bool:
    """Verdict: every run of the robot holds."""
    return all(one["holds"] for one in group.figures)


def _of_values(name: str, form: str) -> Callable[[Group], str]:
    return lambda group: form.format(group.values[name]) if name in group.values else ""


COLUMNS: dict[str, Callable[[Group], Any]] = {
    "robot": lambda group: group.name,
    "mass [kg]": _of_values("mass", "{:.1f}"),
    "leg [m]": _of_values("leg", "{:.2f}"),
    "command [m/s]": _of_values("speed", "{:.2f}"),
    "trot, of it": _cell("trot", "speed_share"),
    "gait that bounds": _of_values("bound", "{}"),
    "bound, of it": _cell("bound", "speed_share"),
    "turn, of it": _cell("turn", "turn_share"),
    "push": _pushed,
    "first failure": lambda group: group.first_fall[:100],
}

BENCHMARK = Study(runs, run, Rows("Quadrupeds of others", COLUMNS, holds)).benchmark(
    "robots",
    __doc__,
    "the first robot",
    option("files", nargs="*", type=Path, metavar="FILE", help="URDF, xacro or MJCF files instead"),
)
