"""What can be set about a solve."""

from dataclasses import dataclass

from contact_ddp_ros.config import parameter, validate
from contact_ddp_ros.errors import SolverError

VARIANTS = ("ddp", "ilqr", "ddp_tensor")
SHOOTINGS = ("single", "multiple")


@dataclass(frozen=True)
class SolverOptions:
    """Settings of the inner (unconstrained) solve."""

    variant: str = "ddp"
    shooting: str = "single"
    max_iterations: int = parameter(50, low=1, high=10000, description="iterations of one solve")
    tolerance: float = parameter(
        1e-9, low=0.0, high=1.0, description="stop when the expected reduction is below this share of the cost"
    )
    armijo: float = parameter(1e-3, low=0.0, high=0.5, description="share of the expected reduction a step must reach")
    step_factor: float = parameter(0.5, low=0.05, high=0.95, description="factor between line-search steps")
    step_min: float = parameter(1e-4, low=1e-12, high=1.0, description="shortest line-search step")
    theta_cut: float = parameter(0.25, low=0.01, high=0.9, description="factor on the curvature share after a failure")
    theta_min: float = parameter(0.02, low=1e-6, high=1.0, description="a smaller curvature share counts as none")
    theta_grow: float = parameter(4.0, low=1.1, high=100.0, description="factor on the curvature share after success")
    rho_min: float = parameter(1e-6, low=1e-12, high=1.0, description="smallest Levenberg term other than none")
    rho_max: float = parameter(1e8, low=1.0, description="Levenberg term beyond which a solve counts as stalled")
    rho_factor: float = parameter(10.0, low=1.5, high=1000.0, description="factor on the Levenberg term")

    def __post_init__(self) -> None:
        """Raises SolverError for an unknown variant or shooting, ParameterError for a number out of its range."""
        for name, allowed in (("variant", VARIANTS), ("shooting", SHOOTINGS)):
            found = getattr(self, name)
            if found not in allowed:
                raise SolverError(f"unknown {name} {found!r}; allowed are {', '.join(allowed)}")
        validate(self)
