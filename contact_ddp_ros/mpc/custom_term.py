r"""Custom cost terms, constraints and references of the planner: expressions of what a node holds, loaded by name.

A cost term (:class:`CostTerm`) and a constraint (:class:`Constraint`) are user terms;
:mod:`contact_ddp_ros.mpc.custom_terms` compiles them together.

Classes of a user's own, loaded by name: cost terms, constraints, references.

Cost terms of a user's own: a class with one expression, which is compiled with its exact derivatives.

A term adds to every time step of length h the cost h ½‖r(x, u, λ; p)‖², with λ the contact forces, zero for feet in the
air, and p numbers of its own for each node.

    class LevelTrunk(CostTerm):
        name = "level_trunk"

        def residual(self, knot):
            return 3.0 * knot.coordinate("base_pitch")

Given to a planner by `planner.cost_terms`, it is found by "module:Class" or "file.py:Class". docs/cost_terms.md shows
how, and how to check a term.

Inequality constraints of a user's own: a class with one expression that is to stay positive.

A constraint r(x, u, λ; p) ≥ 0 adds to every time step of length h the relaxed barriers h ε Σ_i B_δ(r_i), with the
planner's width δ and weight ε (`planner.constraint.barrier_width` and `.barrier_weight`), as its limits of torques and
contact forces do. So r should be relative to what is allowed: 1 far from the limit, 0 at it.

    class KneeLimit(Constraint):
        name = "knee_limit"

        def residual(self, knot):
            return 1.0 - knot.coordinate("front_knee") / 2.4

Given to a planner by `planner.constraints`; docs/cost_terms.md shows how, and how to check a constraint.

References of a user's own: a class that says what is wanted along a horizon, from what the package would want.

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

import importlib
import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, TypeVar

import casadi as cs
import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.mpc.config import PlannerConfig
from contact_ddp_ros.mpc.horizon import GaitHorizon, Horizon

Kind = TypeVar("Kind")


def load_class(word: str, kind: type[Kind], what: str) -> Kind:
    """An object of the class that "module:Class" or "file.py:Class" names.

    Args:
        word: the name.
        kind: from which the class must be derived.
        what: it is, for messages.

    Raises:
        ParameterError: it cannot be imported, is of another kind, or cannot be made; the text says why.
    """
    place, colon, name = word.rpartition(":")
    if not colon or not place or not name:
        raise ParameterError(f"{what} {word!r}; write module:Class or file.py:Class")
    try:
        module = _module_of_file(Path(place)) if place.endswith(".py") else importlib.import_module(place)
        found: Any = reduce(getattr, name.split("."), module)
    except Exception as error:
        raise ParameterError(f"{what} {word!r} cannot be loaded: {type(error).__name__}: {error}") from error
    if not (isinstance(found, type) and issubclass(found, kind)):
        given = f"{what} {word!r} is {type(found).__name__} {name}"
        raise ParameterError(f"{given}; needed: a class derived from {kind.__name__}")
    try:
        return found()
    except TypeError as error:
        raise ParameterError(f"{what} {word!r} cannot be made: {error}") from error


def _module_of_file(path: Path) -> ModuleType:
    specification = importlib.util.spec_from_file_location(path.stem, path)
    if specification is None or specification.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


Array = NDArray[np.float64]


class ByFoot(dict[str, cs.SX]):
    """Symbols by the name of a contact point of the model."""

    def __missing__(self, name: str) -> cs.SX:
        """Raises ParameterError: there is none of that name."""
        raise ParameterError(f"no foot of the model is called {name!r}; there are {', '.join(self)}")


@dataclass(frozen=True)
class NodeSymbols:
    """Arguments of a user's term, as CasADi SX.

    Attributes:
        q, v: (n,) coordinates of the model and their rates. u: (n_u,) torques of the actuated ones [N m].
        forces: by contact point, (axes,) force of the ground, the normal last [N]; zero in the air.
        feet: by contact point, (axes,) place of its lowest point in the world [m].
        parameters: the term's own numbers, by name.
        names: of the coordinates, in the order of q.
    """

    q: cs.SX
    v: cs.SX
    u: cs.SX
    forces: Mapping[str, cs.SX]
    feet: Mapping[str, cs.SX]
    parameters: Mapping[str, cs.SX]
    names: tuple[str, ...]

    def coordinate(self, name: str) -> cs.SX:
        """The coordinate of that name; ParameterError where there is none."""
        return self.q[self._index(name)]

    def rate(self, name: str) -> cs.SX:
        """Rate of the coordinate of that name; ParameterError where there is none."""
        return self.v[self._index(name)]

    def _index(self, name: str) -> int:
        if name not in self.names:
            raise ParameterError(f"no coordinate is called {name!r}; there are {', '.join(self.names)}")
        return self.names.index(name)


class UserTerm(ABC):
    """One expression r(x, u, λ; p) of a node; the planner makes one object of the class."""

    kind: ClassVar[str]
    """Kind of the object, for messages."""

    name: ClassVar[str]
    """Name of the term, for records and messages."""

    parameters: ClassVar[tuple[str, ...]] = ()
    """Names of its numbers p, which each node has its own of."""

    @abstractmethod
    def residual(self, knot: NodeSymbols) -> cs.SX:
        """r, of any length."""

    def values(self, horizon: Horizon) -> Array:
        """(N+1, n) its numbers along a horizon, in the order of `parameters`; needed where it has any."""
        raise NotImplementedError(f"{self.kind} {self.name!r} has parameters {self.parameters} but no method `values`")


Term = TypeVar("Term", bound=UserTerm)


def load_terms(text: str, kind: type[Term]) -> tuple[Term, ...]:
    """The terms that "module:Class" or "file.py:Class" name, with commas between several; none of an empty text.

    Args:
        text: names of classes.
        kind: from which each of them must be derived.

    Raises:
        ParameterError: one of them cannot be imported or is of another kind; the text says why.
    """
    return tuple(load_class(one.strip(), kind, kind.kind) for one in text.split(",") if one.strip())


class CostTerm(UserTerm):
    """A term ½‖r‖² of the running cost; r in sqrt(cost/s)."""

    kind = "cost term"


class Constraint(UserTerm):
    """A constraint r ≥ 0 of every time step; r dimensionless, relative to what is allowed."""

    kind = "constraint"


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
