"""The world of an SDF file in DART, Gazebo's default engine, put together as gz-physics does it.

That is: revolute joints with the limits, damping and dry friction of the file, effort clipped, limits enforced; one
friction coefficient per shape, the smaller of a pair counting; the ground plane as a large box; ODE's collision
detection and Dantzig's solver, both DART's and Gazebo's defaults. Only what `contact-ddp sdf` writes is understood.
"""

from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import dartpy as dart
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.errors import SimulationError
from contact_ddp_ros.robot.joints import BASE_LINK, FOOT_NAMES, JOINT_NAMES
from contact_ddp_ros.robot.rotation import quaternion_to_matrix, rpy_to_quaternion

Array = NDArray[np.float64]

_PLANE = 2100.0
"""Edge of the box that stands for a plane [m]."""


class DartWorld:
    """One robot on the ground."""

    def __init__(self, sdf: str) -> None:
        """Build it.

        Raises:
            SimulationError: the text is not the world that `contact-ddp sdf` writes.
        """
        try:
            world = _child(ElementTree.fromstring(sdf), "world")
            self.name = world.get("name", "")
            self.timestep = float(world.findtext("physics/max_step_size", ""))
            self.real_time_factor = float(world.findtext("physics/real_time_factor", ""))
            self.odometry_rate = float(world.findtext(".//odom_publish_frequency", "50"))
            self.format = float(world.findtext(".//plugin/output", "data: 0").removeprefix("data: "))
            self._world = dart.simulation.World(self.name)
            self._world.setTimeStep(self.timestep)
            self._world.setGravity(_numbers(world.findtext("gravity", "")))
            self._world.setCollisionDetector(dart.simulation.CollisionDetectorType.ODE)
            models = world.findall("model")
            skeletons = [_skeleton(model) for model in models]
        except (ElementTree.ParseError, KeyError, ValueError) as error:
            raise SimulationError(f"not a world of `contact-ddp sdf`: {error}") from error
        for skeleton in skeletons:
            self._world.addSkeleton(skeleton)
        robots = [skeleton for skeleton in skeletons if skeleton.isMobile()]
        if len(robots) != 1:
            raise SimulationError(f"the world has {len(robots)} models that move; the stand-in takes one")
        self._robot = robots[0]
        self.model = self._robot.getName()
        self._trunk = self._robot.getBodyNode(BASE_LINK)
        dofs = [dof.getName() for dof in self._robot.getDofs()]
        self._dofs = [dofs.index(name) for name in JOINT_NAMES]
        self._limits = np.array([self._robot.getDof(dof).getForceUpperLimit() for dof in self._dofs])
        self._start = np.asarray(self._robot.getPositions())
        self._force = np.zeros(len(dofs))
        self.specific_force = np.zeros(3)
        self._steps = 0

    @property
    def stamp(self) -> int:
        """Simulated time [ns]."""
        return round(self._steps * self.timestep * 1e9)

    @property
    def position(self) -> Array:
        """(3,) of the trunk's origin [m]."""
        return np.asarray(self._trunk.getWorldTransform().translation())

    @property
    def rotation(self) -> Array:
        """(3, 3) of the trunk."""
        return np.asarray(self._trunk.getWorldTransform().rotation())

    @property
    def orientation(self) -> Array:
        """(4,) unit quaternion (x, y, z, w) of the trunk."""
        quaternion = self._trunk.getWorldTransform().quaternion()
        return np.array([quaternion.x(), quaternion.y(), quaternion.z(), quaternion.w()])

    @property
    def linear_velocity(self) -> Array:
        """(3,) of the trunk's origin, in trunk axes [m/s]."""
        return self.rotation.T @ self._trunk.getLinearVelocity()

    @property
    def angular_velocity(self) -> Array:
        """(3,) of the trunk, in trunk axes [rad/s]."""
        return self.rotation.T @ self._trunk.getAngularVelocity()

    @property
    def joint_positions(self) -> Array:
        """(12,) [rad]."""
        return np.asarray(self._robot.getPositions())[self._dofs]

    @property
    def joint_velocities(self) -> Array:
        """(12,) [rad/s]."""
        return np.asarray(self._robot.getVelocities())[self._dofs]

    def reset(self) -> None:
        """Time zero, everything where the file puts it, at rest."""
        self._robot.setPositions(self._start)
        self._robot.resetVelocities()
        self._robot.resetAccelerations()
        self._robot.clearConstraintImpulses()
        self._world.getConstraintSolver().clearLastCollisionResult()
        self._steps = 0

    def place(self, position: Array, rotation: Array, joint_positions: Array) -> None:
        """Put the robot somewhere, at rest: trunk at `position` (3,) [m] with `rotation` (3, 3), joints (12,) [rad]."""
        transform = np.eye(4)
        transform[:3, :3], transform[:3, 3] = rotation, position
        positions = self._start.copy()
        positions[: self._robot.getJoint(0).getNumDofs()] = _free(transform)
        positions[self._dofs] = joint_positions
        self._robot.setPositions(positions)
        self._robot.resetVelocities()

    def push(self, force: Array) -> None:
        """Have a force (3,) in world axes act on the trunk's centre of mass for the next step [N]."""
        self._trunk.addExtForce(force, self._trunk.getLocalCOM(), False, True)

    def step(self, efforts: Array) -> None:
        """One physics step with the efforts (12,) at the joints, clipped to their limits [N m]."""
        before = np.asarray(self._trunk.getLinearVelocity())
        self._force[self._dofs] = np.clip(efforts, -self._limits, self._limits)
        self._robot.setForces(self._force)
        self._world.step()
        self._steps += 1
        acceleration = (self._trunk.getLinearVelocity() - before) / self.timestep - self._world.getGravity()
        self.specific_force = self.rotation.T @ acceleration

    def foot_positions(self) -> Array:
        """(4, 3) centres of the feet [m]."""
        centres = []
        for foot in FOOT_NAMES:
            nodes = [self._robot.getShapeNode(i) for i in range(self._robot.getNumShapeNodes())]
            (node,) = [node for node in nodes if node.getName().endswith(f":{foot}_collision")]
            centres.append(node.getWorldTransform().translation())
        return np.array(centres)


