"""The package for pip and for colcon.

Both put `contact-ddp` on PATH and everything else where ROS looks for it: the nodes into lib/contact_ddp_ros, the
robot's description, parameters and launch files into share/contact_ddp_ros. Dependencies are those of the requirements
files, whose pins `./run` installs: here each allows later releases up to the next major one.
"""

import re
from glob import glob
from pathlib import Path

from setuptools import find_packages, setup

PACKAGE = "contact_ddp_ros"
HERE = Path(__file__).resolve().parent  # colcon builds through a link
VERSION, RULES = {}, {}
exec((HERE / PACKAGE / "__init__.py").read_text(encoding="utf-8"), VERSION)
exec((HERE / PACKAGE / "base" / "requirements.py").read_text(encoding="utf-8"), RULES)


def requirements(name):
    """Requirements of a file of pins, each up to the next major release."""
    return RULES["ranges"]((HERE / name).read_text(encoding="utf-8"))


def description():
    """The README for a package index: without pictures, and without links to files of the checkout."""
    text = (HERE / "README.md").read_text(encoding="utf-8")
    text = re.sub(r"!\[[^\]]*\]\((?!https:)[^)]*\)\n*", "", text)
    text = re.sub(r"\[([^\]]*)\]\((?!https:)[^)]*\)", r"\1", text)
    return f"{text.rstrip()}\n\nThe pages named here are in `docs/` of the source distribution.\n"


GROUPS = ("ros", "bench", "test", "engines", "robots", "unitree", "play", "docs", "export")
EXTRAS = {name: requirements(f"requirements-{name}.txt") for name in GROUPS}

setup(
    name=PACKAGE,
    version=VERSION["__version__"],
    packages=find_packages(include=[PACKAGE, f"{PACKAGE}.*"]),
    package_data={PACKAGE: ["py.typed", "*/*.c", "*/*/*.h"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"lib/{PACKAGE}", sorted(glob("scripts/*"))),
        (f"share/{PACKAGE}", ["package.xml"]),
        (f"share/{PACKAGE}/urdf", glob("urdf/*.urdf")),
        (
            f"share/{PACKAGE}/config",
            glob("config/*.yaml") + glob("config/*.xml") + glob("config/*.rviz") + glob("config/*.json"),
        ),
        (f"share/{PACKAGE}/robot_side", glob("robot_side/*")),
        (f"share/{PACKAGE}/config/security", glob("config/security/*.xml")),
        (f"share/{PACKAGE}/config/gaits", glob("config/gaits/*.yaml")),
        (f"share/{PACKAGE}/config/motions", glob("config/motions/*.yaml")),
        (f"share/{PACKAGE}/config/robots", glob("config/robots/*.yaml")),
        (f"share/{PACKAGE}/config/gazebo", glob("config/gazebo/*.yaml")),
        (f"share/{PACKAGE}/launch", glob("launch/*.launch.py")),
    ],
    python_requires=">=3.10",
    install_requires=requirements("requirements.txt"),
    extras_require=EXTRAS,
    zip_safe=False,
    author="The contact_ddp_ros maintainers",
    maintainer="contact_ddp_ros maintainers",
    maintainer_email="maintainers@users.noreply.github.com",
    description=(
        "Full second-order DDP model-predictive control of quadrupeds as ROS 2 nodes; home robot: MIT Mini Cheetah"
    ),
    long_description=description(),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    url="https://arxiv.org/abs/2006.08102",
    keywords=["robotics", "quadruped", "ros2", "mpc", "differential dynamic programming", "trajectory optimization"],
    classifiers=[
        "Development Status :: 4 - Beta",
        "Intended Audience :: Science/Research",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3",
        "Programming Language :: Python :: 3 :: Only",
        "Topic :: Scientific/Engineering",
        "Typing :: Typed",
    ],
    entry_points={"console_scripts": [f"contact-ddp = {PACKAGE}.apps.cli:main"]},
)
