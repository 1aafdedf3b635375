"""Solver of optimal control problems: full second-order DDP with hard constraints, for CasADi expressions."""

from hybrid_ddp.base.errors import CompilerError, ParameterError, SolverError
from hybrid_ddp.ocp.casadi_problem import LeastSquares, casadi_problem
from hybrid_ddp.ocp.ddp import DdpSolver
from hybrid_ddp.ocp.derivatives import DerivativeReport, check_derivatives
from hybrid_ddp.ocp.interior_point import InteriorPointSolver
from hybrid_ddp.ocp.interior_solution import Certificate, InteriorPointOptions, InteriorSolution
from hybrid_ddp.ocp.options import SolverOptions
from hybrid_ddp.ocp.protocol import Problem
from hybrid_ddp.ocp.solution import Guess, Iteration, Solution, Termination
from hybrid_ddp.ocp.solve import solve

__all__ = [
    "Certificate",
    "CompilerError",
    "DdpSolver",
    "DerivativeReport",
    "Guess",
    "InteriorPointOptions",
    "InteriorPointSolver",
    "InteriorSolution",
    "Iteration",
    "LeastSquares",
    "ParameterError",
    "Problem",
    "Solution",
    "SolverError",
    "SolverOptions",
    "Termination",
    "casadi_problem",
    "check_derivatives",
    "solve",
]