def _skeleton(model: Element) -> dart.dynamics.Skeleton:
    skeleton = dart.dynamics.Skeleton(model.get("name", ""))
    skeleton.setMobile(model.findtext("static") != "true")
    if model.findtext("self_collide") != "true":
        skeleton.disableSelfCollisionCheck()
    placed = _transform(model)
    joints = {joint.findtext("child", ""): joint for joint in model.findall("joint")}
    poses = {link.get("name", ""): _transform(link) for link in model.findall("link")}
    for link in model.findall("link"):
        name = link.get("name", "")
        if name in joints:
            parent = joints[name].findtext("parent", "")
            joint, body = skeleton.createRevoluteJointAndBodyNodePair(
                skeleton.getBodyNode(parent), _revolute(joints[name])
            )
            joint.setTransformFromParentBodyNode(dart.math.Isometry3(np.linalg.inv(poses[parent]) @ poses[name]))
        else:
            joint, body = skeleton.createFreeJointAndBodyNodePair(None)
            joint.setName(f"{name}_FreeJoint")
            joint.setPositions(_free(placed @ poses[name]))
        body.setName(name)
        if link.find("inertial") is not None:
            body.setInertia(_inertia(_child(link, "inertial")))
        for collision in link.findall("collision"):
            _add_shape(body, collision)
    return skeleton


def _revolute(joint: Element) -> dart.dynamics.RevoluteJointProperties:
    axis = _child(joint, "axis")
    limit, dynamics = _child(axis, "limit"), _child(axis, "dynamics")
    properties = dart.dynamics.RevoluteJointProperties()
    properties.mName = joint.get("name", "")
    properties.mAxis = _numbers(axis.findtext("xyz", ""))
    properties.mIsPositionLimitEnforced = True
    properties.mDampingCoefficients = [float(dynamics.findtext("damping", ""))]
    properties.mFrictions = [float(dynamics.findtext("friction", ""))]
    properties.mPositionLowerLimits = [float(limit.findtext("lower", ""))]
    properties.mPositionUpperLimits = [float(limit.findtext("upper", ""))]
    effort, velocity = float(limit.findtext("effort", "")), float(limit.findtext("velocity", ""))
    properties.mForceLowerLimits, properties.mForceUpperLimits = [-effort], [effort]
    properties.mVelocityLowerLimits, properties.mVelocityUpperLimits = [-velocity], [velocity]
    return properties


def _inertia(inertial: Element) -> dart.dynamics.Inertia:
    tensor = np.zeros((3, 3))
    for row, first in enumerate("xyz"):
        for column, second in enumerate("xyz"):
            name = f"inertia/i{first}{second}" if column >= row else f"inertia/i{second}{first}"
            tensor[row, column] = float(inertial.findtext(name, ""))
    centre = _transform(inertial)[:3, 3]
    return dart.dynamics.Inertia(float(inertial.findtext("mass", "")), centre, tensor)


def _add_shape(body: dart.dynamics.BodyNode, collision: Element) -> None:
    geometry = next(iter(_child(collision, "geometry")))
    placed = _transform(collision)
    if geometry.tag == "plane":
        shape = dart.dynamics.BoxShape(np.full(3, _PLANE))
        placed[2, 3] -= 0.5 * _PLANE
    elif geometry.tag == "box":
        shape = dart.dynamics.BoxShape(_numbers(geometry.findtext("size", "")))
    elif geometry.tag == "sphere":
        shape = dart.dynamics.SphereShape(float(geometry.findtext("radius", "")))
    elif geometry.tag == "cylinder":
        radius, length = (float(geometry.findtext(name, "")) for name in ("radius", "length"))
        shape = dart.dynamics.CylinderShape(radius, length)
    else:
        raise ValueError(f"shape of kind {geometry.tag}")
    node = body.createShapeNode(shape)
    node.setName(f"{body.getName()}:{collision.get('name')}")
    node.setRelativeTransform(dart.math.Isometry3(placed))
    node.createCollisionAspect()
    node.createDynamicsAspect().setFrictionCoeff(float(collision.findtext("surface/friction/ode/mu", "")))


def _free(transform: Array) -> Array:
    """(6,) coordinates of a free joint at a transform (4, 4)."""
    return np.asarray(dart.dynamics.FreeJoint.convertToPositions(dart.math.Isometry3(transform)))


def _transform(element: Element) -> Array:
    """(4, 4) of an element's pose; the identity where it has none."""
    transform = np.eye(4)
    text = element.findtext("pose")
    if text is not None:
        numbers = _numbers(text)
        transform[:3, 3] = numbers[:3]
        transform[:3, :3] = quaternion_to_matrix(rpy_to_quaternion(*numbers[3:]))
    return transform


def _child(element: Element, tag: str) -> Element:
    child = element.find(tag)
    if child is None:
        raise KeyError(f"<{element.tag}> has no <{tag}>")
    return child


def _numbers(text: str) -> Array:
    return np.array([float(word) for word in text.split()])
