"""Planner, joint controller and what plays the robot: MuJoCo, Gazebo, or the bridge to the robot itself.

ros2 launch contact_ddp_ros bringup.launch.py
ros2 launch contact_ddp_ros bringup.launch.py lockstep:=true params_file:=my.yaml
ros2 launch contact_ddp_ros bringup.launch.py backend:=gazebo rviz:=true record:=true
ros2 launch contact_ddp_ros bringup.launch.py backend:=lcm autostart:=false

Then `ros2 service call /stand std_srvs/srv/Trigger`, the same with /bound, and a speed on /cmd_vel. See docs/ros.md.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from ament_index_python.packages import PackageNotFoundError, get_package_prefix, get_package_share_directory
from launch import LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    ExecuteProcess,
    LogInfo,
    OpaqueFunction,
    SetEnvironmentVariable,
)
from launch.events import Shutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterFile

PACKAGE = "contact_ddp_ros"

REFUSED = 1
"""Exit code of a node that cannot start as it was told to; others are started again."""

RESPAWN_DELAY = 1.0
"""Time before a node that has died is started again [s]."""


@dataclass(frozen=True)
class Backend:
    """What plays the robot: the node, and whether its time is simulated."""

    node: str
    executable: str
    simulated: bool


BACKENDS = {
    "mujoco": Backend("simulator", "simulator_node", True),
    "gazebo": Backend("bridge", "gazebo_bridge_node", True),
    "lcm": Backend("bridge", "lcm_bridge_node", False),
}

YES_NO = ["true", "false"]

ARGUMENTS = [
    DeclareLaunchArgument(
        "backend",
        default_value="mujoco",
        choices=[*BACKENDS, "none"],
        description="what plays the robot; none: states come from elsewhere",
    ),
    DeclareLaunchArgument("model", default_value="", description="URDF of the robot; empty: the packaged one"),
    DeclareLaunchArgument("namespace", default_value="", description="of all nodes and topics"),
    DeclareLaunchArgument(
        "use_sim_time",
        default_value="auto",
        choices=["auto", *YES_NO],
        description="whether time is that of /clock; auto: where the backend simulates",
    ),
    DeclareLaunchArgument("params_file", default_value="", description="parameter file on top of the packaged one"),
    DeclareLaunchArgument("rviz", default_value="false", choices=YES_NO, description="show robot and plan in RViz"),
    DeclareLaunchArgument("log_level", default_value="info", description="debug, info, warn, error or fatal"),
    DeclareLaunchArgument(
        "autostart",
        default_value="true",
        choices=YES_NO,
        description="whether planner and controller go to active by themselves",
    ),
    DeclareLaunchArgument(
        "record", default_value="false", description="record a bag: true, or the folder it is to be written to"
    ),
    DeclareLaunchArgument(
        "joystick", default_value="false", choices=YES_NO, description="drive by joystick: joy and joy_teleop"
    ),
    DeclareLaunchArgument(
        "respawn", default_value="true", choices=YES_NO, description="start nodes that have died again"
    ),
    DeclareLaunchArgument(
        "lockstep",
        default_value="false",
        choices=YES_NO,
        description="physics waits for controller and planner instead of following the wall clock",
    ),
    DeclareLaunchArgument(
        "variant", default_value="ddp", choices=["ilqr", "ddp", "ddp_tensor"], description="solver of the planner"
    ),
    DeclareLaunchArgument(
        "gazebo_release",
        default_value="",
        choices=["", "harmonic", "ionic", "jetty", "stand_in"],
        description="of Gazebo, whose Python bindings are used; empty: the newest; stand_in: DART without Gazebo",
    ),
    DeclareLaunchArgument(
        "loopback", default_value="false", choices=YES_NO, description="stay on this machine, start quicker"
    ),
]


def generate_launch_description() -> LaunchDescription:
    """Arguments first, then what they describe."""
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=_bring_up)])


def _bring_up(context, *_args, **_kwargs) -> list:
    """Everything at once, or an error before anything starts."""
    given = {argument.name: LaunchConfiguration(argument.name).perform(context) for argument in ARGUMENTS}
    backend = BACKENDS.get(given["backend"])
    if given["use_sim_time"] == "auto":
        given["use_sim_time"] = str(backend is not None and backend.simulated).lower()
    actions = _loopback() if given["loopback"] == "true" else []
    if given["backend"] == "gazebo":
        actions.append(_gazebo_server(given))
    actions.append(_node(given, "planner", "planner_node", {"variant": given["variant"], **_autostart(given)}))
    actions.append(_node(given, "controller", "controller_node", _autostart(given)))
    if backend is not None:
        own = {"node.release": given["gazebo_release"]} if given["backend"] == "gazebo" else {}
        actions.append(_node(given, backend.node, backend.executable, own))
    actions += _description(given)
    if given["rviz"] == "true":
        actions += _rviz(given)
    if given["joystick"] == "true":
        actions += _joystick(given)
    if given["record"] not in ("", "false"):
        actions.append(_recorder(given))
    return actions


def _autostart(given: dict[str, str]) -> dict[str, bool]:
    return {"node.autostart": given["autostart"] == "true"}


def _node(given: dict[str, str], name: str, executable: str, own: dict) -> Node:
    """One of our nodes; the command-line arguments are stronger than files."""
    if not Path(get_package_prefix(PACKAGE), "lib", PACKAGE, executable).exists():
        raise RuntimeError(f"this installation of {PACKAGE} has no executable {executable}; build and source it anew")
    own = [_share("config", "robot.yaml")] if given["backend"] == "lcm" else []
    files = [ParameterFile(file) for file in (_share("config", "base.yaml"), *own, given["params_file"]) if file]
    common = {"use_sim_time": given["use_sim_time"] == "true", "node.lockstep": given["lockstep"] == "true"}
    if given["model"]:
        common["node.urdf"] = str(Path(given["model"]).resolve())
    logger = ".".join([*filter(None, given["namespace"].split("/")), name])
    return Node(
        package=PACKAGE,
        executable=executable,
        name=name,
        namespace=given["namespace"],
        parameters=[*files, common, own],
        ros_arguments=["--log-level", f"{logger}:={given['log_level']}"],
        output="screen",
        emulate_tty=True,
        respawn=given["respawn"] == "true",
        respawn_delay=RESPAWN_DELAY,
        on_exit=_end_where_refused,
    )


def _end_where_refused(event, _context) -> list:
    """A node that cannot start as it was told to would not the next time: end everything."""
    if event.returncode != REFUSED:
        return []
    return [EmitEvent(event=Shutdown(reason=f"{event.process_name} cannot start; its last line says why"))]


def _gazebo_server(given: dict[str, str]) -> ExecuteProcess:
    """The server with a world of our own making."""
    from contact_ddp_ros.gazebo.sdf import world_sdf
    from contact_ddp_ros.robot.model import load_robot

    world = Path(tempfile.mkdtemp(prefix="contact_ddp_ros_"), "world.sdf")
    world.write_text(world_sdf(load_robot(Path(given["model"]) if given["model"] else None)), encoding="utf-8")
    if given["gazebo_release"] == "stand_in":
        command = ["python3", "-m", "contact_ddp_ros.cli", "gazebo-stand-in", str(world)]
    else:
        command = ["gz", "sim", "-r", "-s", str(world)]
    return ExecuteProcess(cmd=command, name="gazebo", output="screen", on_exit=_end_with_server)


def _end_with_server(event, _context) -> list:
    return [EmitEvent(event=Shutdown(reason=f"the Gazebo server ended with code {event.returncode}"))]


def _description(given: dict[str, str]) -> list:
    """The robot's description and joint frames for other tools, where ROS 2 has what publishes them."""
    if not _has("robot_state_publisher"):
        return [LogInfo(msg="robot_state_publisher is not installed: no robot_description, no frames of the links")]
    from contact_ddp_ros.robot.urdf import default_urdf

    urdf = Path(given["model"] or default_urdf())
    parameters = {
        "robot_description": urdf.read_text(encoding="utf-8"),
        "use_sim_time": given["use_sim_time"] == "true",
    }
    return [
        Node(
            package="robot_state_publisher",
            executable="robot_state_publisher",
            namespace=given["namespace"],
            parameters=[parameters],
        ),
        _node_without_parameters(given, "frames_node"),
    ]


