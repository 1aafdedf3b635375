"""Planner, joint controller and, with `backend:=mujoco`, the simulated robot.

ros2 launch contact_ddp_ros bringup.launch.py
ros2 launch contact_ddp_ros bringup.launch.py lockstep:=true params_file:=my.yaml
ros2 launch contact_ddp_ros bringup.launch.py backend:=none use_sim_time:=false     (states come from elsewhere)

Then `ros2 service call /stand std_srvs/srv/Trigger`, the same with /bound, and a speed on /cmd_vel.
"""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction, SetEnvironmentVariable
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration, PythonExpression
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterFile, ParameterValue

PACKAGE = "contact_ddp_ros"

ARGUMENTS = [
    DeclareLaunchArgument(
        "backend", default_value="mujoco", choices=["mujoco", "none"], description="what plays the robot"
    ),
    DeclareLaunchArgument("params_file", default_value="", description="parameter file on top of the packaged one"),
    DeclareLaunchArgument("namespace", default_value="", description="of all nodes and topics"),
    DeclareLaunchArgument(
        "use_sim_time", default_value="true", choices=["true", "false"], description="false on the real robot"
    ),
    DeclareLaunchArgument(
        "lockstep",
        default_value="false",
        choices=["true", "false"],
        description="physics waits for controller and planner instead of following the wall clock",
    ),
    DeclareLaunchArgument(
        "variant", default_value="ddp", choices=["ilqr", "ddp", "ddp_tensor"], description="solver of the planner"
    ),
    DeclareLaunchArgument("log_level", default_value="info", description="debug, info, warn, error or fatal"),
    DeclareLaunchArgument(
        "loopback", default_value="false", choices=["true", "false"], description="stay on this machine, start quicker"
    ),
]


def generate_launch_description() -> LaunchDescription:
    """Arguments first, then the nodes that they describe."""
    return LaunchDescription([*ARGUMENTS, *_loopback(), OpaqueFunction(function=_nodes)])


def _loopback() -> list[SetEnvironmentVariable]:
    profile = str(Path(get_package_share_directory(PACKAGE), "config", "fastdds_loopback.xml"))
    variables = {
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "SYSTEM_DEFAULT",  # which leaves the transports to the profile
        "FASTRTPS_DEFAULT_PROFILES_FILE": profile,
        "FASTDDS_DEFAULT_PROFILES_FILE": profile,
    }
    condition = IfCondition(LaunchConfiguration("loopback"))
    return [SetEnvironmentVariable(name, value, condition=condition) for name, value in variables.items()]


def _nodes(context, *_args, **_kwargs) -> list[Node]:
    base = str(Path(get_package_share_directory(PACKAGE), "config", "base.yaml"))
    own = LaunchConfiguration("params_file").perform(context)
    files = [ParameterFile(file) for file in (base, own) if file]
    common = {
        "use_sim_time": ParameterValue(LaunchConfiguration("use_sim_time"), value_type=bool),
        "node.lockstep": ParameterValue(LaunchConfiguration("lockstep"), value_type=bool),
    }
    simulated = IfCondition(PythonExpression(["'", LaunchConfiguration("backend"), "' == 'mujoco'"]))
    return [
        _node("planner", [*files, common, {"variant": LaunchConfiguration("variant")}]),
        _node("controller", [*files, common]),
        _node("simulator", [*files, common], condition=simulated),
    ]


def _node(name: str, parameters: list, condition: IfCondition | None = None) -> Node:
    return Node(
        package=PACKAGE,
        executable=f"{name}_node",
        name=name,
        namespace=LaunchConfiguration("namespace"),
        parameters=parameters,
        arguments=["--ros-args", "--log-level", [name, ":=", LaunchConfiguration("log_level")]],
        output="screen",
        emulate_tty=True,
        condition=condition,
    )
