from glob import glob
from pathlib import Path

from setuptools import find_packages, setup

PACKAGE = "contact_ddp_ros"
VERSION = {}
exec(Path(PACKAGE, "__init__.py").read_text(encoding="utf-8"), VERSION)

setup(
    name=PACKAGE,
    version=VERSION["__version__"],
    packages=find_packages(include=[PACKAGE, f"{PACKAGE}.*"]),
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
        (f"share/{PACKAGE}/urdf", glob("urdf/*.urdf")),
        (f"share/{PACKAGE}/config", glob("config/*.yaml") + glob("config/*.xml") + glob("config/*.rviz")),
        (f"share/{PACKAGE}/robot_side", glob("robot_side/*")),
        (f"share/{PACKAGE}/config/security", glob("config/security/*.xml")),
        (f"share/{PACKAGE}/config/gazebo", glob("config/gazebo/*.yaml")),
        (f"share/{PACKAGE}/launch", glob("launch/*.launch.py")),
    ],
    python_requires=">=3.10",
    install_requires=["setuptools"],
    zip_safe=True,
    maintainer="contact_ddp_ros maintainers",
    maintainer_email="maintainers@users.noreply.github.com",
    description=(
        "Full second-order DDP model-predictive control that makes the MIT Mini Cheetah bound, through ROS 2 nodes."
    ),
    license="Apache-2.0",
    entry_points={
        "console_scripts": [
            f"contact-ddp = {PACKAGE}.cli:main",
            f"planner_node = {PACKAGE}.programs:planner_node",
            f"controller_node = {PACKAGE}.programs:controller_node",
            f"simulator_node = {PACKAGE}.programs:simulator_node",
            f"frames_node = {PACKAGE}.programs:frames_node",
            f"lcm_bridge_node = {PACKAGE}.programs:lcm_bridge_node",
            f"gazebo_bridge_node = {PACKAGE}.programs:gazebo_bridge_node",
            f"drives_node = {PACKAGE}.programs:drives_node",
            f"robot_stand_in = {PACKAGE}.programs:robot_stand_in",
        ],
    },
)
