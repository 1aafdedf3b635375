"""Settings and outcome of the interior point (:mod:`contact_ddp_ros.ocp.interior_point`)."""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from contact_ddp_ros.base.config import parameter, validate
from contact_ddp_ros.ocp.options import SolverOptions
from contact_ddp_ros.ocp.solution import Solution, Termination, summary

Array = NDArray[np.float64]


_PARTS = ("partials", "sweep", "rollout")

FEASIBLE = 1e-6
"""Largest violation of a constraint that counts as none."""


def interior_options(options: SolverOptions) -> SolverOptions:
    """Options of a solve with what suits the interior point: a tighter end, and θ that falls fast and rises slowly."""
    return replace(options, tolerance=1e-10, hessian_blend_cut=0.03, hessian_blend_grow=1.5, hessian_blend_min=0.05)


@dataclass(frozen=True)
class InteriorPointOptions:
    """Settings of the interior point.

    Inequalities should be scaled so that 1 is much.
    """

    strategy: str = parameter(
        "blend",
        choices=("blend", "inertia"),
        description="an indefinite Hessian cuts θ, steps descend on a merit; or δI corrects it, and a filter judges",
    )
    kkt_tolerance: float = parameter(
        1e-7, low=1e-14, high=1.0, description='largest error of the optimality conditions at the end of "inertia"'
    )
    mu: float = parameter(0.2, low=1e-12, description="barrier parameter μ to begin with, relative to the cost")
    warm_mu: float = parameter(1e-4, low=1e-12, description="the same of a warm start")
    mu_factor: float = parameter(0.1, low=1e-3, high=0.9, description="factor on μ")
    mu_power: float = parameter(1.9, low=1.0, high=2.0, description="exponent of μ's fall after a full step")
    mu_test: float = parameter(
        3.0, low=0.0, description="μ falls where a full step is expected to bring less than this multiple of μ Σ w"
    )
    gap_tolerance: float = parameter(
        1e-9, low=1e-14, high=1.0, description="μ Σ w at the end, relative to the cost: bound of the optimum's error"
    )
    crossover: float = parameter(
        1e-3,
        low=0.0,
        high=1.0,
        description="μ, relative to the cost, from which on full steps are active sets'; 0: never",
    )
    slack_min: float = parameter(0.15, low=1e-9, description="least slack of a first trajectory")
    boundary: float = parameter(0.99, low=0.5, high=0.99999, description="fraction to the boundary τ of a step")
    dual_steps: str = parameter(
        "common",
        choices=("common", "each"),
        description="multipliers of inequalities go the share of their steps that the boundary allows all of them, or"
        " each as far as it may: fewer iterations for gaits, more where a limit on the state is active at many nodes",
    )
    detached_step: float = parameter(
        0.15, low=0.0, high=1.0, description="where the boundary leaves less of a step, slacks leave their inequalities"
    )
    past_worst: int = parameter(
        0,
        low=0,
        high=10000,
        description="a rollout that goes beyond the boundary ends so many nodes after the worst: nearly always no later"
        " one is worse; 0: it goes on to the end",
    )
    sigma: float = parameter(1e3, low=1e-6, description="largest penalty σ of equalities to begin with")
    sigma_factor: float = parameter(5.0, low=1.0, description="factor on σ after a full step")
    sigma_max: float = parameter(1e8, low=1e-6, description="largest σ")
    equality_tolerance: float = parameter(1e-8, low=0.0, description="largest residual of an equality at the end")

    def __post_init__(self) -> None:
        """Raises ParameterError for a number out of its range."""
        validate(self)


@dataclass(frozen=True)
class DualVariables:
    """DualVariables of a problem's constraints, node by node.

    Attributes:
        equalities: (N+1, n_e).
        inequalities: (N, n_i), 0 where a node lacks one.
    """

    equalities: Array
    inequalities: Array


