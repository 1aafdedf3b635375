"""Ground and loads of a world for Gazebo: the shapes and masses that MuJoCo has, and a robot that begins on them."""

from xml.etree import ElementTree

import numpy as np
import pytest

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.control.config import DriveConfig
from contact_ddp_ros.plants.dart import DartWorld
from contact_ddp_ros.plants.gazebo.sdf import model_sdf, world_sdf
from contact_ddp_ros.plants.mujoco import MujocoSimulator
from contact_ddp_ros.plants.options import DelayOptions, NoiseOptions, PayloadOptions, SimOptions
from contact_ddp_ros.plants.terrain.words import parse_terrain
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.rotation import quaternion_to_matrix, rpy_to_quaternion

ROBOT = load_robot()
GROUNDS = ["slope:10", "slope:-8,30", "slope:10,90", "step:1,0.03", "step:1,-0.03", "stairs:0.02,3", "boxes:0.03,1"]


def settled(options: SimOptions, x: float = 0.0) -> DartWorld:
    """A world in which the robot has come to rest above x on stiff legs."""
    world, terrain = DartWorld(world_sdf(ROBOT, options)), parse_terrain(options.terrain)
    there = np.array([[x, 0.0]])
    height = float(terrain.heights(there)[0])
    position = np.array([x, 0.0, height]) + terrain.axes @ ROBOT.standing_state().position
    world.place(position, terrain.axes, ROBOT.standing)
    for _ in range(400):
        world.step(80.0 * (ROBOT.standing - world.joint_positions) - 2.0 * world.joint_velocities)
    return world


@pytest.mark.parametrize("word", GROUNDS)
def test_the_file_has_the_shapes_of_the_ground(word: str) -> None:
    terrain = parse_terrain(word)
    link = ElementTree.fromstring(world_sdf(ROBOT, SimOptions(terrain=word))).find(".//model[@name='ground']/link")
    assert link is not None
    for purpose in ("collision", "visual"):
        plane, *boxes = link.findall(purpose)
        pose = [float(part) for part in plane.findtext("pose", "").split()]
        assert plane.find("geometry/plane") is not None
        np.testing.assert_allclose(pose[:3], [0.0, 0.0, terrain.height])
        np.testing.assert_allclose(quaternion_to_matrix(rpy_to_quaternion(*pose[3:])), terrain.axes, atol=1e-9)
        assert len(boxes) == len(terrain.boxes)
        for element, box in zip(boxes, terrain.boxes, strict=True):
            numbers = [float(part) for part in element.findtext("pose", "").split()]
            np.testing.assert_allclose(numbers, [*box.centre, 0.0, 0.0, 0.0])
            size = [float(part) for part in element.findtext("geometry/box/size", "").split()]
            np.testing.assert_allclose(size, 2.0 * np.array(box.half))


@pytest.mark.parametrize("word", ["flat", *GROUNDS])
def test_the_robot_begins_on_the_ground(word: str) -> None:
    world = DartWorld(world_sdf(ROBOT, SimOptions(terrain=word)))
    clearances = parse_terrain(word).clearances(world.foot_positions(), ROBOT.foot_radius)
    np.testing.assert_allclose(clearances, 0.0, atol=1e-9)


@pytest.mark.parametrize(("word", "x"), [("flat", 0.0), ("slope:10,30", 0.0), ("step:1,0.03", 2.0)])
def test_the_feet_stand_on_it_and_carry_the_weight(word: str, x: float) -> None:
    world = settled(SimOptions(terrain=word), x)
    clearances = parse_terrain(word).clearances(world.foot_positions(), ROBOT.foot_radius)
    np.testing.assert_allclose(clearances, 0.0, atol=2e-3)
    total = world.foot_forces().sum(axis=0)
    np.testing.assert_allclose(total, [0.0, 0.0, 9.81 * ROBOT.mass], atol=4.0)


def test_friction_lets_the_robot_slide_down_a_slope() -> None:
    held, lost = (settled(SimOptions(terrain="slope:20", friction=friction)) for friction in (0.8, 0.1))
    assert abs(held.linear_velocity[0]) < 0.02
    assert lost.linear_velocity[0] < -0.3


def test_a_payload_weighs_where_it_does_in_mujoco() -> None:
    options = SimOptions(trunk_mass_scale=1.2, payload=PayloadOptions(mass=2.0, x=0.1, y=0.06))
    sim = MujocoSimulator(ROBOT, DriveConfig().gains(4), options)
    trunk, load = sim.model.body("base_link"), sim.model.body("payload")
    masses, places = np.array([trunk.mass[0], load.mass[0]]), np.array([trunk.ipos, load.pos])
    sdf = ElementTree.fromstring(world_sdf(ROBOT, options, rotors=False))
    inertial = sdf.find(".//link[@name='base_link']/inertial")
    assert inertial is not None
    assert float(inertial.findtext("mass", "")) == pytest.approx(masses.sum())
    centre = np.array([float(part) for part in inertial.findtext("pose", "").split()][:3])
    np.testing.assert_allclose(centre, masses @ places / masses.sum(), atol=1e-9)
    # About the payload's own middle the trunk's part stays, and a cube's inertia is added.
    plain = ROBOT.tree.joints[5].inertia * 1.2
    arms = places - centre
    expected = plain + load.inertia[0] * np.eye(3)
    for mass, arm in zip(masses, arms, strict=True):
        expected = expected + mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    assert float(inertial.findtext("inertia/izz", "")) == pytest.approx(expected[2, 2])
    assert float(inertial.findtext("inertia/ixy", "")) == pytest.approx(expected[0, 1])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (SimOptions(torque_scale=0.5), "simulator.torque_scale is 0.5; a world of Gazebo takes timestep, .*terrain"),
        (SimOptions(delay=DelayOptions(state=0.01)), "simulator.delay.state is 0.01"),
        (SimOptions(noise=NoiseOptions(position=0.01)), "simulator.noise.position is 0.01"),
        (SimOptions(terrain="hill:3"), "ground 'hill:3'; allowed"),
    ],
)
def test_what_a_world_does_not_have_is_refused_by_name(options: SimOptions, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        world_sdf(ROBOT, options)


def test_a_model_alone_has_no_ground() -> None:
    with pytest.raises(ParameterError, match=r"simulator\.terrain is 'slope:5'; a model without a world"):
        model_sdf(ROBOT, SimOptions(terrain="slope:5"))
