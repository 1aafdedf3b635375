"""Arithmetic operations of expression graphs: what no noise of a machine touches."""

import casadi as cs

_NOT_ARITHMETIC = {cs.OP_INPUT, cs.OP_OUTPUT, cs.OP_CONST, cs.OP_PARAMETER, cs.OP_ASSIGN}


def operations(function: cs.Function) -> int:
    """Operations of a function of scalar expressions, without its loads and stores."""
    return sum(function.instruction_id(i) not in _NOT_ARITHMETIC for i in range(function.n_instructions()))
