"""What is found out about a run before anything is built: parameters that do not exist or do not fit together."""

from contact_ddp_ros.config import replace
from contact_ddp_ros.control.config import ControllerConfig
from contact_ddp_ros.errors import ParameterError
from contact_ddp_ros.hybrid.grid import steps_per_mode
from contact_ddp_ros.mpc.config import PlannerConfig
from contact_ddp_ros.mpc.reference import bounding_schedule
from contact_ddp_ros.options import SECTIONS, RunOptions
from contact_ddp_ros.sim.options import SimOptions


def check_run(options: RunOptions) -> None:
    """Read every parameter of a run and see that its planner can follow its commands.

    Raises:
        ParameterError: a file, a name, a value, the gait's timing or the commanded speed is not allowed.
    """
    values = {section: options.parameters(section) for section in SECTIONS}
    planner = checked_planner(options)
    replace(ControllerConfig(), values["controller"])
    world = options.simulator_parameters()
    replace(SimOptions(), {name: value for name, value in world.items() if not name.startswith("node.")})
    check_speed(max((speed for _, speed in options.speed), key=abs), planner)


def checked_planner(options: RunOptions) -> PlannerConfig:
    """The planner's parameters of a run, whose gait fits its grid.

    Raises:
        ParameterError: a name or a value is not allowed, or a phase of the gait does not last whole steps.
    """
    planner = replace(PlannerConfig(), {"variant": options.variant, **options.parameters("planner")})
    try:
        steps_per_mode(bounding_schedule(planner.gait), planner.gait.step)
    except ParameterError as error:
        raise ParameterError(f"planner.gait: {error}") from error
    return planner


def check_speed(speed: float, planner: PlannerConfig) -> None:
    """Refuse a commanded speed [m/s] that would be cut.

    Raises:
        ParameterError: it is beyond the planner's limit, either way.
    """
    limit = planner.reference.speed_limit
    if abs(speed) > limit:
        raise ParameterError(
            f"the commanded speed of {speed:g} m/s is beyond the {limit:g} m/s of planner.reference.speed_limit; "
            "command less, or raise the limit with --set planner.reference.speed_limit=X"
        )
