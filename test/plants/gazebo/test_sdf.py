"""The generated SDF, read by DART's own SDF parser, is the robot of the URDF as pinocchio reads it."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import pytest
from oracle import pinocchio_model

from contact_ddp_ros.base.errors import ModelError, ParameterError
from contact_ddp_ros.control.config import DriveConfig
from contact_ddp_ros.plants.bodies import rotor_disc
from contact_ddp_ros.plants.gazebo.config import DAMPED, MODEL, PLAIN, WORLD, Names
from contact_ddp_ros.plants.gazebo.sdf import model_sdf, straight_height, world_sdf
from contact_ddp_ros.plants.options import SimOptions
from contact_ddp_ros.robot.joints import BASE_JOINTS, BASE_LINK, FOOT_NAMES, JOINT_NAMES, LEG_NAMES
from contact_ddp_ros.robot.load import load_robot
from contact_ddp_ros.robot.model import foot_positions

dart = pytest.importorskip("dartpy", reason="pinned in requirements-engines.txt")

ROBOT = load_robot()
DRIVES = ROBOT.tree.joints[len(BASE_JOINTS) :]
N_BASE = len(BASE_JOINTS)


def read_by_dart(sdf: str, folder: Path) -> Any:
    """DART reads SDF up to 1.6, and what is used here is the same there."""
    file = folder / "world.sdf"
    file.write_text(sdf.replace('<sdf version="1.9">', '<sdf version="1.6">'), encoding="utf-8")
    world = dart.utils.SdfParser.readWorld(str(file))
    assert world is not None
    return world


def elements(sdf: str, path: str) -> list[ElementTree.Element]:
    return ElementTree.fromstring(sdf).findall(path)


def joint_dofs(skeleton: Any) -> list[int]:
    names = [dof.getName() for dof in skeleton.getDofs()]
    return [names.index(name) for name in JOINT_NAMES]


def posed(skeleton: Any, base: np.ndarray, joints: np.ndarray) -> None:
    """Put the skeleton where our tree's coordinates (x, y, z, yaw, pitch, roll) and joints are."""
    transform = np.eye(4)
    transform[:3, :3] = pin.rpy.rpyToMatrix(base[5], base[4], base[3])
    transform[:3, 3] = base[:3]
    positions = np.zeros(skeleton.getNumDofs())
    free = skeleton.getJoint(0)
    moved = free.getTransformFromParentBodyNode().inverse().multiply(dart.math.Isometry3(transform))
    positions[: free.getNumDofs()] = dart.dynamics.FreeJoint.convertToPositions(moved)
    positions[joint_dofs(skeleton)] = joints
    skeleton.setPositions(positions)


