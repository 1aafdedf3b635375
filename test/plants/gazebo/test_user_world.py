"""The robot in a world of somebody else's: plugins, names, time step, and it stands there."""

import re
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.plants.gazebo.bridge import GazeboBridge
from contact_ddp_ros.plants.gazebo.config import MODEL, BridgeConfig, Names
from contact_ddp_ros.plants.gazebo.emulator.server import running_emulator
from contact_ddp_ros.plants.gazebo.user_world import with_robot
from contact_ddp_ros.plants.gazebo.world_control import DirectControl
from contact_ddp_ros.plants.options import PayloadOptions, SimOptions
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.state import DriveGains

ROBOT = load_robot()

HALL = """<sdf version="1.9"><world name="hall">
  <physics name="ours" type="dart"><max_step_size>0.0005</max_step_size><real_time_factor>1</real_time_factor></physics>
  <gravity>0 0 -9.81</gravity>
  <plugin filename="gz-sim-physics-system" name="gz::sim::systems::Physics"/>
  <plugin filename="libOurs.so" name="ours::Plugin"/>
  <model name="floor"><static>true</static><link name="floor"><collision name="floor">
    <geometry><plane><normal>0 0 1</normal><size>9 9</size></plane></geometry>
    <surface><friction><ode><mu>0.7</mu></ode></friction></surface>
  </collision></link></model>
  <model name="crate"><pose>2 1 0.25 0 0 0</pose><static>true</static><link name="crate"><collision name="crate">
    <geometry><box><size>0.5 0.5 0.5</size></box></geometry>
    <surface><friction><ode><mu>0.7</mu></ode></friction></surface>
  </collision></link></model>
</world></sdf>"""


def test_the_robot_and_the_plugins_that_are_missing_are_added() -> None:
    made = with_robot(HALL, ROBOT, SimOptions(friction=0.45), real_time_factor=0.5)
    world = ElementTree.fromstring(made.text).find("world")
    assert world is not None
    assert (made.name, made.timestep) == ("hall", 0.0005)
    plugins = [plugin.get("name", "") for plugin in world.findall("plugin")]
    assert len(plugins) == len(set(plugins))
    assert {"ours::Plugin", "gz::sim::systems::ApplyLinkWrench", "gz::sim::systems::Imu"} < set(plugins)
    assert [model.get("name") for model in world.findall("model")] == ["floor", "crate", MODEL]
    assert world.findtext("physics/real_time_factor") == "0.5"
    robot = world.find(f"model[@name='{MODEL}']")
    assert robot is not None
    assert robot.findtext(".//odom_publish_frequency") == "4000"
    assert {mu.text for mu in robot.iter("mu")} == {"0.45"}
    assert world.findtext("model[@name='floor']//mu") == "0.7"
    assert with_robot(made.text, ROBOT).text == made.text, "a world that has the robot already keeps it"


@pytest.mark.parametrize("namespace", ["ignition::gazebo", "ignition::gazebo::v6", "gz::sim::v8", "gz::sim"])
def test_plugins_under_any_of_their_names_are_not_doubled(namespace: str) -> None:
    """Two of Physics: each undoes what the other does, and the robot lies still."""
    made = with_robot(HALL.replace("gz::sim::systems", f"{namespace}::systems"), ROBOT)
    assert len(re.findall("::systems::Physics", made.text)) == 1
    assert "gz::sim::systems::Contact" in made.text, "others are added"
    someone = with_robot(HALL.replace("ours::Plugin", "ours::systems::Imu"), ROBOT)
    assert "gz::sim::systems::Imu" in someone.text, "a plugin of somebody else's is another one"


def test_two_robots_in_one_world_share_no_topic() -> None:
    both = with_robot(with_robot(HALL, ROBOT).text, load_robot("go1"))
    topics = [topic.text for topic in ElementTree.fromstring(both.text).iter("topic")]
    assert len(topics) == 10
    assert len(set(topics)) == 10
    assert {Names(model=MODEL).imu, Names(model="go1").imu} < set(topics)


@pytest.mark.parametrize(
    "asked",
    [
        {"options": SimOptions(friction=0.4)},
        {"options": SimOptions(payload=PayloadOptions(mass=2.0))},
        {"options": SimOptions(trunk_mass_scale=1.1)},
        {"rotors": False},
        {"drive_damping": np.ones(12)},
        {"controllers": "mine.yaml"},
    ],
)
def test_what_a_robot_that_is_there_would_not_get_is_refused(asked: dict[str, Any]) -> None:
    there = with_robot(HALL, ROBOT).text
    with pytest.raises(ParameterError, match="has the model 'mini_cheetah' already"):
        with_robot(there, ROBOT, **asked)
    assert with_robot(HALL, ROBOT, **asked).text != there


def test_the_ground_and_the_time_step_are_the_files_own() -> None:
    assert with_robot(HALL, ROBOT, SimOptions(timestep=0.0005)).timestep == 0.0005
    with pytest.raises(ParameterError, match=r"simulator\.timestep is 0\.002 s.*0\.0005 s"):
        with_robot(HALL, ROBOT, SimOptions(timestep=0.002))
    for world in (HALL, with_robot(HALL, ROBOT).text):
        with pytest.raises(ParameterError, match="terrain"):
            with_robot(world, ROBOT, SimOptions(terrain="slope:5"))


def test_of_several_physics_the_default_one_counts() -> None:
    other = HALL.replace(
        "<gravity>", "<physics name='b' default='true'><max_step_size>0.001</max_step_size></physics><gravity>"
    )
    made = with_robot(other, ROBOT, real_time_factor=0.5)
    assert made.timestep == 0.001
    assert ElementTree.fromstring(made.text).findtext("world/physics[@name='b']/real_time_factor") == "0.5"


@pytest.mark.parametrize("left_out", ["nothing", "<surface>.*</surface>|<gravity>.*</gravity>|<physics.*</physics>"])
def test_it_stands_there(left_out: str) -> None:
    made = with_robot(re.sub(left_out, "", HALL), ROBOT)
    gains = DriveGains(*(ROBOT.effort_limits * 0.0 + gain for gain in (15.0, 0.5, 2.5)))
    with running_emulator(made.text) as (_, bindings):
        names = Names(made.name)
        config = BridgeConfig(world=made.name, timestep=made.timestep)
        with GazeboBridge(ROBOT, gains, bindings, DirectControl(bindings, names, bindings.node()), config) as bridge:
            assert abs(bridge.start().position[2] - ROBOT.standing_height()) < 0.02


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<sdf", "no SDF"),
        ("<sdf version='1.9'><model name='rover'/></sdf>", "no <world"),
        ("<sdf version='1.9'><world name='bare'/></sdf>", "no <physics>"),
        (HALL.replace("0.0005", "1 ms"), "max_step_size.*'1 ms'"),
        (HALL.replace("0.0005", ""), "max_step_size"),
        (HALL.replace("0.0005", "0"), r"max_step_size.*allowed: 0\.0001"),
        (HALL.replace("0.0005", "nan"), "max_step_size"),
    ],
)
def test_what_is_no_world_is_refused(text: str, found: str) -> None:
    with pytest.raises(ParameterError, match=found):
        with_robot(text, ROBOT, real_time_factor=0.5)


@pytest.mark.parametrize("factor", [0.0, -1.0, float("nan")])
def test_a_pace_that_is_none_is_refused(factor: float) -> None:
    with pytest.raises(ParameterError, match="real-time factor"):
        with_robot(HALL, ROBOT, real_time_factor=factor)
