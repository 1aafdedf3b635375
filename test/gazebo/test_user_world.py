"""The robot in a world of somebody else's: plugins, names, time step, and it stands there."""

from xml.etree import ElementTree

import pytest

from contact_ddp_ros.errors import ParameterError
from contact_ddp_ros.gazebo.bridge import GazeboBridge
from contact_ddp_ros.gazebo.config import BridgeConfig
from contact_ddp_ros.gazebo.emulator.server import running_emulator
from contact_ddp_ros.gazebo.names import MODEL, Names
from contact_ddp_ros.gazebo.user_world import with_robot
from contact_ddp_ros.gazebo.world_control import DirectControl
from contact_ddp_ros.robot.model import load_robot
from contact_ddp_ros.robot.state import DriveGains
from contact_ddp_ros.sim.options import SimOptions

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


def test_it_stands_there() -> None:
    made = with_robot(HALL, ROBOT)
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
    ],
)
def test_what_is_no_world_is_refused(text: str, found: str) -> None:
    with pytest.raises(ParameterError, match=found):
        with_robot(text, ROBOT, real_time_factor=0.5)
