"""The files beside the code that ROS reads: the base parameters, the launch file, the discovery profile."""

import ast
import re
from pathlib import Path
from xml.etree import ElementTree

from contact_ddp_ros.base.config import flatten, replace
from contact_ddp_ros.base.parameter_file import load_yaml
from contact_ddp_ros.control.config import ControllerConfig
from contact_ddp_ros.mpc.config import PlannerConfig
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.ros.interfaces import SERVICES, TOPICS, motion_service
from contact_ddp_ros.ros.node_config import (
    CONFIGURATIONS,
    ControllerNodeConfig,
    PlannerNodeConfig,
    SimulatorNodeConfig,
)
from contact_ddp_ros.ros.single_instance import PROFILE

ROOT = Path(__file__).parents[2]
BASE = ROOT / "config" / "base.yaml"


def test_the_base_file_holds_known_parameters_that_fit_together() -> None:
    planner = replace(PlannerConfig(), load_yaml(BASE, "planner"))
    controller = replace(ControllerConfig(), load_yaml(BASE, "controller"))
    replace(SimOptions(), load_yaml(BASE, "simulator"))
    assert controller.safety.planner_period == 1.0 / planner.rate


def test_a_node_has_the_parameters_of_its_object_and_its_own() -> None:
    for node, part in (
        (PlannerNodeConfig(), PlannerConfig()),
        (ControllerNodeConfig(), ControllerConfig()),
        (SimulatorNodeConfig(), SimOptions()),
    ):
        own = {name: value for name, value in flatten(node).items() if not name.startswith("node.")}
        assert own == flatten(part)
        assert "node.urdf" in flatten(node)


def test_both_ends_begin_with_the_same_drive_gains() -> None:
    assert SimulatorNodeConfig().node.drive == ControllerNodeConfig().drive


def test_the_discovery_profile_is_installed_and_well_formed() -> None:
    profile = ROOT / PROFILE
    assert ElementTree.parse(profile).getroot().tag.endswith("profiles")
    assert "config/*.xml" in (ROOT / "setup.py").read_text(encoding="utf-8")


def test_names_in_the_table_are_unique() -> None:
    names = [entry.name for entry in (*TOPICS, *SERVICES)]
    assert len(names) == len(set(names))
    assert all(entry.text or entry.name.startswith("planner/") for entry in (*TOPICS, *SERVICES))


def test_the_page_on_ros_holds_every_topic_and_service_of_the_table() -> None:
    page = (ROOT / "docs" / "ros.md").read_text(encoding="utf-8").splitlines()
    for entry in (*TOPICS, *SERVICES, motion_service("NAME")):
        kind = f"{entry.type.__module__.split('.')[0]}/{entry.type.__name__}"
        rows = [line for line in page if line.startswith(f"| `{entry.name}` | {kind} |")]
        assert len(rows) == 1, f"{entry.name} of type {kind} is not in docs/ros.md"
        assert entry.text in rows[0]


def test_the_page_on_ros_holds_every_argument_of_the_launch_file() -> None:
    page = (ROOT / "docs" / "ros.md").read_text(encoding="utf-8")
    tree = ast.parse((ROOT / "launch" / "bringup.launch.py").read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    declared = [call for call in calls if getattr(call.func, "id", "") == "DeclareLaunchArgument"]
    assert len(declared) > 10
    for call in declared:
        name = call.args[0].value
        assert f"| `{name}` | " in page, name


def test_pages_name_only_parameters_that_exist() -> None:
    known = {name for config in CONFIGURATIONS.values() for name in flatten(config)}
    groups = {name.split(".")[0] for name in known if "." in name}
    for page in ("ros.md", "tuning.md"):
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        named = re.findall(r"`(?:(?:planner|controller|simulator|bridge)\.)?([a-z_]+\.[a-z_.]+)`", text)
        wrong = {name for name in named if name.split(".")[0] in groups and name not in known}
        assert not wrong, f"{page}: {wrong}"
        assert named
