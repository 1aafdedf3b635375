r"""References of a user's own: a class that says what is wanted along a horizon, from what the package would want.

A reference maps the packaged one (:mod:`contact_ddp_ros.mpc.reference`), which the gait and the planner's parameters
give, to its own:

    class Crouch(Reference):
        name = "crouch"

        def states(self, horizon):
            states = horizon.states.copy()
            states[:, horizon.column("base_z")] -= 0.03
            return states

Given to a planner by `planner.own_reference`, it is found by "module:Class" or "file.py:Class". The planner's weights
say how much each coordinate is held to it. docs/cost_terms.md shows how.
"""

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.mpc.config import PlannerConfig
from contact_ddp_ros.mpc.custom_term import load_class
from contact_ddp_ros.mpc.horizon import GaitHorizon

Array = NDArray[np.float64]


class Reference(ABC):
    """Reference of a user along a horizon; the planner makes one object of the class, and asks it at every solve.

    The methods must leave the arrays of the horizon as they are.
    """

    name: ClassVar[str]
    """Name of the reference, for messages."""

    @abstractmethod
    def states(self, horizon: GaitHorizon) -> Array:
        """(N+1, 2n) reference states x = (q, v), velocities included, from `horizon.states` [m, rad, m/s, rad/s]."""

    def clearances(self, horizon: GaitHorizon) -> Array:
        """(N+1, n_f) reference heights of feet in the air above the ground [m]; by default the packaged ones."""
        return horizon.clearances

    def forces(self, horizon: GaitHorizon) -> Array:
        """(N+1, n_f n_a) reference contact forces, foot by foot, the normal last [N]; by default the packaged ones."""
        return horizon.forces


def configured_reference(config: PlannerConfig) -> Reference | None:
    """The reference that a configuration names, None where it names none; ParameterError where it cannot be loaded."""
    word = config.own_reference.strip()
    return load_class(word, Reference, "reference") if word else None  # type: ignore[type-abstract]


def followed_horizon(reference: Reference, packaged: GaitHorizon) -> GaitHorizon:
    """The horizon with what a reference wants in it.

    Raises:
        ParameterError: one of its arrays has another shape, or a number that is not finite.
    """
    states = _checked(reference, "states", packaged)
    clearances = _checked(reference, "clearances", packaged)
    return replace(packaged, states=states, clearances=clearances, forces=_checked(reference, "forces", packaged))


def _checked(reference: Reference, what: str, packaged: GaitHorizon) -> Array:
    name = getattr(reference, "name", type(reference).__name__)
    try:
        given: Any = np.array(getattr(reference, what)(packaged), dtype=np.float64)
    except Exception as error:
        given = f"{type(error).__name__}: {error}"
        raise ParameterError(f"reference {name!r}: its {what} are no array of numbers: {given}") from error
    shape = getattr(packaged, what).shape
    if given.shape != shape:
        raise ParameterError(f"reference {name!r} gives {what} of shape {given.shape}; needed: {shape}")
    if not np.isfinite(given).all():
        row, column = np.argwhere(~np.isfinite(given))[0]
        found = f"{what}[{row}, {column}] = {given[row, column]} at {packaged.times[row]:.3f} s"
        raise ParameterError(f"reference {name!r} gives {found}; needed: finite numbers")
    return given
