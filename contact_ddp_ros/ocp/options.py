"""Options of a solve: variant, shooting, stopping rule, line search, regularisation schedule."""

from dataclasses import dataclass

from contact_ddp_ros.base.choices import SHOOTINGS, VARIANTS
from contact_ddp_ros.base.config import parameter, validate
from contact_ddp_ros.base.errors import SolverError


@dataclass(frozen=True)
class SolverOptions:
    """Settings of the inner (unconstrained) solve.

    Attributes:
        variant: "ddp", "ilqr", "ddp_tensor" or "quasi_newton", see :mod:`contact_ddp_ros.ocp.ddp`.
        shooting: "single" or "multiple", see the same place.
    """

    variant: str = "ddp"
    shooting: str = "single"
    max_iterations: int = parameter(50, low=1, high=10000, description="iterations of one solve")
    tolerance: float = parameter(
        1e-9, low=0.0, high=1.0, description="stop when the expected reduction is below this share of the cost"
    )
    armijo: float = parameter(1e-3, low=0.0, high=0.5, description="share of the expected reduction a step must reach")
    step_factor: float = parameter(0.5, low=0.05, high=0.95, description="factor between line-search steps")
    step_min: float = parameter(1e-4, low=1e-12, high=1.0, description="shortest line-search step")
    second_order_step_min: float = parameter(
        0.5,
        low=0.0,
        high=1.0,
        description="line-search steps with second order (θ > 0) that are shorter are tried only where the ones without"
        " are short, too; before, θ is cut and the sweep repeated within the iteration",
    )
    hessian_blend_cut: float = parameter(
        0.25, low=0.01, high=0.9, description="factor on the Hessian blend θ after a failure"
    )
    hessian_blend_min: float = parameter(
        0.02, low=1e-6, high=1.0, description="a smaller Hessian blend θ is set to zero"
    )
    hessian_blend_grow: float = parameter(
        4.0, low=1.1, high=100.0, description="factor on the Hessian blend θ after an accepted step"
    )
    second_order_below: float = parameter(
        0.0,
        low=0.0,
        description="in a cold solve by the interior point second order counts (θ > 0) from the first iteration on of"
        " which a full step is expected to bring less than this share of the cost, or after one that leaves limits; 0:"
        " always",
    )
    curvature_period: int = parameter(
        3, low=1, high=10000, description='iterations for which "quasi_newton" holds the second order'
    )
    rho_min: float = parameter(1e-6, low=1e-12, high=1.0, description="smallest Levenberg term ρ other than zero")
    rho_max: float = parameter(1e8, low=1.0, description="Levenberg term ρ beyond which a solve is stalled")
    rho_factor: float = parameter(10.0, low=1.5, high=1000.0, description="factor on the Levenberg term ρ")

    def __post_init__(self) -> None:
        """Raises SolverError for an unknown variant or shooting, ParameterError for a number out of its range."""
        for name, allowed in (("variant", VARIANTS), ("shooting", SHOOTINGS)):
            found = getattr(self, name)
            if found not in allowed:
                raise SolverError(f"unknown {name} {found!r}; allowed are {', '.join(allowed)}")
        validate(self)