def _node_without_parameters(given: dict[str, str], executable: str) -> Node:
    return Node(
        package=PACKAGE,
        executable=executable,
        namespace=given["namespace"],
        parameters=[{"use_sim_time": given["use_sim_time"] == "true"}],
        output="screen",
    )


def _rviz(given: dict[str, str]) -> list[Node]:
    _require("rviz2", "rviz:=true")
    return [
        Node(
            package="rviz2",
            executable="rviz2",
            namespace=given["namespace"],
            arguments=["-d", _share("config", "bounding.rviz")],
            parameters=[{"use_sim_time": given["use_sim_time"] == "true"}],
        )
    ]


def _joystick(given: dict[str, str]) -> list[Node]:
    for package in ("joy", "joy_teleop"):
        _require(package, "joystick:=true")
    file = _share("config", "joy.yaml")
    return [
        Node(package=package, executable=executable, namespace=given["namespace"], parameters=[ParameterFile(file)])
        for package, executable in (("joy", "joy_node"), ("joy_teleop", "joy_teleop"))
    ]


def _recorder(given: dict[str, str]) -> ExecuteProcess:
    """`ros2 bag record` of the topics that the table of topics names for it."""
    _require("ros2bag", "record:=true")
    from contact_ddp_ros.nodes.interfaces import RECORDED

    prefix = "".join(f"/{part}" for part in given["namespace"].split("/") if part)
    topics = [topic.name if topic.name.startswith("/") else f"{prefix}/{topic.name}" for topic in RECORDED]
    folder = [] if given["record"] == "true" else ["--output", given["record"]]
    clock = ["--use-sim-time"] if given["use_sim_time"] == "true" else []
    return ExecuteProcess(
        cmd=["ros2", "bag", "record", *folder, *clock, "--topics", *topics], name="bag", output="screen"
    )


def _loopback() -> list[SetEnvironmentVariable]:
    profile = _share("config", "fastdds_loopback.xml")
    variables = {
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "SYSTEM_DEFAULT",  # which leaves the transports to the profile
        "FASTRTPS_DEFAULT_PROFILES_FILE": profile,
        "FASTDDS_DEFAULT_PROFILES_FILE": profile,
    }
    return [SetEnvironmentVariable(name, value) for name, value in variables.items()]


def _share(*parts: str) -> str:
    return str(Path(get_package_share_directory(PACKAGE), *parts))


def _has(package: str) -> bool:
    try:
        get_package_prefix(package)
    except PackageNotFoundError:
        return False
    return True


def _require(package: str, argument: str) -> None:
    if not _has(package):
        raise RuntimeError(
            f"{argument} needs the ROS 2 package {package}: sudo apt-get install ros-$ROS_DISTRO-"
            f"{package.replace('_', '-')}"
        )
