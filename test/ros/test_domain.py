"""The private corner of the middleware: what tells it of its profile, and of transports where it has none."""

import os
import subprocess
import sys

import pytest

from contact_ddp_ros.ros.single_instance import PROFILE, profile_variables, transport_variables

OLDER, NEWER = "FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE"

THREADS = """
import pathlib, rclpy
rclpy.init()
node = rclpy.create_node("alone")
print(" ".join(path.read_text().strip() for path in pathlib.Path("/proc/self/task").glob("*/comm")))
"""
"""A program that says what the threads of its middleware are called, those of each transport among them."""


@pytest.mark.parametrize(("distribution", "names"), [("jazzy", {OLDER, NEWER}), ("kilted", {NEWER})])
def test_the_profile_is_named_as_the_distribution_wants_it(
    monkeypatch: pytest.MonkeyPatch, distribution: str, names: set[str]
) -> None:
    monkeypatch.setenv("ROS_DISTRO", distribution)
    assert profile_variables(str(PROFILE)) == dict.fromkeys(names, str(PROFILE))


def test_fast_dds_does_without_shared_memory_where_it_is_told_to() -> None:
    """Nobody is looked for, so nothing leaves the machine."""

    def threads(variables: dict[str, str]) -> str:
        others = {name: value for name, value in os.environ.items() if name not in (OLDER, NEWER)}
        environment = {**others, "ROS_AUTOMATIC_DISCOVERY_RANGE": "OFF", **variables}
        done = subprocess.run(
            [sys.executable, "-c", THREADS], env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout

    assert "dds.shm" in threads({})
    without = threads(transport_variables({}))
    assert "dds.udp" in without and "dds.shm" not in without
