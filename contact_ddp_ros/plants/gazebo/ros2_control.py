"""The robot description for gz_ros2_control: the URDF with the joints' interfaces, as that plugin reads them.

The plugin in the world (`controllers=` of :func:`contact_ddp_ros.plants.gazebo.sdf.world_sdf`) takes what the joints
offer from the robot description that robot_state_publisher holds: an effort to command, position, velocity and effort
to read. Unlike the SDF it can say where the joints are at the start.
"""

from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.plants.gazebo.drives import largest_effort
from contact_ddp_ros.robot.joints import JOINT_NAMES
from contact_ddp_ros.robot.model import Robot

Array = NDArray[np.float64]

_HARDWARE = "gz_ros2_control/GazeboSimSystem"


def ros2_control_urdf(robot: Robot, *, drive_damping: Array | None = None) -> str:
    """The robot's URDF with its joints as ros2_control hardware, standing at the start.

    Args:
        robot: to be simulated.
        drive_damping: as in :func:`contact_ddp_ros.plants.gazebo.sdf.world_sdf`; the efforts' limits are wider then.
    """
    root = ElementTree.fromstring(robot.description)
    system = ElementTree.SubElement(root, "ros2_control", name=robot.tree.name, type="system")
    ElementTree.SubElement(ElementTree.SubElement(system, "hardware"), "plugin").text = _HARDWARE
    damping = np.zeros(robot.n_joints) if drive_damping is None else drive_damping
    drives = {joint.name: joint for joint in robot.tree.joints}
    for name, own, angle in zip(JOINT_NAMES, damping.tolist(), robot.standing, strict=True):
        limit = largest_effort(drives[name], own)
        joint = ElementTree.SubElement(system, "joint", name=name)
        effort = ElementTree.SubElement(joint, "command_interface", name="effort")
        _parameter(effort, "min", -limit)
        _parameter(effort, "max", limit)
        position = ElementTree.SubElement(joint, "state_interface", name="position")
        _parameter(position, "initial_value", angle)
        for interface in ("velocity", "effort"):
            ElementTree.SubElement(joint, "state_interface", name=interface)
    ElementTree.indent(root)
    return '<?xml version="1.0"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _parameter(parent: ElementTree.Element, name: str, value: float) -> None:
    ElementTree.SubElement(parent, "param", name=name).text = f"{float(value):.12g}"
