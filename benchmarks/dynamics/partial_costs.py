"""Times and operation counts of the partials of one knot, level by level, of several models side by side."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as cs
import numpy as np

from benchmarks.dynamics import kernel_times
from benchmarks.dynamics.knot_partials import EXPANSION, FIRST, MODE, SECOND, TENSOR, KnotPartials
from benchmarks.timing import Array, Candidate, Progress, Spread, Times, interleave
from contact_ddp_ros.dynamics.kernel_code import kernel_functions
from contact_ddp_ros.robot.models.planar import AXES
from contact_ddp_ros.robot.tree import ContactPoint, Joint, RigidBodyTree

NAMES = {FIRST: "first order", SECOND: "second, mRNEAc", TENSOR: "second, tensors"}

ALL, LARGE, COMMON = "all", "large", "common"
"""Ranges of n that exponents are fitted to: every n, the large ones, and those for which tensors exist."""

PAPER_SLOPES = {FIRST: 2.21, SECOND: 2.28, TENSOR: 3.13}
"""Exponents of time in n that the paper measured on the pendubot."""

PAPER_RATIO = 1.39
"""The paper's largest ratio of second-order partials by mRNEAc to first-order ones."""

KERNELS = {FIRST: ("system", "first"), SECOND: ("second",), TENSOR: ("tensor",)}
"""Compiled graphs behind each level; the rest of a level is dense algebra in loops."""

_NOT_ARITHMETIC = {cs.OP_INPUT, cs.OP_OUTPUT, cs.OP_CONST, cs.OP_PARAMETER, cs.OP_ASSIGN}

PIN = "pin"
"""Contact point at the tip of the pendubot's last link."""

LENGTH, MASS = 0.3, 1.0
"""Length and mass of one link of the pendubot [m, kg]."""

_TORQUE = 10.0
_THICKNESS = 0.02
"""Thickness of a rod, for its inertia about its own axis, which a planar motion does not feel [m]."""


@dataclass(frozen=True)
class Model:
    """A tree with some contact points on the ground; with the tensors or, where they are too large, without."""

    name: str
    tree: RigidBodyTree
    contacts: tuple[str, ...]
    tensor: bool

    @property
    def levels(self) -> tuple[str, ...]:
        """First order, second order, and by tensors."""
        return (FIRST, SECOND, TENSOR) if self.tensor else (FIRST, SECOND)


def pendubot(n: int) -> RigidBodyTree:
    """The n-link pendubot whose last link is pinned to the ground, the paper's model for how costs grow with n.

    n equal uniform rods hang one from the other in the x-z plane, from the origin at q = 0; the tip of the last one is
    held by a revolute joint to the ground, a contact of two rows without a radius. All joints but the last have a
    motor, as in the two-link pendubot.
    """
    across, along = MASS * LENGTH**2 / 12.0, MASS * _THICKNESS**2 / 8.0
    joints = tuple(
        Joint(
            name=f"joint_{i}",
            kind="revolute",
            axis=np.array([0.0, 1.0, 0.0]),
            parent=i - 1,
            translation=np.array([0.0, 0.0, 0.0 if i == 0 else -LENGTH]),
            mass=MASS,
            com=np.array([0.0, 0.0, -LENGTH / 2.0]),
            inertia=np.diag([across, across, along]),
            effort_limit=_TORQUE if i < n - 1 else 0.0,
        )
        for i in range(n)
    )
    return RigidBodyTree(f"pendubot_{n}", joints, (ContactPoint(PIN, n - 1, np.array([0.0, 0.0, -LENGTH])),))


def operations(function: cs.Function) -> int:
    """Arithmetic operations of a function of scalar expressions, which no noise of a machine touches."""
    return sum(function.instruction_id(i) not in _NOT_ARITHMETIC for i in range(function.n_instructions()))


def count(model: Model) -> dict[str, int]:
    """Operations of the graphs behind each level."""
    wanted = tuple(kernel for level in model.levels for kernel in KERNELS[level])
    functions = kernel_functions(model.tree, {MODE: model.contacts}, AXES, wanted)
    return {
        level: sum(operations(functions[f"{kernel}/{MODE}"][1]()) for kernel in KERNELS[level])
        for level in model.levels
    }


@dataclass(frozen=True)
class Costs:
    """Times of all levels of all models, taken in turns."""

    times: Times

    def level(self, model: Model, level: str) -> Array:
        """(rounds,) seconds of a whole level."""
        return self.times.parts[f"{model.name}, {level}"][level]

    def kernels(self, model: Model, level: str) -> Array:
        """(rounds,) seconds of the compiled graphs behind a level."""
        parts = [self.times.parts[f"{model.name}, {one}/"][kernel_times.KERNEL] for one in KERNELS[level]]
        return np.sum(parts, axis=0)

    def ratio(self, model: Model, of: str, to: str) -> Spread:
        """Of one level's time to another's."""
        return Spread.of_ratio(self.level(model, of), self.level(model, to))

    def kernel_ratio(self, model: Model, of: str, to: str) -> Spread:
        """The same of their compiled graphs alone."""
        return Spread.of_ratio(self.kernels(model, of), self.kernels(model, to))

    def summary(self, model: Model) -> dict[str, Any]:
        """Spreads of everything about a model: times in seconds, and ratios."""
        later = model.levels[1:]
        return {
            "time": {one: Spread.of(self.level(model, one)) for one in (*model.levels, EXPANSION)},
            "kernels": {one: Spread.of(self.kernels(model, one)) for one in model.levels},
            "ratio": {f"{one} over {to}": self.ratio(model, one, to) for one in later for to in (FIRST, EXPANSION)},
            "kernel_ratio": {f"{one} over {FIRST}": self.kernel_ratio(model, one, FIRST) for one in later},
        }


def measure(
    models: Sequence[Model], rounds: int, repeats: int, compiling: Callable[[str], None], progress: Progress
) -> Costs:
    """Compile and time; `compiling` hears the name of each model before its turn."""
    candidates: dict[str, Candidate] = {}
    for model in models:
        compiling(model.name)
        knot = KnotPartials(model.tree, model.contacts, model.tensor)
        for level in (*model.levels, EXPANSION):
            candidates[f"{model.name}, {level}"] = knot.candidate(level)
        for kernel in (one for level in model.levels for one in KERNELS[level]):
            candidates[f"{model.name}, {kernel}/"] = kernel_times.candidate(knot.kernels, f"{kernel}/{MODE}")
    return Costs(interleave(candidates, rounds, repeats, progress))
