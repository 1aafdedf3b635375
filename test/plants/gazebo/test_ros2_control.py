"""The URDF for gz_ros2_control is ours plus the joints' interfaces."""

from xml.etree import ElementTree

import pytest

from contact_ddp_ros.control.config import DriveConfig
from contact_ddp_ros.plants.gazebo.plugins import ros2_control_urdf
from contact_ddp_ros.robot.joints import JOINT_NAMES
from contact_ddp_ros.robot.load import load_robot

ROBOT = load_robot()


@pytest.mark.parametrize("drive_damping", [False, True])
def test_every_joint_takes_effort_and_tells_its_state(drive_damping: bool) -> None:
    kd = DriveConfig().gains(4).kd
    root = ElementTree.fromstring(ros2_control_urdf(ROBOT, drive_damping=kd if drive_damping else None))
    assert root.findtext("ros2_control/hardware/plugin") == "gz_ros2_control/GazeboSimSystem"
    joints = root.findall("ros2_control/joint")
    assert [joint.get("name") for joint in joints] == list(JOINT_NAMES)
    tree = {joint.name: joint for joint in ROBOT.tree.joints}
    damping = dict(zip(JOINT_NAMES, kd, strict=True))
    for joint, angle in zip(joints, ROBOT.standing, strict=True):
        drive = tree[joint.get("name", "")]
        limit = drive.effort_limit + drive_damping * damping[drive.name] * drive.velocity_limit
        (command,) = joint.findall("command_interface")
        bounds = {parameter.get("name"): float(parameter.text or "") for parameter in command}
        assert (command.get("name"), bounds) == ("effort", pytest.approx({"min": -limit, "max": limit}))
        assert {state.get("name") for state in joint.findall("state_interface")} == {"position", "velocity", "effort"}
        initial = joint.find("state_interface[@name='position']/param[@name='initial_value']")
        assert initial is not None
        assert float(initial.text or "") == pytest.approx(angle)


def test_the_robot_is_the_same(tmp_path) -> None:
    file = tmp_path / "robot.urdf"
    file.write_text(ros2_control_urdf(ROBOT), encoding="utf-8")
    assert load_robot(file).model_hash == ROBOT.model_hash
