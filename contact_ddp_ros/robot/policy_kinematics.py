"""The planned robot in `odom`, whatever model it was planned with; the number of coordinates tells which."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.robot.joints import LEG_NAMES
from contact_ddp_ros.robot.model import Robot
from contact_ddp_ros.robot.models.choice import MODELS
from contact_ddp_ros.robot.rotation import quaternion_to_rpy
from contact_ddp_ros.robot.state import RobotState

Array = NDArray[np.float64]


def legs_of_forces(n_forces: int) -> tuple[list[list[int]], int]:
    """Legs, by index, of each contact point of a plan with so many force components, and how many each has.

    Raises:
        ParameterError: no model has so many.
    """
    for model in MODELS.values():
        if n_forces == len(model.legs_of) * len(model.axes):
            return [[LEG_NAMES.index(leg) for leg in legs] for legs in model.legs_of.values()], len(model.axes)
    raise ParameterError(f"a plan has {n_forces} force components; no model has so many")


def legs_of_contacts(contacts: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """Names of the legs of each contact point of a plan, which one of its own has that no model knows."""
    for model in MODELS.values():
        if tuple(model.legs_of) == tuple(contacts):
            return model.legs_of
    return {contact: (contact.removesuffix("_foot"),) for contact in contacts}


def standing(forces: Array) -> NDArray[np.bool_]:
    """(N, n_contacts) which contact points of a plan's forces (N, n_forces) carry load."""
    _, n_axes = legs_of_forces(forces.shape[1])
    return np.asarray(np.abs(forces).reshape(len(forces), -1, n_axes).sum(axis=2) > 0.0)


def landings(forces: Array) -> Iterable[tuple[int, list[int]]]:
    """Nodes at which feet touch down, and the indices of their legs."""
    legs, _ = legs_of_forces(forces.shape[1])
    down = standing(forces)
    for k in range(1, len(forces)):
        landing = np.flatnonzero(down[k] & ~down[k - 1])
        if landing.size:
            yield k, [leg for contact in landing for leg in legs[contact]]


class PolicyPoses:
    """Robots in planned states."""

    def __init__(self, robot: Robot) -> None:
        self._models = {2 * len(model.coordinates): model(robot) for model in MODELS.values()}

    @staticmethod
    def knows(coordinates: Sequence[str]) -> bool:
        """True if there is a model with these coordinates."""
        return tuple(coordinates) in [model.coordinates for model in MODELS.values()]

    def state(self, x: Array, actual: RobotState, time: float = 0.0) -> RobotState:
        """The robot in a planned state, in the plane of its actual one where it is planar; velocities are zero."""
        return self._models[len(x)].robot_state(x, actual, time)

    @staticmethod
    def leg_forces(forces: Array, actual: RobotState) -> Array:
        """(4, 3) planned forces (n_forces,) of the ground on the feet in `odom` [N], shared by a contact's legs."""
        legs, n_axes = legs_of_forces(len(forces))
        found = np.zeros((len(LEG_NAMES), 3))
        axes = np.eye(3)
        if n_axes == 2:
            yaw = float(quaternion_to_rpy(actual.orientation)[2])
            axes = np.array([[np.cos(yaw), np.sin(yaw), 0.0], [0.0, 0.0, 1.0]])
        for contact, group in enumerate(legs):
            for leg in group:
                found[leg] = forces[n_axes * contact : n_axes * (contact + 1)] @ axes / len(group)
        return found
