"""A small URDF with every kind of joint that a tree may have."""

ARM = """<?xml version="1.0"?>
<robot name="arm">
  <link name="base"><inertial><origin xyz="0.01 0 0.05"/><mass value="2.0"/>
    <inertia ixx="0.02" iyy="0.03" izz="0.025" ixy="0" ixz="0.001" iyz="0"/></inertial></link>
  <link name="column"><inertial><origin xyz="0 0.02 0.1"/><mass value="1.5"/>
    <inertia ixx="0.01" iyy="0.012" izz="0.008" ixy="0.001" ixz="0" iyz="0"/></inertial></link>
  <link name="slide"><inertial><origin xyz="0.1 0 0"/><mass value="0.8"/>
    <inertia ixx="0.004" iyy="0.005" izz="0.006" ixy="0" ixz="0" iyz="0.0005"/></inertial></link>
  <link name="hand"><inertial><origin xyz="0.05 0.01 0"/><mass value="0.5"/>
    <inertia ixx="0.001" iyy="0.002" izz="0.0015" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="tip"><inertial><origin xyz="0 0 0"/><mass value="0.1"/>
    <inertia ixx="0.0001" iyy="0.0001" izz="0.0001" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="turn" type="continuous"><parent link="base"/><child link="column"/>
    <origin xyz="0 0 0.1" rpy="0.1 0 0"/><axis xyz="0 0 1"/><limit effort="5" velocity="3"/></joint>
  <joint name="extend" type="prismatic"><parent link="column"/><child link="slide"/>
    <origin xyz="0 0 0.2" rpy="0 0.3 0"/><axis xyz="1 0 0"/>
    <limit lower="-0.1" upper="0.4" effort="20" velocity="1"/></joint>
  <joint name="wrist" type="revolute"><parent link="slide"/><child link="hand"/>
    <origin xyz="0.2 0 0" rpy="0 0 0.4"/><axis xyz="0 0.6 0.8"/><limit lower="-2" upper="2" effort="0" velocity="4"/>
    <dynamics damping="DAMPING" armature="0.01"/></joint>
  <joint name="tool" type="fixed"><parent link="hand"/><child link="tip"/><origin xyz="0.12 0.03 -0.02"/></joint>
</robot>
"""


def arm(damping: float = 0.0) -> str:
    """The URDF's text, with a viscous friction of the wrist [N m s/rad]."""
    return ARM.replace("DAMPING", str(damping))
