r"""Contact dynamics of any rigid-body tree, with first and contracted second partials, as NumPy arrays.

With some of its points on the ground a tree moves by

    [[H, −Jᵀ], [−J, 0]] ν = [Sᵀτ; 0] − b(q, v),        ν = (v̇, λ)

(:mod:`contact_ddp_ros.dynamics.contact`). These are the planner's own compiled functions for it, for other programs:
accelerations and forces, ν_z for z = q, v, τ, and γᵀν_zy for a vector γ, from mRNEAc differentiated in reverse, at
about the cost of ν_z and without a tensor.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from contact_ddp_ros.base.errors import ModelError, ParameterError
from contact_ddp_ros.dynamics.kernels import build_kernels
from contact_ddp_ros.mpc import layout as at
from contact_ddp_ros.mpc.contact_curvature import motion_curvature
from contact_ddp_ros.mpc.contact_motion import mode_block, motion_partials, solve_motion
from contact_ddp_ros.mpc.grounds import FootGrounds, GroundModel
from contact_ddp_ros.mpc.layout import Sizes, aux_offsets, model_row
from contact_ddp_ros.mpc.optional_kernels import kernel_table, n_aux
from contact_ddp_ros.ocp.checks import checked_array
from contact_ddp_ros.robot.ground import Ground, LocalGround
from contact_ddp_ros.robot.third_party_urdf import read_tree
from contact_ddp_ros.robot.tree import RigidBodyTree

Array = NDArray[np.float64]

_LEVELS = ("system", "first", "second")
_MODE = "contact"


@dataclass(frozen=True)
class ContactDynamicsResult:
    """Result of the contact forward dynamics: accelerations and contact forces, or velocities and impulses.

    Attributes:
        accelerations: (n,) v̇ [rad/s², or m/s²].
        forces: (contacts, axes) λ by which the ground acts on each contact, along the world's axes [N].
        dependent: contacts of which a row depends on others in this state; it carries no force, the others all.
    """

    accelerations: Array
    forces: Array
    dependent: tuple[str, ...] = ()


@dataclass(frozen=True)
class FirstPartials:
    """ν = (v̇, λ) and its first partials, rows as in ν: n accelerations, then the forces contact by contact.

    Attributes:
        nu: (n + n_c,). by_q, by_v: (n + n_c, n). by_tau: (n + n_c, n_u).
    """

    nu: Array
    by_q: Array
    by_v: Array
    by_tau: Array


@dataclass(frozen=True)
class SecondPartials:
    """Second partials of γᵀν; those by (v, τ) and (τ, τ) vanish.

    Attributes:
        qq, vq, vv: (n, n), rows by the first letter. tau_q: (n_u, n).
    """

    qq: Array
    vq: Array
    vv: Array
    tau_q: Array


class ContactDynamics:
    """The dynamics of one tree with some of its contact points on the ground; not for several threads at once.

    Attributes:
        tree: the model; names and order of the coordinates are those of `tree.joints`.
        contacts: names of the points on the ground.
        axes: world axes along which each is held.
        n, n_u, n_c: degrees of freedom, actuated joints, and rows of forces, contacts x axes.
    """

    def __init__(
        self,
        tree: RigidBodyTree,
        contacts: Sequence[str] | None = None,
        axes: tuple[int, ...] = (0, 1, 2),
        *,
        ground_height: float = 0.0,
        baumgarte_rate: float = 0.0,
        grounds: Mapping[str, Ground] | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        """Compile the dynamics, or load them from the cache.

        Args:
            tree: the model.
            contacts: those of its points that are on the ground, all by default.
            axes: world axes along which contacts act, the normal 2 last; (0, 2) for motion in the x-z plane.
            ground_height: [m]; with `baumgarte_rate`, the rate of the contacts' stabilisation, 0 for none [1/s].
            grounds: by name of contacts under which there is another plane; their friction does not count.
            progress: receives a line of text for every step of a compilation; the log does where None.

        Raises:
            ModelError: the tree cannot be used, or the contacts' forces are not determined by the motion.
            ParameterError: a ground is given for an unknown contact, or a number is not finite.
        """
        self.tree, self.axes = tree, tuple(axes)
        self.contacts = tuple(point.name for point in tree.contacts) if contacts is None else tuple(contacts)
        modes = {_MODE: self.contacts}
        self._kernels = build_kernels(tree, modes, self.axes, levels=_LEVELS, progress=progress)
        self.n, self.n_u, self.n_c = tree.n, len(tree.actuated), len(self.contacts) * len(self.axes)
        self._integers = kernel_table(tree, self._kernels, modes, len(self.axes), at.FORWARD_EULER, _LEVELS)
        self._block = int(mode_block(self._integers, 0))
        self._sizes = Sizes(self.n, self.n_u, len(tree.contacts), len(self.axes))
        self._aux = np.zeros(n_aux(self._sizes, self._kernels))
        numbers = [ground_height, baumgarte_rate]
        height, rate = checked_array("(ground_height, baumgarte_rate)", numbers, (2,), ParameterError).tolist()
        known = {name: LocalGround(one.height, *one.slopes) for name, one in (grounds or {}).items()}
        planes = FootGrounds.named([point.name for point in tree.contacts], LocalGround(height), known)
        self._row = model_row(GroundModel(grounds=planes, baumgarte_rate=rate).rows(1)[0])

    @classmethod
    def from_urdf(
        cls,
        path: str | Path,
        contacts: Sequence[str] = (),
        axes: tuple[int, ...] = (0, 1, 2),
        *,
        floating_base: bool = False,
        radius: float = 0.0,
    ) -> "ContactDynamics":
        """The dynamics of a URDF with links' origins on the ground; see :func:`read_tree` for the arguments.

        Raises:
            ModelError: the URDF cannot be used, or the contacts' forces are not determined by the motion.
        """
        return cls(read_tree(path, contacts, floating_base=floating_base, radius=radius), axes=axes)

    def motion(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> ContactDynamicsResult:
        """Accelerations and forces at coordinates q (n,), rates v (n,) and torques tau (n_u,) of actuated joints.

        Raises:
            ParameterError: an argument has another shape, or is not finite.
            ModelError: the state is singular: a mass matrix that is not positive definite.
        """
        x, u = self._state(q, v, tau)
        nu = self._solve(x, u)
        start, n_s = int(aux_offsets(*self._sizes).factor), nu.size
        inverse_pivots = self._aux[start : start + n_s * n_s : n_s + 1][self.n :]
        lost = (inverse_pivots.reshape(len(self.contacts), len(self.axes)) == 0.0).any(axis=1)
        dependent = tuple(name for name, one in zip(self.contacts, lost, strict=True) if one)
        return ContactDynamicsResult(nu[: self.n], nu[self.n :].reshape(len(self.contacts), len(self.axes)), dependent)

    def first_order(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> FirstPartials:
        """ν and its partials at the same arguments; raises as :meth:`motion`."""
        x, u = self._state(q, v, tau)
        nu = self._solve(x, u)
        motion_partials(self._integers, self._block, False, x, self._row, self._aux)
        n, n_z = self.n, 2 * self.n + self.n_u
        start = int(aux_offsets(*self._sizes).derivatives)
        nu_z = self._aux[start : start + nu.size * n_z].reshape(nu.size, n_z)
        by_q, by_v, by_tau = (block.copy() for block in np.split(nu_z, (n, 2 * n), axis=1))
        return FirstPartials(nu, by_q, by_v, by_tau)

    def second_order(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, gamma: ArrayLike) -> SecondPartials:
        """Second partials of γᵀν for a weight gamma (n + n_c,) of every row of ν; raises as :meth:`motion`."""
        n, n_c = self.n, self.n_c
        weights = checked_array("gamma", gamma, (n + n_c,), ParameterError)
        self.first_order(q, v, tau)  # leaves K's factor and ν_z in aux
        x, _ = self._state(q, v, tau)
        start = int(aux_offsets(*self._sizes).xi)
        self._aux[start : start + n + n_c] = weights
        hxx, hux = np.zeros((2 * n, 2 * n)), np.zeros((self.n_u, 2 * n))
        motion_curvature(self._integers, self._block, False, x, self._row, self._aux, hxx, hux)
        return SecondPartials(hxx[:n, :n].copy(), hxx[n:, :n].copy(), hxx[n:, n:].copy(), hux[:, :n].copy())

    def _state(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> tuple[Array, Array]:
        """Checked x = (q, v) and u."""
        parts = [checked_array(name, one, (self.n,), ParameterError) for name, one in (("q", q), ("v", v))]
        return np.concatenate(parts), checked_array("tau", tau, (self.n_u,), ParameterError)

    def _solve(self, x: Array, u: Array) -> Array:
        """(n + n_c,) ν, whose factor of K stays in aux."""
        solve_motion(self._integers, self._block, False, x, u, self._row, self._aux)
        nu = self._aux[: self.n + self.n_c].copy()
        if not np.isfinite(nu).all():
            raise ModelError(
                f"the dynamics of {self.tree.name!r} are singular at q = {x[: self.n]}: "
                "a body without inertia moves alone"
            )
        return nu
