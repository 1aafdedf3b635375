"""Full second-order MPC of quadrupeds such as the MIT Mini Cheetah, as a ROS 2 package and a library.

What `from contact_ddp_ros import ...` offers is listed in `__all__` and described in docs/library.md. A name is loaded
with what it needs when it is first asked for: importing the package imports nothing else.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.9.0"

_HOMES = {
    "runs.closed_loop": ("ClosedLoop",),
    "base.errors": (
        "CompilerError",
        "ContactDdpError",
        "ModelError",
        "ParameterError",
        "SolverError",
    ),
    "ocp.casadi_problem": (
        "LeastSquares",
        "casadi_problem",
    ),
    "mpc.contact_dynamics": (
        "ContactDynamics",
        "FirstPartials",
        "ContactDynamicsResult",
        "SecondPartials",
    ),
    "mpc.cost_terms": (
        "check_constraint",
        "check_cost_term",
    ),
    "ocp.derivatives": (
        "DerivativeReport",
        "check_derivatives",
    ),
    "ocp.solve": ("solve",),
    "runs.simulation": ("simulate",),
    "robot.models.planar": ("PlanarModel",),
    "robot.models.whole_body": ("WholeBodyModel",),
    "runs.motions.execution": (
        "execute_motion",
        "motion_options",
    ),
    "runs.motions.result": ("MotionResult",),
    "runs.report.video": ("render_recording",),
    "control.motion_controller": ("MotionController",),
    "robot.motion": (
        "MotionPhase",
        "MotionSpec",
        "load_motion",
    ),
    "mpc.motions.optimizer": (
        "MotionPlan",
        "optimise_motion",
    ),
    "mpc.motions.problem": ("MotionConfig",),
    "runs.motions.trials": (
        "Spread",
        "perturbed_run",
    ),
    "mpc.config": ("PlannerConfig",),
    "mpc.custom_term": (
        "Constraint",
        "CostTerm",
        "NodeSymbols",
        "Reference",
    ),
    "mpc.horizon": (
        "GaitHorizon",
        "Horizon",
    ),
    "mpc.plan_result": ("PlanResult",),
    "mpc.planner": ("Planner",),
    "plants.pushes": ("Push",),
    "runs.options": ("RunOptions",),
    "robot.policy": ("Policy",),
    "runs.recording": ("Recording",),
    "runs.recording.falls": ("Fall",),
    "runs.recording.storage": (
        "load_recording",
        "save_recording",
    ),
    "robot.ground": (
        "TerrainEstimate",
        "FootHeights",
        "Ground",
        "Payload",
    ),
    "robot.load": ("load_robot",),
    "robot.model": ("Robot",),
    "robot.state": (
        "BodyPose",
        "RobotState",
    ),
    "robot.tree": (
        "ContactPoint",
        "Joint",
        "RigidBodyTree",
    ),
    "robot.third_party_urdf": ("read_tree",),
    "ocp.continuation": (
        "ConstrainedSolution",
        "Continuation",
        "solve_constrained",
    ),
    "ocp.ddp": ("DdpSolver",),
    "ocp.interior_point": ("InteriorPointSolver",),
    "ocp.interior_solution": (
        "Certificate",
        "InteriorPointOptions",
        "InteriorSolution",
    ),
    "ocp.options": ("SolverOptions",),
    "ocp.protocol": ("Problem",),
    "ocp.solution": (
        "Guess",
        "Iteration",
        "Solution",
        "Termination",
    ),
}
"""Modules of this package and what is offered of each."""

_OTHERWISE = {"load_recording": "load", "save_recording": "save"}
"""Names that their module has shorter."""

_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [  # noqa: RUF022
    # problems and their solution
    "casadi_problem",
    "LeastSquares",
    "Problem",
    "solve",
    "Certificate",
    "check_derivatives",
    "DerivativeReport",
    "DdpSolver",
    "SolverOptions",
    "Guess",
    "Solution",
    "Iteration",
    "Termination",
    "InteriorPointSolver",
    "InteriorPointOptions",
    "InteriorSolution",
    "solve_constrained",
    "Continuation",
    "ConstrainedSolution",
    # dynamics of a tree with contacts
    "ContactDynamics",
    "ContactDynamicsResult",
    "FirstPartials",
    "SecondPartials",
    "read_tree",
    "RigidBodyTree",
    "Joint",
    "ContactPoint",
    # the robot and its planner
    "load_robot",
    "Robot",
    "RobotState",
    "Ground",
    "TerrainEstimate",
    "FootHeights",
    "Payload",
    "BodyPose",
    "PlanarModel",
    "WholeBodyModel",
    "Planner",
    "PlannerConfig",
    "PlanResult",
    "Policy",
    # cost terms, constraints and references of one's own
    "CostTerm",
    "Constraint",
    "Reference",
    "NodeSymbols",
    "Horizon",
    "GaitHorizon",
    "check_cost_term",
    "check_constraint",
    # closed loops
    "simulate",
    "ClosedLoop",
    "RunOptions",
    "Push",
    "Recording",
    "Fall",
    "load_recording",
    "save_recording",
    # jumps and flips
    "load_motion",
    "MotionSpec",
    "MotionPhase",
    "optimise_motion",
    "MotionConfig",
    "MotionPlan",
    "execute_motion",
    "motion_options",
    "MotionResult",
    "MotionController",
    "perturbed_run",
    "render_recording",
    "Spread",
    # errors
    "ContactDdpError",
    "SolverError",
    "ParameterError",
    "ModelError",
    "CompilerError",
]

if TYPE_CHECKING:
    from contact_ddp_ros.base.errors import CompilerError, ContactDdpError, ModelError, ParameterError, SolverError
    from contact_ddp_ros.control.motion_controller import MotionController
    from contact_ddp_ros.mpc.config import PlannerConfig
    from contact_ddp_ros.mpc.contact_dynamics import (
        ContactDynamics,
        ContactDynamicsResult,
        FirstPartials,
        SecondPartials,
    )
    from contact_ddp_ros.mpc.cost_terms import check_constraint, check_cost_term
    from contact_ddp_ros.mpc.custom_term import Constraint, CostTerm, NodeSymbols, Reference
    from contact_ddp_ros.mpc.horizon import GaitHorizon, Horizon
    from contact_ddp_ros.mpc.motions.optimizer import MotionPlan, optimise_motion
    from contact_ddp_ros.mpc.motions.problem import MotionConfig
    from contact_ddp_ros.mpc.plan_result import PlanResult
    from contact_ddp_ros.mpc.planner import Planner
    from contact_ddp_ros.ocp.casadi_problem import LeastSquares, casadi_problem
    from contact_ddp_ros.ocp.continuation import ConstrainedSolution, Continuation, solve_constrained
    from contact_ddp_ros.ocp.ddp import DdpSolver
    from contact_ddp_ros.ocp.derivatives import DerivativeReport, check_derivatives
    from contact_ddp_ros.ocp.interior_point import InteriorPointSolver
    from contact_ddp_ros.ocp.interior_solution import Certificate, InteriorPointOptions, InteriorSolution
    from contact_ddp_ros.ocp.options import SolverOptions
    from contact_ddp_ros.ocp.protocol import Problem
    from contact_ddp_ros.ocp.solution import Guess, Iteration, Solution, Termination
    from contact_ddp_ros.ocp.solve import solve
    from contact_ddp_ros.plants.pushes import Push
    from contact_ddp_ros.robot.ground import FootHeights, Ground, Payload, TerrainEstimate
    from contact_ddp_ros.robot.load import load_robot
    from contact_ddp_ros.robot.model import Robot
    from contact_ddp_ros.robot.models.planar import PlanarModel
    from contact_ddp_ros.robot.models.whole_body import WholeBodyModel
    from contact_ddp_ros.robot.motion import MotionPhase, MotionSpec, load_motion
    from contact_ddp_ros.robot.policy import Policy
    from contact_ddp_ros.robot.state import BodyPose, RobotState
    from contact_ddp_ros.robot.third_party_urdf import read_tree
    from contact_ddp_ros.robot.tree import ContactPoint, Joint, RigidBodyTree
    from contact_ddp_ros.runs.closed_loop import ClosedLoop
    from contact_ddp_ros.runs.motions.execution import execute_motion, motion_options
    from contact_ddp_ros.runs.motions.result import MotionResult
    from contact_ddp_ros.runs.motions.trials import Spread, perturbed_run
    from contact_ddp_ros.runs.options import RunOptions
    from contact_ddp_ros.runs.recording import Recording
    from contact_ddp_ros.runs.recording.falls import Fall
    from contact_ddp_ros.runs.recording.storage import load as load_recording
    from contact_ddp_ros.runs.recording.storage import save as save_recording
    from contact_ddp_ros.runs.report.video import render_recording
    from contact_ddp_ros.runs.simulation import simulate


def __getattr__(name: str) -> Any:
    """A public name, imported when it is first asked for."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), _OTHERWISE.get(name, name))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, loaded or not, beside the module's own."""
    return sorted({*globals(), *__all__})
