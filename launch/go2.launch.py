"""Planner, joint controller and bridge for a Unitree Go2, with its emulator where no interface to a robot is named.

ros2 launch contact_ddp_ros go2.launch.py                        the emulator
ros2 launch contact_ddp_ros go2.launch.py emulator:=false        Unitree's unitree_mujoco, started elsewhere
ros2 launch contact_ddp_ros go2.launch.py interface:=eth0        the robot; see docs/unitree.md before

Every argument of bringup.launch.py may follow, such as gait:=trot or params_file:=my.yaml.
"""

from pathlib import Path

from ament_index_python.packages import get_package_prefix
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess, IncludeLaunchDescription, OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration

PACKAGE = "contact_ddp_ros"

WITH_LAUNCH = "setpriv --pdeathsig TERM"
"""Words before the emulator's command: it ends with the launch. It is no node, so it takes no `--ros-args`."""


def generate_launch_description() -> LaunchDescription:
    """Arguments first, then what they describe."""
    return LaunchDescription(
        [
            DeclareLaunchArgument("interface", default_value="lo", description="network interface to the robot"),
            DeclareLaunchArgument("model", default_value="go2", description="robot of config/robots, or a URDF"),
            DeclareLaunchArgument(
                "emulator", default_value="auto", choices=["auto", "true", "false"], description="start the emulator"
            ),
            OpaqueFunction(function=_bring_up),
        ]
    )


def _bring_up(context, *_args, **_kwargs) -> list:
    given = {name: LaunchConfiguration(name).perform(context) for name in ("interface", "model", "emulator")}
    bringup = PythonLaunchDescriptionSource(str(Path(__file__).with_name("bringup.launch.py")))
    chosen = {"backend": "unitree", "interface": given["interface"], "model": given["model"]}
    actions = [IncludeLaunchDescription(bringup, launch_arguments=chosen.items())]
    if given["emulator"] == "true" or (given["emulator"] == "auto" and given["interface"] == "lo"):
        program = str(Path(get_package_prefix(PACKAGE), "lib", PACKAGE, "unitree_emulator"))
        words = [f"robot={given['model']}", f"link.interface={given['interface']}"]
        actions.append(ExecuteProcess(cmd=[program, *words], prefix=WITH_LAUNCH, output="screen"))
    return actions
