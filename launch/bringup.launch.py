"""Planner, joint controller and what plays the robot: MuJoCo, Gazebo, or the bridge to the robot itself.

ros2 launch contact_ddp_ros bringup.launch.py
ros2 launch contact_ddp_ros bringup.launch.py lockstep:=true params_file:=my.yaml
ros2 launch contact_ddp_ros bringup.launch.py composed:=true
ros2 launch contact_ddp_ros bringup.launch.py model:=go1 gait:=bound_long_stance
ros2 launch contact_ddp_ros bringup.launch.py backend:=gazebo rviz:=true record:=true
ros2 launch contact_ddp_ros bringup.launch.py backend:=lcm autostart:=false
ros2 launch contact_ddp_ros bringup.launch.py backend:=unitree model:=go2 interface:=eth0

Then `ros2 service call /stand std_srvs/srv/Trigger`, the same with /move, and a speed on /cmd_vel. See docs/ros.md.

`ros2 launch` runs this file in the Python that ROS 2 came with, which need not have what the nodes import: what takes
the package itself is asked of the program `prepare_bringup`, which runs in the nodes' Python.
"""

import atexit
import getpass
import json
import os
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import yaml
from ament_index_python.packages import PackageNotFoundError, get_package_prefix, get_package_share_directory
from launch import LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    ExecuteProcess,
    LogInfo,
    OpaqueFunction,
    RegisterEventHandler,
    SetEnvironmentVariable,
)
from launch.event_handlers import OnShutdown
from launch.events import Shutdown
from launch.events.process import SignalProcess
from launch.logging import get_logger
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterFile, ParameterValue

PACKAGE = "contact_ddp_ros"

REFUSED = 1
"""Exit code of a node that cannot start as it was told to; others are started again."""

WITH_LAUNCH = "setpriv --pdeathsig TERM"
"""Words before every command: the system sends SIGTERM to the process when the launch ends, even by SIGKILL."""

RESPAWN_DELAY = 1.0
"""Time before a process that has died is started again [s]."""

NEW_FOLDER = 'folder=$0; n=1; while [ -e "$folder" ]; do n=$((n + 1)); folder=$0-$n; done; exec "$@" --output "$folder"'
"""Shell words that record into a folder, one started again into another: a bag needs a folder of its own."""


@dataclass(frozen=True)
class Backend:
    """What plays the robot: the node, and whether its time is simulated."""

    node: str
    executable: str
    simulated: bool


BACKENDS = {
    "mujoco": Backend("simulator", "simulator_node", True),
    "gazebo": Backend("gazebo_bridge", "gazebo_bridge_node", True),
    "lcm": Backend("bridge", "lcm_bridge_node", False),
    "unitree": Backend("unitree", "unitree_node", False),
    "driver": Backend("driver", "driver_node", False),
}

WITH_INTERFACE = ("backend:=lcm", "backend:=unitree")

YES_NO = ["true", "false"]

AUTO = "auto"
"""Of an argument: what the parameter file says, else the node's own default."""

OF_THE_WORLD = [
    "gazebo_world",
    "gazebo_ground",
    "gazebo_friction",
    "gazebo_trunk_mass_scale",
    "gazebo_real_time_factor",
]
"""Arguments that make Gazebo's world, so that they are for a server that is started here."""