@dataclass(frozen=True)
class Certificate:
    """Infeasibility certificate: a trajectory at which no other nearby violates a problem's constraints less.

    It is a stationary point of V = ½ Σ |c|² + ½ Σ min(z, 0)². Where dynamics and constraints are linear no trajectory
    at all violates them less.

    Attributes:
        xs, us: (N+1, n_x), (N, n_u) the trajectory.
        equalities, inequalities: (N+1, n_e), (N, n_i) what it leaves of the violations |c| and max(−z, 0).
        multipliers: weights λ of the constraints for which Σ λᵀ∇c vanishes along the dynamics, of the size of c.
        slope: largest |∂V/∂u|, which is zero at a stationary point.
        names: of the constraints.
    """

    xs: Array = field(repr=False)
    us: Array = field(repr=False)
    equalities: Array = field(repr=False)
    inequalities: Array = field(repr=False)
    multipliers: DualVariables = field(repr=False)
    slope: float
    names: tuple[str, ...] = field(repr=False)

    @property
    def violated(self) -> list[tuple[str, int, float]]:
        """Name, node and violation of constraints that cannot be met together, the most violated first."""
        n_e = self.equalities.shape[1]
        found = [
            (self.names[offset + int(i)], int(k), float(amounts[k, i]))
            for offset, amounts in ((0, self.equalities), (n_e, self.inequalities))
            for k, i in np.argwhere(amounts > FEASIBLE * max(1.0, float(amounts.max(initial=0.0))))
        ]
        return sorted(found, key=lambda one: -one[2])

    def __str__(self) -> str:
        """The three most violated constraints, and how many there are."""
        listed = [f"{name} of node {k} by {amount:.3g}" for name, k, amount in self.violated]
        return f"least violation nearby: {', '.join(listed[:3])}" + (f" and {len(listed) - 3} more" * (len(listed) > 3))


@dataclass(frozen=True)
class InteriorSolution:
    """A solution with its multipliers.

    Attributes:
        solution: its cost is the objective alone.
        multipliers: of all constraints.
        slacks: (N, n_i), ∞ where a node lacks an inequality.
        mu: barrier parameter at the end.
        mus: barrier parameter of each iteration.
        relative_violation: the largest one in units in which the constraints are of size 1, where the solver has such.
        allowed_violation: up to which it counts as none.
        is_minimum: False at a stationary point with negative curvature; only the strategy "inertia" tells.
        certificate: of an infeasible problem.
    """

    solution: Solution
    multipliers: DualVariables = field(repr=False)
    slacks: Array = field(repr=False)
    mu: float = 0.0
    mus: tuple[float, ...] = ()
    relative_violation: float | None = None
    allowed_violation: float = FEASIBLE
    is_minimum: bool = True
    certificate: Certificate | None = None

    def __str__(self) -> str:
        """One line: how the solve ended, cost, violations, iterations and sizes."""
        return f"{summary(self.solution, self.solution.cost)}; μ {self.mu:.2g}"

    __repr__ = __str__

    @property
    def xs(self) -> Array:
        """(N+1, n_x) states."""
        return self.solution.xs

    @property
    def us(self) -> Array:
        """(N, n_u) controls."""
        return self.solution.us

    @property
    def gains(self) -> Array:
        """(N, n_u, n_x) feedback gains about them."""
        return self.solution.gains

    @property
    def cost(self) -> float:
        """Objective."""
        return self.solution.cost

    @property
    def status(self) -> Termination:
        """Why the solve ended."""
        return self.solution.termination

    def summary(self) -> str:
        """Table of the iterations, how the solve ended, times, and what an infeasible problem violates."""
        lines = ["iteration      objective  violation      |L_u|        μ      δ or ρ   step"]
        for number, (one, mu) in enumerate(zip(self.solution.iterations, self.mus), start=1):
            violation = max(one.equality, one.inequality, one.gap)
            lines.append(
                f"{number:9d}  {one.cost:13.6e}   {violation:8.2e}   {one.gradient:8.2e} {mu:8.1e}    "
                f"{one.rho:8.1e}  {one.step:5.3f}"
            )
        times = [sum(getattr(one, f"{part}_time") for one in self.solution.iterations) for part in _PARTS]
        lines.append(str(self))
        lines.append(", ".join(f"{part} {1e3 * time:.1f} ms" for part, time in zip(_PARTS, times)))
        return "\n".join(lines + ([str(self.certificate)] if self.certificate else []))

    @property
    def feasible(self) -> bool:
        """True if the dynamics hold exactly and every constraint within `allowed_violation`."""
        return self.solution.is_finite and self.solution.gap == 0.0 and self.violation <= self.allowed_violation

    @property
    def violation(self) -> float:
        """Largest violation of a constraint, relative where `relative_violation` is there."""
        if self.relative_violation is not None:
            return self.relative_violation
        return max(self.solution.equality_violation, self.solution.inequality_violation)