def random_pose(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.uniform(-0.5, 0.5, N_BASE), rng.uniform(-1.0, 1.0, len(JOINT_NAMES))


@pytest.mark.parametrize("seed", range(3))
def test_kinetic_energy_without_rotors_is_that_of_the_urdf(tmp_path: Path, seed: int) -> None:
    skeleton = read_by_dart(world_sdf(ROBOT, rotors=False), tmp_path).getSkeleton(MODEL)
    base, joints = random_pose(seed)
    posed(skeleton, base, joints)
    model = pinocchio_model(ROBOT.tree)
    model.armature = np.zeros(model.nv)
    data = model.createData()
    expected = pin.crba(model, data, np.r_[base, joints])
    expected = np.triu(expected) + np.triu(expected, 1).T
    dofs = joint_dofs(skeleton)
    mass_matrix = np.asarray(skeleton.getMassMatrix())
    np.testing.assert_allclose(mass_matrix[np.ix_(dofs, dofs)], expected[N_BASE:, N_BASE:], atol=1e-9)
    # The base's coordinates differ between the two; mass and centre of mass do not.
    assert skeleton.getMass() == pytest.approx(ROBOT.mass, rel=1e-12)
    np.testing.assert_allclose(skeleton.getCOM(), pin.centerOfMass(model, data, np.r_[base, joints]), atol=1e-9)


def test_rotors_add_their_reflected_inertia_about_each_axis(tmp_path: Path) -> None:
    plain = read_by_dart(world_sdf(ROBOT, rotors=False), tmp_path).getSkeleton(MODEL)
    geared = read_by_dart(world_sdf(ROBOT), tmp_path).getSkeleton(MODEL)
    for name, drive in zip(JOINT_NAMES, DRIVES, strict=True):
        link = geared.getJoint(name).getChildBodyNode().getName()
        added = np.subtract(
            geared.getBodyNode(link).getInertia().getMoment(), plain.getBodyNode(link).getInertia().getMoment()
        )
        assert drive.armature > 0.0
        assert drive.axis @ added @ drive.axis == pytest.approx(drive.armature, rel=1e-9)
        np.testing.assert_allclose(added, rotor_disc(drive), atol=1e-12)
        moments = np.linalg.eigvalsh(geared.getBodyNode(link).getInertia().getMoment())
        assert moments[0] + moments[1] >= moments[2], "a body can have it, or Gazebo refuses the link"
    assert geared.getMass() == pytest.approx(ROBOT.mass, rel=1e-12)


@pytest.mark.parametrize("drive_damping", [False, True])
def test_joints_have_the_axes_limits_and_frictions_of_the_urdf(drive_damping: bool, tmp_path: Path) -> None:
    """And the drives' damping, where that is asked for, which the world then tells the bridge."""
    added = drive_damping * DriveConfig().gains(len(LEG_NAMES)).kd
    sdf = world_sdf(ROBOT, drive_damping=added if drive_damping else None)
    (acknowledgement,) = elements(sdf, ".//plugin/output")
    assert acknowledgement.text == f"data: {DAMPED if drive_damping else PLAIN}"
    skeleton = read_by_dart(sdf, tmp_path).getSkeleton(MODEL)
    for name, drive, kd in zip(
        JOINT_NAMES, DRIVES, drive_damping * DriveConfig().gains(len(LEG_NAMES)).kd, strict=True
    ):
        joint = skeleton.getJoint(name)
        np.testing.assert_allclose(joint.getAxis(), drive.axis)
        assert joint.getPositionLowerLimit(0) == drive.lower
        assert joint.getPositionUpperLimit(0) == drive.upper
        assert joint.getDampingCoefficient(0) == pytest.approx(drive.damping + kd)
        assert joint.getCoulombFriction(0) == drive.dry_friction > 0.0
        (limit,) = elements(sdf, f".//joint[@name='{name}']/axis/limit")
        assert float(limit.findtext("effort", "")) == pytest.approx(drive.effort_limit + kd * drive.velocity_limit)
        assert float(limit.findtext("velocity", "")) == drive.velocity_limit


@pytest.mark.parametrize("seed", range(3))
def test_feet_are_spheres_where_the_urdf_has_them(tmp_path: Path, seed: int) -> None:
    skeleton = read_by_dart(world_sdf(ROBOT), tmp_path).getSkeleton(MODEL)
    base, joints = random_pose(seed)
    posed(skeleton, base, joints)
    trunk = skeleton.getBodyNode(BASE_LINK).getWorldTransform()
    centres = []
    for foot in FOOT_NAMES:
        shapes = [node for body in skeleton.getBodyNodes() for node in body.getShapeNodes()]
        (shape,) = [node for node in shapes if node.getName().endswith(f"{foot}_collision")]
        assert shape.getShape().getRadius() == ROBOT.foot_radius
        centres.append(shape.getWorldTransform().translation())
    expected = foot_positions(ROBOT, joints) @ np.asarray(trunk.rotation()).T + trunk.translation()
    np.testing.assert_allclose(centres, expected, atol=1e-9)


def test_the_world_has_gravity_step_and_friction_of_the_options(tmp_path: Path) -> None:
    sdf = world_sdf(ROBOT, SimOptions(timestep=0.0005, friction=0.35))
    world = read_by_dart(sdf, tmp_path)
    assert world.getTimeStep() == 0.0005
    np.testing.assert_allclose(world.getGravity(), ROBOT.tree.gravity)
    collisions = elements(sdf, ".//link/collision")
    assert len(collisions) == 1 + len(elements(model_sdf(ROBOT), ".//link/collision"))
    for collision in collisions:
        for coefficient in ("mu", "mu2"):
            assert collision.findtext(f"surface/friction/ode/{coefficient}") == "0.35"
    assert elements(sdf, ".//self_collide")[0].text == "false"


def test_it_starts_on_straight_legs(tmp_path: Path) -> None:
    skeleton = read_by_dart(world_sdf(ROBOT), tmp_path).getSkeleton(MODEL)
    height = straight_height(ROBOT)
    assert skeleton.getBodyNode(BASE_LINK).getWorldTransform().translation()[2] == pytest.approx(height)
    assert height > ROBOT.standing_height()
    assert np.abs(skeleton.getPositions()[joint_dofs(skeleton)]).max() == 0.0


def test_trunk_mass_scale_scales_the_trunk_alone(tmp_path: Path) -> None:
    skeleton = read_by_dart(world_sdf(ROBOT, SimOptions(trunk_mass_scale=1.5)), tmp_path).getSkeleton(MODEL)
    trunk = ROBOT.tree.joints[N_BASE - 1]
    assert skeleton.getMass() == pytest.approx(ROBOT.mass + 0.5 * trunk.mass)
    np.testing.assert_allclose(skeleton.getBodyNode(BASE_LINK).getInertia().getMoment(), 1.5 * trunk.inertia)


def test_plugins_have_the_names_that_gazebo_knows() -> None:
    world = {(p.get("filename"), p.get("name")) for p in elements(world_sdf(ROBOT), "./world/plugin")}
    assert world == {
        ("gz-sim-physics-system", "gz::sim::systems::Physics"),
        ("gz-sim-user-commands-system", "gz::sim::systems::UserCommands"),
        ("gz-sim-scene-broadcaster-system", "gz::sim::systems::SceneBroadcaster"),
        ("gz-sim-imu-system", "gz::sim::systems::Imu"),
        ("gz-sim-contact-system", "gz::sim::systems::Contact"),
        ("gz-sim-apply-link-wrench-system", "gz::sim::systems::ApplyLinkWrench"),
    }
    plugins = elements(world_sdf(ROBOT), f"./world/model[@name='{MODEL}']/plugin")
    driven = [p.findtext("joint_name") for p in plugins if p.get("name") == "gz::sim::systems::ApplyJointForce"]
    assert driven == list(JOINT_NAMES)
    assert {p.get("filename") for p in plugins if p.get("name") == "gz::sim::systems::ApplyJointForce"} == {
        "gz-sim-apply-joint-force-system"
    }
    (odometry,) = [p for p in plugins if p.get("name") == "gz::sim::systems::OdometryPublisher"]
    assert {child.tag: child.text for child in odometry} == {
        "odom_frame": "odom",
        "robot_base_frame": "base_link",
        "odom_publish_frequency": "2000",
        "dimensions": "3",
    }


def test_a_message_that_follows_the_efforts_is_acknowledged() -> None:
    (plugin,) = [p for p in elements(model_sdf(ROBOT), "./model/plugin") if "TriggeredPublisher" in p.get("name", "")]
    assert plugin.get("filename") == "gz-sim-triggered-publisher-system"
    (sent,), (received,) = plugin.findall("input"), plugin.findall("output")
    assert sent.attrib == {"type": "gz.msgs.Double", "topic": "/model/mini_cheetah/efforts/sent"}
    assert received.attrib == {"type": "gz.msgs.Double", "topic": "/model/mini_cheetah/efforts/received"}
    assert len(sent) == 0, "whatever the message says"


@pytest.mark.parametrize("timestep", [0.0001, 0.0005, 0.0007, 0.002])
def test_odometry_comes_at_every_step(timestep: float) -> None:
    (rate,) = elements(model_sdf(ROBOT, SimOptions(timestep=timestep)), ".//odom_publish_frequency")
    assert 1.0 / float(rate.text or "") < 0.9 * timestep


def test_ros2_control_takes_the_place_of_the_effort_topics() -> None:
    plugins = elements(model_sdf(ROBOT, controllers="/etc/controllers.yaml"), "./model/plugin")
    assert not {"ApplyJointForce", "TriggeredPublisher"} & {p.get("name", "").rsplit(":", 1)[-1] for p in plugins}
    (control,) = [p for p in plugins if p.get("filename") == "gz_ros2_control-system"]
    assert control.get("name") == "gz_ros2_control::GazeboSimROS2ControlPlugin"
    assert control.findtext("parameters") == "/etc/controllers.yaml"


def test_names_are_those_of_the_file() -> None:
    sdf = world_sdf(ROBOT)
    assert elements(sdf, "./world")[0].get("name") == WORLD
    assert ROBOT.tree.name == MODEL
    topics = {topic.text for topic in elements(sdf, ".//sensor/contact/topic")}
    assert topics == {Names().contact(foot) for foot in FOOT_NAMES}
    collisions = {collision.get("name") for collision in elements(sdf, ".//link/collision")}
    assert {c.text for c in elements(sdf, ".//sensor/contact/collision")} <= collisions


def test_names_are_unique_where_gazebo_wants_them_to_be() -> None:
    for link in elements(model_sdf(ROBOT), ".//link"):
        names = [child.get("name") for child in link if child.get("name")]
        assert len(names) == len(set(names))


def test_the_text_depends_on_the_robot_only() -> None:
    assert world_sdf(ROBOT) == world_sdf(load_robot())


def test_options_are_checked() -> None:
    with pytest.raises(ParameterError, match="friction"):
        world_sdf(ROBOT, SimOptions(friction=-1.0))
    with pytest.raises(ParameterError, match="real-time factor"):
        world_sdf(ROBOT, real_time_factor=0.0)


def test_the_pace_is_that_of_the_options() -> None:
    (factor,) = elements(world_sdf(ROBOT, real_time_factor=0.25), "./world/physics/real_time_factor")
    assert factor.text == "0.25"


def test_a_mesh_is_refused(tmp_path: Path) -> None:
    urdf = tmp_path / "meshed.urdf"
    text = ROBOT.urdf.read_text(encoding="utf-8")
    urdf.write_text(text.replace('<box size="0.22 0.1 0.092"/>', '<mesh filename="trunk.stl"/>'), encoding="utf-8")
    with pytest.raises(ModelError, match=r"mesh.*box, cylinder, sphere"):
        world_sdf(load_robot(urdf))


def test_rotations_survive_the_text(tmp_path: Path) -> None:
    """The trunk's cylinders lie: at a pitch of 90 degrees, where angles are ambiguous."""
    skeleton = read_by_dart(world_sdf(ROBOT), tmp_path).getSkeleton(MODEL)
    trunk = skeleton.getBodyNode(BASE_LINK)
    (shape,) = [node for node in trunk.getShapeNodes() if node.getName().endswith("base_link_visual_2")]
    axis = np.asarray(shape.getRelativeTransform().rotation())[:, 2]
    np.testing.assert_allclose(axis, [1.0, 0.0, 0.0], atol=1e-9)
