"""The models of an SDF file as skeletons of DART, put together as gz-physics does it."""

from xml.etree.ElementTree import Element

import dartpy as dart
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.robot.rotation import quaternion_to_matrix, rpy_to_quaternion

Array = NDArray[np.float64]

_PLANE = 2100.0
"""Edge of the box that stands for a plane [m]."""


def skeleton_of(model: Element) -> dart.dynamics.Skeleton:
    """A model with its links, joints and collision shapes, placed as the file says.

    Raises:
        KeyError, ValueError: it is not as `contact-ddp sdf` writes it.
    """
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
            joint.setPositions(free_position(placed @ poses[name]))
        body.setName(name)
        if link.find("inertial") is not None:
            body.setInertia(_inertia(child_of(link, "inertial")))
        for collision in link.findall("collision"):
            _add_shape(body, collision)
    return skeleton


def _revolute(joint: Element) -> dart.dynamics.RevoluteJointProperties:
    axis = child_of(joint, "axis")
    limit, dynamics = child_of(axis, "limit"), child_of(axis, "dynamics")
    properties = dart.dynamics.RevoluteJointProperties()
    properties.mName = joint.get("name", "")
    properties.mAxis = read_numbers(axis.findtext("xyz", ""))
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
    geometry = next(iter(child_of(collision, "geometry")))
    placed = _transform(collision)
    if geometry.tag == "plane":
        shape = dart.dynamics.BoxShape(np.full(3, _PLANE))
        placed[:3, 3] -= 0.5 * _PLANE * placed[:3, 2]
    elif geometry.tag == "box":
        shape = dart.dynamics.BoxShape(read_numbers(geometry.findtext("size", "")))
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
    node.createDynamicsAspect().setFrictionCoeff(float(collision.findtext("surface/friction/ode/mu", "1")))


def free_position(transform: Array) -> Array:
    """(6,) coordinates of a free joint at a transform (4, 4)."""
    return np.asarray(dart.dynamics.FreeJoint.convertToPositions(dart.math.Isometry3(transform)))


def _transform(element: Element) -> Array:
    """(4, 4) of an element's pose; the identity where it has none."""
    transform = np.eye(4)
    text = element.findtext("pose")
    if text is not None:
        numbers = read_numbers(text)
        transform[:3, 3] = numbers[:3]
        transform[:3, :3] = quaternion_to_matrix(rpy_to_quaternion(*numbers[3:]))
    return transform


def child_of(element: Element, tag: str) -> Element:
    """The first child of a kind; raises KeyError where there is none."""
    child = element.find(tag)
    if child is None:
        raise KeyError(f"<{element.tag}> has no <{tag}>")
    return child


def read_numbers(text: str) -> Array:
    """(n,) numbers with spaces between them; raises ValueError."""
    return np.array([float(word) for word in text.split()])