ARGUMENTS = [
    DeclareLaunchArgument(
        "backend",
        default_value="mujoco",
        choices=[*BACKENDS, "none"],
        description="what plays the robot; driver: one with its own ROS 2 driver; none: states come from elsewhere",
    ),
    DeclareLaunchArgument(
        "model", default_value="", description="robot of config/robots, its .yaml file, or a URDF; empty: mini_cheetah"
    ),
    DeclareLaunchArgument(
        "interface", default_value=AUTO, description="network interface to the robot, of the backends lcm and unitree"
    ),
    DeclareLaunchArgument("namespace", default_value="", description="of all nodes and topics"),
    DeclareLaunchArgument(
        "use_sim_time",
        default_value=AUTO,
        choices=[AUTO, *YES_NO],
        description="whether time is that of /clock; auto: where the backend simulates",
    ),
    DeclareLaunchArgument("params_file", default_value="", description="parameter file on top of the packaged one"),
    DeclareLaunchArgument("rviz", default_value="false", choices=YES_NO, description="show robot and plan in RViz"),
    DeclareLaunchArgument("log_level", default_value="info", description="debug, info, warn, error or fatal"),
    DeclareLaunchArgument(
        "autostart",
        default_value=AUTO,
        choices=[AUTO, *YES_NO],
        description="whether planner and controller go to active by themselves; auto: as params_file says, else true",
    ),
    DeclareLaunchArgument(
        "record", default_value="false", description="record a bag: true, or the folder it is to be written to"
    ),
    DeclareLaunchArgument(
        "joystick", default_value="false", choices=YES_NO, description="drive by joystick: joy and joy_teleop"
    ),
    DeclareLaunchArgument(
        "respawn", default_value="true", choices=YES_NO, description="start processes that have died again"
    ),
    DeclareLaunchArgument(
        "composed",
        default_value="false",
        choices=YES_NO,
        description="controller and what plays the robot share a process, which saves both of them work",
    ),
    DeclareLaunchArgument(
        "lockstep",
        default_value=AUTO,
        choices=[AUTO, *YES_NO],
        description="physics waits for controller and planner instead of following the wall clock; "
        "auto: as params_file says, else false",
    ),
    DeclareLaunchArgument(
        "state",
        default_value=AUTO,
        choices=[AUTO, "imu", "odom"],
        description="source of the trunk's state: the state estimator on imu/data, or the topic odom; "
        "auto: as params_file says, else imu",
    ),
    DeclareLaunchArgument(
        "variant",
        default_value=AUTO,
        choices=[AUTO, "ilqr", "ddp", "ddp_tensor", "quasi_newton"],
        description="solver of the planner; auto: as params_file says, else ddp",
    ),
    DeclareLaunchArgument(
        "gait",
        default_value=AUTO,
        description="gait of config/gaits, or a .yaml file; auto: as params_file says, else bound",
    ),
    DeclareLaunchArgument(
        "motions",
        default_value=AUTO,
        description="motions of config/motions, or .yaml files, to have ready, separated by commas: backflip,jump; "
        "auto: as params_file says, else none",
    ),
    DeclareLaunchArgument(
        "stamped_cmd_vel",
        default_value=AUTO,
        choices=[AUTO, *YES_NO],
        description="hear cmd_vel as TwistStamped instead of Twist; auto: as params_file says, else false",
    ),
    DeclareLaunchArgument(
        "gazebo_release",
        default_value="",
        choices=["", "harmonic", "ionic", "jetty", "emulator"],
        description="of Gazebo, whose Python bindings are used; empty: the newest; emulator: DART without Gazebo",
    ),
    DeclareLaunchArgument(
        "gazebo_server",
        default_value="start",
        choices=["start", "join"],
        description="start a Gazebo server, which ends with the launch, or join one that runs",
    ),
    DeclareLaunchArgument(
        "gazebo_world",
        default_value=AUTO,
        description="SDF file of a world of yours, which the robot is put into; auto: a plain one",
    ),
    DeclareLaunchArgument(
        "gazebo_ground",
        default_value=AUTO,
        description="shape of the ground: slope:DEG, step:X,RISE or another of docs/worlds.md; auto: flat",
    ),
    DeclareLaunchArgument(
        "gazebo_friction", default_value=AUTO, description="of the feet, and of the ground where that is not yours"
    ),
    DeclareLaunchArgument(
        "gazebo_trunk_mass_scale", default_value=AUTO, description="mass and inertia of the trunk over the URDF's"
    ),
    DeclareLaunchArgument(
        "gazebo_real_time_factor", default_value=AUTO, description="pace of simulated time over the wall clock"
    ),
    DeclareLaunchArgument(
        "enclaves",
        default_value="",
        description="where the SROS 2 enclaves of our nodes are in the keystore, such as /contact_ddp; empty: none",
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
    if given["use_sim_time"] == AUTO:
        given["use_sim_time"] = str(backend is not None and backend.simulated).lower()
    if shutil.which(WITH_LAUNCH.split()[0]) is None:
        raise RuntimeError(f"there is no {WITH_LAUNCH.split()[0]}: sudo apt-get install util-linux")
    _check_paths(given)
    known = _known(given, ["planner", "controller", *([backend.node] if backend else [])])
    for warning in known["warnings"]:
        get_logger(PACKAGE).warning(warning)
    actions = [RegisterEventHandler(OnShutdown(on_shutdown=_interrupt_nodes))]
    actions += [SetEnvironmentVariable(name, value) for name, value in known["loopback"].items()]
    if given["backend"] == "gazebo":
        actions += _gazebo_server(given, known)
    autostart = _switch(given, "autostart", "node.autostart")
    actions.append(_process(given, known, "planner_node", {"planner": {**_plan(given), **autostart}}))
    follows = {**_control(given), **autostart}
    own = _gazebo_parameters(given, known["world"]) if given["backend"] == "gazebo" else {}
    if given["interface"] != AUTO:
        if f"backend:={given['backend']}" not in WITH_INTERFACE:
            raise RuntimeError(f"interface:={given['interface']} is for {' and '.join(WITH_INTERFACE)} alone")
        own["link.interface"] = given["interface"]
    if given["composed"] == "true":
        if backend is None or given["backend"] == "driver":
            raise RuntimeError("composed:=true needs a backend whose process the controller is to share")
        actions.append(
            _process(given, known, "composed_node", {"controller": follows, backend.node: own}, [backend.node])
        )
    else:
        actions.append(_process(given, known, "controller_node", {"controller": follows}))
        if backend is not None:
            actions.append(_process(given, known, backend.executable, {backend.node: own}))
    actions += _description(given, known)
    if given["rviz"] == "true":
        actions += _rviz(given)
    if given["joystick"] == "true":
        actions += _joystick(given)
    if given["record"] not in ("", "false"):
        actions.append(_recorder(given, known["topics"]))
    return actions


def _known(given: dict[str, str], nodes: list[str]) -> dict:
    """Facts that only the package knows, from `contact_ddp_ros/ros/bringup.py`, run in the nodes' Python."""
    request = {"given": given, "nodes": [f"{_prefix(given)}/{node}" for node in nodes], "share": _share()}
    done = subprocess.run(
        [_program("prepare_bringup")], input=json.dumps(request), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError((done.stderr.strip() or f"prepare_bringup ended with {done.returncode}").splitlines()[-1])
    return json.loads(done.stdout)


def _program(name: str) -> str:
    """The path of an executable of ours."""
    path = Path(get_package_prefix(PACKAGE), "lib", PACKAGE, name)
    if not path.exists():
        raise RuntimeError(f"this installation of {PACKAGE} has no executable {name}; build and source it anew")
    return str(path)


def _contract(given: dict[str, str], **instead) -> dict:
    """Options of every process: it ends when the launch does, however that ends, and is started again when it dies."""
    prefix = [WITH_LAUNCH, " ", LaunchConfiguration("launch-prefix", default="")]
    respawn = given["respawn"] == "true"
    return {"prefix": prefix, "respawn": respawn, "respawn_delay": RESPAWN_DELAY, "output": "screen", **instead}


def _time(given: dict[str, str]) -> dict[str, bool]:
    return {"use_sim_time": given["use_sim_time"] == "true"}


def _plan(given: dict[str, str]) -> dict[str, str]:
    """The planner's own parameters among the arguments."""
    variant = {} if given["variant"] == AUTO else {"variant": given["variant"]}
    gait = {} if given["gait"] == AUTO else {"gait.name": _in_full(given["gait"])}
    return {**variant, **gait, **_switch(given, "stamped_cmd_vel", "node.enable_stamped_cmd_vel")}


def _control(given: dict[str, str]) -> dict[str, str]:
    """The controller's own parameters among the arguments."""
    state = {} if given["state"] == AUTO else {"node.state": given["state"]}
    names = ",".join(map(_in_full, _words(given["motions"])))
    return {**state, **({} if given["motions"] == AUTO else {"node.motions": names})}


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _check_paths(given: dict[str, str]) -> None:
    """Folders among the arguments, before anything is started with them."""
    if given["record"] not in ("", "true", "false"):
        folder = Path(given["record"])
        if folder.exists():
            raise RuntimeError(f"record:={folder} exists already; a bag needs a folder of its own")
        if not os.access(folder.absolute().parent, os.W_OK):
            raise RuntimeError(f"record:={folder}: {folder.absolute().parent} is no folder that can be written to")
    if given["enclaves"]:
        keystore = os.environ.get("ROS_SECURITY_KEYSTORE", "")
        folder = Path(keystore, "enclaves", given["enclaves"].strip("/"))
        if not given["enclaves"].startswith("/"):
            raise RuntimeError(f"enclaves:={given['enclaves']} is no path in a keystore; it begins with /")
        if keystore and not folder.is_dir():
            raise RuntimeError(f"enclaves:={given['enclaves']}: there is no folder {folder} in ROS_SECURITY_KEYSTORE")


def _in_full(source: str) -> str:
    """A robot or a gait for nodes that may start elsewhere: a name as it is, the path of a file in full."""
    path = Path(source)
    return str(path.resolve()) if path.suffix or path.name != source else source


def _prefix(given: dict[str, str]) -> str:
    """The namespace as the beginning of names: empty, or with a slash in front and none behind."""
    return "".join(f"/{part}" for part in given["namespace"].split("/") if part)


def _remappings(given: dict[str, str]) -> list[tuple[str, str]]:
    """In a namespace the robot has frames of its own and, where its time is made here, a clock of its own."""
    if not _prefix(given):
        return []
    own_clock = ["clock"] if given["backend"] not in ("driver", "none") else []
    return [(f"/{name}", name) for name in ("tf", "tf_static", *own_clock)]


def _switch(given: dict[str, str], argument: str, parameter: str) -> dict[str, bool]:
    """The parameter that an argument sets, where it sets one."""
    return {} if given[argument] == AUTO else {parameter: given[argument] == "true"}


def _enclave(given: dict[str, str], executable: str) -> list[str]:
    """ROS arguments that give a process of ours its enclave, if it is to have one."""
    folder = given["enclaves"].rstrip("/")
    if folder and executable == "composed_node":
        raise RuntimeError("composed:=true and enclaves: the packaged policy has an enclave for each node apart")
    return ["--enclave", f"{folder}/{executable.removesuffix('_node')}"] if folder else []


def _process(
    given: dict[str, str], known: dict, executable: str, nodes: dict[str, dict], words: list[str] | None = None
) -> Node:
    """A process with nodes of ours, each with parameters of its own; command-line arguments are stronger than files."""
    _program(executable)
    packaged = ["base.yaml", *(["robot.yaml"] if given["backend"] == "lcm" else [])]
    files = [_share("config", file) for file in packaged] + [given["params_file"]]
    model = {"node.urdf": _in_full(given["model"])} if given["model"] else {}
    common = {**_time(given), **_switch(given, "lockstep", "node.lockstep"), **model}
    levels = [f"{'.'.join([*_prefix(given).split('/')[1:], name])}:={given['log_level']}" for name in nodes]
    alone = len(nodes) == 1
    (name, *_), (own, *_) = nodes, nodes.values()
    arguments = {**common, **own} if alone else _parameter_file(given, {one: {**common, **nodes[one]} for one in nodes})
    return Node(
        package=PACKAGE,
        executable=executable,
        exec_name=executable,
        arguments=words,
        additional_env=known["transports"],
        name=name if alone else None,
        namespace=given["namespace"],
        parameters=[*(ParameterFile(file) for file in files if file), arguments],
        remappings=_remappings(given),
        ros_arguments=[*(word for level in levels for word in ("--log-level", level)), *_enclave(given, executable)],
        emulate_tty=True,
        on_exit=_end_where_refused,
        **_contract(given),
    )


def _parameter_file(given: dict[str, str], nodes: dict[str, dict]) -> ParameterFile:
    """Parameters of the nodes of one process, where each must get its own only."""
    sections = {f"{_prefix(given)}/{name}": {"ros__parameters": own} for name, own in nodes.items()}
    file = _scratch() / "parameters.yaml"
    file.write_text(yaml.safe_dump(sections), encoding="utf-8")
    return ParameterFile(str(file))


def _scratch() -> Path:
    """A folder that goes with the launch."""
    folder = tempfile.mkdtemp(prefix="contact_ddp_ros_")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def _end_where_refused(event, _context) -> list:
    """A node that cannot start as it was told to would not the next time: end everything, with an exit code."""
    if event.returncode == REFUSED:
        raise RuntimeError(f"{event.process_name} cannot start as it was told to; its last line says why")
    return []


def _interrupt_nodes(event, _context) -> list:
    """launch leaves SIGINT to the terminal, which sends it to all; one that was sent to the launch alone goes on here.

    Nodes ignore the second one.
    """
    if not getattr(event, "due_to_sigint", False):
        return []
    ours = lambda action: isinstance(action, Node) and action.node_package == PACKAGE  # noqa: E731
    return [EmitEvent(event=SignalProcess(signal_number=signal.SIGINT, process_matcher=ours))]


def _gazebo_server(given: dict[str, str], known: dict) -> list:
    """The server with a world of our own making, in a namespace apart from everybody else's on this machine."""
    actions: list = []
    if _prefix(given):
        partition = os.environ.get("GZ_PARTITION", getpass.getuser()) + _prefix(given).replace("/", "_")
        actions.append(SetEnvironmentVariable("GZ_PARTITION", partition))
    if given["gazebo_server"] == "join":
        return actions
    world = _scratch() / "world.sdf"
    world.write_text(known["world"]["text"], encoding="utf-8")
    if given["gazebo_release"] == "emulator":
        command = [known["python"], "-m", "contact_ddp_ros.apps.cli", "gazebo-emulator", str(world)]
    else:
        command = ["gz", "sim", "-r", "-s", str(world)]
    server = ExecuteProcess(cmd=command, name="gazebo", on_exit=_end_with_server, **_contract(given, respawn=False))
    return [*actions, server]


def _gazebo_parameters(given: dict[str, str], world: dict) -> dict:
    """Parameters of the bridge that follow from the arguments and from the world."""
    parameters: dict = {}
    if given["gazebo_release"]:
        parameters["node.release"] = given["gazebo_release"]
    made = [name for name in OF_THE_WORLD if given[name] != AUTO]
    if given["gazebo_server"] == "join" and made:
        raise RuntimeError(
            f"gazebo_server:=join takes the running server's world, which {', '.join(made)} cannot change; start that "
            "server with a world of `contact-ddp sdf`, which has options for it"
        )
    if given["gazebo_world"] != AUTO:
        parameters |= {"gazebo.world": world["name"], "gazebo.timestep": world["timestep"]}
    return parameters


def _end_with_server(event, _context) -> list:
    if event.returncode:
        raise RuntimeError(f"the Gazebo server ended with code {event.returncode}")
    return [EmitEvent(event=Shutdown(reason="the Gazebo server ended"))]


def _description(given: dict[str, str], known: dict) -> list:
    """The robot's description and joint frames for other tools, where ROS 2 has what publishes them."""
    if not _has("robot_state_publisher"):
        return [LogInfo(msg="robot_state_publisher is not installed: no robot_description, no frames of the links")]
    description = {"robot_description": ParameterValue(known["description"], value_type=str)}
    return [
        _tool(given, "robot_state_publisher", "robot_state_publisher", description),
        _tool(
            given,
            PACKAGE,
            "frames_node",
            additional_env=known["transports"],
            on_exit=_end_where_refused,
            ros_arguments=_enclave(given, "frames_node"),
        ),
    ]


def _rviz(given: dict[str, str]) -> list[Node]:
    _require("rviz2", "rviz:=true")
    closed = {"respawn": False}  # by whoever looks at it
    return [_tool(given, "rviz2", "rviz2", arguments=["-d", _share("config", "bounding.rviz")], **closed)]


def _tool(given: dict[str, str], package: str, executable: str, *parameters: dict, **options) -> Node:
    """A node beside the control loop, with the robot's clock and frames."""
    return Node(
        package=package,
        executable=executable,
        exec_name=executable,
        namespace=given["namespace"],
        parameters=[_time(given), *parameters],
        remappings=_remappings(given),
        **_contract(given, **options),
    )


def _joystick(given: dict[str, str]) -> list[Node]:
    if given["stamped_cmd_vel"] == "true":
        raise RuntimeError("joystick:=true sends geometry_msgs/Twist, which stamped_cmd_vel:=true does not hear")
    for package in ("joy", "joy_teleop"):
        _require(package, "joystick:=true")
    file = _share("config", "joy.yaml")
    return [
        Node(
            package=package,
            executable=executable,
            exec_name=executable,
            namespace=given["namespace"],
            parameters=[ParameterFile(file)],
            **_contract(given),
        )
        for package, executable in (("joy", "joy_node"), ("joy_teleop", "joy_teleop"))
    ]


def _recorder(given: dict[str, str], topics: list[str]) -> ExecuteProcess:
    """`ros2 bag record` of the topics that the table of topics names for it."""
    _require("ros2bag", "record:=true", install="rosbag2")  # ros2bag alone comes without a storage
    topics = [topic if topic.startswith("/") else f"{_prefix(given)}/{topic}" for topic in topics]
    own_clock = any(topic == "/clock" for topic, _ in _remappings(given))  # which ros2 bag cannot be told
    clock = ["--use-sim-time"] if given["use_sim_time"] == "true" and not own_clock else []
    words = ["ros2", "bag", "record", *clock, "--topics", *topics]
    folder = [] if given["record"] == "true" else ["sh", "-c", NEW_FOLDER, given["record"]]
    return ExecuteProcess(cmd=[*folder, *words], name="bag", **_contract(given))


def _share(*parts: str) -> str:
    return str(Path(get_package_share_directory(PACKAGE), *parts))


def _has(package: str) -> bool:
    try:
        get_package_prefix(package)
    except PackageNotFoundError:
        return False
    return True


def _require(package: str, argument: str, install: str = "") -> None:
    if not _has(package):
        raise RuntimeError(
            f"{argument} needs the ROS 2 package {package}: sudo apt-get install ros-$ROS_DISTRO-"
            f"{(install or package).replace('_', '-')}"
        )
