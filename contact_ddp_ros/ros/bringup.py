"""Checks and texts for the launch file, made in the Python of the nodes.

`ros2 launch` runs a launch file in the Python that ROS 2 was installed for, where numba, pinocchio and others may be
missing that the nodes import from a virtual environment. So the launch file imports nothing of this package; it starts
the program `prepare_bringup`, which finds its Python as the nodes do, and exchanges JSON with it: arguments in, what it
needs to know out. An argument that leads nowhere, or a package that is missing, so ends the launch before any node.
"""

import json
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from contact_ddp_ros.base.config import replace
from contact_ddp_ros.base.errors import ContactDdpError, ParameterError
from contact_ddp_ros.base.parameter_file import idle_sections
from contact_ddp_ros.plants.gazebo.user_world import own_world, with_robot
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.robot.gaits.gait import load_gait
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.motion import load_motion
from contact_ddp_ros.ros.interfaces import RECORDED
from contact_ddp_ros.ros.single_instance import profile_variables, transport_variables

_AUTO = "auto"
"""Value of an argument that leaves the choice to the parameter file, as in the launch file."""

_NUMBERS = ("gazebo_friction", "gazebo_trunk_mass_scale", "gazebo_real_time_factor")


@dataclass(frozen=True)
class Bringup:
    """Answer to the launch file.

    Attributes:
        python: interpreter that the nodes run in.
        warnings: sections of the parameter file that are for none of the nodes.
        description: text of the robot's URDF, with this package's names and signs.
        topics: names, relative ones without the namespace, of what a bag holds.
        transports: environment variables of our nodes.
        loopback: environment variables of all processes.
        world: of Gazebo, where that is the backend: its SDF `text`, its `name` and its `timestep` [s].
    """

    python: str
    warnings: list[str]
    description: str
    topics: list[str]
    transports: dict[str, str]
    loopback: dict[str, str]
    world: dict[str, Any]


def bringup(given: dict[str, str], nodes: list[str], share: str) -> Bringup:
    """Check the arguments `given` to the launch file, and find what it needs to know.

    `nodes` are the full names of the nodes that it starts, `share` is the package's share folder.

    Raises:
        ContactDdpError: an argument leads nowhere or does not fit; the text names it.
    """
    loopback = given["loopback"] == "true"
    robot = _named(given, "model", load_robot) or load_robot()
    _named(given, "gait", load_gait)
    _named(given, "motions", lambda names: [load_motion(one.strip()) for one in names.split(",") if one.strip()])
    file = given["params_file"]
    idle = idle_sections(file, nodes) if file else []
    warning = f"params_file {file}: {', '.join(idle)} is for none of {', '.join(nodes)}; "
    warning += f"/**/{nodes[0].rpartition('/')[2]} means a planner in every namespace"
    return Bringup(
        python=sys.executable,
        warnings=[warning] if idle else [],
        description=robot.description,
        topics=[topic.name for topic in RECORDED],
        transports={} if loopback else transport_variables(os.environ),
        # the range leaves the transports to the profile
        loopback={
            **profile_variables(str(Path(share, "config", "fastdds_loopback.xml"))),
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "SYSTEM_DEFAULT",
            "GZ_IP": "127.0.0.1",
        }
        if loopback
        else {},
        world=_world(given, robot) if given["backend"] == "gazebo" else {},
    )


def _named(given: dict[str, str], argument: str, load: Any) -> Any:
    """Object that an argument names, loaded; None where it names nothing."""
    if given[argument] in ("", _AUTO):
        return None
    try:
        return load(given[argument])
    except ContactDdpError as error:
        raise ParameterError(f"{argument}:={given[argument]}: {error}") from error


def _world(given: dict[str, str], robot: Robot) -> dict[str, Any]:
    """The world that Gazebo's server is to have."""
    numbers: dict[str, float] = {}
    for name in _NUMBERS:
        try:
            numbers |= {name.removeprefix("gazebo_"): float(given[name])} if given[name] != _AUTO else {}
        except ValueError:
            raise ParameterError(f"{name}:={given[name]} must be a number") from None
    factor = numbers.pop("real_time_factor", None)
    ground = {} if given["gazebo_ground"] == _AUTO else {"terrain": given["gazebo_ground"]}
    options = replace(SimOptions(), {**ground, **numbers})
    if given["gazebo_world"] == _AUTO:
        world = own_world(robot, options, real_time_factor=factor)
    else:
        try:
            sdf = Path(given["gazebo_world"]).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ParameterError(f"gazebo_world:={given['gazebo_world']} cannot be read: {error}") from error
        world = with_robot(sdf, robot, options, real_time_factor=factor)
    return {"text": world.text, "name": world.name, "timestep": world.timestep}


def main() -> int:
    """Answer the request on standard input; the exit code, with one line of the reason on standard error."""
    try:
        print(json.dumps(asdict(bringup(**json.load(sys.stdin)))))
    except ContactDdpError as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        return 1
    return 0
