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
            f"planner_node = {PACKAGE}.nodes.planner_node:main",
            f"controller_node = {PACKAGE}.nodes.controller_node:main",
            f"simulator_node = {PACKAGE}.nodes.simulator_node:main",
            f"frames_node = {PACKAGE}.nodes.frames_node:main",
            f"lcm_bridge_node = {PACKAGE}.nodes.lcm_bridge_node:main",
            f"gazebo_bridge_node = {PACKAGE}.nodes.gazebo_bridge_node:main",
            f"drives_node = {PACKAGE}.nodes.drives_node:main",
            f"robot_stand_in = {PACKAGE}.lcm_link.program:main",
        ],
    },
)
