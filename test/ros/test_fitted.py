"""A node that is given a robot's name has the defaults and ranges of its size."""

from pathlib import Path

import pytest
import quadruped
from rclpy.node import Node
from rclpy.parameter import Parameter
from ros_graph import NodeMaker

from contact_ddp_ros.base.config import specs
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.plants.gazebo.config import MODEL
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.urdf import default_urdf
from contact_ddp_ros.ros.node_config import (
    ControllerNodeConfig,
    DrivesNodeConfig,
    GazeboBridgeNodeConfig,
    PlannerNodeConfig,
    SimulatorNodeConfig,
)
from contact_ddp_ros.ros.parameters import fitted
from contact_ddp_ros.runs.options import RunOptions
from contact_ddp_ros.runs.robot_scaling import scales
from contact_ddp_ros.runs.scenario import scenario


def named(make_node: NodeMaker, urdf: str) -> Node:
    """A node whose parameter `node.urdf` is set from outside."""
    given = [Parameter("node.urdf", value=urdf)] if urdf else []
    return make_node("fitted", parameter_overrides=given)


def test_nodes_fit_the_robot_as_a_run_without_ros_does(make_node: NodeMaker) -> None:
    node, found = named(make_node, "go1"), scenario(RunOptions(robot="go1"))
    planner, wanted = fitted(node, PlannerNodeConfig()), found.planner
    assert {name: spec.default for name, spec in specs(wanted).items()}.items() <= {
        name: spec.default for name, spec in specs(planner).items()
    }.items()
    assert specs(planner)["reference.height"].high == specs(wanted)["reference.height"].high
    drive = found.controller.drive
    assert fitted(node, ControllerNodeConfig()).drive.kp == drive.kp
    assert fitted(node, SimulatorNodeConfig()).node.drive.kp == drive.kp
    assert fitted(node, DrivesNodeConfig()).drive.kd == drive.kd


@pytest.mark.parametrize(
    ("source", "name"), [("", MODEL), ("go1", "go1"), (str(default_urdf()), load_robot().tree.name)]
)
def test_the_bridge_looks_for_the_model_by_the_robots_name(make_node: NodeMaker, source: str, name: str) -> None:
    assert fitted(named(make_node, source), GazeboBridgeNodeConfig()).gazebo.model == name


@pytest.mark.parametrize("urdf", ["", str(default_urdf())])
def test_the_mini_cheetahs_urdf_changes_no_default(make_node: NodeMaker, urdf: str) -> None:
    defaults = PlannerNodeConfig()
    assert fitted(named(make_node, urdf), defaults) is defaults


def test_a_urdf_alone_gives_the_defaults_of_its_size(make_node: NodeMaker, tmp_path: Path) -> None:
    file = tmp_path / "small.urdf"
    file.write_text(quadruped.urdf(), encoding="utf-8")
    found = fitted(named(make_node, str(file)), PlannerNodeConfig())
    length, _ = scales(load_robot(file))
    assert 0.9 < length < 1.0
    assert found.reference.height == pytest.approx(length * PlannerNodeConfig().reference.height)


def test_a_robot_that_there_is_not_is_refused(make_node: NodeMaker) -> None:
    with pytest.raises(ParameterError, match="no robot is called 'go3'"):
        fitted(named(make_node, "go3"), PlannerNodeConfig())
