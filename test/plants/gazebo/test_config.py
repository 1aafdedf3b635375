"""The files for the conventional routes name what the world has and the nodes speak."""

from pathlib import Path

import yaml

from contact_ddp_ros.plants.gazebo.config import Names
from contact_ddp_ros.robot.joints import JOINT_NAMES

FOLDER = Path(__file__).parents[3] / "config" / "gazebo"
NAMES = Names()

STATES = {
    "/clock": ("/clock", "rosgraph_msgs/msg/Clock", "gz.msgs.Clock"),
    "joint_states": (NAMES.joint_state, "sensor_msgs/msg/JointState", "gz.msgs.Model"),
    "odom": (NAMES.odometry, "nav_msgs/msg/Odometry", "gz.msgs.Odometry"),
    "imu/data": (NAMES.imu, "sensor_msgs/msg/Imu", "gz.msgs.IMU"),
}


def read(name: str) -> object:
    return yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))


def by_topic(entries: object) -> dict[str, tuple[str, str, str, str]]:
    parts = ("gz_topic_name", "ros_type_name", "gz_type_name", "direction")
    return {entry["ros_topic_name"]: tuple(entry[part] for part in parts) for entry in entries}


def test_every_topic_is_bridged_the_way_it_goes() -> None:
    efforts = {
        f"joint/{joint}/cmd_force": (NAMES.effort(joint), "std_msgs/msg/Float64", "gz.msgs.Double", "ROS_TO_GZ")
        for joint in JOINT_NAMES
    }
    states = {topic: (*route, "GZ_TO_ROS") for topic, route in STATES.items()}
    assert by_topic(read("ros_gz_bridge.yaml")) == {**states, **efforts}


def test_beside_ros2_control_the_joints_are_not_bridged() -> None:
    states = {topic: (*route, "GZ_TO_ROS") for topic, route in STATES.items() if topic != "joint_states"}
    assert by_topic(read("ros_gz_bridge_for_ros2_control.yaml")) == states


def test_ros2_control_takes_efforts_in_our_order() -> None:
    content = read("ros2_controllers.yaml")
    manager = content["controller_manager"]["ros__parameters"]
    assert manager["effort_controller"]["type"] == "forward_command_controller/ForwardCommandController"
    assert manager["joint_state_broadcaster"]["type"] == "joint_state_broadcaster/JointStateBroadcaster"
    assert manager["update_rate"] == 1000
    controller = content["effort_controller"]["ros__parameters"]
    assert controller == {"interface_name": "effort", "joints": list(JOINT_NAMES)}
