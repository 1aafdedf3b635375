"""Addresses of a problem's compiled functions, and how compiled loops call a function by its address.

Handed over as a function, or as an object with an address, a compiled function costs some 35 µs per call of a loop, in
which Numba holds the interpreter lock to unpickle the signature and to look the type up. An integer costs nothing.
"""

from typing import Any

from numba.core import cgutils, types
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError
from numba.extending import intrinsic

from contact_ddp_ros.base.errors import SolverError

_LINES = 4
"""Lines of Numba's message that are quoted; the rest are hints for its own developers."""


def check_compilable(name: str, function: Any) -> None:
    """Check that a function is decorated by Numba, so that compiled loops can call it.

    Raises:
        SolverError: it is not; the text names the decorator.
    """
    if not isinstance(function, Dispatcher):
        what = f"the Python function {function.__qualname__}" if hasattr(function, "__qualname__") else repr(function)
        raise SolverError(
            f"{name} is {what}; compiled loops call a problem's functions, so it must be decorated with "
            f"@numba.njit({name.upper()}), the signature of that name in contact_ddp_ros.ocp.protocol"
        )


_addresses: dict[tuple[int, int], tuple[int, Any, Any]] = {}
"""Addresses by the identities of function and signature, which are kept alive. (Hashing a signature takes 0.1 ms.)"""


def node_function(function: Any, signature: Any) -> int:
    """Compile a function for a signature, unless done already; its address, valid while `function` lives.

    Raises:
        SolverError: the function cannot be compiled for the signature, or returns another type.
    """
    key = id(function), id(signature)
    if key not in _addresses:
        _addresses[key] = _compiled(function, signature), function, signature
    return _addresses[key][0]


def _compiled(function: Any, signature: Any) -> int:
    try:
        compiled = function.get_compile_result(signature)
    except NumbaError as error:
        said = " ".join(" ".join(str(error).split("\n")[:_LINES]).split())
        raise SolverError(f"{function.__qualname__} does not fit the solver's signature {signature}: {said}") from error
    return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))


def function_at(kind: types.FunctionType) -> Any:
    """Intrinsic for nopython code that converts an address (int64) to a first-class function of type `kind`."""

    @intrinsic
    def at(typing_context, address):
        def generate(context, builder, signature, values):
            function = cgutils.create_struct_proxy(kind)(context, builder)
            null = context.get_constant_null(types.voidptr)
            function.c_addr = null
            function.py_addr = null
            function.jit_addr = builder.inttoptr(values[0], null.type)
            return function._getvalue()

        return kind(types.int64), generate

    return at
